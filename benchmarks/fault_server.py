"""A scripted server that counts what it was asked and what it answered, and whether a log says the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from tests.live.live_runs import Played
from tests.live.scripted_http import Reply, Request
from tests.live.scripted_server import ScriptedServer
from verifyplan.protocol.event_run import Attempt, TurnReplied
from verifyplan.runlog.reader import read_log

UNHEARD = ("the process ended", "CancelledError")
"""Errors of attempts whose status was sent, perhaps, and never heard."""

USED = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Exchange(NamedTuple):
    """A request for a message, as the server saw it."""

    turn: str
    status: int | None
    """None where the head of a reply never went out."""
    tokens: int
    """Of a message that went out whole."""


class CountingServer(ScriptedServer):
    """Notes each request for a message, and how its reply went out."""

    def __init__(self, played: Played, latency: float = 0.0) -> None:
        super().__init__(played, latency)
        self.played = played
        self.exchanges: list[Exchange] = []
        self.on_request: Callable[[int, str], Awaitable[None]] | None = None
        """Hears the number and the turn of each request before it is answered."""

    async def answer(self, request: Request) -> Reply:
        """Answer as scripted."""
        if request.path == "/v1/messages" and self.on_request is not None:
            await self.on_request(len(self.requests) + 1, _turn(request))
        return await super().answer(request)

    def note(self, request: Request, reply: Reply | None, whole: bool) -> None:
        """Count a request."""
        if request.path != "/v1/messages":
            return
        headless = reply is None or reply.silence is not None or reply.sent == -1 or reply.bare
        turn = _turn(request)
        tokens = tokens_of(reply.body) if reply is not None and whole and reply.status == 200 else 0
        self.exchanges.append(Exchange(turn, None if headless or reply is None else reply.status, tokens))

    def heal(self, played: Played) -> None:
        """Answer from now on as this script does."""
        self._script = self.played = played


def _turn(request: Request) -> str:
    return unquote(request.headers.get("x-verifyplan-turn", ""))


def tokens_of(body: bytes) -> int:
    """Return the tokens that a reply says were used; none for what is no message, or counts in no numbers."""
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return 0
    usage = message.get("usage") if isinstance(message, dict) and isinstance(message.get("content"), list) else None
    counts = [usage.get(name) for name in USED] if isinstance(usage, dict) else []
    return sum(count for count in counts if type(count) is int and 0 <= count < 1 << 40)


def misaccounted(log: Path, exchanges: Sequence[Exchange]) -> list[str]:
    """Return where a log accounts otherwise than the server: requests, their statuses, and tokens.

    Every request is an attempt in the log, with the status that the server sent; every message that went out whole is
    booked with its tokens, or its attempt says that it is perhaps billed. A process that died may have begun a turn
    that the server never saw, or not have heard a status that it sent.
    """
    events = [record.event for record in read_log(log).records]
    attempts = [event for event in events if isinstance(event, Attempt)]
    seen = Counter((one.turn, one.status) for one in exchanges)
    noted = Counter((one.call_id, one.status) for one in attempts)
    unheard = Counter(one.call_id for one in attempts if one.error in UNHEARD)
    wrong = []
    for turn in {turn for turn, _ in (seen | noted)}:
        missing = sum(count for (of, _), count in (seen - noted).items() if of == turn)
        added = sum(count for (of, _), count in (noted - seen).items() if of == turn)
        if missing > added or added > unheard[turn]:
            told = [{status: count for (of, status), count in sums.items() if of == turn} for sums in (seen, noted)]
            wrong.append(f"{turn}: the server counted {told[0]}, the log {told[1]}")
    booked = Counter((event.call_id, event.usage.total) for event in events if isinstance(event, TurnReplied))
    sent = Counter((one.turn, one.tokens) for one in exchanges if one.tokens)
    lost = Counter(turn for turn, _ in (sent - booked).elements())
    perhaps = Counter(one.call_id for one in attempts if one.perhaps_billed)
    if more := {turn: tokens for turn, tokens in booked - sent if tokens}:
        wrong.append(f"booked, and never sent: {more}")
    if silent := lost - perhaps:
        wrong.append(f"sent whole, neither booked nor perhaps billed: {dict(silent)}")
    return wrong


def repeated(exchanges: Iterable[Exchange]) -> dict[str, int]:
    """Return the turns that were asked for more than once, and how often."""
    counts = Counter(one.turn for one in exchanges)
    return {turn: count for turn, count in counts.items() if count > 1}
