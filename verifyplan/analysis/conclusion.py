"""Conclude a comparison: a line for each other condition, by the clustered test of what is right or held (rule F1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from verifyplan.analysis.clustered_tests import MIN_CLUSTERS, is_least_drawn
from verifyplan.analysis.metrics import difference_column
from verifyplan.analysis.result_words import difference_words
from verifyplan.protocol.vote import HELD
from verifyplan.text import counted

LEVEL = 0.05
"""A difference is shown where p, adjusted for the number of tests by clusters (Holm), is below this."""
_MEANS = {"right": "; held and true, or not held and false", "held": ""}
"""What a tested share counts, said in the first line of it."""
NOT_SHOWN = "no difference is shown"


def conclusion_lines(
    findings: pd.DataFrame, tests: pd.DataFrame, summary: pd.DataFrame, bounds: pd.DataFrame, names: Sequence[str]
) -> Iterator[str]:
    """Yield whether each condition is shown to differ from the first: in what is right, or else in what is held.

    A finding is right where it is held and true, or not held and false; where no truth is known, the line is of what
    is held. A test that cannot be made, as there are too few clusters, concludes nothing. Tests take the votes that
    were cast, so a line also says what votes never cast could make of the difference. No line without findings.
    """
    clustered = tests[tests["test"].eq("clustered-mcnemar") & tests["n"].gt(0)]
    of = "right" if clustered["of"].eq("right").any() else "held"
    known = _known(findings, of)
    for number, row in enumerate(clustered[clustered["of"].eq(of)].to_dict("records")):
        pair = (names[0], row["condition"])
        shares = {name: f"{100 * _share(known, name, of):.1f} %" for name in pair}
        both = " against ".join(shares.values() if len(names) == 2 else map(" ".join, shares.items()))
        found = summary[summary["metric"].eq(of)].iloc[0]
        column = difference_column(names, row["condition"])
        difference = difference_words(*found[[column, f"{column}_low", f"{column}_high"]])
        means = _MEANS[of] if number == 0 else ""
        concluded = conclusion_words(findings, tests, summary, bounds, names, of, row["condition"])
        yield f"{of}: {both} (n = {len(known):,}{means}){difference}{concluded}"


def conclusion_words(
    findings: pd.DataFrame,
    tests: pd.DataFrame,
    summary: pd.DataFrame,
    bounds: pd.DataFrame,
    names: Sequence[str],
    metric: str,
    condition: str,
) -> str:
    """Return what follows a difference from the first: the conclusion of its test, and what unseen votes could make it.

    A metric that is not tested has no conclusion.
    """
    known = _known(findings, metric)
    one_run = any(known.get(f"run_id_{name}", known["run_id"]).nunique() == 1 for name in names)
    only = only_the_interval(tests, summary, names, metric, condition)
    rows = tests[tests["test"].eq("clustered-mcnemar") & tests["n"].gt(0)]
    rows = rows[rows["of"].eq(metric) & rows["condition"].eq(condition)]
    n_tests = _n_tests(tests)
    verdicts = "".join(f", {_verdict(row, n_tests, one_run, only)}" for row in rows.to_dict("records"))
    return verdicts + _unseen(bounds, metric, condition)


def _known(findings: pd.DataFrame, metric: str) -> pd.DataFrame:
    return findings[findings["truth"].notna()] if metric == "right" else findings


def _unseen(bounds: pd.DataFrame, of: str, condition: str) -> str:
    """Return what votes never cast could make of a difference from the first; blank where they cannot change it."""
    for row in bounds[bounds["metric"].eq(of) & bounds["condition"].eq(condition)].to_dict("records"):
        low, high = row["difference_low_bound"], row["difference_high_bound"]
        if high > low:
            points = f"{100 * low:+.1f} to {100 * high:+.1f} points"
            return f" by the votes that were cast; votes never cast could make it {points}"
    return ""


def only_the_interval(
    tests: pd.DataFrame, summary: pd.DataFrame, names: Sequence[str], metric: str, condition: str
) -> str:
    """Return words for a difference that only its interval shows, and not the test adjusted for the number of tests.

    Blank where both say the same, where the test has no p-value, and for a metric that is not tested.
    """
    of_metric = tests["of"].eq(metric) & tests["condition"].eq(condition) & tests["test"].eq("clustered-mcnemar")
    row = tests[of_metric & tests["p_holm"].ge(LEVEL)]
    difference = summary[summary["metric"].eq(metric)]
    column = difference_column(names, condition)
    excludes_0 = (difference[f"{column}_low"] * difference[f"{column}_high"]).gt(0).any()
    if row.empty or not excludes_0:
        return ""
    p, adjusted = row[["p_value", "p_holm"]].iloc[0]
    by = f"by the test (p {p_words(p, '= ')})"
    if p < LEVEL:
        by = f"after adjusting for the {_n_tests(tests)} tests made here (p {p_words(adjusted, '= ')})"
    return f"the interval excludes 0, but {by} {NOT_SHOWN}"


def _share(findings: pd.DataFrame, name: str, of: str) -> float:
    held = findings[f"classification_{name}"].isin(HELD)
    return float((held == findings["truth"].astype(bool)).mean() if of == "right" else held.mean())


def _n_tests(tests: pd.DataFrame) -> int:
    """Return the number of tests that p-values are adjusted for."""
    return int(tests["p_holm"].notna().sum())


def _verdict(row: dict[Any, Any], n_tests: int, one_run: bool, only: str) -> str:
    """Return what a test by clusters, one of so many, says.

    `one_run`: that it knows nothing of changes from run to run; `only`: that only an interval shows a difference.
    """
    if pd.isna(row["statistic"]):
        cluster = row["assumes"].removeprefix("independent ").removesuffix("s")
        return f"each {cluster} has the same number under both: {NOT_SHOWN}"
    if pd.isna(row["p_value"]):
        what = row["assumes"].removeprefix("independent ")
        return f"no test ({row['clusters']} {what}; {MIN_CLUSTERS} are needed): whether they differ is not known"
    shown = "a difference is shown" if row["p_holm"] < LEVEL else only or NOT_SHOWN
    alone = ", of one run: others may differ" if one_run and row["assumes"] == "independent claims" else ""
    equals, adjusted = ("≤ ", "≤ ") if is_least_drawn(row["method"], row["p_value"]) else ("= ", "")
    p, p_holm = p_words(row["p_value"], equals), p_words(row["p_holm"], adjusted)
    return f"p {p} ({p_holm} adjusted for {counted(n_tests, 'test')} by Holm{alone}): {shown}"


def p_words(p: float, equals: str = "") -> str:
    """Return a p-value, never zero.

    >>> p_words(0.04, "= "), p_words(0.00004, "= ")
    ('= 0.0400', '< 0.0001')
    """
    return "< 0.0001" if p < 0.0001 else f"{equals}{p:.4f}"
