"""Files written whole or not at all, and text read with a clear error (rule H3)."""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from verifyplan.errors import InputError, Problem

CHART_FORMATS = ("png", "svg", "pdf", "html", "json")
"""Endings of the files that charts are written to; here, so that a command loads no chart before it draws."""

_FULL = (errno.ENOSPC, errno.EDQUOT)


def disk_error(error: OSError, path: str | Path) -> OSError:
    """Return an error of writing a file; of a full disk one that names the file, and says how much is free.

    >>> disk_error(OSError(errno.ENOSPC, "No space left on device"), "a.json").filename
    'a.json'
    """
    if error.errno not in (*_FULL, errno.EFBIG) or "nothing more was written" in str(error):
        return error
    reason = os.strerror(error.errno)
    return OSError(error.errno, f"{reason}{free_space(error, path)}: nothing more was written to it", str(path))


def free_space(error: OSError, path: str | Path) -> str:
    """Return how much is free where a file was to be written, in brackets; nothing unless the disk is full."""
    if error.errno not in _FULL:
        return ""
    there = next(place for place in (Path(path).absolute(), *Path(path).absolute().parents) if place.exists())
    return f" ({shutil.disk_usage(there).free:,} bytes are free there)"


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place when the block ends well.

    If the block raises, or the process dies, `path` stays as it was. Parent folders are made.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(target)
    try:
        temporary.touch(exist_ok=False)
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(target)
    except OSError as error:
        raise disk_error(error, target) from None
    finally:
        temporary.unlink(missing_ok=True)


def try_to_write(folder: Path) -> None:
    """Raise OSError if nothing can be written into the folder, or into the one that it would be made in."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    with TemporaryFile(dir=there):
        pass


def write_text(path: str | Path, text: str) -> Path:
    """Write `text` as UTF-8 to `path`, atomically; return the path."""
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode())
    return Path(path)


def write_new_text(path: str | Path, text: str) -> bool:
    """Write `text` to `path` unless the file exists, as `write_new_texts` does; say whether it was written."""
    return write_new_texts(path, [text])


def write_new_texts(path: str | Path, texts: Iterable[str]) -> bool:
    """Write texts, one after the other, to `path` unless the file exists; say whether it was written.

    Two processes that try the same name at once: exactly one gets True, and no reader sees half a file.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(target)
    try:
        with temporary.open("xb") as stream:
            stream.writelines(text.encode() for text in texts)
            stream.flush()
            os.fsync(stream.fileno())
        target.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError as error:
        raise disk_error(error, target) from None
    finally:
        temporary.unlink(missing_ok=True)
    return True


def decode(data: bytes, place: str) -> str:
    """Return bytes as UTF-8 text (a byte order mark is dropped); InputError names the first bad byte."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            Problem(
                f"{place}: line {line}",
                f"byte {data[error.start]:#04x} is not UTF-8",
                "save the file as UTF-8",
            )
        ) from None


def read_json(path: Path, fix: str) -> Any:
    """Return what a JSON file holds; InputError with `fix` for a file that cannot be read or is not JSON."""
    try:
        text = decode(path.read_bytes(), str(path))
    except OSError as error:
        raise InputError(Problem(str(path), f"cannot be read ({error.strerror or error})", fix)) from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(Problem(str(path), f"is not JSON ({error})", fix)) from None


def _beside(target: Path) -> Path:
    """Return a hidden name that nobody uses; a file made under it by plain opening has the umask's permissions."""
    return target.parent / f".tmp-{secrets.token_hex(8)}{target.suffix}"
