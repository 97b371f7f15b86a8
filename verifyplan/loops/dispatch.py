"""One round's calls: every worker at once, each call recorded, every failure told as one (SPEC B3, B8)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from verifyplan.agents.base import Backend
from verifyplan.protocol.call import Reply, WorkerAnswer, WorkerRequest
from verifyplan.protocol.event import CallFailed, CallReplied, CallRequested, Sink

REASON_LENGTH = 500
"""Longest text kept of what a call failed with; it stands in the explanation of every vote it cost."""


@dataclass(frozen=True)
class Outcome:
    """How one dispatch ended: with a checked answer, or with a status and a reason."""

    worker: str
    asked: tuple[str, ...]
    status: Literal["completed", "timeout", "error"]
    duration_ms: int
    answer: WorkerAnswer | None = None
    reason: str | None = None


async def dispatch_all(
    requests: Sequence[WorkerRequest], backend: Backend, timeout: float | None, emit: Sink
) -> list[Outcome]:
    """Make all calls of a round at once; outcomes in the order of the requests.

    A call that raises or takes longer than `timeout` seconds is a failed dispatch, not an error of the run.
    What `emit` raises, Ctrl-C and the like end all calls and come out as they are. Every reply is handed to
    `emit` before it is looked at.
    """
    for request in requests:
        asked = tuple(item.finding_id for item in request.items)
        emit(CallRequested(call_id=request.call_id, worker=request.worker, items=asked))
    calls = [asyncio.create_task(_call(request, backend, timeout)) for request in requests]
    outcomes: dict[str, Outcome] = {}
    try:
        for ended in asyncio.as_completed(calls):
            request, result = await ended
            emit(result)
            outcomes[request.call_id] = _outcome(request, result)
    finally:  # not a TaskGroup: that would wrap what it lets out
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    return [outcomes[request.call_id] for request in requests]


async def _call(
    request: WorkerRequest, backend: Backend, timeout: float | None
) -> tuple[WorkerRequest, CallReplied | CallFailed]:
    """One call and what came of it, as the event that tells it."""
    began = time.monotonic()
    status: Literal["timeout", "error"] = "error"
    try:
        async with asyncio.timeout(timeout):
            reply = await backend.answer(request)
        return request, _replied(request, reply, round((time.monotonic() - began) * 1000))
    except TimeoutError as error:
        status, reason = "timeout", str(error) or f"no answer within {timeout} s"
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is None or task.cancelling():
            raise
        reason = "CancelledError: the backend gave up its own work"
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    reason = reason.encode(errors="backslashreplace").decode()
    reason = reason if len(reason) <= REASON_LENGTH else f"{reason[: REASON_LENGTH - 3]}..."
    duration = round((time.monotonic() - began) * 1000)
    return request, CallFailed(call_id=request.call_id, status=status, reason=reason, duration_ms=duration)


def _replied(request: WorkerRequest, reply: Reply, measured_ms: int) -> CallReplied:
    """The reply as an event: a copy in JSON values, since the backend may change or share its own.

    A backend that does not say how long it took (one that replays does) is timed here.
    """
    if not isinstance(reply, Reply):
        raise TypeError(f"the backend gave a {type(reply).__name__} where a Reply was due")
    [[value]] = from_json(to_json([[reply.value]]), allow_inf_nan=False)  # nested, as in a log it will be
    return CallReplied(
        call_id=request.call_id,
        value=value,
        usage=reply.usage,
        duration_ms=reply.duration_ms or measured_ms,
        source=reply.source,
    )


def _outcome(request: WorkerRequest, result: CallReplied | CallFailed) -> Outcome:
    """How the dispatch ended; an answer outside its schema is an error."""
    asked = tuple(item.finding_id for item in request.items)
    if isinstance(result, CallFailed):
        return Outcome(request.worker, asked, result.status, result.duration_ms, reason=result.reason)
    try:
        answer = WorkerAnswer.model_validate(result.value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(part) for part in first["loc"]) or "the whole answer"
        reason = f"answer outside its schema, {error.error_count()} problems, the first at {place:.80}: {first['msg']}"
        return Outcome(request.worker, asked, "error", result.duration_ms, reason=reason)
    return Outcome(request.worker, asked, "completed", result.duration_ms, answer)
