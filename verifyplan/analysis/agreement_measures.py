"""Agreement beyond chance as functions of sums over units: alpha, AC1, Fleiss' and Cohen's kappa (rule F1).

A unit has counts of votes by label. Every measure is a function of sums over units, so that its value, and how much
each unit moves it, come from the same lines. Units with the same votes are one kind: arrays have a row a unit or a row
a kind, whose units the clusters count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL, AnyClusters, clustered_variance

Array = npt.NDArray[Any]

LEAST_ALPHA = 0.667
"""The least alpha of data from which tentative conclusions may be drawn (Krippendorff 2004)."""

_STEP = 1e-6


class Measured(NamedTuple):
    """A measure of agreement with its 95 % interval, and the units with two votes or more; NaN if not defined."""

    value: float
    low: float
    high: float
    n: int


class Sums(NamedTuple):
    """A measure as a function of sums over units: a row a unit, and the function of their sums."""

    units: Array
    measure: Callable[[Array], float]


def alpha(counts: Array) -> Sums:
    """Return Krippendorff's nominal alpha: 1 - observed / expected disagreement of pairs within units.

    Units with one vote are left out. Source: Krippendorff 2004, 2011.
    """
    paired, size = _paired(counts)
    differing = (size**2 - (paired**2).sum(axis=1)) / np.maximum(size - 1, 1)

    def measure(sums: Array) -> float:
        votes = sums[1:].sum()
        expected = (votes**2 - (sums[1:] ** 2).sum()) / max(votes - 1, 1)
        return 1 - sums[0] / expected if expected > 0 else np.nan

    return Sums(np.column_stack([differing, paired]), measure)


def ordinal_alpha(counts: Array) -> Sums:
    """Return Krippendorff's ordinal alpha: labels are in the order of columns, and far ones differ more.

    The squared distance of two labels is that of their mean ranks among all votes. Source: Krippendorff 2004, 2011.
    """
    paired, size = _paired(counts)
    first, second = np.triu_indices(counts.shape[1], k=1)
    pairs = paired[:, first] * paired[:, second] / np.maximum(size - 1, 1)[:, None]

    def measure(sums: Array) -> float:
        together, by_label = sums[: len(first)], sums[len(first) :]
        ranks = np.cumsum(by_label) - by_label / 2
        distance = (ranks[first] - ranks[second]) ** 2
        expected = (by_label[first] * by_label[second] * distance).sum() / max(by_label.sum() - 1, 1)
        return 1 - (together * distance).sum() / expected if expected > 0 else np.nan

    return Sums(np.column_stack([pairs, paired]), measure)


def fleiss_kappa(counts: Array) -> Sums:
    """Return Fleiss' kappa for any number of votes a unit: (observed - expected) / (1 - expected).

    Observed is the mean, over units with two votes or more, of the share of their pairs that agree; expected the sum
    of squares of p, with p the mean over all units of the shares of their labels. With equally many votes a unit it
    is that of Fleiss 1971. Source: Gwet 2014.
    """

    def expected(shares: Array) -> float:
        return float((shares**2).sum())

    return _chance_corrected(counts, expected)


def gwet_ac1(counts: Array) -> Sums:
    """Return Gwet's AC1: as Fleiss' kappa, but expected is the sum of p (1 - p) over the labels - 1 (Gwet 2008).

    The labels are those that a vote has.
    """
    labels = int((counts.sum(axis=0) > 0).sum())

    def expected(shares: Array) -> float:
        return float((shares * (1 - shares)).sum()) / (labels - 1) if labels > 1 else np.nan

    return _chance_corrected(counts, expected)


def measured(sums: Sums, clusters: AnyClusters, n: int) -> Measured:
    """Return a measure with its interval by clusters.

    The interval is that of the logarithm of disagreement relative to chance, 1 - value: linearised in the sums,
    with the variance and the degrees of freedom of `clustered_variance`. NaN where the measure is not defined, where
    no two votes differ, and where nothing varies between units.
    """
    total = (sums.units.T * clusters.weight).sum(axis=1)
    value = sums.measure(total)
    if not np.isfinite(value) or value >= 1 - 1e-12:
        return Measured(value, np.nan, np.nan, n)
    steps = np.diag(np.maximum(total, 1) * _STEP)
    slopes = np.array([sums.measure(total + step) - sums.measure(total - step) for step in steps])
    return with_interval(value, sums.units @ (slopes / (2 * np.diag(steps))), clusters, n)


def with_interval(value: float, residuals: Array, clusters: AnyClusters, n: int) -> Measured:
    """Return a measure with its interval, from how much each unit moves it, to first order."""
    units = float(np.sum(clusters.weight * np.ones(len(residuals))))
    if value >= 1 - 1e-12 or units < 2:
        return Measured(value, np.nan, np.nan, n)
    variance, freedom = clustered_variance(residuals, clusters)
    if variance <= 1e-12 / units**2:
        return Measured(value, np.nan, np.nan, n)
    factor = np.exp(stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(variance) / (1 - value))
    return Measured(value, float(max(-1.0, 1 - (1 - value) * factor)), float(1 - (1 - value) / factor), n)


def cohen_kappa(first: Array, second: Array, labels: int, clusters: AnyClusters) -> Measured:
    """Return Cohen's kappa of the labels of two workers on the same units (Cohen 1960), with its interval."""
    weight = clusters.weight * np.ones(len(first))
    n = int(weight.sum())
    by_first, by_second = (np.bincount(each, weight, minlength=labels) / n for each in (first, second))
    chance = float(by_first @ by_second)
    agreed = first == second
    observed = float(weight @ agreed) / n
    if chance >= 1 - 1e-12:
        return Measured(np.nan, np.nan, np.nan, n)
    value = (observed - chance) / (1 - chance)
    of_chance = by_second[first] + by_first[second] - 2 * chance
    residuals = ((agreed - observed) * (1 - chance) - (1 - observed) * of_chance) / (1 - chance) ** 2 / n
    return with_interval(value, residuals, clusters, n)


def units_needed(rarest: float) -> int:
    """Return how many units it takes to tell that alpha is 0.667 at least, at 5 %, for the rarest label's share.

    Source: Krippendorff 2004, by Bloch and Kraemer 1989, for two workers.

    >>> units_needed(0.25)
    81
    """
    spread = 4 * (1 - LEAST_ALPHA) * rarest * (1 - rarest)
    z = ndtri(0.95)
    return int(np.ceil(2 * z**2 * ((1 + LEAST_ALPHA) * (3 - LEAST_ALPHA) / spread - LEAST_ALPHA)))


def _paired(counts: Array) -> tuple[Array, Array]:
    """Return counts without those of units with one vote, and the votes of each unit."""
    counts = counts.astype(np.float64)
    paired = counts * (counts.sum(axis=1) >= 2)[:, None]
    return paired, paired.sum(axis=1)


def _chance_corrected(counts: Array, expected_of: Callable[[Array], float]) -> Sums:
    counts = counts.astype(np.float64)
    size = counts.sum(axis=1)
    pairs = size * (size - 1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / np.maximum(pairs, 1)
    shares = counts / np.maximum(size, 1)[:, None]

    def measure(sums: Array) -> float:
        paired, agreed, units = sums[:3]
        expected = expected_of(sums[3:] / units) if units else np.nan
        if not paired or not expected < 1 - 1e-12:
            return np.nan
        return float((agreed / paired - expected) / (1 - expected))

    return Sums(np.column_stack([pairs > 0, agreeing, size > 0, shares]), measure)
