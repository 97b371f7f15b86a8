"""Draw rows of shares with their intervals, in groups, as the class mix and the truth metrics do."""

from __future__ import annotations

from typing import NamedTuple

import altair as alt
import pandas as pd

from verifyplan.charts.encodings import inline, text_of, x_at
from verifyplan.charts.labels import distinct_labels, first_drawn, interval_text, percent, plain
from verifyplan.charts.options import ChartOptions, Size
from verifyplan.charts.theme import FAINT, INK, WIDTH

STEP_PX = 24
"""Pixels from row to row."""
PLOT_PX = WIDTH - 200
"""Pixels across of the plot; the rest is for the columns of numbers beside it."""
MAX_CONDITIONS = 8
"""Conditions drawn at most."""


def with_texts(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose share is a number, with the texts beside them.

    Reads `condition, share, low, high, n`; adds `label` (the condition, short), `share_text`, `interval_text` and
    `n_text`.
    """
    names = distinct_labels(table["condition"], 30)
    rows = table[table["share"].notna()].reset_index(drop=True)
    return rows.assign(
        label=rows["condition"].astype(str).map(names),
        condition=rows["condition"].map(plain),
        share_text=[percent(share, 1) for share in rows["share"]],
        interval_text=[interval_text(low, high) for low, high in zip(rows["low"], rows["high"], strict=True)],
        n_text=rows["n"].map("n = {:,.0f}".format),
    )


def first_conditions(table: pd.DataFrame, options: ChartOptions) -> tuple[pd.DataFrame, str]:
    """Return the rows of the conditions that are drawn, and a sentence on those that are left out."""
    every = list(dict.fromkeys(table["condition"]))
    drawn = every[: options.rows(MAX_CONDITIONS)]
    return table[table["condition"].isin(drawn)], first_drawn(len(drawn), len(every), "condition")


class IntervalRows(NamedTuple):
    """Rows of `with_texts`, one a condition, in groups under each other, and their size in pixels."""

    rows: pd.DataFrame
    group: str
    """The column of the groups."""
    groups: list[str]
    """The groups in the order drawn."""
    title: str
    """Of the axis, which runs from 0 to 100 %."""
    size: Size

    @classmethod
    def of(cls, rows: pd.DataFrame, group: str, groups: list[str], title: str, options: ChartOptions) -> IntervalRows:
        """Return the rows in the size that the options say."""
        return cls(rows, group, groups, title, options.size(len(rows), "row", (PLOT_PX, STEP_PX)))

    @property
    def bar(self) -> float:
        """Pixels of a bar's height."""
        return self.size.row * 15 / STEP_PX

    def draw(self, marks: list[alt.Chart]) -> alt.FacetChart:
        """Draw marks, one over the other, and the numbers in columns beside them.

        `marks` are charts without data that draw the share at `x="share:Q"`, and `whisker()`.
        """
        axis = alt.Axis(grid=False, ticks=False, domain=False)
        row = alt.Y("label:N", sort=list(dict.fromkeys(self.rows["label"])), title=None, axis=axis)
        per_cent = "format(datum.value * 100, '.0f') + ' %'"
        ticks = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], labelExpr=per_cent, domain=False, ticks=False)
        x = alt.X("share:Q", scale=alt.Scale(domain=[0, 1]), axis=ticks, title=self.title)
        frame = alt.Chart().mark_point(opacity=0, aria=False).encode(x=x)
        faint = alt.Chart().mark_text(align="right", color=FAINT, aria=False)
        bold = alt.Chart().mark_text(align="right", fontWeight="bold", aria=False)
        counts_px = max(70, 12 + 6 * int(self.rows["n_text"].str.len().max()))  # a character is about 6 pixels wide
        columns = [
            bold.encode(x=x_at(self.size.width + 56), text=text_of("share_text")),
            faint.encode(x=x_at(self.size.width + 146), text=text_of("interval_text")),
            faint.encode(x=x_at(self.size.width + 146 + counts_px), text=text_of("n_text")),
        ]
        layers = alt.LayerChart(layer=[layer.encode(y=row) for layer in [frame, *marks, *columns]])
        header = alt.Header(title=None, labelAngle=0, labelAlign="left", labelPadding=12, labelOrient="left")
        return layers.properties(width=self.size.width, height=alt.Step(self.size.row)).facet(
            data=inline(self.rows), row=alt.Row(f"{self.group}:N", sort=self.groups, header=header), spacing=12
        )


def whisker() -> alt.Chart:
    """Draw the line from the interval's low to its high end."""
    line: alt.Chart = (
        alt.Chart().mark_rule(color=INK, strokeWidth=1.5, aria=False).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"))
    )
    return line
