"""Say in a line, as it happens, that an endpoint asks a run to wait (rule A12)."""

from __future__ import annotations

import time
from collections.abc import Callable

from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_run import Attempt
from verifyplan.text import span

MIN_SAID_WAIT_S = 10.0
"""Shorter waits are in the log alone."""


def say_waits(say: Callable[[str], None]) -> Sink:
    """Return a listener that says each wait which ends later than those said before.

    >>> hear = say_waits(print)
    >>> facts = {"started": "", "duration_ms": 1, "sent_bytes": 1, "received_bytes": 1, "number": 1}
    >>> hear(Attempt(call_id="r1/ann/t1", status=429, asked_wait_s=3600, **facts))
    r1/ann: the endpoint asks to wait 60 min (429); the run can be stopped and resumed
    >>> hear(Attempt(call_id="r1/bob/t1", status=429, asked_wait_s=3599, **facts))
    """
    said_until = 0.0

    def hear(event: Event) -> None:
        nonlocal said_until
        if not isinstance(event, Attempt) or (event.asked_wait_s or 0.0) < MIN_SAID_WAIT_S:
            return
        seconds = event.asked_wait_s or 0.0
        until = time.monotonic() + seconds
        if until > said_until + 1:
            said_until = until
            words = f"the endpoint asks to wait {span(seconds)} ({event.status})"
            say(f"{event.of_call}: {words}; the run can be stopped and resumed")

    return hear
