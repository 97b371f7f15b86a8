"""What keeps a plan run from growing without bound: caps, overflow and degradation (SPEC A5, A6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from verifyplan.protocol.challenge import SEVERITIES, Confidence, Origin, Severity
from verifyplan.protocol.iteration import PlanVerdict
from verifyplan.protocol.research import Probability

MAX_ACTIVE = 8
"""Challenges that may be active at once; WITHDRAWN and DEFERRED ones do not count."""

OVERFLOW_TAG: dict[Origin, str] = {
    "surfaced": "DEFERRED_SURFACED",
    "probed": "DEFERRED_PROBED",
    "challenger": "DEFERRED_CHALLENGED",
    "domain-expert": "DEFERRED_CHALLENGED",
    "devils-advocate": "DEFERRED_CHALLENGED",
}
"""How a challenge that did not fit is tagged; a tag is not the status DEFERRED."""

_PROBABLE_FIRST: tuple[Probability | None, ...] = ("MED", "LOW", None)


class Arrival(NamedTuple):
    """What ranks a new challenge: how bad it is, and how probable where a risk raised it."""

    severity: Severity
    probability: Probability | None = None


class Admission(NamedTuple):
    """Positions of the arrivals that were admitted and of those that overflowed, each in order of arrival."""

    kept: list[int]
    overflow: list[int]


def cap(source: Origin, iteration: int, *, degraded: bool = False) -> int:
    """How many new challenges one source may raise in an iteration; research's modes 2 and 3 share theirs.

    After a degraded iteration the challenger may raise 1 and research none (SPEC A6).

    >>> [cap("challenger", 1), cap("challenger", 2), cap("probed", 1, degraded=True)]
    [5, 3, 0]
    """
    if source in ("surfaced", "probed"):
        return 0 if degraded else 2
    if source == "challenger":
        return 1 if degraded else (5 if iteration == 1 else 3)
    return 3 if source == "domain-expert" else 2


def admit(arrivals: Sequence[Arrival], active: int, limit: int) -> Admission:
    """Which new challenges of one source are admitted, and which go to overflow.

    Ranked by severity, then probability (MED, LOW, none), then order of arrival; at most `limit` are admitted,
    and no more than fit beside `active` ones under 8. What was admitted before is never displaced.
    Source: SPEC A5, document 000 §8.

    >>> admit([Arrival("MINOR"), Arrival("BLOCKING"), Arrival("SIGNIFICANT")], active=6, limit=5)
    Admission(kept=[1, 2], overflow=[0])
    """
    room = max(0, min(limit, MAX_ACTIVE - active))
    ranked = sorted(range(len(arrivals)), key=lambda i: _rank(arrivals[i]))
    return Admission(kept=sorted(ranked[:room]), overflow=sorted(ranked[room:]))


def _rank(arrival: Arrival) -> tuple[int, int]:
    """Small first; `sorted` keeps the order of arrival among equals."""
    return SEVERITIES.index(arrival.severity), _PROBABLE_FIRST.index(arrival.probability)


def degraded(iteration: int, created: int, resolved: int) -> bool:
    """Whether an iteration made more than it settled; never the first, which opens the pool (SPEC A6).

    `resolved` counts challenges that became RESOLVED, WITHDRAWN or DEFERRED in that iteration.

    >>> degraded(1, 5, 0), degraded(2, 2, 1), degraded(2, 1, 1)
    (False, True, False)
    """
    return iteration >= 2 and created > resolved


def raising_refusal(origin: Origin, severity: Severity, confidence: Confidence) -> str:
    """Why this agent may not raise such a challenge, in words; empty if it may.

    The devil's advocate raises nothing MINOR and nothing of LOW confidence; the others raise anything.

    >>> raising_refusal("devils-advocate", "MINOR", "HIGH"), raising_refusal("challenger", "MINOR", "LOW")
    ("a devil's advocate raises nothing MINOR", '')
    """
    if origin != "devils-advocate":
        return ""
    if severity == "MINOR":
        return "a devil's advocate raises nothing MINOR"
    return "a devil's advocate raises nothing of LOW confidence" if confidence == "LOW" else ""


def capped_verdict(verdict: PlanVerdict | None, overflow: Sequence[Severity]) -> PlanVerdict | None:
    """The verdict of a run that ends with these challenges in overflow: with a BLOCKING one at best REVISE.

    >>> capped_verdict("PROCEED", ["MINOR", "BLOCKING"]), capped_verdict("PROCEED", ["SIGNIFICANT"])
    ('REVISE', 'PROCEED')
    """
    return "REVISE" if verdict == "PROCEED" and "BLOCKING" in overflow else verdict
