"""Draw rows of shares with their intervals, in groups, as the class mix and the truth metrics do."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.charts.encodings import inline
from verifyplan.charts.labels import distinct_labels, interval, percent, plain
from verifyplan.charts.theme import FAINT, INK, WIDTH

STEP_PX = 24
"""Pixels from row to row."""
PLOT_PX = WIDTH - 180
"""Pixels across of the plot; the rest is for the columns of numbers beside it."""


def with_texts(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose share is a number, with the texts beside them.

    Reads `reading, share, low, high, n`; adds `label` (the reading, short), `share_text`, `interval_text` and `n_text`.
    """
    names = distinct_labels(table["reading"], 30)
    rows = table[table["share"].notna()].reset_index(drop=True)
    return rows.assign(
        label=rows["reading"].astype(str).map(names),
        reading=rows["reading"].map(plain),
        share_text=rows["share"].map(percent),
        interval_text=[interval(low, high) for low, high in zip(rows["low"], rows["high"], strict=True)],
        n_text=rows["n"].map("n = {:,.0f}".format),
    )


def interval_rows(
    rows: pd.DataFrame, marks: list[alt.Chart], group: str, groups: list[str], title: str
) -> alt.FacetChart:
    """Draw one row per reading, in groups under each other: marks, one over the other, and the numbers in columns.

    `marks` are charts without data that draw the share at `x="share:Q"`, and `whisker()`; `rows` come from
    `with_texts`; `group` is the column of the groups, drawn in the order of `groups`. The axis, with its
    `title`, runs from 0 to 100 %.
    """
    axis = alt.Axis(grid=False, ticks=False, domain=False)
    row = alt.Y("label:N", sort=list(dict.fromkeys(rows["label"])), title=None, axis=axis)
    per_cent = "format(datum.value * 100, '.0f') + ' %'"
    ticks = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], labelExpr=per_cent, domain=False, ticks=False)
    x = alt.X("share:Q", scale=alt.Scale(domain=[0, 1]), axis=ticks, title=title)
    frame = alt.Chart().mark_point(opacity=0, aria=False).encode(x=x)
    faint = alt.Chart().mark_text(align="right", color=FAINT, aria=False)
    bold = alt.Chart().mark_text(align="right", fontWeight="bold", aria=False)
    columns = [
        bold.encode(x=alt.value(PLOT_PX + 48), text="share_text:N"),
        faint.encode(x=alt.value(PLOT_PX + 124), text="interval_text:N"),
        faint.encode(x=alt.value(PLOT_PX + 196), text="n_text:N"),
    ]
    layers = alt.LayerChart(layer=[layer.encode(y=row) for layer in [frame, *marks, *columns]])
    header = alt.Header(title=None, labelAngle=0, labelAlign="left", labelPadding=12, labelOrient="left")
    return layers.properties(width=PLOT_PX, height=alt.Step(STEP_PX)).facet(
        data=inline(rows), row=alt.Row(f"{group}:N", sort=groups, header=header), spacing=12
    )


def whisker() -> alt.Chart:
    """Draw the line from the interval's low to its high end."""
    line: alt.Chart = alt.Chart().mark_rule(color=INK, strokeWidth=1.5, aria=False).encode(x="low:Q", x2="high:Q")
    return line
