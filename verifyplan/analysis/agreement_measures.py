"""Agreement beyond chance as functions of sums over units: alpha, AC1, Fleiss' and Cohen's kappa (rule F1).

A unit has counts of votes by label, of two votes or more. Every measure is a function of sums over units, so that its
value, and how much each unit moves it, come from the same lines. Units with the same votes are one kind: arrays have a
row a unit or a row a kind, whose units the clusters count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL, AnyClusters, clustered_variance
from verifyplan.analysis.one_more_claim import variance_of_one_more

Array = npt.NDArray[Any]

LEAST_ALPHA = 0.667
"""The least alpha of data from which tentative conclusions may be drawn (Krippendorff 2004)."""

MAX_LOG = 100.0
"""Disagreement differs by no larger factor than e to this, which keeps it a number."""

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
    alike: Array
    """A row for each label that a vote has: a unit on which all votes, as many as a unit has on average, say it."""
    measure: Callable[[Array], float]


def alpha(counts: Array) -> Sums:
    """Return Krippendorff's nominal alpha: 1 - observed / expected disagreement of pairs within units.

    Source: Krippendorff 2004, 2011.
    """

    def units(counts: Array) -> Array:
        size = counts.sum(axis=1)
        return np.column_stack([(size**2 - (counts**2).sum(axis=1)) / (size - 1), counts])

    def measure(sums: Array) -> float:
        votes = sums[1:].sum()
        expected = (votes**2 - (sums[1:] ** 2).sum()) / max(votes - 1, 1)
        return 1 - sums[0] / expected if expected > 0 else np.nan

    return Sums(units(counts), units(_alike(counts)), measure)


def ordinal_alpha(counts: Array) -> Sums:
    """Return Krippendorff's ordinal alpha: labels are in the order of columns, and far ones differ more.

    The squared distance of two labels is that of their mean ranks among all votes. Source: Krippendorff 2004, 2011.
    """
    first, second = np.triu_indices(counts.shape[1], k=1)

    def units(counts: Array) -> Array:
        pairs = counts[:, first] * counts[:, second] / (counts.sum(axis=1) - 1)[:, None]
        return np.column_stack([pairs, counts])

    def measure(sums: Array) -> float:
        together, by_label = sums[: len(first)], sums[len(first) :]
        ranks = np.cumsum(by_label) - by_label / 2
        distance = (ranks[first] - ranks[second]) ** 2
        expected = (by_label[first] * by_label[second] * distance).sum() / max(by_label.sum() - 1, 1)
        return 1 - (together * distance).sum() / expected if expected > 0 else np.nan

    return Sums(units(counts), units(_alike(counts)), measure)


def fleiss_kappa(counts: Array) -> Sums:
    """Return Fleiss' kappa for any number of votes a unit: (observed - expected) / (1 - expected).

    Observed is the mean over units of the share of their pairs of votes that agree; expected the sum of squares of p,
    with p the mean over the same units of the shares of their labels. With equally many votes a unit it is that of
    Fleiss 1971. Gwet 2014 takes p over units with one vote, too: then chance and agreement are those of different
    units, and the value can be any number below 1.
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
    slopes /= 2 * np.diag(steps)
    return with_interval(value, sums.units @ slopes, sums.alike @ slopes, clusters, n)


def with_interval(value: float, residuals: Array, alike: Array, clusters: AnyClusters, n: int) -> Measured:
    """Return a measure with its interval, from how much each unit moves it, to first order.

    `alike` is how much one more unit would, on which all votes are one label, for each label. With few units it may be
    by chance that none has all its votes on a rare label: the upper end allows for one more.
    """
    units = float(np.sum(clusters.weight * np.ones(len(residuals))))
    if value >= 1 - 1e-12 or units < 2:
        return Measured(value, np.nan, np.nan, n)
    variance, freedom = clustered_variance(residuals, clusters)
    if variance <= 1e-12 / units**2:
        return Measured(value, np.nan, np.nan, n)
    more = variance_of_one_more(float(np.abs(alike).max()), len(residuals), clusters)
    quantile = stdtrit(freedom, (1 + LEVEL) / 2)
    low, high = np.minimum(quantile * np.sqrt([variance, variance + more]) / (1 - value), MAX_LOG)
    return Measured(value, float(max(-1.0, 1 - (1 - value) * np.exp(low))), float(1 - (1 - value) / np.exp(high)), n)


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
    label = np.flatnonzero(by_first + by_second)

    def moved(agreed: Array, first: Array, second: Array) -> Array:
        of_chance = by_second[first] + by_first[second] - 2 * chance
        return np.asarray(((agreed - observed) * (1 - chance) - (1 - observed) * of_chance) / (1 - chance) ** 2 / n)

    return with_interval(value, moved(agreed, first, second), moved(np.ones(len(label)), label, label), clusters, n)


def units_needed(rarest: float) -> int:
    """Return how many units it takes to tell that alpha is 0.667 at least, at 5 %, for the rarest label's share.

    Source: Krippendorff 2004, by Bloch and Kraemer 1989, for two workers.

    >>> units_needed(0.25)
    81
    """
    spread = 4 * (1 - LEAST_ALPHA) * rarest * (1 - rarest)
    z = ndtri(0.95)
    return int(np.ceil(2 * z**2 * ((1 + LEAST_ALPHA) * (3 - LEAST_ALPHA) / spread - LEAST_ALPHA)))


def _alike(counts: Array) -> Array:
    """Return units on which all votes say the same, one for each label that a vote has, of the mean number of votes."""
    size = counts.sum() / max(len(counts), 1)
    return np.asarray(size * np.eye(counts.shape[1])[counts.any(axis=0)])


def _chance_corrected(counts: Array, expected_of: Callable[[Array], float]) -> Sums:
    def units(counts: Array) -> Array:
        size = counts.sum(axis=1)
        agreeing = (counts * (counts - 1)).sum(axis=1) / (size * (size - 1))
        return np.column_stack([np.ones(len(counts)), agreeing, counts / size[:, None]])

    def measure(sums: Array) -> float:
        units, agreed = sums[:2]
        expected = expected_of(sums[2:] / units) if units else np.nan
        return float((agreed / units - expected) / (1 - expected)) if expected < 1 - 1e-12 else np.nan

    return Sums(units(counts), units(_alike(counts)), measure)
