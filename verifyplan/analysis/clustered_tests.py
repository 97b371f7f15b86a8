"""Test for no difference where rows come in clusters: signs flipped by cluster, or t where both ways vary (rule F1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from verifyplan.analysis.cluster_intervals import clustered_variance
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.intervals import Array

MIN_CLUSTERS = 6
"""With fewer clusters the least p-value of a sign-flip, 2 / 2**clusters, is above 5 %."""

DRAWS = 2000
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

    Where rows come in clusters in several ways (claims that repeat over runs), and with more than 1,000 clusters that
    move, each dimension has a t from `clustered_variance`, shown as the z that is as rare, and p is that of the
    largest of several with their correlation. The p-value is NaN with fewer than 6 clusters, which no difference could
    move below 5 %.

    >>> clustered_test(np.ones((9, 1)), Clusters(np.arange(9), np.arange(9)))
    ClusteredTest(method='exact sign-flip', statistic=3.0, p_value=0.00390625, clusters=9)
    """
    ways = [dimension.code for dimension in clusters.dimensions if not dimension.is_joint] or [np.arange(len(moves))]
    sums = [_sums(moves, code) for code in ways]
    n_clusters = min(map(len, sums))
    moving = sums[0][sums[0].any(axis=1)]
    if not len(moving):
        return ClusteredTest("-", np.nan, np.nan, n_clusters)
    kept = moves.any(axis=0)
    if len(ways) > 1 or len(moving) > _MAX_FLIPPED:
        method, statistic, p_value = _largest_t(moves[:, kept], clusters, ways, seed, draws)
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


def _largest_t(
    moves: Array, clusters: Clusters, ways: Sequence[Array], seed: int, draws: int
) -> tuple[str, float, float]:
    total, residuals = moves.sum(axis=0), moves - moves.mean(axis=0)
    variances, degrees = zip(*(clustered_variance(each, clusters) for each in residuals.T), strict=True)
    by_way = [_sums(residuals, code) for code in ways]
    if min(variances) <= 1e-12 * len(moves):  # all clusters move alike: as sure as flips of the fewest can make it
        return "exact sign-flip", np.inf, 2.0 / 2.0 ** min(map(len, by_way))
    tails = student.sf(np.abs(total) / np.sqrt(variances), degrees)
    if len(total) == 1:
        return "t", float(norm.isf(tails[0])), float(2 * tails[0])
    statistic = float(norm.isf(tails).max())  # each t as the z of its own degrees of freedom
    covariance = np.sum([sums.T @ sums for sums in by_way], axis=0)
    scales = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(scales, scales))
    normal = np.random.default_rng(seed).standard_normal((draws, len(total)))
    drawn = np.abs(normal @ (vectors * np.sqrt(np.maximum(values, 0))).T).max(axis=1)
    return f"largest t, {draws:,} draws", statistic, (1 + np.count_nonzero(drawn >= statistic)) / (1 + draws)
