"""Keep keys out of the locals that a traceback shows, where they were passed as a model, an address or a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from verifyplan.errors import InputError
from verifyplan.redaction import redact

P = ParamSpec("P")
R = TypeVar("R")

MAX_DEPTH, MAX_VALUES = 4, 1_000
"""Levels and entries of an argument that are looked at; larger ones are tables of findings, not settings."""


def without_keys_in_tracebacks(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function raise its input errors without the frames that hold its arguments, where one of these is a key.

    Notebooks show the locals of every frame (`%xmode Verbose`), and so do rich and error trackers. The frame of the
    caller stays, and what it holds is the caller's. Source: rule G3.

    >>> @without_keys_in_tracebacks
    ... def ask(model):
    ...     raise InputError(f"{model} is no model")
    >>> try:
    ...     ask("ghp_" + "a1B2" * 9)
    ... except InputError as error:
    ...     print(error, "model" in error.__traceback__.tb_next.tb_frame.f_locals)
    [redacted] is no model False
    """

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return function(*arguments, **named)
        except InputError as error:
            if not any(_holds_key(value) for value in (*arguments, *named.values())):
                raise
            shown = error.with_traceback(None)
        del arguments, named
        shown.__context__ = shown.__cause__ = None
        raise shown

    return call


def _holds_key(value: object, depth: int = 0) -> bool:
    """Return whether a text, or one within lists and mappings, holds what looks like a key or is one that is known."""
    if isinstance(value, str):
        return redact(value) != value
    if depth == MAX_DEPTH or not isinstance(value, Mapping | list | tuple | set) or len(value) > MAX_VALUES:
        return False
    held = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
    return any(_holds_key(each, depth + 1) for each in held)
