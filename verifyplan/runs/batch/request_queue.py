"""Gather the requests of all runs, send them as batches, and hand out their replies (rule G3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from pydantic_core import to_json

from verifyplan.agents.base import Address, BatchResult, ModelReply, request_digest
from verifyplan.errors import AgentError
from verifyplan.protocol.call import Usage
from verifyplan.runlog.recorder import Past
from verifyplan.runs.batch.journal import BatchedExchange, BatchSlot, Collected, Dropped, Journal, Submitted
from verifyplan.runs.batch.transport import BatchTransport

MAX_BATCH_REQUESTS = 10_000
"""Requests of one batch; the API takes 100,000."""

MAX_BATCH_BYTES = 200_000_000
"""Bytes of one batch; the API takes 256 MB."""


@dataclass(eq=False)
class PendingRequest:
    """A request that waits for its reply."""

    address: Address
    entry: BatchedExchange
    body: dict[str, Any]
    reply: asyncio.Future[ModelReply]

    def answer(self, reply: ModelReply | AgentError) -> None:
        """Hand over the reply, or why there is none, unless nobody waits any more."""
        if self.reply.done():
            return
        if isinstance(reply, AgentError):
            self.reply.set_exception(reply)
        else:
            self.reply.set_result(reply)


class BatchQueue:
    """Sends requests as batches: one for each endpoint whenever nothing new came for `settle` seconds.

    What the journal says to be in a batch is taken from there, not sent again. Requests that expired, were canceled or
    failed by no fault of theirs go with the next batch, at most `attempts` times, processes that died included.
    Use it as an asynchronous context; what breaks it, such as an endpoint that cannot be reached, comes out of
    `broken`, and never as a failed call, since replies that are paid for can still be had.
    """

    def __init__(self, transport: BatchTransport, journal: Journal, *, settle: float = 1.0, attempts: int = 3) -> None:
        self._transport, self._journal, self._settle, self._attempts = transport, journal, settle, attempts
        self._unsent: list[PendingRequest] = []
        self._timer: asyncio.TimerHandle | None = None
        self._claims: dict[str, dict[str, PendingRequest]] = {}
        self._collecting: set[str] = set()
        self._promised: set[tuple[str, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Open it in this event loop."""
        self.broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop whatever is under way here; what is at an endpoint stays there."""
        if self._timer is not None:
            self._timer.cancel()
        if not self.broken.cancel() and not self.broken.cancelled():
            self.broken.exception()  # whoever opened the queue has it, or ends by another error
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def promise(self, past: Past, name_of: Callable[[str], str]) -> set[str]:
        """The turns of a run that were sent, have no reply on disk, and are in a batch: their replies will come.

        `name_of` returns the name of the run in the journal for one of its turns.
        """
        turns = set()
        for turn in past.in_flight:
            sent, place = past.sent(turn), self._journal.place(name_of(turn), turn)
            if sent is not None and place is not None and place.sha256 == sent.request_sha256:
                turns.add(turn)
                self._promised.add((name_of(turn), turn))
        return turns

    async def reply_to(self, run: str, address: Address, turn: str, body: dict[str, Any]) -> ModelReply:
        """The reply to a request of a run; AgentError where it has none that can be used."""
        entry = BatchedExchange(run=run, turn=turn, sha256=request_digest(body))
        request = PendingRequest(address, entry, body, asyncio.get_running_loop().create_future())
        place = self._journal.place(run, turn)
        if place is not None and (place.sha256 == entry.sha256 or (run, turn) in self._promised):
            self._claim(place, request)
        else:
            self._gather(request)
        return await request.reply

    def _gather(self, request: PendingRequest) -> None:
        self._unsent.append(request)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._settle, self._send)

    def _send(self) -> None:
        requests, self._unsent = self._unsent, []
        for address in dict.fromkeys(request.address for request in requests):
            for part in _split([request for request in requests if request.address == address]):
                self._start(self._deliver(address, part))

    async def _deliver(self, address: Address, requests: Sequence[PendingRequest]) -> None:
        """Send requests as one batch, and hand out their replies; one that is too large is sent in halves."""
        newest = await self._transport.newest(address)
        requests = [request for request in requests if not request.reply.done()]
        if not requests:
            return
        intent = self._journal.intend(address, newest, [request.entry for request in requests])
        named = dict(zip(intent.requests, requests, strict=True))
        try:
            batch = await self._transport.send(address, intent, {name: request.body for name, request in named.items()})
        except AgentError as error:
            if not self._transport.is_refusal(error):
                raise
            self._journal.note(Dropped(nonce=intent.nonce))
            self._divide(address, requests, error)
            return
        self._journal.note(Submitted(nonce=intent.nonce, batch=batch))
        self._claims[intent.nonce] = named
        self._collecting.add(intent.nonce)
        await self._collect(intent.nonce, address, batch)

    def _divide(self, address: Address, requests: Sequence[PendingRequest], refused: AgentError) -> None:
        if len(requests) == 1:
            requests[0].answer(refused)
            return
        half = len(requests) // 2
        for part in (requests[:half], requests[half:]):
            self._start(self._deliver(address, part))

    def _claim(self, place: BatchSlot, request: PendingRequest) -> None:
        """Let a request wait for the result of a batch that an earlier process sent, or was about to send."""
        self._claims.setdefault(place.nonce, {})[place.custom_id] = request
        if place.nonce not in self._collecting:
            self._collecting.add(place.nonce)
            self._start(self._reclaim(place.nonce, request.address))

    async def _reclaim(self, nonce: str, address: Address) -> None:
        """Collect a batch that an earlier process noted; if the endpoint never had it, send its requests anew."""
        await asyncio.sleep(self._settle)  # others of the same batch come, too
        batch = self._journal.batches.get(nonce)
        if batch is None:
            batch = await self._transport.find(address, self._journal.intents[nonce])
            self._journal.note(Dropped(nonce=nonce) if batch is None else Submitted(nonce=nonce, batch=batch))
        if batch is not None:
            await self._collect(nonce, address, batch)
            return
        self._collecting.discard(nonce)
        for request in self._claims.pop(nonce).values():
            self._gather(request)

    async def _collect(self, nonce: str, address: Address, batch: str) -> None:
        """Hand out the results of a batch, to requests that come meanwhile, too."""
        while requests := self._claims.pop(nonce, None):
            self._hand_out(requests, await self._transport.results(address, batch, requests), batch)
        self._collecting.discard(nonce)
        self._journal.note(Collected(nonce=nonce))

    def _hand_out(self, requests: dict[str, PendingRequest], results: Sequence[BatchResult], batch: str) -> None:
        for result in results:
            request = requests.pop(result.custom_id, None)
            if request is None or request.reply.done():
                continue
            if result.message is not None:
                request.answer(ModelReply(result.message, Usage(), batch))
            elif result.final:
                request.answer(AgentError(f"the endpoint answered {result.failure}"))
            else:
                self._retry(request, result.failure)
        for request in requests.values():
            request.answer(AgentError(f"batch {batch} has no result of it"))

    def _retry(self, request: PendingRequest, failure: str) -> None:
        times = self._journal.times(request.entry.run, request.entry.turn)
        if times < self._attempts:
            self._gather(request)
        else:
            request.answer(AgentError(f"no reply in any batch, of {times} that it was sent in; the last: {failure}"))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self.broken.done():
            self.broken.set_exception(error)


def _split(requests: Sequence[PendingRequest]) -> Iterator[list[PendingRequest]]:
    """The requests of each batch: as many as it may hold."""
    part: list[PendingRequest] = []
    size = 0
    for request in requests:
        more = len(to_json(request.body)) + 200
        if part and (len(part) == MAX_BATCH_REQUESTS or size + more > MAX_BATCH_BYTES):
            yield part
            part, size = [], 0
        part.append(request)
        size += more
    if part:
        yield part
