"""What the synthesizer settles, as far as rules allow: statuses, promotions, directives (rules A2, A5, A7, A9)."""

from __future__ import annotations

from collections.abc import Sequence

from verifyplan.protocol.challenge import UNSETTLED
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
from verifyplan.rules.lifecycle import check_transition, decision_refusal, rests_on_evidence
from verifyplan.rules.panel import consensus_refusal
from verifyplan.runs.plan.admission import promotion_refusal
from verifyplan.runs.plan.hub import ActiveRun


def settle(hub: ActiveRun, answer: SynthesizerAnswer) -> None:
    """Carry out what the synthesizer answered, in this order: changes, promotions, directives."""
    before = [challenge.id for challenge in hub.state.unsettled]
    for change in answer.changes:
        _change(hub, change)
    for name in dict.fromkeys(answer.promotions):
        _promote(hub, name)
    now = _circumstances(hub, before)
    for directive in answer.directives:
        _direct(hub, directive, now)


def _change(hub: ActiveRun, change: StatusChange) -> None:
    iteration, name, resolution = hub.state.iteration, change.challenge, change.resolution
    evidence = _evidence(hub, change)
    reason = _refusal(hub, change, evidence=evidence)
    if reason:
        refused = StatusRefused(iteration=iteration, id=name, new=change.status, resolution=resolution, reason=reason)
        return hub.emit(refused)
    challenge = hub.state.challenges[name]
    return hub.emit(
        StatusChanged(
            iteration=iteration,
            id=name,
            old=challenge.status,
            new=change.status,
            resolution=resolution,
            uncited=not evidence,
        )
    )


def _evidence(hub: ActiveRun, change: StatusChange) -> bool:
    """Whether a resolution cites something: an id that does not exist, or the challenge's own, is nothing."""
    state = hub.state
    known = state.challenges.keys() | state.unknowns.keys() | state.contexts.keys() | state.risks.keys()
    return rests_on_evidence(change.resolution, change.challenge, known)


def _refusal(hub: ActiveRun, change: StatusChange, *, evidence: bool) -> str:
    """Say why a change is not carried out; return an empty text if it is (rules A2, A4, A9)."""
    state, name, new = hub.state, change.challenge, change.status
    if name in state.overflow:
        return "it is in overflow"
    if name not in state.admitted:
        return "there is no such challenge"
    challenge, classified = state.challenges[name], state.classes.get((state.iteration, name))
    held = classified.classification if classified else None
    return (
        check_transition(challenge.severity, challenge.status, new, change.resolution).reason
        or consensus_refusal(challenge.severity, new, held, evidence=evidence)
        or decision_refusal(new, change.resolution, evidence=evidence)
    )


def _promote(hub: ActiveRun, name: str) -> None:
    """Take a challenge in from overflow, or record why it stays there."""
    reason, iteration = promotion_refusal(hub, name), hub.state.iteration
    if reason:
        hub.emit(PromotionRefused(iteration=iteration, id=name, reason=reason))
    else:
        hub.emit(ChallengeAdmitted(iteration=iteration, id=name, promoted=True))


def _direct(hub: ActiveRun, directive: Directive, now: directive_rules.Circumstances) -> None:
    reason = directive_rules.refusal(directive, now)
    iteration = hub.state.iteration
    if reason:
        hub.emit(DirectiveRefused(iteration=iteration, directive=directive, reason=reason))
    else:
        hub.emit(DirectiveIssued(iteration=iteration, directive=directive))


def _circumstances(hub: ActiveRun, before: Sequence[str]) -> directive_rules.Circumstances:
    state = hub.state
    return directive_rules.Circumstances(
        iteration=state.iteration,
        max_iterations=hub.settings.max_iterations,
        challenges={challenge.id: challenge for challenge in state.pool},
        unsettled_before=before,
        settled=frozenset(
            move.id for move in state.moves if move.iteration == state.iteration and move.new not in UNSETTLED
        ),
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
