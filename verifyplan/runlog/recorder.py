"""Record a run's events in the log, the state and the sink; on resume, check them against the log (rules E1, E2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from verifyplan.errors import LogError, Problem
from verifyplan.protocol.event import EXTERNAL_EVENTS, Event, Sink
from verifyplan.protocol.event_run import (
    AnswerGiven,
    Attempt,
    CallFailed,
    CallReplied,
    CallRequested,
    RunReopened,
    RunResumed,
    TurnReplied,
    TurnSent,
    call_of,
)
from verifyplan.runlog.chain import Record, now, share_field_names
from verifyplan.runlog.current import CountedRecords, key_of
from verifyplan.runlog.reader import MAX_RECORDS_IN_MEMORY
from verifyplan.runlog.writer import LogWriter

Result = CallReplied | CallFailed
"""How a call ended."""

SHOWN = 300
"""Characters of an event that an error shows; an event can contain a whole plan."""


class Past(CountedRecords):
    """The events of a log that count, for a loop that runs again: external ones by ids, derived ones in order."""

    def __init__(
        self, records: Sequence[Record] = (), *, may_go_unscored: bool = False, repeats_derived: bool = True
    ) -> None:
        super().__init__(records)
        self._may_go_unscored, self._repeats_derived = may_go_unscored, repeats_derived
        """Whether a replay may give its verdict where no scores were asked for, as changed rules can end it sooner; and
        whether derived events must come again as they were, or are compared afterwards."""

    @property
    def events(self) -> Iterator[Event]:
        """All events of the log, superseded ones included."""
        return (record.event for record in self._records)

    @property
    def derived(self) -> tuple[Record, ...]:
        """The events that rules derived, in order."""
        return tuple(self._records[position] for position in self._derived)

    def pending(self) -> Iterator[Record]:
        """Yield the events that rules derived, in order, each as it is asked for."""
        return (self._records[position] for position in self._derived if self._repeats_derived)

    def goes_unscored(self, call_id: str) -> bool:
        """Return whether a replay gives its verdict without the scores of a call, since they were never asked for."""
        return self._may_go_unscored and self.result(call_id) is None

    def recorded(self, event: Event) -> Record | None:
        """Return the record of an external event, if it is on disk."""
        key = key_of(event)
        return self._record(key) if key is not None else None

    def _record(self, key: tuple[str, str]) -> Record | None:
        position = self._external.get(key)
        return None if position is None else self._records[position]

    def _event(self, kind: str, name: str) -> Any:
        record = self._record((kind, name))
        return record.event if record is not None else None

    def result(self, call_id: str) -> Result | None:
        """Return how a call ended, if that is on disk."""
        result: Result | None = self._event("result", call_id)
        return result

    def has_result(self, call_id: str) -> bool:
        """Return whether the end of a call is on disk."""
        return ("result", call_id) in self._external

    def answer(self, pause_id: str) -> AnswerGiven | None:
        """Return a person's answer to a pause, if that is on disk."""
        answer: AnswerGiven | None = self._event("answer", pause_id)
        return answer

    def sent(self, turn: str) -> TurnSent | None:
        """Return what a turn added, if that is on disk."""
        sent: TurnSent | None = self._event("sent", turn)
        return sent

    def turn(self, turn: str) -> TurnReplied | None:
        """Return the reply of a turn, if that is on disk."""
        replied: TurnReplied | None = self._event("turn", turn)
        return replied

    def turns(self, call_id: str) -> tuple[TurnSent | Attempt | TurnReplied, ...]:
        """Return all that the turns of a call left on disk, in order."""
        events = (self._records[position].event for position in self._turns.get(call_id, ()))
        return tuple(event for event in events if isinstance(event, TurnSent | Attempt | TurnReplied))

    def attempts(self, turn: str) -> tuple[Attempt, ...]:
        """Return the HTTP requests of a turn that are on disk, in order."""
        of_call = self.turns(call_of(turn))
        return tuple(event for event in of_call if isinstance(event, Attempt) and event.call_id == turn)

    def was_cut_off(self, turn: str) -> bool:
        """Return whether an earlier process ended while a turn was sent: its last request has no end on disk.

        It may also have ended while it waited to send it. What was sent before a reopening came to an end; where the
        log says that the call was asked again, the process that did so ended while it sent the turn.
        """
        call = call_of(turn)
        if self.sent(turn) is None or self.turn(turn) is not None or self.has_result(call):
            return False
        last = max(place for place in self._turns[call] if self._records[place].event.call_id == turn)  # type: ignore[union-attr]
        if self._external.get(("request", call), 0) > last:
            return True
        if self.reopenings.get(last, 0) != self.asked_in.get(call, 0):
            return False
        attempts = self.attempts(turn)
        was_to_be_sent = not attempts or attempts[-1].retry_in_s is not None
        return was_to_be_sent or self._repeated.get(turn, 0) > last

    @property
    def in_flight(self) -> tuple[str, ...]:
        """Exchanges that have no reply on disk: turns of agents that speak in turns, else calls.

        A call of several turns that died between two of them goes on where it was, and repeats nothing.
        """
        open_calls = [name for kind, name in self._external if kind == "request" and not self.has_result(name)]
        if not self._turns:
            return tuple(open_calls)
        sent = (turn for name in open_calls for turn in self.turns(name) if isinstance(turn, TurnSent))
        return tuple(turn.call_id for turn in sent if self.turn(turn.call_id) is None and not self._went_past(turn))

    def _went_past(self, look: TurnSent) -> bool:
        """Return whether a turn is a look at the web that failed, and the call went on without it."""
        turn = look.call_id.removeprefix(f"{look.of_call}/").partition("/")[0]
        return self.sent(f"{look.of_call}/t{int(turn[1:]) + 1}") is not None


class Recorder:
    """Numbers and stamps events, writes them, and hands them on.

    With a `past`, the loop runs again: external events that it has and derived events that repeat it are not written
    twice, and a derived event that differs from the recorded one is a LogError. `resumed` is written before the first
    call that is made again or event that is new; if it changes limits or other terms, it is written as soon as all
    recorded derived events that count were repeated.
    """

    def __init__(
        self,
        writer: LogWriter | None = None,
        past: Past | None = None,
        resumed: RunResumed | RunReopened | None = None,
        sink: Sink | None = None,
    ) -> None:
        self.past = past or Past()
        if resumed is not None:
            self.past.note_terms(resumed)
        if isinstance(resumed, RunReopened):
            self.past.reopen(resumed)
        self._records: list[Record] | None = []
        """None where they are more than are kept in memory."""
        self._count = 0
        self.asked_otherwise: list[str] = []
        """Calls answered from a reply to a request that differs from the present one, as changed rules can make it."""
        self._writer, self._resumed, self._sink = writer, resumed, sink
        self._pending = self.past.pending()
        self._next = next(self._pending, None)

    def note_request(self, request: object) -> None:
        """Receive each request of a replay; a subclass that searches for one stops there (`runs.requests`)."""

    @property
    def records(self) -> Sequence[Record]:
        """All records so far; many are read from the log, in its order, as they are gone through."""
        if self._records is not None:
            return self._records
        assert self._writer is not None  # noqa: S101  (`_keep` sees to it)
        return self._writer.stored()

    def finished(self) -> Sequence[Record]:
        """Return all records of a run that has ended."""
        return self.records if self._records is None else tuple(self._records)

    def _keep(self, record: Record) -> None:
        self._count += 1
        if self._records is not None:
            self._records.append(record)
            if self._writer is not None and self._count > MAX_RECORDS_IN_MEMORY:
                self._records = None

    def write_resumption(self) -> None:
        """Write that the run goes on here, unless it was not broken off or the log already says so.

        Raises LogError, before any call is made, if recorded events are left that the loop did not repeat.
        """
        if self._next is not None:
            raise self._astray(self._next, "the rules ask for a call that has no reply here")
        if self._resumed is not None:
            resumed = self._resumed
            self._keep(self._write(resumed))
            self._resumed = None
            if self._sink is not None:
                self._sink(resumed)

    def emit(self, event: Event, *folds: Sink, sync: bool = True) -> bool:
        """Take in one event: write it unless it is on disk, hand it to the folds, then, if it is new, to the sink.

        Return whether it is new. Without `sync`, the caller must call `sync` before anything acts on an external event.
        """
        known = self._known(event)
        if known is None:
            self.write_resumption()
            share_field_names(event)
        self._keep(known or self._write(event, sync=sync))
        if known is None:
            self.past.take_up(event)
        for fold in folds:
            fold(event)
        if known is None and self._sink is not None:
            self._sink(event)
        if self._next is None and _changes_terms(self._resumed):
            self.write_resumption()
        return known is None

    def _known(self, event: Event) -> Record | None:
        if isinstance(event, EXTERNAL_EVENTS):
            known = self.past.recorded(event)
            if isinstance(event, CallRequested) and known is not None and known.event != event:
                self.asked_otherwise.append(event.call_id)
            return known
        recorded = self._next
        if recorded is not None:
            if recorded.event != event:
                raise self._astray(recorded, f"the rules now give {event.type} {str(event)[:SHOWN]}")
            self._next = next(self._pending, None)
        return recorded

    def _astray(self, recorded: Record, reason: str) -> LogError:
        place = f"{self._writer.path if self._writer else 'log'}: line {recorded.seq}"
        message = f"the recorded {recorded.event.type} does not follow from the replies before it: {reason}"
        fix = "resume with the verifyplan, backend and settings that wrote the log"
        return LogError(Problem(place, message, fix))

    def also_hand_to(self, sink: Sink) -> None:
        """Hand each new event to one more sink, after the first."""
        first = self._sink

        def hand(event: Event) -> None:
            if first is not None:
                first(event)
            sink(event)

        self._sink = hand

    def sync(self) -> None:
        """Force all that was written to the disk."""
        if self._writer is not None:
            self._writer.sync()

    def _write(self, event: Event, *, sync: bool = True) -> Record:
        if self._writer is None:
            return Record(self._count + 1, now(), event)
        return self._writer.append(event, sync=sync)


def _changes_terms(resumed: RunResumed | RunReopened | None) -> bool:
    """Return whether an event says what holds from here on, so that the log must say it before a limit decides."""
    if isinstance(resumed, RunResumed):
        return any(value is not None for value in (resumed.limits, resumed.timeout, resumed.max_retries))
    return resumed is not None
