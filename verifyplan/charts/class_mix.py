"""Draw the share of findings in each class, under each condition."""

from __future__ import annotations

from typing import Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis.comparison import Comparison
from verifyplan.charts.comparisons import (
    INTERVALS,
    findings_under,
    interval_sentence,
    no_votes_sentence,
    read_comparison,
)
from verifyplan.charts.encodings import hover, require_columns, with_hover
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.interval_rows import IntervalRows, first_conditions, whisker, with_texts
from verifyplan.charts.labels import count, plain, sentences
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.theme import CLASS_COLORS, color_scale
from verifyplan.frames.load import Runs
from verifyplan.protocol.vote import CLASSIFICATIONS

COLUMNS = ("condition", "classification", "n", "share", "low", "high")
TITLE = "How the findings are classed"
FIELDS = {
    "condition": "Condition",
    "classification": "Class",
    "n": "Findings",
    "share_text": "Share",
    "interval_text": "95 % interval",
}


@chart
def class_mix(data: Comparison | Runs, **options: Unpack[Options]) -> Figure:
    """Draw bars of each class's share under each condition, with 95 % intervals, shares and counts beside them.

    Reads a comparison's `mix` (`condition, classification, n, share, low, high`), or compares both modes of runs; the
    first `limit` conditions are drawn (8). Missing shares are left out and the caption says so; without any share the
    figure says that there are no findings.

    >>> import verifyplan as vp
    >>> figure = class_mix(vp.compare("stdlib-claims", resamples=50))
    >>> figure.description[:96]
    'Bar chart of the share of 1,440 findings in each class. collaborative: full-consensus 56.1 %; co'
    """
    chosen = ChartOptions.of(options)
    labelled = read_comparison(data, chosen)
    comparison = labelled.comparison
    mix = require_columns(labelled.mix, COLUMNS, "comparison.mix").astype({"classification": str})
    drawn, left_out_conditions = first_conditions(mix, chosen)
    rows = with_hover(_with_counts(with_texts(drawn), mix), FIELDS)
    if rows.empty:
        return empty(chosen, TITLE, "There are no findings to class.", mix)
    findings, left_out = count(comparison.n_findings, "finding"), len(drawn) - len(rows)
    still_open = findings_under(labelled.open_classes)
    under = " and ".join(f"under {label}" for label in labelled.distinct_labels(80))
    each = rows["label"] + ": " + rows["classification"] + " " + rows["share_text"]
    color = alt.Color("classification:N", scale=color_scale(CLASS_COLORS), legend=None)
    table = IntervalRows.of(rows, "classification", list(CLASSIFICATIONS), "Share of findings", chosen)
    return figure(
        lambda: table.draw(
            [alt.Chart().mark_bar(height=table.bar).encode(x=alt.X("share:Q"), color=color, **hover(FIELDS)), whisker()]
        ),
        chosen,
        title=TITLE,
        subtitle=f"{findings}; lines: {INTERVALS}",
        caption=sentences(
            f"Share of {findings} in each class, {under}.",
            "Bars: the share; lines: its interval; at the right: findings in the class, of all.",
            interval_sentence(comparison),
            f"The class of {still_open} depends on votes that were never cast: the chart is by those that were cast."
            if still_open
            else "",
            no_votes_sentence(labelled),
            left_out_conditions,
            f"Left out: {count(left_out, 'share')} without a number." if left_out else "",
        ),
        data=mix,
        description=f"Bar chart of the share of {findings} in each class. {'; '.join(each)}.",
        synthetic=comparison.synthetic,
    )


def _with_counts(rows: pd.DataFrame, mix: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the findings of the class and of all classes as `n_text`, such as `7 of 40`."""
    totals = rows["condition"].map(mix.assign(condition=mix["condition"].map(plain)).groupby("condition")["n"].sum())
    return rows.assign(n_text=[f"{n:,.0f} of {total:,.0f}" for n, total in zip(rows["n"], totals, strict=True)])
