"""The sentences of a plan's prose, each with the lines that it stands on: what a line break parts belongs together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_ALONE = re.compile(r"\s*(?:#{1,6}\s|\||<|>|(?:-{3,}|={3,}|\*{3,})\s*$)")
_END = re.compile(r"[.!?][\"')*`]*(?P<gap>\s+)(?=[A-Z`\"'*(\[])")
_NO_END = re.compile(r"(?:^|\s)(?:\d{1,3}|e\.g|i\.e|cf|vs|etc|approx|no|nr)\.$", re.IGNORECASE)
LONGEST = 2_000
"""Characters of a line that are read."""

_LONGEST_PART = 4_000


class Sentence(NamedTuple):
    """A sentence on one line, the lines from `first` to `last` that it stands on, and where in it each begins."""

    first: int
    last: int
    text: str
    starts: tuple[tuple[int, int], ...] = ()

    def line_of(self, place: int) -> int:
        """The line of a place in the text."""
        return next((line for start, line in reversed(self.starts) if start <= place), self.first)


def sentences(lines: Sequence[str], skipped: Callable[[int], bool]) -> Iterator[Sentence]:
    """The sentences of some lines, in order; headings, rows of tables, tags and quotations are one a line.

    `skipped` tells of a line's number, from 1, whether it is no prose. A paragraph of more than 4,000 characters is
    read line by line, and of a line 2,000 characters.

    >>> [one[:3] for one in sentences(["Change `a.py`", "now. Then", "test."], lambda at: False)]
    [(1, 2, 'Change `a.py` now.'), (2, 3, 'Then test.')]
    """
    part: list[tuple[int, str]] = []
    for at, line in enumerate(lines, 1):
        alone = _ALONE.match(line) is not None
        if skipped(at) or not line.strip() or alone or _ITEM.match(line):
            yield from _split(part)
            part = []
        if alone and not skipped(at) and line.strip():
            yield Sentence(at, at, line.strip()[:LONGEST], ((0, at),))
        elif not skipped(at) and line.strip():
            part.append((at, line.strip()[:LONGEST]))
    yield from _split(part)


def _split(part: list[tuple[int, str]]) -> Iterator[Sentence]:
    """The sentences of one paragraph or list item."""
    if sum(len(line) for _, line in part) > _LONGEST_PART:
        yield from (Sentence(at, at, line, ((0, at),)) for at, line in part)
        return
    starts, text = list[tuple[int, int]](), ""
    for at, line in part:
        text += " " if text else ""
        starts.append((len(text), at))
        text += line
    begin = 0
    for end in (
        *(match.start("gap") for match in _END.finditer(text) if not _NO_END.search(text[: match.start("gap")])),
        len(text),
    ):
        if text[begin:end].strip():
            begin += len(text[begin:end]) - len(text[begin:end].lstrip())
            yield _sentence(text, begin, end, starts)
        begin = end


def _sentence(text: str, begin: int, end: int, starts: list[tuple[int, int]]) -> Sentence:
    within = [
        (max(start - begin, 0), line)
        for at, (start, line) in enumerate(starts)
        if start < end and (at + 1 == len(starts) or starts[at + 1][0] > begin)
    ]
    return Sentence(within[0][1], within[-1][1], text[begin:end], tuple(within))
