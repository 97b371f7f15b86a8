"""The recorded votes of runs, made into arrays once, with the findings that they are on (rules B7, R4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.clusters import Clusters, clusters_of_findings
from verifyplan.analysis.metrics import truth_codes
from verifyplan.analysis.replay import ReplayPart, replay_parts
from verifyplan.analysis.vote_cube import VoteCube
from verifyplan.errors import Problem, SettingsError
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import FINDING
from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.vote import CLASSIFICATIONS, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import BARE, BARE_CITED, Bools, Ints


class RecordedPart(NamedTuple):
    """The findings that one mode and the same rules judge."""

    mode: Mode
    rules: VotingRules
    cube: VoteCube
    allowed: Ints
    """The rounds that are allowed to each finding."""
    rows: Ints
    """The position of each finding in the table of findings."""
    source: ReplayPart
    """The votes as a table, which may have findings that are left out here."""
    at: Ints
    """The position of each finding in `source`."""

    @property
    def filled(self) -> Bools:
        """Which disagrees have a basis that the rules fill in, or the run did, of shape (rounds, workers, findings)."""
        codes, cast = self.cube.codes, self.source.cast
        by_rules: Bools = np.isin(codes, (BARE, BARE_CITED))
        by_run = self.source.votes["basis_filled"].eq(True).to_numpy(dtype=bool, na_value=False) & cast.counted
        if not by_run.any():
            return by_rules
        filled = np.zeros((*codes.shape[:2], len(cast.findings)), dtype=bool)
        filled[cast.round[by_run] - 1, self.source.voters().worker[by_run], cast.finding[by_run]] = True
        return by_rules | filled[:, :, self.at]

    @property
    def executed(self) -> Ints:
        """The rounds of each finding that were held and that the rules allow."""
        return np.minimum(self.cube.last_round, self.allowed)


class RecordedVotes(NamedTuple):
    """The findings of runs, and their votes as arrays."""

    findings: pd.DataFrame
    """One row a finding and iteration, as `replay` returns them: `run_id, iteration, finding_id, summary, truth`."""
    truth: Ints
    """FALSE, TRUE or UNKNOWN of each finding."""
    unvoted: Ints
    """The class of findings that nobody was asked about, by position in CLASSIFICATIONS; -1 of all others."""
    parts: tuple[RecordedPart, ...]
    """The findings that were voted on, in the order of their runs."""

    @property
    def clusters(self) -> Clusters:
        """Which findings are not independent."""
        return clusters_of_findings(self.findings)

    def with_classes(self) -> RecordedVotes:
        """Return these without findings that have neither votes nor a class, as in a run that was broken off."""
        known = self.unvoted >= 0
        for part in self.parts:
            known[part.rows] = True
        place = np.cumsum(known) - 1
        parts = tuple(part._replace(rows=place[part.rows]) for part in self.parts)
        findings = self.findings[known].reset_index(drop=True)
        return RecordedVotes(findings, self.truth[known], self.unvoted[known], parts)


def recorded_votes(runs: RunSet, rules: VotingRules, *, in_order: bool = False) -> RecordedVotes:
    """Return the recorded votes of runs, by the mode and the rules that judge them (see `replay_parts`).

    The items of a plan body are left out.
    """
    own = runs.findings[runs.findings["category"].ne(PLAN_BODY).fillna(True).astype(bool)]
    own = own[["run_id", "finding_id", "summary", "truth", "classification"]]
    parts = replay_parts(runs, rules, in_order=in_order)
    keys = [part.cast.findings.assign(part=i, at=range(len(part.cast.findings))) for i, part in enumerate(parts)]
    voted = pd.concat(keys) if keys else pd.DataFrame(columns=[*FINDING, "iteration", "part", "at"])
    table = own.merge(voted, on=FINDING, how="left")
    classes = pd.Categorical(table["classification"].astype("object"), categories=CLASSIFICATIONS).codes
    in_part, at = (table[name].astype("float64").fillna(-1).to_numpy().astype(np.int64) for name in ("part", "at"))
    run = table.groupby(["run_id", "iteration"], sort=False, observed=True, dropna=False).ngroup().to_numpy()
    made = []
    for i, part in enumerate(parts):
        rows = np.flatnonzero(in_part == i)
        rows = rows[np.argsort(run[rows], kind="stable")]
        if len(rows):
            cube = part.cube(citations=True).take(at[rows])
            made.append(RecordedPart(part.mode, part.rules, cube, part.max_rounds[at[rows]], rows, part, at[rows]))
    table["iteration"] = table["iteration"].fillna(0).astype("int64")
    findings = table[["run_id", "iteration", "finding_id", "summary", "truth"]]
    unvoted = np.where(in_part < 0, classes, -1).astype(np.int64)
    return RecordedVotes(findings, truth_codes(findings), unvoted, tuple(made))


def refuse_estimates(rules: VotingRules, analysis: str) -> None:
    """Raise SettingsError for the aggregate that judges whole runs, where an analysis judges findings one by one."""
    if rules.aggregate == "dawid-skene":
        message = f"'dawid-skene' estimates the workers of whole runs, and {analysis} judges findings one by one"
        raise SettingsError(Problem("aggregate", message, "replay these rules by themselves"))
