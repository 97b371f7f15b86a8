"""Decide which files a model may open: listed ones, none that look secret or in hidden folders (rules G4, H3)."""

from __future__ import annotations

import os
import posixpath
import stat
from fnmatch import fnmatchcase
from pathlib import Path

from verifyplan.agents.untrusted_text import is_one_line, one_line
from verifyplan.repository.reading import (
    IN_HIDDEN_FOLDER,
    MAX_FILE_BYTES,
    UnreadableError,
    hidden_folder,
    read_resolved,
    reason,
    text_of,
)
from verifyplan.repository.repository import Repository
from verifyplan.secret_rules.file_names import looks_secret
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
    """A path is not opened; the text says why.

    `answers` is set where this is an answer about the repository (there is no such file, it is a folder), not a
    refusal; `results` counts the names in it.
    """

    def __init__(self, message: str, *, answers: bool = False, results: int = 0) -> None:
        super().__init__(message)
        self.answers = answers
        self.results = results


def relative_path(repository: Repository, path: str) -> str:
    """Return a path as the repository lists it, whether it is there or not: `./` and `a/../` are folded.

    Looks at names only, never at the disk. NotOpenedError for a path that leads outside, holds control characters,
    or looks secret. A path that begins with `/` must lie under the root.
    """
    if not is_one_line(path):
        raise _refused(path, "its name holds control characters")
    plain = path if path in repository.files else path.replace("\\", "/")
    folded = posixpath.normpath(plain.removeprefix(f"{repository.root.as_posix()}/") or "/")
    if folded.startswith(("/", "../")) or folded == "..":
        raise _refused(path, _OUTSIDE)
    if secret := withheld(repository, folded):
        raise _refused(path, secret)
    return folded


def read_listed(repository: Repository, path: str) -> str:
    """Return the text of a listed file, read now; `path` comes from `relative_path`.

    NotOpenedError says why there is none, with near names where no file has this one.
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
    """Return the path of a listed file after its links; NotOpenedError says why it may not be opened there.

    A file is not opened if it lies outside the root, looks secret under its real name, is not listed under it, or is
    larger than 2 MB. Nothing is read to decide that.
    """
    try:
        target = (repository.root / path).resolve(strict=True)
        size = target.stat().st_size if target.is_relative_to(repository.root) else 0
    except (OSError, RuntimeError, ValueError) as error:
        raise _refused(path, reason(error)) from None
    if not target.is_relative_to(repository.root):
        raise _refused(path, _OUTSIDE)
    real = target.relative_to(repository.root).as_posix()
    if secret := withheld(repository, real):
        raise _refused(path, f"it is a link, and where it leads {secret}")
    if real != path and real not in repository.files:
        raise _refused(path, f"it is a link, and where it leads {_NOT_LISTED}")
    if any(target.is_relative_to(folder) for folder in _SYSTEM):
        raise _refused(path, "it is a file of the operating system")
    if size > MAX_FILE_BYTES:
        raise _refused(path, f"it is larger than {MAX_FILE_BYTES:,} bytes")
    return target


def is_searchable(repository: Repository, path: str) -> bool:
    """Return whether a listed file may be searched: up to 2 MB and no link, as a link's target is listed itself."""
    try:
        status = os.lstat(f"{repository.root}/{path}")
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size <= MAX_FILE_BYTES


def files_below(repository: Repository, folder: str) -> list[str]:
    """Return the listed files below a folder (`.` for the root) without those that look secret."""
    inside = "" if folder == "." else f"{folder}/"
    return [path for path in repository.files if path.startswith(inside) and may_be_named(repository, path)]


def may_be_named(repository: Repository, path: str) -> bool:
    """Return whether a path may be opened by its name, and so be named to a model."""
    return is_one_line(path) and not withheld(repository, path)


def withheld(repository: Repository, path: str) -> str:
    """Return why a path is withheld from models by its name; blank where it is not, or where the run allows it.

    All that opens, lists, searches or names files for a model asks here. A pattern of `repository.allowed_files` is
    that of a name, or of a whole path: `config/hosts.yml`, `*.sample.env`. None of them opens a hidden folder.
    """
    if hidden_folder(path):
        return looks_secret(path) or IN_HIDDEN_FOLDER
    names = (path.casefold(), posixpath.basename(path).casefold())
    if any(fnmatchcase(name, pattern.casefold()) for pattern in repository.allowed_files for name in names):
        return ""
    return looks_secret(path)


def _refused(path: str, cause: str) -> NotOpenedError:
    return NotOpenedError(f"{one_line(path)} is not opened: {cause}")


def _not_listed(repository: Repository, path: str) -> NotOpenedError:
    """Return why a path is not opened that is none of the repository's files."""
    if path == "." or path in repository.folders:
        files = files_below(repository, path)
        named = files[:MAX_NAMED_FILES]
        more = f" and {counted(len(files) - len(named), 'other file')}" if len(files) > len(named) else ""
        content = f"{', '.join(named) or 'no file that may be read'}{more}"
        text = f"{one_line(path)} is a folder, not a file. It holds {content}."
        return NotOpenedError(text, answers=True, results=len(named))
    skipped = next((entry.reason for entry in repository.skipped if entry.path == path), None)
    if skipped is not None:
        return _refused(path, skipped)
    try:
        target = (repository.root / path).resolve()
        if not target.is_relative_to(repository.root):
            return _refused(path, _OUTSIDE)
        mode = target.stat().st_mode
    except FileNotFoundError:
        near = [name for name in repository.similar(path, 5) if may_be_named(repository, name)][:3]
        hint = f" Near it: {', '.join(near)}." if near else ""
        return NotOpenedError(f"{one_line(path)} does not exist.{hint}", answers=True, results=len(near))
    except (OSError, RuntimeError, ValueError) as error:
        return _refused(path, reason(error))
    if stat.S_ISDIR(mode):
        return NotOpenedError(f"{one_line(path)} is a folder that holds no file of the repository", answers=True)
    return _refused(path, _NOT_LISTED if stat.S_ISREG(mode) else "it is no ordinary file")
