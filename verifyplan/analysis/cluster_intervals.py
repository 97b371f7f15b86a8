"""Intervals of 95 %, of drawn values and of shares and differences whose rows come in clusters: runs, claims (rule F1).

docs/statistics.md has the formulas, and how often these intervals hold the truth in simulations.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from verifyplan.analysis.clusters import Clusters, Dimension
from verifyplan.analysis.kind_counts import KindCounts

Array = npt.NDArray[Any]

LEVEL = 0.95
"""The level of every interval."""

AnyClusters: TypeAlias = Clusters | KindCounts
"""The clusters of rows, or of rows that are counted by kind."""

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


class Difference(NamedTuple):
    """A difference of two shares; its interval and its test are of the same statistic, so that they never disagree."""

    value: float
    centre: float
    """The middle of the interval: the value, drawn to 0 by the rows that are added."""
    error: float
    """The standard error of the middle."""
    freedom: float
    """Its degrees of freedom; infinite where nothing was estimated by clusters."""
    n: int
    """The rows that both shares are taken of."""

    def interval(self, level: float = LEVEL) -> Interval:
        """Return the interval of Student's t."""
        half = float(stdtrit(self.freedom, (1 + level) / 2)) * self.error
        ends = (max(-1.0, self.centre - half), min(1.0, self.centre + half)) if self.n else (np.nan, np.nan)
        return Interval(self.value, *ends, self.n)

    @property
    def statistic(self) -> float:
        """The middle of the interval in standard errors."""
        return self.centre / self.error if self.n else np.nan

    @property
    def p_value(self) -> float:
        """The probability of a statistic as far from 0 without a difference; below 5 % where the interval leaves 0 out.

        >>> found = Difference(0.1, 0.1, 0.05, 9.0, 200)
        >>> round(found.p_value, 3), found.interval(1 - found.p_value).low < 1e-12
        (0.077, True)
        """
        return float(2 * stdtr(self.freedom, -abs(self.statistic)))


_NO_DIFFERENCE = Difference(np.nan, np.nan, np.nan, np.nan, 0)


class _ClusterShare(NamedTuple):
    """A share sum(part) / sum(whole) of rows."""

    part: Array
    whole: Array
    total: float
    value: float
    weight: Array | int
    """How many rows each entry is of."""

    def moved_by(self, term: Dimension, clusters: AnyClusters) -> Array:
        """Return how much each cluster of a dimension moves the share, to first order."""
        parts, wholes = (clusters.sums(term, values) for values in (self.part, self.whole))
        return np.asarray((parts - self.value * wholes) / self.total)

    def covariance(self, other: _ClusterShare) -> float:
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


def share_interval(part: Array, whole: Array, clusters: AnyClusters, *, level: float = LEVEL) -> Interval:
    """Return the share sum(part) / sum(whole) of rows, with Wilson's interval for the effective number of rows.

    `part` and `whole` have one entry a row, such as 1 where a worker is right and 1 where it voted; a ratio such as F1
    has other numbers. The effective number is that of independent rows with the same linearised variance; Student's
    t replaces the normal quantile where rows come in clusters. The interval has a width wherever there is a row. NaN
    where no row counts. Of several intervals that are to hold together each takes a higher `level`. Sources: Wilson
    1927, Korn and Graubard 1998, Cameron, Gelbach and Miller 2011.

    Where rows are of a few kinds, `part` and `whole` can have one entry a kind, and `clusters` count the kinds: the
    interval is the same.

    >>> run, claim = np.repeat(np.arange(12), 20), np.arange(240)
    >>> share_interval(claim % 10 == 0, claim >= 0, Clusters(run, claim))
    Interval(value=0.1, low=0.07..., high=0.13..., n=240)
    >>> from verifyplan.analysis.kind_counts import kind_counts
    >>> counts = kind_counts((claim % 10 == 0).astype(int), 2, Clusters(run, claim))
    >>> share_interval(np.array([0, 1]), np.array([1, 1]), counts)
    Interval(value=0.1, low=0.07..., high=0.13..., n=240)
    """
    share, _, design = _share_alone(part, whole, clusters)
    return Interval(np.nan, np.nan, np.nan, 0) if share.total == 0 else _wilson(share, design, level)


def _wilson(share: _ClusterShare, design: tuple[float, float], level: float) -> Interval:
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
    clusters: AnyClusters,
    *,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of `share_difference`, the second share minus the first."""
    return share_difference(first_part, first_whole, second_part, second_whole, clusters).interval(level)


def share_difference(
    first_part: Array, first_whole: Array, second_part: Array, second_whole: Array, clusters: AnyClusters
) -> Difference:
    """Return the second share minus the first, over the same rows or over others, with what its interval rests on.

    The variance is linearised and summed by cluster, so that pairs count as pairs. As in the interval of Bonett and
    Price (2012) for paired shares, one row of either kind of change is added to the effective number of rows: the
    interval has a width even where nothing changed. Swapped shares give the mirrored interval. NaN where a share is
    not defined. Entries are rows, or kinds that `clusters` count.

    >>> run, claim = np.repeat(np.arange(12), 20), np.arange(240)
    >>> found = share_difference(claim % 10 < 1, claim >= 0, claim % 10 < 2, claim >= 0, Clusters(run, claim))
    >>> round(found.value, 2), found.n
    (0.1, 240)
    """
    counted, (first, second) = _shares_of(clusters, (first_part, first_whole), (second_part, second_whole))
    if first.total == 0 or second.total == 0:
        return _NO_DIFFERENCE
    independent = first.covariance(first) + second.covariance(second) - 2 * first.covariance(second)
    n_rows = _rows(counted, clusters)

    def moved_by(term: Dimension) -> Array:
        return second.moved_by(term, clusters) - first.moved_by(term, clusters)

    design = _design_effect(_of_counted(moved_by, counted, clusters), independent, clusters, n_rows)
    return _with_added_pairs(first, second, independent, design, n_rows)


def unpaired_difference(
    first_part: Array,
    first_whole: Array,
    first_clusters: AnyClusters,
    second_part: Array,
    second_whole: Array,
    second_clusters: AnyClusters,
) -> Difference:
    """Return the second share minus the first, of two sets that have no cluster in common.

    The variance of each share is that by its own clusters; they are added, and the degrees of freedom are those of
    Welch (1947). Otherwise as `share_difference`, whose interval it has where each row is its own cluster.

    >>> rows = np.arange(40)
    >>> alone = Clusters(rows * 0, rows)
    >>> found = unpaired_difference(rows < 10, rows >= 0, alone, rows < 20, rows >= 0, alone).interval()
    >>> [round(end, 2) for end in found[:3]]
    [0.25, 0.03, 0.44]
    """
    first, of_first, (first_effect, first_freedom) = _share_alone(first_part, first_whole, first_clusters)
    second, of_second, (second_effect, second_freedom) = _share_alone(second_part, second_whole, second_clusters)
    if first.total == 0 or second.total == 0:
        return _NO_DIFFERENCE
    independent = of_first + of_second
    variances = np.array([of_first * first_effect, of_second * second_effect])
    if independent <= 0:  # all rows of each set agree
        variances = np.array([first_effect, second_effect]) / 2
    effect = float(variances.sum()) / (independent if independent > 0 else 1.0)
    uncertain = float(np.sum(variances**2 / [first_freedom, second_freedom]))
    design = effect, float(variances.sum() ** 2 / uncertain) if uncertain else np.inf
    n_rows = sum(
        _rows(whole > 0, each) for whole, each in ((first_whole, first_clusters), (second_whole, second_clusters))
    )
    return _with_added_pairs(first, second, independent, design, n_rows)


def _share_alone(part: Array, whole: Array, clusters: AnyClusters) -> tuple[_ClusterShare, float, tuple[float, float]]:
    """Return a share, its variance if rows were independent, and its design effect."""
    counted, (share,) = _shares_of(clusters, (part, whole))
    if share.total == 0:
        return share, 0.0, (1.0, np.inf)
    moved_by = _of_counted(lambda term: share.moved_by(term, clusters), counted, clusters)
    independent = share.covariance(share)
    return share, independent, _design_effect(moved_by, independent, clusters, _rows(counted, clusters))


def _with_added_pairs(
    first: _ClusterShare, second: _ClusterShare, independent: float, design: tuple[float, float], n_rows: int
) -> Difference:
    """Return a difference as if one effective row of either kind of change had been seen, too."""
    effect, freedom = design
    difference = second.value - first.value
    rows = 2 / (1 / first.rows + 1 / second.rows)
    effective = rows / effect
    moved = (max(independent, 0.0) * rows + difference**2) * effective / (effective + 2) + 2 / (effective + 2)
    centre = difference * effective / (effective + 2)
    return Difference(difference, centre, float(np.sqrt((moved - centre**2) / (effective + 2))), freedom, n_rows)


def clustered_variance(residuals: Array, clusters: AnyClusters) -> tuple[float, float]:
    """Return the variance of a sum of linearised residuals that come in clusters, and its degrees of freedom.

    Residuals have one entry a row, or one a kind that `clusters` count.
    """
    every = np.ones(len(residuals), dtype=bool)
    rows, independent = _rows(every, clusters), float(np.sum(clusters.weight * residuals**2))
    moved_by = _of_counted(lambda term: clusters.sums(term, residuals), every, clusters)
    effect, freedom = _design_effect(moved_by, independent, clusters, rows)
    if np.isinf(freedom):
        return independent * rows / max(rows - 1, 1), max(rows - 1.0, 1.0)
    return independent * effect, freedom


def _shares_of(clusters: AnyClusters, *pairs: tuple[Array, Array]) -> tuple[Array, list[_ClusterShare]]:
    """Return which entries count for any of some shares, and the shares over these."""
    weight = clusters.weight
    columns = [(np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)) for part, whole in pairs]
    counted = np.any([whole > 0 for _, whole in columns], axis=0)
    shares = []
    for part, whole in columns:
        total, value = float(np.sum(weight * whole)), float(np.sum(weight * part))
        if not counted.all():
            part, whole = part * counted, whole * counted
        shares.append(_ClusterShare(part, whole, total, value / total if total else np.nan, weight))
    return counted, shares


def _rows(counted: Array, clusters: AnyClusters) -> int:
    """Return of how many rows the entries are that count."""
    return int(np.sum(clusters.weight * counted))


MovedBy = Callable[[Dimension], Array]
"""Says how much each cluster of a dimension moves a figure, to first order; of the clusters with a row that counts."""


def _of_counted(moved_by: MovedBy, counted: Array, clusters: AnyClusters) -> MovedBy:
    """Return what each cluster moves, of those alone that have a row that counts."""
    return lambda term: moved_by(term)[clusters.sums(term, counted) > 0]


def _design_effect(moved_by: MovedBy, independent: float, clusters: AnyClusters, n_rows: int) -> tuple[float, float]:
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


def interval(values: Array) -> tuple[float, float]:
    """Return the middle 95 % of drawn values; draws in which the figure is undefined are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all-NaN: the interval is NaN, as it should be
        low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)
