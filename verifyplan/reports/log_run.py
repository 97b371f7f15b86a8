"""The events that runs of every kind share, in plain words."""

from __future__ import annotations

from verifyplan.protocol.call import ToolUse
from verifyplan.protocol.event_run import (
    AnswerGiven,
    CallFailed,
    CallReplied,
    CallRequested,
    Checkpoint,
    CrossInputs,
    CrossOutcome,
    DebateInputs,
    DebateOutcome,
    PlanInputs,
    PlanOutcome,
    RunEnded,
    RunResumed,
    RunStarted,
)
from verifyplan.reports.usage import used_told
from verifyplan.reports.visible import one_line
from verifyplan.rules.convergence import verdict_words
from verifyplan.runlog.rules_version import rules_changed
from verifyplan.text import counted

RunEvent = RunStarted | RunResumed | CallRequested | CallReplied | CallFailed | AnswerGiven | Checkpoint | RunEnded
TEXT = 200
"""Longest text of somebody else's in a line."""


def said(text: object, limit: int = TEXT) -> str:
    """Somebody else's text as it stands in a line; a dash where it is blank."""
    return one_line(text, limit) or "-"


def listed(names: tuple[str, ...]) -> str:
    """Names in a row, cut as a text is; a dash for none."""
    return said(", ".join(names))


def told_of_run(event: RunEvent) -> str:
    """One event in plain words."""
    match event:
        case RunStarted():
            return _started(event)
        case RunResumed():
            torn = (
                f"; {counted(event.dropped_bytes, 'byte')} of a torn line were dropped" if event.dropped_bytes else ""
            )
            again = f"; asked again: {listed(event.repeated)}" if event.repeated else ""
            return f"Run taken up by another process{torn}{again}"
        case CallRequested():
            about = f" about {listed(event.items)}" if event.items else ""
            return f"{said(event.call_id)}: {said(event.worker)} is asked{about}"
        case CallReplied():
            return _replied(event)
        case CallFailed():
            return _failed(event)
        case AnswerGiven():
            about = f" {said(event.challenge)}" if event.challenge else ""
            note = f": {said(event.note)}" if event.note.strip() else ""
            return f"A person answers {said(event.pause_id)}: {event.answer}{about}{note}"
        case Checkpoint():
            waits = f"; {said(event.pause_id)} waits for an answer" if event.pause_id else ""
            return f"Checkpoint, {event.kind} ({listed(event.items)}): {said(event.message)}{waits}"
        case RunEnded():
            return _ended(event.outcome)


def _started(event: RunStarted) -> str:
    marks = ", synthetic" if event.synthetic else ""
    marks += f", repetition {event.repetition:,}" if event.repetition > 1 else ""
    marks += f", decided by version {event.rules_version} of the rules" if rules_changed(event) else ""
    about = f" of {said(event.task_key)}" if event.task_key.strip() else ""
    backend = f", backend {said(event.backend.get('name', 'unnamed'))}"
    return f"{_begun(event.inputs, about)}{backend}{marks}"


def _begun(inputs: CrossInputs | PlanInputs | DebateInputs, about: str) -> str:
    """What sort of run begins, and how much it is about."""
    match inputs:
        case PlanInputs():
            plan = f"{said(inputs.plan_name)}, {counted(len(inputs.plan_text.splitlines()), 'line')}"
            most = counted(inputs.settings.max_iterations, "iteration")
            return f"Plan run{about} begins: {plan}; policy {inputs.settings.policy}, at most {most}"
        case DebateInputs():
            texts = f"{counted(len(inputs.documents), 'document')}, {counted(len(inputs.challenges), 'challenge')}"
            return f"Debate{about} begins: {texts}; at most {counted(inputs.max_turns, 'turn')}"
        case CrossInputs():
            findings = f"{counted(len(inputs.findings), 'finding')} and {counted(len(inputs.plan_items), 'plan item')}"
            return f"Cross run{about} begins: {findings} by {listed(inputs.analysers)}"


def _replied(event: CallReplied) -> str:
    source = "" if event.source == "live" else f", from {event.source}"
    used = f"{used_told(event.usage)}{_tools(event.tools)}"
    return f"{said(event.call_id)}: replied after {seconds(event.duration_ms)}, {used}{source}"


def _failed(event: CallFailed) -> str:
    """How a call failed, and what it had used by then, if it used anything."""
    status = "out of budget" if event.status == "budget" else event.status
    used = f", {used_told(event.usage)}" if event.usage.total else ""
    when = f"{status} after {seconds(event.duration_ms)}{used}{_tools(event.tools)}"
    return f"{said(event.call_id)}: {when}: {said(event.reason)}"


def _tools(uses: tuple[ToolUse, ...]) -> str:
    refused = sum(bool(use.refused) for use in uses)
    tools = f", {counted(len(uses), 'tool call')}" if uses else ""
    return f"{tools} ({refused:,} refused)" if refused else tools


def seconds(milliseconds: int) -> str:
    """A duration for one line.

    >>> seconds(1234)
    '1.23 s'
    """
    return f"{milliseconds / 1000:,.2f} s"


def _ended(outcome: CrossOutcome | PlanOutcome | DebateOutcome) -> str:
    if isinstance(outcome, DebateOutcome):
        reason = f": {said(outcome.exit_reason)}" if outcome.exit_reason.strip() else ""
        return f"Debate ends in turn {outcome.turns:,}, {outcome.reason}: {outcome.status or 'no status'}{reason}"
    if isinstance(outcome, CrossOutcome):
        gate = ""
        if outcome.gate_passed is not None:
            gate = f"; the plan body {'passed' if outcome.gate_passed else 'failed'} its gate"
            gate += "" if outcome.gating else ", which only advises"
        return f"Run ends: {outcome.final_state} after {counted(outcome.total_rounds, 'round')}{gate}"
    verdict = verdict_words(outcome.verdict, outcome.strong)
    status = f", {outcome.status}" if outcome.status else ""
    reason = f": {said(outcome.exit_reason)}" if outcome.exit_reason.strip() else ""
    over = f", {said(outcome.overridden)} overridden" if outcome.overridden else ""
    score = f"; score {outcome.score} of 10" if outcome.score is not None else ""
    return f"Run ends by {outcome.ended_by}{status}: {verdict}{over}{reason}{score}"
