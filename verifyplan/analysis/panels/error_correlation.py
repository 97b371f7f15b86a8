"""How far the judges of a panel err together: the mean correlation of their errors (rule F3a)."""

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
ERRING = (1.0, 0.0, 0.5)
"""The share of the judges who err on each item that is imagined."""


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
    unseen: float
    """How far two more items would move the mean, as a root of squares: one on which all judges err (or none does,
    whatever moves it further), and one on which half of them do."""

    @property
    def n_constant(self) -> int:
        """The number of pairs that have no correlation because the errors of a judge never vary."""
        return int(np.triu(self.constant | self.constant.T, k=1).sum())


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
    pairs, residuals, unseen, constant = _by_judges(errors, voted, classes, enough)
    upper = np.triu_indices(len(pairs), k=1)
    mean, n_votes = np.nan, float(len(answers.workers))
    by_votes = correlation == "pooled" or not answers.crossed
    if by_votes:
        n_votes = float(voted.sum(axis=1)[voted.sum(axis=1) > 1].mean()) if (voted.sum(axis=1) > 1).any() else 1.0
        mean, residuals, unseen = _by_votes(errors, voted, classes, n_votes)
    elif (constant | constant.T)[upper].sum() < MAX_CONSTANT_SHARE * enough[upper].sum():
        mean = float(np.nanmean(pairs[upper]))
    n_common = (voted.T @ voted).astype(np.int64)
    return ErrorCorrelation(mean, residuals, by_votes, n_votes, pairs, n_common, constant, unseen)


def _items_of_pairs(there: Floats, claim: Ints) -> Ints:
    """Return on how many items two judges both are there, of shape (judges, judges); a loop over judges."""
    if claim.max() + 1 == len(claim):  # each item once
        return np.asarray(there.T @ there, dtype=np.int64)
    return np.array([n_items(there * own[:, None], claim) for own in there.T])


def linear_interval(value: float, residuals: Floats, clusters: Clusters) -> Interval:
    """Return the interval of a figure from what each unit adds to its error, clustered as a difference is (rule F1)."""
    variance, degrees = clustered_variance(residuals, clusters)
    half = float(stdtrit(degrees, (1 + LEVEL) / 2)) * float(np.sqrt(variance))
    return Interval(value, value - half, value + half, len(residuals))


def _by_judges(errors: Floats, voted: Floats, classes: Ints, enough: Bools) -> tuple[Floats, Floats, float, Bools]:
    """Return the correlation of each pair of judges, what moves its mean (residuals, `unseen`), and who never varies.

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

    def moved(own: Floats, there: Floats, mean: Floats) -> Floats:
        of_error = own @ (2 * (pull * mean - weight * mean.T) - pull)
        of_vote = there @ (weight * mean * mean.T - pull * mean**2)
        return np.asarray(((own @ weight) * own + (of_error + of_vote) * there).sum(axis=1) / 2)

    residuals, imagined = np.zeros(len(errors)), np.zeros(len(ERRING))
    own = np.repeat(np.array(ERRING)[:, None], errors.shape[1], axis=1)
    for units in parts:
        mean = np.divide(*_errors_in_common(errors[units], voted[units]))
        residuals[units] = moved(errors[units], voted[units], mean)
        imagined += moved(own, np.ones_like(own), mean) * len(units) / len(errors)
    imagined[-1] -= weight.sum() / 8 / max(errors.shape[1] - 1, 1)  # two of half of the judges, drawn without return
    n_pairs = max(np.count_nonzero(defined) / 2, 1)
    return np.where(defined, r, np.nan), residuals / n_pairs, _unseen(imagined) / n_pairs, constant


def _unseen(imagined: Floats) -> float:
    every, none, half = np.abs(imagined)
    return float(np.hypot(max(every, none), half))


def _errors_in_common(errors: Floats, voted: Floats) -> tuple[Floats, Floats]:
    """Return how often a judge (row) errs on what another (column) answered too, and how much that is, at least 1."""
    return errors.T @ voted, np.maximum(voted.T @ voted, 1)


def _by_votes(errors: Floats, voted: Floats, classes: Ints, n_votes: float) -> tuple[float, Floats, float]:
    """Return the correlation over all ordered pairs of votes on one item, and what moves it (residuals, `unseen`)."""
    others = np.maximum(voted.sum(axis=1) - 1, 0)
    n_classes = int(classes.max()) + 1
    total = np.bincount(classes, weights=others * errors.sum(axis=1), minlength=n_classes)
    size = np.bincount(classes, weights=others * voted.sum(axis=1), minlength=n_classes)
    mean = total / np.maximum(size, 1)
    centred = (errors - mean[classes, None]) * voted
    squares = (centred**2).sum(axis=1)
    products = centred.sum(axis=1) ** 2 - squares
    spread = float((others * squares).sum())
    if spread <= 1e-9:
        return np.nan, np.zeros(len(errors)), 0.0
    r = float(products.sum()) / spread
    share = np.array(ERRING)[:, None]
    own = n_votes * (share * (1 - mean[classes]) ** 2 + (1 - share) * mean[classes] ** 2)
    imagined = (n_votes * (share - mean[classes])) ** 2 - own * (1 + r * (n_votes - 1))
    unseen = _unseen(imagined.mean(axis=1) / spread)
    return r, (products - r * others * squares) / spread, unseen
