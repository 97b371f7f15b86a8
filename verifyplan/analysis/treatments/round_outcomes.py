"""The outcomes that a round can have where some of its votes were never cast, as sets (rule R4).

A set has a bit for each class in the order of CLASSIFICATIONS, one for being carried on, and one for having no vote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, groupby, product
from math import comb, prod

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.protocol.vote import CLASSIFICATIONS, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.classification import CLASS_OF_RULE, RULES_OF_MODE, Rule
from verifyplan.rules.round_decisions import CLASS_IN_ROUND, NO_VOTES, rule_set, rules_of_rounds
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
    ties_rounds,
)

MAX_COMPLETIONS = 10_000
"""The votes that a round lacks are completed in at most so many ways; beyond, the round can have any outcome."""

_CELLS_AT_ONCE = 2**22

ANY_CLASS = (1 << len(CLASSIFICATIONS)) - 1
CARRIES, HAS_NO_VOTES = 1 << len(CLASSIFICATIONS), 2 << len(CLASSIFICATIONS)
OUTCOMES = np.where(CLASS_IN_ROUND >= 0, 1 << np.maximum(CLASS_IN_ROUND, 0), CARRIES)
OUTCOMES[NO_VOTES] = HAS_NO_VOTES
"""What each rule makes of a round, a bit each: one of the classes, carried on with votes, or without any vote."""

_COUNTER_OR_NOT_ASKED, _COUNTER_OR_LOST = N_CODES, N_CODES + 1
"""Cells that a sticky refutation fills, if the unseen vote that it rests on is one."""


def widest(rules: VotingRules, mode: Mode) -> int:
    """Return all outcomes that a round can have under the rules, a bit each."""
    estimates: tuple[Rule, ...] = ("estimated-true", "estimated-false")
    given = estimates if rules.aggregate == "dawid-skene" else RULES_OF_MODE[rule_set(rules, mode)]
    classes = [CLASS_OF_RULE[rule] for rule in given]
    return sum({1 << CLASSIFICATIONS.index(name) for name in classes if name}) | CARRIES | HAS_NO_VOTES


def outcomes_of_rounds(codes: Codes, rules: VotingRules, mode: Mode, workers: Sequence[str]) -> Ints:
    """Return the set of outcomes of each round of each finding, of shape (rounds, findings)."""
    tied = ties_rounds(rules, mode)
    if tied and stops_within_rounds(rules, workers):
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


def stops_within_rounds(rules: VotingRules, workers: Sequence[str]) -> bool:
    """Return whether asking can stop before the last worker of a round: there are two whom the rules ask, or more."""
    counted = workers if rules.workers is None else [name for name in workers if name in rules.workers]
    return rules.stop != "round" and len(counted) > 1


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
            cells[~asked_until_stop(cells, rules, workers)] = NOT_ASKED
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
