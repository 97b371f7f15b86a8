"""How the batches stand, for whoever waits: one bar, of the oldest batch that is under way."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Self

from verifyplan.progress import progress as progress_bar


class Board:
    """Told how each batch stands, shows the oldest that has not ended; a context, which ends with nothing shown."""

    def __init__(self, shown: bool | None = None) -> None:
        self._shown, self._stack = shown, ExitStack()
        self._numbers: dict[str, int] = {}
        self._open: dict[str, tuple[int, int]] = {}
        self._current: str | None = None
        self._step: Callable[[], None] = lambda: None
        self._steps = 0

    def __enter__(self) -> Self:
        """Nothing is shown yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        self._stack.close()

    def told(self, batch: str, done: int, requests: int) -> None:
        """Show how a batch stands: `done` of its `requests` came to an end."""
        self._numbers.setdefault(batch, len(self._numbers) + 1)
        self._open[batch] = (done, requests)
        if done >= requests:
            del self._open[batch]
        oldest = next(iter(self._open), None)
        if oldest != self._current:
            self._change(oldest)
        if oldest is not None:
            for _ in range(self._steps, self._open[oldest][0]):
                self._step()
            self._steps = max(self._steps, self._open[oldest][0])

    def _change(self, batch: str | None) -> None:
        self._stack.close()
        self._current, self._steps = batch, 0
        if batch is not None:
            title = f"batch {self._numbers[batch]}: requests done"
            self._step = self._stack.enter_context(progress_bar(title, self._open[batch][1], self._shown))
