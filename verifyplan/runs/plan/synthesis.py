"""Settle what the synthesizer answered, as far as rules allow, and score the plan (rules A2, A5, A7, A9, A10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import ValidationError

from verifyplan.engine.calls import CensoredError
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
from verifyplan.protocol.records import DIMENSIONS, UNSETTLED, DimensionScore
from verifyplan.protocol.role_call import RoleAnswer, ScoreAnswer, StatusChange, SynthesizerAnswer
from verifyplan.protocol.vote import Classification
from verifyplan.rules import directives as directive_rules
from verifyplan.rules.lifecycle import (
    consensus_refusal,
    decision_refusal,
    rests_on_evidence,
    transition_refusal,
    uncited_refusal,
)
from verifyplan.rules.scoring import audit, final_score
from verifyplan.runs.plan.active_run import ActiveRun
from verifyplan.runs.plan.admission import promotion_refusal

Scorer = Literal["synthesizer", "challenger"]


def settle(run: ActiveRun, answer: SynthesizerAnswer) -> None:
    """Carry out the synthesizer's answer, in this order: status changes, promotions, directives."""
    before = [challenge.id for challenge in run.state.unsettled]
    for change in answer.changes:
        _change_status(run, change)
    for name in dict.fromkeys(answer.promotions):
        if reason := promotion_refusal(run, name):
            run.record(PromotionRefused, id=name, reason=reason)
        else:
            run.record(ChallengeAdmitted, id=name, promoted=True)
    circumstances = _circumstances(run, before)
    for directive in answer.directives:
        if reason := directive_rules.refusal(directive, circumstances):
            run.record(DirectiveRefused, directive=directive, reason=reason)
        else:
            run.record(DirectiveIssued, directive=directive)


def _change_status(run: ActiveRun, change: StatusChange) -> None:
    """Change the status of a challenge, or record why it stays; a resolution that cites nothing is marked.

    An id that does not exist, or the challenge's own, is no evidence.
    """
    state, name, resolution = run.state, change.challenge, change.resolution
    known = state.challenges.keys() | state.unknowns.keys() | state.contexts.keys() | state.risks.keys()
    evidence = rests_on_evidence(resolution, name, known)
    if reason := _status_refusal(run, change, evidence=evidence):
        run.record(StatusRefused, id=name, new=change.status, resolution=resolution, reason=reason)
        return
    run.record(
        StatusChanged,
        id=name,
        old=state.challenges[name].status,
        new=change.status,
        resolution=resolution,
        uncited=not evidence,
    )


def _status_refusal(run: ActiveRun, change: StatusChange, *, evidence: bool) -> str:
    """Return why a change is not carried out; empty if it is (rules A2, A4, A9).

    CensoredError in a replay if that depends on votes of the panel on a challenge that it was never asked about.
    """
    state, name, new = run.state, change.challenge, change.status
    if name in state.overflow:
        return "it is in overflow"
    if name not in state.admitted:
        return "there is no such challenge"
    challenge, classified = state.challenges[name], state.classes.get((state.iteration, name))
    panel_class = classified.classification if classified else None

    def refusal(panel_class: Classification | None) -> str:
        return (
            transition_refusal(challenge.severity, challenge.status, new, change.resolution)
            or consensus_refusal(challenge.severity, new, panel_class, evidence=evidence, rules=run.rules)
            or decision_refusal(new, change.resolution, evidence=evidence)
            or uncited_refusal(new, evidence=evidence, rules=run.rules)
        )

    call_id = run.caller.never_asked.get(name, "")
    is_open = call_id.startswith(f"i{state.iteration}/")  # its class is that of votes that nobody cast
    if is_open and bool(refusal("full-consensus")) != bool(refusal("contested")):
        raise CensoredError(call_id)
    return refusal(panel_class)


def _circumstances(run: ActiveRun, before: Sequence[str]) -> directive_rules.Circumstances:
    """Return what the refusal of a directive depends on; `before` are the challenges that were unsettled before."""
    state = run.state
    return directive_rules.Circumstances(
        iteration=state.iteration,
        max_iterations=run.settings.max_iterations,
        challenges={challenge.id: challenge for challenge in state.pool},
        unsettled_before=before,
        settled=frozenset(
            move.id for move in state.moves if move.iteration == state.iteration and move.new not in UNSETTLED
        ),
        surfaced_before=frozenset(name for name in state.contexts if state.last_changed_in[name] < state.iteration),
        answered={
            name: unknown for name, unknown in state.unknowns.items() if state.last_changed_in[name] == state.iteration
        },
        probed=frozenset(risk.generates_challenge for risk in state.risks.values() if risk.generates_challenge),
        user_spoke=any(
            answer.answer == "context" and state.answered_in[name] >= state.iteration - 1
            for name, answer in state.answers.items()
        ),
        rules=run.rules,
    )


async def score(run: ActiveRun) -> int | None:
    """Ask for scores and for their audit, and return the final score, None unless all six dimensions count.

    Nothing is asked once the tokens are used up, and no audit of a challenger that failed in this iteration. A replay
    under other rules whose scores were never asked for goes without.
    """
    if run.is_used_up("score") or run.caller.past.goes_unscored(run.call_id("score")):
        return None
    [answer] = await run.call("score")
    scores = _counted_scores(run, answer, "synthesizer")
    if not run.is_used_up("audit"):
        [answer] = await run.call("audit")
        _record_disputes(run, scores, _counted_scores(run, answer, "challenger"))
    return final_score(scores, run.settings.weights) if len(scores) == len(DIMENSIONS) else None


def _record_disputes(run: ActiveRun, scores: Mapping[str, int], audited: Mapping[str, int]) -> None:
    """Record where the two scores differ by too much, in the dimensions that both have, final score or not."""
    # the audit compares all six: where one score is missing, nothing differs
    missing: dict[str, int] = dict.fromkeys(set(DIMENSIONS) - (scores.keys() & audited.keys()), 1)
    for dimension in audit({**scores, **missing}, {**audited, **missing}):
        run.record(ScoreDisputed, dimension=dimension, synthesizer=scores[dimension], challenger=audited[dimension])


def _counted_scores(run: ActiveRun, answer: RoleAnswer | None, by: Scorer) -> dict[str, int]:
    """Return the scores that count, by dimension; record each, and why others do not count."""
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
            received, reason = raw.model_dump() if raw else None, _score_refusal(error)
            run.record(ScoreRefused, by=by, dimension=dimension, received=received, reason=reason)
            continue
        counted[dimension] = checked.score
        run.record(ScoreGiven, by=by, dimension=dimension, score=checked.score, evidence=checked.evidence)
    for name in sorted(answer.scores.keys() - set(DIMENSIONS)):
        received = answer.scores[name].model_dump()
        run.record(ScoreRefused, by=by, dimension=name, received=received, reason="is no dimension")
    return counted


def _score_refusal(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    wrong = {str(detail["loc"][0]) for detail in error.errors(include_url=False, include_input=False)}
    reasons = {"score": "the score is no whole number from 1 to 10", "evidence": "it comes without evidence"}
    return "; ".join(reasons[name] for name in sorted(wrong))
