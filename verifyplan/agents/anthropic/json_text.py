"""Find the JSON object in a model's text, whatever is around it, in time linear in the text (rule H3)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

_BEGIN = re.compile(r'\{\s*(?:"([^"\\\n]{0,60})"|")|\{\s*\}')
_MAX_PASSES = 8
"""Passes over a text, in pieces that look like JSON and are none, before it is given up."""
_MIN_EFFORT = 100_000
"""Characters that are read over in any case."""
_MAX_DIGITS = 300
_COMMAS = re.compile(r'"(?:[^"\\]|\\.)*"?|,(?=\s*[}\]])', re.DOTALL)
"""A text in JSON, or a comma after the last entry of a list or an object."""


@dataclass(frozen=True)
class UnusableValue:
    """The place of a value that no JSON value can be, and why."""

    reason: str


@dataclass(frozen=True)
class JsonCandidate:
    """The value at an opening brace, or why there is none."""

    value: Any = None
    problem: str = ""
    wanted: bool = False
    """Whether it has the main key, or is broken and begins with a key of such an object."""

    @property
    def rank(self) -> int:
        """The order in which candidates are preferred, the highest first."""
        return 2 if self.wanted else int(not self.problem)


def find_object(text: str, main: str, keys: Collection[str]) -> JsonCandidate:
    """Return the last object in a text that has the `main` key, or that is broken and begins with one of the `keys`.

    So a draft before the answer is not mistaken for it, not even where the answer is damaged. Without any such object
    it is the last that can be read, else the problem of the last. Commas after a last entry are passed over where only
    they break the JSON. NaN, infinite and endless numbers, objects with a key twice and half characters are
    `UnusableValue`s in the value; nesting without end is a problem. Takes time linear in the text.

    >>> find_object('Here: {"votes": [1,]} Done.', "votes", {"votes"}).value
    {'votes': [1]}
    """
    best = _best(text, main, keys)
    if best.problem or not best.wanted:
        mended = _best(_without_last_commas(text), main, keys)
        return mended if mended.wanted and not mended.problem else best
    return best


def find_entries(text: str) -> list[dict[str, Any]]:
    """Return the whole objects of a text in which the one around them is cut off or damaged, in their order.

    What a model thought aloud (`<think>`) is passed over. Takes time linear in the text.

    >>> find_entries('{"votes": [{"finding_id": "F-1"}, {"finding_id": "F-2", "verd')
    [{'finding_id': 'F-1'}]
    """
    said = text.rpartition("</think>")[2].partition("<think>")[0]
    found = (candidate.value for candidate in _candidates(_without_last_commas(said), "", ()))
    return [value for value in found if isinstance(value, dict)]


def is_object(text: str) -> bool:
    """Return whether a text is one JSON object and nothing else, as an endpoint that holds to a schema gives it."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _without_last_commas(text: str) -> str:
    """Return a text without the commas after last entries, from its first brace on; texts in it stay as they are."""
    start = max(text.find("{"), 0)
    return text[:start] + _COMMAS.sub(lambda match: "" if match[0] == "," else match[0], text[start:])


def _best(text: str, main: str, keys: Collection[str]) -> JsonCandidate:
    best = JsonCandidate(problem="there is no JSON object in it")
    for candidate in _candidates(text, main, keys):
        best = candidate if candidate.rank >= best.rank else best
    return best


def _candidates(text: str, main: str, keys: Collection[str]) -> Iterator[JsonCandidate]:
    at, effort = 0, 0
    while match := _BEGIN.search(text, at):
        start, at = match.start(), match.start() + 1
        begins = match[1] in keys
        try:
            value, at = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            endless = error.msg.startswith("Unterminated")  # the whole text was read, though the error is at the quote
            effort += (len(text) if endless else error.pos) - start + error.pos // 16  # and the lines were counted
            line, before = text.count("\n", start, error.pos) + 1, text.rfind("\n", start, error.pos)
            place = f"line {line} of the object, column {error.pos - (start - 1 if before < 0 else before)}"
            yield JsonCandidate(problem=f"the JSON is broken at {place}: {error.msg}", wanted=begins)
        except RecursionError:
            effort += len(text) - start
            yield JsonCandidate(problem="the JSON is nested without end", wanted=begins)
        else:
            yield JsonCandidate(value, wanted=main in value if isinstance(value, dict) else begins)
        if effort > _MAX_PASSES * len(text) + _MIN_EFFORT:
            yield JsonCandidate(problem="it holds too much that looks like JSON and is none", wanted=True)
            return


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | UnusableValue:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        twin = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return UnusableValue(f"has the key {twin[:60]!r} twice")
    if not all(map(_encodable, values)):
        return UnusableValue("has a key with half a character in it")
    return {key: _sound(value) for key, value in values.items()}


def _sound(value: Any) -> Any:
    """Return a value without texts that UTF-8 cannot spell; objects in it are sound already."""
    if isinstance(value, list):
        return [_sound(item) for item in value]
    return UnusableValue("holds half a character") if isinstance(value, str) and not _encodable(value) else value


def _encodable(text: str) -> bool:
    """Return whether UTF-8 can spell a text; JSON can also spell lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_TOO_LARGE = UnusableValue("is too large a number")
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_float=lambda digits: value if isfinite(value := float(digits)) else _TOO_LARGE,
    parse_int=lambda digits: int(digits) if len(digits) <= _MAX_DIGITS else _TOO_LARGE,
    parse_constant=lambda name: UnusableValue(f"is {name}, which is no JSON number"),
)
