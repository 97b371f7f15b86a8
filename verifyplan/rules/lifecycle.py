"""Allowed changes of a challenge's status, and what a panel's vote on it forbids (rules A2, A9)."""

from __future__ import annotations

import re
from collections.abc import Container

from verifyplan.protocol.plan_rules import NEUTRAL_RULES, PlanRules
from verifyplan.protocol.records import UNSETTLED, Challenge, Severity, Status
from verifyplan.protocol.role_call import RaisedChallenge
from verifyplan.protocol.vote import HELD, Classification
from verifyplan.rules.citations import cites_location

_CITE = "cite a place, a finding or an id"


def consensus_refusal(
    severity: Severity,
    new: Status,
    classification: Classification | None,
    *,
    evidence: bool,
    rules: PlanRules = NEUTRAL_RULES,
) -> str:
    """Say why a challenge that its panel left standing cannot change so; return an empty text if it can.

    By the neutral rules, at full or partial consensus it cannot be WITHDRAWN in that iteration, and a BLOCKING one
    becomes RESOLVED only by a resolution that rests on `evidence`. Without a panel, or without a class, nothing is
    forbidden. Source: rules A2, A9, R3.

    >>> consensus_refusal("MINOR", "WITHDRAWN", "partial-consensus", evidence=True)
    'the panel left it at partial-consensus: it cannot be WITHDRAWN in this iteration'
    >>> consensus_refusal("BLOCKING", "RESOLVED", "full-consensus", evidence=False)
    'the panel left it at full-consensus: to be RESOLVED, its resolution must cite a place, a finding or an id'
    >>> consensus_refusal("BLOCKING", "RESOLVED", "full-consensus", evidence=True)
    ''
    """
    if classification not in HELD:
        return ""
    forbids, settles = rules.consensus_forbids, new not in UNSETTLED
    if (settles and "settlement" in forbids) or (new == "WITHDRAWN" and "withdrawal" in forbids):
        return f"the panel left it at {classification}: it cannot be {new} in this iteration"
    blocking = severity == "BLOCKING" and new == "RESOLVED" and "uncited-blocking" in forbids
    if not evidence and (blocking or (settles and "uncited" in forbids)):
        return f"the panel left it at {classification}: to be {new}, its resolution must {_CITE}"
    return ""


def uncited_refusal(new: Status, *, evidence: bool, rules: PlanRules = NEUTRAL_RULES) -> str:
    """Say why a resolution without `evidence` settles nothing; return an empty text if it does, as by neutral rules.

    >>> uncited_refusal("WITHDRAWN", evidence=False, rules=PlanRules.preset("strict-settlement"))
    'to be WITHDRAWN, its resolution must cite a place, a finding or an id'
    """
    if evidence or new in UNSETTLED or rules.uncited_settlement == "keep":
        return ""
    return f"to be {new}, its resolution must {_CITE}"


def claim_of(challenge: Challenge | RaisedChallenge) -> str:
    """Return a challenge as the claim that the panel votes on: what the plan assumes, and why that fails."""
    return f"{challenge.claim} {challenge.concern}".strip()


NEXT: dict[Status, tuple[Status, ...]] = {
    "OPEN": ("RESOLVED", "UNRESOLVED", "DEFERRED", "WITHDRAWN"),
    "UNRESOLVED": ("RESOLVED", "DEFERRED", "WITHDRAWN"),
    "RESOLVED": (),
    "DEFERRED": (),
    "WITHDRAWN": (),
}
"""The statuses that each may become; an empty tuple is final."""

_VERIFIED = re.compile(r"\[VERIFIED:\s*[^\]\s][^\]\n]*\]", re.IGNORECASE)
_ID = re.compile(r"\b[CUSP][1-9][0-9]*\b", re.IGNORECASE)
_DECISION = re.compile(r"\buser decision\b", re.IGNORECASE)


def transition_refusal(severity: Severity, old: Status, new: Status, resolution: str) -> str:
    """Say why a status cannot change so; return an empty text if it can. A refused challenge stays as it was.

    DEFERRED is for MINOR alone, and a blank resolution is refused. Source: rule A2.

    >>> transition_refusal("BLOCKING", "OPEN", "DEFERRED", "later")
    'only a MINOR challenge can be DEFERRED, not a BLOCKING one'
    >>> transition_refusal("MINOR", "OPEN", "RESOLVED", "see a.py:3")
    ''
    """
    if new not in NEXT[old]:
        allowed = ", ".join(NEXT[old]) or "nothing: it is final"
        return f"{old} can become {allowed}; not {new}"
    if new == "DEFERRED" and severity != "MINOR":
        return f"only a MINOR challenge can be DEFERRED, not a {severity} one"
    return "" if resolution.strip() else "a change needs a resolution, and this one is blank"


def rests_on_evidence(resolution: str, challenge: str, known: Container[str]) -> bool:
    """Return whether a resolution cites a place, a [VERIFIED: ...], or the `known` id of something but the challenge.

    The run marks a resolution that does not as uncited, and holds it against the panel (rules A2, A9).

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
