"""Pieces of a document's sections: the parts under a part, the first table with a column, what stands under a title."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from verifyplan.documents.reading.body import (
    Bullet,
    Part,
    Table,
    plain,
)
from verifyplan.documents.reading.labelled import says_nothing
from verifyplan.documents.reading.source import Source


def titled(source: Source, fits: Callable[[str], bool]) -> Part | None:
    """The first part of any level whose title, in small letters, fits."""
    return next((part for part in source.parts if fits(plain(part.title))), None)


def subparts(source: Source, part: Part) -> tuple[Part, ...]:
    """The parts right under a part: the headings of the highest level within it."""
    inside = [p for p in source.parts if part.first < p.first <= part.last]
    level = min((p.level for p in inside), default=0)
    return tuple(p for p in inside if p.level == level)


def table_with(source: Source, part: Part, column: str) -> Table | None:
    """The first table of a part with a column of that name; without one the first table, None without any."""
    tables = source.tables(part)
    return next((table for table in tables if table.column(column) is not None), tables[0] if tables else None)


def rows_of(table: Table | None, *columns: Sequence[str]) -> Iterator[tuple[list[str], int]]:
    """The cells of each row in the wanted columns, and its line; a column may have one of several names.

    A cell is empty where the row or the table lacks it. No table has no rows.
    """
    if table is None:
        return
    places = [next((at for name in names if (at := table.column(name)) is not None), None) for names in columns]
    for row in table.rows:
        yield [row.cells[at] if at is not None and at < len(row.cells) else "" for at in places], row.line


def items(source: Source, part: Part | None) -> tuple[Bullet, ...]:
    """The outermost list items of a part that say something; () without a part."""
    found = source.bullets(part) if part else ()
    return tuple(bullet for bullet in found if bullet.depth == 0 and not says_nothing(bullet.text))


def empty(source: Source, part: Part) -> bool:
    """Whether a part holds nothing but empty lines, comments and headings."""
    return not any(line.strip() and not line.lstrip().startswith("#") for _, line in source.lines_of(part))
