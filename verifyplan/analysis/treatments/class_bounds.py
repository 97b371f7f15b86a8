"""Bound the classes of findings some of whose votes were never cast: the worst and the best they can come to (rule R4).

Classes are not monotone in votes: a refutation carries a finding on, and the next round can hold it. So bounds come
from the set of outcomes that each round can have, and from the classes that are then within reach over the rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, groupby, product
from math import comb, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.protocol.vote import CLASSIFICATIONS, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.classification import CLASS_OF_RULE, RULES_OF_MODE, Rule
from verifyplan.rules.round_decisions import CLASS_IN_ROUND, NO_VOTES, judge_codes, rule_set, rules_of_rounds
from verifyplan.rules.vote_codes import (
    AGREE,
    BURDEN,
    COUNTED,
    COUNTER,
    LOST,
    N_CODES,
    NOT_ASKED,
    SUPPLEMENT,
    UNSEEN,
    Codes,
    Ints,
    asked_until_stop,
    counted_codes,
    read_codes,
)

MAX_COMPLETIONS = 10_000
"""The votes that a round lacks are completed in at most so many ways; beyond, the round can have any outcome."""

_CELLS_AT_ONCE = 2**22

_CONTESTED, _UNIQUE = (1 << CLASSIFICATIONS.index(name) for name in ("contested", "worker-unique"))
ANY_CLASS = (1 << len(CLASSIFICATIONS)) - 1
CARRIES, HAS_NO_VOTES = 1 << len(CLASSIFICATIONS), 2 << len(CLASSIFICATIONS)
OUTCOMES = np.where(CLASS_IN_ROUND >= 0, 1 << np.maximum(CLASS_IN_ROUND, 0), CARRIES)
OUTCOMES[NO_VOTES] = HAS_NO_VOTES
"""What each rule makes of a round, a bit each: one of the classes, carried on with votes, or without any vote."""

_COUNTER_OR_NOT_ASKED, _COUNTER_OR_LOST = N_CODES, N_CODES + 1
"""Cells that a sticky refutation fills, if the unseen vote that it rests on is one."""


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
    knows the class). Source: partial identification (Manski 2003); rule R4.

    Args:
        codes: votes with `UNSEEN` where rules would ask and nobody did, of shape (rounds, workers, findings).
        allowed: the rounds that are allowed, one number a finding.
        rules: the voting rules.
        mode: the mode that judges rounds.
        workers: names of the second axis.
        known: the classes of findings without unseen votes, where they have been judged before.

    >>> codes = np.array([[[COUNTER], [AGREE]], [[UNSEEN], [UNSEEN]]], dtype=np.int8)
    >>> sets = attainable_classes(codes, np.array([2]), VotingRules(), "adversarial", ["a", "b"])
    >>> [name for position, name in enumerate(CLASSIFICATIONS) if sets[0] >> position & 1]
    ['full-consensus', 'partial-consensus', 'contested', 'worker-unique']
    """
    if rules.aggregate == "dawid-skene":
        classes = widest(rules, mode) & ANY_CLASS | _CONTESTED | _UNIQUE
        return np.full(codes.shape[2], classes, dtype=np.int64)
    ran = np.arange(1, len(codes) + 1)[:, None] <= allowed
    open_findings = ((codes == UNSEEN).any(axis=1) & ran).any(axis=0)
    if known is None:
        known = np.zeros(codes.shape[2], dtype=np.int64)
        seen = codes[:, :, ~open_findings]
        decided, _ = judge_codes(seen, allowed[~open_findings], rules, mode, workers)
        known[~open_findings] = decided.classification
    attainable: Ints = 1 << known
    if open_findings.any():
        outcomes = _outcomes(codes[:, :, open_findings], rules, mode, workers)
        outcomes[~ran[:, open_findings]] = HAS_NO_VOTES
        attainable[open_findings] = _within_reach(outcomes, rules)
    return attainable


def _within_reach(outcomes: Ints, rules: VotingRules) -> Ints:
    """Return the classes within reach where each round, of shape (rounds, findings), has one of its outcomes.

    The same order of rounds, first or last vote, as `decide_rounds`.
    """
    queue = rules.aggregate != "first-round" and rules.pruning == "queue"
    backwards = rules.aggregate != "first-round" and rules.pruning == "none"
    reached: Ints = np.zeros(outcomes.shape[1], dtype=np.int64)
    unvoted, carried = np.ones(outcomes.shape[1], dtype=bool), np.zeros(outcomes.shape[1], dtype=bool)
    for outcome in outcomes[::-1] if backwards else outcomes:
        undecided = unvoted | carried
        reached |= np.where(undecided, outcome & ANY_CLASS, 0)
        carries, without = undecided & (outcome & CARRIES > 0), outcome & HAS_NO_VOTES > 0
        if queue:
            carried = carries | (carried & without)
        else:
            reached |= np.where(carries, _CONTESTED, 0)
        unvoted &= without
    return reached | np.where(carried, _CONTESTED, 0) | np.where(unvoted, _UNIQUE, 0)


def widest(rules: VotingRules, mode: Mode) -> int:
    """Return all outcomes that a round can have under the rules, a bit each."""
    estimates: tuple[Rule, ...] = ("estimated-true", "estimated-false")
    given = estimates if rules.aggregate == "dawid-skene" else RULES_OF_MODE[rule_set(rules, mode)]
    classes = [CLASS_OF_RULE[rule] for rule in given]
    return sum({1 << CLASSIFICATIONS.index(name) for name in classes if name}) | CARRIES | HAS_NO_VOTES


def _outcomes(codes: Codes, rules: VotingRules, mode: Mode, workers: Sequence[str]) -> Ints:
    """Return the set of outcomes of each round of each finding, of shape (rounds, findings)."""
    tied = rules.refutes == "sticky" or rules.lost_votes == "last-vote"
    if tied and rules.stop != "round":
        counted = counted_codes(codes, rules, mode, workers)
        judged = rules_of_rounds(counted, rules, mode, workers)
        from_unseen = np.logical_or.accumulate((counted == UNSEEN).any(axis=1), axis=0)
        return np.where(from_unseen, widest(rules, mode), OUTCOMES[judged])
    counted = counted_codes(codes, rules.model_copy(update={"stop": "round"}), mode, workers)
    if tied:
        mark_open_cells(counted, codes, rules)
    n_rounds, n_workers, n_findings = codes.shape
    columns = counted.transpose(1, 0, 2).reshape(n_workers, n_rounds * n_findings)
    return outcomes_of_columns(columns, rules, mode, workers).reshape(n_rounds, n_findings)


def mark_open_cells(counted: Codes, codes: Codes, rules: VotingRules) -> None:
    """Mark the cells of `counted` that a sticky refutation fills if an unseen vote is one; `codes` are as recorded."""
    follows = counted == UNSEEN
    counted[follows & (codes == NOT_ASKED)] = _COUNTER_OR_NOT_ASKED
    if rules.lost_votes != "last-vote":
        counted[follows & (codes == LOST)] = _COUNTER_OR_LOST


def outcomes_of_columns(columns: Codes, rules: VotingRules, mode: Mode, workers: Sequence[str]) -> Ints:
    """Return the set of outcomes of each round, given as a column of votes as they count before asking stops."""
    patterns = _same_kinds(rules, mode)[columns]
    if _interchangeable(rules):
        patterns = np.sort(patterns[(patterns != NOT_ASKED).any(axis=1)], axis=0)
    number, firsts = _distinct(patterns)
    return _outcomes_of_patterns(patterns[:, firsts], rules, mode, workers)[number]


def _interchangeable(rules: VotingRules) -> bool:
    """Return whether it does not matter which worker of a round casts which vote."""
    return rules.weights is None and rules.stop == "round"


def _same_kinds(rules: VotingRules, mode: Mode) -> Codes:
    """Return a table of codes in which those that the rules count alike are one."""
    table = np.arange(_COUNTER_OR_LOST + 1, dtype=np.int8)
    if rule_set(rules, mode) != "adversarial":
        table[[SUPPLEMENT, COUNTER]] = AGREE, BURDEN
    return table


def _distinct(rows: npt.NDArray[np.int8]) -> tuple[Ints, Ints]:
    """Return the number of each column among the distinct ones, and the first column of each number."""
    number, size = np.zeros(rows.shape[1], dtype=np.int64), 1
    radix = _COUNTER_OR_LOST + 1
    for row in rows:
        if size > 2**62 // radix:
            number, distinct = pd.factorize(number)
            size = max(len(distinct), 1)
        number, size = number * radix + row, size * radix
    codes = pd.factorize(number)[0].astype(np.int64)
    return codes, np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))


def _outcomes_of_patterns(patterns: Codes, rules: VotingRules, mode: Mode, workers: Sequence[str]) -> Ints:
    """Return the set of outcomes of each round, given as a column of votes; those that lack the same votes at once."""
    table = _same_kinds(rules, mode)
    kinds = table[read_codes(np.array([*COUNTED, LOST], dtype=np.int8), rules, mode)]
    options = {
        UNSEEN: sorted(set(kinds.tolist())),
        _COUNTER_OR_NOT_ASKED: [NOT_ASKED, int(table[COUNTER])],
        _COUNTER_OR_LOST: [LOST, int(table[COUNTER])],
    }
    layout, firsts = _distinct(np.where(patterns >= UNSEEN, patterns, NOT_ASKED))
    sets = np.zeros(patterns.shape[1], dtype=np.int64)
    for number, first in enumerate(firsts):
        rows, missing = np.flatnonzero(layout == number), np.flatnonzero(patterns[:, first] >= UNSEEN)
        completions = _completions(patterns[missing, first].tolist(), options, together=_interchangeable(rules))
        if completions is None:
            sets[rows] = widest(rules, mode)
            continue
        step = max(1, _CELLS_AT_ONCE // (len(completions) * max(len(patterns), 1)))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            cells = np.repeat(patterns[:, some], len(completions), axis=1)
            cells[missing] = np.tile(completions.T, len(some))
            cells[~asked_until_stop(cells, rules)] = NOT_ASKED
            outcomes = OUTCOMES[rules_of_rounds(cells[None], rules, mode, workers)[0]]
            sets[some] = np.bitwise_or.reduce(outcomes.reshape(len(some), len(completions)), axis=1)
    return sets


def _completions(cells: list[int], options: dict[int, list[int]], *, together: bool) -> Codes | None:
    """Return the votes that can be put into the empty cells of a round, a row a way; None where there are too many.

    Cells of one kind follow each other; `together` takes each number of votes of each kind once.
    """
    runs = [(options[kind], len(list(same))) for kind, same in groupby(cells)]
    ways = prod(comb(n + len(kinds) - 1, n) if together else len(kinds) ** n for kinds, n in runs)
    if ways > MAX_COMPLETIONS:
        return None
    choices: list[Iterator[tuple[int, ...]]] = [
        combinations_with_replacement(kinds, n) if together else product(kinds, repeat=n) for kinds, n in runs
    ]
    found = [sum(votes, ()) for votes in product(*choices)]
    return np.array(found, dtype=np.int8).reshape(len(found), len(cells))
