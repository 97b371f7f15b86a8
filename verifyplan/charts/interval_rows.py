"""Rows of shares with their intervals, in groups: what the class mix and the truth metrics have in common."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.charts.labels import interval, percent, plain, shortened
from verifyplan.charts.tables import inline
from verifyplan.charts.theme import FAINT, INK, WIDTH

STEP = 24
"""Pixels from row to row."""
PLOT = WIDTH - 180
"""Pixels across of the plot; the rest is for the columns of numbers beside it."""


def labelled(table: pd.DataFrame) -> pd.DataFrame:
    """The rows whose share is a number, with the texts that stand beside them.

    Reads `reading, share, low, high, n`; adds `label` (the reading, short), `told_share`, `told_interval` and
    `told_n`.
    """
    names = shortened(table["reading"], 30)
    rows = table[table["share"].notna()].reset_index(drop=True)
    return rows.assign(
        label=rows["reading"].astype(str).map(names),
        reading=rows["reading"].map(plain),
        told_share=rows["share"].map(percent),
        told_interval=[interval(low, high) for low, high in zip(rows["low"], rows["high"], strict=True)],
        told_n=rows["n"].map("n = {:,.0f}".format),
    )


def interval_rows(
    rows: pd.DataFrame, marks: list[alt.Chart], group: str, groups: list[str], title: str
) -> alt.FacetChart:
    """One row a reading, in groups under each other: marks, one over the other, and the numbers in columns.

    `marks` are charts without data that draw the share at `x="share:Q"`, and `whisker()`; `rows` come from
    `labelled`; `group` is the column of the groups, drawn in the order of `groups`. The axis, with its
    `title`, runs from 0 to 100 %.
    """
    axis = alt.Axis(grid=False, ticks=False, domain=False)
    row = alt.Y("label:N", sort=list(dict.fromkeys(rows["label"])), title=None, axis=axis)
    frame = alt.Chart().mark_point(opacity=0, aria=False).encode(x=_shares(title))
    layers = alt.LayerChart(layer=[layer.encode(y=row) for layer in [frame, *marks, *_columns()]])
    header = alt.Header(title=None, labelAngle=0, labelAlign="left", labelPadding=12, labelOrient="left")
    return layers.properties(width=PLOT, height=alt.Step(STEP)).facet(
        data=inline(rows), row=alt.Row(f"{group}:N", sort=groups, header=header), spacing=12
    )


def whisker() -> alt.Chart:
    """The line from the interval's low to its high end."""
    line: alt.Chart = alt.Chart().mark_rule(color=INK, strokeWidth=1.5, aria=False).encode(x="low:Q", x2="high:Q")
    return line


def _shares(title: str) -> alt.X:
    told = "format(datum.value * 100, '.0f') + ' %'"
    ticks = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], labelExpr=told, domain=False, ticks=False)
    return alt.X("share:Q", scale=alt.Scale(domain=[0, 1]), axis=ticks, title=title)


def _columns() -> list[alt.Chart]:
    """Share, interval and n in columns beside the plot, aligned at their right edges."""
    text = alt.Chart().mark_text(align="right", color=FAINT, aria=False)
    share = alt.Chart().mark_text(align="right", fontWeight="bold", aria=False)
    return [
        share.encode(x=alt.value(PLOT + 48), text="told_share:N"),
        text.encode(x=alt.value(PLOT + 124), text="told_interval:N"),
        text.encode(x=alt.value(PLOT + 196), text="told_n:N"),
    ]
