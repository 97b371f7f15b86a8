"""Votes of one iteration: what a panel is asked about again is voted on again (rules A9, B7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import RunSet

FINDING = ["run_id", "finding_id"]


def last_iteration(votes: pd.DataFrame) -> pd.Series[Any]:
    """For each vote, the last iteration in which its finding was voted on; 0 in cross runs.

    >>> votes = pd.DataFrame({"run_id": "r", "finding_id": ["C1", "C1", "C2"], "iteration": [1, 2, 1]})
    >>> last_iteration(votes).tolist()
    [2, 2, 1]
    """
    if not votes["iteration"].any():
        return votes["iteration"]
    return votes.groupby(FINDING, sort=False, observed=True)["iteration"].transform("max")


def at_iteration(runs: RunSet, iteration: int | None = None) -> RunSet:
    """The runs with the votes of one iteration alone; None takes, of each finding, those of its last one.

    Raises InputError where nobody voted in that iteration.
    """
    last = last_iteration(runs.votes)
    wanted = runs.votes["iteration"].eq(last if iteration is None else iteration)
    votes = runs.votes[wanted.to_numpy(dtype=bool)].reset_index(drop=True)
    if iteration is None:
        return replace(runs, votes=votes)
    if votes.empty:
        have = ", ".join(map(str, sorted(runs.votes["iteration"].unique()))) or "none"
        raise InputError(Problem("iteration", f"there are no votes of iteration {iteration}", f"use one of: {have}"))
    later = runs.votes.loc[last.gt(iteration).to_numpy(dtype=bool), FINDING].drop_duplicates().assign(later=True)
    known = runs.findings[FINDING].merge(later, on=FINDING, how="left")["later"].isna().to_numpy()
    findings = runs.findings.assign(n_rounds=runs.findings["n_rounds"].where(known))  # it is of the last one alone
    return replace(runs, votes=votes, findings=findings)
