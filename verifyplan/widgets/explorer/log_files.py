"""Where the log of a run is, and whether it has changed (rule E1)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from verifyplan.frames.runset import RunSet


def file_state(source: Path) -> tuple[int, int] | None:
    """Return the time and size of a file, by which a change is known; None where it cannot be read."""
    try:
        status = source.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def no_log(run: RunSet) -> str:
    """Return why the log of the only run of a set cannot be read; "" where it can."""
    row = run.runs.iloc[0]
    if pd.isna(row["log"]) or not row["log"]:
        return "this run has no log"
    if pd.isna(row["source"]):
        return "this run was not written to a file"
    if not Path(str(row["source"])).is_file():
        return "the log of this run is not where it was read from"
    return ""
