"""Directives of the synthesizer: when one is refused (rules A7, A5, A12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from verifyplan.protocol.plan_rules import NEUTRAL_RULES, PlanRules
from verifyplan.protocol.records import ANSWERED, UNSETTLED, Challenge, Directive, DirectiveKind, Trigger, Unknown
from verifyplan.protocol.role_call import ROLES, Role
from verifyplan.rules.budgets import limits_of

TRIGGERS_OF: dict[DirectiveKind, tuple[Trigger, ...]] = {
    "RE-SWEEP": ("blocking-contradicts-context", "user-changed-scope"),
    "RE-PROBE": ("new-dependency-chain", "unexplored-cascade"),
}
"""The triggers that allow research to run again; the first two ask for mode 2, the others for mode 3."""

CONSULTED: tuple[Role, ...] = ("domain-expert", "devils-advocate")
"""Who runs after iteration 1 only when consulted (rule A5)."""


@dataclass(frozen=True)
class Circumstances:
    """An iteration as it is when its synthesizer has answered."""

    iteration: int
    max_iterations: int
    challenges: Mapping[str, Challenge]
    unsettled_before: Sequence[str]
    """The challenges that were OPEN or UNRESOLVED when the synthesizer was called."""
    settled: frozenset[str]
    """The challenges that became RESOLVED, DEFERRED or WITHDRAWN in this iteration."""
    surfaced_before: frozenset[str] = frozenset()
    """Contexts that were surfaced in earlier iterations."""
    answered: Mapping[str, Unknown] = field(default_factory=dict)
    """Unknowns that were answered in this iteration."""
    probed: frozenset[str] = frozenset()
    """Challenges that a probed risk raised, whose cascade has been looked at."""
    user_spoke: bool = False
    """Whether a person gave context in this iteration."""
    rules: PlanRules = NEUTRAL_RULES
    """Whether research and consulted agents may speak again at all."""


def refusal(directive: Directive, now: Circumstances) -> str:
    """Return why a directive is not carried out, in words; empty if it is.

    Any directive is refused at the last iteration. RE-SWEEP and RE-PROBE need one of their two triggers and items
    that bear it out, and are refused when only MINOR items remain and when every open challenge was settled in this
    iteration; OPEN to UNRESOLVED settles nothing. CONSULT names the domain expert or the devil's advocate; GRANT a
    role and more calls of tools that it has, at most as many again. Rules can let neither research nor consulted agents
    speak after iteration 1. Source: rules A7, R3.

    >>> refusal(Directive(kind="RE-PROBE"), Circumstances(3, 3, {}, [], frozenset()))
    'no iteration follows: this is number 3 of 3'
    """
    if now.iteration >= now.max_iterations:
        return f"no iteration follows: this is number {now.iteration} of {now.max_iterations}"
    match directive.kind:
        case "RE-SWEEP" | "RE-PROBE" if now.rules.later_research == "never":
            return "by the rules of this run, research runs in iteration 1 alone"
        case "CONSULT" if now.rules.later_consults == "never":
            return "by the rules of this run, domain expert and devil's advocate speak in iteration 1 alone"
        case "RE-SWEEP" | "RE-PROBE":
            return _needless(now) or _unfounded(directive, now)
        case "CONSULT" if directive.role not in CONSULTED:
            return f"CONSULT names {directive.role!r}; it can name {' or '.join(CONSULTED)}"
        case "GRANT" if directive.role not in ROLES:
            return f"GRANT names {directive.role!r}, which is no role"
        case "GRANT" if not directive.tools or any(calls < 1 for calls in directive.tools.values()):
            return "GRANT says of no tool how many calls, from 1, are granted"
        case "GRANT":
            return _beyond(directive)
        case "FOCUS" if not directive.note.strip():
            return "FOCUS says nothing"
    return ""


def _beyond(directive: Directive) -> str:
    """Return why a grant goes beyond the tools that a role has, or doubles its calls and more."""
    limits = limits_of(directive.role)  # type: ignore[arg-type]  # refusal has seen that it is a role
    strange = [tool for tool in directive.tools if tool not in limits]
    if strange:
        return f"{', '.join(strange)} is not among the tools of {directive.role}"
    much = [f"{tool} +{n} of {limits[tool]}" for tool, n in directive.tools.items() if n > limits[tool]]
    return f"a grant can at most double a role's calls: {', '.join(much)}" if much else ""


def _needless(now: Circumstances) -> str:
    """Return why research again would be of no use; empty if it may be of use."""
    unsettled = [challenge for challenge in now.challenges.values() if challenge.status in UNSETTLED]
    if all(challenge.severity == "MINOR" for challenge in unsettled):
        return "only MINOR items remain"
    if all(name in now.settled for name in now.unsettled_before):
        return "every open challenge was settled in this iteration"
    return ""


def _unfounded(directive: Directive, now: Circumstances) -> str:
    """Return why the trigger, or the items that it rests on, do not bear the directive out."""
    allowed = TRIGGERS_OF[directive.kind]
    if directive.trigger not in allowed:
        return f"{directive.kind} needs the trigger {' or '.join(allowed)}, not {directive.trigger}"
    match directive.trigger:
        case "blocking-contradicts-context":
            return _contradiction(directive.items, now)
        case "user-changed-scope":
            return "" if now.user_spoke else "no person gave context in this iteration"
        case "new-dependency-chain":
            named = [unknown for name in directive.items if (unknown := now.answered.get(name))]
            answered = any(unknown.resolution in ANSWERED for unknown in named)
            return "" if answered else "it names no unknown that was answered in this iteration"
        case _:
            return _cascade(directive.items, now)


def _contradiction(items: Sequence[str], now: Circumstances) -> str:
    challenges = [challenge for name in items if (challenge := now.challenges.get(name))]
    if not any(c.severity == "BLOCKING" and c.iteration_introduced == now.iteration for c in challenges):
        return "it names no BLOCKING challenge that is new in this iteration"
    return "" if now.surfaced_before & set(items) else "it names no context that was surfaced in an earlier iteration"


def _cascade(items: Sequence[str], now: Circumstances) -> str:
    named = [challenge for name in items if (challenge := now.challenges.get(name))]
    unresolved = [challenge for challenge in named if challenge.status == "UNRESOLVED"]
    if not unresolved:
        return "it names no UNRESOLVED challenge"
    unexplored = [challenge for challenge in unresolved if challenge.id not in now.probed]
    return "" if unexplored else f"the cascade of {unresolved[0].id} was probed: a risk raised it"
