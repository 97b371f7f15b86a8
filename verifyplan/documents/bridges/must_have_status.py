"""What a cross run found of a must-have: whether it holds, and the votes that say so (rules B6, D5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from verifyplan.documents.dimensions.overlap import paths_in
from verifyplan.protocol.artifact import Artifact, ArtifactFinding, ArtifactVote
from verifyplan.protocol.vote import HELD, NOTHING_LOOKED_AT
from verifyplan.rules.citations import cites_location

Status = Literal["VERIFIED", "FAILED", "HUMAN NEEDED"]

LONGEST = 300
"""Letters of an explanation that are kept as evidence."""


_SAW_NOTHING = re.compile(
    rf"{NOTHING_LOOKED_AT}|nothing was looked at|(?:cites no place|quotes no text) to look at", re.IGNORECASE
)
"""How a vote says that it rests on nothing, now and in older artifacts."""


class MustHaveStatus(NamedTuple):
    """Whether a must-have holds, and what says so."""

    status: Status
    evidence: str


def must_have_status(findings: Sequence[ArtifactFinding], artifact: Artifact) -> MustHaveStatus:
    """How a must-have stands by the findings that speak of it.

    It failed if one was refuted: it was not held, and somebody showed why. It holds if all held, each by the vote of
    somebody who looked at a place; a caveat is told first. It is left to a person where nobody spoke of it, nobody
    could decide (only doubts, errors, or no votes), nobody looked at anything (a lightweight run sees the claim alone),
    most votes were lost to errors, or a refutation was. Source: rules B4, B6, B8, D5; document 003: must-haves are held
    against the codebase.
    """
    if not findings:
        return MustHaveStatus("HUMAN NEEDED", "not verified: no finding of the run speaks of it")
    status = _worst(_status(finding, artifact) for finding in findings)
    told = " / ".join(_told(finding) for finding in findings)
    if status == "HUMAN NEEDED":
        told = f"{_why_open(findings, artifact)}: {told}"
    elif status == "VERIFIED" and any(_has_caveat(finding) for finding in findings):
        told = f"held with a caveat: {told}"
    return MustHaveStatus(status, told)


def _worst(statuses: Iterable[Status]) -> Status:
    return min(statuses, key=("FAILED", "HUMAN NEEDED", "VERIFIED").index)


def _status(finding: ArtifactFinding, artifact: Artifact) -> Status:
    if finding.classification in HELD:
        return "HUMAN NEEDED" if _unproven(finding, artifact) else "VERIFIED"
    return "FAILED" if any(_refutes(vote) for vote in _votes(finding).values()) else "HUMAN NEEDED"


def _unproven(finding: ArtifactFinding, artifact: Artifact) -> str:
    """Why a finding that held shows nothing yet; empty where it was looked at, and held."""
    votes = {worker: vote for worker, vote in _votes(finding).items() if worker != finding.originWorker}
    lost = _lost(finding)
    if not votes:
        return "held, but nobody else voted on it" if not lost else "held, but all votes were lost to errors"
    if not (artifact.adversarial or artifact.config.verificationMode == "full-reanalysis"):
        return "held, but nobody opened the evidence: run it adversarially, or with full-reanalysis"
    if not any(vote.verdict in ("agree", "supplement") and _looked(vote, finding) for vote in votes.values()):
        return "held, but no vote for it looked at anything"
    if refuted := [worker for worker in lost if worker in votes and _refutes(votes[worker])]:
        return f"held, but the refutation by {', '.join(refuted)} was lost to an error"
    if len(lost) > len(votes):
        return f"held, but {len(lost)} of {len(lost | votes.keys())} votes were lost to errors"
    return ""


def _looked(vote: ArtifactVote, finding: ArtifactFinding) -> bool:
    """Whether a vote rests on a place, its own or the finding's, and does not say that it looked at nothing."""
    why = vote.explanation or ""
    cites = (
        cites_location(why) or cites_location(finding.originEvidence) or bool(paths_in(finding.originEvidence or ""))
    )
    return cites and _SAW_NOTHING.search(why) is None


def _has_caveat(finding: ArtifactFinding) -> bool:
    return any(vote.verdict == "supplement" for vote in _votes(finding).values())


def _refutes(vote: ArtifactVote) -> bool:
    """Whether a vote says that the claim is false; a doubt says that it was not shown."""
    return vote.verdict == "disagree" and vote.disagreeBasis != "burden-not-met"


def _votes(finding: ArtifactFinding) -> dict[str, ArtifactVote]:
    """The last vote of each worker, errors aside."""
    return {worker: vote for worker, vote in _cast(finding) if vote.verdict != "verification-error"}


def _lost(finding: ArtifactFinding) -> set[str]:
    """The workers whose last vote is an error."""
    last = dict(_cast(finding))
    return {worker for worker, vote in last.items() if vote.verdict == "verification-error"}


def _cast(finding: ArtifactFinding) -> Iterator[tuple[str, ArtifactVote]]:
    """All votes on a finding, round by round."""
    for one in sorted(finding.rounds or (), key=lambda one: one.round):
        yield from one.votes.items()


def _why_open(findings: Sequence[ArtifactFinding], artifact: Artifact) -> str:
    """Why a must-have is left to a person: what the findings that held do not show, else that nobody could decide."""
    if not any(_votes(finding) for finding in findings):
        return "nobody voted on it"
    held = [finding for finding in findings if finding.classification in HELD]
    reasons = dict.fromkeys(why for finding in held if (why := _unproven(finding, artifact)))
    if len(held) == len(findings):
        return "; ".join(reasons)
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
