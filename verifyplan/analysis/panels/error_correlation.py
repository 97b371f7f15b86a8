"""How far the judges of a panel err together, and how many independent votes they are worth (rule F3a)."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import t as student

from verifyplan.analysis.cluster_intervals import Interval, clustered_variance
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.intervals import LEVEL
from verifyplan.analysis.panels.panel_answers import Floats, Ints, PanelAnswers

Correlation: TypeAlias = Literal["within-truth", "plain", "pooled"]
"""How errors are correlated: within classes of truth, over all items, or over all pairs of votes on one item."""

MIN_COMMON_ITEMS = 10
"""Pairs of judges with fewer items in common than this have no correlation."""


class ErrorCorrelation(NamedTuple):
    """The mean correlation of errors, and what it rests on."""

    mean: float
    """The mean over pairs of judges, or over pairs of votes; NaN where no pair has one."""
    residuals: Floats
    """What each unit adds to the mean's error, to the first order; the sum is 0."""
    n_votes: float
    """The votes that an item has: the number of judges; where few judges see each item, the mean number of votes."""
    pairs: Floats
    """The correlation of each pair of judges, of shape (judges, judges); NaN where there is none."""
    n_common: Ints
    """The number of items that both judges of a pair answered."""
    joint_errors: float
    """The mean number of items on which two judges both err."""


def error_correlation(answers: PanelAnswers, correlation: Correlation) -> ErrorCorrelation:
    """Return how far errors go together: Pearson's correlation of being wrong (0 or 1) of pairs of judges.

    `within-truth` centres the errors of each judge within classes of truth, over the items that both judges answered:
    what the truth explains is not counted as erring together. `plain` does not. Pairs with fewer than 10 common items,
    or with a judge who never varies there, are left out. Where the judges are not crossed, and with `pooled`, pairs of
    votes on the same item take the place of pairs of judges.
    """
    classes = answers.truth_class if correlation == "within-truth" else np.zeros(len(answers.answer), dtype=np.int64)
    errors = (answers.voted & ~answers.correct).astype(np.float64)
    voted = answers.voted.astype(np.float64)
    common = voted.T @ voted
    pairs, residuals = _by_judges(errors, voted, classes, common)
    upper = np.triu_indices(len(common), k=1)
    together = float((errors.T @ errors)[upper].mean())
    mean, n_votes = np.nan, float(len(answers.workers))
    if correlation == "pooled" or not answers.crossed:
        mean, residuals = _by_votes(errors, voted, classes)
        n_votes = float(voted.sum(axis=1)[voted.sum(axis=1) > 1].mean()) if (voted.sum(axis=1) > 1).any() else 1.0
    elif np.isfinite(pairs[upper]).any():
        mean = float(np.nanmean(pairs[upper]))
    return ErrorCorrelation(mean, residuals, n_votes, pairs, common.astype(np.int64), together)


def effective_votes(n: float, correlation: float) -> float:
    """Return how many independent votes n votes are worth whose errors have this mean correlation (Kish 1965).

    n / (1 + (n - 1) r). Where r is below 0 it exceeds n; it is at least 1.

    >>> [round(effective_votes(5, r), 2) for r in (0, 0.25, 1)]
    [5.0, 2.5, 1.0]
    """
    spread = 1 + (n - 1) * correlation
    return float(n / spread) if spread > 0 else float("inf") if spread == 0 else np.nan


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
    half = float(student.ppf((1 + LEVEL) / 2, degrees)) * float(np.sqrt(variance))
    return Interval(value, value - half, value + half, len(residuals))


def _by_judges(errors: Floats, voted: Floats, classes: Ints, common: Floats) -> tuple[Floats, Floats]:
    """Return the correlation of each pair of judges, and the residuals of its mean; a loop over judges."""
    n_units, n = errors.shape
    pairs, residuals = np.full((n, n), np.nan), np.zeros(n_units)
    n_classes = int(classes.max()) + 1
    member = (classes == np.arange(n_classes)[:, None]).astype(np.float64)
    found = 0
    for a in range(n - 1):
        both = voted[:, a, None] * voted[:, a + 1 :]
        size = np.maximum(member @ both, 1)
        own = (errors[:, a, None] - (member @ (both * errors[:, a, None]) / size)[classes]) * both
        other = (errors[:, a + 1 :] - (member @ (both * errors[:, a + 1 :]) / size)[classes]) * both
        own_sum, other_sum = (own**2).sum(axis=0), (other**2).sum(axis=0)
        defined = (common[a, a + 1 :] >= MIN_COMMON_ITEMS) & (own_sum > 1e-9) & (other_sum > 1e-9)
        if not defined.any():
            continue
        own, other = own[:, defined] / np.sqrt(own_sum[defined]), other[:, defined] / np.sqrt(other_sum[defined])
        r = np.clip((own * other).sum(axis=0), -1, 1)
        pairs[a, a + 1 :][defined] = pairs[a + 1 :, a][defined] = r
        residuals += (own * other - r * (own**2 + other**2) / 2).sum(axis=1)
        found += len(r)
    return pairs, residuals / max(found, 1)


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
