"""Rows of a few kinds, counted by cluster: figures of many rows are so computed from few numbers (rule F1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from verifyplan.analysis.clusters import Clusters, Dimension, Ints, varies

MAX_CELLS_A_ROW = 4
"""Counts are an array where that has at most so many cells for each row, else a sparse matrix."""


@dataclass(frozen=True, eq=False)
class KindCounts:
    """How many rows of each kind are in each cluster; functions that take `Clusters` of rows take it for kinds.

    >>> rows = Clusters(np.array([0, 0, 1, 1]), np.arange(4))
    >>> counts = kind_counts(np.array([0, 1, 1, 1]), 2, rows)
    >>> counts.weight, counts.sums(counts.dimensions[0], np.array([10, 1]))
    (array([1, 3]), array([11,  2]))
    """

    clusters: Clusters
    """The clusters of all rows."""
    dimensions: tuple[Dimension, ...]
    """The ways in which the rows come in clusters."""
    counts: Sequence[Any]
    """The rows by cluster and kind, of shape (clusters, kinds), for each dimension; if there is none, the rows by
    kind, of shape (1, kinds)."""
    kind: Ints | None = None
    """The kind of each row, -1 for a row that is left out; None where rows are counted elsewhere."""

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        if self.kind is None:
            return self.clusters.n_runs
        return int(np.count_nonzero(np.bincount(self.clusters.run[self.kind >= 0])))

    @cached_property
    def weight(self) -> npt.NDArray[Any]:
        """The rows of each kind."""
        return _sums(self.counts[0], 0)

    def sums(self, term: Dimension, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sum over the rows of each cluster of a dimension, of a value for each kind."""
        place = next(place for place, each in enumerate(self.dimensions) if each is term)
        return np.asarray(self.counts[place] @ values)

    def take(self, kinds: npt.NDArray[Any]) -> KindCounts:
        """Return the rows of some kinds alone, by position in ascending order; the kinds are numbered anew from 0."""
        assert self.kind is not None  # noqa: S101
        number = np.full(len(self.weight), -1, dtype=np.int64)
        number[kinds] = np.arange(len(kinds))
        kind = number.take(self.kind)
        kind[self.kind < 0] = -1
        if len(self.dimensions) > 1:  # two of them may be one for fewer rows
            rows = np.flatnonzero(kind >= 0)
            return kind_counts(kind[rows], len(kinds), self.clusters.take(rows))
        counts = self.counts[0][:, kinds]
        varying = tuple(term for term in self.dimensions if varies(_sums(counts, 1), is_claim=term.is_claim))
        return KindCounts(self.clusters, varying, [counts if varying else _sums(counts, 0)[None]], kind)


def kind_counts(kind: Ints, n_kinds: int, clusters: Clusters) -> KindCounts:
    """Return the counts of rows of which each has a kind, from 0."""
    counts = [_counted(term.code, kind, n_kinds) for term in clusters.dimensions]
    return KindCounts(clusters, clusters.dimensions, counts or [np.bincount(kind, minlength=n_kinds)[None]], kind)


def _counted(code: Ints, kind: Ints, n_kinds: int) -> Any:
    n_clusters = int(code.max(initial=-1)) + 1
    if n_clusters * n_kinds <= MAX_CELLS_A_ROW * len(code):
        return np.bincount(code * n_kinds + kind, minlength=n_clusters * n_kinds).reshape(n_clusters, n_kinds)
    cells, rows = np.unique(code * n_kinds + kind, return_counts=True)
    starts = np.searchsorted(cells, np.arange(n_clusters + 1) * n_kinds)
    return csr_matrix((rows, cells % n_kinds, starts), shape=(n_clusters, n_kinds))


def _sums(counts: Any, axis: int) -> npt.NDArray[Any]:
    return np.asarray(counts.sum(axis=axis)).ravel()
