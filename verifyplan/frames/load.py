"""Runs from a file, a folder, a glob, several of these, or any fsspec address (rule E4)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pandas as pd
import pyarrow as pa

from verifyplan.errors import InputError, Problem, TableError, one_of
from verifyplan.frames.addresses import ARTIFACT, LOG, RunFile, SavedTables, find_all, together
from verifyplan.frames.artifact import check_artifact, parse_artifact
from verifyplan.frames.columns import FIRST_TABLES, TABLES, empty, typed
from verifyplan.frames.run_tables import ArtifactSource, artifact_rows, log_rows
from verifyplan.frames.runset import SAVED, Rows, RunSet, assemble, concat, no_errors
from verifyplan.progress import progress as progress_bar
from verifyplan.runlog.reader import parse_log


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


Address = str | os.PathLike[str]

FILES_FOR_PROGRESS_BAR = 200
"""From so many files on, loading takes seconds and shows a bar."""
MAX_FILE_BYTES = 512 * 2**20
"""A run file that is larger is refused; no run comes near it."""

_Failure = tuple[str, InputError]
T = TypeVar("T")


def load(paths: Address | Iterable[Address], *, strict: bool = True, progress: bool | None = None) -> RunSet:
    """Runs as tables, from run logs (`.jsonl`), state artifacts (`.json`) or tables that `RunSet.save` wrote.

    `paths` is a file, a folder (every log and artifact in it and below, and the tables saved in it; hidden ones and
    links to folders aside), a glob, an fsspec address such as `s3://bucket/runs`, or a list of these. A run's id is
    its path under the loaded folder, without suffix; of several paths, under the folder they have in common. Where
    a log and its artifact are both found, the log counts, which knows more. A run that has not ended is loaded as
    far as it got.

    Raises InputError listing every address that has nothing to load, else an error listing every problem of
    every damaged file. `progress` shows a bar; by default from 200 files on, where somebody can see it.
    With `strict=False` what could be read is returned, and `.errors` says what could not. An artifact that can be
    read, but breaks rule B9, is then both: its run is returned, and `.errors` says what it breaks.
    """
    addresses = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files, folders = together(find_all([os.fspath(address) for address in addresses]))
    failures: list[_Failure] = []
    tried = [_tried(partial(read_saved, one), one.folder, failures) for one in folders]
    sets = [one for one in tried if one is not None]
    shown = progress if progress is not None or len(files) >= FILES_FOR_PROGRESS_BAR else False
    parts: list[tuple[str, Rows]] = []
    with progress_bar("loading runs", len(files), shown) as step:
        for file in files:
            rows = _tried(partial(_rows, file, failures), file.path, failures)
            parts += [(file.path, rows)] if rows is not None else []
            step()
    loaded = _assembled(parts, failures)
    if strict and failures:
        kinds = {type(error) for _, error in failures}
        kind = kinds.pop() if len(kinds) == 1 else InputError
        raise kind(problem for _, error in failures for problem in error.problems)
    return replace(concat([*sets, loaded]) if sets else loaded, errors=_table_of(failures))


def _tried(read: Callable[[], T], path: str, failures: list[_Failure]) -> T | None:
    try:
        return read()
    except InputError as error:
        failures.append((path, error))
        return None


def _assembled(parts: Sequence[tuple[str, Rows]], failures: list[_Failure]) -> RunSet:
    """All rows as tables; where some do not fit, the files that they are from are told, and left out."""
    try:
        return assemble(rows for _, rows in parts)
    except TableError:
        whole = [(path, rows) for path, rows in parts if _tried(partial(_checked, rows, path), path, failures)]
    return assemble(rows for _, rows in whole)  # raises where two files are one run: no file is wrong by itself


def _checked(rows: Rows, path: str) -> bool:
    try:
        assemble([rows])
    except TableError as error:
        raise TableError(Problem(f"{path}: {p.place}", p.message, p.fix) for p in error.problems) from None
    return True


def _table_of(failures: list[_Failure]) -> pd.DataFrame:
    rows = [
        {"source": path, "place": problem.place, "message": problem.message, "fix": problem.fix}
        for path, error in failures
        for problem in error.problems
    ]
    return pd.DataFrame(rows, dtype="str") if rows else no_errors()


def _rows(file: RunFile, failures: list[_Failure]) -> Rows:
    """The rows of one run file; InputError says what is wrong with it."""
    if file.path.endswith(LOG):
        return log_rows(parse_log(_content(file), file.path).records, file.run_id, file.path)
    if file.path.endswith(ARTIFACT):
        return _artifact_rows(file, failures)
    kind = Path(file.path).suffix or "file without suffix"
    fix = (
        "load a .json artifact or a .jsonl run log, or a folder of saved tables; "
        "read votes in CSV or Parquet by from_votes"
    )
    raise InputError(Problem(file.path, f"a {kind} is no run", fix))


def _artifact_rows(file: RunFile, failures: list[_Failure]) -> Rows:
    """The rows of an artifact; what it breaks of rule B9 is a failure, for which it is left out if its ids repeat."""
    artifact = parse_artifact(_content(file), file.path, checked=False)
    rows = artifact_rows(ArtifactSource(artifact, file.run_id, file.path))
    broken: list[_Failure] = []
    _tried(partial(check_artifact, artifact, file.path), file.path, broken)
    if broken and len({row["finding_id"] for row in rows["findings"]}) < len(rows["findings"]):
        raise broken[0][1]
    failures += broken
    return rows


def _content(file: RunFile) -> bytes:
    try:
        if not file.system.isfile(file.path):  # a dead link, or a pipe that would be waited for without end
            raise InputError(Problem(file.path, "is no file that can be read", "remove it, or name another"))
        size = file.system.size(file.path)
        if size is not None and size > MAX_FILE_BYTES:
            message = (
                f"is too large for a run: {size / 2**20:,.0f} MB, and {MAX_FILE_BYTES / 2**20:,.0f} MB are allowed"
            )
            raise InputError(Problem(file.path, message, "remove it, or name the run files alone"))
        data: bytes = file.system.cat_file(file.path)
    except OSError as error:
        message = f"cannot be read ({error.strerror or error})"
        raise InputError(Problem(file.path, message, "check the file and your rights")) from None
    return data
