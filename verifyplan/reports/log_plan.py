"""The events of a plan run, in plain words."""

from __future__ import annotations

from verifyplan.protocol.event_plan import (
    AgentFailed,
    CeilingPassed,
    ChallengeAdmitted,
    ChallengeOverflowed,
    ChallengeRaised,
    ChallengeRefused,
    ContextSurfaced,
    ConvergenceEvaluated,
    DirectiveIssued,
    DirectiveRefused,
    EntryRefused,
    IterationClosed,
    IterationStarted,
    PlanAssessed,
    PromotionRefused,
    Restated,
    RiskProbed,
    ScoreDisputed,
    ScoreGiven,
    ScoreRefused,
    StatusChanged,
    StatusRefused,
    UnknownListed,
    UnknownResolved,
)
from verifyplan.reports.log_run import said
from verifyplan.text import counted

CourseEvent = (
    PlanAssessed
    | IterationStarted
    | IterationClosed
    | AgentFailed
    | EntryRefused
    | CeilingPassed
    | DirectiveIssued
    | DirectiveRefused
    | ConvergenceEvaluated
)
ChallengeEvent = (
    ChallengeRaised
    | ChallengeRefused
    | ChallengeAdmitted
    | ChallengeOverflowed
    | PromotionRefused
    | StatusChanged
    | StatusRefused
)
FoundEvent = (
    Restated
    | UnknownListed
    | UnknownResolved
    | ContextSurfaced
    | RiskProbed
    | ScoreGiven
    | ScoreRefused
    | ScoreDisputed
)
PlanEvent = CourseEvent | ChallengeEvent | FoundEvent


def told_of_plan(event: PlanEvent) -> str:
    """One event in plain words."""
    if isinstance(event, CourseEvent):
        return _course(event)
    return _challenge(event) if isinstance(event, ChallengeEvent) else _found(event)


def _course(event: CourseEvent) -> str:
    match event:
        case PlanAssessed():
            team = f"{event.team} team" if event.team else "no team: trivial"
            size = f"complexity {event.complexity} of 16, {counted(event.steps, 'step')}, {event.quality}"
            return f"Plan sized, {said(event.title)}: {size}; {team}"
        case IterationStarted():
            return f"Iteration {event.iteration} begins{', tightened' if event.tightened else ''}"
        case IterationClosed():
            left, score = event.state.convergence, event.state.quality_score
            open_ = f"{left.blocking_open} BLOCKING and {left.significant_open} SIGNIFICANT open"
            scored = f", score {score}" if score is not None else ""
            return f"Iteration {event.state.iteration} closed: {left.status}, {open_}{scored}"
        case AgentFailed():
            return f"{event.agent} failed ({said(event.call_id)}): {said(event.reason)}; {said(event.consequence)}"
        case CeilingPassed():
            return f"{said(event.call_id)} reports {event.used} calls of {event.tool}, more than its {event.ceiling}"
        case EntryRefused():
            part = f", its {event.part}" if event.part else ""
            return (
                f"Entry {event.position} of {said(event.call_id)}'s {event.field}{part} refused: {said(event.reason)}"
            )
        case DirectiveIssued():
            return f"Directive for the next iteration: {said(event.directive)}"
        case DirectiveRefused():
            return f"Directive refused, {said(event.directive)}: {said(event.reason)}"
        case ConvergenceEvaluated():
            return _ruling(event)


def _ruling(event: ConvergenceEvaluated) -> str:
    verdict = f" {event.verdict}{' (strong)' if event.strong else ''}" if event.verdict else ""
    open_ = f"{event.blocking_open} BLOCKING and {event.significant_open} SIGNIFICANT open"
    stated = " ".join(filter(None, (event.stated_status, event.stated_verdict)))
    differs = f"; the synthesizer said {stated or 'something else'}" if event.differs else ""
    return f"The counts give {event.status}{verdict}: {open_}{differs}"


def _challenge(event: ChallengeEvent) -> str:
    match event:
        case ChallengeRaised():
            return _raised(event)
        case ChallengeRefused():
            return f"Challenge by {event.origin} refused ({said(event.reason)}): {said(event.claim)}"
        case ChallengeAdmitted():
            return f"{said(event.id)} admitted{' out of overflow' if event.promoted else ''}"
        case ChallengeOverflowed():
            return f"{said(event.id)} put in overflow as {said(event.tag)}: {said(event.reason)}"
        case PromotionRefused():
            return f"{said(event.id)} stays in overflow: {said(event.reason)}"
        case StatusChanged():
            flag = ", cites nothing" if event.uncited else ""
            return f"{said(event.id)} {event.old} to {event.new} by {event.by}{flag}: {said(event.resolution)}"
        case StatusRefused():
            return f"{said(event.id)} not made {event.new} ({said(event.reason)}): {said(event.resolution)}"


def _raised(event: ChallengeRaised) -> str:
    one = event.challenge
    source = f" for {said(event.raised_by)}" if event.raised_by else ""
    source += ", as the rules ask" if event.owed else ""
    source += f", disputing {event.disputes}" if event.disputes else ""
    kind = f"{one.severity}, {one.confidence}{', cites no place' if event.uncited else ''}"
    return f"{one.id} raised by {one.origin}{source} ({kind}): {said(one.claim)}"


def _found(event: FoundEvent) -> str:
    match event:
        case Restated():
            return f"{said(event.role)} said {said(event.into)} again ({event.what}): {said(event.text)}"
        case UnknownListed():
            one = event.unknown
            affects = f", affects {one.affects_challenge}" if one.affects_challenge else ""
            return f"{one.id} asked ({one.type}{affects}): {said(one.description)}"
        case UnknownResolved():
            return f"{said(event.id)} {event.resolution}: {said(event.finding or '')}"
        case ContextSurfaced():
            found = event.context
            where = f"{found.source}, {said(found.location)} ({found.impact})"
            return f"{found.id} surfaced from {where}: {said(found.relevance)}"
        case RiskProbed():
            risk = event.risk
            kind = f"{risk.severity}, {risk.probability}"
            return f"{risk.id} probed ({kind}): {said(risk.risk)} Trigger: {said(risk.trigger)}"
        case ScoreGiven():
            return f"{event.by} scores {event.dimension} {event.score}: {said(event.evidence)}"
        case ScoreRefused():
            received = said(repr(event.received), 80)
            return f"Score by {event.by} for {said(event.dimension)} refused, {received}: {said(event.reason)}"
        case ScoreDisputed():
            both = f"synthesizer {event.synthesizer}, challenger {event.challenger}"
            return f"{event.dimension} disputed: {both}"
