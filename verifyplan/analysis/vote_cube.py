"""Recorded votes as one array, made once and judged under many rules: rounds x workers x findings (rules B7, R4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.tally import CodedVotes, Ints
from verifyplan.analysis.voters import Voters, voters_of_votes
from verifyplan.errors import Problem, SettingsError
from verifyplan.frames.vote_checks import cite_places
from verifyplan.protocol.vote import BASES, VERDICTS
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import LOST, NOT_ASKED, UNSEEN, Bools, Codes, vote_code

MAX_CELLS = 2**31
"""An array of votes has at most so many cells: rounds x workers x findings, a byte each."""


@dataclass(frozen=True, eq=False)
class VoteCube:
    """The votes on some findings, all of them judged in one mode."""

    findings: pd.DataFrame
    """The key of each finding: `run_id`, `iteration` where there is one, `finding_id`."""
    workers: tuple[str, ...]
    """The workers, in order of appearance, which is roster order in logs and artifacts."""
    codes: Codes
    """Each vote as `rules.vote_codes` codes it, of shape (rounds, workers, findings); `UNSEEN` where a limit of the run
    held it back."""
    discovered: Bools
    """Whether a worker found a finding, and so never votes on it, of shape (workers, findings)."""
    last_round: Ints
    """The last recorded round of each finding."""
    perhaps_left: Bools
    """Whether a run's own rules may have left a worker unasked in a round, of shape (workers, findings)."""

    def take(self, findings: npt.NDArray[np.int64]) -> VoteCube:
        """Return the votes on some of the findings, by position."""
        return replace(
            self,
            findings=self.findings.iloc[findings].reset_index(drop=True),
            codes=self.codes[:, :, findings],
            discovered=self.discovered[:, findings],
            last_round=self.last_round[findings],
            perhaps_left=self.perhaps_left[:, findings],
        )


def vote_cube(votes: pd.DataFrame, cast: CodedVotes, voters: Voters | None = None, *, citations: bool) -> VoteCube:
    """Return the votes of a checked table as an array.

    Args:
        votes: the table behind `cast`.
        cast: its votes as codes, from `code_votes`.
        voters: who votes, and who could have; None reads it from the table (`voters_of_votes`).
        citations: whether the rules need to know which counter-evidences cite a place; without, all count as cited.
    """
    voters = voters or voters_of_votes(votes, cast)
    n_rounds, n_workers, n_findings = int(cast.last_round.max(initial=0)), len(voters.workers), len(cast.findings)
    codes = _nobody_asked(n_rounds, n_workers, n_findings)
    voted = cast.counted | cast.failed
    row_codes = np.where(cast.failed, np.int8(LOST), _row_codes(votes, cast, citations=citations))
    if cast.held_back is not None:
        row_codes[cast.held_back] = UNSEEN
    codes[cast.round[voted] - 1, voters.worker[voted], cast.finding[voted]] = row_codes[voted]
    discovered, left = (pairs.table(n_workers, n_findings) for pairs in (voters.discoveries, voters.perhaps_left))
    return VoteCube(cast.findings, voters.workers, codes, discovered, cast.last_round, left)


def _nobody_asked(n_rounds: int, n_workers: int, n_findings: int) -> Codes:
    if n_rounds * n_workers * n_findings > MAX_CELLS:
        message = (
            f"{n_rounds} rounds x {n_workers:,} workers x {n_findings:,} findings are more than {MAX_CELLS:,} votes"
        )
        raise SettingsError(Problem("votes", message, "judge fewer runs at once"))
    return np.full((n_rounds, n_workers, n_findings), NOT_ASKED, dtype=np.int8)


def joined_cubes(cubes: Sequence[VoteCube], roster: Sequence[str]) -> VoteCube:
    """Return the votes on different findings as one array, of the workers of `roster` in its order, then any others."""
    workers = tuple(dict.fromkeys([*roster, *(name for cube in cubes for name in cube.workers)]))
    start = np.cumsum([0, *(cube.codes.shape[2] for cube in cubes)])
    codes = _nobody_asked(max(len(cube.codes) for cube in cubes), len(workers), int(start[-1]))
    discovered, left = np.zeros(codes.shape[1:], dtype=bool), np.zeros(codes.shape[1:], dtype=bool)
    place = {name: row for row, name in enumerate(workers)}
    for cube, first, last in zip(cubes, start, start[1:], strict=False):
        rows, columns = [place[name] for name in cube.workers], slice(first, last)
        codes[: len(cube.codes), rows, columns] = cube.codes
        discovered[rows, columns], left[rows, columns] = cube.discovered, cube.perhaps_left
    return VoteCube(
        findings=pd.concat([cube.findings for cube in cubes], ignore_index=True),
        workers=workers,
        codes=codes,
        discovered=discovered,
        last_round=np.concatenate([cube.last_round for cube in cubes]),
        perhaps_left=left,
    )


def _row_codes(votes: pd.DataFrame, cast: CodedVotes, *, citations: bool) -> Codes:
    """Return the code of each vote; explanations are searched for places only where that can matter."""
    cites = np.ones(len(votes), dtype=bool)
    disagrees = cast.verdict == VERDICTS.index("disagree")
    matters = disagrees & ((cast.basis < 0) | (citations & (cast.basis == BASES.index("counter-evidence"))))
    if matters.any():
        cites[matters] = cite_places(votes.loc[matters, "explanation"]) if "explanation" in votes else False
    table = np.array(
        [
            [[vote_code(verdict, basis, cites=cited) for cited in (False, True)] for basis in (*BASES, None)]
            for verdict in VERDICTS
        ],
        dtype=np.int8,
    )
    found: Codes = table[cast.verdict, cast.basis, cites.astype(np.int64)]  # a missing basis is -1: the last
    return found


def with_unseen(cube: VoteCube, rules: VotingRules, allowed: Ints) -> VoteCube:
    """Return the votes with those that the rules would ask for and that were never cast, as `UNSEEN` (rule R4).

    Votes that a limit of the run held back are `UNSEEN` already. Added are: of each finding, the rounds after its last
    recorded one, up to `allowed`, by the workers who were asked about it; the votes of workers whom `rules.workers`
    names, in every round for which there is no row; and those of workers whom the run's own rules may have left unasked
    in a round (`VoteCube.perhaps_left`). Nobody votes on their own findings. Otherwise, a worker without a row in a
    recorded round was not asked.
    """
    extra = [name for name in rules.workers or () if name not in cube.workers]
    n_rounds = max(len(cube.codes), int(allowed.max(initial=0)))
    shape = (n_rounds, len(cube.workers) + len(extra), cube.codes.shape[2])
    codes = np.full(shape, NOT_ASKED, dtype=np.int8)
    codes[: len(cube.codes), : len(cube.workers)] = cube.codes
    discovered, left = np.zeros(shape[1:], dtype=bool), np.zeros(shape[1:], dtype=bool)
    discovered[: len(cube.workers)], left[: len(cube.workers)] = cube.discovered, cube.perhaps_left
    workers = (*cube.workers, *extra)
    rounds = np.arange(1, n_rounds + 1)[:, None, None]
    if rules.workers is None:
        wanted = (rounds > cube.last_round) & (codes != NOT_ASKED).any(axis=0) | left
    else:
        wanted = np.array([name in rules.workers for name in workers], dtype=bool)[:, None]
    codes[(codes == NOT_ASKED) & (rounds <= allowed) & wanted & ~discovered] = UNSEEN
    return replace(cube, workers=workers, codes=codes, discovered=discovered, perhaps_left=left)
