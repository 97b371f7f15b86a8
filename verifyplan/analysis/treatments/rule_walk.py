"""Walk many findings through their rounds at once, by look-up: what decides, what unseen votes allow (rules B6, R2).

A finding's state has two parts: what the votes that were cast make of it, and the set of what unseen votes could make
of it. So has the outcome of a round.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.treatments.round_outcomes import ANY_CLASS, CARRIES, HAS_NO_VOTES
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import Bools, Ints

Order = Literal["queue", "first", "last"]
"""Which round decides: the first that classifies, the first with a vote, or the last with a vote."""

N_CLASSES = len(CLASSIFICATIONS)
N_SETS = 2 * HAS_NO_VOTES
"""Sets of outcomes are a bit each: the classes, carried on with votes, and without any vote (see `round_outcomes`)."""
N_KINDS = N_CLASSES + 2
"""The outcomes by position: the classes, carried on with votes, without any vote."""
N_STATES = N_KINDS * N_SETS
"""A state, and an outcome, is kind x N_SETS + set."""
STATE_BITS = 9
"""States of findings are kept shifted by so many bits, ready to be added to the outcome of the next round."""

_BEFORE = (N_KINDS - 1) * N_SETS + HAS_NO_VOTES
"""The state before the first round."""
_CONTESTED, _UNIQUE = (CLASSIFICATIONS.index(name) for name in ("contested", "worker-unique"))


def order_of(rules: VotingRules) -> Order:
    """Return which round decides under the rules."""
    if rules.aggregate == "first-round":
        return "first"
    return "last" if rules.asks_all else "queue"


def joint(point: Ints, reach: Ints) -> Ints:
    """Return outcomes from those by the votes cast, a bit each, and the sets of those within reach."""
    kind = np.zeros(N_SETS, dtype=np.int64)
    kind[1 << np.arange(N_KINDS)] = np.arange(N_KINDS)
    return np.asarray(kind[point] * N_SETS + reach)


def first_states(outcomes: Ints, order: Order) -> Ints:
    """Return the states after the first round, shifted, of each outcome that it can have."""
    return np.asarray(_steps(order)[(_BEFORE << STATE_BITS) + outcomes])


def next_states(states: Ints, outcomes: Ints, order: Order) -> Ints:
    """Return the states after a further round; states are shifted, as from `first_states`."""
    return _steps(order).take(states + outcomes)


@cache
def _steps(order: Order) -> Ints:
    """Return the shifted state after a round, by the shifted state before it + the outcome of the round."""
    kinds, sets = np.divmod(np.arange(1 << STATE_BITS), N_SETS)
    bits = 1 << np.minimum(kinds, N_KINDS - 1)
    states = joint(states_after(bits[:, None], bits, order), states_after(sets[:, None], sets, order))
    return (states.ravel() << STATE_BITS).astype(np.int64)


def states_after(before: Ints, outcome: Ints, order: Order) -> Ints:
    """Return the set of states after a round, by the sets of states before it and of outcomes of it."""
    unvoted, carried = before & HAS_NO_VOTES > 0, before & CARRIES > 0
    without, given = outcome & HAS_NO_VOTES > 0, outcome & (ANY_CLASS | CARRIES)
    if order == "last":
        after: Ints = np.where(before > 0, given, 0) + np.where(without, before & ~given, 0)
    elif order == "first":
        after = np.where(unvoted, outcome, 0) | (before & ~HAS_NO_VOTES)
    else:
        goes_on = np.where(unvoted | carried, given, 0) | np.where(carried & without, CARRIES, 0)
        after = (before & ANY_CLASS) | goes_on | np.where(unvoted & without, HAS_NO_VOTES, 0)
    return after


def classes_of(states: Ints) -> Ints:
    """Return the set of classes of findings after their last round, by the set of their states."""
    carried, unvoted = states & CARRIES > 0, states & HAS_NO_VOTES > 0
    return np.asarray((states & ANY_CLASS) | np.where(carried, 1 << _CONTESTED, 0) | np.where(unvoted, 1 << _UNIQUE, 0))


def _packed() -> npt.NDArray[np.uint8]:
    kind, sets = np.divmod(np.arange(N_STATES), N_SETS)
    final = np.array([*range(N_CLASSES), _CONTESTED, _UNIQUE])[kind]
    return np.asarray((final + N_CLASSES * classes_of(sets)).astype(np.uint8))


PACKED = _packed()
"""The class after the last round + N_CLASSES x the set of classes within reach, by the state."""


def _goes_on(order: Order) -> tuple[Bools, Bools, Bools]:
    kind, sets = np.divmod(np.arange(N_STATES), N_SETS)
    leaves = {"queue": ANY_CLASS, "first": ANY_CLASS | CARRIES, "last": 0}[order]
    by_votes = (1 << kind) & leaves == 0
    return by_votes & (sets & leaves == 0), by_votes, by_votes | (sets & ~leaves > 0)


GOES_ON = {order: _goes_on(order) for order in ("queue", "first", "last")}
"""Whether a finding is voted on in a further round: for certain, by the votes that were cast, or perhaps; by state."""
