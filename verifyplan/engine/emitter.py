"""Emit the events of a run: each is recorded, folded, and on disk before anything acts on it (rule E1)."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from verifyplan.protocol.event import Event, Sink
from verifyplan.runlog.recorder import Recorder


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
