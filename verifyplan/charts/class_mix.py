"""How the findings spread over the classes, under both readings."""

from __future__ import annotations

import altair as alt
import pandas as pd

from verifyplan.analysis.comparison import Comparison, expect_comparison
from verifyplan.charts.captions import INTERVALS, intervals_are, readings, sentences, subtitle, synthetic_is
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.hover import hover, with_hover
from verifyplan.charts.interval_rows import interval_rows, labelled, whisker
from verifyplan.charts.labels import count
from verifyplan.charts.tables import checked
from verifyplan.charts.theme import class_colors
from verifyplan.charts.unchecked import unchecked
from verifyplan.protocol.vote import CLASSIFICATIONS

COLUMNS = ("reading", "classification", "n", "share", "low", "high")
TITLE = "How the findings are classed"
FIELDS = {
    "reading": "Reading",
    "classification": "Class",
    "n": "Findings",
    "told_share": "Share",
    "told_interval": "95 % interval",
}


def class_mix(comparison: Comparison) -> Figure:
    """Bars of each class's share under both readings, with 95 % intervals, shares and counts beside them.

    Reads `comparison.mix` (`reading, classification, n, share, low, high`). Shares that are missing are left
    out and the caption says so; without any share the figure says that there are no findings. Raises
    TableError where a column is missing.
    """
    expect_comparison(comparison)
    mix = checked(comparison.mix, COLUMNS, "comparison.mix").astype({"classification": str})
    rows = with_hover(labelled(mix), FIELDS)
    if rows.empty:
        return empty(TITLE, "There are no findings to class.", mix)
    line = f"{count(comparison.n_findings, 'finding')}; lines: {INTERVALS}"
    with unchecked():
        return figure(
            interval_rows(rows, [_bars(), whisker()], "classification", list(CLASSIFICATIONS), "Share of findings"),
            title=TITLE,
            subtitle=subtitle(line, comparison.synthetic),
            caption=_caption(comparison, left_out=len(mix) - len(rows)),
            data=mix,
            description=_description(comparison, rows),
        )


def _bars() -> alt.Chart:
    color = alt.Color("classification:N", scale=class_colors(), legend=None)
    bars: alt.Chart = alt.Chart().mark_bar(height=15).encode(x="share:Q", color=color, **hover(FIELDS))
    return bars


def _caption(comparison: Comparison, left_out: int) -> str:
    a, b = readings(comparison, 80)
    return sentences(
        f"Share of {count(comparison.n_findings, 'finding')} in each class, under {a} and under {b}.",
        "Bars: the share; lines: its interval; n: findings in the class.",
        intervals_are(comparison),
        f"Left out: {count(left_out, 'share')} without a number." if left_out else "",
        synthetic_is(comparison.synthetic),
    )


def _description(comparison: Comparison, rows: pd.DataFrame) -> str:
    told = rows["label"] + ": " + rows["classification"] + " " + rows["told_share"]
    findings = count(comparison.n_findings, "finding")
    return f"Bar chart of the share of {findings} in each class. {'; '.join(told)}."
