"""Calls of agents: each recorded before anything acts on it, failures told as one, known replies not asked again.

What a log already holds is answered from there (rules E2, E3); what is missing is asked of the live backend, or ends
a replay, which has none.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Self

from pydantic_core import from_json, to_json

from verifyplan.agents.base import Backend, BudgetError, ConversingBackend, Request, Send
from verifyplan.errors import SettingsError
from verifyplan.protocol.call import MAX_TOKENS_COUNTED, Reply, ToolUse, Usage, WorkerRequest
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_run import CallFailed, CallReplied, CallRequested, Failure, TurnReplied, TurnSent
from verifyplan.protocol.role_call import AGENT_OF_ROLE, DebateRequest
from verifyplan.protocol.settings import Limits
from verifyplan.redaction import redact, redacted
from verifyplan.runlog.recorder import Past, Recorder, Result


class UsageBudget:
    """Adds up usage as events tell it, turns at once and calls without turns when they end.

    What is under way is not counted yet: calls that are made at once may together go beyond a limit, by what they
    use.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits, self.spent = limits, Usage()
        self._in_turns: set[str] = set()
        self._uncounted = self._unpriced = False

    def take(self, event: Event) -> None:
        """Add what an event says was used."""
        if isinstance(event, TurnReplied):
            self._in_turns.add(event.of_call)
            self.spent += event.usage
            self._uncounted |= not event.usage.total
            self._unpriced |= event.usage.cost is None
        elif isinstance(event, CallReplied | CallFailed) and event.call_id not in self._in_turns:
            self.spent += event.usage

    def refusal(self, next_call: str) -> str:
        """Why nothing more may be sent, in words; empty if it may.

        A limit that cannot be kept, as a model's reply came without counts or has no price, is as good as used up.
        """
        tokens, cost = self.limits.max_tokens, self.limits.max_cost
        if tokens is not None and self.spent.total >= tokens:
            return f"max_tokens: {self.spent.total:,} tokens of {tokens:,} were used before {next_call} was called"
        if tokens is not None and self._uncounted:
            return f"max_tokens cannot be kept: the endpoint counts no tokens; {next_call} was not called"
        if cost is not None and self._unpriced:
            return f"max_cost cannot be kept: a reply has no price, or no count; {next_call} was not called"
        spent = self.spent.cost
        if cost is not None and spent is not None and spent >= cost:
            return f"max_cost: {spent:.4f} dollars of {cost} were spent before {next_call} was called"
        return ""


class ConcurrentEmitter:
    """Where calls that are under way at once tell their facts; once that fails, none of them tells any more.

    It is open (`with`) while calls are under way: the thread that waits for the disk lives no longer than they do.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.broken: BaseException | None = None
        """What the log, or who listens, raised: it ends the run, and is no failure of an agent."""
        self._told = self._safe = 0
        self._line = asyncio.Lock()
        self._disk: ThreadPoolExecutor | None = None  # of its own: tools may fill the one that all share

    def __enter__(self) -> Self:
        self._disk = ThreadPoolExecutor(1, "disk")
        return self

    def __exit__(self, *_: object) -> None:
        if self._disk is not None:
            self._disk.shutdown()
        self._disk = None

    def emit(self, event: Event) -> None:
        """Tell a fact; it is safe once `secured` has returned."""
        if self.broken is not None:
            raise self.broken
        try:
            self._recorder.emit(event, sync=False)
        except BaseException as error:
            self.broken = error
            raise
        self._told += 1

    async def secured(self) -> None:
        """Return when all that was told so far is on the disk: who waits at once shares one wait for the disk."""
        mine = self._told
        async with self._line:
            if self._safe >= mine:
                return
            told = self._told
            try:
                await asyncio.get_running_loop().run_in_executor(self._disk, self._recorder.sync)
            except OSError as error:
                self.broken = error
                raise
            self._safe = told


class CallTurns:
    """The turns of one call of a run, recorded or to be made; `usage` and `tools` are those of all so far."""

    def __init__(self, desk: ConcurrentEmitter, past: Past, ledger: UsageBudget) -> None:
        self.usage = Usage()
        self.tools: tuple[ToolUse, ...] = ()
        self._desk, self._past, self._ledger = desk, past, ledger

    def sent(self, turn: str) -> TurnSent | None:
        """What a turn added, if it is on disk."""
        return self._past.sent(turn)

    async def exchange(self, sent: TurnSent, send: Send) -> TurnReplied:
        """The recorded reply of a turn, else what `send` brings, on disk when this returns.

        BudgetError, before anything is sent, where the run has used what it may use.
        """
        sent = redacted(sent)
        self.tools += sent.tools
        known = self._past.turn(sent.call_id)
        if known is None and (refused := self._ledger.refusal(sent.call_id)):
            raise BudgetError(refused)
        self._desk.emit(sent)
        replied = known or await _made(sent.call_id, send)
        self._desk.emit(replied)
        self.usage += replied.usage
        if known is None:
            await self._desk.secured()
        return replied


async def _made(turn: str, send: Send) -> TurnReplied:
    """What came back, as a log can hold it; ValueError if none can: that is a fault of the call, not of the run."""
    began = time.monotonic()
    exchanged = await send()
    [[message]] = from_json(to_json([[exchanged.message]]), allow_inf_nan=False)  # nested, as in a log it will be
    return TurnReplied(
        call_id=turn,
        message=redacted(message),
        usage=exchanged.usage,
        duration_ms=round((time.monotonic() - began) * 1000),
        batch=exchanged.batch,
    )


REASON_LENGTH = 500
"""Longest text kept of what a call failed with; it stands in the explanation of every vote it cost."""


class CensoredError(Exception):
    """A replay reached a call that was never made."""

    def __init__(self, call_id: str) -> None:
        super().__init__(f"no reply of {call_id} was recorded")
        self.call_id = call_id


class Caller:
    """Makes the calls of one run; `backend` is None in a replay."""

    def __init__(
        self, backend: Backend | None, timeout: float | None, recorder: Recorder, limits: Limits | None = None
    ) -> None:
        self.backend, self.timeout, self.past = backend, timeout, recorder.past
        self.ledger = UsageBudget(limits or Limits())
        self._recorder, self.desk = recorder, ConcurrentEmitter(recorder)
        recorder.count = self.ledger.take
        at_once = backend.max_concurrency if isinstance(backend, ConversingBackend) else None
        self._line: AbstractAsyncContextManager[object] = asyncio.Semaphore(at_once) if at_once else nullcontext()

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
            for turn in self.past.turns(result.call_id):
                self._recorder.emit(turn)
            self._recorder.emit(result)
        missing = [request for request in requests if request.call_id not in results]
        if missing:
            self._recorder.announce()  # a call that is made again costs again: the log says so before it is made
        results |= await self._live(missing)
        return [results[request.call_id] for request in requests]

    def _request(self, request: Request) -> None:
        items = tuple(item.finding_id for item in request.items) if isinstance(request, WorkerRequest) else ()
        digest = hashlib.sha256(to_json(request)).hexdigest()
        recorded = self.past.requested(request.call_id)
        if recorded is not None and recorded.request_sha256 != digest:
            self.past.asked_otherwise.append(request.call_id)
        called = CallRequested(call_id=request.call_id, worker=_called(request), items=items, request_sha256=digest)
        self._recorder.emit(called)

    async def _live(self, requests: Sequence[Request]) -> dict[str, Result]:
        results: dict[str, Result] = {}
        with self.desk:
            calls = [asyncio.create_task(self._call(request)) for request in requests]
            try:
                for ended in asyncio.as_completed(calls):
                    result = await ended
                    results[result.call_id] = result
            finally:  # not a TaskGroup: that would wrap what it lets out
                for call in calls:
                    call.cancel()
                await asyncio.gather(*calls, return_exceptions=True)
        return results

    async def _call(self, request: Request) -> Result:
        """One call, when its turn has come, and what came of it, on disk as soon as it is known."""
        async with self._line:
            result = await self._ended(request)
            self.desk.emit(result)
            await self.desk.secured()
            return result

    async def _ended(self, request: Request) -> Result:
        """How one call ended, as the event that tells it; the timeout begins here."""
        began = time.monotonic()
        turns = CallTurns(self.desk, self.past, self.ledger)
        status: Failure
        try:
            async with asyncio.timeout(self.timeout):
                return _replied(request.call_id, await self._asked(request, turns), _since(began))
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            status, reason = "error", "CancelledError: the backend gave up its own work"
        except Exception as error:
            if self.desk.broken is not None:  # the log or who listens, not the agent
                raise self.desk.broken from None
            if isinstance(error, SettingsError):  # nor is a wrong key: set right, the run goes on where it was
                raise
            status, reason = self._told(error)
        return CallFailed(
            call_id=request.call_id,
            status=status,
            reason=_reason(reason),
            duration_ms=_since(began),
            usage=turns.usage,
            tools=turns.tools,
        )

    def _told(self, error: Exception) -> tuple[Failure, str]:
        if isinstance(error, BudgetError):
            return "budget", str(error)
        if isinstance(error, TimeoutError):
            return "timeout", str(error) or f"no answer within {self.timeout} s"
        return "error", f"{type(error).__name__}: {error}"

    async def _asked(self, request: Request, turns: CallTurns) -> Reply:
        assert self.backend is not None  # noqa: S101  (call_all has seen to it)
        if isinstance(self.backend, ConversingBackend):
            return await self.backend.converse(request, turns)
        if refused := self.ledger.refusal(request.call_id):
            raise BudgetError(refused)
        return await self.backend.answer(request)


def _called(request: Request) -> str:
    """The agent or worker that is called."""
    if isinstance(request, WorkerRequest):
        return request.worker
    return request.role if isinstance(request, DebateRequest) else AGENT_OF_ROLE[request.role]


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)


def _reason(text: str) -> str:
    """What went wrong, as it can be written down: short, without half characters, without secrets."""
    plain = redact(text.encode(errors="backslashreplace").decode())
    return plain if len(plain) <= REASON_LENGTH else f"{plain[: REASON_LENGTH - 3]}..."


def _replied(call_id: str, reply: Reply, measured_ms: int) -> CallReplied:
    """The reply as an event: a copy in JSON values, since the backend may change or share its own.

    A backend that does not say how long it took (one that replays does) is timed here.
    """
    if not isinstance(reply, Reply):
        raise TypeError(f"the backend gave a {type(reply).__name__} where a Reply was due")
    if reply.usage.total >= MAX_TOKENS_COUNTED:
        raise ValueError(f"the backend counts {reply.usage.total:.3g} tokens, which no table can hold")
    [[value]] = from_json(to_json([[reply.value]]), allow_inf_nan=False)  # nested, as in a log it will be
    return CallReplied(
        call_id=call_id,
        value=redacted(value),
        usage=reply.usage,
        duration_ms=reply.duration_ms or measured_ms,
        source=reply.source,
        tools=redacted(reply.tools),
        partial_failures=tuple(_reason(text) for text in reply.partial_failures),
    )
