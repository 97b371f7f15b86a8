"""The lists of the viewer: tables that are filtered, searched and sorted in Python; the page gets a slice of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.charts.labels import plain, short
from verifyplan.text import counted

MAX_SLICE_ROWS = 200
"""Rows that are sent to the page at once."""
MAX_OPTIONS = 60
"""Values of a column that a filter offers."""
ANY = "any"
NONE = "none"
"""The values of a filter that pass all rows, and rows without a value."""
ROW_CHARACTERS = 160

Row = Mapping[Any, Any]
Cells = tuple[str, str, str, str, str]
"""A row as the page shows it: name, label, the label's colour, what is beside it, the second line."""


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of list: which columns are searched, filtered and sorted by, and how a row reads."""

    noun: str
    searched: tuple[str, ...]
    filters: Mapping[str, str]
    """Columns by the titles of their filters."""
    sorts: Mapping[str, str]
    """Columns by the titles of their orders; the first order is that of the table."""
    cells: Callable[[Row], Cells]
    key: Callable[[Row], list[str]]
    """A row's run and, for an item, its name; a click sends these, so it is right even if the list changed."""


@dataclass
class ListSettings:
    """How the user wants a list; it stays when the table changes."""

    search: str = ""
    filters: dict[str, str] = field(default_factory=dict)
    sort: str = ""
    descending: bool = False


class RowList:
    """A table, and the rows of it that pass, in an order; only a slice is read row by row."""

    def __init__(self, table: pd.DataFrame, kind: Kind, settings: ListSettings | None = None) -> None:
        self.table, self.kind = table.reset_index(drop=True), kind
        self.settings = settings if settings is not None else ListSettings()

    @cached_property
    def _searched(self) -> list[pd.Series[Any]]:
        return [self.table[name].astype("str").str.casefold() for name in self.kind.searched]

    @property
    def _sort(self) -> str:
        """The column to sort by; "" for the order of the table, and where this kind of list lacks the column."""
        return self.settings.sort if self.settings.sort in self.kind.sorts.values() else ""

    def passing(self) -> npt.NDArray[np.int64]:
        """Return the positions of the rows that pass, sorted stably with missing values last."""
        keep = np.ones(len(self.table), dtype=bool)
        for name, value in self.settings.filters.items():
            if value != ANY and name in self.kind.filters.values():
                column = self.table[name]
                keep &= (column.isna() if value == NONE else column.eq(value)).fillna(False).to_numpy(dtype=bool)
        if searched := self.settings.search.strip().casefold():
            found = np.zeros(len(self.table), dtype=bool)
            for texts in self._searched:
                found |= texts.str.contains(searched, regex=False).fillna(False).to_numpy(dtype=bool)
            keep &= found
        positions = np.flatnonzero(keep)
        if not self._sort:
            return positions[::-1] if self.settings.descending else positions
        values = self.table[self._sort].take(positions).reset_index(drop=True)
        order = values.sort_values(kind="stable", ascending=not self.settings.descending, na_position="last").index
        return positions.take(order.to_numpy())

    def position(self, **where: str) -> int:
        """Return the position of the row with these values; -1 where there is none."""
        keep = np.ones(len(self.table), dtype=bool)
        for name, value in where.items():
            keep &= self.table[name].eq(value).fillna(False).to_numpy(dtype=bool)
        return int(keep.argmax()) if keep.any() else -1

    def shown(self, label: str, chosen: int, first: int | None = None) -> dict[str, Any]:
        """Return the slice from `first` on, or around the row at position `chosen`, as JSON values.

        `chosen` in the result is its rank among the rows that pass, -1 where it does not pass.
        """
        passing = self.passing()
        ranks = np.flatnonzero(passing == chosen)
        rank = int(ranks[0]) if len(ranks) else -1
        start = rank - MAX_SLICE_ROWS // 2 if first is None else first
        start = max(min(start, len(passing) - MAX_SLICE_ROWS), 0)
        rows = passing[start : start + MAX_SLICE_ROWS]
        records = self.table.take(rows).to_dict("records")
        return {
            "label": label,
            "note": self._note(len(passing)),
            "total": len(passing),
            "first": start,
            "chosen": rank,
            "keys": [self.kind.key(row) for row in records],
            "rows": [[_cell(value) for value in self.kind.cells(row)] for row in records],
            "search": self.settings.search,
            "controls": self._controls(),
        }

    def _note(self, n: int) -> str:
        of = counted(len(self.table), self.kind.noun)
        if len(self.table) and not n:
            return f"None of {of} matches: change a filter or the search."
        return of if n == len(self.table) else f"{n:,} of {of}"

    def _controls(self) -> list[dict[str, Any]]:
        """Return the filters with more than one value, and the controls of the order."""
        controls = []
        for title, name in self.kind.filters.items():
            options = self._options.get(name, [])
            if len(options) > 1:
                value = self.settings.filters.get(name, ANY)
                every = [ANY, *options] if value in (ANY, *options) else [ANY, *options, value]
                controls.append(_choice(name, title, [(each, each) for each in every], value))
        orders = [("", "as recorded"), *((name, title) for title, name in self.kind.sorts.items())]
        controls.append(_choice("sort", "Sort by", orders, self._sort))
        ways = [("", "ascending"), ("yes", "descending")]
        return [*controls, _choice("descending", "Order", ways, "yes" if self.settings.descending else "")]

    @cached_property
    def _options(self) -> dict[str, list[str]]:
        """The values that each filter offers: categories in their order, others in order of appearance."""
        return {name: _values(self.table[name]) for name in self.kind.filters.values()}


def _values(column: pd.Series[Any]) -> list[str]:
    present = column.unique()
    known = [str(value) for value in present if pd.notna(value)][:MAX_OPTIONS]
    if isinstance(column.dtype, pd.CategoricalDtype):
        known = [str(value) for value in column.cat.categories if str(value) in set(known)]
    return [*known, *([NONE] if len(known) < len(present) and column.isna().any() else [])]


def _choice(name: str, title: str, options: Sequence[tuple[str, str]], value: str) -> dict[str, Any]:
    return {"name": name, "label": title, "options": [list(option) for option in options], "value": value}


def _cell(value: str) -> str:
    return short(plain(value), ROW_CHARACTERS, keep_end=False) if value else ""
