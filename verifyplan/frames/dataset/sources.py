"""The run files behind a dataset: which are new, changed or gone since it was compiled."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from typing import Any, NamedTuple

import pandas as pd

from verifyplan.errors import InputError, Problem
from verifyplan.frames.addresses import RunFile, find_all, joined
from verifyplan.frames.dataset.manifest import SOURCES, Manifest
from verifyplan.frames.dataset.storage import Storage

_TICK_S = 2.0
"""A file that changed so shortly before it was looked at may change again without another time."""


class Source(NamedTuple):
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
    """What became of run files since a dataset was compiled."""

    same: list[Source]
    """Files with the same bytes."""
    to_read: list[tuple[RunFile, Source]]
    """Files that are new or have other bytes."""
    n_changed: int
    """How many of these were there before."""
    gone: list[Source]
    """What is no longer true: files that were removed, or changed, as they were."""


def run_files(address: str) -> list[RunFile]:
    """Return the run files at an address; InputError where there is none, or tables that are saved already."""
    located = find_all([address])
    if located[0].saved is not None:
        fix = "name the folder of the logs and artifacts that they were made of"
        raise InputError(Problem(address, "holds saved tables, and a dataset is compiled from run files", fix))
    return joined(located)[0]


def changes(files: Sequence[RunFile], known: Iterable[Source]) -> Changes:
    """Return which files have changed since they were known; files of another size or time are read to tell."""
    before = {source.path: source for source in known}
    same: list[Source] = []
    to_read: list[tuple[RunFile, Source]] = []
    for file in files:
        old = before.get(file.path)
        size, modified = _size_and_time(file)
        if old is not None and old.run_id == file.run_id and modified and (size, modified) == (old.size, old.modified):
            same.append(old)
            continue
        now = Source(file.path, file.run_id, size, modified, _digest(file))
        if old is not None and (old.run_id, old.sha256) == (now.run_id, now.sha256):
            same.append(now._replace(part=old.part))
        else:
            to_read.append((file, now))
    kept = {source.path for source in same}
    gone = [source for path, source in before.items() if path not in kept]
    return Changes(same, to_read, sum(source.path in before for _, source in to_read), gone)


def _size_and_time(file: RunFile) -> tuple[int, str]:
    try:
        info: dict[str, Any] = file.system.info(file.path)
    except OSError:  # a dead link; who reads it says so
        return -1, ""
    times = (info.get(name) for name in ("mtime", "LastModified", "last_modified", "updated"))
    modified = next((value for value in times if value is not None), "")
    if isinstance(modified, float) and modified > time.time() - _TICK_S:
        modified = ""
    return int(info.get("size") or 0), str(modified)


def _digest(file: RunFile) -> str:
    """Return the digest of a file; it is taken before the file is read, so that what is read is never older."""
    digest = sha256()
    try:
        with file.system.open(file.path, "rb") as stream:
            while block := stream.read(2**20):
                digest.update(block)
    except OSError:
        return ""
    return digest.hexdigest()


def batches(to_read: Sequence[tuple[RunFile, Source]], n_bytes: int) -> Iterator[list[tuple[RunFile, Source]]]:
    """Yield files so many bytes at a time, in their order; a larger one comes alone."""
    batch: list[tuple[RunFile, Source]] = []
    size = 0
    for entry in to_read:
        if batch and size + entry[1].size > n_bytes:
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += max(entry[1].size, 0)
    if batch:
        yield batch


def read_sources(storage: Storage, manifest: Manifest) -> list[Source]:
    """Return the run files that a dataset was compiled from, as they were."""
    data = storage.read(f"{SOURCES}/{manifest.files}")
    table = pd.read_parquet(BytesIO(data))
    return [Source(*row) for row in table.itertuples(index=False, name=None)]


def write_sources(storage: Storage, sources: Sequence[Source]) -> str:
    """Write the list of run files under a new name, and return the name."""
    name, data = f"{secrets.token_hex(8)}.parquet", BytesIO()
    table = pd.DataFrame(sources, columns=list(Source._fields))
    table.astype(dict.fromkeys(("path", "run_id", "modified", "sha256", "part"), "str")).to_parquet(data, index=False)
    storage.write(f"{SOURCES}/{name}", data.getvalue())
    return name
