"""Open any finding, run or row of a table in the viewer (`vp.view`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from verifyplan.errors import InputError, Problem, one_of
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.text import did_you_mean
from verifyplan.widgets.explorer.run_explorer import RunExplorer

_FINDING_NAMES = ("finding_id", "challenge_id", "item")
_RUN_NAMES = ("run_id", "run")
_NO_RUN = "all"
"""The run of a table of votes that has no column of runs."""


def view(
    runs: Runs,
    finding_id: str | Mapping[str, Any] | pd.Series[Any] | pd.DataFrame | None = None,
    run_id: str | None = None,
) -> RunExplorer:
    """Return the run viewer with a finding or a challenge chosen.

    Args:
        runs: a RunSet, a run, a path, or the name of a bundled set.
        finding_id: a finding or challenge; or a row of a table, such as `table.iloc[0]`, a table of one row, or a tuple
            of `itertuples`. A row opens its finding, challenge or message; a row that names none, such as that of a
            call or a round, opens its run at that step. None opens the first run.
        run_id: its run; None for the first run that has it.

    Raises InputError for a finding or run that is not there, and for a row that names neither.

    >>> viewer = view("stdlib-claims", "F-0145")
    >>> viewer.run_id, viewer.selected["summary"].iloc[0][:24]
    ('adversarial/part-01', '`SimpleXMLRPCServer` is ')
    """
    tables = as_runs(runs)
    row = _row_of(finding_id, tables)
    if row is not None:
        finding_id, run_id = _named(row, _FINDING_NAMES), run_id or _named(row, _RUN_NAMES)
        run_id = None if run_id == _NO_RUN and not tables.runs["run_id"].eq(_NO_RUN).any() else run_id
        if finding_id is None and run_id is not None:
            finding_id = _named(row, ("position",))  # of a message
        if finding_id is None and run_id is None:
            raise InputError(_nothing_named(row))
    name = _named({"finding_id": finding_id}, _FINDING_NAMES)
    viewer = RunExplorer(tables, _run_of(tables, name) if run_id is None and name is not None else run_id)
    if name is not None:
        viewer.finding_id = name
    elif row is not None and viewer.course is not None:
        viewer.step = viewer.course.step_of(row)
    return viewer


def _row_of(value: Any, runs: RunSet) -> Mapping[str, Any] | None:
    """Return a row as names and values, including those of its index; None where `value` is not a row."""
    if isinstance(value, pd.DataFrame):
        if len(value) != 1:
            fix = "give one row, as table.iloc[0]"
            raise InputError(Problem("finding_id", f"must be one row, got {len(value):,}", fix))
        value = value.iloc[0]
    if isinstance(value, pd.Series):
        return _of_index(value.name, runs) | {str(key): each for key, each in value.items()}
    if hasattr(value, "_asdict"):
        named: Mapping[str, Any] = value._asdict()
        return named
    return value if isinstance(value, Mapping) else None


def _of_index(label: Any, runs: RunSet) -> dict[str, Any]:
    """Return the finding and the run that the label of a row names, where a table was indexed by them."""
    labels = [each for each in (label if isinstance(label, tuple) else (label,)) if isinstance(each, str)]
    known = {"run_id": runs.runs, "finding_id": runs.findings, "challenge_id": runs.challenges}
    return {name: each for each in labels for name, table in known.items() if table[name].eq(each).fillna(False).any()}


def _named(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first of these values that a row has, as text; None if it has none."""
    values = (row[name] for name in names if name in row and pd.api.types.is_scalar(row[name]))
    value = next((value for value in values if pd.notna(value) and str(value)), None)
    whole = isinstance(value, float) and value.is_integer()
    return None if value is None else str(int(value) if whole else value)


def _nothing_named(row: Mapping[str, Any]) -> Problem:
    """Return the problem of a row that names neither a finding nor a run, and how to get a row that does."""
    fix = "give a row with a finding_id, challenge_id or run_id, such as runs.findings.iloc[0]"
    worker = _named(row, ("worker", "worker_a"))
    if worker is not None:
        fix += f"; of a worker a row of its votes: runs.votes[runs.votes['worker'].eq({worker!r})].iloc[0]"
    message = f"the row names neither a finding nor a run; its columns are {one_of(list(row)[:12])}"
    return Problem("finding_id", message, fix)


def _run_of(runs: RunSet, finding_id: str) -> str:
    """Return the first run that has a finding; InputError if none has it."""
    for table, key in ((runs.findings, "finding_id"), (runs.challenges, "challenge_id")):
        found = table.loc[table[key].eq(finding_id).fillna(False).to_numpy(dtype=bool), "run_id"]
        if len(found):
            return str(found.iloc[0])
    known = list(runs.findings["finding_id"].head(1000))
    fix = f"use one of: {', '.join(known[:5]) or 'none'}"
    raise InputError(Problem("finding_id", f"{finding_id!r} is in no run{did_you_mean(finding_id, known)}", fix))
