"""What the synthesizer asks of the next iteration, and only where a trigger is borne out (SPEC A7)."""

from __future__ import annotations

from collections.abc import Sequence, Set

from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.challenge import Challenge
from verifyplan.protocol.directive import Directive


def directives(scene: Scene, after: Sequence[Challenge], moved: Set[str]) -> tuple[Directive, ...]:
    """None: the static agents find all that they can find in the first iteration, so that looking again finds no more."""
    return ()
