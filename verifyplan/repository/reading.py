"""Files under one root, opened to be read and for nothing else: confined, limited in size (rules G4, H3)."""

from __future__ import annotations

import os
import posixpath
import stat
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from verifyplan.errors import InputError
from verifyplan.files import decode
from verifyplan.repository.records import Listing

MAX_FILE_BYTES = 2_000_000
"""Bytes above which a file is not read."""
MAX_CHARACTERS_KEPT = 8_000_000
"""Characters of text that are kept in memory."""

HIDDEN_FOLDERS_READ = frozenset({".github", ".cursor", ".planning"})
"""The hidden folders that are read: workflows and rules for contributors, and the documents of a project's plans."""
IN_HIDDEN_FOLDER = "it stands in a hidden folder"
"""Why a file is not opened that stands in a `hidden_folder`."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def hidden_folder(path: str) -> str:
    """Return the first hidden folder that a path below a root leads through; blank where there is none.

    A folder is hidden if its name begins with a dot and is none of `HIDDEN_FOLDERS_READ`; git may track it.

    >>> [hidden_folder(path) for path in (".aws/config", "a/.b/c", ".github/.x/y", ".github/ci.yml", ".gitignore")]
    ['.aws', 'a/.b', '.github/.x', '', '']
    """
    if "/." not in f"/{path}":
        return ""
    folders = path.split("/")[:-1]
    open_names = (".", "..", *HIDDEN_FOLDERS_READ)
    hidden = (at for at, name in enumerate(folders) if name.startswith(".") and name not in open_names)
    return "/".join(folders[: next(hidden, -1) + 1])


class UnreadableError(Exception):
    """A file cannot be read; the text says why, as part of a sentence."""


class MissingError(UnreadableError):
    """A file cannot be read because there is none under the root."""


def read_lines(root: Path, path: str) -> tuple[str, ...]:
    r"""Return the lines of a file under `root`, as Python numbers them, without `\r` at their ends.

    Links are resolved first, and what then lies outside the root is not opened. UnreadableError for that, for files
    above 2 MB, binary files, files that are not UTF-8, and anything but ordinary files. Source: rules G4, H3.
    """
    return tuple(text_of(read_bytes(root, path), path).split("\n"))


def read_bytes(root: Path, path: str) -> bytes:
    """Return the bytes of a file under `root`; UnreadableError as in `read_lines`, UTF-8 aside."""
    try:
        target, top = (root / path).resolve(strict=True), root.resolve(strict=True)
        if not target.is_relative_to(top):
            raise UnreadableError(f"{path} lies outside the folder that may be read")
        if hidden_folder(path) or hidden_folder(target.relative_to(top).as_posix()):
            raise UnreadableError(f"{path} is not opened: {IN_HIDDEN_FOLDER}")
        return read_resolved(target, path)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of links before Python 3.13
        missing = isinstance(error, FileNotFoundError) and ".." not in Path(path).parts
        raise (MissingError if missing else UnreadableError)(f"{path} cannot be opened ({reason(error)})") from None


def read_resolved(target: str | Path, path: str) -> bytes:
    """Return the bytes of a file whose links are resolved, `path` being its name for people.

    A link at its end is not followed, nor is a pipe waited for. Raises OSError and UnreadableError.
    """
    _expect_ordinary(os.stat(target).st_mode, path)  # noqa: PTH116  (a str, for speed)
    opened = os.open(target, _FLAGS)
    try:
        _expect_ordinary(os.fstat(opened).st_mode, path)  # it may have been replaced in between
        data, left = b"", MAX_FILE_BYTES + 1
        while left > 0 and (part := os.read(opened, left)):  # one read may give fewer bytes than there are
            data += part
            left -= len(part)
    finally:
        os.close(opened)
    if len(data) > MAX_FILE_BYTES:
        raise UnreadableError(f"{path} is larger than {MAX_FILE_BYTES:,} bytes")
    if b"\0" in data:
        raise UnreadableError(f"{path} is a binary file")
    return data


def _expect_ordinary(mode: int, path: str) -> None:
    """Raise UnreadableError for folders, pipes, sockets and devices, some of which do things when opened."""
    if not stat.S_ISREG(mode):
        raise UnreadableError(f"{path} is no ordinary file")


def text_of(data: bytes, path: str) -> str:
    r"""Return bytes as text, with `\n` at the ends of lines; UnreadableError if they are not UTF-8."""
    try:
        text = decode(data, path)
    except InputError:
        raise UnreadableError(f"{path} is not UTF-8 text") from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def reason(error: Exception) -> str:
    """Return the reason in words, without the resolved path, which must not be shown."""
    if isinstance(error, FileNotFoundError):
        return "it does not exist"
    if isinstance(error, RuntimeError):
        return "its links lead in a circle"
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else "it is no valid path"


class ListedTexts:
    """Reads the files of a listing, and no others; `skipped` has the first reason why a path could not be read.

    A folder is resolved once, and a file in it is opened without following a link at its end: a fiftieth of the
    time that resolving each path takes. Files that are links take the slow way. Not safe to use from several
    threads at once.
    """

    def __init__(self, root: Path, listing: Listing) -> None:
        self.skipped: dict[str, str] = listing.skipped
        self._root = root
        self._listing = listing
        self._folders: dict[str, str | None] = {}
        self._kept: OrderedDict[str, str] = OrderedDict()
        self._size = 0

    def text(self, path: str) -> str | None:
        """Return the text of a listed file; the last texts are kept. None, with a note in `skipped`, if unreadable."""
        if path in self._kept:
            self._kept.move_to_end(path)
            return self._kept[path]
        text = self._read(path)
        if text is not None:
            self._kept[path] = text
            self._size += len(text)
            while self._size > MAX_CHARACTERS_KEPT and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1])
        return text

    def scan(self) -> Iterator[tuple[str, str]]:
        """Yield the paths and texts of all listed files, without links to other files and without keeping them."""
        for path in self._listing.files:
            if path not in self._listing.aliases and path not in self.skipped:
                text = self._kept.get(path) or self._read(path)
                if text is not None:
                    yield path, text

    def _read(self, path: str) -> str | None:
        try:
            return text_of(self._bytes(path), path)
        except UnreadableError as error:
            self.skipped.setdefault(path, str(error).removeprefix(f"{path} "))
        except (OSError, RuntimeError, ValueError) as error:
            self.skipped.setdefault(path, f"cannot be opened ({reason(error)})")
        return None

    def _bytes(self, path: str) -> bytes:
        folder, name = posixpath.split(path)
        if folder not in self._folders:
            self._folders[folder] = self._resolved(folder)
        resolved = self._folders[folder]
        if resolved is None or path in self._listing.aliases:
            return read_bytes(self._root, path)
        try:
            return read_resolved(f"{resolved}/{name}", path)
        except OSError:  # a link, too, which read_bytes resolves
            return read_bytes(self._root, path)

    def _resolved(self, folder: str) -> str | None:
        """Return where a folder lies; None if that is not under the root."""
        try:
            resolved = (self._root / folder).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            return None
        return str(resolved) if resolved.is_relative_to(self._root) else None
