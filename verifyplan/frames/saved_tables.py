"""The tables of runs saved in a folder, each in a Parquet file of its own (rule E4)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from verifyplan.errors import InputError, Problem, TableError, one_of
from verifyplan.files import replacing
from verifyplan.frames.addresses import SavedTables
from verifyplan.frames.columns import TABLES, typed
from verifyplan.frames.parquet_files import UNREADABLE, read_frame, write_frame

VERSION = 1
"""The version of the saved tables; a change of their columns that older files do not fit raises it."""
_VERSION = "verifyplan-tables"
_FIX = "save the runs again"


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables into a folder, each file whole at any time; `runs`, which says that all are there, is last.

    Raises InputError where the folder is named like a file.
    """
    if folder.suffix.lower() == ".parquet" and not folder.is_dir():
        fix = f"name it {folder.stem!r}, say; .votes.to_parquet(path) and the like write one table"
        raise InputError(Problem(str(folder), "is the name of a file, and the tables go into a folder", fix))
    for name in [*(name for name in tables if name != "runs"), "runs"]:
        frame = tables[name].copy(deep=False)
        frame.attrs = {**frame.attrs, _VERSION: VERSION}
        with replacing(folder / f"{name}.parquet") as temporary:
            write_frame(frame, temporary)


def read_tables(saved: SavedTables) -> dict[str, pd.DataFrame]:
    """Return the tables of a folder, with their declared columns and types.

    Raises TableError listing every file that is missing, damaged, too large or of another version, or holds what its
    columns do not allow or rows of runs that are not in `runs`.
    """
    tables: dict[str, pd.DataFrame] = {}
    problems: list[Problem] = []
    for name in TABLES:
        try:
            tables[name] = _read(saved, name)
        except TableError as error:
            problems += error.problems
    if "runs" in tables:
        problems += [problem for name in tables for problem in _strangers(saved, name, tables)]
    if problems:
        raise TableError(problems)
    return tables


def _read(saved: SavedTables, name: str) -> pd.DataFrame:
    path = saved.path(name)
    try:
        with saved.system.open(path, "rb") as stream:
            frame = read_frame(stream, path)
    except TableError:
        raise
    except UNREADABLE as error:
        raise TableError(Problem(path, f"cannot be read ({error})", _FIX)) from None
    version = frame.attrs.pop(_VERSION, VERSION)  # a file that another program wrote has none
    if version != VERSION:
        message = f"has version {version!r} of the saved tables, and this verifyplan reads {VERSION}"
        raise TableError(Problem(path, message, f"{_FIX}, by this version of verifyplan"))
    table = typed(name, frame, path)
    table.attrs = frame.attrs
    return table


def _strangers(saved: SavedTables, name: str, tables: Mapping[str, pd.DataFrame]) -> list[Problem]:
    """Return the problem of rows of runs that are not in `runs`, if there are any."""
    unknown = tables[name].loc[~tables[name]["run_id"].isin(tables["runs"]["run_id"]), "run_id"].unique()
    if not len(unknown):
        return []
    message = f"has rows of runs that are not in runs.parquet: {one_of(unknown[:3])}"
    return [Problem(saved.path(name), message, "save all tables of one RunSet into one folder, and nothing else")]
