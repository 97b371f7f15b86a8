"""The devil's advocate: the most harmful combined failure that can be cited, and nothing less (SPEC A5)."""

from __future__ import annotations

from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.plan_call import ChallengesAnswer


def answer(scene: Scene) -> ChallengesAnswer:
    """At most 2 challenges, never MINOR, never of LOW confidence."""
    return ChallengesAnswer()
