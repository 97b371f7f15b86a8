"""Write the events of a plan run in plain words, for the report of a log."""

from __future__ import annotations

from verifyplan.protocol import event_plan
from verifyplan.protocol.event import Event
from verifyplan.protocol.records import Convergence
from verifyplan.reports.visible import one_line
from verifyplan.text import counted

MAX_CHARACTERS = 200
"""Longest text of somebody else's in a line."""


def quoted(text: object, limit: int = MAX_CHARACTERS) -> str:
    """Return somebody else's text for use in a line; a dash where it is blank."""
    return one_line(text, limit) or "-"


def loop_event(event: Event) -> str:
    """Return an event of the convergence loop in plain words; empty for others."""
    match event:
        case event_plan.PlanAssessed():
            team = f"{event.team} team" if event.team else "no team: trivial"
            size = f"complexity {event.complexity} of 16, {counted(event.steps, 'step')}, {event.quality}"
            return f"Plan sized, {quoted(event.title)}: {size}; {team}"
        case event_plan.IterationStarted():
            return f"Iteration {event.iteration} begins{', tightened' if event.tightened else ''}"
        case event_plan.IterationClosed():
            left, score = event.state.convergence, event.state.quality_score
            scored = f", score {score}" if score is not None else ""
            return f"Iteration {event.state.iteration} closed: {left.status}, {_open_text(left)}{scored}"
        case event_plan.AgentFailed():
            failure = f"{event.agent} failed ({quoted(event.call_id)}): {quoted(event.reason)}"
            return f"{failure}; {quoted(event.consequence)}"
        case event_plan.CeilingPassed():
            calls = f"{event.used} calls of {event.tool}"
            return f"{quoted(event.call_id)} reports {calls}, more than its {event.ceiling}"
        case event_plan.EntryRefused():
            part = f", its {event.part}" if event.part else ""
            entry = f"Entry {event.position} of {quoted(event.call_id)}'s {event.field}{part}"
            return f"{entry} refused: {quoted(event.reason)}"
        case event_plan.DirectiveIssued():
            return f"Directive for the next iteration: {quoted(event.directive)}"
        case event_plan.DirectiveRefused():
            return f"Directive refused, {quoted(event.directive)}: {quoted(event.reason)}"
        case event_plan.ConvergenceEvaluated():
            return _ruling(event)
    return ""


def _open_text(left: event_plan.ConvergenceEvaluated | Convergence) -> str:
    return f"{left.blocking_open} BLOCKING and {left.significant_open} SIGNIFICANT open"


def _ruling(event: event_plan.ConvergenceEvaluated) -> str:
    verdict = f" {event.verdict}{' (strong)' if event.strong else ''}" if event.verdict else ""
    stated = " ".join(filter(None, (event.stated_status, event.stated_verdict)))
    differs = f"; the synthesizer said {stated or 'something else'}" if event.differs else ""
    return f"The counts give {event.status}{verdict}: {_open_text(event)}{differs}"


def challenge_event(event: Event) -> str:
    """Return an event of a challenge in plain words; empty for others."""
    match event:
        case event_plan.ChallengeRaised():
            challenge = event.challenge
            source = f" for {quoted(event.raised_by)}" if event.raised_by else ""
            source += ", as the rules ask" if event.owed else ""
            source += f", disputing {event.disputes}" if event.disputes else ""
            kind = f"{challenge.severity}, {challenge.confidence}{', cites no place' if event.uncited else ''}"
            return f"{challenge.id} raised by {challenge.origin}{source} ({kind}): {quoted(challenge.claim)}"
        case event_plan.ChallengeRefused():
            return f"Challenge by {event.origin} refused ({quoted(event.reason)}): {quoted(event.claim)}"
        case event_plan.ChallengeAdmitted():
            return f"{quoted(event.id)} admitted{' out of overflow' if event.promoted else ''}"
        case event_plan.ChallengeOverflowed():
            return f"{quoted(event.id)} put in overflow as {quoted(event.tag)}: {quoted(event.reason)}"
        case event_plan.PromotionRefused():
            return f"{quoted(event.id)} stays in overflow: {quoted(event.reason)}"
        case event_plan.StatusChanged():
            flag = ", cites nothing" if event.uncited else ""
            return f"{quoted(event.id)} {event.old} to {event.new} by {event.by}{flag}: {quoted(event.resolution)}"
        case event_plan.StatusRefused():
            return f"{quoted(event.id)} not made {event.new} ({quoted(event.reason)}): {quoted(event.resolution)}"
    return ""


def research_or_score_event(event: Event) -> str:
    """Return an event of research or of scores in plain words; empty for others."""
    match event:
        case event_plan.Restated():
            return f"{quoted(event.role)} said {quoted(event.into)} again ({event.what}): {quoted(event.text)}"
        case event_plan.UnknownListed():
            unknown = event.unknown
            affects = f", affects {unknown.affects_challenge}" if unknown.affects_challenge else ""
            return f"{unknown.id} asked ({unknown.type}{affects}): {quoted(unknown.description)}"
        case event_plan.UnknownResolved():
            return f"{quoted(event.id)} {event.resolution}: {quoted(event.finding or '')}"
        case event_plan.ContextSurfaced():
            context = event.context
            where = f"{context.source}, {quoted(context.location)} ({context.impact})"
            return f"{context.id} surfaced from {where}: {quoted(context.relevance)}"
        case event_plan.RiskProbed():
            risk = event.risk
            kind = f"{risk.severity}, {risk.probability}"
            return f"{risk.id} probed ({kind}): {quoted(risk.risk)} Trigger: {quoted(risk.trigger)}"
        case event_plan.ScoreGiven():
            return f"{event.by} scores {event.dimension} {event.score}: {quoted(event.evidence)}"
        case event_plan.ScoreRefused():
            received = quoted(repr(event.received), 80)
            return f"Score by {event.by} for {quoted(event.dimension)} refused, {received}: {quoted(event.reason)}"
        case event_plan.ScoreDisputed():
            both = f"synthesizer {event.synthesizer}, challenger {event.challenger}"
            return f"{event.dimension} disputed: {both}"
    return ""
