"""What every backend is: one coroutine that answers a request, and a description of itself (rule G1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from verifyplan.protocol.call import Reply, Usage, WorkerRequest
from verifyplan.protocol.debate_call import DebateRequest
from verifyplan.protocol.event_turn import TurnReplied, TurnSent
from verifyplan.protocol.plan_call import RoleRequest

Request = WorkerRequest | RoleRequest | DebateRequest
"""What a backend may be asked: to vote on findings or challenges, to play a role of a plan run, or one of a debate."""


@runtime_checkable
class Backend(Protocol):
    """Answers requests; each call is fresh, and all state stays with the caller.

    A backend raises TimeoutError when it gave up waiting, and any other exception when it failed; the loop
    turns both into failed calls (rules A11, B8). A SettingsError is no failure of an agent: it ends the process, and
    the run goes on when the settings are right. It never checks its own answer: the loop does. One that plays
    workers only need not answer a `RoleRequest`; plan runs with it end in failed calls.
    """

    def describe(self) -> dict[str, Any]:
        """Name and settings, as JSON values, for the log."""

    def check_worker(self, worker: str) -> str | None:
        """None if the backend can play that worker, else what is wrong and what it can play."""

    async def answer(self, request: Any) -> Reply:
        """The reply to one `Request`; its `value` is for the loop to check."""


class ModelReply(NamedTuple):
    """What came back from a model in one exchange."""

    message: dict[str, Any]
    usage: Usage
    batch: str | None = None


Send = Callable[[], Awaitable[ModelReply]]
"""Sends one request to a model, with all retries that belong to it."""


class Turns(Protocol):
    """The turns of one call as the run log has them: each is on disk before anything acts on it (rule E2)."""

    def sent(self, turn: str) -> TurnSent | None:
        """What a turn added, if it is on disk: it was prepared before the run was broken off."""

    async def exchange(self, sent: TurnSent, send: Send) -> TurnReplied:
        """The reply of a turn: the recorded one, else what `send` brings, which is recorded first.

        What `send` raises comes out as it is; BudgetError if the run may not send any more.
        """


class BudgetError(Exception):
    """A call was not sent, as the run has used what it may use; the text says what and how much."""


@runtime_checkable
class ConversingBackend(Backend, Protocol):
    """A backend whose calls take several turns, each recorded, so that a resumed run goes on within a call.

    It alone can be asked again: its conversation holds what it said, and one turn may repair the form of an answer,
    such as a refutation without its basis (rule B4). Any other backend gets a fresh context on every call: asked again
    it would vote anew, so what it left out is filled by the run's `missing_basis`.
    """

    max_concurrency: int
    """How many of its calls may be under way at once."""

    async def converse(self, request: Any, turns: Turns) -> Reply:
        """The reply to one `Request`, every exchange on the way made through `turns`."""

    def session(self) -> AbstractAsyncContextManager[object]:
        """Holds connections while a run is driven, in the event loop that drives it."""

    def at(self, root: str | Path) -> Self:
        """The same backend for a run over another folder."""

    def budget_problem(self, limit: str) -> str | None:
        """None if a limit (`max_cost`) can be kept, else what is missing for it."""


def session_of(backend: object) -> AbstractAsyncContextManager[object]:
    """The session of a backend that has one; nothing for others."""
    return backend.session() if isinstance(backend, ConversingBackend) else nullcontext()
