"""Draw how the findings spread over the classes, under both readings."""

from __future__ import annotations

import altair as alt

from verifyplan.analysis.comparison import Comparison, expect_comparison
from verifyplan.charts.encodings import hover, require_columns, with_hover
from verifyplan.charts.figure import Figure, empty, figure, schema_checks_off
from verifyplan.charts.interval_rows import interval_rows, whisker, with_texts
from verifyplan.charts.labels import INTERVALS, count, interval_sentence, reading_labels, sentences
from verifyplan.charts.theme import CLASS_COLORS, color_scale
from verifyplan.protocol.vote import CLASSIFICATIONS

COLUMNS = ("reading", "classification", "n", "share", "low", "high")
TITLE = "How the findings are classed"
FIELDS = {
    "reading": "Reading",
    "classification": "Class",
    "n": "Findings",
    "share_text": "Share",
    "interval_text": "95 % interval",
}


def class_mix(comparison: Comparison) -> Figure:
    """Draw bars of each class's share under both readings, with 95 % intervals, shares and counts beside them.

    Reads `comparison.mix` (`reading, classification, n, share, low, high`). Missing shares are left out and the
    caption says so; without any share the figure says that there are no findings. Raises TableError where a column
    is missing.
    """
    expect_comparison(comparison)
    mix = require_columns(comparison.mix, COLUMNS, "comparison.mix").astype({"classification": str})
    rows = with_hover(with_texts(mix), FIELDS)
    if rows.empty:
        return empty(TITLE, "There are no findings to class.", mix)
    findings, left_out = count(comparison.n_findings, "finding"), len(mix) - len(rows)
    a, b = reading_labels(comparison, 80)
    each = rows["label"] + ": " + rows["classification"] + " " + rows["share_text"]
    with schema_checks_off():
        color = alt.Color("classification:N", scale=color_scale(CLASS_COLORS), legend=None)
        bars = alt.Chart().mark_bar(height=15).encode(x="share:Q", color=color, **hover(FIELDS))
        return figure(
            interval_rows(rows, [bars, whisker()], "classification", list(CLASSIFICATIONS), "Share of findings"),
            title=TITLE,
            subtitle=f"{findings}; lines: {INTERVALS}",
            caption=sentences(
                f"Share of {findings} in each class, under {a} and under {b}.",
                "Bars: the share; lines: its interval; n: findings in the class.",
                interval_sentence(comparison),
                f"Left out: {count(left_out, 'share')} without a number." if left_out else "",
            ),
            data=mix,
            description=f"Bar chart of the share of {findings} in each class. {'; '.join(each)}.",
            synthetic=comparison.synthetic,
        )
