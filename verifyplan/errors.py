"""Every error that verifyplan raises on purpose, and the problems that it lists.

    VerifyplanError
    ├── InputError (also a ValueError)     an input cannot be used; exit code 2
    │   ├── SettingsError                  a setting, option or parameter
    │   ├── TableError                     a DataFrame, CSV or Parquet table
    │   ├── ArtifactError                  a state artifact that is damaged or breaks rule B9
    │   ├── LogError                       a run log that is damaged, in use, or of no known version
    │   └── MessageError                   a message of a debate that breaks its schema
    └── AgentError                         an agent gave no usable answer; exit code 3

Each error lists all problems, not the first, as `Problem` values in `.problems`. Keys are taken out, as a message
often quotes an input.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from traceback import extract_tb
from typing import Any, ParamSpec, TypeVar

from verifyplan.field_docs import with_field_docs
from verifyplan.redaction import redact, redacted, remember

__all__ = [  # what users catch and read; the rest of this module is for the package itself
    "AgentError",
    "ArtifactError",
    "InputError",
    "LogError",
    "MessageError",
    "Problem",
    "SettingsError",
    "TableError",
    "VerifyplanError",
]

T = TypeVar("T")

MESSAGE_ERROR_PREFIX = "MESSAGE_SCHEMA_VALIDATION_FAILED::"
"""The beginning of every `MessageError`'s text; the rest is JSON."""


@with_field_docs
@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: its place, what is wrong with it, and what to do.

    >>> what, fix = "'maybe' is not a verdict", "write agree or disagree"
    >>> print(Problem("votes.csv: column verdict", what, fix))
    votes.csv: column verdict: 'maybe' is not a verdict. Fix: write agree or disagree.
    """

    place: str
    """Where it is: a file and line, a column, a parameter."""
    message: str
    """What is wrong, with the value received."""
    fix: str
    """What to do."""

    def __post_init__(self) -> None:
        """Take keys out of the texts."""
        text = f"{self.place}\0{self.message}\0{self.fix}"  # redacted as one: mostly there is none, and no time to lose
        if redact(text) != text:
            for name in ("place", "message", "fix"):
                object.__setattr__(self, name, redact(getattr(self, name)))

    def __str__(self) -> str:
        """The problem as one line of text."""
        return f"{self.place}: {self.message}. Fix: {self.fix}."


class VerifyplanError(Exception):
    """Base of all errors raised on purpose; `.problems` lists what is wrong, `str()` says it in words."""

    exit_code = 2
    shown_problems = 20  # a damaged table of a million rows must not print a million lines

    def __init__(self, problems: str | Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...]
        if isinstance(problems, str):
            self.problems = ()
            text = redact(problems)
        else:
            self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
            shown = [str(problem) for problem in self.problems[: self.shown_problems]]
            hidden = len(self.problems) - len(shown)
            text = "\n".join([*shown, *([f"... and {hidden} more problems"] if hidden else [])])
        super().__init__(text)


class InputError(VerifyplanError, ValueError):
    """An input cannot be used as it is."""


class SettingsError(InputError):
    """A setting, option or parameter is unknown, out of range, or contradicts another."""


class TableError(InputError):
    """A table lacks a column, or holds values that its column does not allow."""


class ArtifactError(InputError):
    """A state artifact cannot be read, or breaks an invariant of rule B9."""


class LogError(InputError):
    """A run log is damaged, of an unknown version, in use by another process, or does not fit its run (rule E1)."""


class MessageError(InputError):
    """A message of a debate breaks its schema; `.errors` lists how, each with keyword, instancePath and params."""

    def __init__(self, errors: Iterable[dict[str, Any]]) -> None:
        self.errors: tuple[dict[str, Any], ...] = tuple(redacted(error) for error in errors)
        text = json.dumps({"errors": self.errors}, ensure_ascii=False, separators=(",", ":"))
        super().__init__(MESSAGE_ERROR_PREFIX + text.encode(errors="backslashreplace").decode())


class AgentError(VerifyplanError):
    """An agent gave no usable answer: it erred, timed out, or answered outside its schema."""

    exit_code = 3


class Problems(list[Problem]):
    """A list of problems so far, so that all can be raised at once.

    >>> problems = Problems()
    >>> problems.of(lambda: expect(3, str, "path", "give a text"))
    >>> [problem.place for problem in problems]
    ['path']
    """

    only_settings = True
    """Whether each error so far was a SettingsError."""

    def of(self, check: Callable[[], T]) -> T | None:
        """Return what a check returns; None where it raises InputError, whose problems are added."""
        try:
            return check()
        except InputError as error:
            self.extend(error.problems)
            self.only_settings = self.only_settings and isinstance(error, SettingsError)
            return None

    def error(self) -> InputError:
        """Return one error with all problems: a SettingsError if each came from one, else an InputError."""
        return SettingsError(self) if self.only_settings else InputError(self)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__


def expect(value: object, kind: type, name: str, fix: str) -> None:
    """Raise InputError unless `value` is a `kind`; `fix` says how to get one.

    >>> expect(3, str, "path", "give a text")
    Traceback (most recent call last):
    verifyplan.errors.InputError: path: is a int, not a str. Fix: give a text.
    """
    if not isinstance(value, kind):
        raise InputError(Problem(name, f"is a {type(value).__name__}, not a {kind.__name__}", fix))


def expect_lists(**arguments: object) -> None:
    """Raise SettingsError for each value that is a lone text, which would be read letter by letter.

    >>> expect_lists(modules=["json/decoder.py"], workers=None)
    >>> expect_lists(workers="ann")
    Traceback (most recent call last):
    verifyplan.errors.SettingsError: workers: must be a list, got the text 'ann'. Fix: write ['ann'].
    """
    lone = {name: value for name, value in arguments.items() if isinstance(value, str | bytes)}
    if lone:
        raise SettingsError(
            Problem(name, f"must be a list, got the text {value!r:.80}", f"write [{value!r:.80}]")
            for name, value in lone.items()
        )


def expect_mappings(**arguments: object) -> None:
    """Raise SettingsError for each value that is neither a mapping nor None; the value is not shown.

    >>> expect_mappings(workers="ann")
    Traceback (most recent call last):
    verifyplan.errors.SettingsError: workers: must be a mapping, got a str. Fix: write {name: setting}.
    """
    wrong = {name: value for name, value in arguments.items() if value is not None and not isinstance(value, Mapping)}
    if wrong:
        raise SettingsError(
            Problem(name, f"must be a mapping, got a {type(value).__name__}", "write {name: setting}")
            for name, value in wrong.items()
        )


def one_of(values: Iterable[object]) -> str:
    """Return the allowed values as an error message quotes them.

    >>> one_of(["agree", "disagree"])
    "'agree', 'disagree'"
    """
    return ", ".join(repr(str(value)) for value in values)


P = ParamSpec("P")
R = TypeVar("R")

MAX_DEPTH, MAX_VALUES = 4, 1_000
"""Levels and entries of an argument that are looked at; larger ones are tables of findings, not settings."""


_KEY_ARGUMENT = re.compile(r"(?i)key|secret|passw|credential|(?:^|_)(?:token|auth)$")
"""Names of arguments that take a key, as they are also mistyped: what they hold is one, whatever its form."""


def without_keys_in_tracebacks(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function raise its errors without the frames that hold its arguments, where one of these is a key.

    Notebooks show the locals of every frame (`%xmode Verbose`), and so do rich and error trackers. A key is what looks
    like one, is known to be one, or is given by a name of one. Where a call does not fit the function, as with a
    mistyped name, no frame of it is left in any case. The frame of the caller stays, and what it holds is the caller's.
    An error that is not of verifyplan has a note that says where it was raised. Source: rule G3.

    >>> @without_keys_in_tracebacks
    ... def ask(model):
    ...     raise InputError(f"{model} is not a model")
    >>> try:
    ...     ask("ghp_" + "a1B2" * 9)
    ... except InputError as error:
    ...     print(error, "model" in error.__traceback__.tb_next.tb_frame.f_locals)
    [redacted] is not a model False
    """

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return function(*arguments, **named)
        except BaseException as error:
            trace = error.__traceback__
            is_call_wrong = trace is not None and trace.tb_next is None  # Python could not call the function
            if not is_call_wrong and not _any_key(arguments, named):
                raise
            shown = _without_frames(error, named)
        arguments, named, trace = (), {}, None  # type: ignore[assignment]  # not deleted: cgitb looks for all arguments
        raise shown

    return call


def _any_key(arguments: tuple[object, ...], named: Mapping[str, object]) -> bool:
    by_name = any(value is not None and _KEY_ARGUMENT.search(name) for name, value in named.items())
    return by_name or any(_holds_key(value) for value in (*arguments, *named.values()))


def _without_frames(error: BaseException, named: Mapping[str, object]) -> BaseException:
    """Return an error without its frames and causes, and its texts without the keys among the arguments."""
    for name, value in named.items():
        if isinstance(value, str) and _KEY_ARGUMENT.search(name):
            remember(value)
    if not isinstance(error, VerifyplanError):
        last = extract_tb(error.__traceback__)[-1]
        error.args = tuple(redact(part) if isinstance(part, str) else part for part in error.args)
        error.add_note(f"Raised in {last.filename}, line {last.lineno}; frames that hold a key are left out.")
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


def _holds_key(value: object, depth: int = 0) -> bool:
    """Return whether a text, or one within lists and mappings, holds what looks like a key or is one that is known."""
    if isinstance(value, str):
        return redact(value) != value
    if depth == MAX_DEPTH or not isinstance(value, Mapping | list | tuple | set) or len(value) > MAX_VALUES:
        return False
    held = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
    return any(_holds_key(each, depth + 1) for each in held)
