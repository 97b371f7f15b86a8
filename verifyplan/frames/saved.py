"""Tables that `RunSet.save` wrote, read and checked: each by itself, and that they belong together (rule E4)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import pyarrow as pa

from verifyplan.errors import Problem, TableError, one_of
from verifyplan.frames.addresses import SavedTables
from verifyplan.frames.columns import FIRST_TABLES, TABLES, empty, typed
from verifyplan.frames.runset import SAVED, RunSet


def read_saved(saved: SavedTables) -> RunSet:
    """The runs of a folder of saved tables; tables that its version did not have are empty.

    Raises TableError listing every file that is missing, cannot be read or holds what its columns do not allow,
    and every table with rows of runs that are not in `runs`.
    """
    problems: list[Problem] = []
    runs = _read(saved, "runs", problems)
    expected = runs.attrs.pop(SAVED, FIRST_TABLES) if runs is not None else FIRST_TABLES
    tables = {name: table for name in TABLES if name != "runs" and (table := _other(saved, name, expected, problems))
              is not None}  # fmt: skip
    if runs is not None and not problems:
        problems += _strangers(saved, runs, tables)
    if problems or runs is None:
        raise TableError(problems)
    return RunSet(runs=runs, **tables)


def _other(saved: SavedTables, name: str, expected: object, problems: list[Problem]) -> pd.DataFrame | None:
    if name not in (expected if isinstance(expected, list | tuple) else FIRST_TABLES) and not saved.system.exists(
        _path(saved, name)
    ):
        return empty(name)
    return _read(saved, name, problems)


def _path(saved: SavedTables, name: str) -> str:
    return f"{saved.folder}/{name}.parquet"


def _read(saved: SavedTables, name: str, problems: list[Problem]) -> pd.DataFrame | None:
    path = _path(saved, name)
    try:
        with saved.system.open(path, "rb") as stream:
            frame = pd.read_parquet(stream)
        table = typed(name, frame, path)
        table.attrs = dict(frame.attrs)
    except (OSError, pa.ArrowException, ValueError) as error:
        found = error.problems if isinstance(error, TableError) else ()
        problems += found or [Problem(path, f"cannot be read ({error})", "save the runs again")]
        return None
    return table


def _strangers(saved: SavedTables, runs: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> list[Problem]:
    """A problem for each table that has rows of runs that `runs` does not have."""
    problems = []
    for name, table in tables.items():
        absent = table.loc[~table["run_id"].isin(runs["run_id"]), "run_id"].drop_duplicates()
        if len(absent):
            message = f"has rows of runs that are not in runs.parquet: {one_of(absent[:3])}"
            fix = "save all tables of one RunSet into one folder, and nothing else"
            problems.append(Problem(_path(saved, name), message, fix))
    return problems
