"""The folder of a dataset, local or on any fsspec file system: files written whole, one process that writes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import fsspec
from filelock import FileLock, Timeout
from fsspec.implementations.local import LocalFileSystem

from verifyplan.errors import InputError, Problem
from verifyplan.files import replacing

_LOCK = ".verifyplan-dataset.lock"
_TEMPORARY = ".tmp-"


@dataclass(frozen=True)
class Storage:
    """A folder at any address."""

    address: str
    """The address as it was named."""
    system: Any
    """Its fsspec file system."""
    root: str
    """The path of the folder there."""

    @classmethod
    def at(cls, address: str | os.PathLike[str]) -> Storage:
        """Return the folder at a local path or an fsspec address, which need not exist."""
        text = os.fspath(address)
        if "://" in text:
            return cls(text, *_split(text))
        return cls(text, fsspec.filesystem("file"), Path(text).expanduser().absolute().as_posix())

    @property
    def is_local(self) -> bool:
        """Whether the folder is on this machine, where files can be locked."""
        return isinstance(self.system, LocalFileSystem)

    def path(self, name: str) -> str:
        """Return the full path of a file, from its path in the folder."""
        return f"{self.root}/{name}"

    def exists(self, name: str) -> bool:
        """Return whether there is such a file or folder."""
        return bool(self.system.exists(self.path(name)))

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        data: bytes = self.system.cat_file(self.path(name))
        return data

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole, or not at all; on this machine it is on disk when this returns."""
        if self.is_local:
            with replacing(self.path(name)) as temporary:
                temporary.write_bytes(data)
            _sync_folder(Path(self.path(name)).parent)
        else:
            self.system.pipe_file(self.path(name), data)

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Yield a new file, which nothing names yet; on this machine it is on disk when the block ends.

        Its folder is made; `sync` the names in it when the last file is written.
        """
        if self.is_local:
            Path(self.path(name)).parent.mkdir(parents=True, exist_ok=True)
        with self.system.open(self.path(name), "wb") as stream:
            yield stream
            if self.is_local:
                stream.flush()
                os.fsync(stream.fileno())

    def sync(self, folder: str) -> None:
        """Force the names in a folder of the dataset, and its own, to the disk of this machine."""
        if self.is_local:
            _sync_folder(Path(self.path(folder)))
            _sync_folder(Path(self.path(folder)).parent)

    def names(self, folder: str = "") -> list[str]:
        """Return the names in the folder, or in a folder in it; none where it is not there."""
        place = self.path(folder).rstrip("/")
        if not self.system.exists(place):
            return []
        self.system.invalidate_cache(place)
        return [path.rstrip("/").rpartition("/")[2] for path in self.system.ls(place, detail=False)]

    def remove(self, name: str) -> None:
        """Remove a file or a folder with all that is in it; what is not there is no error."""
        with suppress(FileNotFoundError):
            self.system.rm(self.path(name), recursive=True)

    def remove_all_but(self, kept: set[str], folder: str = "") -> None:
        """Remove what is in the folder, or in a folder in it, under other names, and files that were half-written."""
        for name in self.names(folder):
            if name not in kept:
                self.remove(f"{folder}/{name}" if folder else name)

    def remove_half_written(self) -> None:
        """Remove the temporary files that a process left which was killed as it wrote."""
        for name in self.names():
            if name.startswith(_TEMPORARY):
                self.remove(name)

    @property
    def is_foreign(self) -> bool:
        """Whether there are files in the folder, and nobody ever locked it to write a dataset."""
        names = self.names()
        return bool(names) and _LOCK not in names

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the only right to write into the folder; InputError if another process has it.

        Folders on other systems are not locked.
        """
        if not self.is_local:
            yield
            return
        is_new = not Path(self.root).exists()
        lock = FileLock(self.path(_LOCK), blocking=False, thread_local=False)
        try:
            Path(self.root).mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            fix = "wait until the other compile ends, then compile again"
            raise InputError(Problem(self.address, "is being compiled by another process", fix)) from None
        except OSError as error:
            message = f"cannot be written ({error.strerror or error})"
            raise InputError(Problem(self.address, message, "check the folder and your rights")) from None
        try:
            yield
        finally:
            if is_new:
                _remove_unused(Path(self.root))
            lock.release()


def _remove_unused(folder: Path) -> None:
    """Remove a folder in which nothing was written but the lock."""
    if not any(path.is_file() and path.name != _LOCK for path in folder.rglob("*")):
        shutil.rmtree(folder, ignore_errors=True)


def _split(address: str) -> tuple[Any, str]:
    try:
        system, path = fsspec.core.url_to_fs(address)
    except (ValueError, ImportError) as error:
        raise InputError(Problem(address, f"cannot be opened ({error})", "check the address")) from None
    return system, path.rstrip("/")


def _sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
