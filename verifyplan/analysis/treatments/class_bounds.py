"""Bound the classes of findings some of whose votes were never cast: the worst and the best they can come to (rule R4).

Classes are not monotone in votes: a refutation carries a finding on, and the next round can hold it. So bounds come
from the set of outcomes that each round can have, and from the classes that are then within reach over the rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from verifyplan.analysis.treatments.round_outcomes import ANY_CLASS, HAS_NO_VOTES, outcomes_of_rounds, widest
from verifyplan.analysis.treatments.rule_walk import classes_of, order_of, states_after
from verifyplan.protocol.vote import CLASSIFICATIONS, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.round_decisions import judge_codes
from verifyplan.rules.vote_codes import UNSEEN, Codes, Ints


class ClassBounds(NamedTuple):
    """The classes of findings within reach of the votes that were never cast, by position in CLASSIFICATIONS."""

    low: Ints
    """The worst class."""
    high: Ints
    """The best class: the lower position."""


def class_bounds(
    codes: Codes,
    allowed: Ints,
    rules: VotingRules,
    mode: Mode,
    workers: Sequence[str],
    known: Ints | None = None,
) -> ClassBounds:
    """Return the worst and the best class that each finding can have, whatever the unseen votes would have been.

    Both are the class of the finding where no vote is missing. See `attainable_classes` for arguments and method.

    >>> from verifyplan.rules.vote_codes import AGREE
    >>> codes = np.array([[[AGREE, AGREE], [UNSEEN, AGREE]]], dtype=np.int8)
    >>> class_bounds(codes, np.array([1, 1]), VotingRules(), "collaborative", ["a", "b"])
    ClassBounds(low=array([2, 0]), high=array([0, 0]))
    """
    return bounds_of(attainable_classes(codes, allowed, rules, mode, workers, known))


def bounds_of(attainable: Ints) -> ClassBounds:
    """Return the bounds of sets of classes, as `attainable_classes` gives them.

    >>> bounds_of(np.array([0b0110, 0b1000]))
    ClassBounds(low=array([2, 3]), high=array([1, 3]))
    """
    sets = np.arange(ANY_CLASS + 1)
    contains = (sets[:, None] >> np.arange(len(CLASSIFICATIONS))) & 1
    worst, best = len(CLASSIFICATIONS) - 1 - contains[:, ::-1].argmax(axis=1), contains.argmax(axis=1)
    return ClassBounds(worst[attainable], best[attainable])


def attainable_classes(
    codes: Codes,
    allowed: Ints,
    rules: VotingRules,
    mode: Mode,
    workers: Sequence[str],
    known: Ints | None = None,
) -> Ints:
    """Return the classes that each finding can have as a set: bit c for position c in CLASSIFICATIONS.

    An unseen vote may become any kind of vote, or an error. Rules that judge each round on its own votes give exactly
    the classes of all completions. Sticky refutations and last votes tie rounds together: then the set may be larger,
    never smaller. Beyond `MAX_COMPLETIONS` of a round, under rules that both tie rounds and stop within them, and under
    the aggregate `dawid-skene`, it is the widest that the rules can give (where no vote of a run is unseen, a caller
    knows the class). Source: partial identification (Manski 1990); rule R4.

    Args:
        codes: votes with `UNSEEN` where rules would ask and nobody did, of shape (rounds, workers, findings).
        allowed: the rounds that are allowed, one number a finding.
        rules: the voting rules.
        mode: the mode that judges rounds.
        workers: names of the second axis.
        known: the classes of findings without unseen votes, where they have been judged before.

    >>> from verifyplan.rules.vote_codes import AGREE, COUNTER
    >>> codes = np.array([[[COUNTER], [AGREE]], [[UNSEEN], [UNSEEN]]], dtype=np.int8)
    >>> sets = attainable_classes(codes, np.array([2]), VotingRules(), "adversarial", ["a", "b"])
    >>> [name for position, name in enumerate(CLASSIFICATIONS) if sets[0] >> position & 1]
    ['full-consensus', 'partial-consensus', 'contested', 'worker-unique']
    """
    if rules.aggregate == "dawid-skene":
        return classes_of(np.full(codes.shape[2], widest(rules, mode), dtype=np.int64))
    ran = np.arange(1, len(codes) + 1)[:, None] <= allowed
    open_findings = ((codes == UNSEEN).any(axis=1) & ran).any(axis=0)
    if known is None:
        known = np.zeros(codes.shape[2], dtype=np.int64)
        seen = codes[:, :, ~open_findings]
        decided, _ = judge_codes(seen, allowed[~open_findings], rules, mode, workers)
        known[~open_findings] = decided.classification
    attainable: Ints = 1 << known
    if open_findings.any():
        outcomes = outcomes_of_rounds(codes[:, :, open_findings], rules, mode, workers)
        outcomes[~ran[:, open_findings]] = HAS_NO_VOTES
        states = np.full(outcomes.shape[1], HAS_NO_VOTES, dtype=np.int64)
        for outcome in outcomes:
            states = states_after(states, outcome, order_of(rules))
        attainable[open_findings] = classes_of(states)
    return attainable
