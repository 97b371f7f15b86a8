"""The answers of each worker on each unit, round by round, and what the panel answers by them (rule F3b)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.aggregation.weighted_votes import Ties, highest
from verifyplan.analysis.panels.leave_one_out import Floats
from verifyplan.errors import Problem, TableError
from verifyplan.frames.panel_votes import Ints, PanelVotes

Bools = npt.NDArray[np.bool_]

MAX_ROUNDS = 1000


class RoundAnswers(NamedTuple):
    """The answers of every worker on every unit that it has votes on, one row a pair of them, one column a round.

    An answer is a number among those that its unit got, from 0 in the order of labels.
    """

    rounds: Ints
    """The numbers of the rounds, in order."""
    unit: Ints
    worker: Ints
    answer: Ints
    """The answers, of shape (pairs, rounds); -1 where there is none."""
    vote: Ints
    """The position among the votes of each answer or lost answer; -1 where there is no vote."""
    truth: Ints
    """The right answer of each unit; -1 where nobody gives it, or it is not known."""
    known: Bools
    """Whether the truth of a unit is known."""
    given: Ints | None
    """The answer that a worker was pushed toward until a round, of shape (pairs, rounds); -1 where none was, -2 where
    nobody gives it; None where votes do not tell."""
    asked: Bools
    """Whether a unit has votes in a round, lost ones included, of shape (units, rounds)."""

    @property
    def first(self) -> Ints:
        """The column of the first round in which each unit was asked."""
        return np.asarray(self.asked.argmax(axis=1))

    @property
    def last(self) -> Ints:
        """The column of the last round in which each unit was asked."""
        return np.asarray(self.asked.shape[1] - 1 - self.asked[:, ::-1].argmax(axis=1))

    def carried(self) -> RoundAnswers:
        """Return the same, where a round that did not ask a unit any more repeats its votes of the round before."""
        answer, vote = self.answer.copy(), self.vote.copy()
        for column in range(1, answer.shape[1]):
            settled = ~self.asked[self.unit, column]
            for values in (answer, vote):
                values[settled, column] = values[settled, column - 1]
        return self._replace(answer=answer, vote=vote)

    def counts(self) -> Ints:
        """Return how many workers give each answer, of shape (units, rounds, answers)."""
        counts = np.zeros((*self.asked.shape, int(self.answer.max(initial=0)) + 1), dtype=np.int64)
        row, column = np.nonzero(self.answer >= 0)
        np.add.at(counts, (self.unit[row], column, self.answer[row, column]), 1)
        return counts

    def per_unit(self, values: npt.NDArray[Any], unit: Ints) -> Floats:
        """Return the sums of values by unit; `unit` says whose each is."""
        return np.bincount(unit, weights=values, minlength=len(self.asked)).astype(np.float64)


def round_answers(votes: PanelVotes) -> RoundAnswers:
    """Return the votes of a panel as answers by worker, unit and round; TableError unless there are two rounds."""
    rounds, column = np.unique(votes.round, return_inverse=True)
    if not 1 < len(rounds) <= MAX_ROUNDS:
        raise _rounds_error(rounds)
    pair, row = np.unique(votes.unit * len(votes.workers) + votes.worker, return_inverse=True)
    vote = np.full((len(pair), len(rounds)), -1)
    vote[row, column] = np.arange(len(votes))
    asked = np.zeros((len(votes.units), len(rounds)), dtype=bool)
    asked[votes.unit, column] = True
    number, truth, toward = _numbers(votes)
    answer = np.where(vote >= 0, number[vote], -1)
    unit, worker = np.divmod(pair, len(votes.workers))
    given = None if toward is None else _filled_forward(np.where(vote >= 0, toward[vote], -1))
    return RoundAnswers(rounds, unit, worker, answer, vote, truth, votes.truth >= 0, given, asked)


def _filled_forward(values: Ints) -> Ints:
    """Return values of shape (rows, rounds) of which -1 is replaced by the last before it in its row."""
    last = np.maximum.accumulate(np.where(values != -1, np.arange(values.shape[1]), 0), axis=1)
    return np.take_along_axis(values, last, axis=1)


def _numbers(votes: PanelVotes) -> tuple[Ints, Ints, Ints | None]:
    """Return each vote's label as its number among those of its unit, the truth of each unit, and given answers."""
    n_labels, given = max(len(votes.labels), 1), votes.label >= 0
    option, position = np.unique((votes.unit * n_labels + votes.label)[given], return_inverse=True)
    unit, label = np.divmod(option, n_labels)
    within = np.arange(len(option)) - np.searchsorted(unit, unit)
    number, truth = np.full(len(votes), -1), np.full(len(votes.units), -1)
    number[given] = within[position]
    right = label == votes.truth[unit]
    truth[unit[right]] = within[right]
    return number, truth, None if votes.toward is None else _given_numbers(votes, option, within)


def _given_numbers(votes: PanelVotes, option: Ints, within: Ints) -> Ints:
    """Return each vote's given answer as its number among those of its unit; -1 for none, -2 where nobody gives it."""
    toward: Ints = np.asarray(votes.toward)
    wanted = votes.unit * max(len(votes.labels), 1) + toward
    place = np.minimum(np.searchsorted(option, wanted), max(len(option) - 1, 0))
    found = (toward >= 0) & (option[place] == wanted)
    return np.where(found, within[place], np.where(toward == -1, -1, -2))


def _rounds_error(rounds: Ints) -> TableError:
    if len(rounds) > MAX_ROUNDS:
        fix = "number the rounds 0, 1, 2, in place of times or ids"
        return TableError(Problem("votes: round", f"has {len(rounds):,} values, at most {MAX_ROUNDS:,} are read", fix))
    only = f"is a single round, {rounds[0]}" if len(rounds) else "are no votes"
    fix = "give votes of two rounds or more; of a table, name their column: round='round' (shell: in --columns)"
    return TableError(Problem("votes: round", f"there {only}: no answer could change", fix))


class Majority(NamedTuple):
    """The panel's answers on each unit in each round; all of shape (units, rounds)."""

    n: Ints
    """The answers counted."""
    leader: Ints
    """The answer of the majority; -1 where there is none."""
    credit: Floats
    """How far the majority is right, from 0 to 1; NaN where nobody answers or the truth is not known."""
    right: Ints
    """The right answers."""
    agreeing: Floats
    """Pairs of workers that give the same answer."""
    pairs: Floats
    """Pairs of workers that give an answer."""


def majority(answers: RoundAnswers, ties: Ties) -> Majority:
    """Return the majority of each unit in each round: the answer that most workers give.

    Of several answers given equally often `shared` credits each with its share, `first` takes the label that comes
    first, and `none` takes none of them, which is not right. Only with `first` a tie has a leader.
    """
    counts = answers.counts()
    n, by_row = counts.sum(axis=-1), counts.reshape(-1, counts.shape[-1]).astype(np.float64)
    shares = highest(by_row, ties).reshape(counts.shape)
    leader = np.where(shares.max(axis=-1) == 1, shares.argmax(axis=-1), -1)
    row, truth = np.arange(len(counts)), np.maximum(answers.truth, 0)
    given = (answers.truth >= 0)[:, None]
    credit = np.where((n > 0) & answers.known[:, None], shares[row, :, truth] * given, np.nan)
    agreeing = (counts * (counts - 1) / 2).sum(axis=-1)
    return Majority(n, leader, credit, counts[row, :, truth] * given, agreeing, np.asarray(n * (n - 1) / 2))
