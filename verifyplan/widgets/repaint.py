"""Show changes at a limited rate (Repainter), or once controls rest (Debouncer)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import anywidget
import traitlets

MIN_REPAINT_S = 0.25
"""Seconds between two repaints; changes in between are shown together."""
MAX_REPAINT_S = 1.0
"""Seconds after which there is a repaint even without a change, to show the time."""
REST_S = 0.4
"""Seconds without a move before the first step."""
BETWEEN_STEPS_S = 0.02
"""Seconds between two steps."""


class StatusLine(anywidget.AnyWidget):
    """A line of text that a screen reader says as it changes; markup in it is shown as text."""

    _esm = Path(__file__).parent / "status.js"
    text = traitlets.Unicode("").tag(sync=True)


class Repainter:
    """Calls `paint` in its own thread, soon after each `nudge` and at least once a second, until `over` returns True.

    `paint` is called once more at the end, and must not raise.
    """

    def __init__(self, paint: Callable[[], None], over: Callable[[], bool]) -> None:
        self._paint, self._over = paint, over
        self._due, self._hurry = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._go, name="verifyplan live run, shown", daemon=True)

    def nudge(self) -> None:
        """Ask for a repaint; this returns at once."""
        self._due.set()
        if self._over():
            self._hurry.set()

    def _go(self) -> None:
        while True:
            self._due.wait(MAX_REPAINT_S)
            self._due.clear()
            last = self._over()
            self._paint()
            if last:
                return
            self._hurry.wait(MIN_REPAINT_S)


class Debouncer:
    """Steps that are done after the last of many calls of `later`, without another thread.

    JupyterLab sends messages of controls and of cells to different threads: no two steps are done at once, and a call
    of `later` during a step takes effect after it. Without a running event loop, as in a script, nothing is done until
    `now` is called. `changed` is called whenever `stale` changes; `failed` with the error of a step, after which the
    steps stay stale.

    >>> done = []
    >>> debouncer = Debouncer([lambda: done.append(1)], changed=lambda: None, failed=print)
    >>> debouncer.later()
    >>> debouncer.stale, done
    (True, [])
    >>> debouncer.now()
    >>> debouncer.stale, done
    (False, [1])
    """

    def __init__(
        self, steps: Sequence[Callable[[], None]], changed: Callable[[], None], failed: Callable[[Exception], None]
    ) -> None:
        self._steps, self._changed, self._failed = tuple(steps), changed, failed
        self._left = self._n_asked = 0
        self._at_work = threading.RLock()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def stale(self) -> bool:
        """Whether steps are still to be done."""
        return self._left > 0

    def later(self) -> None:
        """Do all steps once this has not been called for a while."""
        self._n_asked += 1
        self._left = len(self._steps)
        self._changed()
        self._wait(REST_S)

    def now(self) -> None:
        """Do all steps now; raises what a step raises."""
        self.stop()
        with self._at_work:
            self._left = len(self._steps)
            while self._left:
                self._do_next()
        self._changed()

    def stop(self) -> None:
        """Cancel what is due."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self, seconds: float) -> None:
        self.stop()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._timer = loop.call_later(seconds, self._on_timer)

    def _do_next(self) -> None:
        asked = self._n_asked
        self._steps[-self._left]()
        if asked == self._n_asked:
            self._left -= 1

    def _on_timer(self) -> None:
        if not self._at_work.acquire(blocking=False):
            self._wait(BETWEEN_STEPS_S)
            return
        asked = self._n_asked
        try:
            if self._left:
                self._do_next()
        except Exception as error:
            self._failed(error)  # a person must see any error
            return
        finally:
            self._at_work.release()
        if asked != self._n_asked:
            return  # a later call has set a timer
        if self._left:
            self._wait(BETWEEN_STEPS_S)
        else:
            self._changed()
