"""What each of many voting rules makes of recorded votes: classes, their bounds, and counts (rules R4, R5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.metrics import IS_HELD, truth_codes
from verifyplan.analysis.replay import replay_parts
from verifyplan.analysis.vote_cube import VoteCube, with_unseen
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import FINDING
from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.vote import CLASSIFICATIONS, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.round_decisions import judge_codes
from verifyplan.rules.vote_codes import UNSEEN

Classes = npt.NDArray[np.uint8]
"""Positions in CLASSIFICATIONS, one a finding; NO_CLASS where there is none."""
Ints = npt.NDArray[np.int64]

NO_CLASS = 255
N_CLASSES = len(CLASSIFICATIONS)
NOT_HELD, EITHER, HELD_SURELY = range(3)
"""What unseen votes could make of a finding: not held in any case, either, held in any case."""


@dataclass(frozen=True, eq=False)
class RuleOutcomes:
    """The outcomes of many rules on the same findings, computed rule by rule as they are read."""

    rules: tuple[VotingRules, ...]
    """The rules, in the order of the first axis of every count."""
    findings: pd.DataFrame
    """One row a finding and iteration, as `replay` returns them: `run_id, iteration, finding_id, summary, truth`."""
    truth: Ints
    """FALSE, TRUE or UNKNOWN of each finding."""
    _parts: tuple[_Part, ...]
    _unvoted: Classes
    """The recorded class of findings that nobody was asked about; NO_CLASS for all others."""

    def classes(self, k: int) -> Classes:
        """Return the class of each finding under the k-th rules, by the votes that were cast."""
        return self._outcome(k)[0]

    def low(self, k: int) -> Classes:
        """Return the worst class of each finding that unseen votes could give."""
        return self._outcome(k)[1]

    def high(self, k: int) -> Classes:
        """Return the best class of each finding that unseen votes could give."""
        return self._outcome(k)[2]

    def censored(self, k: int) -> npt.NDArray[np.bool_]:
        """Return whether unseen votes could give a finding another class."""
        _, low, high = self._outcome(k)
        different: npt.NDArray[np.bool_] = low != high
        return different

    def counts(self, groups: Ints, n_groups: int) -> Ints:
        """Return findings counted by rules, group, truth and class, of shape (rules, groups, 3, 4).

        The truth is FALSE, TRUE, UNKNOWN in this order; `groups` has the group of each finding, from 0.
        """
        out = np.zeros((len(self.rules), n_groups, 3, N_CLASSES), dtype=np.int64)
        for k in range(len(self.rules)):
            classes = self.classes(k)
            known = classes != NO_CLASS
            cell = (groups[known] * 3 + self.truth[known]) * N_CLASSES + classes[known]
            out[k] = np.bincount(cell, minlength=n_groups * 3 * N_CLASSES).reshape(out[k].shape)
        return out

    def attainable_counts(self, groups: Ints, n_groups: int) -> Ints:
        """Return findings counted by rules, group, truth and what unseen votes could make of them.

        Of shape (rules, groups, 3, 3); the last axis is NOT_HELD, EITHER, HELD_SURELY. Metrics are monotone in each
        finding, so that their bounds follow: of recall, F1 and precision the lowest has true findings of EITHER not
        held and false ones held, the highest the other way round.
        """
        out = np.zeros((len(self.rules), n_groups, 3, 3), dtype=np.int64)
        for k in range(len(self.rules)):
            _, low, high = self._outcome(k)
            known = low != NO_CLASS
            state = IS_HELD[low[known]].astype(np.int64) + IS_HELD[high[known]]
            cell = (groups[known] * 3 + self.truth[known]) * 3 + state
            out[k] = np.bincount(cell, minlength=n_groups * 9).reshape(out[k].shape)
        return out

    def _outcome(self, k: int) -> tuple[Classes, Classes, Classes]:
        classes, low, high = (self._unvoted.copy() for _ in range(3))
        for part in self._parts:
            classes[part.rows], low[part.rows], high[part.rows] = part.judge(self.rules[k])
        return classes, low, high


@dataclass(frozen=True, eq=False)
class _Part:
    """The findings of runs of one mode."""

    mode: Mode
    cube: VoteCube
    allowed: Ints
    """The rounds that its run allowed each finding."""
    rows: Ints
    """The position of each finding in the table of findings."""

    def judge(self, rules: VotingRules) -> tuple[Classes, Classes, Classes]:
        mode = rules.mode or self.mode
        allowed = self.allowed if rules.max_rounds is None else np.full_like(self.allowed, rules.max_rounds)
        cube = with_unseen(self.cube, rules, allowed)
        executed = np.minimum(self.cube.last_round, allowed)
        decision, counted = judge_codes(cube.codes, executed, rules, mode, cube.workers)
        classes = decision.classification.astype(np.uint8)
        open_ = (counted == UNSEEN).any(axis=(0, 1)) & ~decision.settled
        return classes, np.where(open_, 3, classes).astype(np.uint8), np.where(open_, 0, classes).astype(np.uint8)


def rule_outcomes(runs: RunSet, rules: Sequence[VotingRules]) -> RuleOutcomes:
    """Return what each of some rules makes of the recorded votes of runs."""
    own = runs.findings[runs.findings["category"].ne(PLAN_BODY).fillna(True).astype(bool)]
    own = own[["run_id", "finding_id", "summary", "truth", "classification"]]
    parts = replay_parts(runs, VotingRules())
    keys = [part.cast.findings.assign(part=i, at=range(len(part.cast.findings))) for i, part in enumerate(parts)]
    judged = pd.concat(keys) if keys else pd.DataFrame(columns=[*FINDING, "iteration", "part", "at"])
    table = own.merge(judged, on=FINDING, how="left")
    made = []
    for i, part in enumerate(parts):
        rows = np.flatnonzero(table["part"].eq(i).to_numpy())
        cube = part.cube(citations=True)
        at = table["at"].to_numpy(dtype="float64")[rows].astype(np.int64)
        made.append(_Part(part.mode, cube.take(at), part.max_rounds[at], rows))
    unvoted = pd.Categorical(table["classification"], categories=CLASSIFICATIONS).codes.astype(np.uint8)
    unvoted[table["part"].notna().to_numpy()] = NO_CLASS
    findings = table.drop(columns=["part", "at", "classification"])
    findings["iteration"] = findings["iteration"].fillna(0).astype("int64")
    return RuleOutcomes(tuple(rules), findings, truth_codes(findings), tuple(made), unvoted)
