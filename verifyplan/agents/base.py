"""What every backend is: one coroutine that answers a request, and a description of itself (SPEC G1)."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from verifyplan.protocol.call import Reply, WorkerRequest


@runtime_checkable
class Backend(Protocol):
    """Answers requests; each call is fresh, and all state stays with the caller.

    A backend raises TimeoutError when it gave up waiting, and any other exception when it failed; the loop
    turns both into failed dispatches (SPEC B8). It never checks its own answer: the loop does.
    """

    def describe(self) -> dict[str, Any]:
        """Name and settings, as JSON values, for the log."""

    def check_worker(self, worker: str) -> str | None:
        """None if the backend can play that worker, else what is wrong and what it can play."""

    async def answer(self, request: WorkerRequest) -> Reply:
        """The reply to one request; its `value` is for the loop to check."""
