"""What the synthesizer settles, as far as rules allow: statuses, promotions, directives (rules A2, A5, A7, A9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import ValidationError

from verifyplan.protocol.event_plan import (
    ChallengeAdmitted,
    DirectiveIssued,
    DirectiveRefused,
    PromotionRefused,
    ScoreDisputed,
    ScoreGiven,
    ScoreRefused,
    StatusChanged,
    StatusRefused,
)
from verifyplan.protocol.records import DIMENSIONS, UNSETTLED, Dimension, DimensionScore, Directive
from verifyplan.protocol.role_call import Answer, ScoreAnswer, StatusChange, SynthesizerAnswer
from verifyplan.rules import directives as directive_rules
from verifyplan.rules.lifecycle import check_transition, consensus_refusal, decision_refusal, rests_on_evidence
from verifyplan.rules.scoring import audit, final_score
from verifyplan.runs.plan.active_run import ActiveRun
from verifyplan.runs.plan.admission import promotion_refusal


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


async def score(hub: ActiveRun) -> int | None:
    """Ask for scores and for their audit; the final score, None unless all six dimensions count.

    Nothing is asked once the tokens are used up, and no audit of a challenger that failed in this iteration. A replay
    whose verdict stands where none was asked for goes without: `Past.unscored` tells of it.
    """
    if hub.budget_used_up:
        return None
    asked = f"i{hub.state.iteration}/score"
    if hub.caller.past.may_go_unscored and hub.caller.past.result(asked) is None:
        hub.caller.past.unscored = asked
        return None
    [answer] = await hub.ask("score")
    given = _given(hub, answer, "synthesizer")
    if not hub.budget_used_up:
        [answer] = await hub.ask("audit")
        audited = _given(hub, answer, "challenger")
        _dispute(hub, given, audited)
    return final_score(given, hub.settings.weights) if len(given) == len(DIMENSIONS) else None


def _dispute(hub: ActiveRun, given: Mapping[str, int], audited: Mapping[str, int]) -> None:
    """Tell where the two scores lie apart, in the dimensions that both have, whether or not there is a final score."""
    both: list[Dimension] = [dimension for dimension in DIMENSIONS if dimension in given and dimension in audited]
    alike: dict[str, int] = dict.fromkeys(
        DIMENSIONS, 1
    )  # the audit compares all six: where one score is missing, nothing differs
    own, other = ({**alike, **{dimension: scores[dimension] for dimension in both}} for scores in (given, audited))
    for dimension in audit(own, other):
        hub.emit(
            ScoreDisputed(
                iteration=hub.state.iteration,
                dimension=dimension,
                synthesizer=given[dimension],
                challenger=audited[dimension],
            )
        )


def _given(hub: ActiveRun, answer: Answer | None, by: Literal["synthesizer", "challenger"]) -> dict[str, int]:
    """The scores that count, by dimension; what does not count is told with its reason."""
    if not isinstance(answer, ScoreAnswer):
        return {}
    counted: dict[str, int] = {}
    for dimension in DIMENSIONS:
        raw = answer.scores.get(dimension)
        try:
            if raw is None:
                raise ValueError("is missing")
            checked = DimensionScore(score=raw.score, evidence=raw.evidence)
        except ValueError as error:
            _refuse(hub, by, dimension, raw.model_dump() if raw else None, _words(error))
            continue
        counted[dimension] = checked.score
        hub.emit(
            ScoreGiven(
                iteration=hub.state.iteration,
                by=by,
                dimension=dimension,
                score=checked.score,
                evidence=checked.evidence,
            )
        )
    for name in sorted(answer.scores.keys() - set(DIMENSIONS)):
        _refuse(hub, by, name, answer.scores[name].model_dump(), "is no dimension")
    return counted


def _refuse(
    hub: ActiveRun, by: Literal["synthesizer", "challenger"], dimension: str, received: object, reason: str
) -> None:
    hub.emit(ScoreRefused(iteration=hub.state.iteration, by=by, dimension=dimension, received=received, reason=reason))


def _words(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    wrong = {str(one["loc"][0]) for one in error.errors(include_url=False, include_input=False)}
    told = {"score": "the score is no whole number from 1 to 10", "evidence": "it comes without evidence"}
    return "; ".join(told[name] for name in sorted(wrong))
