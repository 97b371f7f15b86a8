"""Draw how well each condition finds what is true, where the truth is known."""

from __future__ import annotations

from typing import Unpack

import altair as alt
import pandas as pd

from verifyplan.analysis.comparison import Comparison
from verifyplan.charts.comparisons import INTERVALS, interval_sentence, no_votes_sentence, read_comparison
from verifyplan.charts.encodings import hover, require_columns, with_hover
from verifyplan.charts.figure import Figure, empty, figure
from verifyplan.charts.interval_rows import IntervalRows, first_conditions, whisker, with_texts
from verifyplan.charts.labels import interval_text, plain, sentences, short
from verifyplan.charts.options import ChartOptions, Options, chart
from verifyplan.charts.theme import CONDITION_COLORS, CONDITION_SHAPES, INK, condition_scale
from verifyplan.errors import InputError, Problem
from verifyplan.frames.load import Runs

COLUMNS = ("condition", "metric", "value", "low", "high", "n")
TITLE = "How well each condition finds what is true"
FIELDS = {
    "condition": "Condition",
    "metric": "Metric",
    "share_text": "Value",
    "interval_text": "95 % interval",
    "n": "Denominator",
}
METRICS = {
    "precision": "Precision ↑",
    "recall": "Recall ↑",
    "f1": "F1 ↑",
    "false-consensus-rate": "False consensus ↓",
    "false-demotion-rate": "False demotion ↓",
}
"""The metrics in the order drawn, each with the way that is better."""


@chart
def truth_metrics(data: Comparison | Runs, **options: Unpack[Options]) -> Figure:
    """Draw dots with 95 % intervals for precision, recall, F1, false consensus and false demotion by condition.

    Reads a comparison's `truth` (`condition, metric, value, low, high, n`), or compares both modes of runs; the
    axis runs from 0 to 100 %, and the first `limit` conditions are drawn (8). Bars are the bounds that uncast votes
    leave (`.bounds`). Metrics whose denominator is 0 (NaN) are left out and named in the caption. Raises InputError
    where no finding's truth is known, and TableError where a column is missing.

    >>> import verifyplan as vp
    >>> figure = truth_metrics(vp.compare("stdlib-claims", resamples=50))
    >>> figure.description[:87]
    'Dot chart of metrics against the known truth. collaborative: precision 74.3 %, n = 875,'
    """
    chosen = ChartOptions.of(options)
    labelled = read_comparison(data, chosen)
    comparison, known = labelled.comparison, labelled.truth
    if known is None:
        message = "no finding's truth is known, so there is nothing to measure against"
        fix = "compare findings that have a column truth"
        raise InputError(Problem("truth_metrics: comparison.truth", message, fix))
    truth = require_columns(known, COLUMNS, "comparison.truth").astype({"metric": str})
    bounds = labelled.bounds
    if bounds is not None:
        truth = truth.merge(bounds.astype({"metric": str}), on=["condition", "metric"], how="left")
    is_open = bounds is not None and bool(truth["low_bound"].notna().any())
    drawn, left_out = first_conditions(truth, chosen)
    names = [METRICS.get(metric, short(metric, 24)) for metric in drawn["metric"]]
    rows = with_texts(drawn.assign(name=names, metric=drawn["metric"].map(plain), share=drawn["value"]))
    fields = {**FIELDS, "bounds_text": "By votes never cast"} if is_open else FIELDS
    rows = with_hover(_with_bounds(rows) if is_open else rows, fields)
    if rows.empty:
        return empty(chosen, TITLE, "There is no metric whose denominator is above 0.", truth)
    order = list(dict.fromkeys([*METRICS.values(), *names]))
    each = rows["label"] + ": " + rows["metric"] + " " + rows["share_text"] + ", " + rows["n_text"]
    each += rows["bounds_text"].radd(", by votes never cast ").where(rows["bounds_text"].ne(""), "") if is_open else ""
    labels = list(dict.fromkeys(rows["label"]))
    dots = alt.Chart().mark_point(filled=True, size=110, opacity=1)
    dots = dots.encode(
        x=alt.X("share:Q"),
        color=alt.Color("label:N", scale=condition_scale(labels, CONDITION_COLORS), legend=None),
        shape=alt.Shape("label:N", scale=condition_scale(labels, CONDITION_SHAPES), legend=None),
        **hover(fields),
    )
    table = IntervalRows.of(rows, "name", order, "Value of the metric", chosen)
    return figure(
        lambda: table.draw([*([_bounds()] if is_open else []), whisker(), dots]),
        chosen,
        title=TITLE,
        subtitle=f"↑ more is better, ↓ less is better; lines: {INTERVALS}"
        + ("; bars: the range that uncast votes leave" if is_open else ""),
        caption=sentences(
            _caption(comparison, drawn),
            no_votes_sentence(labelled),
            "Bars: the range that votes allow which a condition asks for and that were never cast." if is_open else "",
            left_out,
        ),
        data=truth,
        description=f"Dot chart of metrics against the known truth. {'; '.join(each)}.",
        synthetic=comparison.synthetic,
    )


def _with_bounds(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the texts of their bounds, empty where uncast votes could change nothing."""
    ends = zip(rows["low_bound"], rows["high_bound"], strict=True)
    return rows.assign(bounds_text=[interval_text(low, high) if low < high else "" for low, high in ends])


def _bounds() -> alt.Chart:
    """Draw the bar from the lowest to the highest value that votes never cast allow."""
    bar: alt.Chart = alt.Chart().mark_rule(color=INK, strokeWidth=9, opacity=0.28, aria=False)
    return bar.encode(x=alt.X("low_bound:Q"), x2=alt.X2("high_bound:Q"))


def _caption(comparison: Comparison, truth: pd.DataFrame) -> str:
    missing = truth[truth["value"].isna()]
    named = missing["metric"].map(plain) + " under " + missing["condition"].map(lambda condition: short(condition, 80))
    return sentences(
        "Dots: the metric; lines: its interval; n: its denominator (F1: findings whose truth is known).",
        "A finding held if it ended in full or partial consensus. False consensus: held, among false claims;"
        " false demotion: not held, among true claims.",
        interval_sentence(comparison),
        f"Left out, since their denominator is 0: {', '.join(named)}." if len(named) else "",
    )
