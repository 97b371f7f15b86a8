"""Processes that are forked and killed: helpers of the programs that `tests.processes.killed` starts."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from tests.longer import LONG
from verifyplan.protocol.event import Event, Sink

CHILD_SECONDS = 300
"""After so many seconds a child is killed by its own alarm, whatever it waits for; the slowest takes two."""


def in_child(work: Callable[[], Any], close: int | None = None) -> int:
    """Do the work in a process of its own, which first closes a file; return its id."""
    if threading.active_count() > 1:
        raise RuntimeError("forking with threads is not safe")
    child = os.fork()
    if child:
        return child
    try:
        signal.alarm(CHILD_SECONDS)
        if close is not None:
            os.close(close)
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(1)


def survived(child: int) -> bool:
    """Wait for a child; return whether it came to its end before it was killed. RuntimeError if it failed."""
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return False
    if status:
        raise RuntimeError("the child raised, or was still at work when its time was over")
    return True


def dying(after: int) -> Sink:
    """Return a sink that kills its own process when it was sent so many events."""
    left = [after]

    def sink(_: Event) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    return sink


def deaths(kinds: Sequence[str]) -> Sequence[int]:
    """Return after how many things runs are killed: after the first or the last of each kind in turns, and after all.

    Or (long) after each of them.
    """
    if LONG:
        return range(1, len(kinds) + 1)
    places = {kind: [number for number, other in enumerate(kinds, 1) if other == kind] for kind in kinds}
    chosen = {found[-(turn % 2)] for turn, found in enumerate(places.values())}
    return sorted({*chosen, len(kinds)})
