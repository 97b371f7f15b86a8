"""How complex a plan is, and how large a team that asks for (SPEC A8)."""

from __future__ import annotations

from typing import NamedTuple

from verifyplan.errors import Problem, SettingsError
from verifyplan.protocol.iteration import PlanQuality, TeamMode

THRESHOLD = 7
"""From this score on the team is scaled."""
MANY_UNKNOWNS = 3
"""More unknown signals than this scale the team, whatever the score."""
MANY_FILES = 10
"""So many referenced files are a point."""


class Signs(NamedTuple):
    """What was counted in a plan; word lists and the count itself are the reader's."""

    steps: int
    domains: int
    integrations: int
    compliance: bool
    unknown_signals: int
    referenced_files: int


def complexity(signs: Signs) -> int:
    """The complexity score, 0 to 16, by document 002's table; each factor has its own ceiling.

    >>> complexity(Signs(steps=7, domains=4, integrations=5, compliance=True, unknown_signals=4, referenced_files=10))
    16
    """
    return (
        min(signs.steps, 3)
        + min(signs.domains, 3)
        + min(2 * signs.integrations, 4)
        + 2 * signs.compliance
        + min(signs.unknown_signals, 3)
        + (signs.referenced_files >= MANY_FILES)
    )


def team(
    signs: Signs,
    quality: PlanQuality,
    *,
    trivial: bool = False,
    team: TeamMode | None = None,
    threshold: int = THRESHOLD,
) -> TeamMode | None:
    """The team that a plan gets: base, scaled (adds domain expert and devil's advocate), or None for a trivial plan.

    A trivial plan skips the team whatever is asked for; `team` beats the rest, THIN included; a THIN plan gets
    the base team; else it is scaled at `threshold` or with more than 3 unknown signals. Raises SettingsError for
    an unknown team. Source: SPEC A8, document 002.

    >>> team(Signs(3, 3, 1, False, 0, 2), "ADEQUATE"), team(Signs(3, 3, 1, False, 0, 2), "THIN")
    ('scaled', 'base')
    """
    if team not in (None, "base", "scaled"):
        raise SettingsError(Problem("team", f"{team!r} is unknown", "use 'base', 'scaled', or None to let it be sized"))
    if trivial:
        return None
    if team is not None:
        return team
    large = complexity(signs) >= threshold or signs.unknown_signals > MANY_UNKNOWNS
    return "scaled" if large and quality != "THIN" else "base"
