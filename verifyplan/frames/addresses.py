"""What stands at an address: run files and saved tables, local or on any fsspec file system (rule E4)."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import fsspec

from verifyplan.errors import InputError, Problem

LOG, ARTIFACT = ".jsonl", ".json"
"""How the names of run files end."""
_GLOB = frozenset("*?[")


class RunFile(NamedTuple):
    """One file to read: where it is, and the folder that run ids are told from."""

    system: Any
    path: str
    root: str

    @property
    def run_id(self) -> str:
        """The file's path under the root, without suffix."""
        return PurePosixPath(_relative(self.path, self.root)).with_suffix("").as_posix()


class SavedTables(NamedTuple):
    """A folder of tables that `RunSet.save` wrote."""

    system: Any
    folder: str


class Located(NamedTuple):
    """What stands at an address: run files, and saved tables if it is a folder of them."""

    files: list[RunFile]
    saved: SavedTables | None = None


def find_all(addresses: list[str]) -> list[Located]:
    """What stands at each address; InputError lists those where nothing stands."""
    found: list[Located] = []
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


def _find(address: str) -> Located:
    """What stands at one address: saved tables, run files, or both."""
    if not address:
        raise InputError(Problem("paths", "holds an empty name", "write '.' for the folder you are in"))
    system, path = fsspec.core.url_to_fs(address) if "://" in address else (fsspec.filesystem("file"), _local(address))
    if _GLOB & set(path) and not system.exists(path):
        fixed, pattern = _split_glob(path)
        hits = [hit for hit in sorted(system.glob(path)) if not system.isdir(hit)]
        return Located(_files(system, hits, fixed, address, hidden=_hidden(pattern)))
    if system.isdir(path):
        return _in_folder(system, path, address)
    if system.exists(path):
        return Located([RunFile(system, path, PurePosixPath(path).parent.as_posix())])
    raise InputError(Problem(address, "is not there", "name a file, a folder, a glob or an fsspec address"))


def _in_folder(system: Any, path: str, address: str) -> Located:
    """Saved tables, run files, or both; a folder that holds neither is an InputError."""
    folder = path.rstrip("/")
    hits = [hit for hit in sorted(system.find(path)) if hit.endswith((LOG, ARTIFACT))]
    if system.exists(f"{folder}/runs.parquet"):
        return Located(_shown(system, hits, folder), SavedTables(system, folder))
    return Located(_files(system, hits, folder, address))


def _local(address: str) -> str:
    """A local path in full; `..` is followed as the system does, other links keep their names."""
    path = Path(address).expanduser()
    return (path.resolve() if ".." in path.parts else path.absolute()).as_posix()


def _files(system: Any, hits: list[str], root: str, address: str, hidden: bool = False) -> list[RunFile]:
    files = _shown(system, hits, root, hidden)
    if not files:
        fix = "name a folder or glob that holds state artifacts (.json), run logs (.jsonl) or saved tables (.parquet)"
        raise InputError(Problem(address, "holds no run", fix))
    return files


def _shown(system: Any, hits: list[str], root: str, hidden: bool = False) -> list[RunFile]:
    return [RunFile(system, hit, root) for hit in hits if hidden or not _hidden(_relative(hit, root))]


def _split_glob(path: str) -> tuple[str, str]:
    """The folder before the first part with a wildcard, and the pattern under it."""
    parts = PurePosixPath(path).parts
    first = next(i for i, part in enumerate(parts) if _GLOB & set(part))
    return PurePosixPath(*parts[:first]).as_posix(), "/".join(parts[first:])


def _relative(path: str, root: str) -> str:
    return path.removeprefix(root).lstrip("/")


def _hidden(relative: str) -> bool:
    return any(part.startswith(".") for part in relative.split("/"))


def together(found: list[Located]) -> tuple[list[RunFile], list[SavedTables]]:
    """The files and folders, once each, with run ids told from the one folder that holds all the files' roots.

    Of a log and the artifact beside it, which is its export, the log alone.
    """
    files = [file for one in found for file in one.files]
    roots = sorted({file.root for file in files})
    if len(roots) > 1:
        common = os.path.commonpath(roots) if len({root.startswith("/") for root in roots}) == 1 else ""
        files = [file._replace(root=common) for file in files]
    once = {(file.system, file.path): file for file in files}
    exports = {(system, f"{path.removesuffix(LOG)}{ARTIFACT}") for system, path in once if path.endswith(LOG)}
    kept = [file for key, file in once.items() if key not in exports]
    return kept, list(dict.fromkeys(one.saved for one in found if one.saved is not None))
