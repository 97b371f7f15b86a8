"""Plan the votes that would narrow the bounds of a frontier most: which finding, round and worker to ask (rule R5).

The bounds of a metric are open at the findings whose class depends on votes that were never cast. A vote is worth more
the more rules of the frontier need it, the more its finding moves their metric, and the fewer other votes are missing
until the finding is settled. So votes are planned by finding, in the order in which a run would ask for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.treatments.round_outcomes import ANY_CLASS
from verifyplan.analysis.treatments.rule_outcomes import NO_CLASS, RuleOutcomes, RulePart, Walk
from verifyplan.analysis.treatments.rule_quality import Floats, QualityCells
from verifyplan.errors import Problem, SettingsError
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import NOT_ASKED, UNSEEN, Bools, Ints
from verifyplan.text import short_repr

COLUMNS = ["run_id", "finding_id", "round", "worker", "narrows"]


class VotePlan(pd.DataFrame):
    """A table of votes to ask for; where it is empty, it shows why (`.attrs["reason"]`)."""

    def __repr__(self) -> str:
        """Return the table as text, or why there is none."""
        return super().__repr__() if len(self) else f"no vote to plan: {self.attrs.get('reason', 'no row is left')}"

    def _repr_html_(self) -> str | None:
        """Return the table for a notebook, or why there is none."""
        table: Any = pd.DataFrame(self)  # a frame's own is not in the stubs
        return table._repr_html_() if len(self) else f"<p>{escape(repr(self))}</p>"


def settle(outcomes: RuleOutcomes, frontier: Sequence[int], cells: QualityCells, n: int) -> VotePlan:
    """Return at most `n` votes that were never cast, those first that narrow the bounds of the frontier most.

    One row a vote, best first, and of one finding in the order in which a run asks: `run_id, finding_id, round, worker,
    narrows`. `narrows` is by how much the vote is expected to narrow the mean width of the bounds over the rules of
    the frontier, as its part of what its finding's votes do together; their sum is what the plan is expected to do. Its
    unit is that of the metric: 0.01 is one point of f1. A vote of a later round is only made if the rounds before leave
    the finding open. No row where no bound is open: the empty plan says why.

    Raises SettingsError unless `n` is an integer of at least 1. Source: rule R5.
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        message = f"must be a whole number of votes, at least 1, got {short_repr(n)}"
        raise SettingsError(Problem("n", message, "give how many votes you would ask for"))
    if not frontier or not outcomes.parts:
        return _no_plan("no bound of the frontier depends on votes that were never cast")
    moves = [_moves(outcomes, position, cells) / len(frontier) for position in frontier]
    rules = [outcomes.rules[position] for position in frontier]
    planned = [_planned_votes(part, rules, [each[part.rows] for each in moves]) for part in outcomes.parts]
    votes = pd.concat(planned, ignore_index=True).sort_values(
        ["narrows", "row", "place"], ascending=[False, True, True], kind="stable", ignore_index=True
    )
    votes = votes.head(n)
    if votes.empty:
        return _no_plan("no missing vote could change the metric of a rule on the frontier")
    names = outcomes.findings[["run_id", "finding_id"]].iloc[votes["row"]].reset_index(drop=True)
    return VotePlan(pd.concat([names, votes], axis=1)[COLUMNS])


def _no_plan(reason: str) -> VotePlan:
    plan = VotePlan(columns=COLUMNS)
    plan.attrs["reason"] = reason
    return plan


def _moves(outcomes: RuleOutcomes, position: int, cells: QualityCells) -> Floats:
    """Return how far apart each finding's bounds move the metric of a rule, to first order."""
    classes, low, high = outcomes.classes(position), outcomes.low(position), outcomes.high(position)
    known = classes != NO_CLASS
    truth = outcomes.truth[known]
    part, whole = cells.part[truth, classes[known]].sum(), cells.whole[truth, classes[known]].sum()
    value = part / whole if whole else 0.5
    residual = cells.part - value * cells.whole
    moves = np.zeros(len(classes))
    moves[known] = np.abs(residual[truth, high[known]] - residual[truth, low[known]]) / max(whole, 1.0)
    return moves


class _Missing(NamedTuple):
    """The votes that a rule lacks for the findings whose bounds are open under it."""

    votes: Bools
    """Of shape (rounds, workers, findings)."""
    settled: Floats
    """By how much a round, if all of its votes are cast, is expected to narrow the bounds: (rounds, findings)."""


def _planned_votes(part: RulePart, rules: Sequence[VotingRules], moves: Sequence[Floats]) -> pd.DataFrame:
    """Return the votes that the rules lack on findings of one part: `row, round, worker, narrows, place`."""
    open_findings = np.flatnonzero(np.any(moves, axis=0))
    walks = [part.walk(each) for each in rules]
    workers = tuple(dict.fromkeys(name for walk in walks for name in walk.patterns.workers))
    shape = (max((len(walk.states) for walk in walks), default=0), len(workers), len(open_findings))
    missing = [
        _missing(walk, open_findings, moved[open_findings], shape, workers)
        for walk, moved in zip(walks, moves, strict=True)
        if moved.any()
    ]
    narrows, place = _shares(missing, shape)
    at_round, worker, finding = np.nonzero(narrows > 0)
    return pd.DataFrame(
        {
            "row": part.rows[open_findings[finding]],
            "round": at_round + 1,
            "worker": np.array(workers, dtype=object)[worker],
            "narrows": narrows[at_round, worker, finding],
            "place": place[at_round, worker, finding],
        }
    )


def _missing(walk: Walk, findings: Ints, moved: Floats, shape: tuple[int, ...], workers: Sequence[str]) -> _Missing:
    """Return the votes that a rule lacks on some findings, and what each of their rounds is worth.

    The last round that lacks votes settles the finding; one before it as often as recorded rounds did.
    """
    votes = np.zeros(shape, dtype=bool)
    columns = [workers.index(name) for name in walk.patterns.workers]
    lacks = (walk.patterns.votes == UNSEEN) & walk.patterns.asked
    for at_round, number in enumerate(walk.patterns.number):
        votes[at_round, columns] = lacks[:, number[findings]] & (moved > 0)
    lacking: Bools = np.any(votes, axis=1)
    is_last = lacking & (np.cumsum(lacking[::-1], axis=0)[::-1] == 1)
    share = np.append(_settling_share(walk), np.zeros(shape[0]))[: shape[0], None]
    settles = np.where(is_last, 1.0, share) * lacking
    still_open = np.vstack([np.ones((1, shape[2])), np.cumprod(1 - settles, axis=0)[:-1]])
    return _Missing(votes, moved * still_open * settles)


def _settling_share(walk: Walk) -> Floats:
    """Return how often each round whose votes are known classifies a finding that comes to it, from 1/2 without any."""
    is_known = ((walk.patterns.votes != NOT_ASKED).any(axis=0)) & ~(walk.patterns.votes >= UNSEEN).any(axis=0)
    before = np.zeros(len(walk.states[0]), dtype=bool)
    shares = []
    for number, state in zip(walk.patterns.number, walk.point, strict=True):
        comes, classified = is_known[number] & ~before, (state & ANY_CLASS) > 0
        shares.append((np.count_nonzero(comes & classified) + 1) / (np.count_nonzero(comes) + 2))
        before = classified
    return np.array(shares)


def _in_order(missing: Sequence[_Missing], shape: tuple[int, ...]) -> tuple[Ints, Floats, Bools]:
    """Return of each finding the place of each vote in its plan, and by place what is gained, and whether it is a vote.

    Rounds follow each other; within a round those votes come first that the most is gained by for each missing vote.
    Places and votes have shape (rounds, workers, findings), gains (rounds x workers, findings): a rule's gain is at the
    last vote of the round that it lacks.
    """
    n_rounds, n_workers, n_findings = shape
    scores, wanted = np.zeros(shape), np.zeros(shape, dtype=bool)
    for votes, settled in missing:
        scores += votes * (settled / np.maximum(votes.sum(axis=1), 1))[:, None]
        wanted |= votes
    rank = (-scores).argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    place = rank + n_workers * np.arange(n_rounds)[:, None, None]
    gains = np.zeros((n_rounds * n_workers, n_findings))
    for votes, settled in missing:
        last = np.where(votes, place, -1).max(axis=1)
        at_round, finding = np.nonzero(last >= 0)
        np.add.at(gains, (last[at_round, finding], finding), settled[at_round, finding])
    return place, gains, wanted


def _shares(missing: Sequence[_Missing], shape: tuple[int, ...]) -> tuple[Floats, Ints]:
    """Return what each vote narrows, and its place in the plan of its finding, both (rounds, workers, findings).

    The votes of a finding are taken in groups, each of which gains most for each of its votes among those that could
    come next, and a group's gain is shared by its votes: it never increases from group to group (the upper concave
    envelope of gains against votes).
    """
    place, gains, wanted = _in_order(missing, shape)
    is_vote = np.zeros(gains.shape, dtype=bool)
    at_round, worker, finding = np.nonzero(wanted)
    is_vote[place[at_round, worker, finding], finding] = True
    gained, votes = np.cumsum(gains, axis=0), np.cumsum(is_vote, axis=0)
    share = np.zeros(gains.shape)
    places = np.arange(len(gains))[:, None]
    taken, gained_before, votes_before = (np.full(gains.shape[1], start) for start in (-1, 0.0, 0))
    while gains.size and (taken < len(gains) - 1).any():
        more_votes = np.where(places > taken, votes - votes_before, 0)
        slope = np.where(more_votes > 0, (gained - gained_before) / np.maximum(more_votes, 1), -1.0)
        end = len(gains) - 1 - slope[::-1].argmax(axis=0)  # the last of equally steep ones
        end = np.where(slope.max(axis=0) > 0, end, len(gains) - 1)
        steepest = np.maximum(np.take_along_axis(slope, end[None], axis=0)[0], 0)
        share += np.where((places > taken) & (places <= end) & is_vote, steepest, 0)
        taken, gained_before, votes_before = (
            end,
            *(np.take_along_axis(x, end[None], axis=0)[0] for x in (gained, votes)),
        )
    by_vote = np.take_along_axis(share, place.reshape(gains.shape), axis=0).reshape(shape)
    return np.where(wanted, by_vote, 0), place
