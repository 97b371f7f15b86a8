"""The files of a folder, found without following or opening what may not be (rule H3)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from verifyplan.errors import InputError, Problem

PLANNING = ".planning"

LEFT_OUT = frozenset({"node_modules", "__pycache__"})
"""Folders of packages, left out as hidden ones but `.planning` are."""

MAX_ENTRIES = 200_000

Obstacle = Literal["not followed", "unreadable"]


class Unread(NamedTuple):
    """Something in a folder that was not read: where it is, why, what to do, and whether it could not or was not to."""

    path: str
    reason: str
    fix: str
    obstacle: Obstacle


class FolderContents(NamedTuple):
    """What lies in a folder and all that it holds: regular files, and what is none."""

    files: tuple[Path, ...]
    unread: tuple[Unread, ...]


def walk(root: Path) -> FolderContents:
    """All regular files under a folder, in the order of their names, folder by folder.

    Links, pipes, sockets, devices and names that hold control characters or are no UTF-8 are listed as unread, with
    the reason, and never followed or opened. Hidden folders but `.planning`, and those of packages, are left out.
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
            if stat.S_ISDIR(mode):
                inner.append(path)
            else:
                files.append(path)
        _check_size(seen, root)
        folders += reversed(inner)
    return FolderContents(tuple(sorted(files)), tuple(sorted(unread)))


def is_folder(place: Path) -> bool:
    """Whether a path is a folder; a path that no file system can hold is none."""
    try:
        return place.is_dir()
    except (OSError, ValueError):
        return False


def shown_path(path: str | Path) -> str:
    r"""A path as one line of valid text: what cannot be shown is written as an escape.

    >>> shown_path("phases/01\nPLAN.md")
    'phases/01\\nPLAN.md'
    """
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _entries(folder: Path, unread: list[Unread]) -> Iterator[tuple[Path, int]]:
    """The files and folders in a folder, by name; what is neither goes to `unread`."""
    try:
        with os.scandir(folder) as scanned:
            found = sorted((entry.name, entry.stat(follow_symlinks=False).st_mode) for entry in scanned)
    except OSError as error:
        reason = f"cannot be opened ({error.strerror})"
        unread.append(Unread(shown_path(folder), reason, "allow it to be read", "unreadable"))
        return
    for name, mode in found:
        path = folder / name
        reason = _reason(name, mode)
        if reason:
            unread.append(Unread(shown_path(path), reason, "put the file itself there, if it counts", "not followed"))
        elif not (stat.S_ISDIR(mode) and _is_left_out(name)):
            yield path, mode


def _is_left_out(name: str) -> bool:
    return name in LEFT_OUT or (name.startswith(".") and name != PLANNING)


def _reason(name: str, mode: int) -> str:
    if shown_path(name) != name:
        return "has a name that holds a control character or is not UTF-8"
    if stat.S_ISLNK(mode):
        return "is a symbolic link"
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return "is no regular file"
    return ""


def _check_size(seen: int, root: Path) -> None:
    if seen > MAX_ENTRIES:
        message = f"holds more than {MAX_ENTRIES:,} files and folders"
        raise InputError(Problem(shown_path(root), message, "name its .planning folder, or one phase"))
