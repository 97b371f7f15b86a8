"""Research mode 2: what rules, history and code near the plan hold on it, which nobody asked for (SPEC A5, A12)."""

from __future__ import annotations

from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.plan_call import RaisedContext, SurfaceAnswer

MOST = 6
"""Contexts in one iteration."""


def answer(scene: Scene) -> SurfaceAnswer:
    """Rules on what the plan touches, and what git remembers of the touched files; at most 6."""
    found: list[RaisedContext] = []
    return SurfaceAnswer(contexts=tuple(found[:MOST]))
