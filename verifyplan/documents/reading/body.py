"""Headings, tables and bullets of Markdown, each with its line: what contracts ask of a document's body (rule D2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Numbered = tuple[int, str]

_HEADING = re.compile(r"[ ]{0,3}(?P<hashes>#{1,6})(?:[ \t]+(?P<title>.*))?$")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:(?P<one>=+)|-+)[ \t]*$")
_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?P<text>.*))?$")
_CHECK = re.compile(r"\[(?P<mark>[ xX])\](?:[ \t]+|$)")
_DELIMITER = re.compile(r":?-+:?")
_DEEPEST = 20
_LONGEST_ROW = 10_000


@dataclass(frozen=True)
class DocumentSection:
    """A heading and the lines under it, those of its subsections included; the heading ends in line `head`."""

    title: str
    level: int
    first: int
    last: int
    underline: int = 0

    @property
    def head(self) -> int:
        """The last line of the heading: that of its underline, if it has one."""
        return self.underline or self.first


class TableRow(NamedTuple):
    """A row of a table and its line."""

    line: int
    cells: tuple[str, ...]


class MarkdownTable(NamedTuple):
    """A table: the line of its header, and its rows, as many cells in each as are written."""

    line: int
    header: tuple[str, ...]
    rows: tuple[TableRow, ...]

    def column(self, name: str) -> int | None:
        """The place of a column, by its name without regard to case and emphasis; None if there is none."""
        wanted = plain(name)
        return next((at for at, title in enumerate(self.header) if plain(title) == wanted), None)

    def cell(self, row: TableRow, name: str) -> str:
        """What a row holds in a column; empty where it holds nothing or there is no such column."""
        at = self.column(name)
        return row.cells[at] if at is not None and at < len(row.cells) else ""


class Bullet(NamedTuple):
    """A list item with its continuation lines joined; `checked` is None where it has no box."""

    line: int
    depth: int
    text: str
    checked: bool | None


def plain(title: str) -> str:
    """A title or column name as it is compared: small letters, without emphasis and punctuation around it.

    >>> plain("**Key Findings:**"), plain("#")
    ('key findings', '#')
    """
    return " ".join(title.casefold().split()).strip("*_`: .") or title.strip()


def find_sections(prose: Sequence[str], total: int) -> tuple[DocumentSection, ...]:
    """The headings of a text whose code has been blanked, in order, each with its reach in `total` lines."""
    found = list(_headings(prose))
    ends: list[int] = []
    after: list[tuple[int, int]] = []  # level and first line of the headings below, nearest last
    for first, _, level, _ in reversed(found):
        while after and after[-1][0] > level:
            after.pop()
        ends.append(after[-1][1] - 1 if after else total)
        after.append((level, first))
    ends.reverse()
    return tuple(
        DocumentSection(title, level, first, last, head)
        for (first, head, level, title), last in zip(found, ends, strict=True)
    )


def _headings(prose: Sequence[str]) -> Iterator[tuple[int, int, int, str]]:
    """First and last line, level and title of each heading; a paragraph with a line of = or - under it is one."""
    begun = 0  # the first line of the paragraph that is open; 0 if none is
    for number, line in enumerate(prose, 1):
        hashes = _HEADING.match(line) if "#" in line[:4] else None
        underline = _UNDERLINE.match(line) if begun else None
        if hashes:
            yield number, number, len(hashes["hashes"]), _bare(hashes["title"] or "")
        elif underline:
            title = " ".join(" ".join(prose[begun - 1 : number - 1]).split())
            yield begun, number, 1 if underline["one"] else 2, title
        begun = 0 if hashes or underline or not _is_paragraph(line, open_one=bool(begun)) else begun or number


def _is_paragraph(line: str, *, open_one: bool) -> bool:
    """Whether a line belongs to a paragraph that an underline would make a heading: no list, table, quotation, tag."""
    stripped = line.lstrip()
    if not stripped or stripped[0] in "|<>" or ("|" in line and not open_one):
        return False
    if _BULLET.match(line) or _is_rule(line):
        return False
    return open_one or len(line) - len(stripped) < 4


def _is_rule(line: str) -> bool:
    """Whether a line is a rule across the page: three hyphens, asterisks or underscores and no other letter."""
    letters = set(line) - {" ", "\t"}
    return len(letters) == 1 and letters <= set("-*_") and line.count(letters.pop()) >= 3


def _bare(title: str) -> str:
    """A title without the hashes that may close it."""
    stripped = title.rstrip()
    without = stripped.rstrip("#")
    closed = without != stripped and (not without or without[-1] in " \t")
    return (without if closed else stripped).strip()


def find_tables(lines: Sequence[Numbered]) -> tuple[MarkdownTable, ...]:
    """The tables among numbered lines: a header, a line of hyphens, and rows as long as lines hold a pipe."""
    found: list[MarkdownTable] = []
    at = 0
    while at + 1 < len(lines):
        if "|" not in lines[at][1] or not _is_delimiter(lines[at + 1][1]):
            at += 1
            continue
        number, header = lines[at]
        end = at + 2
        while end < len(lines) and "|" in lines[end][1]:
            end += 1
        rows = tuple(TableRow(line, cells(text)) for line, text in lines[at + 2 : end])
        found.append(MarkdownTable(number, cells(header), rows))
        at = end
    return tuple(found)


def _is_delimiter(line: str) -> bool:
    """Whether a line is the one under a table's header."""
    stripped = line.strip()
    if not stripped or stripped.strip("|-: \t"):
        return False
    return "|" in stripped and "-" in stripped and all(_DELIMITER.fullmatch(cell) for cell in cells(stripped))


def cells(line: str) -> tuple[str, ...]:
    r"""The cells of a table's row; a pipe that is escaped or stands in inline code divides none.

    >>> cells(r"| a \| b | `c | d` | e |")
    ('a | b', '`c | d`', 'e')
    """
    pieces = _divided(line.strip())
    if pieces and not pieces[0].strip():
        pieces = pieces[1:]
    if pieces and not pieces[-1].strip():
        pieces = pieces[:-1]
    return tuple(piece.strip().replace("\\|", "|") for piece in pieces)


def _divided(line: str) -> list[str]:
    if len(line) > _LONGEST_ROW:  # no person writes it, and looking for its code would take long
        return line.split("|")
    pieces, begin, code = [], 0, ""
    for mark in re.finditer(r"\\.|`+|\|", line):
        run = mark.group()
        if run[0] == "`":
            code = "" if run == code else code or (run if line.find(run, mark.end()) > 0 else "")
        elif run == "|" and not code:
            pieces.append(line[begin : mark.start()])
            begin = mark.end()
    return [*pieces, line[begin:]]


def find_bullets(lines: Iterable[Numbered]) -> tuple[Bullet, ...]:
    """The list items among numbered lines, ordered ones included; the lines that go on with one are joined to it."""
    found: list[_OpenItem] = []
    indents: list[int] = []
    item: _OpenItem | None = None
    for number, line in lines:
        begun = _BULLET.match(line) if not _is_rule(line) else None
        if begun:
            indent = len(begun["indent"].expandtabs(4))
            while indents and indents[-1] >= indent:
                indents.pop()
            indents = [*indents, indent][:_DEEPEST]
            item = _OpenItem(number, len(indents) - 1, indent, [begun["text"] or ""])
            found.append(item)
        elif item is not None:
            item = item if item.goes_on(line) else None
            indents = indents if item else []
    return tuple(item.bullet() for item in found)


@dataclass
class _OpenItem:
    line: int
    depth: int
    indent: int
    texts: list[str]
    blank: bool = False

    def goes_on(self, line: str) -> bool:
        """Take a line, if it still belongs to the item: indented, or right behind it and no heading."""
        stripped = line.strip()
        if not stripped:
            self.blank = True
            return True
        indented = len(line) - len(line.lstrip()) > self.indent
        if not indented and (self.blank or _HEADING.match(line) or stripped[0] in "|<>"):
            return False
        self.texts.append(stripped)
        self.blank = False
        return True

    def bullet(self) -> Bullet:
        text = " ".join(" ".join(self.texts).split())
        mark = _CHECK.match(text)
        if mark is None:
            return Bullet(self.line, self.depth, text, None)
        return Bullet(self.line, self.depth, text[mark.end() :], mark["mark"] != " ")
