"""Runs from a file, a folder, a glob, several of these, or any fsspec address (SPEC E4)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import fsspec
import pandas as pd
import pyarrow as pa

from verifyplan.errors import InputError, Problem, TableError
from verifyplan.frames.artifact import parse_artifact
from verifyplan.frames.columns import typed
from verifyplan.frames.runset import TABLE_NAMES, RunSet, concat, no_errors
from verifyplan.frames.tables import Source, to_tables
from verifyplan.progress import progress as progress_bar

Address = str | os.PathLike[str]
_GLOB = frozenset("*?[")


_Failure = tuple[str, InputError]


class _File(NamedTuple):
    """One file to read: where it is, and the folder that run ids are told from."""

    system: Any
    path: str
    root: str

    @property
    def run_id(self) -> str:
        return PurePosixPath(_relative(self.path, self.root)).with_suffix("").as_posix()


MANY_FILES = 200
"""From so many files on, loading takes seconds and shows a bar."""


class _Found(NamedTuple):
    """What stands at an address: artifact files, or a folder of saved tables and its file system."""

    files: list[_File]
    tables: tuple[Any, str] | None = None


def load(paths: Address | Iterable[Address], *, strict: bool = True, progress: bool | None = None) -> RunSet:
    """Runs as tables, from state artifacts (`.json`) or from tables that `RunSet.save` wrote.

    `paths` is a file, a folder (every `.json` in it and below; hidden ones and links to folders aside), a glob,
    an fsspec address such as `s3://bucket/runs`, or a list of these. A run's id is its path under the loaded
    folder, without suffix; of several paths, under the folder they have in common.

    Raises InputError listing every address that has nothing to load, else an error listing every problem of
    every damaged file. `progress` shows a bar; by default from 200 files on, where somebody can see it.
    With `strict=False` what could be read is returned, and `.errors` says what could not.
    """
    addresses = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files, folders = _under_common_root(_find_all([os.fspath(address) for address in addresses]))
    sets: list[RunSet] = []
    failures: list[_Failure] = []
    for system, folder in folders:
        try:
            sets.append(_load_tables(system, folder))
        except InputError as error:
            failures.append((folder, error))
    sources: list[Source] = []
    shown = progress if progress is not None or len(files) >= MANY_FILES else False
    with progress_bar("loading runs", len(files), shown) as step:
        for file in files:
            try:
                sources.append(Source(_read(file), file.run_id, file.path))
            except InputError as error:
                failures.append((file.path, error))
            step()
    if strict and failures:
        kinds = {type(error) for _, error in failures}
        kind = kinds.pop() if len(kinds) == 1 else InputError
        raise kind(problem for _, error in failures for problem in error.problems)
    loaded = concat([*sets, to_tables(sources)]) if sets else to_tables(sources)
    return replace(loaded, errors=_table_of(failures))


def _table_of(failures: list[_Failure]) -> pd.DataFrame:
    rows = [
        {"source": path, "place": problem.place, "message": problem.message, "fix": problem.fix}
        for path, error in failures
        for problem in error.problems
    ]
    return pd.DataFrame(rows, dtype="str") if rows else no_errors()


def _find_all(addresses: list[str]) -> list[_Found]:
    """What stands at each address; InputError lists those where nothing stands."""
    found: list[_Found] = []
    problems: list[Problem] = [] if addresses else [Problem("paths", "names nothing", "name at least one path")]
    for address in addresses:
        try:
            found.append(_find(address))
        except InputError as error:
            problems += error.problems
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            problems.append(Problem(address, f"cannot be opened ({error})", "check the address and the rights"))
    if problems:
        raise InputError(problems)
    return found


def _find(address: str) -> _Found:
    """What stands at one address: saved tables, or artifact files."""
    if not address:
        raise InputError(Problem("paths", "holds an empty name", "write '.' for the folder you are in"))
    system, path = fsspec.core.url_to_fs(address) if "://" in address else (fsspec.filesystem("file"), _local(address))
    if _GLOB & set(path) and not system.exists(path):
        fixed, pattern = _split_glob(path)
        hits = [hit for hit in sorted(system.glob(path)) if not system.isdir(hit)]
        return _Found(_files(system, hits, fixed, address, hidden=_hidden(pattern)))
    if system.isdir(path):
        folder = path.rstrip("/")
        if system.exists(f"{folder}/runs.parquet"):
            return _Found([], (system, folder))
        hits = [hit for hit in sorted(system.find(path)) if hit.endswith(".json")]
        return _Found(_files(system, hits, folder, address))
    if system.exists(path):
        return _Found([_File(system, path, PurePosixPath(path).parent.as_posix())])
    raise InputError(Problem(address, "is not there", "name a file, a folder, a glob or an fsspec address"))


def _local(address: str) -> str:
    """A local path in full; `..` is followed as the system does, other links keep their names."""
    path = Path(address).expanduser()
    return (path.resolve() if ".." in path.parts else path.absolute()).as_posix()


def _files(system: Any, hits: list[str], root: str, address: str, hidden: bool = False) -> list[_File]:
    files = [_File(system, hit, root) for hit in hits if hidden or not _hidden(_relative(hit, root))]
    if not files:
        fix = "name a folder or glob that holds state artifacts (.json) or saved tables (.parquet)"
        raise InputError(Problem(address, "holds no run", fix))
    return files


def _split_glob(path: str) -> tuple[str, str]:
    """The folder before the first part with a wildcard, and the pattern under it."""
    parts = PurePosixPath(path).parts
    first = next(i for i, part in enumerate(parts) if _GLOB & set(part))
    return PurePosixPath(*parts[:first]).as_posix(), "/".join(parts[first:])


def _relative(path: str, root: str) -> str:
    return path.removeprefix(root).lstrip("/")


def _hidden(relative: str) -> bool:
    return any(part.startswith(".") for part in relative.split("/"))


def _under_common_root(found: list[_Found]) -> tuple[list[_File], list[tuple[Any, str]]]:
    """The files and folders, once each, with run ids told from the one folder that holds all the files' roots."""
    files = [file for one in found for file in one.files]
    roots = sorted({file.root for file in files})
    if len(roots) > 1:
        common = os.path.commonpath(roots) if len({root.startswith("/") for root in roots}) == 1 else ""
        files = [file._replace(root=common) for file in files]
    once = {(file.system, file.path): file for file in files}
    return list(once.values()), list(dict.fromkeys(one.tables for one in found if one.tables is not None))


def _read(file: _File) -> Any:
    if not file.path.endswith(".json"):
        fix = "load a .json artifact or a folder of saved tables; read votes in CSV or Parquet by from_votes"
        raise InputError(Problem(file.path, f"a {Path(file.path).suffix or 'file without suffix'} is no run", fix))
    try:
        if not file.system.isfile(file.path):  # a dead link, or a pipe that would be waited for without end
            raise InputError(Problem(file.path, "is no file that can be read", "remove it, or name another"))
        data = file.system.cat_file(file.path)
    except OSError as error:
        message = f"cannot be read ({error.strerror or error})"
        raise InputError(Problem(file.path, message, "check the file and your rights")) from None
    return parse_artifact(data, file.path)


def _load_tables(system: Any, folder: str) -> RunSet:
    """Tables that `RunSet.save` wrote, checked against the declared columns."""
    tables: dict[str, pd.DataFrame] = {}
    problems: list[Problem] = []
    for name in TABLE_NAMES:
        path = f"{folder}/{name}.parquet"
        try:
            with system.open(path, "rb") as stream:
                tables[name] = typed(name, pd.read_parquet(stream), path)
        except (OSError, pa.ArrowException, ValueError) as error:
            found = error.problems if isinstance(error, TableError) else ()
            problems += found or [Problem(path, f"cannot be read ({error})", "save the runs again")]
    if problems:
        raise TableError(problems)
    return RunSet(**tables)
