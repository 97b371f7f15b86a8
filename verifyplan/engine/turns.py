"""Record what calls do: events, on disk before anything acts on them, and turns with their HTTP requests (rule E1)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Self

from pydantic_core import from_json, to_json

from verifyplan.agents.base import LimitError, Send, Sending
from verifyplan.engine.usage_limit import UsageLimit
from verifyplan.protocol.call import ToolUse, Usage
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_run import Attempt, TurnReplied, TurnSent
from verifyplan.redaction import redacted
from verifyplan.runlog.chain import now
from verifyplan.runlog.recorder import Recorder

STATUS_OK = 200
"""That of each request that brought a message."""

PROCESS_ENDED = "the process ended"
"""The error of an attempt that was under way when a process died; the process that goes on records it."""


class Emitter:
    """Takes the events of a run: records each and hands it to the folds, such as the run's state.

    `count` takes each event of the log once, superseded ones too, and then those that are new. Calls that are under
    way at once (`with emitter`) use `emit_unsynced` and share the waits for the disk. If that fails, none of them can
    emit further events.
    """

    def __init__(self, recorder: Recorder, count: Sink, *folds: Sink) -> None:
        self.recorder, self._count = recorder, count
        for event in recorder.past.events:
            count(event)
        self.error: BaseException | None = None
        """The error of the log or of the sink: it ends the run, and is not a failure of an agent."""
        self._folds = folds
        self._emitted = self._on_disk = 0
        self._syncing = asyncio.Lock()
        self._disk: ThreadPoolExecutor | None = None  # its own thread: tools may fill the pool that all share

    def __enter__(self) -> Self:
        self._disk = ThreadPoolExecutor(1, "disk")
        return self

    def __exit__(self, *_: object) -> None:
        if self._disk is not None:
            self._disk.shutdown()
        self._disk = None

    def emit(self, event: Event, *, sync: bool = True) -> None:
        """Record an event, on disk when this returns unless `sync` is False, and fold it."""
        if self.recorder.emit(event, *self._folds, sync=sync):
            self._count(event)

    def emit_unsynced(self, event: Event) -> None:
        """Emit an event that is on disk once `synced` has returned."""
        if self.error is not None:
            raise self.error
        try:
            self.emit(event, sync=False)
        except BaseException as error:
            self.error = error
            raise
        self._emitted += 1

    async def synced(self) -> None:
        """Return when all that was emitted so far is on disk; calls that wait at once share one wait."""
        own = self._emitted
        async with self._syncing:
            if self._on_disk >= own:
                return
            emitted = self._emitted
            try:
                await asyncio.get_running_loop().run_in_executor(self._disk, self.recorder.sync)
            except OSError as error:
                self.error = error
                raise
            self._on_disk = emitted


class CallClock:
    """The time of one call; it stops while the call waits for what others use."""

    def __init__(self, timeout: float | None) -> None:
        self.limit = asyncio.timeout(timeout)

    @property
    def seconds_left(self) -> float | None:
        """The seconds that are left; None for no limit."""
        end = self.limit.when()
        return None if end is None else max(0.0, end - asyncio.get_running_loop().time())

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clock within this context."""
        left = self.seconds_left
        self.limit.reschedule(None)
        try:
            yield
        finally:
            self.limit.reschedule(None if left is None else asyncio.get_running_loop().time() + left)


class LiveSending(Sending):
    """Records the HTTP requests of one turn, numbered on from those of earlier processes.

    `cut_off` says that a process died while the turn was under way; `reserve_again` waits until there is room for one
    more request beside one that is perhaps billed.
    """

    def __init__(
        self,
        turn: str,
        clock: CallClock,
        emit: Callable[[Attempt], None],
        reserve_again: Callable[[], Awaitable[None]],
        *,
        made: int,
        cut_off: bool,
    ) -> None:
        self._turn, self._clock, self._emit, self._reserve_again = turn, clock, emit, reserve_again
        self._made, self._cut_off, self._has_lost = made, cut_off, False
        self._answered: Attempt | None = None

    @property
    def seconds_left(self) -> float | None:
        """The seconds that the call may still take; None for no limit."""
        return self._clock.seconds_left

    async def begin(self) -> None:
        """Record the request that was under way when a process died; it is perhaps billed."""
        if self._cut_off:
            facts = {"started": now(), "duration_ms": 0, "sent_bytes": 0, "received_bytes": 0, "perhaps_billed": True}
            self.note(Attempt(call_id=self._turn, number=1, error=PROCESS_ENDED, retry_in_s=0, **facts))
            await self.pause(0)

    def note(self, attempt: Attempt) -> None:
        """Record how a request ended; of one that was answered, when the reply is recorded (`note_answered`).

        Otherwise, a process that dies between the two, as with a full disk, would leave an answer that is not counted.
        """
        self._made += 1
        self._has_lost |= attempt.perhaps_billed
        attempt = attempt.model_copy(update={"number": self._made})
        if attempt.error:
            self._emit(attempt)
        else:
            self._answered = attempt

    def note_answered(self, *, lost: bool = False) -> None:
        """Record the request that was answered, if there is one; `lost`: the reply is not recorded."""
        if self._answered is not None:
            self._emit(self._answered.model_copy(update={"perhaps_billed": lost}))
            self._answered = None

    def note_unrecorded(self, started: str, duration_ms: int) -> None:
        """Record the request of a reply that an earlier process recorded before it ended; its bytes are unknown."""
        facts = {"started": started, "duration_ms": duration_ms, "sent_bytes": 0, "received_bytes": 0}
        self.note(Attempt(call_id=self._turn, number=1, status=STATUS_OK, **facts))
        self.note_answered()

    async def pause(self, seconds: float) -> None:
        """Wait for some seconds, and until the run may send the turn again; LimitError if it may not."""
        await asyncio.sleep(seconds)
        if self._has_lost:
            self._has_lost = False
            await self._reserve_again()


class CallTurns:
    """The turns of one call, recorded or still to be made; `usage` and `tools` are the sums over all turns so far."""

    def __init__(self, emitter: Emitter, usage_limit: UsageLimit, clock: CallClock) -> None:
        self.usage = Usage()
        self.tools: tuple[ToolUse, ...] = ()
        self._emitter, self._past = emitter, emitter.recorder.past
        self._usage_limit, self._clock = usage_limit, clock
        self._sending: LiveSending | None = None
        """What notes the requests of the turn that is under way."""

    def sent(self, turn: str) -> TurnSent | None:
        """Return what a turn added, if it is on disk."""
        return self._past.sent(turn)

    async def exchange(self, sent: TurnSent, send: Send) -> TurnReplied:
        """Return the recorded reply of a turn, else what `send` brings, which is on disk when this returns.

        LimitError, before anything is sent, where the run has used what it may use.
        """
        sent = redacted(sent)
        self.tools += sent.tools
        known = self._past.turn(sent.call_id)
        if known is None:
            await self.reserve(sent.call_id, sent.estimate)
        try:
            self._emitter.emit_unsynced(sent)
            attempts = self._past.attempts(sent.call_id)
            self._emit(attempt for attempt in attempts if attempt.error)
            replied = known or await self._send(sent.call_id, send)
            self._emitter.emit_unsynced(replied)
            self._emit(attempt for attempt in attempts if not attempt.error)
            if self._sending is not None:
                self._sending.note_answered()
                self._note_unrecorded(self._sending, known, attempts)
        except BaseException:
            if self._sending is not None and self._emitter.error is None:
                self._sending.note_answered(lost=True)
            raise
        finally:
            self._usage_limit.release(sent.call_id)
        self.usage += replied.usage
        if known is None:
            await self._emitter.synced()
        return replied

    def _emit(self, attempts: Iterable[Attempt]) -> None:
        for attempt in attempts:
            self._emitter.emit_unsynced(attempt)

    def _note_unrecorded(self, sending: LiveSending, known: TurnReplied | None, attempts: Sequence[Attempt]) -> None:
        """Record the request of a reply on disk, if a process ended between the two.

        Replies of batches have no request, and some turns no estimate.
        """
        if known is None or known.batch is not None or any(not attempt.error for attempt in attempts):
            return
        record = self._past.recorded(TurnSent(call_id=known.call_id, model="", request_sha256=""))
        if record is not None and isinstance(record.event, TurnSent) and record.event.estimate is not None:
            sending.note_unrecorded(record.at, known.duration_ms)

    async def reserve(self, name: str, estimate: Usage | None) -> None:
        """Wait until there is room for what is about to be sent; LimitError if the run may not send any more."""
        with self._clock.stopped():
            refusal = await self._usage_limit.reserve(name, estimate)
        if refusal:
            raise LimitError(refusal)

    def sending(self, turn: TurnSent) -> Sending:
        """Return what notes the HTTP requests of a turn."""

        async def reserve_again() -> None:
            self._usage_limit.release(turn.call_id)
            await self.reserve(turn.call_id, turn.estimate)

        made, cut_off = len(self._past.attempts(turn.call_id)), self._past.was_cut_off(turn.call_id)
        emit = self._emitter.emit_unsynced
        self._sending = LiveSending(turn.call_id, self._clock, emit, reserve_again, made=made, cut_off=cut_off)
        return self._sending

    @staticmethod
    async def _send(turn: str, send: Send) -> TurnReplied:
        """Send a turn; ValueError for a message that no log can hold, which is an error of the call, not of the run."""
        began = time.monotonic()
        reply = await send()
        return TurnReplied(
            call_id=turn,
            message=redacted(json_copy(reply.message)),
            usage=reply.usage,
            duration_ms=ms_since(began),
            batch=reply.batch,
        )


def ms_since(began: float) -> int:
    """Return the milliseconds since a time of the monotonic clock."""
    return round((time.monotonic() - began) * 1000)


def json_copy(value: Any) -> Any:
    """Return a copy in JSON values; the value is nested once more, as it will be in a log, whose depth is limited."""
    [[copy]] = from_json(to_json([[value]]), allow_inf_nan=False)
    return copy
