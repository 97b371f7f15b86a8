"""Decide rounds and findings under voting rules: the rule of each round, then the round that decides (rules B6, R2)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from verifyplan.protocol.vote import CLASSIFICATIONS, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.classification import CLASS_OF_RULE, RULES, RULES_OF_MODE, RuleSet, Tally, at_end, rule_index
from verifyplan.rules.vote_codes import (
    NOT_ASKED,
    UNSEEN,
    Bools,
    Codes,
    Ints,
    counted_codes,
    is_counted,
    tally_codes,
    whole_weights,
)

NO_VOTES, NO_QUORUM = RULES.index("no-votes"), RULES.index("no-quorum")

CLASS_IN_ROUND: Ints = np.array(
    [CLASSIFICATIONS.index(c) if (c := CLASS_OF_RULE.get(rule)) else -1 for rule in RULES], dtype=np.int64
)
"""The class that each rule gives in its round, by position in RULES and CLASSIFICATIONS; -1 carries the finding on."""

CLASS_AT_END: Ints = np.array(
    [CLASSIFICATIONS.index(at_end(None if rule == "no-votes" else rule)[0]) for rule in RULES], dtype=np.int64
)
"""The class of a finding that is left when the last round is over, by the rule of its last round with a vote."""


class Decision(NamedTuple):
    """How findings were decided; arrays have one entry a finding."""

    rule: Ints
    """Position in RULES of the rule that decided."""
    classification: Ints
    """Position in CLASSIFICATIONS."""
    round: Ints
    """The round that decided, from 1; of a finding that no round classifies, the last that was held."""
    settled: Bools
    """Whether a round gave the class; False where the rounds ended without one."""


def rule_set(rules: VotingRules, mode: Mode) -> RuleSet:
    """Return which set of rules judges a round."""
    match rules.aggregate:
        case "majority" | "unanimous" | "any-refute":
            return rules.aggregate
        case _:
            return mode


def rules_of_tally(tally: Tally, judged_by: RuleSet, majority: Fraction) -> Ints:
    """Return the rule that decides each round, by position in RULES, for tallies of any shape, without a quorum."""
    of_set = np.array([RULES.index(rule) for rule in RULES_OF_MODE[judged_by]], dtype=np.int64)
    rules: Ints = of_set[rule_index(tally, judged_by, majority)]
    return rules


def rules_of_rounds(counted: Codes, rules: VotingRules, mode: Mode, workers: Sequence[str]) -> Ints:
    """Return the rule that decides each round of each finding, of shape (rounds, findings), by position in RULES.

    `counted` are votes as `counted_codes` gives them. A round below the quorum has the rule `no-quorum`, one without
    any vote `no-votes`; votes that were never cast are as if they had not been asked for. The aggregate `dawid-skene`
    needs all findings of a run, and is judged elsewhere.
    """
    in_round = rules_of_tally(
        tally_codes(counted, whole_weights(rules, workers)), rule_set(rules, mode), rules.majority
    )
    if rules.quorum:
        voters = is_counted(counted).sum(axis=1)
        asked = (~np.isin(counted, (NOT_ASKED, UNSEEN))).sum(axis=1)
        in_round[(in_round != NO_VOTES) & ~quorum_reached(voters, asked, rules.quorum)] = NO_QUORUM
    return in_round


def quorum_reached(voters: Any, asked: Any, quorum: int | Fraction) -> Any:
    """Return whether so many votes of so many asked are enough; numbers or arrays."""
    if isinstance(quorum, Fraction):
        return quorum.denominator * voters >= quorum.numerator * asked
    return voters >= quorum


def decide_rounds(in_round: Ints, executed: Ints, rules: VotingRules) -> Decision:
    """Return the class of each finding from the rule of each of its rounds, of shape (rounds, findings).

    `executed` counts the rounds of each finding that were held, at most as many as the rules allow. The first round
    that classifies decides (rule B6). With `pruning="none"` and the aggregate `dawid-skene` it is the last round with a
    vote, with `first-round` the first round with a vote, whatever it gives. A finding that is left is `contested`, or
    `worker-unique` where nobody ever voted, by the rule of its last round with a vote.
    """
    n_rounds, n_findings = in_round.shape
    if n_rounds == 0:
        nothing = np.zeros(n_findings, dtype=np.int64)
        return Decision(nothing + NO_VOTES, CLASS_AT_END[nothing + NO_VOTES], nothing, nothing > 0)
    ran = np.arange(1, n_rounds + 1)[:, None] <= executed
    voted = ran & (in_round != NO_VOTES)
    last = n_rounds - 1 - voted[::-1].argmax(axis=0)
    classifying = ran & (CLASS_IN_ROUND[in_round] >= 0)
    if rules.aggregate == "first-round":
        last = voted.argmax(axis=0)
        decisive = _only(last, n_rounds) & voted
        executed = np.where(voted.any(axis=0), last + 1, executed)
    elif rules.asks_all:
        decisive = _only(last, n_rounds) & voted
    else:
        decisive = voted
    classifying &= decisive
    settled: Bools = np.any(classifying, axis=0)
    at = np.where(settled, classifying.argmax(axis=0), last)
    rule = np.where(voted.any(axis=0), in_round[at, np.arange(n_findings)], NO_VOTES)
    classification = np.where(settled, CLASS_IN_ROUND[rule], CLASS_AT_END[rule])
    return Decision(rule, classification, np.where(settled, at + 1, executed), settled)


def rounds_held(decision: Decision, allowed: Ints, rules: VotingRules) -> Ints:
    """Return the number of rounds that the rules hold on each finding, of those that are allowed to it.

    A round that classifies is the last one (rule B6), with `first-round` one that has a vote; with `pruning="none"` and
    the aggregate `dawid-skene` all are held.
    """
    held: Ints = np.where(decision.settled, decision.round, allowed)
    if rules.aggregate == "first-round":
        held = np.where(decision.rule == NO_VOTES, allowed, decision.round)
    elif rules.asks_all:
        held = allowed
    return held


def _only(at: Ints, n_rounds: int) -> Bools:
    chosen: Bools = np.arange(n_rounds)[:, None] == at
    return chosen


def judge_codes(
    codes: Codes, executed: Ints, rules: VotingRules, mode: Mode, workers: Sequence[str]
) -> tuple[Decision, Codes]:
    """Return how findings are decided by recorded votes under the rules, and what each vote counted as.

    `codes` are votes by `vote_code`, of shape (rounds, workers, findings); `executed` the rounds of each finding.
    """
    counted = counted_codes(codes, rules, mode, workers)
    return decide_rounds(rules_of_rounds(counted, rules, mode, workers), executed, rules), counted
