"""Replies without end, in bytes or in time: the call fails, memory does not (rule G3)."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
import zlib

import pytest

from tests.live.live_faults import FIRST, challenged, failed, skipped
from tests.live.live_runs import MODEL, speaking_to
from tests.live.scripted_http import Reply
from tests.live.scripted_replies import Answer, bomb, drips, endless, raw
from tests.live.scripted_server import ScriptedServer
from verifyplan.agents.anthropic import transport
from verifyplan.agents.anthropic.transport import (
    MAX_REPLY_BYTES,
    ReplyEncodedTwiceError,
    ReplyTooLargeError,
)
from verifyplan.errors import AgentError

BODY = {"model": MODEL, "max_tokens": 5, "messages": [{"role": "user", "content": "hello"}]}
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
MESSAGE = json.dumps({"type": "message", "content": [], "usage": {}}).encode()


def bare(body: bytes, **more: object) -> Answer:
    """These bytes and no head before them."""
    return Answer(reply=Reply(body, bare=True, **more))


def sent(server: ScriptedServer, **settings: object) -> object:
    async def send() -> object:
        endpoints = speaking_to(server, **settings).endpoints
        return await endpoints.send(None, "t1", BODY)

    return asyncio.run(send())


ENDLESS = {
    "gzip": bomb(),
    "deflate": bomb(encoding="deflate"),
    "endless body": endless(),
    "endless error": endless(status=500),
}


@pytest.mark.parametrize("answer", ENDLESS.values(), ids=ENDLESS)
def test_a_reply_of_too_many_bytes_is_given_up_once_and_in_little_memory(answer):
    assert len(answer.reply.body) < 2_000_000
    with ScriptedServer(lambda _: answer) as server:
        with pytest.raises(AgentError):  # all is imported
            sent(server, max_retries=0)
        tracemalloc.start()
        with pytest.raises(ReplyTooLargeError, match=r"^the endpoint's reply has more than 16 MB \(MAX_REPLY_BYTES\)"):
            sent(server, max_retries=2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert server.count() == 2  # one each: it would be as long again
    assert peak < 4 * MAX_REPLY_BYTES


def test_a_call_whose_reply_is_too_long_has_failed_and_the_run_goes_on(monkeypatch):
    monkeypatch.setattr(transport, "MAX_REPLY_BYTES", 2**20)
    run, server = challenged({FIRST: raw(" " * (2**20 + 1))}, backend={"max_retries": 2})
    assert failed(run).status == "error"
    assert "reply has more than 1 MB (MAX_REPLY_BYTES), and is not read further" in failed(run).reason
    assert server.count() > 1  # of others
    skipped(run)


def test_headers_without_end_are_given_up():
    answer = bare(HEAD + (b"x-more: " + b"a" * 8000 + b"\r\n") * 1_000, piece=65_536)
    with ScriptedServer(lambda _: answer) as server:
        tracemalloc.start()
        with pytest.raises(AgentError, match="the connection failed"):
            sent(server)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < MAX_REPLY_BYTES


HINT = b"HTTP/1.1 103 Early Hints\r\n\r\n"
SLOW = {
    "body": drips(raw(" " * 100_000), 0.05, 1),
    "headers": drips(bare(HEAD + b"x-slow: " + b" " * 10_000), 0.05, len(HEAD)),
    "early hints": drips(bare(HINT * 1_000), 0.01, len(HINT)),
}


@pytest.mark.parametrize("answer", SLOW.values(), ids=SLOW)
def test_the_time_of_a_request_is_that_of_the_whole_reply(answer):
    gave_up = pytest.raises(TimeoutError, match=r"^the endpoint gave no answer in time")
    with ScriptedServer(lambda _: answer) as server, gave_up:
        sent(server, timeout=0.5)


@pytest.mark.parametrize(("encoding", "wbits"), [("gzip", 31), ("deflate", 15)])
def test_compressed_replies_are_read(encoding, wbits):
    headers = {"content-type": "application/json", "content-encoding": encoding}
    answer = Answer(reply=Reply(zlib.compress(MESSAGE, wbits=wbits), headers=headers))
    with ScriptedServer(lambda _: answer) as server:
        assert sent(server) == json.loads(MESSAGE)


def test_a_reply_that_is_compressed_twice_is_not_read():
    empty_blocks = zlib.compress(b"\x00\x00\x00\xff\xff" * 1_000_000, wbits=31)  # no byte to count, all day long
    headers = {"content-type": "application/json", "content-encoding": "gzip, gzip"}
    answer = Answer(reply=Reply(zlib.compress(empty_blocks, wbits=31), headers=headers))
    refused = pytest.raises(ReplyEncodedTwiceError, match=r"compressed more than once \('gzip, gzip'\)")
    with ScriptedServer(lambda _: answer) as server:
        with refused:
            sent(server, max_retries=2)
        assert server.count() == 1
