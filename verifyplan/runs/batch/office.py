"""Where the requests of all runs are gathered, sent as batches, and handed their replies (rule G3)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from pydantic_core import to_json

from verifyplan.agents.base import Address, BatchResult, ModelReply, request_digest
from verifyplan.errors import AgentError
from verifyplan.protocol.call import Usage
from verifyplan.runlog.recorder import Past
from verifyplan.runs.batch.carrier import Carrier
from verifyplan.runs.batch.journal import Collected, Dropped, Entry, Journal, Place, Submitted

MOST_REQUESTS = 10_000
"""Requests of one batch; the API takes 100,000."""

MOST_BYTES = 200_000_000
"""Bytes of one batch; the API takes 256 MB."""


@dataclass(eq=False)
class Letter:
    """A request that waits for its reply."""

    address: Address
    entry: Entry
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


class PostOffice:
    """Sends what it is given as batches: one for each endpoint whenever nothing new came for `settle` seconds.

    What the journal says to be in a batch is taken from there, not sent again. Requests that expired, were canceled or
    failed by no fault of theirs go with the next batch, at most `attempts` times, processes that died included.
    Use it as an asynchronous context; what breaks it, such as an endpoint that cannot be reached, comes out of
    `broken`, and never as a failed call, since replies that are paid for can still be had.
    """

    def __init__(self, carrier: Carrier, journal: Journal, *, settle: float = 1.0, attempts: int = 3) -> None:
        self._carrier, self._journal, self._settle, self._attempts = carrier, journal, settle, attempts
        self._outbox: list[Letter] = []
        self._timer: asyncio.TimerHandle | None = None
        self._claims: dict[str, dict[str, Letter]] = {}
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
            self.broken.exception()  # whoever opened the office has it, or ends by another error
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def promise(self, run: str, past: Past) -> set[str]:
        """The turns of a run that were sent, have no reply on disk, and are in a batch: their replies will come."""
        turns = set()
        for turn in past.in_flight:
            sent, place = past.sent(turn), self._journal.place(run, turn)
            if sent is not None and place is not None and place.sha256 == sent.request_sha256:
                turns.add(turn)
        self._promised |= {(run, turn) for turn in turns}
        return turns

    async def post(self, run: str, address: Address, turn: str, body: dict[str, Any]) -> ModelReply:
        """The reply to a request of a run; AgentError where it has none that can be used."""
        entry = Entry(run=run, turn=turn, sha256=request_digest(body))
        letter = Letter(address, entry, body, asyncio.get_running_loop().create_future())
        place = self._journal.place(run, turn)
        if place is not None and (place.sha256 == entry.sha256 or (run, turn) in self._promised):
            self._claim(place, letter)
        else:
            self._gather(letter)
        return await letter.reply

    def _gather(self, letter: Letter) -> None:
        self._outbox.append(letter)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._settle, self._send)

    def _send(self) -> None:
        letters, self._outbox = self._outbox, []
        for address in dict.fromkeys(letter.address for letter in letters):
            for part in _parts([letter for letter in letters if letter.address == address]):
                self._start(self._deliver(address, part))

    async def _deliver(self, address: Address, letters: Sequence[Letter]) -> None:
        """Send letters as one batch, and hand out their replies; one that is too large is sent in halves."""
        newest = await self._carrier.newest(address)
        letters = [letter for letter in letters if not letter.reply.done()]
        if not letters:
            return
        intent = self._journal.intend(address, newest, [letter.entry for letter in letters])
        named = dict(zip(intent.requests, letters, strict=True))
        try:
            batch = await self._carrier.send(address, intent, {name: one.body for name, one in named.items()})
        except AgentError as error:
            if not self._carrier.is_refusal(error):
                raise
            self._journal.note(Dropped(nonce=intent.nonce))
            self._divide(address, letters, error)
            return
        self._journal.note(Submitted(nonce=intent.nonce, batch=batch))
        self._claims[intent.nonce] = named
        self._collecting.add(intent.nonce)
        await self._collect(intent.nonce, address, batch)

    def _divide(self, address: Address, letters: Sequence[Letter], refused: AgentError) -> None:
        if len(letters) == 1:
            letters[0].answer(refused)
            return
        half = len(letters) // 2
        for part in (letters[:half], letters[half:]):
            self._start(self._deliver(address, part))

    def _claim(self, place: Place, letter: Letter) -> None:
        """Let a letter wait for the result of a batch that an earlier process sent, or was about to send."""
        self._claims.setdefault(place.nonce, {})[place.custom_id] = letter
        if place.nonce not in self._collecting:
            self._collecting.add(place.nonce)
            self._start(self._reclaim(place.nonce, letter.address))

    async def _reclaim(self, nonce: str, address: Address) -> None:
        """Collect a batch that an earlier process noted; if the endpoint never had it, send its letters anew."""
        await asyncio.sleep(self._settle)  # others of the same batch come, too
        batch = self._journal.batches.get(nonce)
        if batch is None:
            batch = await self._carrier.find(address, self._journal.intents[nonce])
            self._journal.note(Dropped(nonce=nonce) if batch is None else Submitted(nonce=nonce, batch=batch))
        if batch is not None:
            await self._collect(nonce, address, batch)
            return
        self._collecting.discard(nonce)
        for letter in self._claims.pop(nonce).values():
            self._gather(letter)

    async def _collect(self, nonce: str, address: Address, batch: str) -> None:
        """Hand out the results of a batch, to letters that come meanwhile, too."""
        while letters := self._claims.pop(nonce, None):
            self._hand_out(letters, await self._carrier.results(address, batch), batch)
        self._collecting.discard(nonce)
        self._journal.note(Collected(nonce=nonce))

    def _hand_out(self, letters: dict[str, Letter], results: Sequence[BatchResult], batch: str) -> None:
        for result in results:
            letter = letters.pop(result.custom_id, None)
            if letter is None or letter.reply.done():
                continue
            if result.message is not None:
                letter.answer(ModelReply(result.message, Usage(), batch))
            elif result.final:
                letter.answer(AgentError(f"the endpoint answered {result.failure}"))
            else:
                self._again(letter, result.failure)
        for letter in letters.values():
            letter.answer(AgentError(f"batch {batch} has no result of it"))

    def _again(self, letter: Letter, failure: str) -> None:
        times = self._journal.times(letter.entry.run, letter.entry.turn)
        if times < self._attempts:
            self._gather(letter)
        else:
            letter.answer(AgentError(f"no reply in any batch, of {times} that it was sent in; the last: {failure}"))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self.broken.done():
            self.broken.set_exception(error)


def _parts(letters: Sequence[Letter]) -> Iterator[list[Letter]]:
    """The letters of each batch: as many as it may hold."""
    part: list[Letter] = []
    size = 0
    for letter in letters:
        more = len(to_json(letter.body)) + 200
        if part and (len(part) == MOST_REQUESTS or size + more > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(letter)
        size += more
    if part:
        yield part
