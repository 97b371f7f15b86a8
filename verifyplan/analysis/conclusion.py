"""Conclude a comparison by the interval of the one metric that was named beforehand (rule F1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from verifyplan.analysis.metrics import CONCLUDED, difference_column
from verifyplan.analysis.result_words import difference_words
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.text import did_you_mean

LEVEL = 0.05
"""A difference is shown where p is below this, which is where the interval leaves 0 out."""
_MEANS = {"accuracy": "held and true, or not held and false"}
"""What a concluded share counts, said in the first line of it."""
NOT_SHOWN = "no difference is shown"


def concluded_metric(named: str | None, metrics: Sequence[str], *, truth_is_known: bool) -> str:
    """Return the metric that a comparison concludes on: the one that is named, else accuracy, or without truth held.

    A rate may be named without `-rate`. Raises SettingsError for a metric that is not there.

    >>> concluded_metric("false-consensus", ["held", "false-consensus-rate"], truth_is_known=True)
    'false-consensus-rate'
    """
    if named is None:
        return next(metric for metric in CONCLUDED if metric in metrics)
    metric = f"{named}-rate" if named not in metrics and f"{named}-rate" in metrics else named
    if metric not in metrics:
        message = f"{named!r} is not a metric of this comparison{did_you_mean(named, metrics)}"
        unmeasured = "" if truth_is_known else "; others need findings whose truth is known"
        raise SettingsError(Problem("metric", message, f"use one of {one_of(metrics)}{unmeasured}"))
    return metric


def conclusion_lines(
    metric: str,
    tests: pd.DataFrame,
    summary: pd.DataFrame,
    bounds: pd.DataFrame,
    names: Sequence[str],
    *,
    one_run: bool,
) -> Iterator[str]:
    """Yield whether each condition is shown to differ from the first in the concluded metric.

    `one_run`: whether a set has one run, so that nothing is known of changes from run to run. A line also says what
    votes never cast could make of the difference, or that the metric is not defined.
    """
    found = summary[summary["metric"].eq(metric)].iloc[0]
    for number, other in enumerate(names[1:]):
        both = (names[0], other)
        empty = [name for name in both if not found[f"{name}_n"]]
        if empty:
            yield f"{metric}: no finding counts under {' and '.join(empty)} (n = 0): whether they differ is not known"
            continue
        labels = dict.fromkeys(both, "") if len(names) == 2 else {name: f"{name} " for name in both}
        sizes = [f"{int(found[f'{name}_n']):,}" for name in both]
        shares = [f"{labels[name]}{100 * found[name]:.1f} %" for name in both]
        means = f"; {_MEANS[metric]}" if metric in _MEANS and number == 0 else ""
        column = difference_column(names, other)
        difference = difference_words(*found[[column, f"{column}_low", f"{column}_high"]])
        concluded = conclusion_words(metric, metric, tests, bounds, other, one_run=one_run)
        n = " and ".join(dict.fromkeys(sizes))
        yield f"{metric}: {' against '.join(shares)} (n = {n}{means}){difference}{concluded}"


def conclusion_words(
    metric: str, concluded: str, tests: pd.DataFrame, bounds: pd.DataFrame, condition: str, *, one_run: bool
) -> str:
    """Return what follows the difference of a metric from the first: its conclusion, or that it is exploratory.

    And what votes never cast could make of the difference.
    """
    rows = tests[tests["test"].eq("clustered-t") & tests["of"].eq(metric) & tests["condition"].eq(condition)]
    n_conclusions, n_exploratory = int(tests["role"].eq("concluding").sum()), int(tests["p_holm"].notna().sum())
    words = ""
    for row in rows[rows["p_value"].notna()].to_dict("records"):
        p = f"p {p_words(row['p_value'], '= ')}"
        alone = ", of one run: others may differ" if one_run and row["assumes"] == "independent claims" else ""
        if metric != concluded:
            words = (
                f", exploratory ({p}, adjusted for {n_exploratory} tests by Holm {p_words(row['p_holm'], '= ')}{alone})"
            )
            continue
        several = f", adjusted for {n_conclusions} conditions" if n_conclusions > 1 else ""
        notes = (several + alone).removeprefix(", ")
        shown = "a difference is shown" if row["p_value"] < LEVEL else NOT_SHOWN
        words = f", {p}{f' ({notes})' if notes else ''}: {shown}"
    return words + _unseen(bounds, metric, condition)


def _unseen(bounds: pd.DataFrame, of: str, condition: str) -> str:
    """Return what votes never cast could make of a difference from the first; blank where they cannot change it."""
    for row in bounds[bounds["metric"].eq(of) & bounds["condition"].eq(condition)].to_dict("records"):
        low, high = row["difference_low_bound"], row["difference_high_bound"]
        if high > low:
            points = f"{100 * low:+.1f} to {100 * high:+.1f} points"
            return f" by the votes that were cast; votes never cast could make it {points}"
    return ""


def p_words(p: float, equals: str = "") -> str:
    """Return a p-value, never zero.

    >>> p_words(0.04, "= "), p_words(0.00004, "= ")
    ('= 0.0400', '< 0.0001')
    """
    return "< 0.0001" if p < 0.0001 else f"{equals}{p:.4f}"
