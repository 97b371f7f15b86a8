"""The devil's advocate: the most harmful combined failure that can be cited, and nothing less (SPEC A5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.checks.missing_checks import LOOKS
from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.lenses import Demand, calls, demands
from verifyplan.agents.static.roles.phrases import read_statement, statement
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.plan_call import ChallengesAnswer

MOST = 2
"""Challenges in one iteration (SPEC A5)."""

_WORDS = 80


def answer(scene: Scene) -> ChallengesAnswer:
    """At most 2 challenges, never MINOR, never of LOW confidence; silent where nothing that cannot be undone is done.

    What cannot be undone and is done before anything was tested or looked at; and what cannot be undone in a plan
    of which another challenge says that it has no way back or is not checked.
    """
    found = scene.new([*_before_any_check(scene)])
    most = min(MOST, scene.request.may_raise)
    return ChallengesAnswer(challenges=tuple(scene.challenge(issue) for issue in found[:most]))


def _final(scene: Scene) -> tuple[int, str] | None:
    """The first step that cannot be undone by going back to the older code, and its words."""
    chosen: list[Demand] = [demand for demand in demands() if demand.what == "a way back" and demand.lens == "data"]
    return next((call for demand in chosen for call in calls(demand, scene.reading)), None)


def _before_any_check(scene: Scene) -> Iterator[Issue]:
    final = _final(scene)
    if final is None:
        return
    line, words = final
    looks = [at for at, text in scene.reading.to_do if LOOKS.search(text)]
    stated = {read_statement(challenge.claim) for challenge in scene.unsettled}
    no_way_back = any(one is not None and one.kind == "demand" and "a way back" in one.names for one in stated)
    if looks and not (no_way_back and min(looks) > line):
        return
    last = scene.reading.to_do[-1][0]
    yield Issue(
        statement("combined", re.sub(r"\s+", " ", words)[:_WORDS], "any step"),
        line,
        "Nothing is tested or looked at before it, so a mistake in the steps before is made final by it.",
        "BLOCKING" if no_way_back else "SIGNIFICANT",
        "MED",
        scenario=(
            "A small mistake in what is selected takes away the wrong data, and nobody sees it before it is too late."
        ),
        alternative="Try it on a copy first, count what it would touch, and keep a way back until that was checked.",
        beside=(Place("", last),) if last != line else (),
    )
