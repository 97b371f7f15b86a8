"""Classify a table of votes by packed tallies, where counts of votes suffice (rules B5-B7, R2, R4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.judgement import bases_matter
from verifyplan.analysis.narrow_codes import VoteCodes, vote_codes
from verifyplan.analysis.packed_decisions import PackedJudge
from verifyplan.analysis.packed_tallies import (
    Counted,
    Fill,
    NotInOrderError,
    NotPackedError,
    numbers,
    packing_of,
    votes_in_any_order,
    votes_in_order,
)
from verifyplan.frames.vote_checks import cite_places
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import VotingRules

Array = npt.NDArray[Any]


class PackedClasses(NamedTuple):
    """How the findings of a table are decided; arrays have one entry a finding, in order of appearance."""

    first: Array
    """The row of the first vote."""
    rule: Array
    """Position in RULES."""
    classification: Array
    """Position in CLASSIFICATIONS."""
    round: Array
    """The round that decides."""
    censored: Array
    """Whether the rules hold a round after the last recorded one."""
    filled_bases: Array
    """The missing bases of the rounds that were executed."""
    low: Array
    """The worst class that votes never cast allow, by position in CLASSIFICATIONS."""
    high: Array
    """The best class."""


Bounds = Callable[[pd.DataFrame], pd.DataFrame]
"""Returns `low` and `high` of the findings of a table of votes, in order of appearance."""


def packed_classes(
    votes: pd.DataFrame, mode: Mode, rules: VotingRules, max_rounds: int, bounds: Bounds
) -> PackedClasses | None:
    """Return how the findings of a table are decided by counts; None where votes must be looked at one by one.

    That is so where something is wrong with the table, where a word has no room for all workers, and where a missing
    basis is to be refused. `bounds` judges votes with one finding of each censored pattern.
    """
    codes = vote_codes(votes)
    if codes is None:
        return None
    try:
        packing = packing_of(codes, missing_as=_BURDEN if rules.missing_basis != _COUNTER else _COUNTER)
        judge = PackedJudge(packing, rules, mode, codes.n_rounds, max_rounds)
        fill = _fill(votes, codes, rules) if bases_matter(rules, mode) else None
        try:
            parts = [_judged(counted, judge) for counted in votes_in_order(codes, packing, fill)]
        except NotInOrderError:
            parts = [_judged(votes_in_any_order(codes, packing, fill), judge)]
    except NotPackedError:
        return None
    first, rule, classes, rounds, censored, filled, unsure = (
        np.concatenate(each, axis=-1) for each in zip(*parts, strict=True)
    )
    low, high = classes, classes
    if len(unsure[0]):
        low, high = classes.copy(), classes.copy()
        low[censored], high[censored] = _bounds_of(votes, codes, first, unsure, np.flatnonzero(censored), bounds)
    return PackedClasses(first, rule, classes, rounds, censored, filled, low, high)


_COUNTER, _BURDEN = "counter-evidence", "burden-not-met"


def _judged(counted: Counted, judge: PackedJudge) -> tuple[Array, ...]:
    """Return the first row, the decision, the filled bases and, of censored findings, the words."""
    decided = judge.decide(counted.words)
    if counted.missing is None:
        filled = np.zeros(len(counted.first), dtype=np.int32)
    elif len(counted.missing) == 1:
        filled = counted.missing[0]
    else:
        executed = np.arange(1, len(counted.missing) + 1)[:, None] <= decided.round
        filled = np.sum(counted.missing, axis=0, where=executed, dtype=np.int32)
    unsure = counted.words[:, decided.censored] if decided.censored.any() else counted.words[:, :0]
    return counted.first.astype(np.int32 if counted.first[-1] < 2**31 else np.int64), *decided, filled, unsure


def _fill(votes: pd.DataFrame, codes: VoteCodes, rules: VotingRules) -> Fill:
    """Return what fills in missing bases vote by vote: by the explanation, where that says more than a packed word."""
    to_counter = 1 + codes.bases.index(_COUNTER)  # kinds are numbered by verdict, then by basis, none first

    def fill(index: Array, missing: Array, rows: slice) -> Array:
        if rules.missing_basis == "raise":
            raise NotPackedError
        if rules.missing_basis == "infer" and "explanation" in votes:
            at = np.flatnonzero(missing)
            index[at[cite_places(votes["explanation"].iloc[at + rows.start])]] += to_counter
        return index

    return fill


def _bounds_of(
    votes: pd.DataFrame, codes: VoteCodes, first: Array, words: Array, censored: Array, bounds: Bounds
) -> tuple[Array, Array]:
    """Return the worst and the best class of censored findings: of one finding for each pattern of words.

    Equal words are the same votes by the same workers, but for who found the finding: with discoverers in the table
    each finding is judged by itself.
    """
    pattern = np.arange(len(censored))
    if codes.is_origin is None:
        pattern = pd.factorize(words[0])[0]
        for later in words[1:]:
            pattern = pd.factorize(pattern * len(censored) + pd.factorize(later)[0])[0]
    n_patterns = int(pattern.max()) + 1
    chosen = np.zeros(n_patterns, dtype=np.int64)
    chosen[pattern[::-1]] = np.arange(len(pattern) - 1, -1, -1)  # the first finding of each: patterns are in order
    judged = bounds(votes[_of_findings(codes, first, censored[chosen])])
    low, high = (judged[name].cat.codes.to_numpy() for name in ("low", "high"))
    return low[pattern], high[pattern]


def _of_findings(codes: VoteCodes, first: Array, chosen: Array) -> Array:
    """Return which rows are votes on some findings, named by their first rows."""
    number, n_numbers = numbers(codes)
    wanted = np.zeros(n_numbers, dtype=bool)
    wanted[number[first[chosen]]] = True
    return wanted.take(number)
