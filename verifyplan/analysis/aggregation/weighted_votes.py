"""Votes counted by majority, or weighted by how often a worker sides with it: wawa and zero-based skill (rule F3)."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from verifyplan.analysis.aggregation.vote_counts import Floats, VoteCounts

Ties: TypeAlias = Literal["shared", "first", "none"]
"""What counts where several labels are highest: each its share, the first in order of labels, or none."""
TIES = get_args(Ties)

_EQUAL = 1e-9  # scores within this of the highest are tied: sums of floats differ by their order
_ROUNDS, _HALVED_EVERY = 100, 20  # of zero-based skill, as in crowd-kit


def highest(scores: Floats, ties: Ties) -> Floats:
    """Return shares of the highest label of each row: 1 where it is alone; zeros for a row of zeros or NaN.

    >>> scores = np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0], [np.nan] * 3])
    >>> highest(scores, "shared").tolist()
    [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    >>> highest(scores, "first")[0].tolist(), highest(scores, "none")[0].tolist()
    ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    """
    known = np.nan_to_num(scores)
    best = known.max(axis=1, keepdims=True, initial=0)
    top = (known >= best - _EQUAL) & (best > 0)
    tied = top.sum(axis=1, keepdims=True)
    if ties == "first":
        return np.asarray(top & (top.cumsum(axis=1) == 1), dtype=np.float64)
    return np.asarray(top / np.maximum(tied, 1) if ties == "shared" else top & (tied == 1), dtype=np.float64)


def weighted_shares(counts: VoteCounts, weights: Floats) -> Floats:
    """Return each label's share of the weights of the votes, of shape (patterns, labels).

    Where all weights are 0, or they sum to less, votes count equally.
    """
    scores = counts.scores(weights)
    total = scores.sum(axis=1, keepdims=True)
    plain = counts.by_label
    shares = plain / np.maximum(plain.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(total > 0, scores / np.where(total > 0, total, 1), shares))


def siding(counts: VoteCounts, shares: Floats) -> Floats:
    """Return the mean over a worker's votes of the share that the vote's label has; NaN for a worker without votes."""
    row = np.repeat(np.arange(len(counts.units)), np.diff(counts.votes.indptr))
    worker, label = np.divmod(counts.votes.indices, counts.n_labels)
    times = counts.votes.data * counts.units[row]
    sided = np.bincount(worker, weights=times * shares[row, label], minlength=counts.n_workers)
    cast = counts.by_worker.sum(axis=1)
    return np.asarray(np.where(cast > 0, sided / np.maximum(cast, 1), np.nan))


def wawa(counts: VoteCounts, ties: Ties) -> tuple[Floats, Floats]:
    """Return shares of labels, each vote weighted by how often its worker sides with the majority; and these weights.

    Equals crowd-kit's but for ties, of which crowd-kit takes the label that the table names first.
    """
    weights = siding(counts, highest(counts.by_label, ties))
    return weighted_shares(counts, np.nan_to_num(weights)), weights


def zero_based_skill(counts: VoteCounts, ties: Ties) -> tuple[Floats, Floats]:
    """Return shares of labels weighted by skill, which moves toward siding with the weighted majority; and the skills.

    A hundred rounds, the step halved every twenty; equals crowd-kit's but for ties.
    """
    step = 1.0
    skill = np.full(counts.n_workers, 1 / (counts.by_worker.any(axis=0).sum()) + 1e-5)
    for number in range(1, _ROUNDS + 1):
        step *= 0.5 if number % _HALVED_EVERY == 0 else 1
        sided = np.nan_to_num(siding(counts, highest(weighted_shares(counts, skill), ties)))
        skill = skill + step * (sided - skill)
    return weighted_shares(counts, skill), np.where(counts.by_worker.any(axis=1), skill, np.nan)
