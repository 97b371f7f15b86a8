"""Replies without end, in bytes or in time: the call fails, memory does not (rule G3)."""

from __future__ import annotations

import asyncio
import itertools
import json
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable

import pytest

from tests.live.live_faults import FIRST, challenged, failed, skipped
from tests.live.live_runs import speaking_to
from tests.live.scripted_http import LoopbackServer
from tests.live.scripted_http import Request as HttpRequest
from tests.live.scripted_replies import raw
from verifyplan.agents.anthropic import bounded_transport
from verifyplan.agents.anthropic.bounded_transport import MAX_REPLY_BYTES, ReplyTooLargeError
from verifyplan.errors import AgentError

BODY = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hello"}]}
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n"
MESSAGE = json.dumps({"type": "message", "content": [], "usage": {}}).encode()
PART = b"%x\r\n%s\r\n" % (1 << 16, b" " * (1 << 16))


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def pour(writer: asyncio.StreamWriter, head: bytes, parts) -> None:
    writer.write(head)
    for part in parts:
        writer.write(part)
        await writer.drain()


def bomb(encoding: bytes, wbits: int) -> Callable[[asyncio.StreamWriter], Awaitable[None]]:
    """A body of 1 GB in 1 MB: a megabyte that is compressed by itself, 1,024 times."""
    packer, zeros = zlib.compressobj(9, wbits=wbits), bytes(1 << 20)
    first, again = (packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    parts = [first, *[again] * 1023, packer.flush()]
    assert sum(map(len, parts)) < 2_000_000
    head = CHUNKED + b"content-encoding: " + encoding + b"\r\n\r\n"
    return lambda writer: pour(writer, head, [*map(chunk, parts), b"0\r\n\r\n"])


async def drips(writer: asyncio.StreamWriter) -> None:
    await dripped(writer, HEAD + b"content-length: 100000\r\n\r\n")


async def drips_headers(writer: asyncio.StreamWriter) -> None:
    await dripped(writer, HEAD + b"x-slow: ")


async def dripped(writer: asyncio.StreamWriter, head: bytes) -> None:
    writer.write(head)
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


async def says_to_go_on(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


class Served(LoopbackServer):
    """Answers each request by what a function writes."""

    def __init__(self, write: Callable[[asyncio.StreamWriter], Awaitable[None]]) -> None:
        super().__init__()
        self.write, self.asked = write, 0

    async def _exchange(self, _: HttpRequest, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked += 1
        await self.write(writer)
        writer.close()


def sent(server: Served, **settings: object) -> object:
    async def send() -> object:
        endpoints = speaking_to(server, **settings).endpoints
        return await endpoints.send(None, "t1", BODY)

    return asyncio.run(send())


ENDLESS = {
    "gzip": bomb(b"gzip", 31),
    "deflate": bomb(b"deflate", 15),
    "endless body": lambda writer: pour(writer, CHUNKED + b"\r\n", itertools.repeat(PART)),
    "endless error": lambda writer: pour(
        writer, CHUNKED.replace(b"200 OK", b"500 no") + b"\r\n", itertools.repeat(PART)
    ),
}


@pytest.mark.parametrize("write", ENDLESS.values(), ids=ENDLESS)
def test_a_reply_of_too_many_bytes_is_given_up_once_and_in_little_memory(write):
    with Served(write) as server:
        with pytest.raises(AgentError):  # all is imported
            sent(server, max_retries=0)
        tracemalloc.start()
        with pytest.raises(ReplyTooLargeError, match=r"^the endpoint's reply has more than 16 MB \(MAX_REPLY_BYTES\)"):
            sent(server, max_retries=2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert server.asked == 2  # one each: it would be as long again
    assert peak < 4 * MAX_REPLY_BYTES


def test_a_call_whose_reply_is_too_long_has_failed_and_the_run_goes_on(monkeypatch):
    monkeypatch.setattr(bounded_transport, "MAX_REPLY_BYTES", 2**20)
    run, server = challenged({FIRST: raw(" " * (2**20 + 1))}, backend={"max_retries": 2})
    assert failed(run).status == "error"
    assert "reply has more than 1 MB (MAX_REPLY_BYTES), and is not read further" in failed(run).reason
    assert server.count() > 1  # of others
    skipped(run)


def test_headers_without_end_are_given_up():
    lines = itertools.repeat(b"x-more: " + b"a" * 8000 + b"\r\n")
    with Served(lambda writer: pour(writer, HEAD, lines)) as server:
        tracemalloc.start()
        with pytest.raises(AgentError, match="the connection failed"):
            sent(server)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < MAX_REPLY_BYTES


SLOW = {"body": drips, "headers": drips_headers, "early hints": says_to_go_on}


@pytest.mark.parametrize("write", SLOW.values(), ids=SLOW)
def test_the_time_of_a_request_is_that_of_the_whole_reply(write):
    with Served(write) as server, pytest.raises(TimeoutError, match=r"^the endpoint gave no answer in time"):
        sent(server, timeout=0.5)


def test_compressed_replies_are_read():
    body = zlib.compress(MESSAGE, wbits=31)
    head = HEAD + b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body)
    with Served(lambda writer: pour(writer, head, [body])) as server:
        assert sent(server) == json.loads(MESSAGE)
