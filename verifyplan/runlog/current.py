"""Find which records of a log count: after a reopening, those of the present decision (rule E6).

A reopening asks failed calls again. What was derived from their failure is *superseded*: it stays in the log but no
longer counts. A reply on disk answers a later request again if that request equals its own.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from verifyplan.protocol.event import EXTERNAL_EVENTS, Event
from verifyplan.protocol.event_run import Attempt, Checkpoint, RunReopened, RunResumed
from verifyplan.protocol.settings import Limits
from verifyplan.runlog.chain import Record
from verifyplan.runlog.reader import StoredRecords

Key = tuple[str, str]
"""The kind of an external event, and the call, turn or pause that it is about."""

REOPENED = "run-reopened"
_EXTERNAL = frozenset(event.model_fields["type"].default for event in EXTERNAL_EVENTS)
_KINDS = {
    "run-started": "started",
    "call-requested": "request",
    "call-replied": "result",
    "call-failed": "result",
    "turn-sent": "sent",
    "attempt": "attempt",
    "turn-replied": "turn",
    "answer-given": "answer",
}


def key_of(event: Event) -> Key | None:
    """Return the key of an external event; None for derived ones, and for those that no drive repeats."""
    kind = _KINDS.get(event.type)
    if kind is None or kind == "started":
        return None if kind is None else (kind, "")
    name: str = getattr(event, "pause_id" if kind == "answer" else "call_id")
    return kind, f"{name} {event.number}" if isinstance(event, Attempt) else name


def is_reopened(records: Sequence[Record]) -> bool:
    """Return whether a log contains a reopening; records that are read from a file are searched, not parsed."""
    if isinstance(records, StoredRecords) and not records.mention(REOPENED):
        return False
    return any(record.event.type == REOPENED for record in records)


def current(records: Sequence[Record]) -> Iterator[Record]:
    """Yield the records that count, in the order in which they were decided upon; all, where nothing was reopened.

    A reply that a later, equal request took up follows that request. What such a log counts is computed in a first
    pass that keeps positions alone.
    """
    if not is_reopened(records):
        yield from records
        return
    counted = CountedRecords(records)
    counts, later = counted.positions(), counted.taken_up_at()
    for position, record in enumerate(records):
        if counts[position]:
            yield record
        for old in later.get(position, ()):
            yield records[old]


class CountedRecords:
    """The positions of the records that count, and of the replies that a request after a reopening may take up."""

    def __init__(self, records: Sequence[Record] = ()) -> None:
        self._records = records
        """In memory, or read from the log one by one; all else are positions in it."""
        self._external: dict[Key, int] = {}
        self._derived = array("Q")
        self._turns: dict[str, array[int]] = defaultdict(lambda: array("Q"))
        self._unkeyed = array("Q")
        self._offered: dict[Key, int] = {}
        """What is on disk and counts only if it is asked for again by an equal request, or at an equal pause."""
        self._pauses: dict[str, Checkpoint] = {}
        self._taken_up: dict[int, int] = {}
        """The position of the request or pause that took up a record, by the position of that."""
        self.n_reopened = 0
        self.asked_in: dict[str, int] = {}
        """The reopening in which a call was asked that was asked in one; 0 for all others."""
        self.reopenings: dict[int, int] = {}
        """By position, the reopening in which a record of a call was written, if in one."""
        self._repeated: dict[str, int] = {}
        """The position of the last resumption that sent an exchange again, by the exchange."""
        self.repeated_requests: set[int] = set()
        """Requests that only took up what was asked before."""
        self.limits: Limits | None = None
        self.timeout: float | None = None
        self.max_retries: int | None = None
        for position, record in enumerate(records):
            self._add(position, record.event)

    def _add(self, position: int, event: Event) -> None:
        key = key_of(event)
        if key is not None:
            if event.type == "call-requested" and self.n_reopened:
                self.take_up(event, position)
            self._external[key] = position
            if isinstance(of_call := getattr(event, "of_call", None), str):
                self._turns[of_call].append(position)
            if self.n_reopened and key[0] != "answer":
                self.reopenings[position] = self.asked_in.get(of_call or key[1], 0)
        elif event.type in _EXTERNAL:
            self._unkeyed.append(position)
            self.note_terms(event)
            if isinstance(event, RunReopened):
                self.reopen(event)
            elif isinstance(event, RunResumed):
                self._repeated |= dict.fromkeys(event.repeated, position)
        else:
            self._derived.append(position)
            if self._pauses and event.type == "checkpoint":
                self.take_up(event, position)

    def note_terms(self, event: object) -> None:
        """Note what a resumption or reopening changes, if it has any of these: limits, timeout, retries."""
        for name in ("limits", "timeout", "max_retries"):
            if (value := getattr(event, name, None)) is not None:
                setattr(self, name, value)

    def reopen(self, event: RunReopened) -> None:
        """Offer what follows the last derived event that still counts, without the results that are asked for again.

        The turns of a failed call are offered, too, if its last one has no reply, or a limit held the next one back:
        the call goes on from there. If all were answered, their content failed, and it begins anew.
        """
        self.n_reopened += 1
        derived, records = self._derived, self._records
        kept = bisect_left(derived, event.superseded_from, key=lambda position: records[position].seq)
        superseded, last = derived[kept:], derived[kept - 1] if kept else 0
        del derived[kept:]
        for position in superseded:
            checkpoint = records[position].event
            if isinstance(checkpoint, Checkpoint) and checkpoint.pause_id is not None:
                self._pauses[checkpoint.pause_id] = checkpoint
        later = {
            key: position
            for key, position in self._external.items()
            if self._taken_up.get(position, position) > last and (key[0] != "answer" or key[1] in self._pauses)
        }
        for key in later:
            del self._external[key]
        self._offered |= later
        for call_id in event.retried:
            self.asked_in[call_id] = self.n_reopened
            self._retry(call_id)

    def _retry(self, call_id: str) -> None:
        """Withdraw the result of a call, and its turns unless the call goes on from them."""
        position = self._offered.pop(("result", call_id), None)
        result = self._records[position].event if position is not None else None
        turns = [self._records[place].event for place in self._turns.get(call_id, ())]
        sent = [turn for turn in turns if turn.type == "turn-sent"]
        held_back = result is not None and result.type == "call-failed" and result.status == "budget"
        if held_back or (sent and ("turn", sent[-1].call_id) not in self._offered):
            return
        for turn in turns:
            self._offered.pop(key_of(turn), None)  # type: ignore[arg-type]  # turns have keys
        self._turns.pop(call_id, None)

    def take_up(self, event: Event, position: int | None = None) -> list[int]:
        """Let what is offered count again from a request or pause on that is new, if that equals the earlier one.

        What was offered to a request that differs no longer counts. `position` is that of the event if it is in the
        log.
        Return the positions of what counts again.
        """
        if isinstance(event, Checkpoint):
            if event.pause_id is not None and self._pauses.pop(event.pause_id, None) == event:
                return self._move([("answer", event.pause_id)], position)
            return []
        if event.type != "call-requested":
            return []
        call_id = event.call_id
        before = self._offered.pop(("request", call_id), None)
        if before is None:
            if self.n_reopened:
                self.asked_in[call_id] = self.n_reopened
            return []
        turns = [self._records[place].event for place in self._turns.get(call_id, ())]
        keys = [("result", call_id), *(key for turn in turns if (key := key_of(turn)) is not None)]
        request = self._records[before].event
        if request.request_sha256 == event.request_sha256:  # type: ignore[union-attr]  # it is a request
            if position is not None and self.asked_in.get(call_id, 0) < self.n_reopened:
                self.repeated_requests.add(position)
            return self._move(keys, position)
        self.asked_in[call_id] = self.n_reopened
        self._turns.pop(call_id, None)
        for key in keys:
            self._offered.pop(key, None)
        return []

    def _move(self, keys: Iterable[Key], position: int | None) -> list[int]:
        moved = []
        for key in keys:
            if (old := self._offered.pop(key, None)) is not None:
                self._external[key] = old
                moved.append(old)
                if position is not None:
                    self._taken_up[old] = position
        return sorted(moved)

    def counts(self, call_id: str, reopening: int) -> bool:
        """Return whether a call, as it was asked in a reopening (0: before any), counts."""
        return ("request", call_id) in self._external and self.asked_in.get(call_id, 0) == reopening

    def was_asked(self, prefix: str) -> bool:
        """Return whether the log holds the request of a call, or of one below it, that counts or may yet count."""
        if ("request", prefix) in self._external or ("request", prefix) in self._offered:
            return True
        asked = (name for kind, name in (*self._external, *self._offered) if kind == "request")
        return prefix.endswith("/") and any(name.startswith(prefix) for name in asked)

    def positions(self) -> bytearray:
        """Return for each record 1 if it counts, and 0 if it does not or belongs behind the record that took it up."""
        counts = bytearray(len(self._records))
        for places in (self._external.values(), self._derived, self._unkeyed):
            for position in places:
                counts[position] = 1
        for position in self._taken_up:
            counts[position] = 0
        return counts

    def taken_up_at(self) -> dict[int, list[int]]:
        """Return the positions of what each request or pause took up, in order."""
        held, by_taker = set(self._external.values()), defaultdict(list)
        for old, taker in sorted(self._taken_up.items()):
            if old in held:
                by_taker[taker].append(old)
        return by_taker
