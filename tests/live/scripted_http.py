"""As much of HTTP/1.1 as the scripted server needs, on loopback, in a thread of its own; connections can be cut."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, unquote, urlsplit

LARGEST_HEAD = 1 << 20
REASONS = {code.value: code.phrase for code in HTTPStatus} | {529: "Overloaded"}


class Request(NamedTuple):
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]  # names in lower case
    body: bytes


class Reply(NamedTuple):
    """What goes out: all of it, or as much as is wanted before the connection ends."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = {"content-type": "application/json"}  # noqa: RUF012 - never changed
    sent: int | None = None  # bytes of the body before a reset; -1: a reset before the head
    silence: float | None = None  # seconds without a word, then the connection is closed
    closes: bool = False  # whether the connection ends in order, and not by a reset, after what is `sent`
    piece: int | None = None  # bytes of the body that go out at a time
    pause: float = 0.0  # seconds between them
    times: int = 1  # how often the body goes out, in chunks where that is more than once
    bare: bool = False  # whether the body goes out without a head, as whatever it is


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    return Reply(json.dumps(value).encode(), status, {"content-type": "application/json"} | headers)


class LoopbackServer:
    """Answers each request by `answer`, from `with` to its end."""

    def __init__(self) -> None:
        self.url = ""
        self.most_at_once = 0  # the peak of requests that waited for their reply
        self._at_once = 0
        self._open: set[asyncio.Task[None]] = set()

    async def answer(self, request: Request) -> Reply:
        raise NotImplementedError

    def note(self, request: Request, reply: Reply | None, whole: bool) -> None:
        """Hear what a request was answered, None while that was being made, and whether all of it went out."""

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), name="scripted server")
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=LARGEST_HEAD, backlog=512)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        await self._stop.wait()
        server.close()
        for connection in self._open:
            connection.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._open.add(task)
        try:
            while not writer.is_closing():
                await self._exchange(await _read(reader), reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client has left, or the server ends
        finally:
            self._open.discard(task)
            writer.close()

    async def _exchange(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        reply, whole = None, False
        try:
            reply = await self.answer(request)
            if reply.silence is None:
                whole = await _send(reply, writer)
            else:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(1), reply.silence)  # ends early when the client leaves
                writer.close()
        finally:
            self._at_once -= 1
            self.note(request, reply, whole)


async def _read(reader: asyncio.StreamReader) -> Request:
    """The next request of a connection; IncompleteReadError when the client has left."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *fields = head.strip().split("\r\n")
    method, target, _ = line.split(" ", 2)
    pairs = (field.partition(":") for field in fields)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    url = urlsplit(target)
    query = {name: values[-1] for name, values in parse_qs(url.query).items()}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, unquote(url.path), query, headers, body)


async def _send(reply: Reply, writer: asyncio.StreamWriter) -> bool:
    """Send a reply; return whether all of it went out."""
    if reply.sent != -1:
        unsent = b"" if reply.bare else _head(reply)
        for piece in _pieces(reply):
            writer.write(unsent + piece)
            unsent = b""
            await writer.drain()
            if reply.pause:
                await asyncio.sleep(reply.pause)
        writer.write(unsent)
        await writer.drain()
    if reply.closes or reply.bare:
        writer.close()
    elif reply.sent is not None:  # closed by RST, as a server that crashes does, not by FIN
        own: socket.socket = writer.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    return reply.sent is None and not reply.bare


def _head(reply: Reply) -> bytes:
    length = {"transfer-encoding": "chunked"} if reply.times > 1 else {"content-length": str(len(reply.body))}
    fields = [f"{name}: {value}" for name, value in (reply.headers | length).items()]
    head = [f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, '-')}", *fields, "", ""]
    return "\r\n".join(head).encode("latin-1")


def _pieces(reply: Reply) -> Iterator[bytes]:
    """What goes out of a body, a piece after the other."""
    body = reply.body[: reply.sent]
    step = reply.piece or len(body) or 1
    chunked = reply.times > 1 and not reply.bare
    for _ in range(reply.times):
        for start in range(0, len(body), step):
            piece = body[start : start + step]
            yield b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece
    if chunked:
        yield b"0\r\n\r\n"
