"""Votes as a sparse table of counts, with units of equal votes counted once: what every method works on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_EXACT_BITS = 53  # of whole numbers that a float holds


class VoteCounts(NamedTuple):
    """How often each worker gave each label, for each pattern of votes; units of one pattern have the same votes."""

    votes: csr_array
    """Counts of shape (patterns, workers x labels); column worker * n_labels + label."""
    units: Floats
    """How many units have each pattern."""
    pattern: Ints
    """The pattern of each unit; -1 for a unit without votes."""
    n_workers: int
    n_labels: int

    @property
    def by_label(self) -> Floats:
        """The number of votes for each label, of shape (patterns, labels)."""
        return self.scores(np.ones(self.n_workers))

    def scores(self, weights: Floats) -> Floats:
        """Return the sum of the weights of those who vote for each label, of shape (patterns, labels)."""
        worker, label = np.divmod(self.votes.indices, self.n_labels)
        weighed = (self.votes.data * weights[worker], label, self.votes.indptr)
        return np.asarray(csr_array(weighed, shape=(len(self.units), self.n_labels)).toarray())

    def of_units(self, table: Floats) -> Floats:
        """Return the rows of a table of patterns for each unit; NaN for a unit without votes."""
        voted = self.pattern >= 0
        rows = np.full((len(voted), table.shape[1]), np.nan)
        rows[voted] = table[self.pattern[voted]]
        return rows

    @property
    def by_worker(self) -> Floats:
        """The number of votes of each worker for each label, of shape (workers, labels)."""
        return np.asarray(self.units @ self.votes).reshape(self.n_workers, self.n_labels)


def vote_counts(unit: Ints, worker: Ints, label: Ints, n_units: int, n_workers: int, n_labels: int) -> VoteCounts:
    """Return the counts of votes, one entry a vote; a label of -1 is a vote that was lost and counts nowhere."""
    cast = label >= 0
    columns = worker[cast] * n_labels + label[cast]
    shape = (n_units, n_workers * n_labels)
    votes = csr_array(coo_array((np.ones(len(columns)), (unit[cast], columns)), shape=shape))
    voted = np.flatnonzero(np.diff(votes.indptr))
    pattern = np.full(n_units, -1, dtype=np.int64)
    kept, units = voted, np.ones(len(voted))
    pattern[voted] = np.arange(len(voted))
    base = votes.data.max(initial=0) + 1
    if shape[1] * np.log2(base) <= _EXACT_BITS:  # the counts of a unit are the digits of one number
        number = votes[voted] @ base ** np.arange(shape[1])
        _, first, pattern[voted], times = np.unique(number, return_index=True, return_inverse=True, return_counts=True)
        kept, units = voted[first], times.astype(np.float64)
    return VoteCounts(votes[kept], units, pattern, n_workers, n_labels)
