"""The events of a run that count, from its log and as they happen; a reopening begins their counts anew (rule E6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_run import RunReopened
from verifyplan.runlog.chain import Record
from verifyplan.runlog.current import CountedRecords, current, is_reopened


class CountedEvents:
    """A sink that hands each new event on, and gives `again` the recorded replies that count again by it.

    `restart` is called with all events that count so far: at first, and when the run is reopened.
    """

    def __init__(
        self, records: Sequence[Record], restart: Callable[[Iterable[Event]], None], sink: Sink, again: Sink
    ) -> None:
        self._records, self._restart, self._sink, self._again = records, restart, sink, again
        self._counted = CountedRecords(records) if is_reopened(records) else None
        self._position = len(records)
        restart(record.event for record in current(records))

    def __call__(self, event: Event) -> None:
        """Take in a new event."""
        if isinstance(event, RunReopened):
            records = (*self._records, Record(self._position + 1, "", event))
            self._counted = CountedRecords(records)
            self._restart(record.event for record in current(records) if record.event is not event)
        self._sink(event)
        if self._counted is not None:
            self._position += 1
            for old in self._counted.take_up(event, self._position):
                self._again(self._records[old].event)
