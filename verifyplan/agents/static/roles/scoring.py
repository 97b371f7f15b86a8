"""Scores and their audit, by two sets of signs: how the run went, and what the plan itself shows (SPEC A10)."""

from __future__ import annotations

from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.plan_call import GivenScore, ScoreAnswer
from verifyplan.protocol.score import DIMENSIONS


def score(scene: Scene) -> ScoreAnswer:
    """The synthesizer's scores, by what was raised, answered and settled in the run."""
    first = next((at for at, line in enumerate(scene.plan.lines, 1) if line.strip()), 1)
    stands = [c.id for c in scene.unsettled]
    text = f"{len(stands)} of {len(scene.request.challenges)} challenges stand ({', '.join(stands) or 'none'}); {scene.name}:{first}"
    value = max(
        1,
        10
        - 4 * sum(c.severity == "BLOCKING" for c in scene.unsettled)
        - sum(c.severity == "SIGNIFICANT" for c in scene.unsettled),
    )
    return ScoreAnswer(scores={name: GivenScore(score=value, evidence=text) for name in DIMENSIONS})


def audit(scene: Scene) -> ScoreAnswer:
    """The challenger's scores, by what the plan and the repository show, without a look at the run."""
    return score(scene)
