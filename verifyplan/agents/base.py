"""The interface between runs and backends: answers, turns, batches (rule G1)."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

from pydantic_core import to_json

from verifyplan.errors import AgentError
from verifyplan.protocol.call import Reply, Usage, WorkerRequest
from verifyplan.protocol.event_run import Attempt, TurnReplied, TurnSent
from verifyplan.protocol.role_call import DebateRequest, RoleRequest

if TYPE_CHECKING:
    from verifyplan.agents.prices import Price

Request = WorkerRequest | RoleRequest | DebateRequest
"""A request to a backend: to vote on findings or challenges, to play a role of a plan run, or one of a debate."""

Address = str | None
"""The address of an endpoint; None for the environment's, or Anthropic's own."""


@runtime_checkable
class Backend(Protocol):
    """The interface of a backend: an object with these three methods can be the `backend` of any run.

    Each call is independent: the request has everything that the agent may know. The run checks the answers. A backend
    raises TimeoutError if it gives up waiting, and any other exception if it fails; the run records a failed call in
    both cases (rules A11, B8). Only a SettingsError ends the process; the run can be resumed when the settings are
    corrected. A backend that plays only workers may raise for a `RoleRequest`.

    >>> import verifyplan as vp
    >>> class Agreeable:
    ...     def describe(self):
    ...         return {"name": "agreeable"}
    ...     def check_worker(self, worker):
    ...         return None
    ...     async def answer(self, request: vp.agents.WorkerRequest) -> vp.agents.Reply:
    ...         votes = {item.finding_id: "agree" for item in request.items}
    ...         return vp.agents.Reply(value={"votes": votes})
    >>> claims = [
    ...     {"finding_id": "F-1", "summary": "rows are locked", "evidence": "store.py:12"}
    ... ]
    >>> run = vp.crossverify(claims, ["ann", "bob"], backend=Agreeable(), log_dir=None)
    >>> list(run.frames.findings["classification"])
    ['full-consensus']
    """

    def describe(self) -> dict[str, Any]:
        """Return the name and the settings, as JSON values, for the log."""

    def check_worker(self, worker: str) -> str | None:
        """Return None if the backend can play that worker, else the problem and the workers that it can play."""

    async def answer(self, request: Any) -> Reply:
        """Return the reply to a `WorkerRequest`, `RoleRequest` or `DebateRequest`; the run checks its `value`."""


class ModelReply(NamedTuple):
    """The message of a model in one exchange, with its usage."""

    message: dict[str, Any]
    usage: Usage
    batch: str | None = None


Send = Callable[[], Awaitable[ModelReply]]
"""Sends one request to a model, with all retries that belong to it."""

SendRequest = Callable[[Address, str, dict[str, Any]], Awaitable[ModelReply]]
"""Sends the body of a request to the endpoint of an address, for the turn of that id."""


class Sending:
    """The sending of one turn, whose HTTP requests a backend notes one by one; this class records nothing."""

    @property
    def seconds_left(self) -> float | None:
        """The seconds that the call may still take; None for no limit."""
        return None

    async def begin(self) -> None:
        """Prepare for the first request; LimitError if the run may not send any more."""

    def note(self, attempt: Attempt) -> None:
        """Record how a request ended; requests are numbered in order."""

    async def pause(self, seconds: float) -> None:
        """Wait some seconds until the turn may be sent again; LimitError if it may not."""
        await asyncio.sleep(seconds)


class Turns(Protocol):
    """The turns of one call in the run log; each is on disk before anything acts on it (rule E2)."""

    def sent(self, turn: str) -> TurnSent | None:
        """Return what a turn sent, if it is on disk because it was prepared before the run was interrupted."""

    async def exchange(self, sent: TurnSent, send: Send) -> TurnReplied:
        """Return the recorded reply of a turn, else the reply from `send`, after it is recorded.

        Errors of `send` are not changed; LimitError if the run may not send any more.
        """

    def sending(self, turn: TurnSent) -> Sending:
        """Return the recorder of a turn's HTTP requests, for the `send` of `exchange`."""


class UnrecordedTurns:
    """Turns that are not recorded, for a backend that is used outside of a run."""

    def sent(self, turn: str) -> TurnSent | None:  # noqa: ARG002  (nothing is on disk)
        """Return None: nothing was sent before."""
        return None

    async def exchange(self, sent: TurnSent, send: Send) -> TurnReplied:
        """Return the reply from `send`."""
        began = time.monotonic()
        reply = await send()
        return TurnReplied(
            call_id=sent.call_id,
            message=reply.message,
            usage=reply.usage,
            duration_ms=round((time.monotonic() - began) * 1000),
            batch=reply.batch,
        )

    def sending(self, turn: TurnSent) -> Sending:  # noqa: ARG002  (nothing is noted)
        """Return a recorder that records nothing."""
        return Sending()


class LimitError(Exception):
    """A call was not sent because the run reached a limit; the text says which limit, and how much was used."""


@runtime_checkable
class ConversingBackend(Backend, Protocol):
    """A backend whose calls take several turns, each recorded, so that a resumed run goes on within a call.

    Only such a backend can repair the form of an answer in one more turn, such as a refutation without its basis (rule
    B4), because its conversation contains that answer. Any other backend has a new context on every call and would
    vote again, so a missing basis is filled in by the run's `missing_basis`.
    """

    max_concurrency: int
    """How many of its calls may be under way at once."""

    async def converse(self, request: Any, turns: Turns) -> Reply:
        """Return the reply to one `Request`, every exchange on the way made through `turns`."""

    def session(self) -> AbstractAsyncContextManager[object]:
        """Hold connections while a run is driven, in the event loop that drives it."""

    def at(self, repo: str | Path) -> Self:
        """Return the same backend for a run over another folder."""

    def budget_problem(self, limit: str) -> str | None:
        """Return None if a limit (`max_cost`) can be kept, else what is missing for it."""


@runtime_checkable
class LimitedBackend(Protocol):
    """A backend with endpoints that take only a few calls at the same time, such as a model on one GPU."""

    @property
    def call_limits(self) -> Mapping[str, int]:
        """How many calls an endpoint has under way at once, by its address; none for those without a limit."""

    def address_for(self, request: Any) -> str:
        """Return the endpoint that a request goes to."""


@runtime_checkable
class UnstoppableBackend(Protocol):
    """A backend whose calls may go on when a run is stopped, such as functions that run in threads."""

    def will_reply(self, request: Any) -> bool:
        """Return whether all work for a reply has begun and cannot be stopped, so that its reply is worth a wait."""


@runtime_checkable
class RepeatableBackend(Protocol):
    """A backend whose requests name the repetition, so that a cache of replies does not give two runs one reply."""

    def in_repetition(self, repetition: int) -> Self:
        """Return the same backend for one of several runs of the same inputs."""


@runtime_checkable
class ModelBackend(ConversingBackend, Protocol):
    """A backend that sends bodies of requests to endpoints: its runs can go in batches, and be estimated."""

    @property
    def prices(self) -> Mapping[str, Price | None]:
        """The price of each of its models; None for one that no table has."""

    def first_request(self, request: Any) -> dict[str, Any]:
        """Return the body of the first request of a call (model, limits, prompt, tools) without sending it."""

    def through(self, send: SendRequest) -> Self:
        """Return the same backend, sending its requests by `send`, as message batches do."""

    def batch_client(self, address: Address) -> BatchClient:
        """Return the message batches of an endpoint; call it within `session()`."""


class Room(NamedTuple):
    """The tokens that a model has for one exchange."""

    prompt: int
    answer: int


@runtime_checkable
class BoundedBackend(Protocol):
    """A backend that can tell how long its models' contexts are, so that calls are fitted into them."""

    def first_request(self, request: Any) -> dict[str, Any]:
        """Return the body of the first request of a call without sending it."""

    def room(self, request: Any) -> Room | None:
        """Return the tokens that a request may have; None if the context of its model is not known."""


def session_of(backend: object) -> AbstractAsyncContextManager[object]:
    """Return the session of a backend, or a context that does nothing if it has none."""
    return backend.session() if isinstance(backend, ConversingBackend) else nullcontext()


def request_digest(body: Mapping[str, Any]) -> str:
    """Return the digest of a request's body: equal digests mean equal requests.

    >>> request_digest({"model": "m"})[:8]
    '548f58d1'
    """
    return hashlib.sha256(to_json(body)).hexdigest()


class BatchStatus(NamedTuple):
    """The state of a message batch; many endpoints count no request as done before all are."""

    id: str
    requests: int
    done: int
    ended: bool
    """Whether its results can be read."""
    expires_at: datetime | None = None
    """When the endpoint gives it up, if it says so."""


class BatchResult(NamedTuple):
    """The outcome of one request: a message, or why there is none, and whether sending it again is of no use."""

    custom_id: str
    message: dict[str, Any] | None
    failure: str = ""
    final: bool = False


class NoAnswerError(Exception):
    """The endpoint gave no usable answer; it may give one later."""


class RefusedError(AgentError):
    """The endpoint refused a whole batch, or a look at one; `status` is its answer."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the endpoint answered {status}: {reason}")
        self.status = status


class BatchClient(Protocol):
    """The message batches of one endpoint.

    Each method raises NoAnswerError if calling it again may help, and RefusedError if not.
    """

    async def submit(self, requests: Sequence[Mapping[str, Any]]) -> str:
        """Send requests (`custom_id`, `params`) as one batch, once, and return its id.

        After a NoAnswerError, the endpoint may have the batch or not.
        """

    async def look(self, batch: str) -> BatchStatus:
        """Return the state of a batch."""

    async def newest(self) -> str | None:
        """Return the id of the youngest batch; None if there is none yet."""

    async def since(self, batch: str | None) -> list[BatchStatus]:
        """Return all batches that are younger than one, the youngest first; all if that one is gone."""

    async def results(self, batch: str) -> list[BatchResult]:
        """Return the results of a batch that has ended, in the order in which they come."""
