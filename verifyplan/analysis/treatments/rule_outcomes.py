"""Judge recorded votes by each of many voting rules: classes, their bounds, and counts (rules R4, R5).

Rules judge the distinct patterns of a round once; findings look their outcome up and walk through their rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.judgement import judgement
from verifyplan.analysis.metrics import IS_HELD
from verifyplan.analysis.replay import LEAVES_RULES, recorded_rules
from verifyplan.analysis.treatments.bounds import EITHER, HELD_SURELY, NOT_HELD, bounds_of
from verifyplan.analysis.treatments.recorded_votes import RecordedPart, recorded_votes
from verifyplan.analysis.treatments.round_outcomes import OUTCOMES, outcomes_of_columns, widest
from verifyplan.analysis.treatments.rule_walk import (
    N_CLASSES,
    N_SETS,
    PACKED,
    STATE_BITS,
    Order,
    first_states,
    joint,
    next_states,
    order_of,
)
from verifyplan.analysis.treatments.vote_patterns import Patterns, Rosters, VotePatterns
from verifyplan.analysis.voters import order_of_runs, voters_of
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.round_decisions import rules_of_rounds
from verifyplan.rules.vote_codes import NOT_ASKED, UNSEEN, Ints

Classes = npt.NDArray[np.uint8]
"""Positions in CLASSIFICATIONS, one a finding; NO_CLASS where there is none."""

NO_CLASS = 255
N_TRUTHS = 3
"""FALSE, TRUE and UNKNOWN of `metrics`."""
MAX_CACHE_BYTES = 2**29
"""Outcomes are kept up to so many bytes; those of further rules are computed again when they are read."""

_SETS = np.arange(1 << N_CLASSES)
_LOW, _HIGH = (np.append(bound.astype(np.uint8), NO_CLASS) for bound in bounds_of(_SETS))
_BITS = 1 << np.arange(N_CLASSES)
_EITHER_HELD = np.where(
    _SETS & _BITS[IS_HELD].sum() == 0, NOT_HELD, np.where(_SETS & _BITS[~IS_HELD].sum() == 0, HELD_SURELY, EITHER)
)

N_PACKED = N_CLASSES << N_CLASSES
"""An outcome is packed as a class + N_CLASSES x the set of classes within reach; N_PACKED is none."""


def either_held(packed: Ints) -> Ints:
    """Return NOT_HELD, EITHER or HELD_SURELY by packed outcomes."""
    return np.asarray(_EITHER_HELD[packed // N_CLASSES])


class Walk(NamedTuple):
    """How findings of a part go through the rounds of some rules."""

    order: Order
    """Which round decides."""
    patterns: Patterns
    """The votes of each round."""
    states: tuple[Ints, ...]
    """The state of each finding after each round, shifted by STATE_BITS (see `rule_walk`)."""

    @property
    def point(self) -> tuple[Ints, ...]:
        """The outcome of each finding after each round by the votes that were cast: a bit, as in `round_outcomes`."""
        return tuple(1 << ((states >> STATE_BITS) // N_SETS) for states in self.states)


@dataclass(frozen=True, eq=False)
class RulePart:
    """The findings of runs of one mode and with the same recorded rules, in the order of their runs."""

    recorded: RecordedPart
    """The votes as they were recorded, with the mode and the rules of the runs."""
    votes: VotePatterns
    rosters: Rosters | None = None
    """The order in which each run asks, where those of runs contradict each other and the rules stop within rounds."""

    @property
    def allowed(self) -> Ints:
        """The rounds that its run allowed each finding."""
        return self.recorded.allowed

    @property
    def rows(self) -> Ints:
        """The position of each finding in the table of findings."""
        return self.recorded.rows

    def walk(self, rules: VotingRules) -> Walk:
        """Return how the findings go through the rounds of the rules."""
        mode, rules = rules.mode or self.recorded.mode, self._rules_of_runs(rules)
        allowed = self.allowed if rules.max_rounds is None else np.full_like(self.allowed, rules.max_rounds)
        rosters = self.rosters if rules.stop != "round" and rules.order is None else None
        patterns, order = (rosters or self).votes.counted(rules, mode, allowed), order_of(rules)
        if rules.aggregate == "dawid-skene":
            states = [self._estimated(rules, mode, allowed, rosters)] * len(patterns.number)
            return Walk(order, rosters.named(patterns) if rosters else patterns, tuple(states))
        outcomes = _outcome_table(patterns, rules, mode)
        states = [first_states(outcomes, order).take(patterns.number[0])]
        for number in patterns.number[1:]:
            states.append(next_states(states[-1], outcomes.take(number), order))
        return Walk(order, rosters.named(patterns) if rosters else patterns, tuple(states))

    def _rules_of_runs(self, rules: VotingRules) -> VotingRules:
        """Return the rules, or those that the runs recorded where these name no field that matters (see `replay`)."""
        if set(rules.changed) <= LEAVES_RULES:
            return self.recorded.rules.model_copy(update={name: getattr(rules, name) for name in rules.changed})
        return rules

    def _estimated(self, rules: VotingRules, mode: Mode, allowed: Ints, rosters: Rosters | None) -> Ints:
        """Return the last states of findings under rules that judge a run as a whole."""
        source, at = self.recorded.source(), self.recorded.at
        of_cast = np.zeros(len(source.cast.findings), dtype=np.int64)
        of_cast[at] = allowed
        voters = source.voters if rosters is None else lambda: rosters.voters(source)
        judged = judgement(source.votes, source.cast, mode, of_cast, rules, voters)
        classes, low, high = (codes[at] for codes in (judged.decision.classification, judged.low, judged.high))
        return joint(1 << classes, (1 << low) | (1 << high)) << STATE_BITS


def _outcome_table(patterns: Patterns, rules: VotingRules, mode: Mode) -> Ints:
    """Return the outcome of each pattern, by the votes that were cast and with what unseen ones allow."""
    votes = np.minimum(patterns.votes, UNSEEN)  # open cells beyond it are asked for and unknown, too
    if not patterns.stopped:
        votes = np.where(patterns.asked, votes, np.int8(NOT_ASKED))
    in_round = rules_of_rounds(votes[None], rules, mode, patterns.workers)[0]
    point = OUTCOMES[in_round]
    reach, unknown = point.copy(), (patterns.votes >= UNSEEN).any(axis=0)
    if patterns.loose is not None:
        reach[patterns.loose] = widest(rules, mode)
        unknown &= ~patterns.loose
    if unknown.any():
        reach[unknown] = outcomes_of_columns(patterns.votes[:, unknown], rules, mode, patterns.workers)
    return joint(point, reach)


@dataclass(frozen=True, eq=False)
class RuleOutcomes:
    """The outcomes of many rules on the same findings, computed rule by rule as they are read."""

    rules: tuple[VotingRules, ...]
    """The rules, in the order of the first axis of every count."""
    findings: pd.DataFrame
    """One row a finding and iteration, as `replay` returns them: `run_id, iteration, finding_id, summary, truth`."""
    truth: Ints
    """FALSE, TRUE or UNKNOWN of each finding."""
    parts: tuple[RulePart, ...]
    """The findings that were voted on, by the mode of their run."""
    unvoted: npt.NDArray[np.uint8]
    """The packed outcome of findings that nobody was asked about, which keep their class; N_PACKED for all others."""
    _kept: dict[str, npt.NDArray[np.uint8]] = field(default_factory=dict, repr=False)

    def classes(self, k: int) -> Classes:
        """Return the class of each finding under the k-th rules, by the votes that were cast."""
        packed = self.packed(k)
        return np.where(packed == N_PACKED, NO_CLASS, packed % N_CLASSES).astype(np.uint8)

    def low(self, k: int) -> Classes:
        """Return the worst class of each finding that unseen votes could give."""
        return _LOW[self.packed(k) // N_CLASSES]

    def high(self, k: int) -> Classes:
        """Return the best class of each finding that unseen votes could give."""
        return _HIGH[self.packed(k) // N_CLASSES]

    def packed(self, k: int, walks: Sequence[Walk] | None = None) -> npt.NDArray[np.uint8]:
        """Return class + N_CLASSES x set of classes within reach of each finding; N_PACKED where there is no class.

        `walks` are those of the parts under the k-th rules, where they are known.
        """
        digest = self.rules[k].digest
        if digest in self._kept:
            return self._kept[digest]
        packed = self.unvoted.copy()
        for part, walk in zip(self.parts, walks or self.walks(k), strict=True):
            packed[part.rows] = PACKED.take(walk.states[-1] >> STATE_BITS)
        if packed.size * (len(self._kept) + 1) <= MAX_CACHE_BYTES:
            self._kept[digest] = packed
        return packed

    def take(self, positions: Sequence[int]) -> RuleOutcomes:
        """Return the outcomes of some of the rules, by position."""
        return replace(self, rules=tuple(self.rules[k] for k in positions))

    def walks(self, k: int) -> list[Walk]:
        """Return how the findings of each part go through the rounds of the k-th rules."""
        return [part.walk(self.rules[k]) for part in self.parts]

    def counts(self, groups: Ints, n_groups: int) -> Ints:
        """Return findings counted by rules, group, truth and class, of shape (rules, groups, 3, 4).

        The truth is FALSE, TRUE, UNKNOWN in this order; `groups` has the group of each finding, from 0. Findings
        without a class are left out.
        """
        out = np.empty((len(self.rules), n_groups, N_TRUTHS, N_CLASSES), dtype=np.int64)
        cell = (groups * N_TRUTHS + self.truth) * (N_CLASSES + 1)
        class_of = np.append(np.arange(N_PACKED) % N_CLASSES, N_CLASSES)
        shape = (n_groups, N_TRUTHS, N_CLASSES + 1)
        for k in range(len(self.rules)):
            counted = np.bincount(cell + class_of[self.packed(k)], minlength=int(np.prod(shape)))
            out[k] = counted.reshape(shape)[:, :, :N_CLASSES]
        return out


def rule_outcomes(runs: RunSet, rules: Sequence[VotingRules]) -> RuleOutcomes:
    """Return what each of some rules makes of the recorded votes of runs.

    One pass over distinct patterns a rule; the aggregate `dawid-skene` is estimated over all votes. Where rosters of
    runs contradict each other, rules that stop within rounds judge them at once, unless one of them names workers: then
    runs are judged roster by roster, which is slow for hundreds of rosters.
    """
    workers = set(voters_of(runs))
    every = [*rules, *(VotingRules.from_json(text) for text in recorded_rules(runs).unique() if text)]
    stops = [each for each in every if each.stop != "round" and not workers <= set(each.order or ())]
    orders = order_of_runs(runs) if stops else {}
    by_name = any(each.workers or each.weights or each.order for each in stops)
    recorded = recorded_votes(runs, VotingRules(), apart=bool(orders) and by_name)
    rounds = max((r.max_rounds or 0 for r in rules), default=0)
    parts = []
    for part in recorded.parts:
        n_rounds = max(rounds, int(part.allowed.max()))
        rosters = Rosters(part.cube, orders, n_rounds) if orders and not by_name else None
        parts.append(RulePart(part, VotePatterns(part.cube, n_rounds), rosters))
    codes = recorded.unvoted
    unvoted = np.where(codes >= 0, codes + N_CLASSES * (1 << np.maximum(codes, 0)), N_PACKED).astype(np.uint8)
    return RuleOutcomes(tuple(rules), recorded.findings, recorded.truth, tuple(parts), unvoted)
