"""Tally votes: from a table of votes to arrays of counts, one row a round, one column a finding (rule B5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.errors import Problem, TableError
from verifyplan.frames.codes import first_rows, row_numbers
from verifyplan.frames.vote_checks import VoteNumbers, check_votes, cite_places
from verifyplan.protocol.vote import BASES, VERDICTS, MissingBasis, Verdict
from verifyplan.rules.classification import Tally

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_DISAGREE = VERDICTS.index("disagree")
_ERROR = VERDICTS.index("verification-error")
_COUNTER_EVIDENCE = BASES.index("counter-evidence")
_BURDEN_NOT_MET = BASES.index("burden-not-met")

_AGREE, _SUPPLEMENT, _COUNTER, _BURDEN, _NOT_COUNTED = range(5)
_KIND_OF: dict[Verdict, int] = {
    "agree": _AGREE,
    "supplement": _SUPPLEMENT,
    "disagree": _BURDEN,
    "verification-error": _NOT_COUNTED,
}
_KINDS = np.array([_KIND_OF[verdict] for verdict in VERDICTS], dtype=np.int64)
"""What a tally counts a vote as, by the code of its verdict; a disagree by counter-evidence is _COUNTER."""


@dataclass(frozen=True)
class CodedVotes:
    """A checked table of votes as integer codes; arrays have one entry a vote."""

    findings: pd.DataFrame
    """The key of each finding (`run_id`, `iteration` where there is one, `finding_id`), in order of appearance."""
    finding: Ints
    """Position in `findings`."""
    worker: Ints
    """Position in `workers`."""
    workers: tuple[str, ...]
    """The names of those who vote, in order of appearance."""
    round: Ints
    """Round, from 1."""
    verdict: npt.NDArray[Any]
    """Position in VERDICTS."""
    basis: npt.NDArray[Any]
    """Position in BASES; -1 where there is none."""
    counted: Bools
    """False for errors and for the discoverers' own votes."""
    failed: Bools
    """True for errors of workers whose vote would have counted."""
    last_round: Ints
    """The highest round of each finding that has a vote, counted or not; one entry a finding."""
    held_back: Bools | None = None
    """Which of the failed votes were never cast, as a limit of the run held them back (rule R4); None for none."""

    @cached_property
    def missing(self) -> Bools:
        """Whether a counted disagree has no basis."""
        missing: Bools = self.counted & (self.verdict == _DISAGREE) & (self.basis < 0)
        return missing

    @cached_property
    def tallies(self) -> Tally:
        """The counted votes of every round as arrays of shape (rounds, findings), missing bases as none."""
        return count(self, self.basis, int(self.last_round.max(initial=1)))

    def lack_votes(self, rounds: Ints, findings: Ints | None = None) -> Bools:
        """Return whether each finding has votes that were never cast in as many rounds; None means all findings.

        >>> votes = pd.DataFrame({"run_id": "r", "finding_id": ["F", "G"], "round": 1, "worker": "a",
        ...     "verdict": "verification-error", "disagree_basis": None})
        >>> cast = replace(code_votes(votes), held_back=np.array([True, False]))
        >>> cast.lack_votes(np.array([1, 1])).tolist(), cast.lack_votes(np.array([2]), np.array([1])).tolist()
        ([True, False], [True])
        """
        chosen = slice(None) if findings is None else findings
        lack: Bools = (rounds > self.last_round[chosen]) | (rounds >= self._first_held_back[chosen])
        return lack

    @cached_property
    def _first_held_back(self) -> Ints:
        """The first round of each finding that lacks a vote that a limit held back; beyond all rounds for none."""
        first = np.full(len(self.findings), np.iinfo(np.int64).max)
        if self.held_back is not None:
            np.minimum.at(first, self.finding[self.held_back], self.round[self.held_back])
        return first

    @property
    def numbers(self) -> VoteNumbers:
        """The numbers of findings and workers."""
        return VoteNumbers(self.finding, self.worker, self.workers, self.findings)


def code_votes(votes: pd.DataFrame, *, gaps_allowed: bool = False) -> CodedVotes:
    """Check a table of votes and turn it into codes; TableError lists what cannot be classified.

    Columns: see `verifyplan.frames.vote_checks.check_votes`; optional: `iteration`, `is_origin`. Gaps are allowed where
    rounds without any vote were recorded elsewhere, as an artifact does.
    """
    check_votes(votes)
    key = [name for name in ("run_id", "iteration", "finding_id") if name in votes]
    finding = row_numbers(*(votes[name] for name in key))
    firsts = first_rows(finding)
    rounds = pd.to_numeric(votes["round"]).to_numpy(dtype=np.int64)
    last_round = np.zeros(len(firsts), dtype=np.int64)
    np.maximum.at(last_round, finding, rounds)
    worker, workers = pd.factorize(votes["worker"])
    cell, of_cells = _cells(finding, rounds)
    _refuse_repeats(votes, cell, rounds, worker, len(workers))
    if not gaps_allowed:
        _refuse_gaps(votes, of_cells, last_round, firsts)
    verdict = _codes(votes["verdict"], VERDICTS)
    is_voter = ~votes["is_origin"].fillna(False).to_numpy(dtype=bool) if "is_origin" in votes else np.True_
    return CodedVotes(
        findings=votes[key].iloc[firsts].reset_index(drop=True),
        finding=finding,
        worker=worker,
        workers=tuple(map(str, workers)),
        round=rounds,
        verdict=verdict,
        basis=_codes(votes["disagree_basis"], BASES),
        counted=(verdict != _ERROR) & is_voter,
        failed=(verdict == _ERROR) & is_voter,
        last_round=last_round,
    )


def with_held_back(cast: CodedVotes, rows: Ints) -> CodedVotes:
    """Return the votes with those at some rows, where they failed, as held back by a limit of their run (rule R4)."""
    held = np.zeros(len(cast.round), dtype=bool)
    held[rows] = True
    held &= cast.failed
    return replace(cast, held_back=held) if held.any() else cast


def _codes(values: pd.Series[Any], order: tuple[str, ...]) -> npt.NDArray[Any]:
    """Return the position of each value in `order`; -1 where it is missing."""
    return np.asarray(pd.Categorical(values, categories=order).codes, dtype=np.int8)


def _refuse_repeats(votes: pd.DataFrame, cell: Ints, rounds: Ints, worker: npt.NDArray[Any], n_workers: int) -> None:
    cell = cell * max(n_workers, 1) + worker
    if (cell[1:] > cell[:-1]).all():
        return
    if len(cell) and _is_dense(cell) and np.bincount(cell).max() <= 1:
        return
    again = pd.Series(cell).duplicated().to_numpy()
    if again.any():
        message = "{worker!r} votes a second time on finding {finding_id!r} of run {run_id!r} in round {round}"
        fix = "keep one vote of a worker on a finding in a round"
        if (rounds == 1).all():
            fix += "; or, if the table has several rounds or runs, name their columns: round='round', run='run'"
        _raise_rows(votes, again, message, fix)


def _refuse_gaps(votes: pd.DataFrame, of_cells: Ints, last_round: Ints, firsts: Ints) -> None:
    """Raise TableError unless each finding has rounds 1 to n: exactly n different rounds, since all are at least 1."""
    gaps = np.bincount(of_cells, minlength=len(last_round)) != last_round
    if gaps.any():
        rows = np.zeros(len(votes), dtype=bool)
        rows[firsts[gaps]] = True
        message = "the rounds of finding {finding_id!r} of run {run_id!r} have a gap"
        _raise_rows(votes, rows, message, "number the rounds of a finding 1, 2, 3; a round without a vote is none")


def _is_dense(codes: Ints) -> bool:
    """Return whether counting codes is cheaper than hashing them: up to eight cells for each vote."""
    return int(codes.max(initial=-1)) + 1 <= 8 * len(codes)


def _cells(finding: Ints, rounds: Ints) -> tuple[Ints, Ints]:
    """Return a number for each vote's (finding, round), and the finding of each distinct such pair."""
    width = int(rounds.max(initial=0))
    if width == 1:
        return finding, np.arange(int(finding.max(initial=-1)) + 1)
    cell = finding * width + rounds - 1
    if _is_dense(cell):
        return cell, np.flatnonzero(np.bincount(cell)) // max(width, 1)
    numbered, distinct = pd.factorize(cell)
    return numbered.astype(np.int64), distinct // width


def _raise_rows(votes: pd.DataFrame, rows: Bools, message: str, fix: str) -> None:
    bad = votes[rows].to_dict("records")
    messages = [message.format(**{str(k): v for k, v in row.items()}) for row in bad]
    problems = {text: Problem("votes", text, fix) for text in set(messages)}  # each searches its text for keys
    raise TableError(problems[text] for text in messages)


def fill_bases(votes: pd.DataFrame, cast: CodedVotes, missing_basis: MissingBasis) -> npt.NDArray[Any]:
    """Return the basis codes, with those that an adversarial mode needs filled in (rule B7).

    `infer` looks at the vote's `explanation`: counter-evidence if it cites a place, else burden-not-met; without
    that column nothing is cited. `raise` fills burden-not-met for the caller to find and refuse.
    """
    if not cast.missing.any():
        return cast.basis
    basis, missing = cast.basis.copy(), cast.missing
    filled = _COUNTER_EVIDENCE if missing_basis == "counter-evidence" else _BURDEN_NOT_MET
    basis[missing] = filled
    if missing_basis == "infer" and "explanation" in votes:
        cites = cite_places(votes.loc[missing, "explanation"])
        basis[np.flatnonzero(missing)[cites]] = _COUNTER_EVIDENCE
    return basis


def count(cast: CodedVotes, basis: npt.NDArray[Any], rounds: int) -> Tally:
    """Return tallies as arrays of shape (rounds, findings), of the first `rounds` rounds (rule B5)."""
    is_counter = (cast.verdict == _DISAGREE) & (basis == _COUNTER_EVIDENCE)
    kind = np.where(is_counter, _COUNTER, _KINDS[cast.verdict])
    shape = (_NOT_COUNTED + 1, rounds, len(cast.findings))
    used = cast.counted & (cast.round <= rounds)
    kind[~used] = _NOT_COUNTED
    slot = (kind * rounds + np.minimum(cast.round, rounds) - 1) * shape[2] + cast.finding
    counts = np.bincount(slot, minlength=shape[0] * rounds * shape[2]).reshape(shape)
    return Tally(*(counts[kind] for kind in (_AGREE, _SUPPLEMENT, _COUNTER, _BURDEN)))
