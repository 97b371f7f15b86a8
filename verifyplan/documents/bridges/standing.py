"""What a cross run found of a must-have: whether it holds, and the votes that say so (SPEC B6, D5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from verifyplan.protocol.artifact import Artifact, ArtifactFinding, ArtifactVote
from verifyplan.protocol.vote import HELD

Status = Literal["VERIFIED", "FAILED", "HUMAN NEEDED"]

LONGEST = 300
"""Letters of an explanation that are kept as evidence."""


class Standing(NamedTuple):
    """Whether a must-have holds, and what says so."""

    status: Status
    evidence: str


def standing(findings: Sequence[ArtifactFinding], artifact: Artifact) -> Standing:
    """How a must-have stands by the findings that speak of it.

    It failed if one was refuted: it was not held, and somebody showed why. It holds if all held. What nobody spoke of,
    nobody could decide (only doubts, errors, or no votes) or nobody opened a file for (a lightweight run sees the claim
    alone) is left to a person. Source: SPEC B4, B6, D5; document 003: must-haves are held against the codebase.
    """
    if not findings:
        return Standing("HUMAN NEEDED", "not verified: no finding of the run speaks of it")
    status = _worst(_status(finding, artifact) for finding in findings)
    told = " / ".join(_told(finding) for finding in findings)
    if status == "HUMAN NEEDED":
        told = f"{_why_open(findings, artifact)}: {told}"
    return Standing(status, told)


def _worst(statuses: Iterable[Status]) -> Status:
    return min(statuses, key=("FAILED", "HUMAN NEEDED", "VERIFIED").index)


def _status(finding: ArtifactFinding, artifact: Artifact) -> Status:
    if finding.classification in HELD:
        return "VERIFIED" if _opened(artifact) else "HUMAN NEEDED"
    return "FAILED" if any(_refutes(vote) for vote in _votes(finding).values()) else "HUMAN NEEDED"


def _opened(artifact: Artifact) -> bool:
    """Whether the workers opened what was cited; an adversarial run always does (SPEC B1)."""
    return artifact.adversarial or artifact.config.verificationMode == "full-reanalysis"


def _refutes(vote: ArtifactVote) -> bool:
    """Whether a vote says that the claim is false; a doubt says that it was not shown."""
    return vote.verdict == "disagree" and vote.disagreeBasis != "burden-not-met"


def _votes(finding: ArtifactFinding) -> dict[str, ArtifactVote]:
    """The last vote of each worker, errors aside."""
    return {
        worker: vote
        for one in sorted(finding.rounds or (), key=lambda one: one.round)
        for worker, vote in one.votes.items()
        if vote.verdict != "verification-error"
    }


def _why_open(findings: Sequence[ArtifactFinding], artifact: Artifact) -> str:
    if not any(_votes(finding) for finding in findings):
        return "nobody voted on it"
    if all(finding.classification in HELD for finding in findings) and not _opened(artifact):
        return "held, but nobody opened the evidence: run it adversarially, or with full-reanalysis"
    return "nobody could show that it holds, or that it does not"


def _told(finding: ArtifactFinding) -> str:
    """A finding's class, what it cites, and its votes with their explanations; equal votes are told once."""
    head = finding.classification or "without a class"
    places = " ".join((finding.originEvidence or "").split())
    said: dict[str, list[str]] = {}
    for worker, vote in _votes(finding).items():
        said.setdefault(_said(vote), []).append(worker)
    votes = "; ".join(f"{', '.join(workers)}: {words}" for words, workers in said.items())
    return ", ".join(part for part in (head, f"cites {cut(places)}" if places else "", votes) if part)


def _said(vote: ArtifactVote) -> str:
    verdict = f"{vote.verdict} ({vote.disagreeBasis})" if vote.disagreeBasis else vote.verdict
    why = cut(" ".join((vote.explanation or "").split()).rstrip("."))
    return f"{verdict}, {why}" if why else verdict


def cut(text: str) -> str:
    """A text as it stands among the evidence: cut where it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4].rstrip()} ..."
