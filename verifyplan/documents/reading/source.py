"""Split a document's text into lines, and find its frontmatter, sections, tables, list items and elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from verifyplan.documents.reading.body import (
    Bullet,
    DocumentSection,
    MarkdownTable,
    NumberedLine,
    find_bullets,
    find_sections,
    find_tables,
    plain,
)
from verifyplan.documents.reading.front import Front, read_front
from verifyplan.documents.reading.phrases import says_nothing
from verifyplan.plans.prose import XmlElement, elements, fences, without_comments
from verifyplan.plans.values import LineRanges

LineEnd = Literal["\n", "\r\n", "\r"]

BYTE_ORDER_MARK = "\ufeff"

MAX_LINES, MAX_CHARACTERS = 20_000, 1_000_000
"""A document is read as far as both allow; real ones have some 1,500 lines, and a hostile text would take minutes."""

_BREAK = re.compile(r"\r\n|\n|\r")
_CONTAINERS = frozenset({"tasks", "plan"})


@dataclass(frozen=True)
class Source:
    """A document's text exactly as it was read, and its lines; line n is `lines[n - 1]`.

    `lines` have neither their ends nor a byte order mark. In `prose`, code, comments and frontmatter are blank. Of a
    document that is too long, no sections, tables, list items and elements are read behind line `n_read`. Documents
    are written from `text`, never from the lines.
    """

    path: str
    text: str
    lines: tuple[str, ...]
    front: Front
    line_end: LineEnd

    @cached_property
    def n_read(self) -> int:
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
        head = min(self.front.last, self.n_read)
        prose = [*[""] * head, *self.lines[head : self.n_read]]
        for block in fences(prose)[0]:
            prose[block.first - 1 : block.last] = [""] * (block.last - block.first + 1)
        return tuple(without_comments(prose))

    @cached_property
    def elements(self) -> tuple[XmlElement, ...]:
        """The XML elements of a PLAN document, in the order in which they open; other documents have none."""
        return tuple(elements(self.prose)[0])

    @cached_property
    def sections(self) -> tuple[DocumentSection, ...]:
        """The sections whose headings are in no code, comment, frontmatter or element."""
        lines = list(self.prose)
        inside = LineRanges((e.first, e.last) for e in self.elements if e.closed and e.name not in _CONTAINERS)
        if inside:
            lines = ["" if number in inside else line for number, line in enumerate(lines, 1)]
        return find_sections(lines, len(self.lines))

    @cached_property
    def _sections_by_title(self) -> dict[str, list[DocumentSection]]:
        by_title: dict[str, list[DocumentSection]] = {}
        for section in self.sections:
            by_title.setdefault(plain(section.title), []).append(section)
        return by_title

    def section(self, title: str, level: int | None = 2) -> DocumentSection | None:
        """Return the first section of a title, whatever its case and punctuation; with `level` None, of any level."""
        titled = self._sections_by_title.get(plain(title), ())
        return next((section for section in titled if level in (None, section.level)), None)

    def section_where(self, fits: Callable[[str], bool]) -> DocumentSection | None:
        """Return the first section of any level whose title, in small letters, fits."""
        return next((section for section in self.sections if fits(plain(section.title))), None)

    def subsections(self, section: DocumentSection) -> tuple[DocumentSection, ...]:
        """Return the sections right under a section: those of the highest level within it."""
        inside = [inner for inner in self.sections if section.first < inner.first <= section.last]
        level = min((inner.level for inner in inside), default=0)
        return tuple(inner for inner in inside if inner.level == level)

    def lines_of(self, section: DocumentSection) -> list[NumberedLine]:
        """Return the lines under a heading, as far as they are read, code and subsections included."""
        return list(enumerate(self.lines[section.head : min(section.last, self.n_read)], section.head + 1))

    def prose_of(self, section: DocumentSection | None = None) -> list[NumberedLine]:
        """Return the lines under a heading, or of the whole body, with code and comments blanked."""
        first, last = (section.head, section.last) if section else (0, len(self.prose))
        return list(enumerate(self.prose[first:last], first + 1))

    def is_empty(self, section: DocumentSection) -> bool:
        """Whether a section holds nothing but empty lines, comments and headings."""
        return not any(line.strip() and not line.lstrip().startswith("#") for _, line in self.lines_of(section))

    def tables(self, section: DocumentSection | None = None) -> tuple[MarkdownTable, ...]:
        """Return the tables under a heading, or of the whole body."""
        return find_tables(self.prose_of(section))

    def table_with(self, section: DocumentSection | None, column: str) -> MarkdownTable | None:
        """Return a section's first table with a column of that name, else its first table; None without any."""
        tables = self.tables(section) if section else ()
        return next((table for table in tables if table.column(column) is not None), tables[0] if tables else None)

    def bullets(self, section: DocumentSection | None = None) -> tuple[Bullet, ...]:
        """Return the list items under a heading, or of the whole body."""
        return find_bullets(self.prose_of(section))

    def top_bullets(self, section: DocumentSection | None) -> tuple[Bullet, ...]:
        """Return the outermost list items of a section that say something; () without a section."""
        bullets = self.bullets(section) if section else ()
        return tuple(bullet for bullet in bullets if bullet.depth == 0 and not says_nothing(bullet.text))


def read_source(text: str, path: str) -> Source:
    r"""Read the lines and the frontmatter of a text; never raises.

    >>> source = read_source("---\r\nwave: 1\r\n---\r\n# Plan\r\n\r\n## Summary\r\nDone.", "PLAN-01.md")
    >>> source.front.values, [section.title for section in source.sections], source.line_end
    ({'wave': 1}, ['Plan', 'Summary'], '\r\n')
    """
    lines = split(text.removeprefix(BYTE_ORDER_MARK))
    windows = text.count("\r\n")
    ends: list[tuple[int, LineEnd]] = [
        (text.count("\n") - windows, "\n"),
        (windows, "\r\n"),
        (text.count("\r") - windows, "\r"),
    ]
    most_frequent = max(ends, key=lambda end: end[0])[1]
    return Source(path, text, tuple(lines), read_front(lines[:MAX_LINES]), most_frequent)


def split(text: str) -> Sequence[str]:
    """Return the lines of a text without their ends, of whatever kind; an end at the very end opens no further line."""
    lines = _BREAK.split(text)
    return lines[:-1] if lines[-1] == "" else lines
