"""What the panel votes on, and what its class of a challenge forbids (rule A9)."""

from __future__ import annotations

from verifyplan.protocol.challenge import Challenge, Severity, Status
from verifyplan.protocol.vote import HELD, Classification


def consensus_refusal(severity: Severity, new: Status, classification: Classification | None, *, evidence: bool) -> str:
    """Say why a challenge that its panel left standing cannot change so; return an empty text if it can.

    At full or partial consensus it cannot be WITHDRAWN in that iteration, and a BLOCKING one becomes RESOLVED only by
    a resolution that rests on `evidence`. Without a panel, or without a class, nothing is forbidden.
    Source: rules A2, A9.

    >>> consensus_refusal("MINOR", "WITHDRAWN", "partial-consensus", evidence=True)
    'the panel left it at partial-consensus: it cannot be WITHDRAWN in this iteration'
    >>> consensus_refusal("BLOCKING", "RESOLVED", "full-consensus", evidence=False)
    'the panel left it at full-consensus: to be RESOLVED, its resolution must cite a place, a finding or an id'
    >>> consensus_refusal("BLOCKING", "RESOLVED", "full-consensus", evidence=True)
    ''
    """
    if classification not in HELD:
        return ""
    if new == "WITHDRAWN":
        return f"the panel left it at {classification}: it cannot be WITHDRAWN in this iteration"
    if severity == "BLOCKING" and new == "RESOLVED" and not evidence:
        cite = "to be RESOLVED, its resolution must cite a place, a finding or an id"
        return f"the panel left it at {classification}: {cite}"
    return ""


def claim_of(challenge: Challenge) -> str:
    """A challenge as the claim that the panel votes on: what the plan assumes, and why that fails."""
    return f"{challenge.claim} {challenge.concern}".strip()
