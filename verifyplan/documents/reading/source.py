"""A document as it was read: its text untouched, and its frontmatter, parts, tables and bullets with their lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from verifyplan.documents.reading.body import (
    Bullet,
    DocumentSection,
    MarkdownTable,
    find_bullets,
    find_sections,
    plain,
    find_tables,
)
from verifyplan.documents.reading.front import Front, read_front
from verifyplan.documents.reading.phrases import says_nothing
from verifyplan.plans.markup import Element, elements, fences
from verifyplan.plans.prose import without_comments
from verifyplan.plans.values import LineRanges

LineEnd = Literal["\n", "\r\n", "\r"]

BYTE_ORDER_MARK = "\ufeff"
"""The byte order mark; a text may begin with it."""

MAX_LINES, MAX_CHARACTERS = 20_000, 1_000_000
"""A document is read as far as both allow; real ones have some 1,500 lines, and a hostile text would take minutes."""

_BREAK = re.compile(r"\r\n|\n|\r")
_CONTAINERS = frozenset({"tasks", "plan"})


@dataclass(frozen=True)
class Source:
    """A document's text exactly as it was read, and what its lines are; line n is `lines[n - 1]`.

    `lines` have neither their ends nor a byte order mark, `prose` has code and comments blanked and the frontmatter
    too. Where a document is too long, what stands behind line `read` has no parts, tables, bullets and elements.
    Nothing here is ever written back: what is written is made from `text`.
    """

    path: str
    text: str
    lines: tuple[str, ...]
    front: Front
    line_end: LineEnd

    @cached_property
    def read(self) -> int:
        """How many lines are read: all of them, unless the document is longer than any that people write."""
        total = 0
        for number, line in enumerate(self.lines[:MAX_LINES]):
            total += len(line) + 1
            if total > MAX_CHARACTERS:
                return number
        return min(len(self.lines), MAX_LINES)

    @cached_property
    def prose(self) -> tuple[str, ...]:
        """The lines that are read, with fenced code and comments blanked."""
        head = min(self.front.last, self.read)
        prose = [*[""] * head, *self.lines[head : self.read]]
        for block in fences(prose)[0]:
            prose[block.first - 1 : block.last] = [""] * (block.last - block.first + 1)
        return tuple(without_comments(prose))

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """The XML elements of a PLAN document, in the order in which they open; other documents have none."""
        return tuple(elements(self.prose)[0])

    @cached_property
    def sections(self) -> tuple[DocumentSection, ...]:
        """The headings that stand in no code, comment, frontmatter or element."""
        lines = list(self.prose)
        inside = LineRanges((e.first, e.last) for e in self.elements if e.closed and e.name not in _CONTAINERS)
        if inside:
            lines = ["" if number in inside else line for number, line in enumerate(lines, 1)]
        return find_sections(lines, len(self.lines))

    def section(self, title: str, level: int | None = 2) -> DocumentSection | None:
        """The first part of a title, without regard to case and punctuation around it; `level` None means any."""
        return next((part for part in self._titled.get(plain(title), ()) if level in (None, part.level)), None)

    def lines_of(self, part: DocumentSection) -> list[tuple[int, str]]:
        """The lines under a heading with their numbers, as far as they are read, code and subsections included."""
        return list(enumerate(self.lines[part.head : min(part.last, self.read)], part.head + 1))

    @cached_property
    def _titled(self) -> dict[str, list[DocumentSection]]:
        titled: dict[str, list[DocumentSection]] = {}
        for part in self.sections:
            titled.setdefault(plain(part.title), []).append(part)
        return titled

    def prose_of(self, part: DocumentSection | None = None) -> list[tuple[int, str]]:
        """The lines under a heading, or of the whole body, with code and comments blanked."""
        first, last = (part.head, part.last) if part else (0, len(self.prose))
        return list(enumerate(self.prose[first:last], first + 1))

    def tables(self, part: DocumentSection | None = None) -> tuple[MarkdownTable, ...]:
        """The tables under a heading, or of the whole body."""
        return find_tables(self.prose_of(part))

    def bullets(self, part: DocumentSection | None = None) -> tuple[Bullet, ...]:
        """The list items under a heading, or of the whole body."""
        return find_bullets(self.prose_of(part))


def read_source(text: str, path: str) -> Source:
    r"""What the lines of a document are; never raises, whatever the text.

    >>> source = read_source("---\r\nwave: 1\r\n---\r\n# Plan\r\n\r\n## Summary\r\nDone.", "PLAN-01.md")
    >>> source.front.values, [part.title for part in source.sections], source.line_end
    ({'wave': 1}, ['Plan', 'Summary'], '\r\n')
    """
    lines = split(text.removeprefix(BYTE_ORDER_MARK))
    return Source(path, text, tuple(lines), read_front(lines[:MAX_LINES]), _line_end(text))


def split(text: str) -> Sequence[str]:
    """The lines of a text without their ends, whatever those are; an end at the very end opens no further line."""
    lines = _BREAK.split(text)
    return lines[:-1] if lines[-1] == "" else lines


def _line_end(text: str) -> LineEnd:
    """The line end that a text has most."""
    windows = text.count("\r\n")
    ends: list[tuple[int, LineEnd]] = [
        (text.count("\n") - windows, "\n"),
        (windows, "\r\n"),
        (text.count("\r") - windows, "\r"),
    ]
    return max(ends, key=lambda end: end[0])[1]


def titled(source: Source, fits: Callable[[str], bool]) -> DocumentSection | None:
    """The first part of any level whose title, in small letters, fits."""
    return next((part for part in source.sections if fits(plain(part.title))), None)


def subparts(source: Source, part: DocumentSection) -> tuple[DocumentSection, ...]:
    """The parts right under a part: the headings of the highest level within it."""
    inside = [p for p in source.sections if part.first < p.first <= part.last]
    level = min((p.level for p in inside), default=0)
    return tuple(p for p in inside if p.level == level)


def table_with(source: Source, part: DocumentSection, column: str) -> MarkdownTable | None:
    """The first table of a part with a column of that name; without one the first table, None without any."""
    tables = source.tables(part)
    return next((table for table in tables if table.column(column) is not None), tables[0] if tables else None)


def rows_of(table: MarkdownTable | None, *columns: Sequence[str]) -> Iterator[tuple[list[str], int]]:
    """The cells of each row in the wanted columns, and its line; a column may have one of several names.

    A cell is empty where the row or the table lacks it. No table has no rows.
    """
    if table is None:
        return
    places = [next((at for name in names if (at := table.column(name)) is not None), None) for names in columns]
    for row in table.rows:
        yield [row.cells[at] if at is not None and at < len(row.cells) else "" for at in places], row.line


def items(source: Source, part: DocumentSection | None) -> tuple[Bullet, ...]:
    """The outermost list items of a part that say something; () without a part."""
    found = source.bullets(part) if part else ()
    return tuple(bullet for bullet in found if bullet.depth == 0 and not says_nothing(bullet.text))


def empty(source: Source, part: DocumentSection) -> bool:
    """Whether a part holds nothing but empty lines, comments and headings."""
    return not any(line.strip() and not line.lstrip().startswith("#") for _, line in source.lines_of(part))
