"""Call agents: record each call before anything acts on it, use recorded replies, stop at a limit of the run.

A call whose reply is in the log is answered from there (rules E2, E3). Other calls go to the live backend; a replay,
which has none, ends at the first of them.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, TypeVar

from pydantic_core import to_json

from verifyplan.agents.base import (
    Backend,
    ConversingBackend,
    LimitedBackend,
    LimitError,
    Request,
    UnstoppableBackend,
)
from verifyplan.engine.turns import CallClock, CallTurns, Emitter, json_copy, ms_since
from verifyplan.engine.usage_limit import UsageLimit
from verifyplan.errors import SettingsError
from verifyplan.progress import say
from verifyplan.protocol.call import MAX_TOKENS_COUNTED, Reply, WorkerRequest
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_run import CallFailed, CallReplied, CallRequested, Failure
from verifyplan.protocol.role_call import AGENT_OF_ROLE, DebateRequest
from verifyplan.protocol.settings import Limits
from verifyplan.redaction import redact, redacted
from verifyplan.runlog.recorder import Recorder, Result
from verifyplan.text import counted, truncate

REASON_LENGTH = 500
"""Characters kept of the reason of a failed call; it is in the explanation of every vote that the call cost."""


RequestT = TypeVar("RequestT", bound=Request)
T = TypeVar("T")


class CensoredError(Exception):
    """A replay reached a call that was never made."""

    def __init__(self, call_id: str) -> None:
        super().__init__(f"no reply of {call_id} was recorded")
        self.call_id = call_id


class Caller:
    """Makes the calls of one run within its limits, and emits its events.

    `backend` is None in a replay, `timeout` (seconds) None for no limit; each event that is emitted goes to `folds`,
    such as the state of the run.
    """

    def __init__(
        self, backend: Backend | None, recorder: Recorder, limits: Limits, timeout: float | None, *folds: Sink
    ) -> None:
        self.past = recorder.past
        self.never_asked: dict[str, str] = {}
        """Items that a recorded reply was never asked about, in a replay under other rules, with the last such call."""
        self._backend, self._recorder, self._timeout = backend, recorder, timeout
        self._usage_limit = UsageLimit(limits)
        self._emitter = Emitter(recorder, self._usage_limit.add, *folds)
        self._converses = isinstance(backend, ConversingBackend)
        self._limit = backend.max_concurrency if isinstance(backend, ConversingBackend) else None
        self._endpoint_limits: Mapping[str, int] = backend.call_limits if isinstance(backend, LimitedBackend) else {}
        self._under_way: dict[asyncio.Task[Any] | None, Request] = {}
        self._slots: AbstractAsyncContextManager[object] = (
            asyncio.Semaphore(self._limit) if self._limit else nullcontext()
        )

    def emit(self, event: Event) -> None:
        """Emit an event of the run; it is on disk when this returns."""
        self._emitter.emit(event)

    def refusal(self, call_id: str, name: str | None = None) -> str:
        """Return why a limit keeps a call back, or all calls below an id that ends in a slash; blank where none does.

        `name` is how the reason names the call. A call whose request is on disk was not kept back then, and present
        limits do not change that.
        """
        return "" if self.past.was_asked(call_id) else self._usage_limit.refusal(name or call_id)

    async def call_all(self, requests: Collection[Request]) -> list[Result]:
        """Make all calls, as `read_all` does, and return their results in the order of the requests."""
        return await self.read_all(requests, lambda _, result: result)

    async def read_all(self, requests: Collection[RequestT], read: Callable[[RequestT, Result], T]) -> list[T]:
        """Make all calls, as many at once as the backend takes, and return what `read` makes of each, in their order.

        Requests are iterated more than once, and results are dropped once they are read. So few of thousands of calls
        are in memory, if the collection makes its requests as they are needed.

        A call that raises or takes longer than the timeout has failed, which is not an error of the run. Errors of the
        log or of the sink, and interrupts, end all calls and are raised unchanged. Raises CensoredError before any call
        is made if this is a replay and a call has no recorded reply.
        """
        call_ids = [request.call_id for request in requests]
        if self._backend is None:
            self._check_replay(requests)
        for request in requests:
            self._record_request(request)  # which may take up a reply from before a reopening
        missing = dict.fromkeys(call_id for call_id in call_ids if not self.past.has_result(call_id))
        results: dict[str, T] = {}
        for request in requests if len(missing) < len(call_ids) else ():
            if (result := self.past.result(request.call_id)) is not None:
                for event in (*self.past.turns(result.call_id), result):
                    self._emitter.emit(event)
                results[request.call_id] = read(request, result)
        if missing:
            # a call that is made again costs again: the log says so before it is made
            self._recorder.write_resumption()

            async def call(request: RequestT) -> None:
                results[request.call_id] = read(request, await self._call(request))

            def calls(endpoint: str) -> Iterator[Awaitable[None]]:
                wanted = (request for request in requests if request.call_id in missing)
                return (call(request) for request in wanted if self._limited_endpoint(request) == endpoint)

            counts = self._counted(requests, missing)
            await self._live({endpoint: (count, calls(endpoint)) for endpoint, count in counts.items()})
        return [results[call_id] for call_id in call_ids]

    def _check_replay(self, requests: Collection[Request]) -> None:
        """Show a replay's requests to its recorder; raise CensoredError if one of them has no recorded reply."""
        for request in requests:
            self._recorder.note_request(request)
        for request in requests:
            if not self.past.has_result(request.call_id):
                raise CensoredError(request.call_id)

    def _record_request(self, request: Request) -> None:
        items = tuple(item.finding_id for item in request.items) if isinstance(request, WorkerRequest) else ()
        if isinstance(request, WorkerRequest):
            agent = request.worker
        else:
            agent = request.role if isinstance(request, DebateRequest) else AGENT_OF_ROLE[request.role]
        digest = hashlib.sha256(to_json(request)).hexdigest()
        requested = CallRequested(call_id=request.call_id, worker=agent, items=items, request_sha256=digest)
        recorded = self.past.recorded(requested)
        if recorded is not None and isinstance(recorded.event, CallRequested):
            self.never_asked |= dict.fromkeys(set(items) - set(recorded.event.items), request.call_id)
        self._emitter.emit(requested)

    def _counted(self, requests: Collection[Request], missing: Collection[str]) -> Mapping[str, int]:
        """Return how many calls are to be made, by `_limited_endpoint`."""
        if not self._endpoint_limits:
            return {"": len(missing)}
        return Counter(self._limited_endpoint(request) for request in requests if request.call_id in missing)

    def _limited_endpoint(self, request: Request) -> str:
        """Return the address of a request if that endpoint has its own limit; blank if it has none."""
        if not self._endpoint_limits or not isinstance(self._backend, LimitedBackend):
            return ""
        address = self._backend.address_for(request)
        return address if address in self._endpoint_limits else ""

    async def _live(self, calls: Mapping[str, tuple[int, Iterator[Awaitable[None]]]]) -> None:
        """Make the calls of each endpoint, as many at once as its limit allows; those without a limit are one endpoint.

        Their results are on disk when this returns. Few tasks each make one call after another, and calls that wait for
        their endpoint do not delay others.
        """
        stopped = False

        async def make_calls(of_endpoint: Iterator[Awaitable[None]]) -> None:
            for call in of_endpoint:
                await call
                if stopped:
                    return

        with self._emitter:
            tasks = [
                asyncio.create_task(make_calls(of_endpoint))
                for endpoint, (count, of_endpoint) in calls.items()
                for _ in range(min(count, self._endpoint_limits.get(endpoint, count), self._limit or count))
            ]
            try:
                for task in asyncio.as_completed(tasks):
                    await task
                await self._emitter.synced()
            finally:  # not a TaskGroup: that would wrap what it lets out
                stopped = True
                try:
                    await self._wait_for_unstoppable(tasks)
                finally:
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)

    async def _wait_for_unstoppable(self, tasks: Collection[asyncio.Task[None]]) -> None:
        """Cancel the calls that can be stopped, and record the replies of the others; a second interrupt ends this."""
        if not isinstance(self._backend, UnstoppableBackend) or self._emitter.error is not None:
            return
        under_way = {task: request for task in tasks if (request := self._under_way.get(task)) is not None}
        running = [task for task, request in under_way.items() if self._backend.will_reply(request)]
        if not running:
            return
        for task in set(tasks).difference(running):
            task.cancel()
        functions = counted(len(running), "running function")
        say(f"Waiting for {functions}; the answers are kept. Interrupt again (Ctrl-C) to stop at once.", shown=True)
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError:
            lost = counted(sum(not task.done() for task in running), "running function")
            say(f"Stopped; the answers of {lost} are lost. A resumption calls them again.", shown=True)
            raise

    async def _call(self, request: Request) -> Result:
        """Make one call when a slot is free; its turns or its result are on disk when this returns."""
        async with self._slots:
            try:
                result = await self._result(request)
                self._emitter.emit_unsynced(result)
            finally:
                self._usage_limit.release(request.call_id)
        if not self._converses:
            await self._emitter.synced()
        return result

    async def _result(self, request: Request) -> Result:
        """Return the event that records how a call ended; the timeout begins here."""
        began = time.monotonic()
        clock = CallClock(self._timeout)
        turns = CallTurns(self._emitter, self._usage_limit, clock)
        status: Failure
        try:
            async with clock.limit:
                return _replied(request.call_id, await self._reply(request, turns), ms_since(began))
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            status, reason = "error", "CancelledError: the backend gave up its own work"
        except Exception as error:
            if self._emitter.error is not None:  # the log or the sink failed, not the agent
                raise self._emitter.error from None
            if isinstance(error, SettingsError):  # a wrong key: once it is corrected, the run can be resumed
                raise
            status, reason = self._failure(error)
        return CallFailed(
            call_id=request.call_id,
            status=status,
            reason=_plain_reason(reason),
            duration_ms=ms_since(began),
            usage=turns.usage,
            tools=turns.tools,
        )

    def _failure(self, error: Exception) -> tuple[Failure, str]:
        if isinstance(error, LimitError):
            return "budget", str(error)
        if isinstance(error, TimeoutError):
            return "timeout", str(error) or f"no answer within {self._timeout} s"
        return "error", f"{type(error).__name__}: {error}"

    async def _reply(self, request: Request, turns: CallTurns) -> Reply:
        assert self._backend is not None  # noqa: S101  (call_all has seen to it)
        if isinstance(self._backend, ConversingBackend):
            return await self._backend.converse(request, turns)
        await turns.reserve(request.call_id, None)
        task = asyncio.current_task()
        self._under_way[task] = request
        try:
            return await self._backend.answer(request)
        finally:
            del self._under_way[task]


def _plain_reason(text: str) -> str:
    """Return a reason as a log can hold it: short, without halves of surrogate pairs, without secrets."""
    return truncate(redact(text.encode(errors="backslashreplace").decode()), REASON_LENGTH, mark_included=True)


def _replied(call_id: str, reply: Reply, measured_ms: int) -> CallReplied:
    """Return the event of a reply, with a copy of its value, since the backend may change or share its own.

    The measured time is recorded for a backend that does not say how long it took (one that replays does).
    """
    if not isinstance(reply, Reply):
        raise TypeError(f"the backend gave a {type(reply).__name__} where a Reply was due")
    if reply.usage.total >= MAX_TOKENS_COUNTED:
        raise ValueError(f"the backend counts {reply.usage.total:.3g} tokens, which no table can hold")
    return CallReplied(
        call_id=call_id,
        value=redacted(json_copy(reply.value)),
        usage=reply.usage,
        duration_ms=reply.duration_ms or measured_ms,
        source=reply.source,
        tools=redacted(reply.tools),
        partial_failures=tuple(_plain_reason(text) for text in reply.partial_failures),
    )
