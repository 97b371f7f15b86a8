"""How far the judges of a panel err together, and how many independent votes they are worth (rule F3a)."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL, Interval, clustered_variance
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.panel_answers import Bools, Floats, Ints, PanelAnswers, n_items

Correlation: TypeAlias = Literal["within-truth", "plain", "pooled"]
"""How errors are correlated: within classes of truth, over all items, or over all pairs of votes on one item."""

MIN_COMMON_ITEMS = 10
"""Pairs of judges with fewer items in common than this have no correlation; an item of several runs counts once."""
MAX_CONSTANT_SHARE = 0.5
"""Where this share of the pairs or more have a judge whose errors never vary, the others do not represent them."""
MAX_VOTES_PER_JUDGE = 10
"""Errors that would make a judge worth more votes than this exclude each other completely."""


class ErrorCorrelation(NamedTuple):
    """The mean correlation of errors, and what it rests on."""

    mean: float
    """The mean over pairs of judges, or over pairs of votes; NaN where none has one, or half have constant errors."""
    residuals: Floats
    """What each unit adds to the mean's error, to the first order; the sum is 0."""
    by_votes: bool
    """Whether pairs of votes on one item take the place of pairs of judges."""
    n_votes: float
    """The votes that an item has: the number of judges; where few judges see each item, the mean number of votes."""
    pairs: Floats
    """The correlation of each pair of judges, of shape (judges, judges); NaN where there is none."""
    n_common: Ints
    """The number of items that both judges of a pair answered; one of two runs counts twice."""
    constant: Bools
    """Whether the errors of a judge (row) never vary, within a class, on the items that another (column) answered."""
    joint_errors: float
    """The mean number of items on which two judges both err; one of two runs counts once."""

    @property
    def n_constant(self) -> int:
        """The number of pairs that have no correlation because the errors of a judge never vary."""
        return int(np.triu(self.constant | self.constant.T, k=1).sum())

    @property
    def exclusive(self) -> bool:
        """Whether errors exclude each other so far that no number of votes can be said."""
        return bool(np.isfinite(self.mean) and np.isnan(effective_votes(self.n_votes, self.mean)))


def error_correlation(answers: PanelAnswers, correlation: Correlation) -> ErrorCorrelation:
    """Return how far errors go together: Pearson's correlation of being wrong (0 or 1) of pairs of judges.

    `within-truth` centres the errors of each judge within classes of truth, over the items that both judges answered:
    what the truth explains is not counted as erring together. `plain` does not. Pairs with fewer than 10 common items,
    or with a judge who never varies there, are left out; where half or more of those with enough items have such a
    judge, the mean is NaN, as few pairs would represent all. Where the judges are not crossed, and with `pooled`,
    pairs of votes on the same item take the place of pairs of judges.
    """
    classes = answers.truth_class if correlation == "within-truth" else np.zeros(len(answers.answer), dtype=np.int64)
    errors = (answers.voted & ~answers.correct).astype(np.float64)
    voted = answers.voted.astype(np.float64)
    claim = answers.clusters.claim
    enough = _items_of_pairs(voted, claim) >= MIN_COMMON_ITEMS
    pairs, residuals, constant = _by_judges(errors, voted, classes, enough)
    upper = np.triu_indices(len(pairs), k=1)
    together = float(_items_of_pairs(errors, claim)[upper].mean())
    mean, n_votes = np.nan, float(len(answers.workers))
    by_votes = correlation == "pooled" or not answers.crossed
    if by_votes:
        mean, residuals = _by_votes(errors, voted, classes)
        n_votes = float(voted.sum(axis=1)[voted.sum(axis=1) > 1].mean()) if (voted.sum(axis=1) > 1).any() else 1.0
    elif (constant | constant.T)[upper].sum() < MAX_CONSTANT_SHARE * enough[upper].sum():
        mean = float(np.nanmean(pairs[upper]))
    n_common = (voted.T @ voted).astype(np.int64)
    return ErrorCorrelation(mean, residuals, by_votes, n_votes, pairs, n_common, constant, together)


def _items_of_pairs(there: Floats, claim: Ints) -> Ints:
    """Return on how many items two judges both are there, of shape (judges, judges); a loop over judges."""
    if claim.max() + 1 == len(claim):  # each item once
        return np.asarray(there.T @ there, dtype=np.int64)
    return np.array([n_items(there * own[:, None], claim) for own in there.T])


def effective_votes(n: float, correlation: float) -> float:
    """Return how many independent votes n votes are worth whose errors have this mean correlation (Kish 1965).

    n / (1 + (n - 1) r). Where r is below 0 it exceeds n; it is at least 1. NaN beyond 10 n: errors that exclude each
    other so far have no number of independent votes.

    >>> [round(effective_votes(5, r), 2) for r in (0, 0.25, 1)]
    [5.0, 2.5, 1.0]
    """
    spread = 1 + (n - 1) * correlation
    return float(n / spread) if spread * MAX_VOTES_PER_JUDGE >= 1 else np.nan


def effective_votes_interval(found: ErrorCorrelation, clusters: Clusters) -> tuple[Interval, Interval]:
    """Return the effective votes and the mean correlation with intervals.

    On the scale log(n_eff - 1), which is the logit of 1 / n_eff, the mean correlation is linearised and clustered as
    every difference is (rule F1); where two judges err together on five items or more, it holds the truth in 93 to
    96 % of simulations (docs/statistics.md).
    """
    n, units = found.n_votes, len(found.residuals)
    value = effective_votes(n, found.mean)
    if not (np.isfinite(value) and value >= 1) or n <= 1:
        unknown = Interval(value, np.nan, np.nan, units)
        return unknown, Interval(found.mean, np.nan, np.nan, units)
    if value < 1 + 1e-9:  # all err together
        return Interval(1.0, 1.0, 1.0, units), Interval(found.mean, found.mean, found.mean, units)
    share = 1 / value
    slope = -(n - 1) / n / (share * (1 - share))
    scaled = linear_interval(float(np.log(value - 1)), slope * found.residuals, clusters)
    low, high = 1 + np.exp(scaled.low), 1 + np.exp(scaled.high)
    least, most = (float((n / votes - 1) / (n - 1)) for votes in (high, low))
    return Interval(value, float(low), float(high), units), Interval(found.mean, least, most, units)


def linear_interval(value: float, residuals: Floats, clusters: Clusters) -> Interval:
    """Return the interval of a figure from what each unit adds to its error, clustered as a difference is (rule F1)."""
    variance, degrees = clustered_variance(residuals, clusters)
    half = float(stdtrit(degrees, (1 + LEVEL) / 2)) * float(np.sqrt(variance))
    return Interval(value, value - half, value + half, len(residuals))


def _by_judges(errors: Floats, voted: Floats, classes: Ints, enough: Bools) -> tuple[Floats, Floats, Bools]:
    """Return the correlation of each pair of judges, the residuals of its mean, and who never varies.

    All follow from products of (units, judges) within each class: with v a vote, e an error and m the mean error of a
    judge (row) on what another (column) answered, sums over pairs of (e - m) v are quadratic forms of e and v.
    """
    parts = [np.flatnonzero(classes == number) for number in range(int(classes.max()) + 1)]
    spread, together = np.zeros_like(enough, dtype=np.float64), np.zeros_like(enough, dtype=np.float64)
    for units in parts:
        wrong, n_common = _errors_in_common(errors[units], voted[units])
        spread += wrong - wrong**2 / n_common
        together += errors[units].T @ errors[units] - wrong * wrong.T / n_common
    seen = enough & ~np.eye(len(enough), dtype=bool)
    constant = seen & (spread <= 1e-9)
    defined = seen & ~constant & ~constant.T
    weight = np.divide(1.0, np.sqrt(spread * spread.T), out=np.zeros_like(spread), where=defined)
    r = np.clip(together * weight, -1, 1)
    pull = np.divide(r, spread, out=np.zeros_like(spread), where=defined)
    residuals = np.zeros(len(errors))
    for units in parts:
        own, there = errors[units], voted[units]
        mean = np.divide(*_errors_in_common(own, there))
        of_error = own @ (2 * (pull * mean - weight * mean.T) - pull)
        of_vote = there @ (weight * mean * mean.T - pull * mean**2)
        residuals[units] = ((own @ weight) * own + (of_error + of_vote) * there).sum(axis=1) / 2
    return np.where(defined, r, np.nan), residuals / max(np.count_nonzero(defined) / 2, 1), constant


def _errors_in_common(errors: Floats, voted: Floats) -> tuple[Floats, Floats]:
    """Return how often a judge (row) errs on what another (column) answered too, and how much that is, at least 1."""
    return errors.T @ voted, np.maximum(voted.T @ voted, 1)


def _by_votes(errors: Floats, voted: Floats, classes: Ints) -> tuple[float, Floats]:
    """Return the correlation over all ordered pairs of votes on one item, and the residuals of it."""
    others = np.maximum(voted.sum(axis=1) - 1, 0)
    n_classes = int(classes.max()) + 1
    total = np.bincount(classes, weights=others * errors.sum(axis=1), minlength=n_classes)
    size = np.bincount(classes, weights=others * voted.sum(axis=1), minlength=n_classes)
    centred = (errors - (total / np.maximum(size, 1))[classes, None]) * voted
    squares = (centred**2).sum(axis=1)
    products = centred.sum(axis=1) ** 2 - squares
    spread = float((others * squares).sum())
    if spread <= 1e-9:
        return np.nan, np.zeros(len(errors))
    r = float(products.sum()) / spread
    return r, (products - r * others * squares) / spread
