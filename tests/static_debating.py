"""A debate of the static roles, turn by turn, without the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from verifyplan.agents.static import StaticBackend
from verifyplan.protocol.challenge import Challenge
from verifyplan.protocol.debate_call import DebateRequest
from verifyplan.protocol.message import DebateRole, MessageType


@cache
def _backend(root: Path) -> StaticBackend:
    """One for each folder, so that its files are read once."""
    return StaticBackend(root)


def asked(
    root: Path,
    role: DebateRole,
    kind: MessageType,
    *,
    task: str = "",
    diff: str = "",
    turn: int = 1,
    documents: Mapping[str, str] | None = None,
    challenges: Sequence[Challenge] = (),
) -> dict[str, Any]:
    """The answer of one role."""
    request = DebateRequest(
        call_id=f"t{turn}/{kind}",
        role=role,
        type=kind,
        turn=turn,
        max_turns=3,
        task=task,
        documents=dict(documents or {}),
        challenges=tuple(challenges),
        diff=diff,
    )
    value: dict[str, Any] = asyncio.run(_backend(root).answer(request)).value
    return value


def challenge(claim: str, alternative: str = "", number: int = 1) -> Challenge:
    """An open challenge."""
    return Challenge(
        id=f"C{number}",
        origin="challenger",
        claim=claim,
        concern="",
        failure_scenario="",
        alternative=alternative,
        severity="SIGNIFICANT",
        confidence="HIGH",
        iteration_introduced=1,
    )
