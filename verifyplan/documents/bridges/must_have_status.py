"""The status of a must-have after a cross run: whether it holds, and the votes that say so (rules B6, D5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from verifyplan.documents.dimensions.overlap import paths_in
from verifyplan.protocol.artifact import Artifact, ArtifactFinding, ArtifactVote
from verifyplan.protocol.vote import HELD, NOTHING_LOOKED_AT
from verifyplan.rules.citations import cites_location

MustHaveState = Literal["VERIFIED", "FAILED", "HUMAN NEEDED"]

MAX_EXPLANATION_CHARACTERS = 300
"""Characters of an explanation that are kept as evidence."""

_SAW_NOTHING = re.compile(
    rf"{NOTHING_LOOKED_AT}|nothing was looked at|(?:cites no place|quotes no text) to look at", re.IGNORECASE
)
"""How a vote says that it rests on nothing, now and in older artifacts."""


class MustHaveStatus(NamedTuple):
    """Whether a must-have holds, and the evidence."""

    status: MustHaveState
    evidence: str


def must_have_status(findings: Sequence[ArtifactFinding], artifact: Artifact) -> MustHaveStatus:
    """Return the status of a must-have by the findings that speak of it.

    It failed if one was refuted: it was not held, and somebody showed why. It holds if all held, each by the vote of
    somebody who looked at a place; the evidence begins with a caveat, if there is one. It is left to a person where
    nobody spoke of it, nobody could decide (only doubts, errors, or no votes), nobody looked at anything (a lightweight
    run sees the claim alone), most votes were lost to errors, or a refutation was. Source: rules B4, B6, B8, D5.
    """
    if not findings:
        return MustHaveStatus("HUMAN NEEDED", "not verified: no finding of the run speaks of it")
    evidence = " / ".join(map(_evidence, findings))
    held = [finding for finding in findings if finding.classification in HELD]
    others = [finding for finding in findings if finding.classification not in HELD]
    unproven = dict.fromkeys(why for finding in held if (why := _unproven(finding, artifact)))
    if any(_refutes(vote) for finding in others for vote in _votes(finding).values()):
        return MustHaveStatus("FAILED", evidence)
    if others or unproven:
        why_open = "nobody could show that it holds, or that it does not" if others else "; ".join(unproven)
        why_open = why_open if any(map(_votes, findings)) else "nobody voted on it"
        return MustHaveStatus("HUMAN NEEDED", f"{why_open}: {evidence}")
    caveat = any(vote.verdict == "supplement" for finding in findings for vote in _votes(finding).values())
    return MustHaveStatus("VERIFIED", f"held with a caveat: {evidence}" if caveat else evidence)


def _unproven(finding: ArtifactFinding, artifact: Artifact) -> str:
    """Why a finding that held shows nothing yet; empty where it was looked at, and held."""
    votes = {worker: vote for worker, vote in _votes(finding).items() if worker != finding.originWorker}
    lost = {worker for worker, vote in dict(_cast(finding)).items() if vote.verdict == "verification-error"}
    if not votes:
        return "held, but nobody else voted on it" if not lost else "held, but all votes were lost to errors"
    if not (artifact.adversarial or artifact.config.verificationMode == "full-reanalysis"):
        return "held, but nobody opened the evidence: run it adversarially, or with full-reanalysis"
    if not any(vote.verdict in ("agree", "supplement") and _looked(vote, finding) for vote in votes.values()):
        return "held, but no vote for it looked at anything"
    if refuted := [worker for worker, vote in votes.items() if worker in lost and _refutes(vote)]:
        return f"held, but the refutation by {', '.join(refuted)} was lost to an error"
    if len(lost) > len(votes):
        return f"held, but {len(lost)} of {len(lost | votes.keys())} votes were lost to errors"
    return ""


def _looked(vote: ArtifactVote, finding: ArtifactFinding) -> bool:
    """Whether a vote rests on a place, its own or the finding's, and does not say that it looked at nothing."""
    why, evidence = vote.explanation or "", finding.originEvidence
    cites = cites_location(why) or cites_location(evidence) or bool(paths_in(evidence or ""))
    return cites and _SAW_NOTHING.search(why) is None


def _refutes(vote: ArtifactVote) -> bool:
    """Whether a vote says that the claim is false; a doubt says that it was not shown."""
    return vote.verdict == "disagree" and vote.disagreeBasis != "burden-not-met"


def _votes(finding: ArtifactFinding) -> dict[str, ArtifactVote]:
    """The last vote of each worker, errors aside."""
    return {worker: vote for worker, vote in _cast(finding) if vote.verdict != "verification-error"}


def _cast(finding: ArtifactFinding) -> Iterator[tuple[str, ArtifactVote]]:
    """All votes on a finding, round by round."""
    for voting in sorted(finding.rounds or (), key=lambda voting: voting.round):
        yield from voting.votes.items()


def _evidence(finding: ArtifactFinding) -> str:
    """A finding's class, the places it cites, and its votes with their explanations; equal votes once."""
    places = " ".join((finding.originEvidence or "").split())
    workers_by_vote: dict[str, list[str]] = {}
    for worker, vote in _votes(finding).items():
        verdict = f"{vote.verdict} ({vote.disagreeBasis})" if vote.disagreeBasis else vote.verdict
        why = cut(" ".join((vote.explanation or "").split()).rstrip("."))
        workers_by_vote.setdefault(f"{verdict}, {why}" if why else verdict, []).append(worker)
    votes = "; ".join(f"{', '.join(workers)}: {vote}" for vote, workers in workers_by_vote.items())
    parts = (finding.classification or "without a class", f"cites {cut(places)}" if places else "", votes)
    return ", ".join(part for part in parts if part)


def cut(text: str, limit: int = MAX_EXPLANATION_CHARACTERS) -> str:
    """Return a text with at most `limit` characters, a mark where it is cut included.

    >>> cut("a queue that is full", 12)
    'a queue ...'
    """
    return text if len(text) <= limit else f"{text[: limit - 4].rstrip()} ..."
