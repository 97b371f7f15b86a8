"""The rows of HTTP requests, and what a run cost: booked, and perhaps billed beside it (rules A12, E4)."""

from __future__ import annotations

from collections import Counter
from math import fsum

from verifyplan.frames.log_events import LogEvents, attributes, instant
from verifyplan.frames.runset import ColumnLists, TableLists
from verifyplan.protocol.call import Usage
from verifyplan.protocol.event_run import Attempt, TurnSent, call_of

_COPIED = (
    *("duration_ms", "waited_s", "asked_wait_s", "retry_in_s", "sent_bytes", "received_bytes", "request_id"),
    "perhaps_billed",
)


def attempt_columns(log: LogEvents) -> ColumnLists:
    """Return the columns of attempts, a row for each HTTP request of the log's turns, in the order in which they ended.

    Those of calls that were asked again after a reopening are there, too, and are numbered on.
    """
    if not log.of(Attempt) and log.all_records is log.records:
        return {}
    estimates: dict[str, Usage | None] = {}
    counts: Counter[str] = Counter()
    attempts, numbers, costs = [], [], []
    for record in log.all_records:
        event = record.event
        if event.type == "turn-sent":
            estimates[event.call_id] = event.estimate
        elif event.type == "attempt":
            counts[event.call_id] += 1
            attempts.append(event)
            numbers.append(counts[event.call_id])
            costs.append(_dollars(estimates.get(event.call_id)) if event.perhaps_billed else 0.0)
    turns = [event.call_id for event in attempts]
    return {
        "run_id": [log.run_id] * len(attempts),
        "turn_id": turns,
        "attempt": numbers,
        "call_id": list(map(call_of, turns)),
        "http_status": [event.status for event in attempts],
        "error": [event.error for event in attempts],
        "started_at": [instant(event.started) for event in attempts],
        **attributes(attempts, *_COPIED),
        "cost_perhaps": costs,
    }


def cost_columns(log: LogEvents, tables: TableLists) -> ColumnLists:
    """Return the columns of `runs` that say what a run cost, from its tables; missing where no price or usage is known.

    Turns that are in flight are perhaps billed, too.
    """
    turns, attempts, calls = tables["turns"], tables["attempts"], tables["calls"]
    estimates = {event.call_id: event.estimate for event in log.of(TurnSent) if event.estimate is not None}
    under_way = [turn for turn, status in zip(turns["turn_id"], turns["status"], strict=True) if status == "in-flight"]
    lost = [*attempts.get("cost_perhaps", ()), *(_dollars(estimates[turn]) for turn in under_way if turn in estimates)]
    booked = [cost for cost in calls["cost"] if cost is not None]
    total = fsum(booked)
    is_priced = bool(estimates) and all(estimate.cost is not None for estimate in estimates.values())
    is_counted = None not in [
        count for count, status in zip(turns["input_tokens"], turns["status"], strict=True) if status == "completed"
    ]
    return {
        "cost": [total if total or (is_counted and (booked or is_priced)) else None],
        "cost_perhaps": [fsum(lost) if estimates and None not in lost else None],
    }


def _dollars(estimate: Usage | None) -> float | None:
    return None if estimate is None or estimate.cost is None else float(estimate.cost)
