"""Find run files and saved tables at an address, local or on any fsspec file system (rule E4)."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import fsspec
from fsspec.implementations.local import LocalFileSystem

from verifyplan.errors import InputError, Problem
from verifyplan.frames.bundled import is_bundled
from verifyplan.frames.dataset.manifest import is_dataset
from verifyplan.frames.vote_tables import VOTE_TABLES

LOG, ARTIFACT = ".jsonl", ".json"
"""The suffixes of run files."""

_WILDCARDS = frozenset("*?[")


class RunFile(NamedTuple):
    """One file to read: its path, and the folder under which its path is the run id."""

    system: Any
    path: str
    root: str
    named: bool = False
    """Whether somebody named this very file, rather than a folder or a glob that holds it."""

    @property
    def run_id(self) -> str:
        """The file's path under the root, without suffix."""
        return posixpath.splitext(_relative(self.path, self.root))[0]


def size_of(file: RunFile) -> int | None:
    """Return the bytes of a file, 0 where its system does not say; None for what is no file."""
    if isinstance(file.system, LocalFileSystem):
        try:
            status = os.stat(file.path)  # noqa: PTH116  (ten times as fast, of thousands of files)
        except OSError:
            return None
        return status.st_size if stat.S_ISREG(status.st_mode) else None
    return (file.system.size(file.path) or 0) if file.system.isfile(file.path) else None


def bytes_of(file: RunFile) -> bytes:
    """Return what a file holds; OSError if it cannot be read."""
    if isinstance(file.system, LocalFileSystem):
        with open(file.path, "rb", buffering=0) as stream:  # noqa: PTH123  (ten times as fast, of thousands of files)
            return stream.read()
    data: bytes = file.system.cat_file(file.path)
    return data


class SavedTables(NamedTuple):
    """A folder of tables that `RunSet.save` wrote."""

    system: Any
    folder: str

    def path(self, table: str) -> str:
        """Return the path of a table's file."""
        return f"{self.folder}/{table}.parquet"


class Located(NamedTuple):
    """The run files at an address, and the saved tables or the dataset if it is a folder of them."""

    files: list[RunFile]
    saved: SavedTables | None = None
    dataset: str | None = None


def find_all(addresses: list[str]) -> list[Located]:
    """Return what is at each address; InputError lists those that have nothing to load."""
    located: list[Located] = []
    problems: list[Problem] = [] if addresses else [Problem("paths", "names nothing", "name at least one path")]
    for address in addresses:
        try:
            located.append(_find(address))
        except InputError as error:
            problems += error.problems
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            problems.append(Problem(address, f"cannot be opened ({error})", "check the address and the rights"))
    if problems:
        raise InputError(problems)
    return located


def _find(address: str) -> Located:
    """Return the saved tables, the run files, or both, at one address."""
    if not address:
        raise InputError(Problem("paths", "holds an empty name", "write '.' for the folder you are in"))
    system, path = fsspec.core.url_to_fs(address) if "://" in address else (fsspec.filesystem("file"), _local(address))
    if _WILDCARDS & set(path) and not system.exists(path):
        parts = PurePosixPath(path).parts
        first = next(i for i, part in enumerate(parts) if _WILDCARDS & set(part))
        root, pattern = PurePosixPath(*parts[:first]).as_posix(), "/".join(parts[first:])
        hits = [hit for hit in sorted(system.glob(path)) if not system.isdir(hit)]
        return Located(_files(system, hits, root, address, hidden=_is_hidden(pattern)))
    if system.isdir(path):
        folder = path.rstrip("/")
        if is_dataset(system, folder):
            return Located([], dataset=address)
        hits = sorted(hit for hit in _found(system, path) if hit.endswith((LOG, ARTIFACT)))
        saved = SavedTables(system, folder)
        if system.exists(saved.path("runs")):
            return Located(_visible(system, hits, folder), saved)
        return Located(_files(system, hits, folder, address))
    if system.exists(path):
        return Located([RunFile(system, path, PurePosixPath(path).parent.as_posix(), named=True)])
    fix = "name a file, a folder, a glob or an fsspec address"
    if is_bundled(address):
        kind = "votes" if address in VOTE_TABLES else "runs"
        fix += f"; what is bundled under this name is read by vp.datasets.{kind}({address!r})"
    raise InputError(Problem(address, "is not there", fix))


def _found(system: Any, folder: str) -> Iterable[str]:
    """Return the files in a folder and below; links to folders are not followed."""
    if not isinstance(system, LocalFileSystem):
        return list(system.find(folder))
    return (f"{place.rstrip('/')}/{name}" for place, _, names in os.walk(folder) for name in names)


def _local(address: str) -> str:
    """Return a local path in full; `..` is followed as the system does, other links keep their names."""
    path = Path(address).expanduser()
    return (path.resolve() if ".." in path.parts else path.absolute()).as_posix()


def _files(system: Any, hits: list[str], root: str, address: str, hidden: bool = False) -> list[RunFile]:
    files = _visible(system, hits, root, hidden)
    if not files:
        fix = "name a folder or glob that holds state artifacts (.json), run logs (.jsonl) or saved tables (.parquet)"
        raise InputError(Problem(address, "holds no run", fix))
    return files


def _visible(system: Any, hits: list[str], root: str, hidden: bool = False) -> list[RunFile]:
    return [RunFile(system, hit, root) for hit in hits if hidden or "/." not in f"/{_relative(hit, root)}"]


def _relative(path: str, root: str) -> str:
    return path.removeprefix(root).lstrip("/")


def _is_hidden(relative: str) -> bool:
    return any(part.startswith(".") for part in relative.split("/"))


def joined(located: list[Located]) -> tuple[list[RunFile], list[SavedTables]]:
    """Return the files and folders, once each, with run ids under the one folder that holds all the files' roots.

    Of a log and the artifact beside it, which is its export, only the log is kept.
    """
    files = [file for place in located for file in place.files]
    roots = sorted({file.root for file in files})
    if len(roots) > 1:
        common = os.path.commonpath(roots) if len({root.startswith("/") for root in roots}) == 1 else ""
        files = [file._replace(root=common) for file in files]
    systems = {id(file.system): file.system for file in files}
    same = {number: list(systems.values()).index(system) for number, system in systems.items()}
    keys = [(same[id(file.system)], file.path) for file in files]
    once: dict[tuple[int, str], RunFile] = {}
    for key, file in zip(keys, files, strict=True):
        once[key] = file if file.named or key not in once else once[key]
    exports = {(system, f"{path.removesuffix(LOG)}{ARTIFACT}") for system, path in once if path.endswith(LOG)}
    kept = [file for key, file in once.items() if key not in exports]
    return kept, list(dict.fromkeys(place.saved for place in located if place.saved is not None))
