"""Report a run log line by line: one line an event, in plain words, for runs of every kind (rule E1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from verifyplan.protocol import event_cross, event_run
from verifyplan.protocol.call import ToolUse
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_plan import IterationClosed, IterationStarted
from verifyplan.reports.debate import VERBS
from verifyplan.reports.log_plan import challenge_event, loop_event, quoted, sentence_of
from verifyplan.reports.usage import usage_text
from verifyplan.reports.visible import one_line
from verifyplan.rules.convergence import verdict_words
from verifyplan.runlog.chain import Record
from verifyplan.runlog.current import current, is_reopened
from verifyplan.runlog.versions import rules_changed
from verifyplan.text import counted, span

_TURNS = (event_run.TurnSent, event_run.Attempt, event_run.TurnReplied)
_OUTER = (
    *(event_run.RunStarted, event_run.RunResumed, event_run.RunReopened, event_run.RunEnded),
    *(IterationStarted, IterationClosed),
)
"""Events at the margin: how a run and its iterations begin and end."""
_INNER = (event_cross.DispatchClosed, event_cross.FindingClassified, event_cross.VoteCast, event_cross.VoteRefused)
"""Events of a round of votes; those of a call's turns are as deep."""
_LATER_TURN = re.compile(r"/t(?!1$)\d+$")


def log_text(records: Sequence[Record]) -> Iterator[str]:
    """Yield a line for each record: its number, the time since the first record, and what happened.

    Events of an iteration are indented, those of a round of votes and the turns of a call once more. Long texts are
    cut; control characters are shown as codes. A time that cannot be read is shown as it is. Nothing is left out: one
    line per record; what a reopening superseded says so (rule E6).
    """
    counting = {record.seq for record in current(records)} if is_reopened(records) else None
    start = _time(records[0].at) if records else None
    width = max(4, len(str(records[-1].seq))) if records else 4
    inside = False
    for record in records:
        if isinstance(record.event, _OUTER):
            inside = False
        depth = inside + isinstance(record.event, (*_INNER, *_TURNS))
        mark = "" if counting is None or record.seq in counting else "[superseded] "
        yield f"{record.seq:>{width}} {_since(start, record.at):>12}  {'  ' * depth}{mark}{event_text(record.event)}"
        inside = inside or isinstance(record.event, IterationStarted)


def _time(at: str) -> datetime | None:
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        return None


def _since(start: datetime | None, at: str) -> str:
    """Return the seconds since the start, as +0.31 s; the time as it is where either cannot be read."""
    now = _time(at)
    try:
        return f"{(now - start).total_seconds():+,.2f} s" if now and start else one_line(at, 40)
    except TypeError:  # one names a zone, the other none
        return one_line(at, 40)


def event_text(event: Event) -> str:
    """Return an event in plain words, on one line."""
    writers = (_run_event, _turn_event, _vote_event, _message, loop_event, challenge_event, sentence_of)
    return next(filter(None, (write(event) for write in writers)))


def _names(names: tuple[str, ...]) -> str:
    """Return names in a row, cut as a text is; a dash for none."""
    return quoted(", ".join(names))


def _run_event(event: Event) -> str:
    """Return an event that runs of every kind share; empty for others."""
    match event:
        case event_run.RunStarted():
            return _started(event)
        case event_run.RunResumed():
            dropped = counted(event.dropped_bytes, "byte") if event.dropped_bytes else ""
            torn = f"; {dropped} of a torn line were dropped" if dropped else ""
            again = f"; asked again: {_names(event.repeated)}" if event.repeated else ""
            return f"Run taken up by another process{torn}{again}{_terms(event)}"
        case event_run.RunReopened():
            asked = f"asked again: {_names(event.retried)}" if event.retried else "what a limit kept back is asked"
            return f"Run reopened; {asked}; what line {event.superseded_from} began is decided anew{_terms(event)}"
        case event_run.CallRequested():
            about = f" about {_names(event.items)}" if event.items else ""
            return f"{quoted(event.call_id)}: {quoted(event.worker)} is asked{about}"
        case event_run.CallReplied():
            used = f"{usage_text(event.usage)}{_tool_calls(event.tools)}"
            return f"{quoted(event.call_id)}: replied after {_seconds(event.duration_ms)}, {used}{_source(event)}"
        case event_run.CallFailed():
            status = "out of budget" if event.status == "budget" else event.status
            used = f", {usage_text(event.usage)}" if event.usage.total or event.usage.uncounted else ""
            when = f"{status} after {_seconds(event.duration_ms)}{used}{_tool_calls(event.tools)}"
            return f"{quoted(event.call_id)}: {when}: {quoted(event.reason)}"
        case event_run.AnswerGiven():
            about = f" {quoted(event.challenge)}" if event.challenge else ""
            note = f": {quoted(event.note)}" if event.note.strip() else ""
            return f"A person answers {quoted(event.pause_id)}: {event.answer}{about}{note}"
        case event_run.Checkpoint():
            waits = f"; {quoted(event.pause_id)} waits for an answer" if event.pause_id else ""
            return f"Checkpoint, {event.kind} ({_names(event.items)}): {quoted(event.message)}{waits}"
        case event_run.RunEnded():
            return _ended(event.outcome)
    return ""


def _terms(event: event_run.RunResumed | event_run.RunReopened) -> str:
    """Return what holds from a resumption on, where it says so."""
    limits = event.limits.model_dump(exclude_none=True) if event.limits else {}
    terms = limits | {"timeout": event.timeout, "max_retries": event.max_retries}
    stated = ", ".join(f"{name} {value}" for name, value in terms.items() if value is not None)
    return f"; from here on {stated}" if stated else ""


def _started(event: event_run.RunStarted) -> str:
    inputs, about = event.inputs, f" of {quoted(event.task_key)}" if event.task_key.strip() else ""
    match inputs:
        case event_run.PlanInputs():
            plan = f"{quoted(inputs.plan_name)}, {counted(len(inputs.plan_text.splitlines()), 'line')}"
            most = counted(inputs.settings.max_iterations, "iteration")
            begins = f"Plan run{about} begins: {plan}; policy {inputs.settings.policy}, at most {most}"
        case event_run.DebateInputs():
            texts = f"{counted(len(inputs.documents), 'document')}, {counted(len(inputs.challenges), 'challenge')}"
            begins = f"Debate{about} begins: {texts}; at most {counted(inputs.max_turns, 'turn')}"
        case event_run.CrossInputs():
            findings = f"{counted(len(inputs.findings), 'finding')} and {counted(len(inputs.plan_items), 'plan item')}"
            begins = f"Cross run{about} begins: {findings} by {_names(inputs.analysers)}"
    notes = ", synthetic" if event.synthetic else ""
    notes += f", repetition {event.repetition:,}" if event.repetition > 1 else ""
    notes += f", decided by version {event.rules_version} of the rules" if rules_changed(event) else ""
    return f"{begins}, backend {quoted(event.backend.get('name', 'unnamed'))}{notes}"


def _ended(outcome: event_run.CrossOutcome | event_run.PlanOutcome | event_run.DebateOutcome) -> str:
    if isinstance(outcome, event_run.CrossOutcome):
        gate = ""
        if outcome.gate_passed is not None:
            gate = f"; the plan body {'passed' if outcome.gate_passed else 'failed'} its gate"
            gate += "" if outcome.gating else ", which only advises"
        return f"Run ends: {outcome.final_state} after {counted(outcome.total_rounds, 'round')}{gate}"
    reason = f": {quoted(outcome.exit_reason)}" if outcome.exit_reason.strip() else ""
    if isinstance(outcome, event_run.DebateOutcome):
        return f"Debate ends in turn {outcome.turns:,}, {outcome.reason}: {outcome.status or 'no status'}{reason}"
    verdict = verdict_words(outcome.verdict, outcome.strong)
    over = f", {quoted(outcome.overridden)} overridden" if outcome.overridden else ""
    score = f"; score {outcome.score} of 10" if outcome.score is not None else ""
    return f"Run ends by {outcome.ended_by}, {outcome.status}: {verdict}{over}{reason}{score}"


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:,.2f} s"


def _source(event: event_run.CallReplied | event_run.TurnReplied) -> str:
    """Return where a reply came from, unless it is live."""
    return "" if event.source == "live" else f", from {event.source}"


def _tool_calls(uses: tuple[ToolUse, ...]) -> str:
    tools = f", {counted(len(uses), 'look-up')}" if uses else ""
    return tools + _refused(uses)


def _refused(uses: tuple[ToolUse, ...]) -> str:
    refused = sum(bool(use.refused) for use in uses)
    return f" ({refused:,} refused)" if refused else ""


def _turn_event(event: Event) -> str:
    """Return what a model is sent, or why it stopped and what it used; not what it said (rule G1); empty for others."""
    if isinstance(event, event_run.TurnSent):
        return f"{quoted(event.call_id)}: {quoted(event.model)} is sent {' and '.join(_sent(event))}"
    if isinstance(event, event_run.Attempt):
        return _attempt(event)
    if not isinstance(event, event_run.TurnReplied):
        return ""
    batch = f", in batch {quoted(event.batch)}" if event.batch else ""
    used = f"{usage_text(event.usage)}{_source(event)}{batch}"
    stopped = quoted(event.message.get("stop_reason") or "broken off")
    return f"{quoted(event.call_id)}: replied after {_seconds(event.duration_ms)}, {used}, {stopped}"


def _attempt(event: event_run.Attempt) -> str:
    """Return how one HTTP request ended, and what follows."""
    status = "" if event.status is None else f" {event.status}"
    fault = f" {quoted(event.error)}" if event.error else ""
    wait = event.asked_wait_s
    asks = f"; the endpoint asks to wait {span(wait)} (the run can be stopped and resumed)" if wait else ""
    again = "" if event.retry_in_s is None else f"; sent again in {span(event.retry_in_s)}"
    billed = "; perhaps billed" if event.perhaps_billed else ""
    after = f"after {_seconds(event.duration_ms)}"
    return f"{quoted(event.call_id)}: attempt {event.number}:{status}{fault} {after}{asks}{again}{billed}"


def _sent(event: event_run.TurnSent) -> Iterator[str]:
    """Yield what a turn adds: the request and what was opened for it, or results of tools and our own words."""
    first = not _LATER_TURN.search(event.call_id)
    results = 0 if first else sum(block.get("type") == "tool_result" for block in event.added)
    texts = [str(block.get("text") or "") for block in event.added if block.get("type") != "tool_result"]
    if first:
        yield "the request"
        if event.tools:
            yield f"{counted(len(event.tools), 'excerpt')} of cited places{_refused(event.tools)}"
    elif not event.added:
        yield "nothing more"
    if results:
        yield f"{counted(results, 'result')} of tools{_refused(event.tools)}"
    if texts:
        yield f"these words: {quoted(' '.join(texts))}"


def _vote_event(event: Event) -> str:
    """Return an event of votes, `part` named where it is not plain from the id; empty for others."""
    match event:
        case event_cross.FindingGrouped():
            merged = f", merged with {_names(event.merged_ids)}" if event.merged_ids else ""
            by = f" found by {_names(event.discoverers)}" if event.discoverers else ""
            return f"{quoted(event.finding_id)} ({event.part}){by}{merged}: {quoted(event.summary)}"
        case event_cross.DispatchClosed():
            return _dispatch(event)
        case event_cross.VoteCast():
            filled = ", filled in" if event.basis_filled else ""
            verdict = event.verdict + (f" ({event.disagree_basis}{filled})" if event.disagree_basis else "")
            return f"{quoted(event.worker)} on {quoted(event.finding_id)}: {verdict}: {quoted(event.explanation)}"
        case event_cross.FindingClassified():
            how = "at the end" if event.final else f"in round {event.round}"
            return f"{quoted(event.finding_id)} is {event.classification} {how} (rule {quoted(event.rule)})"
        case event_cross.RoundClosed():
            settled = f"{event.resolved_count} of {event.input_queue_size} settled"
            return f"Round {event.round} of {event.part} closed: {settled}, {event.carried_forward_count} carried on"
    return ""


def _dispatch(event: event_cross.DispatchClosed) -> str:
    after = f" after {counted(event.duration_ms, 'millisecond')}" if event.duration_ms is not None else ""
    skipped = f", skipped: {quoted(event.skipped)}" if event.skipped else ""
    reason = f" ({quoted(event.reason)})" if event.reason else ""
    return f"Round {event.round}, {quoted(event.worker)}: {event.status or 'not asked'}{after}{skipped}{reason}"


def _message(event: Event) -> str:
    """Return a message of a debate; empty for other events."""
    if not isinstance(event, event_cross.MessagePublished):
        return ""
    message = event.message
    diff = f" (diff of {counted(len(event.diff.splitlines()), 'line')})" if event.diff is not None else ""
    risks = f"; {counted(len(message.risks), 'risk')}" if message.risks else ""
    return f"Turn {message.turn:,}: {message.role} {VERBS[message.type]}{diff}: {quoted(message.content)}{risks}"
