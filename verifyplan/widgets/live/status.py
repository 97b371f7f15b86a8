"""The line that tells where a run stands, and the thread that keeps what is shown up to date."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import anywidget
import traitlets

PACE = 0.25
"""Seconds between two changes of what is shown; what happens in between is shown together."""
TICK = 1.0
"""Seconds after which the time that has passed is shown again though nothing happened."""


class Status(anywidget.AnyWidget):
    """A line of text that a screen reader says as it changes; markup in it is shown as text."""

    _esm = Path(__file__).parent / "status.js"
    text = traitlets.Unicode("").tag(sync=True)


class Painter:
    """Calls `paint` in a thread of its own, soon after each `nudge` and at least once a `TICK`, until `over` says so.

    `paint` is called once more when it is over, and must not raise.
    """

    def __init__(self, paint: Callable[[], None], over: Callable[[], bool]) -> None:
        self._paint, self._over = paint, over
        self._due, self._hurry = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._go, name="verifyplan live run, shown", daemon=True)

    def nudge(self) -> None:
        """There is something new to show; this costs next to nothing."""
        self._due.set()
        if self._over():
            self._hurry.set()

    def _go(self) -> None:
        while True:
            self._due.wait(TICK)
            self._due.clear()
            last = self._over()
            self._paint()
            if last:
                return
            self._hurry.wait(PACE)
