"""Keep a plan run from growing without bound: caps, overflow and degradation (rules A5, A6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from verifyplan.protocol.plan_rules import NEUTRAL_RULES, AdmissionOrder, PlanRules
from verifyplan.protocol.records import (
    PLAN_VERDICTS,
    SEVERITIES,
    Confidence,
    Origin,
    PlanVerdict,
    Probability,
    Severity,
)

T = TypeVar("T")

MAX_ACTIVE = NEUTRAL_RULES.max_active
"""Challenges that may be active at once by the neutral rules; WITHDRAWN and DEFERRED ones do not count."""

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


def cap(origin: Origin, iteration: int, *, tightened: bool = False, rules: PlanRules = NEUTRAL_RULES) -> int:
    """Return how many new challenges of an origin an iteration admits; research's modes 2 and 3 share their cap.

    In an iteration that is tightened, as the one before was degraded, challenger and research have caps of their own,
    1 and 0 by the neutral rules (rule A6).

    >>> [cap("challenger", 1), cap("challenger", 2), cap("probed", 1, tightened=True)]
    [5, 3, 0]
    """
    if source_of(origin) == "research":
        return rules.tight_research_cap if tightened else rules.research_cap
    if origin == "challenger":
        calm = rules.first_challenger_cap if iteration == 1 else rules.later_challenger_cap
        return rules.tight_challenger_cap if tightened else calm
    return rules.expert_cap if origin == "domain-expert" else rules.advocate_cap


def admit(arrivals: Sequence[Arrival], active: int, limit: int, rules: PlanRules = NEUTRAL_RULES) -> Admission:
    """Return which new challenges of one source are admitted, and which go to overflow.

    Ranked by severity, then probability (MED, LOW, none), then order of arrival, or by arrival alone if the rules say
    so; at most `limit` are admitted, and no more than fit beside `active` ones under the rules' limit. `displace`
    decides who may replace another. Source: rule A5.

    >>> admit([Arrival("MINOR"), Arrival("BLOCKING"), Arrival("SIGNIFICANT")], active=6, limit=5)
    Admission(kept=[1, 2], overflow=[0])
    """
    room = max(0, min(limit, rules.max_active - active))
    order = ranked(range(len(arrivals)), arrivals, rules.admission)
    return Admission(kept=sorted(order[:room]), overflow=sorted(order[room:]))


def ranked(names: Sequence[T], arrivals: Sequence[Arrival], order: AdmissionOrder = "severity") -> list[T]:
    """Order challenges by severity, then probability (MED, LOW, none); equals keep their order, by arrival all do.

    >>> ranked(["C1", "C2"], [Arrival("MINOR"), Arrival("BLOCKING")])
    ['C2', 'C1']
    """
    if order == "arrival":
        return list(names)
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


def raising_refusal(
    origin: Origin, severity: Severity, confidence: Confidence, rules: PlanRules = NEUTRAL_RULES
) -> str:
    """Return why this agent may not raise such a challenge, in words; empty if it may.

    The devil's advocate raises nothing MINOR and nothing of LOW confidence, as far as the rules bar them; the others
    raise anything.

    >>> raising_refusal("devils-advocate", "MINOR", "HIGH"), raising_refusal("challenger", "MINOR", "LOW")
    ("a devil's advocate raises nothing MINOR", '')
    """
    if origin != "devils-advocate":
        return ""
    if severity == "MINOR" and "MINOR" in rules.advocate_bars:
        return "a devil's advocate raises nothing MINOR"
    barred = confidence == "LOW" and "LOW" in rules.advocate_bars
    return "a devil's advocate raises nothing of LOW confidence" if barred else ""


def capped_verdict(
    verdict: PlanVerdict | None, overflow: Sequence[Severity], rules: PlanRules = NEUTRAL_RULES
) -> PlanVerdict | None:
    """Return the verdict of a run that ends with these challenges in overflow.

    With a BLOCKING one it is at best that of the rules, neutral REVISE.

    >>> capped_verdict("PROCEED", ["MINOR", "BLOCKING"]), capped_verdict("PROCEED", ["SIGNIFICANT"])
    ('REVISE', 'PROCEED')
    """
    if verdict is None or "BLOCKING" not in overflow:
        return verdict
    return max(verdict, rules.overflow_verdict, key=PLAN_VERDICTS.index)
