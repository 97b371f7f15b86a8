"""Which changes of a challenge's status are allowed, and what a change must carry (rule A2)."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

from verifyplan.protocol.challenge import Severity, Status
from verifyplan.rules.citations import cites_location

NEXT: dict[Status, tuple[Status, ...]] = {
    "OPEN": ("RESOLVED", "UNRESOLVED", "DEFERRED", "WITHDRAWN"),
    "UNRESOLVED": ("RESOLVED", "DEFERRED", "WITHDRAWN"),
    "RESOLVED": (),
    "DEFERRED": (),
    "WITHDRAWN": (),
}
"""What each status may become; an empty tuple is final."""

_VERIFIED = re.compile(r"\[VERIFIED:\s*[^\]\s][^\]\n]*\]", re.IGNORECASE)
_ID = re.compile(r"\b[CUSP][1-9][0-9]*\b", re.IGNORECASE)
_DECISION = re.compile(r"\buser decision\b", re.IGNORECASE)


class Transition(NamedTuple):
    """Whether a change is allowed; if not, why; and whether its resolution cites nothing."""

    legal: bool
    reason: str
    uncited: bool


def check_transition(severity: Severity, old: Status, new: Status, resolution: str) -> Transition:
    """Judge one change of status; a refused change leaves the challenge as it was.

    DEFERRED is for MINOR alone, and a blank resolution is refused. One that cites nothing (no [VERIFIED: ...], id,
    place or user decision) is allowed and flagged `uncited`. Source: rule A2, document 000 §6.

    >>> check_transition("BLOCKING", "OPEN", "DEFERRED", "later").reason
    'only a MINOR challenge can be DEFERRED, not a BLOCKING one'
    >>> check_transition("MINOR", "OPEN", "RESOLVED", "see a.py:3")
    Transition(legal=True, reason='', uncited=False)
    """
    reason = _refusal(severity, old, new, resolution)
    cited = cites_location(resolution) or any(form.search(resolution) for form in (_VERIFIED, _ID, _DECISION))
    return Transition(legal=not reason, reason=reason, uncited=not cited)


def _refusal(severity: Severity, old: Status, new: Status, resolution: str) -> str:
    if new not in NEXT[old]:
        allowed = ", ".join(NEXT[old]) or "nothing: it is final"
        return f"{old} can become {allowed}; not {new}"
    if new == "DEFERRED" and severity != "MINOR":
        return f"only a MINOR challenge can be DEFERRED, not a {severity} one"
    return "" if resolution.strip() else "a change needs a resolution, and this one is blank"


def rests_on_evidence(resolution: str, challenge: str, known: Container[str]) -> bool:
    """Whether a resolution cites a place, a [VERIFIED: ...], or the `known` id of something else than the challenge.

    >>> rests_on_evidence("C1 is no risk", "C1", {"C1", "U2"}), rests_on_evidence("U2 says so", "C1", {"C1", "U2"})
    (False, True)
    """
    others = {name.upper() for name in _ID.findall(resolution)} - {challenge}
    return (
        cites_location(resolution) or _VERIFIED.search(resolution) is not None or any(name in known for name in others)
    )


def decision_refusal(new: Status, resolution: str, *, evidence: bool) -> str:
    """Say why an agent cannot resolve a challenge in a person's name; return an empty text if it does not try.

    A person decides by acknowledging or overriding; what a person adds as context is something to look at (rule A4).

    >>> decision_refusal("RESOLVED", "user decision: the note names C1", evidence=False)
    'only a person who acknowledges a challenge decides on it: context settles nothing'
    """
    if new == "RESOLVED" and _DECISION.search(resolution) and not evidence:
        return "only a person who acknowledges a challenge decides on it: context settles nothing"
    return ""
