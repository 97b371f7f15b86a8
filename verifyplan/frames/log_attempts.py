"""The rows of HTTP requests, and what a run cost: booked, and perhaps billed beside it (rules A12, E4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import fsum
from typing import Any

from verifyplan.frames.log_events import LogEvents, Row, instant
from verifyplan.protocol.call import Usage
from verifyplan.protocol.event_run import Attempt, TurnSent, call_of

Rows = Iterable[Mapping[str, Any]]
_COPIED = (
    *("duration_ms", "waited_s", "asked_wait_s", "retry_in_s", "sent_bytes", "received_bytes", "request_id"),
    "perhaps_billed",
)


def attempt_rows(log: LogEvents) -> list[Row]:
    """Return one row for each HTTP request of the log's turns, in the order in which they ended.

    Those of calls that were asked again after a reopening are there, too, and are numbered on.
    """
    if not log.of(Attempt) and log.all_records is log.records:
        return []
    estimates: dict[str, Usage | None] = {}
    numbers: Counter[str] = Counter()
    rows = []
    for record in log.all_records:
        event = record.event
        if event.type == "turn-sent":
            estimates[event.call_id] = event.estimate
        elif event.type == "attempt":
            numbers[event.call_id] += 1
            rows.append(
                {
                    "run_id": log.run_id,
                    "turn_id": event.call_id,
                    "attempt": numbers[event.call_id],
                    "call_id": call_of(event.call_id),
                    "http_status": event.status,
                    "error": event.error,
                    "started_at": instant(event.started),
                    **{name: getattr(event, name) for name in _COPIED},
                    "cost_perhaps": _dollars(estimates.get(event.call_id)) if event.perhaps_billed else 0.0,
                }
            )
    return rows


def cost_columns(log: LogEvents, calls: Rows, turns: Rows, attempts: Rows) -> Row:
    """Return the columns of `runs` that say what a run cost, from its rows; missing where no price is known.

    Turns that are in flight are perhaps billed, too.
    """
    estimates = {event.call_id: event.estimate for event in log.of(TurnSent) if event.estimate is not None}
    under_way = [turn["turn_id"] for turn in turns if turn["status"] == "in-flight"]
    lost = [attempt["cost_perhaps"] for attempt in attempts]
    lost += [_dollars(estimates[turn]) for turn in under_way if turn in estimates]
    booked = [call["cost"] for call in calls if call["cost"] is not None]
    priced = bool(estimates) and all(estimate.cost is not None for estimate in estimates.values())
    return {
        "cost": fsum(booked) if booked or priced else None,
        "cost_perhaps": fsum(lost) if estimates and None not in lost else None,
    }


def _dollars(estimate: Usage | None) -> float | None:
    return None if estimate is None or estimate.cost is None else float(estimate.cost)
