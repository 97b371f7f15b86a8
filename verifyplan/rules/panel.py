"""What the panel votes on, and what its class of a challenge forbids (SPEC A9)."""

from __future__ import annotations

from verifyplan.protocol.challenge import Challenge, Status
from verifyplan.protocol.vote import HELD, Classification


def withdrawal_refusal(new: Status, classification: Classification | None) -> str:
    """Why a challenge cannot be withdrawn after its panel's votes, in words; empty if it can, or is not.

    A challenge at full or partial consensus stands; without a panel, or without a class, nothing is forbidden.

    >>> withdrawal_refusal("WITHDRAWN", "partial-consensus")
    'the panel left it at partial-consensus: it cannot be WITHDRAWN in this iteration'
    >>> withdrawal_refusal("WITHDRAWN", "contested"), withdrawal_refusal("RESOLVED", "full-consensus")
    ('', '')
    """
    if new == "WITHDRAWN" and classification in HELD:
        return f"the panel left it at {classification}: it cannot be WITHDRAWN in this iteration"
    return ""


def claim_of(challenge: Challenge) -> str:
    """A challenge as the claim that the panel votes on: what the plan assumes, and why that fails."""
    return f"{challenge.claim} {challenge.concern}".strip()
