"""Work that waits until controls rest: step by step in the kernel's own loop, so that a new move is heard between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

REST = 0.4
"""Seconds without a move after which the first step is done."""
BETWEEN = 0.02
"""Seconds between two steps."""


class WhenAtRest:
    """Steps that are due after the last of many calls of `later`, without a thread.

    Where no loop runs, as in a script, nothing is done until `now` is called. `told` is called whenever `stale`
    changes; `failed` with what a step raised, after which it stays stale.

    >>> done = []
    >>> rest = WhenAtRest([lambda: done.append(1)], told=lambda: None, failed=print)
    >>> rest.later()
    >>> rest.stale, done
    (True, [])
    >>> rest.now()
    >>> rest.stale, done
    (False, [1])
    """

    def __init__(
        self, steps: Sequence[Callable[[], None]], told: Callable[[], None], failed: Callable[[Exception], None]
    ) -> None:
        self._steps, self._told, self._failed = tuple(steps), told, failed
        self._left = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def stale(self) -> bool:
        """Whether steps are still to be done."""
        return self._left > 0

    def later(self) -> None:
        """Do all steps when nothing has called this for a while."""
        self._left = len(self._steps)
        self._told()
        self._wait(REST)

    def now(self) -> None:
        """Do all steps at once; raises what a step raises."""
        self.stop()
        self._left = len(self._steps)
        while self._left:
            self._one()
        self._told()

    def stop(self) -> None:
        """Wait for nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self, seconds: float) -> None:
        self.stop()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._timer = loop.call_later(seconds, self._next)

    def _one(self) -> None:
        self._steps[-self._left]()
        self._left -= 1

    def _next(self) -> None:
        try:
            self._one()
        except Exception as error:
            self._failed(error)  # whatever it is, a person must see it
            return
        if self._left:
            self._wait(BETWEEN)
        else:
            self._told()
