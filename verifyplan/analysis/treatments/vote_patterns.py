"""Recorded votes as distinct patterns of a round, so that each of many rules judges every pattern once (rule R5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.judgement import LATER_ROUNDS
from verifyplan.analysis.replay import ReplayPart
from verifyplan.analysis.treatments.round_outcomes import mark_open_cells, stops_within_rounds
from verifyplan.analysis.vote_cube import VoteCube, with_unseen
from verifyplan.analysis.voters import Voters, in_order_of_runs, places_in_rosters
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import (
    N_CODES,
    NOT_ASKED,
    UNSEEN,
    Bools,
    Codes,
    Ints,
    asked_until_stop,
    counted_codes,
    read_codes,
    ties_rounds,
)

_IF_NAMED = N_CODES
"""The symbol of a vote that was never cast, and that only rules that name its worker would ask for."""
_N_SYMBOLS = N_CODES + 2
_ASKED = 16
"""Added to the symbol of a cell that the rules ask for, where fills make this differ from cells with a vote."""
_MAX_CODE = 2**62


class Patterns(NamedTuple):
    """The distinct patterns of a round under the rules that read votes alike; the last one is a round not allowed."""

    votes: Codes
    """What each vote counts as, of shape (workers, patterns); UNSEEN or an open cell where that is not known."""
    asked: Bools
    """Whether the rules ask for the vote, by the votes that were cast; of the same shape."""
    number: tuple[Ints, ...]
    """The pattern of each finding in each round."""
    workers: tuple[str, ...]
    """The names of the first axis."""
    loose: Bools | None = None
    """Whether a pattern follows from unseen votes in a way that is not traced, so that it allows any outcome."""
    stopped: bool = False
    """Whether votes that are not asked for are `NOT_ASKED` already; else an unseen vote decides who is asked, too."""


class VotePatterns:
    """The votes on the findings of one part of a set, by pattern."""

    def __init__(self, cube: VoteCube, max_rounds: int) -> None:
        """Number the patterns of up to `max_rounds` rounds; further ones are numbered when rules ask for them."""
        self._cube = cube
        self.workers = cube.workers
        self.last_round = cube.last_round
        self._number(max_rounds)

    def _number(self, max_rounds: int) -> None:
        self._max_rounds = max_rounds
        self._reach = np.minimum(self._cube.last_round + LATER_ROUNDS, max_rounds)
        codes = with_unseen(self._cube, VotingRules(), self._reach).codes
        named = with_unseen(self._cube, VotingRules(workers=self.workers), self._reach).codes if self.workers else codes
        self._symbols = np.where((named == UNSEEN) & (codes == NOT_ASKED), np.int8(_IF_NAMED), codes)
        self._numbers, self._distinct = distinct_columns(self._symbols, _N_SYMBOLS)
        self._tied: dict[tuple[object, ...], Patterns] = {}

    def counted(self, rules: VotingRules, mode: Mode, allowed: Ints) -> Patterns:
        """Return the patterns that the rules count, read in a mode; `allowed` are the rounds of each finding."""
        rounds = int(np.minimum(self.last_round + LATER_ROUNDS, allowed).max(initial=0))
        if rounds > self._max_rounds:
            self._number(rounds)
        patterns = self._tied_patterns(rules, mode) if ties_rounds(rules, mode) else self._free_patterns(rules, mode)
        return patterns._replace(number=self._within(patterns.number, patterns.votes.shape[1] - 1, allowed))

    def _within(self, numbers: tuple[Ints, ...], none: int, allowed: Ints) -> tuple[Ints, ...]:
        """Return the pattern of each finding and round, with the last pattern where a round is not allowed."""
        limit = np.minimum(self._reach, allowed)
        rounds = range(1, min(len(numbers), int(limit.max(initial=0))) + 1)
        least = int(limit.min(initial=0))
        return tuple(numbers[r - 1] if r <= least else np.where(limit >= r, numbers[r - 1], none) for r in rounds)

    def _free_patterns(self, rules: VotingRules, mode: Mode) -> Patterns:
        """Return the patterns under rules that judge each round on its own votes."""
        symbols, names = self._rows(self._distinct, rules)
        cells = np.where(symbols == _IF_NAMED, NOT_ASKED if rules.workers is None else UNSEEN, symbols)
        votes = _with_none(read_codes(cells.astype(np.int8), rules, mode))
        asked = (votes != NOT_ASKED) & asked_until_stop(votes, rules, names)
        return Patterns(votes, asked, self._numbers, names)

    def _rows(self, symbols: Codes, rules: VotingRules) -> tuple[Codes, tuple[str, ...]]:
        """Return the rows of the workers whom the rules ask, those who never voted after the others."""
        if rules.workers is None:
            return symbols, self.workers
        rows = [row for row, name in enumerate(self.workers) if name in rules.workers]
        extra = [name for name in rules.workers if name not in self.workers]
        unseen = np.full((*symbols.shape[:-2], len(extra), symbols.shape[-1]), UNSEEN, dtype=np.int8)
        names = (*(self.workers[row] for row in rows), *extra)
        return np.concatenate([symbols[..., rows, :], unseen], axis=-2), names

    def _tied_patterns(self, rules: VotingRules, mode: Mode) -> Patterns:
        """Return the patterns under rules by which a vote counts in later rounds, too."""
        read_by = (rules.missing_basis, rules.uncited, rules.caveats, rules.lost_votes, rules.refutes)
        key = (mode, rules.workers, str(rules.stop), rules.order, *read_by)
        if key not in self._tied:
            symbols, names = self._rows(self._symbols, rules)
            codes = np.where(symbols == _IF_NAMED, NOT_ASKED if rules.workers is None else UNSEEN, symbols)
            codes = codes.astype(np.int8)
            counted = counted_codes(codes, rules.model_copy(update={"workers": None}), mode, names)
            own = read_codes(codes, rules, mode)
            asked = (codes != NOT_ASKED) & np.array([asked_until_stop(votes, rules, names) for votes in own])
            loose = np.zeros((len(codes), 1, codes.shape[2]), dtype=np.int8)
            if not stops_within_rounds(rules, names):
                mark_open_cells(counted, codes, rules)
            else:
                loose[:, 0] = np.logical_or.accumulate((counted == UNSEEN).any(axis=1), axis=0)
            numbers, both = distinct_columns(
                np.concatenate([counted + np.int8(_ASKED) * asked, loose], axis=1), 2 * _ASKED
            )
            votes, any_outcome = _with_none(both[:-1] % _ASKED), np.append(both[-1] > 0, False)
            was_asked = _with_none(both[:-1]) >= _ASKED
            self._tied[key] = Patterns(
                votes, was_asked, numbers, names, any_outcome if any_outcome.any() else None, stopped=True
            )
        return self._tied[key]


def _with_none(patterns: Codes) -> Codes:
    """Return patterns with one more, in which nobody is asked."""
    none = np.full((len(patterns), 1), NOT_ASKED, dtype=np.int8)
    return np.concatenate([patterns, none], axis=1)


def distinct_columns(cells: Codes, n_symbols: int) -> tuple[tuple[Ints, ...], Codes]:
    """Return the number of each finding's column among the distinct ones, round by round, and these columns.

    `cells` has the shape (rounds, rows, findings), with values below `n_symbols`; the distinct columns (rows, columns).
    """
    n_rounds, n_rows, n_findings = cells.shape
    code, size = np.zeros((n_rounds, n_findings), dtype=np.int64), 1
    for row in range(n_rows):
        if size > _MAX_CODE // n_symbols:
            numbered, values = pd.factorize(code.ravel())
            code, size = numbered.reshape(code.shape).astype(np.int64), max(len(values), 1)
        code, size = code * n_symbols + cells[:, row], size * n_symbols
    numbers, values = pd.factorize(code.ravel())
    first = np.full(len(values), -1, dtype=np.int64)
    first[numbers[::-1]] = np.arange(code.size)[::-1]
    at_round, at_finding = np.divmod(first, max(n_findings, 1))
    columns: npt.NDArray[np.int8] = cells[at_round, :, at_finding].T.astype(np.int8)
    return tuple(numbers.reshape(code.shape).astype(np.int64)), columns


class Rosters:
    """The rosters of the runs of some findings, and their votes by the place of whoever cast them.

    For rules that know no worker by name.
    """

    def __init__(self, cube: VoteCube, orders: Mapping[str, str], max_rounds: int) -> None:
        """Number the patterns of up to `max_rounds` rounds; `orders` are the rosters as `order_of_runs` gives them."""
        run, names = pd.factorize(cube.findings["run_id"])
        self._orders, self._workers = orders, cube.workers
        self._place, roster = np.unique(places_in_rosters(cube.workers, names, orders), axis=0, return_inverse=True)
        self._roster = roster.ravel()[run]
        worker = self._place.argsort(axis=1)[self._roster].T
        by_place = replace(
            cube,
            workers=tuple(map(str, range(len(cube.workers)))),
            codes=np.take_along_axis(cube.codes, worker[None], axis=1),
            discovered=np.take_along_axis(cube.discovered, worker, axis=0),
            perhaps_left=np.take_along_axis(cube.perhaps_left, worker, axis=0),
        )
        self.votes = VotePatterns(by_place, max_rounds)

    def named(self, patterns: Patterns) -> Patterns:
        """Return the patterns of `votes` by the names of workers: one for each pattern and roster."""
        keys = np.array(patterns.number) * len(self._place) + self._roster
        pairs, number = np.unique(keys, return_inverse=True)
        pattern, roster = np.divmod(pairs, len(self._place))
        place = self._place[roster].T
        return patterns._replace(
            votes=patterns.votes[place, pattern],
            asked=patterns.asked[place, pattern],
            number=tuple(number.reshape(keys.shape)),
            workers=self._workers,
            loose=None if patterns.loose is None else patterns.loose[pattern],
        )

    def voters(self, part: ReplayPart) -> Voters:
        """Return the voters of a part, numbered by the rosters of their runs."""
        return in_order_of_runs(part.voters(), part.cast, part.cast.findings["run_id"], self._orders)
