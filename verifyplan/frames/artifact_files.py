"""Read many artifacts into tables: fast where they are sound, by pydantic where anything is wrong (rule B9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from verifyplan.errors import InputError, Problem, TableError
from verifyplan.frames.artifact import check_artifact, parse_artifact
from verifyplan.frames.artifact_checks import suspects
from verifyplan.frames.artifact_colons import colons_of
from verifyplan.frames.artifact_columns import ArtifactColumns, ArtifactsInColumns
from verifyplan.frames.artifact_structs import decode_artifacts, decode_complete
from verifyplan.frames.artifact_tables import ArtifactSource, Tables, artifact_tables, to_tables
from verifyplan.protocol.artifact import Artifact

BYTES_AT_A_TIME = 2**20
"""So many bytes are decoded before their values become columns: their objects then fit into a processor's cache."""

Failure = tuple[str, InputError]
"""The path of a file, and what is wrong with it."""


class ArtifactFile(NamedTuple):
    """The bytes of an artifact, and where they are from."""

    data: bytes
    run_id: str
    path: str


def read_artifacts(files: Sequence[ArtifactFile], failures: list[Failure]) -> Tables:
    """Return the tables of artifacts, in the order given; what is wrong with a file is added to `failures`.

    A file that cannot be read is left out. One that breaks rule B9 is read all the same, unless its findings, rounds
    or votes then have no keys of their own.

    >>> failures = []
    >>> files = [ArtifactFile(b'{"schemaVersion": "1.1", "findings": []}', "a", "a.json"),
    ...     ArtifactFile(b'{"schemaVersion": "2.0", "findings": []}', "b", "b.json")]
    >>> read_artifacts(files, failures)["runs"]["run_id"].tolist(), [path for path, _ in failures]
    (['a'], ['b.json'])
    """
    sound = _all_sound(files)
    if sound is not None:
        return artifact_tables(sound, [file.run_id for file in files], [file.path for file in files])
    columns, kept = _columns(files, {})
    doubtful = {*range(len(files))}.difference(kept) | {kept[of] for of in np.flatnonzero(suspects(columns)).tolist()}
    if doubtful:
        columns, kept = _columns(files, {at: _read_whole(files[at], failures) for at in sorted(doubtful)})
    return artifact_tables(columns, [files[at].run_id for at in kept], [files[at].path for at in kept])


def _all_sound(files: Sequence[ArtifactFile]) -> ArtifactColumns | None:
    """Return the columns of files that are complete and certainly sound, as most are; None where one may not be."""
    columns = ArtifactsInColumns()
    for part in _parts(files):
        decoded = decode_complete([files[at].data for at in part])
        if decoded is None or colons_of(columns.add(decoded.artifacts)) != decoded.colons:
            return None
    made = columns.columns()
    return None if suspects(made).any() else made


def _columns(files: Sequence[ArtifactFile], read: Mapping[int, Artifact | None]) -> tuple[ArtifactColumns, list[int]]:
    """Return the columns of all files that are read already, or fast, and the positions of these files."""
    columns = ArtifactsInColumns()
    kept: list[int] = []
    for part in _parts(files):
        fast = iter(decode_artifacts([files[at].data for at in part if at not in read]))
        artifacts = [(at, read[at] if at in read else next(fast)) for at in part]
        columns.add([artifact for _, artifact in artifacts if artifact is not None])
        kept += [at for at, artifact in artifacts if artifact is not None]
    return columns.columns(), kept


def _parts(files: Sequence[ArtifactFile]) -> Iterator[range]:
    """Yield the positions of files that are decoded together."""
    first = size = 0
    for at, file in enumerate(files):
        size += len(file.data)
        if size > BYTES_AT_A_TIME or at == len(files) - 1:
            yield range(first, at + 1)
            first, size = at + 1, 0


def _read_whole(file: ArtifactFile, failures: list[Failure]) -> Artifact | None:
    """Return an artifact that may be read, by pydantic; None, and failures, for one that may not."""
    try:
        artifact = parse_artifact(file.data, file.path, checked=False)
    except InputError as error:
        failures.append((file.path, error))
        return None
    try:
        check_artifact(artifact, file.path)
    except InputError as error:
        failures.append((file.path, error))
    if len({finding.findingId for finding in artifact.findings}) < len(artifact.findings):
        return None
    try:
        to_tables([ArtifactSource(artifact, file.run_id, file.path)])
    except TableError as error:
        problems = [Problem(f"{file.path}: {p.place}", p.message, p.fix) for p in error.problems]
        failures.append((file.path, TableError(problems)))
        return None
    return artifact
