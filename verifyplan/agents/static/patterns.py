"""Lines that show a fact to who reads text, not a tree: definitions, raises, calls, imports, bases."""

from __future__ import annotations

import re
from functools import lru_cache

_BEFORE = r"(?<![\w.])"


@lru_cache(maxsize=1024)
def shows(kind: str, detail: str) -> re.Pattern[str]:
    """What a line looks like that shows `detail` raised, called or imported; other kinds: any mention.

    >>> bool(shows("raises", "ValueError").search("    raise ValueError(text)"))
    True
    """
    name = re.escape(detail)
    if kind == "raises":
        return re.compile(rf"\braise\s+(?:\w+\.){{0,3}}{name}\b")
    if kind == "calls":
        start = r"\b" if "." not in detail else _BEFORE
        return re.compile(rf"(?<!def )(?<!class ){start}{name}\(")
    if kind == "imports":
        return re.compile(rf"^\s*(?:import\s+(?:.*[\s,])?|from\s+){name}\b")
    return re.compile(rf"\b{name}\b")


@lru_cache(maxsize=1024)
def defines(name: str) -> re.Pattern[str]:
    """The first line of a definition of a name; of a dotted one, of its last part."""
    return re.compile(rf"^\s*(?:async\s+)?(?:def|class)\s+{re.escape(name.rpartition('.')[2])}\b")


@lru_cache(maxsize=1024)
def gives(parameter: str, value: str) -> re.Pattern[str]:
    """A line that gives a name a value, as `name=value` or `name: type = value`; an empty value: any."""
    end = rf"{re.escape(value)}(?![\w.(\[])" if value else ""
    return re.compile(rf"\b{re.escape(parameter)}\b(?::[^,=()]{{0,80}})?\s?=(?!=)\s?{end}")


def hits(pattern: re.Pattern[str], lines: list[tuple[int, str]]) -> list[int]:
    """The numbers of the lines whose first 1,000 characters show a pattern."""
    return [number for number, line in lines if pattern.search(line[:1000])]


def nearest(numbers: list[int], line: int) -> int:
    """The number closest to a line; of two as close, the smaller."""
    return min(numbers, key=lambda number: (abs(number - line), number))
