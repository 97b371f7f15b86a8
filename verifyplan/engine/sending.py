"""Send one turn of a live call: its HTTP requests are recorded, and its time stops while it waits for room."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from verifyplan.agents.base import Sending
from verifyplan.protocol.event_run import Attempt
from verifyplan.runlog.chain import now

STATUS_OK = 200
"""That of each request that brought a message."""

PROCESS_ENDED = "the process ended"
"""The error of an attempt that was under way when a process died; the process that goes on records it."""


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

        Else a process that dies between the two, as with a full disk, would leave an answer that nobody counts.
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
        """Record the request of a reply that an earlier process recorded, and then ended; its bytes nobody knows."""
        facts = {"started": started, "duration_ms": duration_ms, "sent_bytes": 0, "received_bytes": 0}
        self.note(Attempt(call_id=self._turn, number=1, status=STATUS_OK, **facts))
        self.note_answered()

    async def pause(self, seconds: float) -> None:
        """Return when so many seconds are over and the run may send the turn again; LimitError where it may not."""
        await asyncio.sleep(seconds)
        if self._has_lost:
            self._has_lost = False
            await self._reserve_again()
