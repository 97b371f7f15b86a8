"""Files under one root, opened to be read and for nothing else: confined, limited in size (rules G4, H3)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from verifyplan.errors import InputError
from verifyplan.files import decode

LARGEST = 2_000_000
"""Bytes above which a file is not read."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class UnreadableError(Exception):
    """A file cannot be read; the text says why, as part of a sentence."""


class MissingError(UnreadableError):
    """A file cannot be read because there is none under the root."""


def read_lines(root: Path, path: str) -> tuple[str, ...]:
    """The lines of a file under `root`, as Python numbers them; UnreadableError as in `read_text`."""
    return tuple(read_text(root, path).split("\n"))


def read_text(root: Path, path: str) -> str:
    r"""The text of a file under `root`, with `\n` at the ends of its lines; UnreadableError says why it is not read.

    Links are resolved first, and what then lies outside the root is not opened. Files above 2 MB, binary files,
    files that are not UTF-8 and what is no ordinary file are refused. Source: rules G4, H3.
    """
    return text_of(read_bytes(root, path), path)


def read_bytes(root: Path, path: str) -> bytes:
    """The bytes of a file under `root`; UnreadableError as in `read_text`, UTF-8 aside."""
    try:
        target = (root / path).resolve(strict=True)
        if not target.is_relative_to(root.resolve(strict=True)):
            raise UnreadableError(f"{path} lies outside the folder that may be read")
        return read_resolved(target, path)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of links before Python 3.13
        missing = isinstance(error, FileNotFoundError) and ".." not in Path(path).parts
        raise (MissingError if missing else UnreadableError)(f"{path} cannot be opened ({reason(error)})") from None


def read_resolved(target: str | Path, path: str) -> bytes:
    """The bytes of a file whose links are resolved, `path` being its name for people.

    A link at its end is not followed, nor is a pipe waited for. Raises OSError and UnreadableError.
    """
    _ordinary(os.stat(target).st_mode, path)  # noqa: PTH116  (a str, for speed)
    opened = os.open(target, _FLAGS)
    try:
        _ordinary(os.fstat(opened).st_mode, path)  # it may have been replaced in between
        data = _at_most(opened, LARGEST + 1)
    finally:
        os.close(opened)
    if len(data) > LARGEST:
        raise UnreadableError(f"{path} is larger than {LARGEST:,} bytes")
    if b"\0" in data:
        raise UnreadableError(f"{path} is a binary file")
    return data


def text_of(data: bytes, path: str) -> str:
    """Bytes as text, as `read_text` gives it."""
    try:
        text = decode(data, path)
    except InputError:
        raise UnreadableError(f"{path} is not UTF-8 text") from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def reason(error: Exception) -> str:
    """Why in words, without the resolved path, which is nobody's business."""
    if isinstance(error, FileNotFoundError):
        return "it does not exist"
    if isinstance(error, RuntimeError):
        return "its links lead in a circle"
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else "it is no valid path"


def _ordinary(mode: int, path: str) -> None:
    """Raise UnreadableError for folders, pipes, sockets and devices, some of which do things when opened."""
    if not stat.S_ISREG(mode):
        raise UnreadableError(f"{path} is no ordinary file")


def _at_most(opened: int, size: int) -> bytes:
    """Up to `size` bytes; one read may give fewer than there are."""
    parts = []
    while size > 0 and (part := os.read(opened, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
