"""Test for no difference where rows come in clusters, by flipping the signs of whole clusters (rule F1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import ndtri, stdtr

from verifyplan.analysis.cluster_intervals import Array, clustered_variance
from verifyplan.analysis.clusters import Clusters

MIN_CLUSTERS = 6
"""With fewer clusters the least p-value of a sign-flip, 2 / 2**clusters, is above 5 %."""

DRAWS = 2000
"""Random sign-flips, where all of them are too many, and draws of the largest of several t."""

_MAX_ENUMERATED = 13  # clusters that move
_MAX_FLIPPED = 1000
_MAX_STUDENTISED = 300


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

    Where rows come in clusters in several ways (claims that repeat over runs), A is the variance of S by all of them
    (Cameron, Gelbach and Miller 2011), and the signs of the way with the fewest clusters are flipped (MacKinnon,
    Nielsen and Webb 2021): exact where the other ways move nothing, else close to it (docs/statistics.md). With more
    than 1,000 clusters that move, 300 where there are several ways, each dimension has a t from `clustered_variance`,
    shown as the z that is as rare, and p is that of the largest of several with their correlation. The p-value is NaN
    with fewer than 6 clusters, which no difference could move below 5 %.

    >>> clustered_test(np.ones((9, 1)), Clusters(np.arange(9), np.arange(9)))
    ClusteredTest(method='exact sign-flip', statistic=3.0, p_value=0.00390625, clusters=9)
    """
    ways = [dimension.code for dimension in clusters.dimensions if not dimension.is_joint] or [np.arange(len(moves))]
    fewest = min(ways, key=lambda code: np.count_nonzero(np.bincount(code)))
    sums = _sums(moves, fewest)
    n_clusters, moving = len(sums), sums[sums.any(axis=1)]
    if not len(moving):
        return ClusteredTest("-", np.nan, np.nan, n_clusters)
    kept = moves.any(axis=0)
    if len(moving) > (_MAX_STUDENTISED if len(ways) > 1 else _MAX_FLIPPED):
        method, statistic, p_value = _largest_t(moves[:, kept], clusters, ways, seed, draws)
    elif len(ways) > 1:
        method, statistic, p_value = _studentised_flip(moves[:, kept], clusters, fewest, seed, draws)
    else:
        method, statistic, p_value = _sign_flip(moving[:, moving.any(axis=0)], seed, draws)
    return ClusteredTest(method, statistic, p_value if n_clusters >= MIN_CLUSTERS else np.nan, n_clusters)


def _sums(moves: Array, code: Array) -> Array:
    """Return the sums of moves over each cluster that has a row, of shape (clusters, dimensions)."""
    used = np.bincount(code) > 0
    return np.column_stack([np.bincount(code, each)[used] for each in moves.T])


def _sign_flip(sums: Array, seed: int, draws: int) -> tuple[str, float, float]:
    scaled = sums / np.sqrt((sums**2).sum(axis=0))
    signs, how_many = flipped_signs(len(sums), seed, draws)
    name = "sign-flip, " + how_many if how_many else "exact sign-flip"
    return name, *_first_of(np.abs(signs @ scaled).max(axis=1))


def _studentised_flip(moves: Array, clusters: Clusters, code: Array, seed: int, draws: int) -> tuple[str, float, float]:
    code = np.unique(code, return_inverse=True)[1]
    moving = np.flatnonzero(np.bincount(code, moves.any(axis=1)))
    signs, how_many = flipped_signs(len(moving), seed, draws)
    largest = np.zeros(len(signs))
    for each in moves.T.astype(np.float64):
        total = signs @ np.bincount(code, each)[moving]
        variance = _flipped_variance(each, clusters, code, moving, signs)
        score = np.where(total == 0, 0.0, np.inf)  # where all clusters move alike there is no variance
        np.divide(np.abs(total), np.sqrt(variance), out=score, where=variance > 1e-9 * len(each))
        largest = np.maximum(largest, score)
    return f"studentised sign-flip, {how_many or 'all ways'}", *_first_of(largest)


def _flipped_variance(moves: Array, clusters: Clusters, code: Array, moving: Array, signs: Array) -> Array:
    """Return the variance of the sum of moves by all dimensions, for each row of signs of some clusters of `code`.

    What a cluster of a dimension moves is linear in the signs, so that the sum of squares is a quadratic form.
    """
    mean = signs @ np.bincount(code, moves)[moving] / len(moves)
    alone, joint = np.zeros((1, len(signs))), np.zeros(len(signs))
    for term in clusters.dimensions:
        sizes = np.bincount(term.code)
        sums = csr_matrix((moves, (term.code, code)))[:, moving]
        squares = np.sum((signs @ (sums.T @ sums).toarray()) * signs, axis=1)
        centred = squares - 2 * mean * (signs @ (sums.T @ sizes)) + mean**2 * np.sum(sizes**2.0)
        n_clusters = np.count_nonzero(sizes)
        centred = np.maximum(centred, 0) * n_clusters / max(n_clusters - 1, 1)
        if term.is_joint:
            joint += term.sign * centred
        else:
            alone = np.vstack([alone, centred])
    return np.asarray(np.maximum(alone.sum(axis=0) + joint, alone.max(axis=0)))


def _first_of(statistics: Array) -> tuple[float, float]:
    """Return the first statistic, and the share of all that are as large."""
    return float(statistics[0]), float(np.mean(statistics >= statistics[0] * (1 - 1e-9)))


def flipped_signs(n: int, seed: int, draws: int) -> tuple[Array, str]:
    """Return rows of signs for n clusters, of 1 alone in the first, and how many were drawn; nothing if all are there.

    To flip all signs changes nothing, so that the first is fixed where all ways are listed.

    >>> flipped_signs(2, seed=0, draws=10)[0].tolist()
    [[1.0, 1.0], [-1.0, 1.0]]
    """
    if n <= _MAX_ENUMERATED:
        return 1.0 - 2.0 * (np.arange(2 ** (n - 1))[:, None] >> np.arange(n) & 1), ""
    signs = np.ones((1 + draws, n))
    np.multiply(np.random.default_rng(seed).integers(0, 2, size=(draws, n)), -2.0, out=signs[1:])
    signs[1:] += 1
    return signs, f"{draws:,} draws"


def _largest_t(
    moves: Array, clusters: Clusters, ways: Sequence[Array], seed: int, draws: int
) -> tuple[str, float, float]:
    total, residuals = moves.sum(axis=0), moves - moves.mean(axis=0)
    variances, degrees = zip(*(clustered_variance(each, clusters) for each in residuals.T), strict=True)
    by_way = [_sums(residuals, code) for code in ways]
    if min(variances) <= 1e-12 * len(moves):  # all clusters move alike: as sure as flips of the fewest can make it
        return "exact sign-flip", np.inf, 2.0 / 2.0 ** min(map(len, by_way))
    tails = stdtr(degrees, -np.abs(total) / np.sqrt(variances))
    if len(total) == 1:
        return "t", float(-ndtri(tails[0])), float(2 * tails[0])
    statistic = float(-ndtri(tails).min())  # each t as the z of its own degrees of freedom
    covariance = np.sum([sums.T @ sums for sums in by_way], axis=0)
    scales = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(scales, scales))
    normal = np.random.default_rng(seed).standard_normal((draws, len(total)))
    drawn = np.abs(normal @ (vectors * np.sqrt(np.maximum(values, 0))).T).max(axis=1)
    return f"largest t, {draws:,} draws", statistic, (1 + np.count_nonzero(drawn >= statistic)) / (1 + draws)
