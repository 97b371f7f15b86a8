"""Ranges of lines, asked quickly whether one of them holds a line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


class LineRanges:
    """Lines from `first` to `last`, both included, of any number of ranges; they may overlap.

    >>> lines = LineRanges([(1, 3), (2, 5), (9, 9)])
    >>> [line in lines for line in (1, 5, 6, 9)]
    [True, True, False, True]
    """

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        merged: list[tuple[int, int]] = []
        for first, last in sorted(ranges):
            if merged and first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
            else:
                merged.append((first, last))
        self._firsts = [first for first, _ in merged]
        self._lasts = [last for _, last in merged]

    def __bool__(self) -> bool:
        return bool(self._firsts)

    def __contains__(self, line: int) -> bool:
        at = bisect_right(self._firsts, line) - 1
        return at >= 0 and line <= self._lasts[at]
