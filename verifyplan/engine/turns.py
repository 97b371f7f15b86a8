"""The turns of one call: told before they are sent, on disk before anything acts on them (rule E2)."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from pydantic_core import from_json, to_json

from verifyplan.agents.base import BudgetError, Send
from verifyplan.engine.ledger import UsageBudget
from verifyplan.protocol.call import ToolUse, Usage
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_turn import TurnReplied, TurnSent
from verifyplan.redaction import redacted
from verifyplan.runlog.recorder import Past, Recorder


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
