"""The challenger: what is wrong with the plan, and what has to be found out first (SPEC A1, A5, G2)."""

from __future__ import annotations

from verifyplan.agents.static.roles.checks.every import issues
from verifyplan.agents.static.roles.lenses import demands, unmet
from verifyplan.agents.static.roles.rulebook import rulebook
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.static.roles.unknowns import unknowns
from verifyplan.protocol.plan_call import ChallengerAnswer

MOST = 20
"""Challenges of one answer, the worst first: what does not fit under the caps is kept as overflow, within reason."""


def answer(scene: Scene) -> ChallengerAnswer:
    """The challenges that the checks find and that nobody has raised yet, the worst first, and the open questions.

    MINOR challenges are raised only as far as the cap leaves room; others always, so that what does not fit is
    recorded as overflow and not lost, up to 20. In base teams, without a domain expert, the strongest demands of all
    lenses are applied here.
    """
    found = issues(scene)
    found += unmet(scene.reading, [rule.text for rule in rulebook(scene)], [d for d in demands() if d.challenger])
    new = scene.new(found)[:MOST]
    room = scene.request.may_raise
    kept = [issue for at, issue in enumerate(new) if issue.severity != "MINOR" or at < room]
    return ChallengerAnswer(
        challenges=tuple(scene.challenge(issue) for issue in kept), unknowns=tuple(unknowns(scene, kept))
    )
