"""Open any finding of any runs in the viewer (`vp.view`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from verifyplan.errors import InputError, Problem
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.text import did_you_mean
from verifyplan.widgets.explorer.run_explorer import RunExplorer

_NAMES = ("finding_id", "challenge_id")


def view(
    runs: Runs, finding_id: str | Mapping[str, Any] | pd.Series[Any] | None = None, run_id: str | None = None
) -> RunExplorer:
    """Return the run viewer with a finding or a challenge chosen.

    Args:
        runs: a RunSet, a run, a path, or the name of a bundled set.
        finding_id: a finding or challenge; or the row of a table that has a `finding_id` or `challenge_id`, and perhaps
            a `run_id`, such as `table.iloc[0]`. None opens the first run.
        run_id: its run; the first that has it, where none is named.

    Raises InputError for a finding or run that is not there.

    >>> viewer = view("stdlib-claims", "F-0145")
    >>> viewer.run_id, viewer.selected["summary"].iloc[0][:24]
    ('adversarial/part-01', '`SimpleXMLRPCServer` is ')
    """
    if isinstance(finding_id, Mapping | pd.Series):
        row: Mapping[str, Any] = finding_id if isinstance(finding_id, Mapping) else dict(finding_id)
        name = next((str(row[key]) for key in _NAMES if key in row and pd.notna(row[key])), None)
        if name is None:
            raise InputError(Problem("finding_id", "the row names no finding", "give a row with a finding_id"))
        finding_id, run_id = name, run_id or (str(row["run_id"]) if pd.notna(row.get("run_id")) else None)
    tables = as_runs(runs)
    viewer = RunExplorer(tables, _run_of(tables, finding_id) if run_id is None and finding_id is not None else run_id)
    if finding_id is not None:
        viewer.finding_id = finding_id
    return viewer


def _run_of(runs: RunSet, finding_id: str) -> str:
    """Return the first run that has a finding; InputError where none has."""
    for table, key in ((runs.findings, "finding_id"), (runs.challenges, "challenge_id")):
        found = table.loc[table[key].eq(finding_id).fillna(False).to_numpy(dtype=bool), "run_id"]
        if len(found):
            return str(found.iloc[0])
    known = list(runs.findings["finding_id"].head(1000))
    fix = f"use one of: {', '.join(known[:5]) or 'none'}"
    raise InputError(Problem("finding_id", f"{finding_id!r} is in no run{did_you_mean(finding_id, known)}", fix))
