"""The majority of each item, with every vote and without each one (rule F3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.aggregation.weighted_votes import highest
from verifyplan.frames.panel_votes import Ints, PanelVotes

Floats = npt.NDArray[np.float64]


def label_counts(votes: PanelVotes) -> Ints:
    """Return how many votes each label has on each unit, of shape (units, labels); lost votes count nowhere."""
    cast = votes.label >= 0
    shape = (len(votes.units), len(votes.labels))
    cell = votes.unit[cast] * shape[1] + votes.label[cast]
    return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """The votes that were not lost, and what the majority of an item is without each; one entry a vote, or a unit."""

    votes: PanelVotes
    """One vote a worker and unit, none of them lost."""
    counts: Ints
    """Votes by unit and label."""
    majority: Floats
    """The majority of each unit, as shares of labels."""
    without: Floats
    """The majority of the vote's unit without the vote, as shares of labels."""
    others: Ints
    """How many other votes the vote's unit has."""

    @property
    def decided(self) -> npt.NDArray[np.bool_]:
        """Whether each unit has a vote."""
        return np.asarray(self.counts.any(axis=1))

    @property
    def is_even(self) -> bool:
        """Whether most items have an even number of votes, of two labels: a majority of one vote is then impossible."""
        n = self.counts.sum(axis=1)
        two_labels = np.count_nonzero(self.counts.any(axis=0)) <= 2
        return bool(two_labels and 2 * np.count_nonzero(n % 2 == 0) > len(n))

    @property
    def truth(self) -> Ints:
        """The truth of each vote's unit, as a code; -1 where it is not known."""
        return self.votes.truth[self.votes.unit]

    @property
    def right(self) -> Floats:
        """1 where the vote is the truth, else 0; NaN where the truth is not known."""
        return np.where(self.truth >= 0, self.votes.label == self.truth, np.nan)

    @property
    def agreement(self) -> Floats:
        """The share of the others' majority that has the vote's label: 1, 0, or 1/k of k tied; NaN without others."""
        return np.where(self.others > 0, _at(self.without, self.votes.label), np.nan)

    @property
    def change(self) -> Floats:
        """The share of the majority that is another without the vote, from 0 to 1; NaN where no vote is left.

        With ties broken by lot, it is the probability that the item's label changes.
        """
        distance = np.abs(self.majority[self.votes.unit] - self.without).sum(axis=1) / 2
        return np.where(self.others > 0, distance, np.nan)

    def panel_right(self) -> Floats:
        """Return the share of each unit's majority that is the truth; NaN without truth or votes."""
        return _credit(self.majority, self.votes.truth, self.counts.sum(axis=1))

    def panel_right_without(self) -> Floats:
        """Return for each vote the same of its unit, without the vote."""
        return _credit(self.without, self.truth, self.others)


def leave_one_out(votes: PanelVotes) -> LeaveOneOut:
    """Return the majority of each unit with every vote and without each; `votes` has one a worker and unit."""
    votes = votes.take(votes.label >= 0)
    counts = label_counts(votes)
    remaining = counts[votes.unit]
    remaining[np.arange(len(votes)), votes.label] -= 1
    return LeaveOneOut(votes, counts, highest(counts, "shared"), highest(remaining, "shared"), remaining.sum(axis=1))


def _credit(majority: Floats, truth: Ints, n: Ints) -> Floats:
    return np.where((truth >= 0) & (n > 0), _at(majority, np.maximum(truth, 0)), np.nan)


def _at(shares: Floats, label: Ints) -> Floats:
    return np.asarray(shares[np.arange(len(shares)), label]) if shares.shape[1] else np.zeros(len(shares))
