"""The run files behind a dataset: which are new, changed or gone since it was compiled."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from verifyplan.errors import InputError, Problem
from verifyplan.frames.addresses import RunFile, bytes_of, find_all, joined
from verifyplan.frames.dataset.manifest import SOURCES, Manifest
from verifyplan.frames.dataset.storage import Storage

_TICK_S = 2.0
"""A file that changed so shortly before it was looked at may change again without another time."""


class CompiledFile(NamedTuple):
    """A run file as it was when it was compiled."""

    path: str
    """Its path on its file system."""
    run_id: str
    """The run that it is."""
    size: int
    """Its bytes."""
    modified: str
    """When it was last changed, as its file system says; empty where that does not tell one content from another."""
    sha256: str
    """The digest of its bytes."""
    part: str = ""
    """The name of the part that holds its run; empty for a file that is no run."""


class Changes(NamedTuple):
    """The changes of run files since a dataset was compiled."""

    same: list[CompiledFile]
    """Files with the same bytes."""
    to_read: list[tuple[RunFile, CompiledFile]]
    """Files that are new or have other bytes."""
    n_changed: int
    """How many of these were there before."""
    gone: list[CompiledFile]
    """What is no longer true: files that were removed, or changed, as they were."""


def run_files(address: str) -> list[RunFile]:
    """Return the run files at an address; InputError where there is none, or tables that are saved already."""
    located = find_all([address])
    if located[0].saved is not None:
        fix = "name the folder of the logs and artifacts that they were made of"
        raise InputError(Problem(address, "holds saved tables, and a dataset is compiled from run files", fix))
    return joined(located)[0]


def changes(files: Sequence[RunFile], known: Iterable[CompiledFile]) -> Changes:
    """Return which files have changed since they were known; files of another size or time are read to tell."""
    before = {source.path: source for source in known}
    same: list[CompiledFile] = []
    to_read: list[tuple[RunFile, CompiledFile]] = []
    for file in files:
        old, run_id = before.get(file.path), file.run_id
        size, modified = _size_and_time(file)
        if old is not None and modified and (run_id, size, modified) == (old.run_id, old.size, old.modified):
            same.append(old)
            continue
        now = CompiledFile(file.path, run_id, size, modified, _digest(file))
        if old is not None and (old.run_id, old.sha256) == (now.run_id, now.sha256):
            same.append(now._replace(part=old.part))
        else:
            to_read.append((file, now))
    kept = {source.path for source in same}
    gone = [source for path, source in before.items() if path not in kept]
    return Changes(same, to_read, sum(source.path in before for _, source in to_read), gone)


_TIMES = ("ETag", "etag", "LastModified", "last_modified", "updated")
"""What file systems other than the local one call the version of a file, or the time of its last change."""


def _size_and_time(file: RunFile) -> tuple[int, str]:
    try:
        if isinstance(file.system, LocalFileSystem):
            status = os.stat(file.path)  # noqa: PTH116  (ten times as fast, of thousands of files)
            is_settled = status.st_mtime < time.time() - _TICK_S
            return status.st_size, str(status.st_mtime_ns) if is_settled else ""
        info: dict[str, Any] = file.system.info(file.path)
    except OSError:  # a dead link; who reads it says so
        return -1, ""
    return int(info.get("size") or 0), " ".join(str(info[name]) for name in _TIMES if info.get(name) is not None)


def _digest(file: RunFile) -> str:
    """Return the digest of a file; it is taken before the file is read, so that what is read is never older."""
    try:
        return sha256(bytes_of(file)).hexdigest()
    except OSError:
        return ""


def batches(
    to_read: Sequence[tuple[RunFile, CompiledFile]], n_bytes: int
) -> Iterator[list[tuple[RunFile, CompiledFile]]]:
    """Yield files so many bytes at a time, in their order; a larger one comes alone."""
    batch: list[tuple[RunFile, CompiledFile]] = []
    size = 0
    for entry in to_read:
        if batch and size + entry[1].size > n_bytes:
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += max(entry[1].size, 0)
    if batch:
        yield batch


def read_sources(storage: Storage, manifest: Manifest) -> list[CompiledFile]:
    """Return the run files that a dataset was compiled from, as they were; InputError where their list is damaged."""
    name = f"{SOURCES}/{manifest.files}"
    try:
        table = pq.ParquetFile(BytesIO(storage.read(name))).read(list(CompiledFile._fields))
    except (OSError, pa.ArrowException, KeyError) as error:
        fix = "remove the dataset and compile it again"
        raise InputError(Problem(storage.path(name), f"cannot be read ({error})", fix)) from None
    return list(map(CompiledFile, *(column.to_pylist() for column in table.columns)))


def write_sources(storage: Storage, sources: Sequence[CompiledFile]) -> str:
    """Write the list of run files under a new name, and return the name."""
    name = f"{secrets.token_hex(8)}.parquet"
    columns = zip(*sources, strict=True) if sources else [[] for _ in CompiledFile._fields]
    types = [pa.int64() if field == "size" else pa.string() for field in CompiledFile._fields]
    with storage.writing(f"{SOURCES}/{name}") as stream:
        pq.write_table(pa.table(list(map(pa.array, columns, types)), names=list(CompiledFile._fields)), stream)
    storage.sync(SOURCES)
    return name
