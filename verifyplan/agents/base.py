"""What every backend is: one coroutine that answers a request, and a description of itself (SPEC G1)."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from verifyplan.protocol.call import Reply, WorkerRequest
from verifyplan.protocol.plan_call import RoleRequest

Request = WorkerRequest | RoleRequest
"""What a backend may be asked: to vote on findings or challenges, or to play a role of a plan run."""


@runtime_checkable
class Backend(Protocol):
    """Answers requests; each call is fresh, and all state stays with the caller.

    A backend raises TimeoutError when it gave up waiting, and any other exception when it failed; the loop
    turns both into failed calls (SPEC A11, B8). It never checks its own answer: the loop does. One that plays
    workers only need not answer a `RoleRequest`; plan runs with it end in failed calls.
    """

    def describe(self) -> dict[str, Any]:
        """Name and settings, as JSON values, for the log."""

    def check_worker(self, worker: str) -> str | None:
        """None if the backend can play that worker, else what is wrong and what it can play."""

    async def answer(self, request: Any) -> Reply:
        """The reply to one `Request`; its `value` is for the loop to check."""
