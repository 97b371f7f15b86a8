"""How complex a plan is, and how large a team that asks for (rule A8)."""

from __future__ import annotations

from typing import NamedTuple

from verifyplan.errors import Problem, SettingsError
from verifyplan.protocol.plan_rules import NEUTRAL_RULES, PlanRules
from verifyplan.protocol.records import PlanQuality, TeamMode

MANY_FILES = 10
"""So many referenced files are a point."""


class Signs(NamedTuple):
    """The counts that size a plan; the reader of plans counts them, by its word lists."""

    steps: int
    domains: int
    integrations: int
    compliance: bool
    unknown_signals: int
    referenced_files: int


def complexity(signs: Signs) -> int:
    """Return the complexity score, 0 to 16 (rule A8); each factor has its own ceiling.

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
    threshold: int | None = None,
    rules: PlanRules = NEUTRAL_RULES,
) -> TeamMode | None:
    """Return the team of a plan: base, scaled (adds domain expert and devil's advocate), or None for a trivial plan.

    `team` beats all else; a trivial plan skips the team; a THIN plan gets the base team; else it is scaled at
    `threshold`, neutral 7, or with more unknown signals than the rules allow, neutral 3. `threshold`, if given, goes
    before that of the rules. Raises SettingsError for an unknown team. Source: rules A8, R3.

    >>> team(Signs(3, 3, 1, False, 0, 2), "ADEQUATE"), team(Signs(3, 3, 1, False, 0, 2), "THIN")
    ('scaled', 'base')
    """
    if team not in (None, "base", "scaled"):
        raise SettingsError(Problem("team", f"{team!r} is unknown", "use 'base', 'scaled', or None to let it be sized"))
    if team is not None:
        return team
    if trivial:
        return None
    threshold = rules.threshold if threshold is None else threshold
    large = complexity(signs) >= threshold or signs.unknown_signals > rules.many_unknowns
    return "scaled" if large and quality != "THIN" else "base"


MANY_REFERENCES = 3
"""So many concrete references make a plan RICH, if it has the rest."""
FEW_STEPS = 2
"""A plan with fewer steps is THIN."""


class Traits(NamedTuple):
    """The traits that make a plan RICH or THIN; `references` are concrete ones: files, symbols, commands, packages.

    `words` are counted outside headings and code; `destructive` are words for destruction, anywhere; `writes` are
    commands that may change anything.
    """

    goal: bool
    steps: int
    constraints: int
    decisions: int
    references: int
    words: int = 0
    destructive: int = 0
    writes: int = 0


def quality(traits: Traits) -> PlanQuality:
    """Return how much a plan says: THIN, RICH, or ADEQUATE where it is neither.

    THIN has no goal, fewer than 2 steps, or no concrete reference; RICH has a goal, steps, a constraint, a decision
    with its reason, and 3 or more concrete references. THIN goes first. Source: rule A8.

    >>> quality(Traits(True, 2, 0, 0, 1, 9)), quality(Traits(True, 2, 1, 1, 3, 9)), quality(Traits(True, 1, 1, 1, 3, 9))
    ('ADEQUATE', 'RICH', 'THIN')
    """
    if not traits.goal or traits.steps < FEW_STEPS or not traits.references:
        return "THIN"
    rich = traits.constraints and traits.decisions and traits.references >= MANY_REFERENCES
    return "RICH" if rich else "ADEQUATE"


def trivial(signs: Signs, traits: Traits, rules: PlanRules = NEUTRAL_RULES) -> bool:
    """Return whether a plan is too small for any team.

    It has at most 60 words and 2 actions, or as many as the rules say, no word for destruction, no integration,
    compliance or unknown signal, and no command that writes. The empty plan is trivial. By rules that never skip the
    team no plan is. Source: rules A8, R3.

    >>> trivial(Signs(2, 0, 0, False, 0, 1), Traits(False, 2, 0, 0, 1, words=60))
    True
    >>> trivial(Signs(2, 0, 0, False, 0, 1), Traits(False, 2, 0, 0, 1, words=60, destructive=1))
    False
    """
    small = traits.words <= rules.trivial_words and signs.steps <= rules.trivial_actions
    named = signs.integrations or signs.compliance or signs.unknown_signals
    return rules.trivial == "skip" and small and not (named or traits.destructive or traits.writes)
