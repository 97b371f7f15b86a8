"""Estimate truth and the workers' errors together, from labels alone: Dawid-Skene and its one-coin form (rule F3)."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from verifyplan.analysis.aggregation.vote_counts import Floats, Ints, VoteCounts, vote_counts
from verifyplan.errors import Problem, SettingsError

ITERATIONS = 10_000
"""How many iterations Dawid-Skene makes at most: it converges before that on nearly every table."""
TOLERANCE = 1e-5
"""Dawid-Skene has converged where an iteration changes no posterior by more."""

MAX_CONFUSION_CELLS = 50_000_000
"""How large the confusion matrices of all workers may be together: workers x labels x labels."""
_SMALLEST = 1e-10  # no probability of a worker or a class is smaller, as in crowd-kit


class DawidSkene(NamedTuple):
    """The estimates of Dawid-Skene from a table of votes."""

    posteriors: Floats
    """The probability of each label for each unit, of shape (units, labels); NaN for a unit without votes."""
    confusion: Floats
    """The probability of what a worker says, of shape (workers, true labels, labels said); 0 for a label that
    the worker never gave, NaN for a worker without votes."""
    prior: Floats
    """The share of each label among the units; 0 for a label without votes."""
    iterations: int
    """How many iterations were made."""
    change: float
    """The largest change of a posterior in the last iteration; it has converged where that is within the tolerance."""


def dawid_skene(
    unit: Ints,
    worker: Ints,
    label: Ints,
    n_units: int,
    n_workers: int,
    n_labels: int,
    *,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
    one_coin: bool = False,
) -> DawidSkene:
    """Return posteriors of labels and confusion matrices of workers by expectation-maximisation from vote shares.

    Each worker has a matrix: what it says where a label is true. `one_coin` gives each one number instead: how
    often it is right, its errors spread evenly. Posteriors equal those of crowd-kit to 1e-9 after as many iterations:
    probabilities are clipped at 1e-10, a label that a worker never gave is left out of its matrix. (crowd-kit itself
    stops by a bound that may fall, often earlier.) An iteration takes time for each different pattern of votes,
    not for each unit.

    Args:
        unit: the position of the unit of each vote, from 0 to n_units - 1; likewise worker.
        worker: the position of the worker of each vote.
        label: the label of each vote, from 0 to n_labels - 1; -1 for a vote that was lost.
        n_units: the number of units.
        n_workers: the number of workers.
        n_labels: the number of labels.
        iterations: the most iterations; 0 leaves the shares of votes.
        tolerance: it ends where an iteration changes no posterior by more; 0 makes every iteration that changes any.
        one_coin: whether a worker is right equally often whatever is true.

    Source: Dawid and Skene 1979; one coin: Zhang, Chen, Zhou and Jordan 2016.

    >>> unit, worker = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    >>> label = np.array([0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0])  # the third worker contradicts half of the time
    >>> fit = dawid_skene(unit, worker, label, 4, 3, 2)
    >>> fit.posteriors.round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    >>> fit.confusion[:, 0].round(3).tolist()  # where the first label is true
    [[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]
    """
    return fit(vote_counts(unit, worker, label, n_units, n_workers, n_labels), iterations, tolerance, one_coin)


def fit(
    counts: VoteCounts, iterations: int = ITERATIONS, tolerance: float = TOLERANCE, one_coin: bool = False
) -> DawidSkene:
    """Return what Dawid-Skene estimates of counts of votes; see `dawid_skene`.

    Raises SettingsError where the confusion matrices would be too large to hold.
    """
    cells = counts.n_workers * counts.n_labels**2
    if cells > MAX_CONFUSION_CELLS:
        sizes = f"{counts.n_workers:,} workers with {counts.n_labels:,} labels"
        message = f"{sizes} have confusion matrices of {cells:,} cells, more than {MAX_CONFUSION_CELLS:,}"
        raise SettingsError(Problem("method", message, "use 'majority' or 'wawa', or join labels"))
    model = _ErrorModel(counts, one_coin)
    posteriors = counts.by_label
    posteriors /= np.maximum(posteriors.sum(axis=1, keepdims=True), 1)
    done, change = 0, np.inf if len(posteriors) else 0.0
    prior, errors = model.maximise(posteriors)
    while done < iterations and change > tolerance:
        last, posteriors = posteriors, model.expect(prior, errors)
        prior, errors = model.maximise(posteriors)
        done, change = done + 1, float(np.abs(posteriors - last).max())
    confusion = errors.reshape(counts.n_workers, counts.n_labels, -1).transpose(0, 2, 1)
    confusion[~model.gave.any(axis=1)] = np.nan
    return DawidSkene(counts.of_units(posteriors), confusion, prior, done, change)


class _ErrorModel:
    """The two steps of expectation-maximisation."""

    def __init__(self, counts: VoteCounts, one_coin: bool) -> None:
        self.counts, self.one_coin = counts, one_coin
        self.cast = counts.votes.multiply(counts.units[:, None]).T.tocsr()
        self.gave = counts.by_worker > 0
        self.used = self.gave.any(axis=0)

    def maximise(self, posteriors: Floats) -> tuple[Floats, Floats]:
        """Return the prior, and the probability of each worker and label (rows) where each label is true (columns)."""
        units = self.counts.units
        expected = np.asarray(self.cast @ posteriors)
        prior = units @ posteriors / max(units.sum(), 1)
        return prior, self._one_number(expected) if self.one_coin else self._matrices(expected)

    def _matrices(self, expected: Floats) -> Floats:
        expected = np.where(self.gave.reshape(-1, 1), np.maximum(expected, _SMALLEST), 0)
        by_worker = expected.reshape(*self.gave.shape, -1)
        total = by_worker.sum(axis=1, keepdims=True)
        return (by_worker / np.where(total > 0, total, 1)).reshape(expected.shape)

    def _one_number(self, expected: Floats) -> Floats:
        n_workers, n_labels = self.gave.shape
        by_worker = expected.reshape(n_workers, n_labels, n_labels)
        right = by_worker.trace(axis1=1, axis2=2) / np.maximum(by_worker.sum(axis=(1, 2)), _SMALLEST)
        wrong = (1 - right) / max(int(self.used.sum()) - 1, 1)
        each = np.where(np.eye(n_labels, dtype=bool), right[:, None, None], wrong[:, None, None])
        return np.where(self.gave[:, :, None], each.clip(_SMALLEST, 1 - _SMALLEST), 0).reshape(expected.shape)

    def expect(self, prior: Floats, errors: Floats) -> Floats:
        """Return the probability of each label for each pattern of votes."""
        table = np.asarray(self.counts.votes @ _log(errors))
        table += self._log_prior(prior)
        table -= reduce(np.maximum, table.T)[:, None]  # label by label: rows of few labels are slow to reduce
        np.exp2(table, out=table)
        table /= reduce(np.add, table.T)[:, None]
        return table

    def _log_prior(self, prior: Floats) -> Floats:
        return np.where(self.used, np.log2(np.maximum(prior, _SMALLEST)), -np.inf)


def _log(probability: Floats) -> Floats:
    """Return binary logarithms, 0 where the probability is 0: no vote is there."""
    return np.log2(np.where(probability > 0, probability, 1))
