"""Write the events of a plan run in plain words, for the report of a log."""

from __future__ import annotations

from string import Formatter
from typing import Any

from verifyplan.protocol import event_cross, event_plan
from verifyplan.protocol.event import Event
from verifyplan.protocol.records import Convergence
from verifyplan.reports.visible import MAX_LINE_CHARACTERS, one_line
from verifyplan.text import counted

_SENTENCES: dict[type, str] = {
    event_cross.FindingQueued: "{0.finding_id!q} ({0.part}) waits for votes",
    event_cross.VoteRefused: "Vote of {0.worker!q} on {0.finding_id!q} refused: {0.reason!q}",
    event_plan.AgentFailed: "{0.agent} failed ({0.call_id!q}): {0.reason!q}; {0.consequence!q}",
    event_plan.CeilingPassed: "{0.call_id!q} reports {0.used} calls of {0.tool}, more than its {0.ceiling}",
    event_plan.ChallengeOverflowed: "{0.id!q} put in overflow as {0.tag!q}: {0.reason!q}",
    event_plan.ChallengeRefused: "Challenge by {0.origin} refused ({0.reason!q}): {0.claim!q}",
    event_plan.ContextSurfaced: (
        "{0.context.id} surfaced from {0.context.source}, {0.context.location!q} ({0.context.impact}): "
        "{0.context.relevance!q}"
    ),
    event_plan.DirectiveIssued: "Directive for the next iteration: {0.directive!q}",
    event_plan.DirectiveRefused: "Directive refused, {0.directive!q}: {0.reason!q}",
    event_plan.PromotionRefused: "{0.id!q} stays in overflow: {0.reason!q}",
    event_plan.Restated: "{0.role!q} said {0.into!q} again ({0.what}): {0.text!q}",
    event_plan.RiskProbed: (
        "{0.risk.id} probed ({0.risk.severity}, {0.risk.probability}): {0.risk.risk!q} Trigger: {0.risk.trigger!q}"
    ),
    event_plan.ScoreDisputed: "{0.dimension} disputed: synthesizer {0.synthesizer}, challenger {0.challenger}",
    event_plan.ScoreGiven: "{0.by} scores {0.dimension} {0.score}: {0.evidence!q}",
    event_plan.StatusRefused: "{0.id!q} not made {0.new} ({0.reason!q}): {0.resolution!q}",
    event_plan.UnknownResolved: "{0.id!q} {0.resolution}: {0.finding!q}",
}
"""The sentences of events that say the same whatever they hold; {!q} is a text of somebody else's."""


def quoted(text: object, limit: int = MAX_LINE_CHARACTERS) -> str:
    """Return somebody else's text for use in a line; a dash where it is blank."""
    return one_line("" if text is None else text, limit) or "-"


class _SentenceFormatter(Formatter):
    def convert_field(self, value: Any, conversion: str | None) -> Any:
        return quoted(value) if conversion == "q" else super().convert_field(value, conversion)


def sentence_of(event: Event) -> str:
    """Return an event by its sentence in the table; empty for others."""
    return _SentenceFormatter().format(_SENTENCES.get(type(event), ""), event)


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
        case event_plan.EntryRefused():
            part = f", its {event.part}" if event.part else ""
            entry = f"Entry {event.position} of {quoted(event.call_id)}'s {event.field}{part}"
            return f"{entry} refused: {quoted(event.reason)}"
        case event_plan.ConvergenceEvaluated():
            verdict = f" {event.verdict}{' (strong)' if event.strong else ''}" if event.verdict else ""
            stated = " ".join(filter(None, (event.stated_status, event.stated_verdict)))
            differs = f"; the synthesizer said {stated or 'something else'}" if event.differs else ""
            return f"The counts give {event.status}{verdict}: {_open_text(event)}{differs}"
    return ""


def _open_text(left: event_plan.ConvergenceEvaluated | Convergence) -> str:
    return f"{left.blocking_open} BLOCKING and {left.significant_open} SIGNIFICANT open"


def challenge_event(event: Event) -> str:
    """Return an event of a challenge, of research or of a score in plain words; empty for others."""
    match event:
        case event_plan.ChallengeRaised():
            challenge = event.challenge
            source = f" for {quoted(event.raised_by)}" if event.raised_by else ""
            source += ", as the rules ask" if event.owed else ""
            source += f", disputing {event.disputes}" if event.disputes else ""
            kind = f"{challenge.severity}, {challenge.confidence}{', cites no place' if event.uncited else ''}"
            return f"{challenge.id} raised by {challenge.origin}{source} ({kind}): {quoted(challenge.claim)}"
        case event_plan.ChallengeAdmitted():
            return f"{quoted(event.id)} admitted{' out of overflow' if event.promoted else ''}"
        case event_plan.StatusChanged():
            flag = ", cites nothing" if event.uncited else ""
            return f"{quoted(event.id)} {event.old} to {event.new} by {event.by}{flag}: {quoted(event.resolution)}"
        case event_plan.UnknownListed():
            unknown = event.unknown
            affects = f", affects {unknown.affects_challenge}" if unknown.affects_challenge else ""
            return f"{unknown.id} asked ({unknown.type}{affects}): {quoted(unknown.description)}"
        case event_plan.ScoreRefused():
            received = quoted(repr(event.received), 80)
            return f"Score by {event.by} for {quoted(event.dimension)} refused, {received}: {quoted(event.reason)}"
    return ""
