"""What a text marks as a name: inline code, link targets, paths in bold or bare; linear in the text's length."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal, NamedTuple

Mark = Literal["code", "link", "bold", "bare"]

HIDDEN = "\0"
"""Stands for each character of a marked name where only the words around it are read."""

_RUN = re.compile(r"`+")
_LINK = re.compile(r"\]\([ \t]*<?([^\s()<>]{1,300})|^\[[^\]\n]{1,200}\]:[ \t]*<?([^\s<>]{1,300})", re.MULTILINE)
_WORD_OR_PATH = re.compile(r"[^\s()\[\],;\"'<>|\0]+")
_EDGES = "*_.:!?"
_MAX_NAME_CHARACTERS = 2_000


class Span(NamedTuple):
    """A marked name: its text, and where it stands with its marks."""

    mark: Mark
    text: str
    start: int
    end: int


def spans(content: str) -> tuple[list[Span], str]:
    """The marked names of a text in their order, and the text with all of them hidden.

    Inline code is what CommonMark takes for it; longer than 2,000 characters it is hidden and not listed.

    >>> spans("Edit `a.py`, **b.py** and src/c.py.")[0]  # doctest: +NORMALIZE_WHITESPACE
    [Span(mark='code', text='a.py', start=5, end=11), Span(mark='bold', text='b.py', start=13, end=21),
     Span(mark='bare', text='src/c.py', start=26, end=35)]
    """
    found = list(_code(content))
    plain = _hide(content, found)
    for marks in (_links, _words):
        marked = list(marks(plain))
        plain = _hide(plain, marked)
        found += marked
    return sorted(
        (span for span in found if len(span.text) <= _MAX_NAME_CHARACTERS), key=lambda span: span.start
    ), plain


class LineNumbers:
    """Line numbers of places in a text that begins on line `first`."""

    def __init__(self, content: str, first: int) -> None:
        self._ends = [matched.start() for matched in re.finditer("\n", content)]
        self._first = first

    def at(self, place: int) -> int:
        """The line of a place in the text."""
        return self._first + bisect_left(self._ends, place)


def _code(content: str) -> Iterator[Span]:
    runs = [(run.start(), run.end()) for run in _RUN.finditer(content)]
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for at, (start, end) in enumerate(runs):
        by_length[end - start].append(at)
    at = 0
    while at < len(runs):
        start, end = runs[at]
        same = by_length[end - start]
        after = bisect_right(same, at)
        if after == len(same):
            at += 1
            continue
        closing = same[after]
        yield Span("code", " ".join(content[end : runs[closing][0]].split()), start, runs[closing][1])
        at = closing + 1


def _hide(content: str, found: list[Span]) -> str:
    pieces, at = [], 0
    for span in found:
        pieces += [content[at : span.start], HIDDEN * (span.end - span.start)]
        at = span.end
    return "".join([*pieces, content[at:]])


def _links(plain: str) -> Iterator[Span]:
    for matched in _LINK.finditer(plain):
        target = (matched[1] or matched[2]).partition("#")[0]
        yield Span("link", target, matched.start(), matched.end())


def _words(plain: str) -> Iterator[Span]:
    """Words that may be paths: with a slash in them, or bold, with a dot in them; `**/*.py` is a glob, not bold."""
    for matched in _WORD_OR_PATH.finditer(plain):
        word = matched.group()
        glob = word.startswith("**/") and not word.rstrip(".:!?").endswith("**")
        if "." not in word or len(word) > 300 or glob:
            continue
        bold = word.startswith("**")
        name = word.lstrip("*_:!?").rstrip(_EDGES)
        if name and (bold or "/" in name or word.startswith("@")):
            yield Span("bold" if bold and "/" not in name else "bare", name, matched.start(), matched.end())
