"""Check the arguments that several kinds of runs share, and make their backend, before any call (rules H1, H3)."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from pathlib import Path

from pydantic import ValidationError

from verifyplan import agents
from verifyplan.agents.base import Backend, ConversingBackend, RepeatableBackend
from verifyplan.agents.static import StaticBackend
from verifyplan.errors import InputError, Problem, SettingsError, one_of
from verifyplan.files import try_to_write
from verifyplan.protocol.settings import Limits
from verifyplan.protocol.vote import MISSING_BASES
from verifyplan.redaction import redact
from verifyplan.rules.settings import TASK_TYPES
from verifyplan.text import did_you_mean, short_repr

Workers = Sequence[str] | Mapping[str, str]
"""The roster, in order; or each worker's name with the checker of the backend that it plays."""

FOLDER_NAME = re.compile(r"(?!\.)[\w.-]{1,100}")
"""Names of task types: they name a folder and a part of a file's name."""

_FUNCTION_FIX = "give names here, as ['ann', 'bob'], and the function as backend=agents.from_function(function)"
HOLDS_KEY = "contains what looks like a key, which logs redact: names that differ only in it would become equal"


def read_roster(workers: Workers) -> list[str]:
    """Return the names of the workers, in order; SettingsError if one is repeated or empty, or holds a key."""
    if isinstance(workers, str | set | frozenset) or not isinstance(workers, Iterable):
        fix = _FUNCTION_FIX if callable(workers) else "give a list of names, or a mapping of names to checkers"
        message = f"must be a list, which has an order, got {short_repr(workers)}"
        raise SettingsError(Problem("workers", message, fix))
    names = list(workers)
    good = [name for name in names if is_name(name)]
    repeated = [name for name, times in Counter(good).items() if times > 1]
    bad = [name for name in names if not is_name(name)]
    problems = [Problem("workers", f"{name!r} is named twice", "name each worker once") for name in repeated]
    problems += [
        Problem(
            "workers",
            f"must be names, got {short_repr(name)}",
            _FUNCTION_FIX if callable(name) else "give each worker's name as a text",
        )
        for name in bad
    ]
    problems += [Problem("workers", HOLDS_KEY, "name the worker") for name in good if redact(name) != name]
    if problems:
        raise SettingsError(problems)
    return names


def is_name(value: object) -> bool:
    """Return whether a value is a text that is not blank and can be written down."""
    return isinstance(value, str) and bool(value.strip()) and writable(value)


def writable(text: str) -> bool:
    r"""Return whether a text can be written down: it holds no half of a surrogate pair, as undecodable bytes become.

    >>> writable("Übergang"), writable("\udcff")
    (True, False)
    """
    return text.encode(errors="replace").decode() == text


def read_limits(**limits: object) -> Limits:
    """Return what a run may use, `max_tokens` and `max_cost`; SettingsError listing what cannot be a limit."""
    exact = {name: str(value) if isinstance(value, float) else value for name, value in limits.items()}
    try:
        return Limits.model_validate(exact)
    except ValidationError as error:
        fix = "give tokens as a whole number, dollars as a number, above 0, or None for no limit"
        raise SettingsError(
            Problem(str(detail["loc"][0]), f"cannot be {detail['input']!r} ({detail['msg']})", fix)
            for detail in error.errors(include_url=False)
        ) from None


def check_counts(**counts: object) -> None:
    """Raise a SettingsError that lists each value that is not an integer of at least 1."""
    problems = [
        Problem(name, f"must be an integer of at least 1, got {value!r}", "give a whole number from 1")
        for name, value in counts.items()
        if isinstance(value, bool) or not isinstance(value, int) or value < 1
    ]
    if problems:
        raise SettingsError(problems)


def check_booleans(**values: object) -> None:
    """Raise a SettingsError that lists each value that is neither True nor False."""
    problems = [
        Problem(name, f"must be True or False, got {value!r}", "give True or False")
        for name, value in values.items()
        if not isinstance(value, bool)
    ]
    if problems:
        raise SettingsError(problems)


def check_missing_basis(missing_basis: object) -> None:
    """Raise a SettingsError unless a run can fill in missing bases so (rule B4); "raise" is for recorded votes."""
    allowed = [name for name in MISSING_BASES if name != "raise"]
    if missing_basis not in allowed:
        fix = "change it; 'raise' is for reading recorded votes, by replay"
        raise SettingsError(Problem("missing_basis", f"must be one of {one_of(allowed)}, got {missing_basis!r}", fix))


def check_timeout(timeout: object) -> None:
    """Raise a SettingsError unless `timeout` is None or a finite number above 0."""
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if timeout is not None and (not number or timeout_problems(timeout)):
        raise SettingsError(_bad_timeout(timeout))


def timeout_problems(value: object) -> list[Problem]:
    """Return what is wrong with a number of seconds; nothing for a value that is not a number."""
    wrong = isinstance(value, int | float) and not (value > 0 and math.isfinite(value))
    return [_bad_timeout(value)] if wrong else []


def _bad_timeout(value: object) -> Problem:
    fix = "give seconds above 0, or None for no limit"
    return Problem("timeout", f"must be a finite number above 0, got {value!r}", fix)


def read_folder(value: object, name: str, subject: str) -> Path:
    """Return a folder that exists and can be named in a log; InputError naming the argument and its subject."""
    fix = f"name the folder that {subject} is about"
    if not isinstance(value, str | Path):
        raise InputError(Problem(name, f"is a {type(value).__name__}, not a path", fix))
    if not Path(value).is_dir():
        raise InputError(Problem(name, f"{str(value)!r} is not a folder", fix))
    if not writable(str(Path(value).resolve())):
        raise InputError(Problem(name, f"{str(value)!r} is a name that no log can hold", "rename the folder"))
    return Path(value)


def check_log_dir(log_dir: object) -> None:
    """Raise an InputError unless the folder of the log, or the first above it that exists, takes new files.

    None passes: no log is written.
    """
    if log_dir is None:
        return
    fix = "name a folder, or None for no log"
    if not isinstance(log_dir, str | Path):
        raise InputError(Problem("log_dir", f"is a {type(log_dir).__name__}, not a path", fix))
    if "\0" in str(log_dir) or not writable(str(log_dir)):
        raise InputError(Problem("log_dir", f"{str(log_dir)!r} cannot name a folder", fix))
    folder = Path(log_dir).absolute()
    try:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
    except OSError as error:  # a name that is too long
        raise InputError(Problem("log_dir", f"{str(log_dir)!r} cannot name a folder ({error})", fix)) from None
    if not existing.is_dir():
        raise InputError(Problem("log_dir", f"{str(existing)!r} is a file, not a folder", fix))
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(Problem("log_dir", f"{str(existing)!r} cannot be written to", fix))


def read_task_type(task_type: object, task_key: object) -> str:
    """Return the task type, "" for None.

    Raises InputError unless it can name a folder and resembles no known one, and the key is a text.
    """
    problems = []
    if task_type is not None and not (isinstance(task_type, str) and FOLDER_NAME.fullmatch(task_type)):
        fix = "use letters, digits, dot, dash and underscore, at most 100: it names a folder"
        problems.append(Problem("task_type", f"{task_type!r} cannot name a folder", fix))
    elif task_type is not None and redact(task_type) != task_type:
        problems.append(Problem("task_type", HOLDS_KEY, "name the kind of task"))
    elif task_type not in TASK_TYPES and (near := did_you_mean(task_type, TASK_TYPES)):
        fix = f"use {one_of(TASK_TYPES)}, or a name of your own that resembles none of them"
        problems.append(Problem("task_type", f"{task_type!r} is unknown{near}", fix))
    if task_key is not None and not is_name(task_key):
        fix = "say what the run is about, or leave it out"
        problems.append(Problem("task_key", f"must be a text that is not blank, got {task_key!r}", fix))
    if problems:
        raise InputError(problems)
    return str(task_type or "")


def check_output(place: str, path: str | Path | None) -> None:
    """Raise an InputError, at `place`, for a file that cannot be written; None is no file, and passes.

    >>> check_output("--diff", None)
    >>> try:
    ...     check_output("--diff", ".")
    ... except InputError as error:
    ...     print(error.problems[0].message)
    '.' cannot be written (is a folder)
    """
    if path is None:
        return
    try:
        if Path(path).is_dir():
            raise IsADirectoryError("is a folder")
        try_to_write(Path(path).parent)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        fix = "name a file in a folder that you may write to"
        raise InputError(Problem(place, f"{str(path)!r} cannot be written ({reason})", fix)) from None


def check_names(names: Iterable[str], allowed: Iterable[str], function: str, models: str) -> None:
    """Raise SettingsError for names that are not arguments of a function, with those that are.

    `models` is the function that makes models: what is an argument of theirs is said to be given there.
    """
    known = list(allowed)
    of_models = signature(agents.Anthropic).parameters
    problems = []
    for name in (name for name in names if name not in known):
        fix = f"use some of {', '.join(known)}"
        if name in of_models:
            fix = f"give it to the backend: backend=vp.{models}(MODEL{'' if name == 'model' else f', {name}=...'})"
        message = f"is not an argument of {function}{did_you_mean(name, known)}"
        problems.append(Problem(name, message, fix))
    if problems:
        raise SettingsError(problems)


def make_backend(backend: str | Backend, workers: Workers, repo: str | Path, repetition: int = 1) -> Backend:
    """Return the backend of a name, or the backend itself, for a folder and one of several runs of the same inputs.

    SettingsError, InputError for a bad one.
    """
    if not isinstance(backend, Backend) or isinstance(backend, type):
        if backend != "static":
            fix = "use 'static', or pass a backend object: agents.Anthropic(model=...), ScriptedBackend(script)"
            if callable(backend) and not isinstance(backend, type):
                fix = "pass the function as backend=agents.from_function(FUNCTION)"
            raise SettingsError(Problem("backend", f"{backend!r} is unknown", fix))
    elif not isinstance(backend, ConversingBackend):
        return backend
    if not Path(repo).is_dir():
        raise InputError(Problem("repo", f"{str(repo)!r} is not a folder", "name the folder that evidence cites"))
    if isinstance(backend, ConversingBackend):
        bound = backend.at(repo)
        return bound.in_repetition(repetition) if isinstance(bound, RepeatableBackend) else bound
    return StaticBackend(repo, workers if isinstance(workers, Mapping) else None)


def bind_backend(
    backend: str | Backend, workers: Workers, repo: str | Path, limits: Limits, repetition: int = 1
) -> Backend:
    """Return the backend of a run: for its folder and repetition, able to play its workers and to keep its limits.

    SettingsError, InputError for a backend that is unknown or cannot do one of these.
    """
    bound = make_backend(backend, workers, repo, repetition)
    check_workers(bound, list(workers))
    check_affordable(bound, limits)
    return bound


def check_workers(backend: Backend, roster: Sequence[str]) -> None:
    """Raise a SettingsError that lists every worker the backend cannot play."""
    if messages := [message for worker in roster if (message := backend.check_worker(worker))]:
        fix = "rename the worker, or map its name to one that the backend can play"
        raise SettingsError(Problem("workers", message, fix) for message in messages)


def check_affordable(backend: Backend, limits: Limits) -> None:
    """Raise a SettingsError where the run is to end at a cost, and the backend cannot tell what its calls cost."""
    if limits.max_cost is None:
        return
    problem: str | None = "its calls have no price"
    if isinstance(backend, ConversingBackend):
        problem = backend.budget_problem("max_cost")
    if problem:
        fix = "give the backend prices=, or end the run by max_tokens"
        raise SettingsError(Problem("max_cost", f"cannot be kept: {problem}", fix))
