"""Calls of agents: each recorded before anything acts on it, failures told as one, known replies not asked again.

What a log already holds is answered from there (SPEC E2, E3); what is missing is asked of the live backend, or ends
a replay, which has none.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from typing import Literal

from pydantic_core import from_json, to_json

from verifyplan.agents.base import Backend, Request
from verifyplan.protocol.call import Reply, WorkerRequest
from verifyplan.protocol.event_run import CallFailed, CallReplied, CallRequested
from verifyplan.protocol.plan_call import AGENT_OF_ROLE
from verifyplan.runlog.recorder import Recorder, Result

REASON_LENGTH = 500
"""Longest text kept of what a call failed with; it stands in the explanation of every vote it cost."""


MOST_TOKENS = 2**53
"""From so many on, a count is no count: tables hold whole numbers below it."""


class CensoredError(Exception):
    """A replay reached a call that was never made."""

    def __init__(self, call_id: str) -> None:
        super().__init__(f"no reply of {call_id} was recorded")
        self.call_id = call_id


class Caller:
    """Makes the calls of one run; `backend` is None in a replay."""

    def __init__(self, backend: Backend | None, timeout: float | None, recorder: Recorder) -> None:
        self.backend, self.timeout, self.emit, self.past = backend, timeout, recorder.emit, recorder.past
        self._announce = recorder.announce

    async def call_all(self, requests: Sequence[Request]) -> list[Result]:
        """Make all calls at once; how they ended, in the order of the requests.

        A call that raises or takes longer than the timeout has failed; it is no error of the run. What `emit`
        raises, Ctrl-C and the like end all calls and come out as they are. CensoredError before anything is
        asked if this is a replay and a call has no recorded reply.
        """
        results = {r.call_id: known for r in requests if (known := self.past.result(r.call_id)) is not None}
        if self.backend is None:
            for request in requests:
                if request.call_id not in results:
                    raise CensoredError(request.call_id)
        for request in requests:
            self._request(request)
        for result in results.values():
            self.emit(result)
        missing = [request for request in requests if request.call_id not in results]
        if missing:
            self._announce()  # a call that is made again costs again: the log says so before it is made
        results |= await self._live(missing)
        return [results[request.call_id] for request in requests]

    def _request(self, request: Request) -> None:
        worker = request.worker if isinstance(request, WorkerRequest) else AGENT_OF_ROLE[request.role]
        items = tuple(item.finding_id for item in request.items) if isinstance(request, WorkerRequest) else ()
        digest = hashlib.sha256(to_json(request)).hexdigest()
        recorded = self.past.requested(request.call_id)
        if recorded is not None and recorded.request_sha256 != digest:
            self.past.asked_otherwise.append(request.call_id)
        self.emit(CallRequested(call_id=request.call_id, worker=worker, items=items, request_sha256=digest))

    async def _live(self, requests: Sequence[Request]) -> dict[str, Result]:
        calls = [asyncio.create_task(self._call(request)) for request in requests]
        results: dict[str, Result] = {}
        try:
            for ended in asyncio.as_completed(calls):
                result = await ended
                self.emit(result)
                results[result.call_id] = result
        finally:  # not a TaskGroup: that would wrap what it lets out
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        return results

    async def _call(self, request: Request) -> Result:
        """One call and what came of it, as the event that tells it."""
        assert self.backend is not None  # noqa: S101  (call_all has seen to it)
        began = time.monotonic()
        status: Literal["timeout", "error"] = "error"
        try:
            async with asyncio.timeout(self.timeout):
                reply = await self.backend.answer(request)
            return _replied(request.call_id, reply, round((time.monotonic() - began) * 1000))
        except TimeoutError as error:
            status, reason = "timeout", str(error) or f"no answer within {self.timeout} s"
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            reason = "CancelledError: the backend gave up its own work"
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        reason = reason.encode(errors="backslashreplace").decode()
        reason = reason if len(reason) <= REASON_LENGTH else f"{reason[: REASON_LENGTH - 3]}..."
        duration = round((time.monotonic() - began) * 1000)
        return CallFailed(call_id=request.call_id, status=status, reason=reason, duration_ms=duration)


def _replied(call_id: str, reply: Reply, measured_ms: int) -> CallReplied:
    """The reply as an event: a copy in JSON values, since the backend may change or share its own.

    A backend that does not say how long it took (one that replays does) is timed here.
    """
    if not isinstance(reply, Reply):
        raise TypeError(f"the backend gave a {type(reply).__name__} where a Reply was due")
    if reply.usage.total >= MOST_TOKENS:
        raise ValueError(f"the backend counts {reply.usage.total:.3g} tokens, which no table can hold")
    [[value]] = from_json(to_json([[reply.value]]), allow_inf_nan=False)  # nested, as in a log it will be
    return CallReplied(
        call_id=call_id,
        value=value,
        usage=reply.usage,
        duration_ms=reply.duration_ms or measured_ms,
        source=reply.source,
        tools=reply.tools,
    )
