"""Find the files of a folder without following links or opening special files (rule H3)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from verifyplan.errors import InputError, Problem

PLANNING = ".planning"

LEFT_OUT = frozenset({"node_modules", "__pycache__"})
"""Folders of packages. They are left out, like hidden folders except `.planning`."""

MAX_ENTRIES = 200_000

Obstacle = Literal["not followed", "unreadable"]


class Unread(NamedTuple):
    """Something in a folder that was not read: where, why, what to do, and whether it could not or may not be read."""

    path: str
    reason: str
    fix: str
    obstacle: Obstacle


class FolderContents(NamedTuple):
    """The regular files in a folder and its subfolders, and what is not a regular file."""

    files: tuple[Path, ...]
    unread: tuple[Unread, ...]


def walk(root: Path) -> FolderContents:
    """Return all regular files under a folder, in the order of their paths.

    Links, pipes, sockets, devices and names that hold control characters or are not UTF-8 are listed as unread, with
    the reason, and never followed or opened. Hidden folders except `.planning`, and those of packages, are left out.
    Raises InputError for a folder of more than 200,000 entries.
    """
    files: list[Path] = []
    unread: list[Unread] = []
    folders = [root]
    seen = 0
    while folders:
        inner: list[Path] = []
        for path, mode in _entries(folders.pop(), unread):
            seen += 1
            (inner if stat.S_ISDIR(mode) else files).append(path)
        if seen > MAX_ENTRIES:
            message = f"holds more than {MAX_ENTRIES:,} files and folders"
            raise InputError(Problem(shown_path(root), message, "name its .planning folder, or one phase"))
        folders += reversed(inner)
    return FolderContents(tuple(sorted(files)), tuple(sorted(unread)))


def _entries(folder: Path, unread: list[Unread]) -> Iterator[tuple[Path, int]]:
    """Yield the files and folders in a folder, by name; what is neither goes to `unread`."""
    try:
        with os.scandir(folder) as scanned:
            entries = sorted((entry.name, entry.stat(follow_symlinks=False).st_mode) for entry in scanned)
    except OSError as error:
        reason = f"cannot be opened ({error.strerror})"
        unread.append(Unread(shown_path(folder), reason, "allow it to be read", "unreadable"))
        return
    for name, mode in entries:
        path = folder / name
        reason = _reason_not_to_read(name, mode)
        hidden = name.startswith(".") and name != PLANNING
        if reason:
            unread.append(Unread(shown_path(path), reason, "put the file itself there, if it counts", "not followed"))
        elif not (stat.S_ISDIR(mode) and (hidden or name in LEFT_OUT)):
            yield path, mode


def _reason_not_to_read(name: str, mode: int) -> str:
    if shown_path(name) != name:
        return "has a name that holds a control character or is not UTF-8"
    if stat.S_ISLNK(mode):
        return "is a symbolic link"
    return "" if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else "is not a regular file"


def is_folder(place: Path) -> bool:
    """Whether a path is a folder; False for a path that no file system can hold."""
    try:
        return place.is_dir()
    except (OSError, ValueError):
        return False


def shown_path(path: str | Path) -> str:
    r"""Return a path as one line of valid text: what cannot be shown is written as an escape.

    >>> shown_path("phases/01\nPLAN.md")
    'phases/01\\nPLAN.md'
    """
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
