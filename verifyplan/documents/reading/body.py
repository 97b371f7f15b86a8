"""Find the sections, tables and list items of Markdown, each with its line (rule D2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

NumberedLine = tuple[int, str]

_HEADING = re.compile(r"[ ]{0,3}(?P<hashes>#{1,6})(?:[ \t]+(?P<title>.*))?$")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:(?P<first>=+)|-+)[ \t]*$")
_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?P<text>.*))?$")
_CHECK = re.compile(r"\[(?P<mark>[ xX])\](?:[ \t]+|$)")
_DELIMITER = re.compile(r":?-+:?")
_MAX_DEPTH = 20
_MAX_ROW_CHARACTERS = 10_000


@dataclass(frozen=True)
class DocumentSection:
    """A heading and the lines under it, those of its subsections included; `head` is the heading's last line."""

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
        """Return the place of a column, by its name in any case and emphasis; None without it."""
        wanted = plain(name)
        return next((at for at, title in enumerate(self.header) if plain(title) == wanted), None)


class Bullet(NamedTuple):
    """A list item with its continuation lines joined; `checked` is None where it has no box."""

    line: int
    depth: int
    text: str
    checked: bool | None


def rows_of(table: MarkdownTable | None, *columns: str | Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of each row in some columns, and its line; a column may have one of several names.

    A cell is empty where the row or the table lacks it. Without a table there are no rows.
    """
    if table is None:
        return
    several = ((names,) if isinstance(names, str) else names for names in columns)
    places = [next((at for name in names if (at := table.column(name)) is not None), None) for names in several]
    for row in table.rows:
        yield (*(row.cells[at] if at is not None and at < len(row.cells) else "" for at in places), row.line)


def plain(title: str) -> str:
    """Return a title or column name as it is compared: small letters, without emphasis and punctuation around it.

    >>> plain("**Key Findings:**"), plain("#")
    ('key findings', '#')
    """
    return " ".join(title.casefold().split()).strip("*_`: .") or title.strip()


def find_sections(prose: Sequence[str], total: int) -> tuple[DocumentSection, ...]:
    """Return the sections of a text whose code is blank, in order; the last ones end with line `total`."""
    headings = list(_headings(prose))
    ends: list[int] = []
    after: list[tuple[int, int]] = []  # level and first line of the headings below, nearest last
    for first, _, level, _ in reversed(headings):
        while after and after[-1][0] > level:
            after.pop()
        ends.append(after[-1][1] - 1 if after else total)
        after.append((level, first))
    ends.reverse()
    return tuple(
        DocumentSection(title, level, first, last, head)
        for (first, head, level, title), last in zip(headings, ends, strict=True)
    )


def _headings(prose: Sequence[str]) -> Iterator[tuple[int, int, int, str]]:
    """Yield first and last line, level and title of each heading, underlined paragraphs included."""
    begun = 0  # the first line of the open paragraph; 0 without one
    for number, line in enumerate(prose, 1):
        hashes = _HEADING.match(line) if "#" in line[:4] else None
        underline = _UNDERLINE.match(line) if begun else None
        if hashes:
            yield number, number, len(hashes["hashes"]), _without_closing_hashes(hashes["title"] or "")
        elif underline:
            title = " ".join(" ".join(prose[begun - 1 : number - 1]).split())
            yield begun, number, 1 if underline["first"] else 2, title
        begun = 0 if hashes or underline or not _is_paragraph(line, continued=bool(begun)) else begun or number


def _is_paragraph(line: str, *, continued: bool) -> bool:
    """Whether a line is of a paragraph that an underline makes a heading: not of a list, table, quotation or tag."""
    stripped = line.lstrip()
    if not stripped or stripped[0] in "|<>" or ("|" in line and not continued):
        return False
    if _BULLET.match(line) or _is_break(line):
        return False
    return continued or len(line) - len(stripped) < 4


def _is_break(line: str) -> bool:
    """Whether a line is a thematic break: three or more hyphens, asterisks or underscores, and nothing else."""
    letters = set(line) - {" ", "\t"}
    return len(letters) == 1 and letters <= set("-*_") and line.count(letters.pop()) >= 3


def _without_closing_hashes(title: str) -> str:
    stripped = title.rstrip()
    without = stripped.rstrip("#")
    closed = without != stripped and (not without or without[-1] in " \t")
    return (without if closed else stripped).strip()


def find_tables(lines: Sequence[NumberedLine]) -> tuple[MarkdownTable, ...]:
    """Return the tables among lines: a header, a line of hyphens, and rows as long as lines hold a pipe."""
    tables: list[MarkdownTable] = []
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
        tables.append(MarkdownTable(number, cells(header), rows))
        at = end
    return tuple(tables)


def _is_delimiter(line: str) -> bool:
    """Whether a line is the delimiter row under a table's header."""
    stripped = line.strip()
    if not stripped or stripped.strip("|-: \t"):
        return False
    return "|" in stripped and "-" in stripped and all(_DELIMITER.fullmatch(cell) for cell in cells(stripped))


def cells(line: str) -> tuple[str, ...]:
    r"""Return the cells of a table's row; an escaped pipe, or one in inline code, separates none.

    >>> cells(r"| a \| b | `c | d` | e |")
    ('a | b', '`c | d`', 'e')
    """
    pieces = _split_at_pipes(line.strip())
    if pieces and not pieces[0].strip():
        pieces = pieces[1:]
    if pieces and not pieces[-1].strip():
        pieces = pieces[:-1]
    return tuple(piece.strip().replace("\\|", "|") for piece in pieces)


def _split_at_pipes(line: str) -> list[str]:
    if len(line) > _MAX_ROW_CHARACTERS:  # nobody writes such a row, and finding its code would take long
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


def find_bullets(lines: Iterable[NumberedLine]) -> tuple[Bullet, ...]:
    """Return the list items among lines, numbered ones included, each joined with the lines that continue it."""
    items: list[_OpenBullet] = []
    indents: list[int] = []
    item: _OpenBullet | None = None
    for number, line in lines:
        begun = _BULLET.match(line) if not _is_break(line) else None
        if begun:
            indent = len(begun["indent"].expandtabs(4))
            while indents and indents[-1] >= indent:
                indents.pop()
            indents = [*indents, indent][:_MAX_DEPTH]
            item = _OpenBullet(number, len(indents) - 1, indent, [begun["text"] or ""])
            items.append(item)
        elif item is not None and not item.takes(line):
            item, indents = None, []
    return tuple(item.bullet() for item in items)


@dataclass
class _OpenBullet:
    line: int
    depth: int
    indent: int
    texts: list[str]
    blank: bool = False

    def takes(self, line: str) -> bool:
        """Add a line that continues the item: indented, or right behind it and no heading."""
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
        box = _CHECK.match(text)
        if box is None:
            return Bullet(self.line, self.depth, text, None)
        return Bullet(self.line, self.depth, text[box.end() :], box["mark"] != " ")
