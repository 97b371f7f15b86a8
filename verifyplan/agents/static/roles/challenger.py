"""The challenger, the domain expert and the devil's advocate: what look-ups show, and what they ask (rules A5, G2).

Each check runs on its own: one that raises costs the others nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from verifyplan.agents.static.roles.checks import dependents, files, packages, questions, rules, symbols
from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.static.roles.unknowns import unknowns
from verifyplan.protocol.role_call import ChallengerAnswer, ChallengesAnswer

Check = Callable[[Scene], Iterator[Place | Issue]]

CHECKS: dict[str, Check] = {
    "files": files.check_files,
    "commands": files.check_commands,
    "packages": packages.check,
    "symbols": symbols.check,
    "dependents": dependents.check,
    "rules": rules.check,
    "questions": questions.check,
}
"""The checks by name, in the order in which they run."""


@dataclass
class Findings:
    """The issues found, and by check the places of the plan that were looked at."""

    issues: list[Issue] = field(default_factory=list)
    looked: dict[str, list[Place]] = field(default_factory=dict)


def run_checks(scene: Scene) -> Findings:
    """Run all checks; a check that raises is named in the scene's failures, and what it found before counts."""
    findings = Findings()
    for name, check in CHECKS.items():
        places = findings.looked.setdefault(name, [])
        for found in scene.isolated(f"check {name}", lambda check=check: check(scene)):  # type: ignore[misc]
            if isinstance(found, Issue):
                findings.issues.append(found)
            else:
                places.append(found)
    return findings


MAX_CHALLENGES = 20
"""Challenges of one answer, the worst first: what does not fit under the caps is kept as overflow, within reason."""


def answer(scene: Scene) -> ChallengerAnswer:
    """The challenges that the checks find and that nobody has raised yet, the worst first, and the open questions.

    MINOR challenges are raised only as far as the cap leaves room; others always, so that what does not fit is
    recorded as overflow and not lost, up to 20.
    """
    new = scene.new(run_checks(scene).issues)[:MAX_CHALLENGES]
    room = scene.request.may_raise
    kept = [issue for at, issue in enumerate(new) if issue.severity != "MINOR" or at < room]
    asked = tuple(scene.isolated("unknowns", lambda: unknowns(scene, kept)))
    return ChallengerAnswer(challenges=tuple(scene.challenge(issue) for issue in kept), unknowns=asked)


def answer_domain_expert(scene: Scene) -> ChallengesAnswer:
    """The questions of the plan's domains that the challenger does not ask, as many as the cap allows."""
    return _questions(scene, "domain-expert")


def answer_devils_advocate(scene: Scene) -> ChallengesAnswer:
    """The questions on what cannot be undone, never MINOR and never of LOW confidence."""
    return _questions(scene, "devils-advocate")


def _questions(scene: Scene, by: str) -> ChallengesAnswer:
    found = scene.isolated("check questions", lambda: questions.check(scene, by))
    new = scene.new(one for one in found if isinstance(one, Issue))[: scene.request.may_raise]
    return ChallengesAnswer(challenges=tuple(scene.challenge(issue) for issue in new))
