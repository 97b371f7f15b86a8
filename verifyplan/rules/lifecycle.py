"""Which changes of a challenge's status are allowed, and what a change must carry (SPEC A2)."""

from __future__ import annotations

import re
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

_REFERENCE = re.compile(r"\[VERIFIED:[^\]\n]+\]|\b[CUSP][1-9][0-9]*\b|\buser decision\b", re.IGNORECASE)


class Transition(NamedTuple):
    """Whether a change is allowed; if not, why; and whether its resolution cites nothing."""

    legal: bool
    reason: str
    uncited: bool


def check_transition(severity: Severity, old: Status, new: Status, resolution: str) -> Transition:
    """Judge one change of status; a refused change leaves the challenge as it was.

    DEFERRED is for MINOR alone, and a blank resolution is refused. One that cites nothing (no [VERIFIED: ...], id,
    place or user decision) is allowed and flagged `uncited`. Source: SPEC A2, document 000 §6.

    >>> check_transition("BLOCKING", "OPEN", "DEFERRED", "later").reason
    'only a MINOR challenge can be DEFERRED, not a BLOCKING one'
    >>> check_transition("MINOR", "OPEN", "RESOLVED", "see a.py:3")
    Transition(legal=True, reason='', uncited=False)
    """
    reason = _refusal(severity, old, new, resolution)
    cited = _REFERENCE.search(resolution) is not None or cites_location(resolution)
    return Transition(legal=not reason, reason=reason, uncited=not cited)


def _refusal(severity: Severity, old: Status, new: Status, resolution: str) -> str:
    if new not in NEXT[old]:
        allowed = ", ".join(NEXT[old]) or "nothing: it is final"
        return f"{old} can become {allowed}; not {new}"
    if new == "DEFERRED" and severity != "MINOR":
        return f"only a MINOR challenge can be DEFERRED, not a {severity} one"
    return "" if resolution.strip() else "a change needs a resolution, and this one is blank"
