"""Runs from a file, a folder, a glob, several of these, or any fsspec address (SPEC E4)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import fsspec
import pandas as pd
import pyarrow as pa

from verifyplan.errors import InputError, Problem, TableError, VerifyplanError
from verifyplan.frames.artifact import parse_artifact
from verifyplan.frames.columns import typed
from verifyplan.frames.runset import TABLE_NAMES, RunSet, concat
from verifyplan.frames.tables import Source, to_tables

Address = str | os.PathLike[str]
_GLOB = frozenset("*?[")


class _File(NamedTuple):
    """One file to read: where it is, and the folder that run ids are told from."""

    system: Any
    path: str
    root: str

    @property
    def run_id(self) -> str:
        relative = PurePosixPath(self.path).relative_to(self.root) if self.root else PurePosixPath(self.path)
        return relative.with_suffix("").as_posix()


def load(paths: Address | Iterable[Address], *, strict: bool = True) -> RunSet:
    """Runs as tables, from state artifacts (`.json`) or from tables that `RunSet.save` wrote.

    `paths` is a file, a folder (every `.json` in it and below, hidden ones aside), a glob, an fsspec address
    such as `s3://bucket/runs`, or a list of these. A run's id is its path under the loaded folder, without
    suffix; of several paths, under the folder they have in common.

    Raises InputError if there is nothing to load, ArtifactError listing every problem of every damaged file.
    With `strict=False` what could be read is returned, and `.errors` says what could not.
    """
    addresses = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [_find(os.fspath(address)) for address in addresses]
    saved = [folder for kind, folder in found if kind == "tables"]
    files = _under_common_root([file for kind, some in found if kind == "files" for file in some])
    sets = [_load_tables(system, folder) for system, folder in saved]
    if files or not sets:
        sets.append(_load_artifacts(files, strict))
    return concat(sets) if len(sets) > 1 else sets[0]


def _find(address: str) -> tuple[str, Any]:
    """What stands at an address: saved tables (system, folder), or a list of artifact files."""
    try:
        system, path = fsspec.core.url_to_fs(address)
        if _GLOB & set(address) and not system.exists(path):
            fixed = PurePosixPath(*_before_glob(PurePosixPath(path).parts)).as_posix()
            hits = [hit for hit in sorted(system.glob(path)) if system.isfile(hit)]
            return "files", _some([_File(system, hit, fixed) for hit in hits], address)
        if system.isdir(path):
            if system.exists(f"{path.rstrip('/')}/runs.parquet"):
                return "tables", (system, path.rstrip("/"))
            hits = [h for h in sorted(system.find(path)) if h.endswith(".json") and not _hidden(h, path)]
            return "files", _some([_File(system, hit, path.rstrip("/")) for hit in hits], address)
        if system.isfile(path):
            return "files", [_File(system, path, PurePosixPath(path).parent.as_posix())]
    except (OSError, ValueError, ImportError) as error:
        message = f"cannot be opened ({error})"
        raise InputError(Problem(address, message, "check the address and the rights")) from None
    raise InputError(Problem(address, "is not there", "name a file, a folder, a glob or an fsspec address"))


def _some(files: list[_File], address: str) -> list[_File]:
    if not files:
        fix = "name a folder or glob that holds state artifacts (.json) or saved tables (.parquet)"
        raise InputError(Problem(address, "holds no run", fix))
    return files


def _before_glob(parts: tuple[str, ...]) -> list[str]:
    first = next(i for i, part in enumerate(parts) if _GLOB & set(part))
    return list(parts[:first])


def _hidden(path: str, root: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(path).relative_to(root).parts)


def _under_common_root(files: list[_File]) -> list[_File]:
    """The same files, once each, with run ids told from the one folder that holds all their roots."""
    roots = sorted({file.root for file in files})
    if len(roots) > 1:
        common = os.path.commonpath(roots) if len({root.startswith("/") for root in roots}) == 1 else ""
        files = [file._replace(root=common) for file in files]
    return list({file.path: file for file in files}.values())


def _load_artifacts(files: list[_File], strict: bool) -> RunSet:
    sources: list[Source] = []
    problems: list[tuple[str, Problem]] = []
    failures: list[VerifyplanError] = []
    for file in files:
        try:
            sources.append(Source(_read(file), file.run_id, file.path))
        except InputError as error:
            failures.append(error)
            problems += [(file.path, problem) for problem in error.problems]
    if strict and failures:
        raise type(failures[0])(problem for _, problem in problems)
    rows = [{"source": path, "place": p.place, "message": p.message, "fix": p.fix} for path, p in problems]
    errors = pd.DataFrame(rows, columns=["source", "place", "message", "fix"], dtype="str")
    loaded = to_tables(sources)
    return RunSet(**{name: getattr(loaded, name) for name in TABLE_NAMES}, errors=errors)


def _read(file: _File) -> Any:
    if not file.path.endswith(".json"):
        fix = "load a .json artifact or a folder of saved tables; read votes in CSV or Parquet by from_votes"
        raise InputError(Problem(file.path, f"a {Path(file.path).suffix or 'file without suffix'} is no run", fix))
    try:
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
