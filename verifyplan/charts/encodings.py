"""Build what charts share below the figure: inline data, places in pixels, hover texts, columns of numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import altair as alt
import pandas as pd
from pandas.api.types import is_numeric_dtype

from verifyplan.charts.labels import short
from verifyplan.charts.theme import FAINT, PAPER, SIZE, color_scale
from verifyplan.errors import Problem, TableError, one_of

HOVER = "hover"
"""The column that holds the whole text of a mark."""
MAX_VALUE_CHARACTERS = 400
"""Longest value in a hover text: evidence may be as long as a file."""
CHARACTER_PX, COLUMN_GAP_PX = 7.2, 16
"""Approximate pixels of a character, and those between two columns of numbers."""

_altair: Any = alt  # its stubs take only schema objects
x_at: Callable[[float], alt.XValue] = _altair.XValue
"""A place in pixels from the left edge of the plot; like `alt.value`, in a tenth of the time."""
x2_at: Callable[[float], alt.X2Value] = _altair.X2Value
"""The other end in pixels from the left edge of the plot."""
y_at: Callable[[float], alt.YValue] = _altair.YValue
"""A place in pixels below the top of the plot; negative ones are above it."""
y2_at: Callable[[float], alt.Y2Value] = _altair.Y2Value
"""The other end in pixels below the top of the plot."""
color_of: Callable[[str], alt.ColorValue] = _altair.ColorValue
"""One colour of all marks; like `alt.value`, in a tenth of the time."""


def require_columns(table: pd.DataFrame, columns: Iterable[str], name: str) -> pd.DataFrame:
    """Return the table with exactly these columns, rows numbered from 0; TableError names those that are missing."""
    wanted = list(columns)
    missing = [column for column in wanted if column not in table.columns]
    if missing:
        fix = f"give a table with the columns {one_of(wanted)}"
        raise TableError([Problem(f"{name}: column {column}", "is missing", fix) for column in missing])
    return table[wanted].reset_index(drop=True)


class Rows(alt.InlineData):
    """Rows that a chart and its copies share: Altair copies charts at every step, and copied rows take most of it."""

    def __deepcopy__(self, _: dict[int, Any]) -> Rows:
        return self


def inline(table: pd.DataFrame) -> alt.InlineData:
    """Return the rows as a chart's own data, of any number; missing numbers become null."""
    return Rows(values=json.loads(table.to_json(orient="records")))


def text_of(column: str) -> alt.Text:
    """Return the encoding that writes a column's texts as they are."""
    return alt.Text(field=column, type="nominal")


def unscaled(channel: type[alt.Color] | type[alt.Shape] | type[alt.StrokeDash] | type[alt.Stroke], column: str) -> Any:
    """Return a channel that takes a column's values as they are: colours, shapes, dashes."""
    return channel(field=column, type="nominal", scale=None)


def x_of(column: str) -> alt.X:
    """Encode a column of pixels from the left edge of the plot."""
    return alt.X(field=column, type="quantitative", scale=None, axis=None)


def y_of(column: str) -> alt.Y:
    """Encode a column of pixels from the top of the plot."""
    return alt.Y(field=column, type="quantitative", scale=None, axis=None)


def names_of(rows: pd.DataFrame, column: str, padding: float = 10) -> alt.Y:
    """Return a row for each name of a column, in the order of the rows, with the whole name at its left."""
    scale = alt.Scale(domain=list(dict.fromkeys(rows[column])), type="band")
    axis = alt.Axis(grid=False, ticks=False, domain=False, labelLimit=0, labelPadding=padding)
    return alt.Y(field=column, type="nominal", scale=scale, title=None, axis=axis)


def apart(places: Iterable[float], gap: float, low: float = float("-inf")) -> list[float]:
    """Move places up, in their order, until each is `gap` above the one before; the first is at least `low`.

    >>> apart([1, 2, 9], 3)
    [1, 4, 9]
    """
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap if moved else low))
    return moved


def color_key(colors: Mapping[str, str], places: Iterable[float], column: str) -> alt.LayerChart:
    """Draw a square and a name for each colour, at these places; white ones have an outline."""
    key = pd.DataFrame({column: list(colors), "place": list(places), "line": [_outline(c) for c in colors.values()]})
    base = alt.Chart(inline(key)).encode(x=x_of("place"))
    swatch = base.mark_square(size=150, opacity=1, strokeWidth=1, xOffset=8, aria=False).encode(
        fill=alt.Fill(f"{column}:N", scale=color_scale(colors), legend=None), stroke=unscaled(alt.Stroke, "line")
    )
    name = base.mark_text(align="left", xOffset=20, aria=False).encode(text=text_of(column))
    return alt.LayerChart(layer=[swatch, name], height=18)


def _outline(color: str) -> str:
    return FAINT if color == PAPER else "transparent"


def with_hover(rows: pd.DataFrame, fields: Mapping[str, str]) -> pd.DataFrame:
    r"""Return the rows with `hover`: a line for each field that has a value, as "title: value".

    `fields` maps columns to titles. Values are cut to 400 characters on one line each, and columns of text with them;
    missing and blank values have no line.

    >>> rows = pd.DataFrame({"plan": ["a", "b"], "score": [7, 12000], "evidence": ["a.py:1", None]})
    >>> list(with_hover(rows, {"plan": "Plan", "score": "Score", "evidence": "Evidence"})["hover"])
    ['Plan: a\nScore: 7\nEvidence: a.py:1', 'Plan: b\nScore: 12,000']
    """
    texts = {column: [_value_text(value) for value in rows[column]] for column in fields}
    lines = [
        "\n".join(f"{title}: {text}" for title, text in zip(fields.values(), row, strict=True) if text)
        for row in zip(*texts.values(), strict=True)
    ]
    cut = {column: values for column, values in texts.items() if not is_numeric_dtype(rows[column])}
    return rows.assign(**cut, **{HOVER: lines})


def _value_text(value: object) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return short(value, MAX_VALUE_CHARACTERS, keep_end=False) if str(value).strip() else ""


def hover(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the description and tooltip of a mark whose rows come from `with_hover`.

    A description of its own also keeps Vega-Lite from making one of the axes' titles, which can hold any text.
    """
    return {"description": alt.Description(field=HOVER, type="nominal"), **tooltip(fields)}


def tooltip(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the tooltip alone, for what is drawn over a mark and would keep the pointer from it in a live chart."""
    return {"tooltip": [alt.Tooltip(field=column, type="nominal", title=title) for column, title in fields.items()]}


def number_columns(rows: pd.DataFrame, columns: Mapping[str, str], left: float, y: alt.Y) -> list[alt.Chart]:
    """Return layers that write the columns right-aligned beside a plot, from `left` on, each under its heading.

    `columns` maps columns to headings. The layers' data is the plot's.
    """
    layers: list[alt.Chart] = []
    edge = left
    for number, (column, heading) in enumerate(columns.items()):
        edge += COLUMN_GAP_PX + CHARACTER_PX * max(len(heading), int(rows[column].str.len().max()))
        texts = alt.Chart().mark_text(align="right", aria=False, fontWeight="normal" if number else "bold")
        layers.append(texts.encode(x=x_at(edge), y=y, text=text_of(column)))
        head = alt.Chart(inline(pd.DataFrame({"text": [heading]})))
        above = head.mark_text(align="right", color=FAINT, fontSize=SIZE - 1, aria=False)
        layers.append(above.encode(x=x_at(edge), y=y_at(-10), text=text_of("text")))
    return layers
