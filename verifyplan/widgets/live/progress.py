"""The progress of a run in words and counts: a fold of its events whose size does not grow with the run."""

from __future__ import annotations

import math
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from itertools import islice

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
    RunResumed,
    RunStarted,
    TurnReplied,
    TurnSent,
    call_of,
)
from verifyplan.protocol.records import SEVERITIES, UNSETTLED
from verifyplan.protocol.settings import Limits
from verifyplan.reports.log import event_text
from verifyplan.reports.usage import UNKNOWN_USAGE, dollars
from verifyplan.reports.visible import one_line, truncated
from verifyplan.text import counted
from verifyplan.widgets.html import facts, table

MAX_SHOWN_STEPS = 12
"""Steps that are shown; the log has them all."""

MAX_SHOWN_CALLS = 12
"""Calls under way that are shown; the rest is counted."""

MAX_EVIDENCE_CHARACTERS = 3000
"""Characters of a challenge's evidence that are kept."""

_COUNTED_ONLY = (VoteCast, FindingGrouped, FindingQueued, ChallengeAdmitted, ScoreGiven, TurnSent, Attempt, TurnReplied)
"""Events that come by the hundred: they are counted, and are not shown as steps."""

_ROUND = re.compile(r"(?:^|/)r(\d+)/")


@dataclass
class OpenCall:
    """A call under way, by its events."""

    worker: str
    since: float
    """When it was asked, by the clock of the progress."""
    turns: int = 0
    attempt: int = 1
    """The number of the present request of its turn."""
    waits_until: float = 0.0
    """When its turn is sent again; in the past if it waits for its reply."""
    is_asked_to_wait: bool = False
    """Whether the endpoint asks for the wait."""

    def take(self, event: TurnSent | Attempt, now: float) -> None:
        """Take the event that a turn was sent, or that a request of it ended."""
        if isinstance(event, TurnSent):
            self.turns, self.attempt, self.waits_until = self.turns + 1, 1, now
        elif event.retry_in_s is not None:
            self.attempt, self.waits_until = event.number + 1, now + event.retry_in_s
            self.is_asked_to_wait = event.asked_wait_s is not None

    def state(self, now: float) -> str:
        """Return what it waits for, in words."""
        left = math.ceil(self.waits_until - now)
        if left <= 0:
            return "waits for the reply"
        why = "as the endpoint asks" if self.is_asked_to_wait else "after a failed attempt"
        return f"is sent again in {left:,} s, {why}"


class LiveProgress:
    """The last steps of a live run, the calls under way, and totals; `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, usage: UsageLimit | None = None) -> None:
        self._clock = clock
        self._usage = usage or UsageLimit(Limits())
        self.started: RunStarted | None = None
        self.ended = False
        self.steps = 0
        self._last: deque[tuple[Event, str]] = deque(maxlen=MAX_SHOWN_STEPS)
        self._counts: Counter[str] = Counter()
        self._open: dict[str, OpenCall] = {}
        self.evidence: dict[str, str] = {}
        """The evidence of each challenge, by its id; long texts are cut."""
        self._severity: dict[str, str] = {}
        self._status: dict[str, str] = {}
        self._classes: Counter[str] = Counter()
        self._iteration = self._round = 0

    def book(self, events: Iterable[Event]) -> None:
        """Add only the usage of these events."""
        for event in events:
            self._usage.add(event)

    def begun_anew(self, events: Iterable[Event]) -> LiveProgress:
        """Return the progress that begins with these events, whose usage is already booked."""
        progress = LiveProgress(self._clock, self._usage)
        for event in events:
            progress.take(event, is_new=False)
        return progress

    def take(self, event: Event, *, is_new: bool = True) -> None:
        """Take one event, with its usage if it is new."""
        if is_new:
            self._usage.add(event)
        match event:
            case RunStarted():
                self.started = event
            case RunEnded():
                self.ended, self._open = True, {}
            case RunResumed():
                for repeated in {call_of(name) for name in event.repeated} | set(event.repeated):
                    if repeated in self._open:
                        self._open[repeated].since = self._clock()
            case CallRequested() | CallReplied() | CallFailed() | TurnSent() | Attempt() | TurnReplied():
                self._take_call(event)
            case _:
                self._take_result(event)
        if not isinstance(event, _COUNTED_ONLY) or (isinstance(event, Attempt) and event.asked_wait_s):
            self.steps += 1
            self._last.append((event, self._severity.get(event.id, "") if isinstance(event, StatusChanged) else ""))

    def _take_result(self, event: Event) -> None:
        match event:
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

    def _take_call(self, event: CallRequested | CallReplied | CallFailed | TurnSent | Attempt | TurnReplied) -> None:
        self._counts[event.type] += 1
        match event:
            case CallRequested():
                self._open[event.call_id] = OpenCall(event.worker, self._clock())
                match_round = _ROUND.search(event.call_id)
                self._round = int(match_round[1]) if match_round else 0
            case CallReplied() | CallFailed():
                self._open.pop(event.call_id, None)
            case TurnSent() | Attempt() if event.of_call in self._open:
                self._open[event.of_call].take(event, self._clock())

    def now(self) -> str:
        """Return where the run is and for whom it waits, on one line."""
        if self.started is None:
            return "Reading the inputs of the run"
        names = [f"{one_line(open_call.worker, 40)} ({self._call(call)})" for call, open_call in self._open.items()]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        doing = f"waits for {', '.join(names[:3])}{more}" if names else "the rules decide"
        return f"{self._place()}: {doing}"

    def _call(self, call: str) -> str:
        """Return an open call and, for an agent that speaks in turns, the number of its turns so far."""
        turns = self._open[call].turns
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
        """Parts of rounds done, and how many there can be; None for other runs, where it is unknown."""
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
        """Return tokens, and turns and dollars if there are any, so far."""
        used, sent = self._usage.spent, self._counts["turn-sent"]
        cached = f" ({used.cache_read_tokens:,} cached)" if used.cache_read_tokens else ""
        rows = [("Turns", f"{sent:,} sent, {self._counts['turn-replied']:,} replied")] if sent else []
        unknown = f", and {UNKNOWN_USAGE} ({counted(used.uncounted, 'time')})" if used.uncounted else ""
        rows.append(("Tokens", f"{used.total_input:,} in{cached}, {used.output_tokens:,} out{unknown}"))
        if used.cost is not None or used.total or used.uncounted:
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
        first = self.steps - len(self._last) + 1
        earlier = f" ({counted(first - 1, 'earlier step')} in the log)" if first > 1 else ""
        items = "".join(f"<li>{escape(line)}</li>" for line in self.lines())
        return (
            f"{self._bar_html()}{facts(self.totals())}<h5>Last steps{escape(earlier)}</h5>"
            f'<ol start="{first}" class="vp-steps">{items}</ol>'
        )

    def calls_html(self) -> str:
        """Return the calls under way, oldest first: who, for how many seconds, at which attempt, waiting for what."""
        if not self._open:
            return ""
        now = self._clock()
        rows = [
            (
                one_line(open_call.worker, 40),
                self._call(call),
                f"{max(0.0, now - open_call.since):,.0f}",
                f"{open_call.attempt:,}",
                open_call.state(now),
            )
            for call, open_call in islice(self._open.items(), MAX_SHOWN_CALLS)
        ]
        left = len(self._open) - len(rows)
        more = f"; the first {len(rows)} are shown" if left else ""
        caption = f"{counted(len(self._open), 'call')} under way{more}"
        heads = ("Worker", "Call", "Seconds", "Attempt", "Now")
        return table(caption, heads, rows, numbers=frozenset({2, 3}), is_live=True)

    def _bar_html(self) -> str:
        if self.done is None:
            return ""
        done, total = self.done
        words = f"{done:,} of at most {total:,} answers of workers received"
        size = f'value="{done}" max="{max(1, total)}"'
        return f'<div class="vp-progress"><progress {size} aria-label="{words}"></progress> {words}</div>'
