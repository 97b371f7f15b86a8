"""The progress of a run in words and counts: a fold of its events that stays small however long the run is."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable
from html import escape

from verifyplan.engine.usage_limit import UsageLimit
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import (
    DispatchClosed,
    FindingClassified,
    FindingGrouped,
    FindingQueued,
    MessagePublished,
    VoteCast,
)
from verifyplan.protocol.event_plan import (
    ChallengeAdmitted,
    ChallengeRaised,
    IterationStarted,
    ScoreGiven,
    StatusChanged,
)
from verifyplan.protocol.event_run import (
    Attempt,
    CallFailed,
    CallReplied,
    CallRequested,
    CrossInputs,
    DebateInputs,
    PlanInputs,
    RunEnded,
    RunStarted,
    TurnReplied,
    TurnSent,
)
from verifyplan.protocol.records import SEVERITIES, UNSETTLED
from verifyplan.protocol.settings import Limits
from verifyplan.reports.log import event_text
from verifyplan.reports.usage import dollars
from verifyplan.reports.visible import one_line, truncated
from verifyplan.text import counted

MAX_SHOWN_STEPS = 12
"""Steps that are shown; the log has them all."""

MAX_EVIDENCE_CHARACTERS = 3000
"""Characters that are kept of what a challenge was raised on."""

_COUNTED_ONLY = (VoteCast, FindingGrouped, FindingQueued, ChallengeAdmitted, ScoreGiven, TurnSent, Attempt, TurnReplied)
"""Events that come in hundreds: they are counted, and no step of their own."""

_ROUND = re.compile(r"(?:^|/)r(\d+)/")


class LiveProgress:
    """The last steps of a live run, what it does now, and totals."""

    def __init__(self) -> None:
        self.started: RunStarted | None = None
        self.ended = False
        self.steps = 0
        self._last: deque[tuple[Event, str]] = deque(maxlen=MAX_SHOWN_STEPS)
        self._counts: Counter[str] = Counter()
        self._open: dict[str, str] = {}
        self._turns: Counter[str] = Counter()
        self._usage = UsageLimit(Limits())
        self.evidence: dict[str, str] = {}
        """The text that each challenge was raised on, by its id; long texts are cut."""
        self._severity: dict[str, str] = {}
        self._status: dict[str, str] = {}
        self._classes: Counter[str] = Counter()
        self._iteration = self._round = 0

    def take(self, event: Event) -> None:
        """Take in one event."""
        self._usage.add(event)
        match event:
            case RunStarted():
                self.started = event
            case RunEnded():
                self.ended, self._open = True, {}
            case CallRequested() | CallReplied() | CallFailed() | TurnSent() | TurnReplied():
                self._take_call(event)
            case IterationStarted():
                self._iteration, self._round = event.iteration, 0
            case ChallengeRaised():
                self._severity[event.challenge.id] = event.challenge.severity
                self._status[event.challenge.id] = event.challenge.status
                self.evidence[event.challenge.id] = truncated(event.evidence, MAX_EVIDENCE_CHARACTERS)
            case StatusChanged():
                self._status[event.id] = event.new
            case VoteCast() | DispatchClosed() | MessagePublished():
                self._counts[event.type] += 1
            case FindingClassified():
                self._classes[event.classification] += event.part != "challenges"
            case _:
                pass
        if not isinstance(event, _COUNTED_ONLY) or (isinstance(event, Attempt) and event.asked_wait_s):
            self.steps += 1
            self._last.append((event, self._severity.get(event.id, "") if isinstance(event, StatusChanged) else ""))

    def _take_call(self, event: CallRequested | CallReplied | CallFailed | TurnSent | TurnReplied) -> None:
        self._counts[event.type] += 1
        match event:
            case CallRequested():
                self._open[event.call_id] = event.worker
                match_round = _ROUND.search(event.call_id)
                self._round = int(match_round[1]) if match_round else 0
            case CallReplied() | CallFailed():
                self._open.pop(event.call_id, None)
                self._turns.pop(event.call_id, None)
            case TurnSent():
                self._turns[event.of_call] += 1
            case TurnReplied():
                pass

    def now(self) -> str:
        """Return where the run is and whom it waits for, on one line."""
        if self.started is None:
            return "Reading what the run is about"
        names = [f"{one_line(worker, 40)} ({self._call(call)})" for call, worker in self._open.items()]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        doing = f"waits for {', '.join(names[:3])}{more}" if names else "the rules are at work"
        return f"{self._place()}: {doing}"

    def _call(self, call: str) -> str:
        """An open call and, of an agent that speaks in turns, how often it was asked so far."""
        turns = self._turns[call]
        return f"{one_line(call, 60)}, turn {turns:,}" if turns else one_line(call, 60)

    def _place(self) -> str:
        inputs = self.started.inputs if self.started else None
        if isinstance(inputs, PlanInputs):
            if not self._iteration:
                return "Sizing the plan"
            vote = f", round {self._round} of the panel" if self._round else ""
            return f"Iteration {self._iteration} of {inputs.settings.max_iterations}{vote}"
        if isinstance(inputs, DebateInputs):
            turn = (self._counts["message-published"] + bool(self._open) + 2) // 3  # three messages a turn
            return f"Turn {max(1, turn)} of at most {inputs.max_turns}"
        most = inputs.settings["effectiveMaxRounds"] if inputs else 0
        return f"Round {self._round} of at most {most}" if self._round else "Grouping the findings"

    @property
    def done(self) -> tuple[int, int] | None:
        """Parts of rounds done, and how many there can be; None but for cross runs: of others nobody knows it."""
        inputs = self.started.inputs if self.started else None
        if not isinstance(inputs, CrossInputs):
            return None
        rounds = inputs.settings["effectiveMaxRounds"] + (inputs.plan_settings or {}).get("maxRounds", 0)
        total = len(inputs.analysers) * int(rounds)
        return (total if self.ended else min(self._counts["dispatch-closed"], total)), total

    def totals(self) -> list[tuple[str, str]]:
        """Name and value of each count."""
        counts, inputs = self._counts, self.started.inputs if self.started else None
        failed = f", {counts['call-failed']:,} failed" if counts["call-failed"] else ""
        rows = [
            ("Calls", f"{counts['call-requested']:,} asked, {counts['call-replied']:,} replied{failed}"),
            *self._used(),
        ]
        if isinstance(inputs, DebateInputs):
            return [*rows, ("Messages", f"{counts['message-published']:,}")]
        if isinstance(inputs, PlanInputs):
            raised = Counter(self._severity.values())
            left = Counter(self._severity[name] for name, status in self._status.items() if status in UNSETTLED)
            severities = [
                f"{raised[each]} {each} ({raised[each] - left[each]} settled)" for each in SEVERITIES if raised[each]
            ]
            rows.append(("Challenges", ", ".join(severities) or "none so far"))
        else:
            rows.append(("Findings", ", ".join(f"{n:,} {name}" for name, n in self._classes.items()) or "none settled"))
        return [*rows, ("Votes", f"{counts['vote-cast']:,}")]

    def _used(self) -> list[tuple[str, str]]:
        """Turns, tokens and dollars so far; turns and dollars where there are any."""
        used, sent = self._usage.spent, self._counts["turn-sent"]
        cached = f" ({used.cache_read_tokens:,} cached)" if used.cache_read_tokens else ""
        rows = [("Turns", f"{sent:,} sent, {self._counts['turn-replied']:,} replied")] if sent else []
        rows.append(("Tokens", f"{used.total_input:,} in{cached}, {used.output_tokens:,} out"))
        if used.cost is not None or used.total:
            lost = self._usage.perhaps.cost
            perhaps = f", and perhaps {dollars(lost)} for lost answers" if lost else ""
            rows.append(("Cost", f"{dollars(used.cost) if used.cost is not None else 'unknown'}{perhaps}"))
        return rows

    def lines(self) -> list[str]:
        """The last steps in words, the newest last."""
        return [f"{severity} {event_text(event)}".strip() for event, severity in self._last]

    def html(self) -> str:
        """Totals and the last steps; texts are escaped."""
        if not self.steps:
            return ""
        cells = facts_html(self.totals())
        first = self.steps - len(self._last) + 1
        earlier = f" (before them, {counted(first - 1, 'step')} that the log has)" if first > 1 else ""
        items = "".join(f'<li style="overflow-wrap:anywhere">{escape(line)}</li>' for line in self.lines())
        return (
            f"{self._bar_html()}{cells}"
            f'<p style="margin:6px 0 2px;font-weight:600;line-height:1.4">Last steps{escape(earlier)}</p>'
            f'<ol start="{first}" style="margin:0;padding-left:3.2em;line-height:1.5">{items}</ol>'
        )

    def _bar_html(self) -> str:
        if self.done is None:
            return ""
        done, total = self.done
        words = f"{done:,} of at most {total:,} answers of workers in"
        size = f'value="{done}" max="{max(1, total)}" style="width:min(24em,60%)"'
        return f'<div style="margin:4px 0"><progress {size} aria-label="{words}"></progress> {words}</div>'


def facts_html(facts: Iterable[tuple[str, str]]) -> str:
    """Names and values beside one another, as many as fit on a line; texts are escaped.

    >>> facts_html([("plan", "<b>")]).count("&lt;b&gt;")
    1
    """
    items = "".join(f"<div><b>{escape(name)}:</b> {escape(value)}</div>" for name, value in facts)
    style = "display:flex;flex-wrap:wrap;gap:2px 28px;margin:2px 0 6px;line-height:1.5;overflow-wrap:anywhere"
    return f'<div style="{style}">{items}</div>'
