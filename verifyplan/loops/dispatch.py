"""One round's calls: every worker at once, each call recorded, every failure told as one (SPEC B3, B8)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from verifyplan.agents.base import Backend
from verifyplan.protocol.call import Reply, WorkerAnswer, WorkerRequest
from verifyplan.protocol.event import CallFailed, CallReplied, CallRequested, Sink


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

    A call that raises or takes longer than `timeout` seconds is a failed dispatch, not an error of the run;
    cancellation passes through. Every reply is handed to `emit` before it is looked at.
    """
    for request in requests:
        asked = tuple(item.finding_id for item in request.items)
        emit(CallRequested(call_id=request.call_id, worker=request.worker, items=asked))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_dispatch(request, backend, timeout, emit)) for request in requests]
    return [task.result() for task in tasks]


async def _dispatch(request: WorkerRequest, backend: Backend, timeout: float | None, emit: Sink) -> Outcome:
    asked = tuple(item.finding_id for item in request.items)
    began = time.monotonic()
    try:
        async with asyncio.timeout(timeout):
            reply = await backend.answer(request)
    except TimeoutError as error:
        status: Literal["timeout", "error"] = "timeout"
        reason = str(error) or f"no answer within {timeout} s"
    except Exception as error:
        status, reason = "error", f"{type(error).__name__}: {error}"
    else:
        return _checked(request, asked, reply, emit)
    duration = round((time.monotonic() - began) * 1000)
    emit(CallFailed(call_id=request.call_id, status=status, reason=reason, duration_ms=duration))
    return Outcome(request.worker, asked, status, duration, reason=reason)


def _checked(request: WorkerRequest, asked: tuple[str, ...], reply: Reply, emit: Sink) -> Outcome:
    emit(
        CallReplied(
            call_id=request.call_id,
            value=reply.value,
            usage=reply.usage,
            duration_ms=reply.duration_ms,
            source=reply.source,
        )
    )
    try:
        answer = WorkerAnswer.model_validate(reply.value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(str(part) for part in first["loc"]) or "the whole answer"
        reason = f"answer outside its schema, {error.error_count()} problems, the first at {place}: {first['msg']}"
        return Outcome(request.worker, asked, "error", reply.duration_ms, reason=reason)
    return Outcome(request.worker, asked, "completed", reply.duration_ms, answer)
