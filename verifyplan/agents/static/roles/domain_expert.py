"""The domain expert: the lenses of the plan's domains, in depth (document 002)."""

from __future__ import annotations

from verifyplan.agents.static.roles.lenses import demands, unmet
from verifyplan.agents.static.roles.rulebook import rulebook
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.plan_call import ChallengesAnswer


def answer(scene: Scene) -> ChallengesAnswer:
    """What the lenses of the plan's domains call for and the plan does not speak of, as far as the cap leaves room.

    What the challenger has raised already is not raised again.
    """
    eyes = {domain.lower() for domain in scene.request.domains}
    chosen = [demand for demand in demands() if demand.lens.lower() in eyes or demand.challenger]
    found = scene.new(list(unmet(scene.reading, [rule.text for rule in rulebook(scene)], chosen)))
    return ChallengesAnswer(challenges=tuple(scene.challenge(issue) for issue in found[: scene.request.may_raise]))
