"""Which places a model may open, and why another is not opened: confined, no secrets, no surprises (rules G4, H3)."""

from __future__ import annotations

import os
import posixpath
import stat
from pathlib import Path

from verifyplan.agents.tools.secret_files import looks_secret
from verifyplan.agents.tools.wording import is_one_line, one_line
from verifyplan.repository.reading import (
    LARGEST,
    UnreadableError,
    read_resolved,
    reason,
    text_of,
)
from verifyplan.repository.repository import Repository
from verifyplan.text import counted

MAX_NAMED_FILES = 20
"""Files that are named where a folder was asked for."""

_SYSTEM = ("/proc", "/sys")
_OUTSIDE = "it lies outside the folder that may be read"
_NOT_LISTED = (
    "it is not among the repository's files. Git ignores it, it stands in a folder that is left out (hidden ones,"
    " node_modules, build ...), or it is newer than this run"
)


class NotOpenedError(Exception):
    """A place is not opened; the text says why.

    `answers` is set where this is an answer about the repository (there is no such file, it is a folder), not a
    refusal; `results` counts the names in it.
    """

    def __init__(self, why: str, *, answers: bool = False, results: int = 0) -> None:
        super().__init__(why)
        self.answers = answers
        self.results = results


def relative_path(repository: Repository, path: str) -> str:
    """A path as the repository lists it, whether it is there or not: `./` and `a/../` are folded.

    Looks at names only, never at the disk. NotOpenedError for a path that leads outside, holds control characters,
    or looks secret. A path that begins with `/` must lie under the root.
    """
    if not is_one_line(path):
        raise _refused(path, "its name holds control characters")
    plain = path if path in repository.files else path.replace("\\", "/")
    folded = posixpath.normpath(plain.removeprefix(f"{repository.root.as_posix()}/") or "/")
    if folded.startswith(("/", "../")) or folded == "..":
        raise _refused(path, _OUTSIDE)
    if why := looks_secret(folded):
        raise _refused(path, why)
    return folded


def read_listed(repository: Repository, path: str) -> str:
    """The text of a listed file, read now; `path` is one that `relative` gave.

    NotOpenedError says why there is none, with near names where nothing has this one.
    """
    if path not in repository.files:
        raise _not_listed(repository, path)
    target = resolve_listed(repository, path)
    try:
        return text_of(read_resolved(target, path), path)
    except UnreadableError as error:
        raise _refused(path, f"it {str(error).removeprefix(f'{path} ')}") from None
    except (OSError, ValueError) as error:
        raise _refused(path, reason(error)) from None


def resolve_listed(repository: Repository, path: str) -> Path:
    """Where a listed file lies after its links; NotOpenedError says why it may not be opened there.

    What lies outside the root, looks secret under its real name or is not listed under it, and what is larger than
    2 MB is not opened. Nothing is read to find that out.
    """
    try:
        target = (repository.root / path).resolve(strict=True)
        size = target.stat().st_size if target.is_relative_to(repository.root) else 0
    except (OSError, RuntimeError, ValueError) as error:
        raise _refused(path, reason(error)) from None
    if not target.is_relative_to(repository.root):
        raise _refused(path, _OUTSIDE)
    real = target.relative_to(repository.root).as_posix()
    if why := looks_secret(real):
        raise _refused(path, f"it is a link, and where it leads {why}")
    if real != path and real not in repository.files:
        raise _refused(path, f"it is a link, and where it leads {_NOT_LISTED}")
    if any(target.is_relative_to(folder) for folder in _SYSTEM):
        raise _refused(path, "it is a file of the operating system")
    if size > LARGEST:
        raise _refused(path, f"it is larger than {LARGEST:,} bytes")
    return target


def is_searchable(repository: Repository, path: str) -> bool:
    """Whether a listed file may be searched: of up to 2 MB and no link, as what a link leads to is listed by itself."""
    try:
        found = os.lstat(f"{repository.root}/{path}")
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST


def files_below(repository: Repository, folder: str) -> list[str]:
    """The listed files below a folder, `.` being the root; those with secret-looking names are left out."""
    inside = "" if folder == "." else f"{folder}/"
    return [path for path in repository.files if path.startswith(inside) and may_be_named(path)]


def may_be_named(path: str) -> bool:
    """Whether a listed path may be opened by its name."""
    return is_one_line(path) and not looks_secret(path)


def _refused(path: str, why: str) -> NotOpenedError:
    return NotOpenedError(f"{one_line(path)} is not opened: {why}")


def _not_listed(repository: Repository, path: str) -> NotOpenedError:
    """Why a path is none of the repository's files."""
    if path == "." or path in repository.folders:
        return _folder(repository, path)
    skipped = next((one.reason for one in repository.skipped if one.path == path), None)
    if skipped is not None:
        return _refused(path, skipped)
    try:
        target = (repository.root / path).resolve()
        if not target.is_relative_to(repository.root):
            return _refused(path, _OUTSIDE)
        mode = target.stat().st_mode
    except FileNotFoundError:
        return _missing(repository, path)
    except (OSError, RuntimeError, ValueError) as error:
        return _refused(path, reason(error))
    if stat.S_ISDIR(mode):
        return NotOpenedError(f"{one_line(path)} is a folder that holds no file of the repository", answers=True)
    return _refused(path, _NOT_LISTED if stat.S_ISREG(mode) else "it is no ordinary file")


def _missing(repository: Repository, path: str) -> NotOpenedError:
    near = [one for one in repository.similar(path, 5) if may_be_named(one)][:3]
    hint = f" Near it: {', '.join(near)}." if near else ""
    return NotOpenedError(f"{one_line(path)} does not exist.{hint}", answers=True, results=len(near))


def _folder(repository: Repository, path: str) -> NotOpenedError:
    files = files_below(repository, path)
    named = files[:MAX_NAMED_FILES]
    more = f" and {counted(len(files) - len(named), 'other file')}" if len(files) > len(named) else ""
    text = f"{one_line(path)} is a folder, not a file. It holds {', '.join(named) or 'no file that may be read'}{more}."
    return NotOpenedError(text, answers=True, results=len(named))
