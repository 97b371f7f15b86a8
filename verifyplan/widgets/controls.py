"""Controls that ipywidgets lacks, or that lack an accessible name there: a slider, and a table to choose from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import pandas as pd
import traitlets

from verifyplan.charts.labels import short
from verifyplan.frames.runset import RunSet
from verifyplan.widgets.html import table

_HERE = Path(__file__).parent
MAX_CELL_CHARACTERS = 120
"""Characters of a text that a cell shows."""
MAX_ROWS = 500
"""Rows that are sent to the page at once; the note gives the total."""
MIN_OFFERED_ROUNDS, MAX_OFFERED_ROUNDS = 3, 20
"""The fewest rounds that a list offers, and the most that it offers one by one."""


class Slider(anywidget.AnyWidget):
    """A range input with a name; `value` moves while it is dragged and by arrow, page, home and end keys.

    `text` is the value as the readout and a screen reader give it; empty for the number.

    >>> Slider(label="Round", low=1, high=3, value=2).value
    2.0
    """

    _esm = _HERE / "slider.js"
    label = traitlets.Unicode("").tag(sync=True)
    value = traitlets.Float(0.0).tag(sync=True)
    low = traitlets.Float(0.0).tag(sync=True)
    high = traitlets.Float(1.0).tag(sync=True)
    step = traitlets.Float(1.0).tag(sync=True)
    text = traitlets.Unicode("").tag(sync=True)
    disabled = traitlets.Bool(False).tag(sync=True)


class Keys(anywidget.AnyWidget):
    """Keeps keys pressed in a panel from JupyterLab, which takes arrows, and brings the CSS; it is not visible."""

    _esm = _HERE / "keys.js"
    _css = _HERE / "controls.css"


class SelectableTable(anywidget.AnyWidget):
    """Rows of texts with a key each, which a click on a head sorts, and of which one or many can be chosen.

    `selected` holds keys; `sort` holds the `column` and whether it is `descending`: the page asks, Python sorts and
    calls `fill` again, so that tables of any length stay fast. Markup in a cell is shown as text.
    """

    _esm = _HERE / "table.js"
    label = traitlets.Unicode("").tag(sync=True)
    columns = traitlets.List(traitlets.Dict()).tag(sync=True)
    row_keys = traitlets.List(traitlets.Unicode()).tag(sync=True)
    rows = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True)
    selected = traitlets.List(traitlets.Unicode()).tag(sync=True)
    sort = traitlets.Dict({"column": "", "descending": False}).tag(sync=True)
    multiple = traitlets.Bool(False).tag(sync=True)
    note = traitlets.Unicode("").tag(sync=True)

    def fill(self, rows: pd.DataFrame, key: str, *, titles: dict[str, str] | None = None, noun: str = "row") -> None:
        """Show the `rows` in their order; `key` is the column that names a row, once each.

        The first 500 rows are shown, and the note gives the total. `titles` are the heads of the columns to show, None
        for all columns. Missing values are shown as a dash.
        """
        shown = titles or {str(name): str(name) for name in rows.columns}
        part = rows.head(MAX_ROWS)
        with self.hold_sync():  # keys, rows and columns reach the page together
            self.columns = [
                {"name": name, "title": title, "numeric": pd.api.types.is_numeric_dtype(part[name])}
                for name, title in shown.items()
            ]
            self.row_keys = [str(name) for name in part[key]]
            self.rows = [[_cell(value) for value in row] for row in zip(*(part[name] for name in shown), strict=True)]
            self.note = f"{len(rows):,} {noun}s" if len(rows) != 1 else f"1 {noun}"
            if len(part) < len(rows):
                self.note = f"The first {len(part):,} of {len(rows):,} {noun}s: filter or sort to see others."

    def html(self) -> str:
        """Return the rows that are shown, as a table for a page without a kernel."""
        heads = [column["title"] for column in self.columns]
        numbers = frozenset(place for place, column in enumerate(self.columns) if column["numeric"])
        return table(self.label, heads, self.rows, numbers=numbers, bounded=True)


def sorted_rows(rows: pd.DataFrame, sort: dict[str, Any]) -> pd.DataFrame:
    """Return the rows, sorted stably by the column that a SelectableTable asks for, with missing values last.

    Unchanged where `sort` does not name one of their columns.
    """
    if sort.get("column") not in rows:
        return rows
    return rows.sort_values(
        sort["column"], ascending=not sort.get("descending"), kind="stable", na_position="last", ignore_index=True
    )


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple):
        return short(", ".join(map(str, value)), MAX_CELL_CHARACTERS)
    if pd.isna(value):
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    return short(value, MAX_CELL_CHARACTERS, keep_end=False)


def rounds_offered(runs: RunSet, chosen: int | None = None) -> list[int]:
    """Return the numbers of rounds that a list offers for runs: 1 to the highest that any run allowed or had.

    Never fewer than 1 to 3; above 20 only the highest, and the `chosen` number is always among them.

    >>> rounds_offered(RunSet()), rounds_offered(RunSet(), 30)
    ([1, 2, 3], [1, 2, 3, 30])
    """
    recorded = [runs.runs["effective_max_rounds"].max(), runs.votes["round"].max()]
    highest = max([MIN_OFFERED_ROUNDS, *(int(rounds) for rounds in recorded if pd.notna(rounds))])
    return sorted({*range(1, min(highest, MAX_OFFERED_ROUNDS) + 1), highest} | ({chosen} if chosen else set()))
