"""Drive the loop of a run to its end, also where an event loop is running, and show how far it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any

from verifyplan.agents.base import session_of
from verifyplan.progress import progress as progress_bar
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_run import Attempt
from verifyplan.runlog.recorder import Recorder
from verifyplan.text import span

MIN_SAID_WAIT_S = 10.0
"""Shorter waits are in the log alone."""

Step = Callable[[], None]
"""Called when a call is over, for progress."""


def no_step() -> None:
    """Show no progress."""


def drive_loop(
    loop: Callable[[Step], Coroutine[Any, Any, None]],
    backend: object,
    recorder: Recorder,
    title: str,
    steps: int | None = None,
    progress: bool | None = None,
) -> None:
    """Run the loop of a run to its end; show its progress, and say when an endpoint asks to wait (rule A12).

    `loop` takes what is called after each of `steps` (None: unknown), and its events go to `recorder`.
    """
    with progress_bar(title, steps, progress) as step:
        recorder.also_hand_to(say_waits(step.say))
        run_async(loop(step), backend)


def run_async(work: Coroutine[Any, Any, None], backend: object) -> None:
    """Run a coroutine to its end; where a loop runs already (a notebook), in a separate thread.

    A backend with connections holds them in the loop meanwhile. Ctrl-C, or a notebook's stop button, ends the work; a
    second one also ends a wait for replies that the first one began.
    """

    async def work_in_session() -> None:
        try:
            async with session_of(backend):
                await work
        finally:
            work.close()  # where a session is refused, it has not begun

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        try:
            return asyncio.run(work_in_session())
        except KeyboardInterrupt as interrupt:  # without the frames of asyncio, which do not concern the user
            raise interrupt.with_traceback(None) from None
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = Future()

    async def interruptible_work() -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  (a coroutine that runs is in a task)
        started.set_result((asyncio.get_running_loop(), task))
        await work_in_session()

    with ThreadPoolExecutor(1) as thread:
        ended = thread.submit(asyncio.run, interruptible_work())
        try:
            return ended.result()
        finally:
            if not ended.done():  # this thread was interrupted: without this, it would wait for the other to end
                _cancel(*started.result())
                try:
                    wait([ended])
                except KeyboardInterrupt:
                    _cancel(*started.result())
                    raise


def _cancel(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    with suppress(RuntimeError):  # it ended in this very moment
        loop.call_soon_threadsafe(task.cancel)


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
