"""Intervals of 95 % for shares and differences whose rows come in clusters: runs, claims, or both (rule F1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.intervals import LEVEL, Array

_MAX_WEIGHTS = 4_000_000  # held at once


class Interval(NamedTuple):
    """A figure with its 95 % interval; NaN where it is not defined."""

    value: float
    low: float
    high: float
    n: int
    """The denominator; of a difference the rows that both shares are taken of."""


def share_interval(part: Array, whole: Array, clusters: Clusters, *, level: float = LEVEL) -> Interval:
    """Return the share sum(part) / sum(whole) of rows, with Wilson's interval for the effective number of rows.

    `part` and `whole` have one entry a row, such as 1 where a worker is right and 1 where it voted. The effective
    number is that of independent rows with the same linearised variance, never more than there are; Student's t
    in place of the normal quantile accounts for few clusters. NaN where no row counts. Of several intervals that are
    to hold together each takes a higher `level`.
    """
    n = float(np.sum(whole))
    if n == 0:
        return Interval(np.nan, np.nan, np.nan, 0)
    value = float(np.sum(part)) / n
    variance, degrees = clustered_variance((part - value * whole) / n, clusters)
    independent = value * (1 - value) / n
    effective = n if variance <= independent else n * independent / variance
    z2 = float(student.ppf((1 + level) / 2, degrees)) ** 2
    centre = (value + z2 / (2 * effective)) / (1 + z2 / effective)
    half = np.sqrt(z2 * (value * (1 - value) / effective + z2 / (4 * effective**2))) / (1 + z2 / effective)
    return Interval(value, max(0.0, centre - half), min(1.0, centre + half), int(n))


def difference_interval(
    first_part: Array,
    first_whole: Array,
    second_part: Array,
    second_whole: Array,
    clusters: Clusters,
    *,
    level: float = LEVEL,
) -> Interval:
    """Return the second share minus the first, over the same rows, with a cluster-linearised t interval.

    NaN where a share is not defined.
    """
    n_first, n_second = float(np.sum(first_whole)), float(np.sum(second_whole))
    if n_first == 0 or n_second == 0:
        return Interval(np.nan, np.nan, np.nan, 0)
    first, second = float(np.sum(first_part)) / n_first, float(np.sum(second_part)) / n_second
    residuals = (second_part - second * second_whole) / n_second - (first_part - first * first_whole) / n_first
    variance, degrees = clustered_variance(residuals, clusters)
    half = float(student.ppf((1 + level) / 2, degrees)) * np.sqrt(variance)
    n = int(np.sum((np.asarray(first_whole) > 0) | (np.asarray(second_whole) > 0)))
    return Interval(second - first, second - first - half, second - first + half, n)


def clustered_variance(residuals: Array, clusters: Clusters) -> tuple[float, float]:
    """Return the variance of a sum of linearised residuals that come in clusters, and its degrees of freedom."""
    if clusters.n_runs < 2:
        return _one_way(residuals, clusters.claim)
    by_run = _one_way(residuals, clusters.run)
    if not clusters.repeated:
        return by_run
    by_claim = _one_way(residuals, clusters.claim)
    cell = _one_way(residuals, np.arange(len(residuals)))
    return max(by_run[0] + by_claim[0] - cell[0], by_run[0], by_claim[0]), min(by_run[1], by_claim[1])


def _one_way(residuals: Array, code: Array) -> tuple[float, float]:
    sums = np.bincount(code, weights=residuals)
    used = np.bincount(code) > 0
    n = int(used.sum())
    return float(np.sum(sums**2)) * n / max(n - 1, 1), max(n - 1, 1)


def resample_weights(clusters: Clusters, resamples: int, seed: int) -> Iterator[Array]:
    """Yield blocks of bootstrap weights of shape (resamples in the block, rows): how often each row is drawn.

    Runs are drawn whole; with one run, claims; where claims repeat over runs both are drawn, and a row's weight is
    the product (Owen 2007).
    """
    rng = np.random.default_rng(seed)
    rows = len(clusters.run)
    block = max(1, _MAX_WEIGHTS // max(rows, 1))
    drawn = ([clusters.run] if clusters.n_runs > 1 else []) + (
        [clusters.claim] if clusters.n_runs < 2 or clusters.repeated else []
    )
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        weights = np.ones((size, rows))
        for code in drawn:
            n = int(code.max(initial=-1)) + 1
            weights *= rng.multinomial(n, np.full(n, 1 / n), size=size)[:, code]
        yield weights
