"""Run a coroutine to its end from any place, a notebook's running event loop included."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from verifyplan.agents.base import session_of


async def in_session(backend: object, work: Coroutine[Any, Any, None]) -> None:
    """Do the work while the backend, if it holds connections, holds them in this event loop."""
    async with session_of(backend):
        await work


def run_async(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end; where a loop runs already (a notebook), in a thread of its own.

    Ctrl-C, or a notebook's stop button, ends the work in both cases.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = Future()

    async def announced_work() -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  (a coroutine that runs is in a task)
        started.set_result((asyncio.get_running_loop(), task))
        await work

    with ThreadPoolExecutor(1) as thread:
        ended = thread.submit(asyncio.run, announced_work())
        try:
            return ended.result()
        finally:
            if not ended.done():  # this thread was interrupted: without this, it would wait for the other to end
                loop, task = started.result()
                with suppress(RuntimeError):  # it ended in this very moment
                    loop.call_soon_threadsafe(task.cancel)
