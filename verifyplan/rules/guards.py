"""Keep a plan run from growing without bound: caps, overflow and degradation (rules A5, A6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from verifyplan.protocol.records import SEVERITIES, Confidence, Origin, PlanVerdict, Probability, Severity

T = TypeVar("T")

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
    """The rank of a new challenge: its severity, and its probability if a risk raised it."""

    severity: Severity
    probability: Probability | None = None


class Admission(NamedTuple):
    """Positions of the arrivals that were admitted and of those that overflowed, each in order of arrival."""

    kept: list[int]
    overflow: list[int]


class Displacement(NamedTuple):
    """The position of a challenge in the pool that gives way, and of the arrival that takes its place."""

    leaves: int
    enters: int


def cap(origin: Origin, iteration: int, *, tightened: bool = False) -> int:
    """Return how many new challenges of an origin an iteration admits; research's modes 2 and 3 share their cap.

    In an iteration that is tightened, as the one before was degraded, the challenger's cap is 1 and that of research
    0 (rule A6).

    >>> [cap("challenger", 1), cap("challenger", 2), cap("probed", 1, tightened=True)]
    [5, 3, 0]
    """
    if source_of(origin) == "research":
        return 0 if tightened else 2
    if origin == "challenger":
        return 1 if tightened else (5 if iteration == 1 else 3)
    return 3 if origin == "domain-expert" else 2


def admit(arrivals: Sequence[Arrival], active: int, limit: int) -> Admission:
    """Return which new challenges of one source are admitted, and which go to overflow.

    Ranked by severity, then probability (MED, LOW, none), then order of arrival; at most `limit` are admitted,
    and no more than fit beside `active` ones under 8. `displace` decides who may replace another.
    Source: rule A5.

    >>> admit([Arrival("MINOR"), Arrival("BLOCKING"), Arrival("SIGNIFICANT")], active=6, limit=5)
    Admission(kept=[1, 2], overflow=[0])
    """
    room = max(0, min(limit, MAX_ACTIVE - active))
    order = ranked(range(len(arrivals)), arrivals)
    return Admission(kept=sorted(order[:room]), overflow=sorted(order[room:]))


def ranked(names: Sequence[T], arrivals: Sequence[Arrival]) -> list[T]:
    """Order challenges by severity, then probability (MED, LOW, none); equals keep their order.

    >>> ranked(["C1", "C2"], [Arrival("MINOR"), Arrival("BLOCKING")])
    ['C2', 'C1']
    """
    return [names[at] for at in sorted(range(len(names)), key=lambda at: _rank(arrivals[at]))]


def displace(admitted: Sequence[Arrival], waiting: Sequence[Arrival], limit: int) -> list[Displacement]:
    """Return which waiting challenges displace which admitted ones, the worst first.

    `admitted` came in this iteration, in order of arrival, and nobody has looked at them yet; the mildest gives way
    first, of equals the last to arrive, and only to one of higher severity. At most `limit` enter.
    Source: rule A5.

    >>> displace([Arrival("MINOR"), Arrival("MINOR")], [Arrival("BLOCKING"), Arrival("MINOR")], limit=2)
    [Displacement(leaves=1, enters=0)]
    """
    mildest = ranked(range(len(admitted)), admitted)[::-1]
    worst = ranked(range(len(waiting)), waiting)
    pairs = [Displacement(*pair) for pair in zip(mildest, worst[: max(0, limit)], strict=False)]
    return [
        pair
        for pair in pairs
        if SEVERITIES.index(waiting[pair.enters].severity) < SEVERITIES.index(admitted[pair.leaves].severity)
    ]


def source_of(origin: Origin) -> str:
    """Return what shares a cap: research modes 2 and 3 are one source.

    >>> source_of("probed"), source_of("challenger")
    ('research', 'challenger')
    """
    return "research" if origin in ("surfaced", "probed") else origin


def _rank(arrival: Arrival) -> tuple[int, int]:
    """Return a rank, small first; `sorted` keeps the order of arrival among equals."""
    return SEVERITIES.index(arrival.severity), _PROBABLE_FIRST.index(arrival.probability)


def degraded(iteration: int, created: int, resolved: int) -> bool:
    """Return whether an iteration made more than it settled; never the first, which opens the pool (rule A6).

    `resolved` counts challenges that became RESOLVED, WITHDRAWN or DEFERRED in that iteration.

    >>> degraded(1, 5, 0), degraded(2, 2, 1), degraded(2, 1, 1)
    (False, True, False)
    """
    return iteration >= 2 and created > resolved


def raising_refusal(origin: Origin, severity: Severity, confidence: Confidence) -> str:
    """Return why this agent may not raise such a challenge, in words; empty if it may.

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
    """Return the verdict of a run that ends with these challenges in overflow: with a BLOCKING one at best REVISE.

    >>> capped_verdict("PROCEED", ["MINOR", "BLOCKING"]), capped_verdict("PROCEED", ["SIGNIFICANT"])
    ('REVISE', 'PROCEED')
    """
    return "REVISE" if verdict == "PROCEED" and "BLOCKING" in overflow else verdict
