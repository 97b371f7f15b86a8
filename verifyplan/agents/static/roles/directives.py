"""What the synthesizer asks of the next iteration, and only where a trigger is borne out (SPEC A7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verifyplan.agents.static.roles.challenges import read_cited
from verifyplan.agents.static.roles.phrases import read_statement
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.challenge import UNSETTLED, Challenge
from verifyplan.protocol.directive import Directive

_SCOPE = re.compile(
    r"\b(?:scope|also|instead|in addition|additionally|no longer|drop(?:ped)?|extend(?:ed)?)\b", re.IGNORECASE
)


def directives(scene: Scene, after: Sequence[Challenge]) -> tuple[Directive, ...]:
    """At most one RE-SWEEP and one RE-PROBE, each with its trigger and items; none at the last iteration.

    `after` are the challenges as the synthesizer leaves them. None where only MINOR ones stand.
    """
    request = scene.request
    standing = [one for one in after if one.status in UNSETTLED and one.severity != "MINOR"]
    if request.iteration >= request.max_iterations or not standing:
        return ()
    sweeps, probes = list(_sweeps(scene, standing)), list(_probes(standing))
    return (*sweeps[:1], *probes[:1])


def _sweeps(scene: Scene, standing: Sequence[Challenge]) -> Iterator[Directive]:
    """A new BLOCKING challenge that rests on the place of a context which spoke for the plan; a changed scope."""
    request = scene.request
    for challenge in standing:
        if (
            challenge.severity != "BLOCKING"
            or challenge.iteration_introduced != request.iteration
            or request.iteration == 1
        ):
            continue
        places = {str(place) for place in read_cited(request.evidence.get(challenge.id, ""))}
        context = next(
            (one for one in request.contexts if one.impact == "confirms_approach" and one.location in places), None
        )
        if context is not None:
            items = (challenge.id, context.id)
            yield Directive(kind="RE-SWEEP", trigger="blocking-contradicts-context", items=items)
    if request.iteration > 1 and request.user_context and _SCOPE.search(request.user_context[-1]):
        note = " ".join(request.user_context[-1].split())[:200]
        yield Directive(kind="RE-SWEEP", trigger="user-changed-scope", note=note)


def _probes(standing: Sequence[Challenge]) -> Iterator[Directive]:
    """A challenge on dependents that stands, which no risk raised."""
    for challenge in standing:
        statement = read_statement(challenge.claim)
        if (
            challenge.status == "UNRESOLVED"
            and challenge.origin != "probed"
            and statement
            and statement.kind == "dependents"
        ):
            yield Directive(kind="RE-PROBE", trigger="unexplored-cascade", items=(challenge.id,))
