"""JSON read strictly: whatever could not be written again as it was is an error that names its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any

from pydantic_core import to_json

from verifyplan.errors import ArtifactError, Problem
from verifyplan.text import short_repr

_MAX_DEPTH = 200
_MAX_DIGITS = 300


def strict_json(text: str, place: str) -> Any:
    """JSON as Python values; `place` names the text in errors.

    Raises ArtifactError for what is not JSON (with line and column), and for repeated keys, NaN, numbers beyond
    any double, half characters (lone surrogates) and nesting without end (each with its JSON pointer).

    >>> strict_json('{"a": [1, NaN]}', "x.json")
    Traceback (most recent call last):
    verifyplan.errors.ArtifactError: x.json: /a/1: NaN is not a JSON number. Fix: correct or remove it.
    """
    try:
        content = json.loads(
            text, object_pairs_hook=_object, parse_constant=_no_number, parse_float=_number, parse_int=_whole
        )
    except json.JSONDecodeError as error:
        where = f"{place}: line {error.lineno}, column {error.colno}"
        raise ArtifactError(Problem(where, f"is not JSON ({error.msg})", "restore the whole file")) from None
    except RecursionError:
        raise ArtifactError(Problem(place, "is nested without end", "restore the whole file")) from None
    try:
        to_json(content)  # fast, and refuses all that is odd
    except ValueError:
        raise ArtifactError(
            Problem(f"{place}: {pointer}" if pointer else place, reason, "correct or remove it")
            for pointer, reason in _oddities(content)
        ) from None
    return content


def pointer_token(key: str) -> str:
    """Return a key as a JSON pointer spells it (RFC 6901).

    >>> pointer_token("a/b")
    'a~1b'
    """
    return key.replace("~", "~0").replace("/", "~1")


class _Odd:
    """In the values, marks where the text holds what no JSON value can be."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Odd:
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    seen: set[str] = set()
    twin = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return _Odd(f"the key {short_repr(twin)} occurs twice in one object")


def _no_number(name: str) -> _Odd:
    return _Odd(f"{name} is not a JSON number")


def _number(digits: str) -> float | _Odd:
    value = float(digits)
    return value if isfinite(value) else _Odd(f"{short_repr(digits)} is too large a number")


def _whole(digits: str) -> int | _Odd:
    return int(digits) if len(digits) <= _MAX_DIGITS else _Odd(f"{short_repr(digits)} is too large a number")


def _oddities(value: Any, pointer: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The JSON pointer of everything that is no sound JSON value, and what is odd about it."""
    if isinstance(value, _Odd):
        yield pointer, value.reason
    elif isinstance(value, str) and not _encodable(value):
        yield pointer, f"{short_repr(value)} holds half a character"
    elif isinstance(value, dict | list) and depth == _MAX_DEPTH:
        yield f"{pointer[:60]}...", f"is nested deeper than {_MAX_DEPTH} levels"
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if _encodable(str(key)):
                yield from _oddities(inner, f"{pointer}/{pointer_token(str(key))}", depth + 1)
            else:
                yield pointer, f"the key {short_repr(key)} holds half a character"


def _encodable(text: str) -> bool:
    """Whether UTF-8 can spell a text; JSON can also spell lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
