"""What the synthesizer settles, as far as rules allow: statuses, promotions, directives (SPEC A2, A5, A7, A9)."""

from __future__ import annotations

from collections.abc import Sequence

from verifyplan.loops.plan.hub import Hub
from verifyplan.protocol.directive import Directive
from verifyplan.protocol.event_plan import (
    ChallengeAdmitted,
    DirectiveIssued,
    DirectiveRefused,
    PromotionRefused,
    StatusChanged,
    StatusRefused,
)
from verifyplan.protocol.plan_call import StatusChange, SynthesizerAnswer
from verifyplan.rules import directives as directive_rules
from verifyplan.rules.guards import MAX_ACTIVE, cap
from verifyplan.rules.lifecycle import check_transition
from verifyplan.rules.panel import withdrawal_refusal


def settle(hub: Hub, answer: SynthesizerAnswer) -> None:
    """Carry out what the synthesizer answered, in this order: changes, promotions, directives."""
    before = [challenge.id for challenge in hub.state.unsettled]
    for change in answer.changes:
        _change(hub, change)
    for name in dict.fromkeys(answer.promotions):
        _promote(hub, name)
    now = _circumstances(hub, before)
    for directive in answer.directives:
        _direct(hub, directive, now)


def _change(hub: Hub, change: StatusChange) -> None:
    iteration, name = hub.state.iteration, change.challenge
    challenge = hub.state.challenges.get(name)
    if challenge is None or name not in hub.state.admitted:
        reason = "it is in overflow" if name in hub.state.overflow else "there is no such challenge"
    else:
        transition = check_transition(challenge.severity, challenge.status, change.status, change.resolution)
        classified = hub.state.classes.get((iteration, name))
        held = withdrawal_refusal(change.status, classified.classification if classified else None)
        reason = transition.reason or held
        if not reason:
            changed = StatusChanged(
                iteration=iteration,
                id=name,
                old=challenge.status,
                new=change.status,
                resolution=change.resolution,
                uncited=transition.uncited,
            )
            return hub.emit(changed)
    return hub.emit(
        StatusRefused(iteration=iteration, id=name, new=change.status, resolution=change.resolution, reason=reason)
    )


def _promote(hub: Hub, name: str) -> None:
    """Take a challenge in from overflow, if it came there earlier and this iteration's caps have room."""
    state = hub.state
    reason = "there is no such challenge in overflow"
    if name in state.overflow:
        origin = state.challenges[name].origin
        limit = cap(origin, state.iteration, degraded=state.tightened)
        taken = sum(
            iteration == state.iteration and _source(state.challenges[one].origin) == _source(origin)
            for one, iteration in state.admitted.items()
        )
        if state.overflow[name].iteration == state.iteration:
            reason = "it came into overflow in this iteration"
        elif taken >= limit:
            reason = f"{taken} of at most {limit} new challenges of its source are in already"
        elif state.active >= MAX_ACTIVE:
            reason = f"{state.active} challenges are active, and no more may be"
        else:
            return hub.emit(ChallengeAdmitted(iteration=state.iteration, id=name, promoted=True))
    return hub.emit(PromotionRefused(iteration=state.iteration, id=name, reason=reason))


def _source(origin: str) -> str:
    """Research modes 2 and 3 share a cap."""
    return "research" if origin in ("surfaced", "probed") else origin


def _direct(hub: Hub, directive: Directive, now: directive_rules.Circumstances) -> None:
    reason = directive_rules.refusal(directive, now)
    iteration = hub.state.iteration
    if reason:
        hub.emit(DirectiveRefused(iteration=iteration, directive=directive, reason=reason))
    else:
        hub.emit(DirectiveIssued(iteration=iteration, directive=directive))


def _circumstances(hub: Hub, before: Sequence[str]) -> directive_rules.Circumstances:
    state = hub.state
    return directive_rules.Circumstances(
        iteration=state.iteration,
        max_iterations=hub.settings.max_iterations,
        challenges={challenge.id: challenge for challenge in state.pool},
        unsettled_before=before,
        moved=frozenset(move.id for move in state.moves if move.iteration == state.iteration),
        surfaced_before=frozenset(name for name in state.contexts if state.surfaced_in[name] < state.iteration),
        answered={
            name: unknown for name, unknown in state.unknowns.items() if state.surfaced_in[name] == state.iteration
        },
        probed=frozenset(risk.generates_challenge for risk in state.risks.values() if risk.generates_challenge),
        user_spoke=any(
            answer.answer == "context" and state.answered_in[name] >= state.iteration - 1
            for name, answer in state.answers.items()
        ),
    )
