"""Turns that nobody records: for a backend that is asked outside of a run."""

from __future__ import annotations

import time

from verifyplan.agents.base import Send
from verifyplan.protocol.event_turn import TurnReplied, TurnSent


class UnrecordedTurns:
    """Makes each exchange when it is asked for."""

    def sent(self, turn: str) -> TurnSent | None:  # noqa: ARG002  (nothing is on disk)
        """Nothing was sent before."""
        return None

    async def exchange(self, sent: TurnSent, send: Send) -> TurnReplied:
        """What `send` brings."""
        began = time.monotonic()
        exchanged = await send()
        return TurnReplied(
            call_id=sent.call_id,
            message=exchanged.message,
            usage=exchanged.usage,
            duration_ms=round((time.monotonic() - began) * 1000),
            batch=exchanged.batch,
        )
