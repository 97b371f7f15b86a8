"""The JSON object in what a model wrote, whatever stands around it; never quadratic in the text (rule H3)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

_BEGIN = re.compile(r'\{\s*(?:"([^"\\\n]{0,60})"|")|\{\s*\}')
_EFFORT = 8
"""How often a text may be read over, in pieces that look like JSON and are none, before it is given up."""
_MOST_FOR_SHORT = 100_000
"""Characters that are read over in any case."""
_MOST_DIGITS = 300


@dataclass(frozen=True)
class UnusableValue:
    """Stands where a text holds what no JSON value can be, and says why."""

    reason: str


@dataclass(frozen=True)
class JsonCandidate:
    """What stands at an opening brace: a value, or why there is none."""

    value: Any = None
    problem: str = ""
    wanted: bool = False
    """Whether it has the key that is looked for, or is broken and begins with a key of such an object."""

    @property
    def rank(self) -> int:
        """Which of two pieces is rather taken."""
        return 2 if self.wanted else int(not self.problem)


def find_object(text: str, main: str, keys: Collection[str]) -> JsonCandidate:
    """The last object in a text that has the `main` key, or that is broken and begins with one of the `keys`.

    So a draft that a model wrote down before its answer is not taken for it, not even where the answer is damaged.
    Without any such object it is the last that can be read, else what is wrong with the last. NaN, infinite and endless
    numbers, objects with a key twice and half characters stand in the value as `Odd`; nesting without end is a problem.
    Takes time linear in the text.

    >>> find_object('Here: {"votes": []} Done.', "votes", {"votes"}).value
    {'votes': []}
    """
    best = JsonCandidate(problem="there is no JSON object in it")
    for piece in _pieces(text, main, keys):
        best = piece if piece.rank >= best.rank else best
    return best


def _pieces(text: str, main: str, keys: Collection[str]) -> Iterator[JsonCandidate]:
    at, effort = 0, 0
    while match := _BEGIN.search(text, at):
        start, at = match.start(), match.start() + 1
        begins = match[1] in keys
        try:
            value, at = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            effort += _read(error, start)
            yield JsonCandidate(problem=f"the JSON is broken at {_where(error, start)}: {error.msg}", wanted=begins)
        except RecursionError:
            effort += len(text) - start
            yield JsonCandidate(problem="the JSON is nested without end", wanted=begins)
        else:
            yield JsonCandidate(value, wanted=main in value if isinstance(value, dict) else begins)
        if effort > _EFFORT * len(text) + _MOST_FOR_SHORT:
            yield JsonCandidate(problem="it holds too much that looks like JSON and is none", wanted=True)
            return


def _read(error: json.JSONDecodeError, start: int) -> int:
    """Characters that were read until an error was found; the error counts its lines, which is faster."""
    endless = error.msg.startswith("Unterminated")  # the whole text was read, though the error stands at the quote
    return (len(error.doc) if endless else error.pos) - start + error.pos // 16


def _where(error: json.JSONDecodeError, start: int) -> str:
    line = error.doc.count("\n", start, error.pos) + 1
    before = error.doc.rfind("\n", start, error.pos)
    return f"line {line} of the object, column {error.pos - (start - 1 if before < 0 else before)}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | UnusableValue:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twin = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return UnusableValue(f"has the key {twin[:60]!r} twice")
    if not all(map(_encodable, found)):
        return UnusableValue("has a key with half a character in it")
    return {key: _sound(value) for key, value in found.items()}


def _sound(value: Any) -> Any:
    """A value without texts that cannot be written down again; objects in it have been seen to already."""
    if isinstance(value, list):
        return [_sound(one) for one in value]
    return UnusableValue("holds half a character") if isinstance(value, str) and not _encodable(value) else value


def _encodable(text: str) -> bool:
    """Whether UTF-8 can spell a text; JSON can also spell surrogates that stand alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _number(digits: str) -> float | UnusableValue:
    value = float(digits)
    return value if isfinite(value) else UnusableValue("is too large a number")


def _whole(digits: str) -> int | UnusableValue:
    return int(digits) if len(digits) <= _MOST_DIGITS else UnusableValue("is too large a number")


def _no_number(name: str) -> UnusableValue:
    return UnusableValue(f"is {name}, which is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_number, parse_int=_whole, parse_constant=_no_number)
