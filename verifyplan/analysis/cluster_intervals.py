"""Intervals of 95 % for shares and differences whose rows come in clusters: runs, claims, or both (rule F1).

docs/statistics.md has the formulas, and how often these intervals hold the truth in simulations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from verifyplan.analysis.clusters import Clusters, Dimension
from verifyplan.analysis.intervals import LEVEL, Array

PRIOR_EFFECT = 2.0
"""The design effect that is assumed before clusters are seen ..."""

PRIOR_DEGREES = 0.5
"""... with so many degrees of freedom: two or three runs alone do not say how much runs differ."""

MIN_EFFECT = 0.5
"""A design effect below this is taken for chance."""


class Interval(NamedTuple):
    """A figure with its 95 % interval; NaN where it is not defined."""

    value: float
    low: float
    high: float
    n: int
    """The denominator; of a difference the rows that both shares are taken of."""


class _Share(NamedTuple):
    """A share sum(part) / sum(whole) of rows."""

    part: Array
    whole: Array
    total: float
    value: float
    weight: Array | int = 1
    """How many rows each entry is of."""

    def residuals(self, code: Array) -> Array:
        """Return how much each cluster moves the share, to first order."""
        return (np.bincount(code, self.part) - self.value * np.bincount(code, self.whole)) / self.total

    def covariance(self, other: _Share) -> float:
        """Return the covariance of two shares, or the variance of one with itself, if rows were independent.

        The sums are of products, so that it is exact for counts, and 0 where there is none.
        """
        a, b = self.value, other.value
        n = self.weight
        parts, wholes = np.sum(n * self.part * other.part), np.sum(n * self.whole * other.whole)
        mixed = b * np.sum(n * self.part * other.whole) + a * np.sum(n * self.whole * other.part)
        return float(parts - mixed + a * b * wholes) / (self.total * other.total)

    @property
    def rows(self) -> float:
        """The number of equal rows that would be as sure (Kish 1965); the number of rows where these count the same."""
        return self.total**2 / float(np.sum(self.weight * self.whole**2))


def share_interval(part: Array, whole: Array, clusters: Clusters, *, level: float = LEVEL) -> Interval:
    """Return the share sum(part) / sum(whole) of rows, with Wilson's interval for the effective number of rows.

    `part` and `whole` have one entry a row, such as 1 where a worker is right and 1 where it voted; a ratio such as F1
    has other numbers. The effective number is that of independent rows with the same linearised variance; Student's
    t replaces the normal quantile where rows come in clusters. The interval has a width wherever there is a row. NaN
    where no row counts. Of several intervals that are to hold together each takes a higher `level`. Sources: Wilson
    1927, Korn and Graubard 1998, Cameron, Gelbach and Miller 2011.

    >>> run, claim = np.repeat(np.arange(12), 20), np.arange(240)
    >>> share_interval(claim % 10 == 0, claim >= 0, Clusters(run, claim))
    Interval(value=0.1, low=0.07..., high=0.13..., n=240)
    """
    counted, (share,) = _shares_of((part, whole))
    if share.total == 0:
        return Interval(np.nan, np.nan, np.nan, 0)
    moved_by = _of_rows(share.residuals, counted)
    return _wilson(share, _design_effect(moved_by, share.covariance(share), clusters, int(counted.sum())), level)


def share_interval_of_kinds(
    part: Array,
    whole: Array,
    counts: Sequence[Array],
    clusters: Clusters,
    *,
    level: float = LEVEL,
) -> Interval:
    """Return what `share_interval` does for rows of a few kinds, that are counted by cluster.

    Many shares of the same rows, as those of many rules, are so taken in one pass each.

    Args:
        part: what a row of each kind adds to the numerator.
        whole: what it adds to the denominator.
        counts: the rows by cluster and kind, of shape (clusters, kinds), for each of `clusters.dimensions`; without
            dimensions, the rows by kind, of shape (1, kinds).
        clusters: the clusters of all rows.
        level: how often such an interval holds the truth.

    >>> run, claim = np.repeat(np.arange(12), 20), np.arange(240)
    >>> right = claim % 10 == 0
    >>> counts = np.bincount(run * 2 + right).reshape(12, 2)
    >>> share_interval_of_kinds(np.array([0, 1]), np.array([1, 1]), [counts], Clusters(run, claim))
    Interval(value=0.1, low=0.07..., high=0.13..., n=240)
    """
    kinds = whole > 0
    by_cluster = [each[:, kinds] for each in counts]
    weight = by_cluster[0].sum(axis=0)
    total = float(weight @ whole[kinds])
    if total == 0:
        return Interval(np.nan, np.nan, np.nan, 0)
    share = _Share(part[kinds], whole[kinds], total, float(weight @ part[kinds]) / total, weight)
    moves = dict(zip(map(id, clusters.dimensions), by_cluster, strict=False))

    def moved_by(term: Dimension) -> Array:
        rows = moves[id(term)]
        moved = (rows @ share.part - share.value * (rows @ share.whole)) / total
        return np.asarray(moved[rows.any(axis=1)])

    return _wilson(share, _design_effect(moved_by, share.covariance(share), clusters, int(weight.sum())), level)


def _wilson(share: _Share, design: tuple[float, float], level: float) -> Interval:
    """Return Wilson's interval of a share, for a design effect and its degrees of freedom."""
    effect, freedom = design
    independent = share.covariance(share)
    quantile = float(stdtrit(freedom, (1 + level) / 2))
    spread = share.value * (1 - share.value)
    effective = (spread / independent if independent > _noise(share.rows) else share.rows) / effect
    z2 = quantile**2
    centre = (share.value + z2 / (2 * effective)) / (1 + z2 / effective)
    half = np.sqrt(z2 * (spread / effective + z2 / (4 * effective**2))) / (1 + z2 / effective)
    low, high = max(0.0, min(centre - half, share.value)), min(1.0, max(centre + half, share.value))
    return Interval(share.value, float(low), float(high), int(share.total))


def difference_interval(
    first_part: Array,
    first_whole: Array,
    second_part: Array,
    second_whole: Array,
    clusters: Clusters,
    *,
    level: float = LEVEL,
) -> Interval:
    """Return the second share minus the first, over the same rows or over others, with its interval.

    The variance is linearised and summed by cluster, so that pairs count as pairs. As in the interval of Bonett and
    Price (2012) for paired shares, one row of either kind of change is added to the effective number of rows: the
    interval has a width even where nothing changed. Swapped shares give the mirrored interval. NaN where a share is
    not defined.
    """
    counted, (first, second) = _shares_of((first_part, first_whole), (second_part, second_whole))
    if first.total == 0 or second.total == 0:
        return Interval(np.nan, np.nan, np.nan, 0)
    difference = second.value - first.value
    independent = first.covariance(first) + second.covariance(second) - 2 * first.covariance(second)

    def moved_by(code: Array) -> Array:
        return second.residuals(code) - first.residuals(code)

    effect, freedom = _design_effect(_of_rows(moved_by, counted), independent, clusters, int(counted.sum()))
    rows = 2 / (1 / first.rows + 1 / second.rows)
    effective = rows / effect
    moved = (max(independent, 0.0) * rows + difference**2) * effective / (effective + 2) + 2 / (effective + 2)
    centre = difference * effective / (effective + 2)
    half = float(stdtrit(freedom, (1 + level) / 2) * np.sqrt((moved - centre**2) / (effective + 2)))
    return Interval(difference, max(-1.0, centre - half), min(1.0, centre + half), int(counted.sum()))


def clustered_variance(residuals: Array, clusters: Clusters) -> tuple[float, float]:
    """Return the variance of a sum of linearised residuals that come in clusters, and its degrees of freedom."""
    rows, independent = len(residuals), float(residuals @ residuals)

    def moved_by(code: Array) -> Array:
        return np.bincount(code, residuals)

    every = np.ones(rows, dtype=bool)
    effect, freedom = _design_effect(_of_rows(moved_by, every), independent, clusters, rows)
    if np.isinf(freedom):
        return independent * rows / max(rows - 1, 1), max(rows - 1.0, 1.0)
    return independent * effect, freedom


def _shares_of(*pairs: tuple[Array, Array]) -> tuple[Array, list[_Share]]:
    """Return which rows count for any of some shares, and the shares over these."""
    columns = [(np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)) for part, whole in pairs]
    counted = np.any([whole > 0 for _, whole in columns], axis=0)
    shares = []
    for part, whole in columns:
        total = float(whole.sum())
        shares.append(_Share(part[counted], whole[counted], total, float(part.sum()) / total if total else np.nan))
    return counted, shares


MovedBy = Callable[[Dimension], Array]
"""Says how much each cluster of a dimension moves a figure, to first order; of the clusters with a row that counts."""


def _of_rows(residuals: Callable[[Array], Array], counted: Array) -> MovedBy:
    """Return how much the clusters of a dimension move a figure, from a function of the codes of the counted rows."""

    def moved_by(term: Dimension) -> Array:
        code = term.code[counted]
        return residuals(code)[np.bincount(code) > 0]

    return moved_by


def _design_effect(moved_by: MovedBy, independent: float, clusters: Clusters, n_rows: int) -> tuple[float, float]:
    """Return how many times the variance is that of independent rows, and its degrees of freedom (Satterthwaite's)."""
    effects, sizes, degrees, joint, alone = [], [], [], 0.0, 1.0
    for term in clusters.dimensions:
        effect, freedom, n_clusters = _effect_of(term, moved_by(term), independent, n_rows)
        if n_clusters < 2:
            alone = float(n_rows) if term.is_claim and clusters.n_runs < 2 else alone  # all rows are as one
        elif term.is_joint:
            joint += term.sign * effect
        else:
            effects.append(max(effect, MIN_EFFECT))
            sizes.append(n_clusters - 1)
            degrees.append(min(freedom, n_clusters - 1))
    if not effects:
        return alone, np.inf
    effect = max(sum(effects) + joint, *effects)
    nominal, freedom = (effect**2 / float(np.sum(np.square(effects) / each)) for each in (sizes, degrees))
    moderated = (PRIOR_DEGREES * PRIOR_EFFECT + nominal * effect) / (PRIOR_DEGREES + nominal)
    return moderated, PRIOR_DEGREES + freedom


def _effect_of(term: Dimension, moved: Array, independent: float, n_rows: int) -> tuple[float, float, int]:
    """Return the design effect of one dimension, the degrees of freedom that its kurtosis leaves, and its clusters.

    Where few clusters hold most of the variance, only these count. Where all rows agree, rows of one claim are one.
    """
    n_clusters = len(moved)
    if independent <= _noise(n_rows):
        return (n_rows / n_clusters if term.is_claim else 1.0), np.inf, n_clusters
    squares = np.sort(moved**2)
    total, fourth = float(squares.sum()), float(np.sum(squares**2))
    uneven = fourth - total**2 / n_clusters
    freedom = 2 * total**2 / uneven if uneven > 1e-9 * fourth else np.inf
    return total * n_clusters / max(n_clusters - 1, 1) / independent, freedom, n_clusters


def _noise(rows: float) -> float:
    """Return a variance that is smaller than that of a share of so many rows, one of which differs."""
    return 1e-6 / rows**2
