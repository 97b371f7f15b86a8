"""Count the colons of artifacts that have each of their keys once, from their columns: bytes with more repeat a key."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import BaseModel

from verifyplan.frames.artifact_columns import ArtifactColumns, Texts
from verifyplan.protocol.artifact import (
    Artifact,
    ArtifactFinding,
    ArtifactVote,
    ClassificationCounts,
    Dispatch,
    FindingRound,
    RoundRecord,
    SkippedWorker,
)


def colons_of(columns: ArtifactColumns) -> int | None:
    """Return how many colons complete artifacts have outside their configs; None where the columns do not tell.

    A complete artifact has every key that its models name. Columns do not tell where a name is blank or has a colon,
    or a count of classes is missing.

    >>> from verifyplan.frames.artifact_columns import columns_of
    >>> counts = ClassificationCounts(fullConsensus=1, partialConsensus=0, contested=0, workerUnique=0)
    >>> finding = ArtifactFinding(findingId="F", summary="a: b")
    >>> artifact = Artifact(schemaVersion="1.1", findings=(finding,), finalClassificationCounts=counts)
    >>> colons_of(columns_of([artifact])) == len([*Artifact.model_fields, *ArtifactFinding.model_fields, *counts, ":"])
    True
    """
    runs, findings, votes, skips = columns.runs, columns.findings, columns.votes, columns.skips
    if not columns.names_are_plain or not (runs.counts >= 0).all():
        return None
    keys = (
        (Artifact, len(runs.config)),
        (ClassificationCounts, len(runs.config)),
        (ArtifactFinding, len(findings.run)),
        (FindingRound, len(columns.rounds.finding)),
        (ArtifactVote, len(votes.round)),
        (RoundRecord, len(columns.history.run)),
        (Dispatch, len(columns.dispatches.entry)),
        (SkippedWorker, len(skips.entry)),
    )
    texts = (findings.finding_id, findings.summary, findings.category, findings.evidence, votes.explanation)
    return (
        sum(_n_keys(model) * number for model, number in keys)
        + len(votes.round)  # a worker's name is the key of a vote
        + sum(map(_in_texts, (*texts, skips.reason)))
        + sum(key.count(":") for key in runs.task_key if key)
    )


def colons(data: Any) -> int:
    """Return how many colons there are in bytes: after every key one, and those in texts."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord(":")))  # several times as fast as count


def _n_keys(model: type[BaseModel]) -> int:
    return len(model.model_fields)


def _in_texts(texts: Texts) -> int:
    _, ends, letters = texts.buffers()
    return colons(letters) if ends and letters else 0
