"""Classify a table of votes by packed tallies, where counts of votes suffice (rules B5-B7, R2, R4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.compiled_tallies import compiled_judge
from verifyplan.analysis.judgement import bases_matter
from verifyplan.analysis.narrow_codes import LaterRoundError, MissingKeyError, VoteCodes, vote_codes
from verifyplan.analysis.packed_decisions import PackedJudge, packed_judge
from verifyplan.analysis.tallies_in_any_order import numbers, votes_in_any_order
from verifyplan.analysis.tallies_in_order import NotInOrderError, judge_in_order
from verifyplan.analysis.vote_packing import Counted, Fill, NotPackedError, Packing, packing_of
from verifyplan.frames.cut_rounds import held_back
from verifyplan.frames.vote_checks import cite_places
from verifyplan.protocol.vote import MissingBasis, Mode
from verifyplan.protocol.voting_rules import VotingRules

Array = npt.NDArray[Any]


class PackedClasses(NamedTuple):
    """How the findings of a table are decided; arrays have one entry a finding, in order of appearance."""

    firsts: tuple[Array, ...]
    """The rows of the first votes, part by part."""
    keys: tuple[Array, ...]
    """The codes of each column that names a finding."""
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

    @property
    def first(self) -> Array:
        """The row of the first vote."""
        return np.concatenate(self.firsts)


Bounds = Callable[[pd.DataFrame], pd.DataFrame]
"""Returns `low` and `high` of the findings of a table of votes, in order of appearance."""


class Settings(NamedTuple):
    """The rules and the rounds by which a table of votes is classified."""

    mode: Mode
    rules: VotingRules
    max_rounds: int
    bounds: Bounds
    """Judges votes with one finding of each censored pattern."""


def packed_classes(votes: pd.DataFrame, settings: Sequence[Settings]) -> list[PackedClasses] | None:
    """Return how the findings of a table are decided by counts, under each of some settings; votes are counted once.

    None where votes must be looked at one by one: something is wrong with the table, a word has no room for all
    workers, a missing basis is to be refused, a limit of the run held votes back, or settings differ in how they fill
    in missing bases.
    """
    if len({each.rules.missing_basis for each in settings}) > 1:
        return None
    codes = vote_codes(votes)
    if codes is not None and "verification-error" in codes.verdicts and len(held_back(votes)):
        return None  # a packed word counts no votes that were never cast
    try:
        judged = None if codes is None else _judge(votes, codes, settings)
    except LaterRoundError:
        codes = None if codes is None else codes.of_all_rounds()
        judged = None if codes is None else _judge(votes, codes, settings)
    if codes is None or judged is None:
        return None
    packing, parts = judged
    return [
        _with_bounds(votes, codes, packing, each.bounds, list(of_each))
        for each, of_each in zip(settings, zip(*parts, strict=True), strict=True)
    ]


def _with_bounds(
    votes: pd.DataFrame, codes: VoteCodes, packing: Packing, bounds: Bounds, parts: list[_JudgedVotes]
) -> PackedClasses:
    """Return what was judged part by part, with the bounds of censored findings."""
    unsure = np.concatenate([part.unsure for part in parts], axis=1)
    packed = _put_together(codes, parts)
    if len(unsure[0]):
        censored = np.flatnonzero(packed.censored)
        if codes.n_rounds == 1:
            unsure = packing.nameless(unsure)
        alike = codes.is_origin is None and (packing.names_voters or codes.n_rounds == 1)
        low, high = _bounds_of(votes, codes, packed.first, unsure, censored, bounds, alike=alike)
        packed.low[censored], packed.high[censored] = low, high
    return packed


def _judge(
    votes: pd.DataFrame, codes: VoteCodes, settings: Sequence[Settings]
) -> tuple[Packing, list[list[_JudgedVotes]]] | None:
    """Return how votes are packed, and how each part is judged under each setting; None as above."""
    missing_basis = settings[0].rules.missing_basis
    try:
        packing = packing_of(codes, missing_as=_BURDEN if missing_basis != _COUNTER else _COUNTER)
        judges = [packed_judge(packing, each.rules, each.mode, codes.n_rounds, each.max_rounds) for each in settings]
        by_bases = [bases_matter(each.rules, each.mode) for each in settings]
        fill = _fill(votes, codes, missing_basis) if any(by_bases) else None

        def judged(counted: Counted, decisions: dict[str, Array] | None = None) -> list[_JudgedVotes]:
            without = counted._replace(missing=None)
            return [
                _judged(judge, counted if reads_bases else without, decisions)
                for judge, reads_bases in zip(judges, by_bases, strict=True)
            ]

        try:
            at_once = compiled_judge(codes, packing, judges[0].of_one_round) if len(judges) == 1 else None
            return packing, judge_in_order(codes, packing, fill, judged, at_once)
        except NotInOrderError:
            return packing, [judged(votes_in_any_order(codes, packing, fill))]
    except (NotPackedError, MissingKeyError):
        return None


_COUNTER, _BURDEN = "counter-evidence", "burden-not-met"


class _JudgedVotes(NamedTuple):
    """Findings of one part of the votes; arrays have one entry a finding."""

    first: Array
    """The row of the first vote."""
    keys: tuple[Array, ...]
    """The codes of each column that names a finding."""
    decisions: dict[str, Array]
    """How it is decided: the fields of `decision_type`."""
    filled: Array | None
    """The missing bases of the rounds that were executed; None where none is missing."""
    unsure: Array
    """The words of censored findings, of shape (rounds, findings)."""


def _judged(judge: PackedJudge, counted: Counted, decisions: dict[str, Array] | None = None) -> _JudgedVotes:
    if decisions is None:
        decided = judge.decide(counted.words)
        decisions = {name: decided[name].copy() for name in decided.dtype.names or ()}
    filled = None
    if counted.missing is not None:
        executed = np.arange(1, len(counted.missing) + 1)[:, None] <= decisions["round"]
        filled = np.asarray(np.sum(counted.missing, axis=0, where=executed, dtype=np.int32))
    censored = decisions["censored"]
    unsure = counted.words[:, censored if censored.any() else slice(0)]
    return _JudgedVotes(counted.first, counted.keys, decisions, filled, unsure)


def _put_together(codes: VoteCodes, parts: list[_JudgedVotes]) -> PackedClasses:
    """Return what was judged part by part."""
    int64, int8 = np.dtype(np.int64), np.dtype(np.int8)
    types = [int64, *(column.codes.dtype for column in codes.key), *[int8] * 4, np.dtype(bool), int64]
    round_, *others, filled = _arrays(sum(len(part.first) for part in parts), types)
    *keys, rule, classification, low, high, censored = others
    for key, of_parts in zip(keys, zip(*(part.keys for part in parts), strict=True), strict=True):
        np.concatenate(of_parts, out=key)
    decided = {"rule": rule, "classification": classification, "round": round_, "censored": censored}
    for name, array in decided.items():
        np.concatenate([part.decisions[name] for part in parts], out=array)
    low[:] = high[:] = classification
    stop = 0
    for part in parts:
        start, stop = stop, stop + len(part.first)
        if part.filled is not None:
            filled[start:stop] = part.filled
    return PackedClasses(
        tuple(part.first for part in parts), tuple(keys), rule, classification, round_, censored, filled, low, high
    )


def _arrays(n: int, types: Sequence[np.dtype[Any]]) -> list[Array]:
    """Return arrays of zeros of one length, in one piece of memory: the system gives a large one in large pages."""
    starts = np.cumsum([0, *(-(-n * each.itemsize // 8) * 8 for each in types)])
    memory = np.zeros(starts[-1], dtype=np.uint8)
    return [memory[start : start + n * each.itemsize].view(each) for start, each in zip(starts, types, strict=False)]


def _fill(votes: pd.DataFrame, codes: VoteCodes, missing_basis: MissingBasis) -> Fill:
    """Return what fills in missing bases vote by vote: by the explanation, where that says more than a packed word."""
    to_counter = 1 + codes.bases.index(_COUNTER)  # kinds are numbered by verdict, then by basis, none first

    def fill(index: Array, missing: Array, rows: slice) -> Array:
        if missing_basis == "raise":
            raise NotPackedError
        if missing_basis == "infer" and "explanation" in votes:
            at = np.flatnonzero(missing)
            index[at[cite_places(votes["explanation"].iloc[at + rows.start])]] += to_counter
        return index

    return fill


def _bounds_of(
    votes: pd.DataFrame,
    codes: VoteCodes,
    first: Array,
    words: Array,
    censored: Array,
    bounds: Bounds,
    *,
    alike: bool,
) -> tuple[Array, Array]:
    """Return the worst and the best class of censored findings: of one finding for each pattern of words.

    Who is asked in rounds never held is whoever voted before: after one round, so many; after several, those whom the
    words must name. Unless findings of equal words are `alike`, each is judged by itself: with discoverers in the
    table, who are not asked.
    """
    pattern = np.arange(len(censored))
    if alike:
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
