"""Read many artifacts into tables: fast where they are sound, by pydantic where anything is wrong (rule B9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from verifyplan.errors import InputError, Problem, TableError
from verifyplan.frames.artifact import check_artifact, parse_artifact
from verifyplan.frames.artifact_checks import suspects
from verifyplan.frames.artifact_structs import decode_artifact
from verifyplan.frames.artifact_tables import ArtifactSource, Tables, artifact_tables, to_tables, votes_of
from verifyplan.garbage import no_garbage_collection

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
    with no_garbage_collection():
        return _tables(files, failures)


def _tables(files: Sequence[ArtifactFile], failures: list[Failure]) -> Tables:
    sources: list[ArtifactSource | None] = []
    doubtful: set[int] = set()
    for position, file in enumerate(files):
        artifact = decode_artifact(file.data)
        sources.append(ArtifactSource(artifact, file.run_id, file.path) if artifact else None)
        doubtful |= set() if artifact else {position}
    fast = [position for position, source in enumerate(sources) if source]
    kept = [source for source in sources if source]
    votes = votes_of([source.artifact for source in kept])
    doubtful |= {fast[of] for of in np.flatnonzero(suspects([source.artifact for source in kept], votes)).tolist()}
    if doubtful:
        for position in sorted(doubtful):
            sources[position] = _read_whole(files[position], failures)
        kept = [source for source in sources if source]
        votes = votes_of([source.artifact for source in kept])
    return artifact_tables(kept, votes)


def _read_whole(file: ArtifactFile, failures: list[Failure]) -> ArtifactSource | None:
    """Return an artifact that may be read, by pydantic; None, and failures, for one that may not."""
    try:
        artifact = parse_artifact(file.data, file.path, checked=False)
    except InputError as error:
        failures.append((file.path, error))
        return None
    source = ArtifactSource(artifact, file.run_id, file.path)
    try:
        check_artifact(artifact, file.path)
    except InputError as error:
        failures.append((file.path, error))
    if len({finding.findingId for finding in artifact.findings}) < len(artifact.findings):
        return None
    try:
        to_tables([source])
    except TableError as error:
        problems = [Problem(f"{file.path}: {p.place}", p.message, p.fix) for p in error.problems]
        failures.append((file.path, TableError(problems)))
        return None
    return source
