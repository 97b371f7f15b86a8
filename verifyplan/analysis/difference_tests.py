"""Tests of whether two conditions differ: each metric by the statistic of its interval, and all classes (rule F1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import bdtr, chdtrc

from verifyplan.analysis.cluster_intervals import Array, Difference
from verifyplan.analysis.clustered_tests import DRAWS, clustered_test
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.metrics import IS_HELD

EXACT_BELOW = 25
"""With fewer discordant findings McNemar's test is exact (binomial)."""

INDEPENDENT_FINDINGS = "independent findings"

COLUMNS = ["role", "of", "test", "method", "assumes", "statistic", "df", "p_value", "n", "clusters"]


def difference_tests(
    findings: pd.DataFrame, first: str, second: str, clusters: Clusters, seed: int = 0, draws: int = DRAWS
) -> pd.DataFrame:
    """Test whether two conditions differ over the same findings; see `documentation("tests")` for the columns.

    Whether the shares of the classes differ, by clusters; and, as if findings were independent, the same, whether as
    many are held, and whether as many go from right to wrong as from wrong to right. A test is NaN where nothing moves,
    that by clusters has no p-value where these are too few.
    """
    before, after = (findings[f"classification_{name}"].cat.codes.to_numpy(dtype=np.int64) for name in (first, second))
    truth = findings["truth"].astype("Int8").fillna(-1).to_numpy(dtype=np.int64)
    held = np.array([IS_HELD[before], IS_HELD[after]])
    known = truth >= 0
    right = (held == (truth == 1))[:, known]
    each_class = np.eye(len(IS_HELD), dtype=np.int64)
    moves_of = (each_class[None] - each_class[:, None]).reshape(-1, len(IS_HELD))
    transition = before * len(IS_HELD) + after
    result = clustered_test(moves_of[transition], clusters, seed, draws)
    of_classes = (result.method, assumed_of([clusters]), result.statistic, np.nan, result.p_value)
    transitions = np.bincount(transition, minlength=len(IS_HELD) ** 2).reshape(len(IS_HELD), -1)
    table = [
        ("exploratory", "classes", "clustered-homogeneity", *of_classes, len(findings), result.clusters),
        ("reference", "classes", "stuart-maxwell", *_stuart_maxwell(transitions)),
        ("reference", "held", "mcnemar", *_mcnemar(held)),
        *([("reference", "accuracy", "mcnemar", *_mcnemar(right))] if known.any() else []),
    ]
    return pd.DataFrame(table, columns=COLUMNS)


def metric_tests(
    differences: Mapping[str, Difference], clusters: Sequence[Clusters], concluded: str, n_conclusions: int
) -> pd.DataFrame:
    """Test each difference by the statistic of its interval: p is below 5 % where the interval leaves 0 out.

    `clusters` are those of the findings, or of each set where these are not paired. Of the concluded metric p is times
    the number of conclusions, as its intervals are of the level that lets all of them hold together (Bonferroni).
    """
    assumes = assumed_of(clusters)
    n_clusters = sum(map(_fewest, clusters))
    rows = [
        (
            "concluding" if metric == concluded else "exploratory",
            *(metric, "clustered-t", "t", assumes, each.statistic, each.freedom),
            float(np.minimum(each.p_value * (n_conclusions if metric == concluded else 1), 1.0)),
            *(each.n, n_clusters),
        )
        for metric, each in sorted(differences.items(), key=lambda item: item[0] != concluded)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def with_holm(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the tests of all conditions with `p_holm`, adjusted over those that are exploratory (Holm 1979).

    The family is every condition's exploratory test that has a p-value. The concluding ones need no adjustment, since
    their metric is named beforehand, and the others repeat the questions.

    >>> table = pd.DataFrame({"role": ["exploratory"] * 2 + ["concluding"], "p_value": [0.04, 0.03, 0.01]})
    >>> with_holm(table)["p_holm"].tolist()
    [0.06, 0.06, nan]
    """
    family = tests["role"].eq("exploratory") & tests["p_value"].notna()
    ordered = tests.loc[family, "p_value"].sort_values()
    steps = np.arange(len(ordered), 0, -1)
    adjusted = (ordered * steps).cummax().clip(upper=1.0)
    adjusted_tests = tests.copy()
    adjusted_tests.insert(list(tests.columns).index("p_value") + 1, "p_holm", adjusted.reindex(tests.index))
    return adjusted_tests


def assumed_of(clusters: Sequence[Clusters]) -> str:
    """Return what must be independent for a test by clusters, those of one table or of each set."""
    kinds = {name: None for each in clusters for name in _independent(each)}
    return f"independent {' and '.join(kinds)}"


def _independent(clusters: Clusters) -> list[str]:
    kinds = {dimension.is_claim for dimension in clusters.dimensions if not dimension.is_joint}
    if len(kinds) == 2:
        return [clusters.name, "claims"]
    return ["claims"] if True in kinds or clusters.n_runs < 2 else [clusters.name]


def _fewest(clusters: Clusters) -> int:
    """Return the number of clusters, of the less numerous kind of them; that of rows where each is alone."""
    ways = [dimension.code for dimension in clusters.dimensions if not dimension.is_joint]
    return min((int(np.count_nonzero(np.bincount(code))) for code in ways), default=len(clusters.run))


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
