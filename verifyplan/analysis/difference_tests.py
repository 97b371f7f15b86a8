"""Tests of whether two conditions differ: on the classes, on held or not, on right or wrong (rule F1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.special import bdtr, chdtrc

from verifyplan.analysis.cluster_intervals import Array
from verifyplan.analysis.clustered_tests import DRAWS, MIN_CLUSTERS, SignsOf, clustered_test, flipped_signs
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.conclusion import p_words
from verifyplan.analysis.metrics import IS_HELD
from verifyplan.text import counted, is_or_are, joined

EXACT_BELOW = 25
"""With fewer discordant findings McNemar's test is exact (binomial)."""

INDEPENDENT_FINDINGS = "independent findings"

_COLUMNS = ["of", "test", "method", "assumes", "statistic", "df", "p_value", "n", "clusters"]


def difference_tests(
    findings: pd.DataFrame, first: str, second: str, clusters: Clusters, seed: int = 0, draws: int = DRAWS
) -> pd.DataFrame:
    """Test whether two conditions differ over the same findings; see `documentation("tests")` for the columns.

    Each question has a test by clusters, and one that takes findings as independent: whether the shares of the
    classes differ, whether as many are held, and, over findings whose truth is known, whether as many go from right to
    wrong as from wrong to right. A test is NaN where nothing moves, a p-value where clusters are too few.
    """
    before, after = (findings[f"classification_{name}"].cat.codes.to_numpy(dtype=np.int64) for name in (first, second))
    truth = findings["truth"].astype("Int8").fillna(-1).to_numpy(dtype=np.int64)
    held = np.array([IS_HELD[before], IS_HELD[after]])
    known = truth >= 0
    right = (held == (truth == 1))[:, known]
    each_class = np.eye(len(IS_HELD), dtype=np.int64)
    moves_of = (each_class[None] - each_class[:, None]).reshape(-1, len(IS_HELD))
    transition = before * len(IS_HELD) + after
    unequal = "clustered-mcnemar"
    rows = [
        ("classes", "clustered-homogeneity", moves_of[transition], clusters),
        ("held", unequal, _moves(held), clusters),
        *([("right", unequal, _moves(right), clusters.take(known))] if known.any() else []),
    ]
    signs_of = cache(partial(flipped_signs, seed=seed, draws=draws))
    table = [_clustered(*row, seed, draws, signs_of) for row in rows]
    transitions = np.bincount(transition, minlength=len(IS_HELD) ** 2).reshape(len(IS_HELD), -1)
    table += [
        ("classes", "stuart-maxwell", *_stuart_maxwell(transitions)),
        ("held", "mcnemar", *_mcnemar(held)),
        *([("right", "mcnemar", *_mcnemar(right))] if known.any() else []),
    ]
    return pd.DataFrame(table, columns=_COLUMNS)


def with_holm(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the tests of all conditions with `p_holm`, adjusted over those by clusters (Holm 1979).

    The family is every condition's test by clusters that has a p-value; the others repeat their questions.

    >>> table = pd.DataFrame({"test": ["clustered-mcnemar"] * 2 + ["mcnemar"], "p_value": [0.04, 0.03, 0.01]})
    >>> with_holm(table)["p_holm"].tolist()
    [0.06, 0.06, nan]
    """
    family = tests["test"].str.startswith("clustered-") & tests["p_value"].notna()
    ordered = tests.loc[family, "p_value"].sort_values()
    steps = np.arange(len(ordered), 0, -1)
    adjusted = (ordered * steps).cummax().clip(upper=1.0)
    adjusted_tests = tests.copy()
    adjusted_tests.insert(list(tests.columns).index("p_value") + 1, "p_holm", adjusted.reindex(tests.index))
    return adjusted_tests


def notes_on_tests(tests: pd.DataFrame) -> Iterator[str]:
    """Yield notes on the tests of a comparison: clusters that are too few, repeated claims, several tests at once."""
    clustered = tests[tests["test"].str.startswith("clustered-")]
    few = clustered["clusters"][clustered["clusters"].gt(0) & clustered["clusters"].lt(MIN_CLUSTERS)]
    if len(few):
        n, what = int(few.max()), clustered.loc[few.index[0], "assumes"].removeprefix("independent ")
        unit = {"runs and claims": "runs or claims"}.get(what, what)
        yield (
            f"No valid test is possible with {n} {unit}: the smallest possible p-value is {2 / 2**n:g}. Give at least "
            f"{MIN_CLUSTERS}; tests that assume independent findings reject far too often."
        )
    has_p = clustered[clustered["p_value"].notna()]
    if has_p["clusters"].eq(MIN_CLUSTERS).any():
        yield (
            f"With {MIN_CLUSTERS} clusters, flipped signs give only one p-value below 5 %, {2 / 2**MIN_CLUSTERS:.3f}: "
            "without any difference such tests reject in at most 4 % of simulations."
        )
    if (has_p["assumes"].eq("independent runs and claims") & ~has_p["method"].str.contains("sign-flip")).any():
        yield (
            "With many runs and many claims, the tests use the t distribution in place of flipped signs, and are "
            "conservative: without any difference they reject in 1 to 6 % of simulations, not in 5 %."
        )
    m = int(clustered["p_holm"].notna().sum())
    smallest = clustered.loc[clustered["p_value"].lt(0.05) & clustered["p_holm"].ge(0.05)]
    if len(smallest):
        name_of = "{of} of {condition}" if tests["condition"].nunique() > 1 else "{of}"
        those = joined(
            f"{name_of.format_map(row)} (p {p_words(row['p_value'], '= ')}, adjusted {p_words(row['p_holm'])})"
            for row in smallest.to_dict("records")
        )
        yield (
            f"Of {counted(m, 'test')}, {counted(len(smallest), 'p-value')} {is_or_are(len(smallest))} below 5 % only "
            f"until the adjustment for the number of tests (p_holm): {those}."
        )


def _assumption(clusters: Clusters) -> str:
    kinds = {dimension.is_claim for dimension in clusters.dimensions if not dimension.is_joint}
    if len(kinds) == 2:
        return "independent runs and claims"
    return "independent claims" if True in kinds or clusters.n_runs < 2 else "independent runs"


def _moves(before_after: Array) -> Array:
    before, after = before_after.astype(np.int64)
    return np.asarray(after - before)[:, None]


def _clustered(
    of: str, test: str, moves: Array, clusters: Clusters, seed: int, draws: int, signs_of: SignsOf
) -> Sequence[object]:
    result, assumes = clustered_test(moves, clusters, seed, draws, signs_of), _assumption(clusters)
    return of, test, result.method, assumes, result.statistic, np.nan, result.p_value, len(moves), result.clusters


def _stuart_maxwell(table: Array) -> Sequence[object]:
    """Test the marginal homogeneity of a square table of counts; classes that nothing enters or leaves are dropped."""
    n = int(table.sum())
    moved = table - np.diag(np.diag(table))
    used = (moved.sum(axis=0) + moved.sum(axis=1)) > 0
    if used.sum() < 2:
        return "chi-squared", INDEPENDENT_FINDINGS, np.nan, np.nan, np.nan, n, n
    kept = table[np.ix_(used, used)]
    difference = (kept.sum(axis=1) - kept.sum(axis=0))[:-1]
    covariance = np.diag(kept.sum(axis=1) + kept.sum(axis=0)) - kept - kept.T
    covariance = covariance[:-1, :-1]  # the last class follows from the others; further dependence: pinv, rank
    rank = int(np.linalg.matrix_rank(covariance))
    statistic = float(difference @ np.linalg.pinv(covariance) @ difference)
    return "chi-squared", INDEPENDENT_FINDINGS, statistic, float(rank), float(chdtrc(rank, statistic)), n, n


def _mcnemar(before_after: Array) -> Sequence[object]:
    """Test the findings that are so under one condition alone: are there as many of one kind as of the other?"""
    before, after = before_after
    n = len(before)
    lost, won = int(np.sum(before & ~after)), int(np.sum(after & ~before))
    if lost + won == 0:
        return "exact binomial", INDEPENDENT_FINDINGS, np.nan, np.nan, np.nan, n, n
    if lost + won < EXACT_BELOW:  # it has neither a statistic nor degrees of freedom
        p_value = min(1.0, 2 * float(bdtr(min(lost, won), lost + won, 0.5)))
        return "exact binomial", INDEPENDENT_FINDINGS, np.nan, np.nan, p_value, n, n
    statistic = (abs(lost - won) - 1) ** 2 / (lost + won)  # corrected for continuity
    return "chi-squared", INDEPENDENT_FINDINGS, statistic, 1.0, float(chdtrc(1, statistic)), n, n
