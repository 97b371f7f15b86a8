"""The order of messages in a debate, and the rules that end it (rules C2, C3)."""

from __future__ import annotations

from typing import NamedTuple

from verifyplan.errors import Problem, SettingsError
from verifyplan.protocol.event_run import DebateReason, DebateStatus
from verifyplan.protocol.message import DebateRole, Message, MessageType

MAX_TURNS = 3
"""Default number of turns: longer debates drift."""

VERIFIED = "Verified"
"""The first word of a verification if the architect is content; case counts."""

ROLE_OF_TYPE: dict[MessageType, DebateRole] = {
    "propose": "architect",
    "critique": "architect",
    "implement": "builder",
    "verify": "architect",
}
"""The role that writes each type of message."""


class DebateRuling(NamedTuple):
    """How a debate ended."""

    status: DebateStatus
    reason: DebateReason


def asked_for(turn: int) -> tuple[MessageType, MessageType, MessageType]:
    """Return the messages that a turn asks for, in order: the first begins with a proposal, later ones with a critique.

    Raises SettingsError for a turn below 1. Source: rule C2.

    >>> asked_for(1), asked_for(2)
    (('propose', 'implement', 'verify'), ('critique', 'implement', 'verify'))
    """
    _check(turn=turn)
    return "propose" if turn == 1 else "critique", "implement", "verify"


def call_id(turn: int, kind: MessageType) -> str:
    """Return the call id of a message in a turn.

    >>> call_id(2, "critique")
    't2/critique'
    """
    return f"t{turn}/{kind}"


def ruling(turn: int, max_turns: int, before: str, diff: str, verification: str | None = None) -> DebateRuling | None:
    """Return how the debate ends in this turn, the first of three rules that holds; None while it goes on.

    The diff is that of the turn before, character by character: NO_IMPROVEMENT, from turn 2 on. The verification
    begins with `Verified`: VERIFIED. The turn is the last: MAX_TURNS. Before the architect has verified
    (`verification` is None), only the first rule is looked at, so that an unchanged diff is not verified twice.
    `before` is the diff of the turn before; the first turn does not use it. Raises SettingsError for numbers below 1.
    Source: rule C3.

    >>> ruling(2, 2, "a", "a", "Verified")
    DebateRuling(status='FAILED', reason='NO_IMPROVEMENT')
    >>> ruling(2, 2, "a", "b", "Verified: all is there")
    DebateRuling(status='CONVERGED', reason='VERIFIED')
    >>> ruling(2, 2, "a", "b", "Not yet.")
    DebateRuling(status='FAILED', reason='MAX_TURNS')
    """
    _check(turn=turn, max_turns=max_turns)
    if turn > 1 and diff == before:
        return DebateRuling("FAILED", "NO_IMPROVEMENT")
    if verification is None:
        return None
    if verification.startswith(VERIFIED):
        return DebateRuling("CONVERGED", "VERIFIED")
    return DebateRuling("FAILED", "MAX_TURNS") if turn >= max_turns else None


def closing(turn: int) -> Message:
    """Return the message that closes a debate whose diff did not change; no agent is called for it.

    Source: rule C3.

    >>> closing(2).content
    'Failed: NO_IMPROVEMENT'
    """
    return Message(
        role="architect",
        type="verify",
        content="Failed: NO_IMPROVEMENT",
        turn=turn,
        reasons=("The diff is that of the turn before, which was not verified.",),
        risks=("Further turns would repeat what was said.",),
    )


def _check(**numbers: int) -> None:
    fix = "give a whole number from 1"
    problems = [Problem(name, f"{value!r} is out of range", fix) for name, value in numbers.items() if value < 1]
    if problems:
        raise SettingsError(problems)
