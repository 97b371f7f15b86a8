"""Test for no difference where rows come in clusters: signs flipped by cluster, or t where both ways vary (rule F1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from verifyplan.analysis.cluster_intervals import clustered_variance
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.intervals import Array

MIN_CLUSTERS = 6
"""With fewer clusters the least p-value of a sign-flip, 2 / 2**clusters, is above 5 %."""

DRAWS = 4999
"""Random sign-flips, where all of them are too many, and draws of the largest of several t."""

_MAX_ENUMERATED = 13  # clusters that move
_MAX_FLIPPED = 1000


class ClusteredTest(NamedTuple):
    """A test of no difference by clusters; NaN where nothing moves, and a NaN p-value where clusters are too few."""

    method: str
    statistic: float
    p_value: float
    clusters: int


def clustered_test(moves: Array, clusters: Clusters, seed: int = 0, draws: int = DRAWS) -> ClusteredTest:
    """Test whether `moves`, of shape (rows, dimensions), sum to zero in every dimension but for chance by cluster.

    The statistic is the largest over the dimensions of |S| / sqrt(A), with S the sum of the moves and A the sum of
    the squares of their sums by cluster; of a single dimension the root of the modified Obuchowski test (Yang, Sun and
    Hardin 2010), which is that of Durkalski et al. (2003) for clusters of equal size. Its p-value comes from
    flipping the signs of whole clusters: all ways with up to 13 clusters that move, else `draws` random ways, the
    observed counted among them (Phipson and Smyth 2010). It is exact where either condition could have had either
    result.

    Where claims repeat over runs, and with more than 1,000 clusters that move, each dimension has a t from
    `clustered_variance`, and p is that of the largest of several t with their correlation.

    >>> clustered_test(np.ones((9, 1)), Clusters(np.arange(9), np.arange(9)))
    ClusteredTest(method='exact sign-flip', statistic=3.0, p_value=0.00390625, clusters=9)
    """
    both_ways = clusters.n_runs > 1 and clusters.repeated
    sums = _sums(moves, clusters.claim if clusters.n_runs < 2 else clusters.run)
    n_clusters = min(len(sums), len(np.unique(clusters.claim))) if both_ways else len(sums)
    moving = sums[sums.any(axis=1)]
    if not len(moving):
        return ClusteredTest("-", np.nan, np.nan, n_clusters)
    if both_ways or len(moving) > _MAX_FLIPPED:
        method, statistic, p_value = _largest_t(moves[:, moves.any(axis=0)], clusters, n_clusters, seed, draws)
    else:
        method, statistic, p_value = _sign_flip(moving[:, moving.any(axis=0)], seed, draws)
    return ClusteredTest(method, statistic, p_value if n_clusters >= MIN_CLUSTERS else np.nan, n_clusters)


def _sums(moves: Array, code: Array) -> Array:
    """Return the sums of moves over each cluster that has a row, of shape (clusters, dimensions)."""
    used, compact = np.unique(code, return_inverse=True)
    columns = [np.bincount(compact, each, minlength=len(used)) for each in moves.T.astype(np.float64)]
    return np.column_stack(columns)


def _sign_flip(sums: Array, seed: int, draws: int) -> tuple[str, float, float]:
    scaled = sums / np.sqrt((sums**2).sum(axis=0))
    statistic = float(np.abs(scaled.sum(axis=0)).max())
    exact = len(sums) <= _MAX_ENUMERATED
    if exact:  # the first sign is fixed: to flip all changes nothing
        negative = np.arange(2 ** (len(sums) - 1))[:, None] >> np.arange(len(sums)) & 1
    else:
        negative = np.random.default_rng(seed).integers(0, 2, size=(draws, len(sums)))
    flipped = np.abs((1.0 - 2.0 * negative) @ scaled).max(axis=1)
    as_far = int(np.count_nonzero(flipped >= statistic * (1 - 1e-9)))
    if exact:
        return "exact sign-flip", statistic, as_far / len(negative)
    return f"sign-flip, {draws:,} draws", statistic, (1 + as_far) / (1 + draws)


def _largest_t(moves: Array, clusters: Clusters, n_clusters: int, seed: int, draws: int) -> tuple[str, float, float]:
    total, residuals = moves.sum(axis=0), moves - moves.mean(axis=0)
    variances, degrees = zip(*(clustered_variance(each, clusters) for each in residuals.T), strict=True)
    if min(variances) <= 1e-12 * len(moves):  # all clusters move alike: as sure as flips of the fewer can make it
        return "exact sign-flip", np.inf, 2.0 / 2.0**n_clusters
    df = min(degrees)
    statistic = float((np.abs(total) / np.sqrt(variances)).max())
    if len(total) == 1:
        return "t", statistic, float(2 * student.sf(statistic, df))
    rng = np.random.default_rng(seed)
    by_run, by_claim = _sums(residuals, clusters.run), _sums(residuals, clusters.claim)
    covariance = by_run.T @ by_run + by_claim.T @ by_claim
    scales = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(scales, scales))
    roots = vectors * np.sqrt(np.maximum(values, 0))
    drawn = np.abs(rng.standard_normal((draws, len(total))) @ roots.T).max(axis=1)
    as_far = int(np.count_nonzero(drawn / np.sqrt(rng.chisquare(df, draws) / df) >= statistic))
    return f"largest t, {draws:,} draws", statistic, (1 + as_far) / (1 + draws)
