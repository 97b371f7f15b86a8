"""The rows of calls and of the tools used in them, from the log of a run of any kind (SPEC A12, E1, E4)."""

from __future__ import annotations

import re
from typing import get_args

from verifyplan.frames.log_index import Row, Story, instant
from verifyplan.frames.rows import Rows
from verifyplan.protocol.event_plan import AgentFailed
from verifyplan.protocol.event_run import CallFailed, CallReplied, CallRequested
from verifyplan.protocol.plan_call import Role

_ROLES = frozenset(get_args(Role))
_ITERATION = re.compile(r"i(\d{1,9})/")


def call_rows(story: Story) -> Rows:
    """One row a call, in the order of requests, and one a tool use, in the order of the call's reply."""
    asked = {event.call_id: event for event in story.of(CallRequested)}
    replied = {event.call_id: event for event in story.of(CallReplied)}
    failed = {event.call_id: event for event in story.of(CallFailed)}
    times = _times(story)
    faults = {event.call_id: event.reason for event in story.of(AgentFailed)}
    calls = [
        {
            **_of_id(story.run_id, call_id),
            **_asked(asked.get(call_id)),
            **_ended(replied.get(call_id), failed.get(call_id), faults.get(call_id)),
            "requested_at": times.get((call_id, False)),
            "replied_at": times.get((call_id, True)),
        }
        for call_id in dict.fromkeys([*asked, *replied, *failed])
    ]
    tools = [
        {"run_id": story.run_id, "call_id": call_id, "step": step, **use.model_dump()}
        for call_id, reply in replied.items()
        for step, use in enumerate(reply.tools, start=1)
    ]
    return {"calls": calls, "tools": tools}


def _times(story: Story) -> dict[tuple[str, bool], str | None]:
    """When each call was asked (False) and ended (True)."""
    ends = CallReplied | CallFailed
    return {
        (record.event.call_id, isinstance(record.event, ends)): instant(record.at)
        for record in story.records
        if isinstance(record.event, CallRequested | ends)
    }


def _of_id(run_id: str, call_id: str) -> Row:
    """What the id says of where a call stands: `i2/challenger`, `i2/panel/r1/ann`, `r1/ann`, `i2/challenger/t3`."""
    told = _ITERATION.match(call_id)
    role = call_id[told.end() :].split("/")[0] if told else "worker"
    return {
        "run_id": run_id,
        "call_id": call_id,
        "iteration": int(told[1]) if told else 0,
        "role": role if role in _ROLES else "worker",
    }


def _asked(event: CallRequested | None) -> Row:
    return {
        "worker": event.worker if event else None,
        "items": list(event.items) if event else [],
        "request_sha256": event.request_sha256 if event else None,
    }


def _ended(reply: CallReplied | None, failure: CallFailed | None, fault: str | None) -> Row:
    if failure is not None:
        status: str = failure.status
    else:
        status = "in-flight" if reply is None else "completed"
    end = reply or failure
    return {
        "status": status,
        "duration_ms": end.duration_ms if end else None,
        "input_tokens": reply.usage.input_tokens if reply else None,
        "output_tokens": reply.usage.output_tokens if reply else None,
        "source": reply.source if reply else None,
        "reason": failure.reason if failure else fault,
        "n_tools": len(reply.tools) if reply else None,
    }
