"""Load runs from a file, a folder, a glob, several of these, or any fsspec address (rule E4)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Protocol, TypeAlias

import pandas as pd

from verifyplan.errors import InputError, Problem
from verifyplan.frames.addresses import SavedTables, find_all, joined
from verifyplan.frames.bundled import claims, is_bundled, path
from verifyplan.frames.bundled_votes import runs_of_votes
from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.run_files import Failure, attempt, read_files
from verifyplan.frames.runset import TABLE_NAMES, RunSet, concat, no_errors
from verifyplan.frames.saved_tables import read_tables
from verifyplan.frames.vote_files import has_sidecar, read_by_sidecar, runs_of_files
from verifyplan.frames.vote_tables import VOTE_TABLES
from verifyplan.progress import progress as progress_bar

Address = str | os.PathLike[str]

FILES_FOR_PROGRESS_BAR = 200
"""From so many files on, loading takes seconds and shows a bar."""


class HasFrames(Protocol):
    """A run, or whatever else has its tables at hand."""

    @property
    def frames(self) -> RunSet:
        """The tables."""


Runs: TypeAlias = RunSet | HasFrames | Address
"""Whatever runs can be taken from: their tables, a run, a path or the name of a bundled set (see `as_runs`)."""


def as_runs(value: Runs, name: str = "runs") -> RunSet:
    """Return runs as tables: a RunSet as it is, a run's `.frames`, or what is loaded from a path.

    A path is a file, a folder, a glob or an fsspec address, as `load` takes it. A text that is not a path may name a
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
    if isinstance(value, pd.DataFrame):
        fix += "; a table of votes becomes runs by from_votes(table, item=..., worker=..., verdict=...)"
    elif isinstance(value, list | tuple):
        fix += "; concat([...]) makes one set of several, and compare takes {name: set} to set them side by side"
    raise InputError(Problem(name, message, fix))


def load_bundled(name: str) -> RunSet:
    """Return a bundled set of recorded runs, with truth where it is known; InputError for an unknown name.

    Of the tables of votes `llmbar` can be read so, see `runs_of_votes`.
    """
    if name in VOTE_TABLES:
        return runs_of_votes(name)
    known = _bundled_runs(name)
    return replace(known, **{table: _own_copy(getattr(known, table)) for table in (*TABLE_NAMES, "errors")})


def _own_copy(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table that shares its values until they are written to, and has lists of its own."""
    lists = {
        str(name): pd.Series(
            [list(each) if isinstance(each, list) else each for each in column], table.index, dtype=object
        )
        for name, column in table.items()
        if column.dtype == object
    }
    return table.copy(deep=False).assign(**lists)


@lru_cache(maxsize=4)
def _bundled_runs(name: str) -> RunSet:
    """Return a bundled set, read once: notebooks name the same set in many calls."""
    loaded = load(path(name))
    return loaded.with_truth(claims(name)) if name.startswith("stdlib-claims") else loaded


def load(paths: Address | Iterable[Address], *, strict: bool = True, progress: bool | None = None) -> RunSet:
    """Load runs as tables, from run logs (`.jsonl`), state artifacts (`.json`) or tables that `RunSet.save` wrote.

    A dataset that `verifyplan compile` wrote is opened and not read: its tables are read when they are first needed.
    Tables that `RunSet.save` wrote are read at once.
    A CSV or Parquet of votes is read where a file beside it, `votes.csv.columns.json`, names its columns
    (docs/command-line.md); `from_votes` reads any other table. Of several such files those without a column of
    runs are runs named after the files.

    `paths` is a file, a folder (every log and artifact in it and below, and the tables saved in it; hidden ones and
    links to folders aside), a glob, an fsspec address such as `s3://bucket/runs`, or a list of these. A run's id is
    its path under the loaded folder, without suffix; of several paths, under the folder they have in common. Where
    a log and its artifact are both found, the log counts, which knows more. A run that has not ended is loaded as
    far as it got.

    A `.json` or `.jsonl` in a folder or glob that is clearly of something else (a package.json) is passed over, and
    `.errors` names it; one that is named itself is an error, and so is an empty one, or a `.json` that ends too early.

    Raises InputError listing every address that has nothing to load, else an error listing every problem of
    every damaged file. `progress` shows a bar; by default from 200 files on, where somebody can see it.
    With `strict=False` what could be read is returned, and `.errors` says what could not. An artifact that can be
    read, but breaks rule B9, is then both: its run is returned, and `.errors` says what it breaks.

    >>> import verifyplan as vp
    >>> load(vp.datasets.path("contract"))
    RunSet(15 runs, 27 findings, 84 votes, 21 rounds, 51 dispatches)
    """
    addresses = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    votes = [address for address in addresses if has_sidecar(address)]
    others = [os.fspath(address) for address in addresses if address not in votes]
    located = find_all(others) if others or not votes else []
    files, folders = joined(located)
    datasets = [Dataset.open(place.dataset) for place in located if place.dataset is not None]
    if len(datasets) == len(located) == len(addresses) == 1:
        return datasets[0]
    failures: list[Failure] = []
    saved = [attempt(partial(_saved_runs, folder), folder.folder, failures) for folder in folders]
    saved += [attempt(partial(read_by_sidecar, *of), os.fspath(of[0]), failures) for of in runs_of_files(votes).items()]
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
    parts = [*sets, *([loaded] if len(loaded) or not sets else [])]
    return replace(parts[0] if len(parts) == 1 else concat(parts), errors=table)


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


def _saved_runs(folder: SavedTables) -> RunSet:
    return RunSet(**read_tables(folder))
