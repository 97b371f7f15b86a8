"""Bring one batch to an endpoint and its results back, however often the connection is lost (rule G3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from verifyplan.agents.base import Address, BatchClient, BatchResult, BatchStatus, NoAnswerError, RefusedError
from verifyplan.errors import AgentError, Problem
from verifyplan.runs.batch.journal import Intent, Journal

T = TypeVar("T")

MAX_SILENT_POLLS = 30
"""How often in a row an endpoint may give no answer, a poll apart, until it is given up."""

STATUS_TOO_LARGE = 413
"""An endpoint's answer to a batch that is too large; wrong requests are reported one by one, as results."""

PLACE = "message batches"
FIX = "see that the endpoint can be reached and takes message batches with this key; the same command then goes on"

OnProgress = Callable[[str, int, int], None]
"""Called with a batch's id, how many of its requests are done, and how many there are."""


EXPIRY_GRACE = timedelta(minutes=10)
"""How long after its time a batch may still come to its end: clocks differ."""


class ExpiredError(Exception):
    """A batch is past the time at which its endpoint gives it up, and has not ended."""


class BatchTransport:
    """Sends batches, finds those whose sending was not confirmed, and brings results.

    A batch is never sent while it may be at the endpoint already. Each method raises AgentError where the endpoint
    refuses, or has been silent for too long; what is at the endpoint stays there. `batch_client` returns the batches
    of an address, whose connections are to be held open.
    """

    def __init__(
        self, batch_client: Callable[[Address], BatchClient], journal: Journal, poll: float, on_progress: OnProgress
    ) -> None:
        self._at, self._journal, self._poll, self._on_progress = batch_client, journal, poll, on_progress

    async def newest(self, address: Address) -> str | None:
        """The youngest batch of the endpoint, from which on one whose sending was not confirmed is looked for."""
        try:
            return await self._patient(self._at(address).newest)
        except RefusedError as refused:
            raise AgentError(Problem(PLACE, str(refused), FIX)) from None

    async def send(self, address: Address, intent: Intent, bodies: Mapping[str, Any]) -> str:
        """Bring a batch to the endpoint, once; its id there. RefusedError (an AgentError) if it is too large."""
        requests = [{"custom_id": name, "params": bodies[name]} for name in intent.requests]

        async def attempt() -> str:
            try:
                return await self._at(address).submit(requests)
            except RefusedError as refused:
                if refused.status == STATUS_TOO_LARGE:
                    raise
                raise AgentError(Problem(PLACE, str(refused), FIX)) from None
            except NoAnswerError:
                batch = await self.find(address, intent)
                if batch is None:
                    raise
                return batch

        return await self._patient(attempt)

    def is_refusal(self, error: AgentError) -> bool:
        """Whether an endpoint would not have a batch because of its size."""
        return isinstance(error, RefusedError)

    async def find(self, address: Address, intent: Intent) -> str | None:
        """The batch of an intent, if the endpoint has it; None if it surely does not.

        Candidates are batches of the same size that are younger than what was the youngest before; whose they are is
        told by the custom ids of their results, so that one in progress is waited for. The endpoint is looked at
        twice, a poll apart, as what was on its way may still arrive.
        """
        seen = set(self._journal.batches.values())
        for wait in (0.0, self._poll):
            await asyncio.sleep(wait)
            for batch in await self._listed(address, intent.newest):
                if batch.id not in seen and batch.requests == len(intent.requests):
                    seen.add(batch.id)
                    if await self._is_of(address, batch, intent):
                        return batch.id
        return None

    async def results(self, address: Address, batch: str, names: Collection[str] = ()) -> list[BatchResult]:
        """The results of a batch, when it has ended; for one past its time, `names` are results that expired."""
        try:
            return await self._read(address, batch, self._on_progress)
        except ExpiredError as expired:
            return [BatchResult(name, None, str(expired)) for name in names]
        except RefusedError as refused:
            fix = "use the key that it was sent with; to send what it holds again, and pay for it again, remove "
            raise AgentError(Problem(f"batch {batch}", str(refused), f"{fix}{self._journal.path}")) from None

    async def _read(self, address: Address, batch: str, on_progress: OnProgress) -> list[BatchResult]:
        while True:
            state = await self._patient(self._at(address).look, batch)
            on_progress(batch, state.done, state.requests)
            if state.ended:
                return await self._patient(self._at(address).results, batch)
            if state.expires_at is not None and datetime.now(UTC) > state.expires_at + EXPIRY_GRACE:
                raise ExpiredError(f"batch {batch} expired at {state.expires_at:%Y-%m-%d %H:%M} UTC and has not ended")
            await asyncio.sleep(self._poll)

    async def _listed(self, address: Address, newest: str | None) -> list[BatchStatus]:
        """The batches that may be looked for, ended ones first."""
        try:
            listed = await self._patient(self._at(address).since, newest)
        except RefusedError as refused:  # of the list, which says nothing of the batch
            raise AgentError(Problem(PLACE, f"cannot be listed: {refused}", FIX)) from None
        return sorted(listed, key=lambda batch: not batch.ended)

    async def _is_of(self, address: Address, batch: BatchStatus, intent: Intent) -> bool:
        try:
            results = await self._read(address, batch.id, lambda *_: None)
        except (RefusedError, ExpiredError):  # deleted, too old to have results, or never ended
            return False
        return any(result.custom_id in intent.requests for result in results)

    async def _patient(self, ask: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        """Return the answer to a call, made again as long as there is none that says anything."""
        silence = ""
        for _ in range(MAX_SILENT_POLLS):
            try:
                return await ask(*arguments)
            except NoAnswerError as error:
                silence = str(error)
                await asyncio.sleep(self._poll)
        raise AgentError(Problem(PLACE, f"{silence}, {MAX_SILENT_POLLS} times in a row", FIX))
