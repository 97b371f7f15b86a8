"""Run a coroutine to its end from any place, a notebook's running event loop included."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from verifyplan.agents.base import session_of


def run_async(work: Coroutine[Any, Any, None], backend: object) -> None:
    """Run a coroutine to its end; where a loop runs already (a notebook), in a thread of its own.

    A backend with connections holds them in the loop meanwhile. Ctrl-C, or a notebook's stop button, ends the work.
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
        return asyncio.run(work_in_session())
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
                loop, task = started.result()
                with suppress(RuntimeError):  # it ended in this very moment
                    loop.call_soon_threadsafe(task.cancel)
