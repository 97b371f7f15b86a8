"""How the synthesizer looks at a challenge again where no panel voted on it."""

from __future__ import annotations

from verifyplan.agents.static.roles.panel import recheck, reread
from verifyplan.agents.static.roles.panel.case import Case
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.call import Item
from verifyplan.protocol.challenge import Challenge


def judged_alone(scene: Scene, challenge: Challenge) -> str:
    """Why a challenge does not hold, by the first two of the panel's means; empty if it does."""
    said = scene.request.evidence.get(challenge.id, "")
    item = Item(finding_id=challenge.id, summary=f"{challenge.claim} {challenge.concern}", evidence=said)
    case = Case(item, {scene.name: scene.reading}, scene.known, scene.tools)
    outcomes = (judge(case) for judge in (reread.judge, recheck.judge))
    return next((outcome.why for outcome in outcomes if outcome.kind == "refuted"), "")
