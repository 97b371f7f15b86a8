"""Load runs from a file, a folder, a glob, several of these, or any fsspec address (rule E4)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

import pandas as pd
import pyarrow as pa

from verifyplan.errors import InputError, Problem, TableError, one_of
from verifyplan.frames.addresses import ARTIFACT, LOG, RunFile, SavedTables, find_all, joined
from verifyplan.frames.artifact import check_artifact, parse_artifact
from verifyplan.frames.bundled import claims, is_bundled, path
from verifyplan.frames.bundled_votes import runs_of_votes
from verifyplan.frames.columns import FIRST_TABLES, TABLES, empty, typed
from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.run_tables import ArtifactSource, artifact_rows, log_rows
from verifyplan.frames.runset import SAVED, Rows, RunSet, assemble, concat, no_errors
from verifyplan.frames.vote_tables import VOTE_TABLES
from verifyplan.progress import progress as progress_bar
from verifyplan.runlog.reader import parse_log

Address = str | os.PathLike[str]

FILES_FOR_PROGRESS_BAR = 200
"""From so many files on, loading takes seconds and shows a bar."""

MAX_FILE_BYTES = 512 * 2**20
"""A run file that is larger is refused; no run comes near it."""

_MARKS = {ARTIFACT: (b"schemaVersion",), LOG: (b"run-started", b'"digest"')}
"""What the bytes of every run file hold, damaged ones too; a file in a folder that has none of it is no run."""

Failure = tuple[str, InputError]
T = TypeVar("T")


class HasFrames(Protocol):
    """A run, or whatever else has its tables at hand."""

    @property
    def frames(self) -> RunSet:
        """The tables."""


Runs: TypeAlias = RunSet | HasFrames | Address
"""Whatever runs can be taken from: their tables, a run, a path or the name of a bundled set (see `as_runs`)."""


def as_runs(value: Runs, name: str = "runs") -> RunSet:
    """Return runs as tables: a RunSet as it is, a run's `.frames`, or what is loaded from a path.

    A path is a file, a folder, a glob or an fsspec address, as `load` takes it. A text that is no path may name a
    bundled set, which brings its truth. Raises InputError for any other value, under the parameter's `name`, and as
    `load`.

    >>> as_runs("contract")
    RunSet(15 runs, 27 findings, 84 votes, 21 rounds, 51 dispatches)
    """
    if isinstance(value, RunSet):
        return value
    if isinstance(value, str | os.PathLike):
        text = os.fspath(value)
        return load_bundled(text) if is_bundled(text) else load(text)
    frames = getattr(value, "frames", None)
    if isinstance(frames, RunSet):
        return frames
    message = f"must be a RunSet, a run, a path or the name of a bundled set, got a {type(value).__name__}"
    fix = "give what load, from_votes or crossverify returns, or the path of a log, an artifact or a folder of these"
    raise InputError(Problem(name, message, fix))


def load_bundled(name: str) -> RunSet:
    """Return a bundled set of recorded runs, with truth where it is known; InputError for an unknown name.

    Of the tables of votes `llmbar` can be read so, see `runs_of_votes`.
    """
    if name in VOTE_TABLES:
        return runs_of_votes(name)
    loaded = load(path(name))
    return loaded.with_truth(claims(name)) if name.startswith("stdlib-claims") else loaded


def load(paths: Address | Iterable[Address], *, strict: bool = True, progress: bool | None = None) -> RunSet:
    """Load runs as tables, from run logs (`.jsonl`), state artifacts (`.json`) or tables that `RunSet.save` wrote.

    A dataset that `verifyplan compile` wrote is opened and not read: its tables are read when they are first needed.

    `paths` is a file, a folder (every log and artifact in it and below, and the tables saved in it; hidden ones and
    links to folders aside), a glob, an fsspec address such as `s3://bucket/runs`, or a list of these. A run's id is
    its path under the loaded folder, without suffix; of several paths, under the folder they have in common. Where
    a log and its artifact are both found, the log counts, which knows more. A run that has not ended is loaded as
    far as it got.

    A `.json` or `.jsonl` in a folder or glob that is clearly of something else (a package.json) is passed over, and
    `.errors` names it; one that is named itself is an error.

    Raises InputError listing every address that has nothing to load, else an error listing every problem of
    every damaged file. `progress` shows a bar; by default from 200 files on, where somebody can see it.
    With `strict=False` what could be read is returned, and `.errors` says what could not. An artifact that can be
    read, but breaks rule B9, is then both: its run is returned, and `.errors` says what it breaks.

    >>> import verifyplan as vp
    >>> load(vp.datasets.path("contract"))
    RunSet(15 runs, 27 findings, 84 votes, 21 rounds, 51 dispatches)
    """
    addresses = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    located = find_all([os.fspath(address) for address in addresses])
    files, folders = joined(located)
    datasets = [Dataset.open(place.dataset) for place in located if place.dataset is not None]
    if len(datasets) == len(located) == 1:
        return datasets[0]
    failures: list[Failure] = []
    saved = [_attempt(partial(read_saved, folder), folder.folder, failures) for folder in folders]
    sets = [*datasets, *(runs for runs in saved if runs is not None)]
    shown = progress if progress is not None or len(files) >= FILES_FOR_PROGRESS_BAR else False
    with progress_bar("loading runs", len(files), shown) as step:
        read = read_files(files, step)
    loaded, foreign = read.runs, read.foreign
    failures += read.failures
    if strict and not (failures or len(loaded) or sets):
        failures = foreign
    if strict:
        refuse(failures)
    table = error_table([*failures, *foreign])
    return replace(concat([*sets, loaded]) if sets else loaded, errors=table)


class FilesRead(NamedTuple):
    """The runs of some files, and what is wrong with the files that gave none, or not all."""

    runs: RunSet
    """The tables of all runs that could be read, in the order of their files."""
    failures: list[Failure]
    """The path and the error of each damaged file; of one that breaks rule B9 and nothing else, the run is read."""
    foreign: list[Failure]
    """The path and the error of each file that is clearly of something else."""


def read_files(files: Iterable[RunFile], step: Callable[[], None] = lambda: None) -> FilesRead:
    """Return the runs of some files as tables; `step` is called after each file."""
    failures: list[Failure] = []
    foreign: list[Failure] = []
    parts: list[tuple[str, Rows]] = []
    for file in files:
        rows = _attempt(partial(_rows, file, failures, foreign), file.path, failures)
        parts += [(file.path, rows)] if rows is not None else []
        step()
    return FilesRead(_assembled(parts, failures), failures, foreign)


def refuse(failures: Sequence[Failure]) -> None:
    """Raise one error that lists every problem of every failure; return where there is none."""
    kinds = {type(error) for _, error in failures}
    if kinds:
        kind = kinds.pop() if len(kinds) == 1 else InputError
        raise kind(problem for _, error in failures for problem in error.problems)


def error_table(failures: Iterable[Failure]) -> pd.DataFrame:
    """Return what is wrong with files as the table `errors` of a RunSet."""
    errors = [
        {"source": path, "place": problem.place, "message": problem.message, "fix": problem.fix}
        for path, error in failures
        for problem in error.problems
    ]
    return pd.DataFrame(errors, dtype="str") if errors else no_errors()


def _attempt(read: Callable[[], T], path: str, failures: list[Failure]) -> T | None:
    """Return what `read` returns; None, and a failure of the path, where it raises InputError."""
    try:
        return read()
    except InputError as error:
        failures.append((path, error))
        return None


def _assembled(parts: Sequence[tuple[str, Rows]], failures: list[Failure]) -> RunSet:
    """Return all rows as tables; files whose rows do not fit by themselves are failures, and left out."""
    try:
        return assemble(rows for _, rows in parts)
    except TableError:
        whole = [(path, rows) for path, rows in parts if _attempt(partial(_fits, rows, path), path, failures)]
    return assemble(rows for _, rows in whole)  # raises where two files are one run: no file is wrong by itself


def _fits(rows: Rows, path: str) -> bool:
    try:
        assemble([rows])
    except TableError as error:
        raise TableError(Problem(f"{path}: {p.place}", p.message, p.fix) for p in error.problems) from None
    return True


def _rows(file: RunFile, failures: list[Failure], foreign: list[Failure]) -> Rows | None:
    """Return the rows of one run file; None where it is of something else, InputError says what is wrong with it.

    What an artifact breaks of rule B9 is a failure, for which it is left out if its ids repeat.
    """
    data = _content(file) if file.path.endswith((LOG, ARTIFACT)) else b""
    if not file.named and data.strip() and not any(mark in data for mark in _MARKS[Path(file.path).suffix]):
        lacks = "schemaVersion" if file.path.endswith(ARTIFACT) else "run-started event"
        fix = "nothing, if it is of another program; else name the file itself to see what is wrong with it"
        foreign.append(
            (file.path, InputError(Problem(file.path, f"is no run, as it has no {lacks}: passed over", fix)))
        )
        return None
    if file.path.endswith(LOG):
        return log_rows(parse_log(data, file.path).records, file.run_id, file.path)
    if not file.path.endswith(ARTIFACT):
        kind = Path(file.path).suffix or "file without suffix"
        fix = (
            "load a .json artifact or a .jsonl run log, or a folder of saved tables; "
            "read votes in CSV or Parquet by pandas, and give the table to from_table (any labels) "
            "or from_votes (verdicts)"
        )
        raise InputError(Problem(file.path, f"a {kind} is no run", fix))
    artifact = parse_artifact(data, file.path, checked=False)
    rows = artifact_rows(ArtifactSource(artifact, file.run_id, file.path))
    broken: list[Failure] = []
    _attempt(partial(check_artifact, artifact, file.path), file.path, broken)
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
            megabytes = f"{size / 2**20:,.0f} MB, and {MAX_FILE_BYTES / 2**20:,.0f} MB are allowed"
            fix = "remove it, or name the run files alone"
            raise InputError(Problem(file.path, f"is too large for a run: {megabytes}", fix))
        data: bytes = file.system.cat_file(file.path)
    except OSError as error:
        message = f"cannot be read ({error.strerror or error})"
        raise InputError(Problem(file.path, message, "check the file and your rights")) from None
    return data


def read_saved(saved: SavedTables) -> RunSet:
    """Return the runs of a folder of saved tables; tables that its version did not have are empty.

    Raises TableError listing every file that is missing, cannot be read or holds what its columns do not allow,
    and every table with rows of runs that are not in `runs`.
    """
    problems: list[Problem] = []
    runs = _read_table(saved, "runs", problems)
    declared = runs.attrs.pop(SAVED, FIRST_TABLES) if runs is not None else FIRST_TABLES
    expected = declared if isinstance(declared, list | tuple) else FIRST_TABLES
    tables: dict[str, pd.DataFrame] = {}
    for name in (name for name in TABLES if name != "runs"):
        absent = name not in expected and not saved.system.exists(saved.path(name))
        table = empty(name) if absent else _read_table(saved, name, problems)
        tables |= {name: table} if table is not None else {}
    if runs is not None and not problems:
        for name, table in tables.items():
            strangers = table.loc[~table["run_id"].isin(runs["run_id"]), "run_id"].drop_duplicates()
            if len(strangers):
                message = f"has rows of runs that are not in runs.parquet: {one_of(strangers[:3])}"
                fix = "save all tables of one RunSet into one folder, and nothing else"
                problems.append(Problem(saved.path(name), message, fix))
    if problems or runs is None:
        raise TableError(problems)
    return RunSet(runs=runs, **tables)


def _read_table(saved: SavedTables, name: str, problems: list[Problem]) -> pd.DataFrame | None:
    path = saved.path(name)
    try:
        with saved.system.open(path, "rb") as stream:
            frame = pd.read_parquet(stream)
        table = typed(name, frame, path)
        table.attrs = dict(frame.attrs)
    except (OSError, pa.ArrowException, ValueError) as error:
        columns = error.problems if isinstance(error, TableError) else ()
        problems += columns or [Problem(path, f"cannot be read ({error})", "save the runs again")]
        return None
    return table
