"""The scripted server itself: every endpoint and every fault once, asked by the real SDK over real HTTP."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic

from tests.live.asking import MODEL, READ, asked_once, asks, through, user
from tests.live.scripted_replies import (
    bomb,
    calls,
    chatter,
    closes,
    cut,
    drips,
    empty,
    endless,
    error_in_200,
    expires,
    fetches,
    hangs,
    html,
    raw,
    refuses,
    resets,
    says,
    says_json,
    searches,
    status,
    truncates,
)
from tests.live.scripted_server import ScriptedServer, ScriptError

# Messages


def test_a_text_comes_back_as_the_message_of_the_model_that_was_asked():
    with ScriptedServer(lambda asked: f"you said {asked.last}") as server:
        message = asked_once(server)
    assert (message.content[0].text, message.model, message.stop_reason) == ("you said hello", MODEL, "end_turn")
    assert (server.count(), len(server.requests), server.most_at_once) == (1, 1, 1)


def test_a_request_tells_its_parts():
    with ScriptedServer(["fine"]) as server:
        asked_once(
            server,
            system=[{"type": "text", "text": "You judge."}],
            tools=[READ],
            messages=[
                user("first"),
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}]},
                user([{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "found"}]}]),
            ],
        )
    (asked,) = server.requests
    assert (asked.number, asked.path, asked.in_batch, asked.turn, asked.retry) == (1, "/v1/messages", False, 1, 0)
    assert (asked.system, asked.last, asked.prompt, asked.tools) == ("You judge.", "found", "first\nfound", ["Read"])
    assert asked.body["max_tokens"] == 100


def test_replies_in_order_and_a_dict_is_json():
    with ScriptedServer([{"ok": True}, says_json([1]), "three"]) as server:
        texts = [asked_once(server).content[0].text for _ in range(3)]
    assert texts == ['{"ok": true}', "[1]", "three"]


def test_a_script_may_be_a_coroutine_function():
    async def reply(asked):
        await asyncio.sleep(0)
        return asked.last

    with ScriptedServer(reply) as server:
        assert asked_once(server).content[0].text == "hello"


def test_tool_uses_have_ids_of_their_own_each_time():
    both = says("I look.") + calls("Read", path="a") + calls("Read", path="b")
    with ScriptedServer([both, both]) as server:
        messages = [asked_once(server, tools=[READ]) for _ in range(2)]
    kinds = [block.type for block in messages[0].content]
    assert (kinds, messages[0].stop_reason) == (["text", "tool_use", "tool_use"], "tool_use")
    assert [block.input for block in messages[0].content[1:]] == [{"path": "a"}, {"path": "b"}]
    assert len({block.id for message in messages for block in message.content[1:]}) == 4


def test_searches_and_fetches_of_the_api_itself_count_in_the_usage():
    search = searches("old bugs", ("https://a.example/1", "One"), text="There is one.")
    page = fetches("https://a.example/1", "the page") + fetches("https://b.example", error="url_not_allowed")
    with ScriptedServer([search, page]) as server:
        found, fetched = (asked_once(server) for _ in range(2))
    assert [block.type for block in found.content] == ["server_tool_use", "web_search_tool_result", "text"]
    assert found.content[1].tool_use_id == found.content[0].id
    assert found.content[1].content[0].url == "https://a.example/1"
    assert found.usage.server_tool_use.web_search_requests == 1
    assert fetched.content[1].content.content.source.data == "the page"
    assert fetched.content[3].content.error_code == "url_not_allowed"
    assert fetched.content[3].tool_use_id == fetched.content[2].id != fetched.content[0].id
    assert fetched.usage.server_tool_use.web_fetch_requests == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(cut("half an ans"), "max_tokens"), (refuses(), "refusal"), (says("wait").stopping("pause_turn"), "pause_turn")],
)
def test_messages_stop_for_other_reasons(answer, reason):
    with ScriptedServer([answer]) as server:
        assert asked_once(server).stop_reason == reason


# Usage


def test_tokens_are_four_characters_unless_the_script_says_otherwise():
    with ScriptedServer([says("x" * 40), says("x" * 40).using(input_tokens=7, cache_read_input_tokens=9)]) as server:
        estimated, scripted = (asked_once(server, content="y" * 80).usage for _ in range(2))
    assert (estimated.input_tokens, estimated.output_tokens, estimated.cache_read_input_tokens) == (20, 10, 0)
    assert (scripted.input_tokens, scripted.output_tokens, scripted.cache_read_input_tokens) == (7, 10, 9)


def test_a_marked_beginning_is_written_once_and_read_by_all_that_begin_alike():
    mark = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    plan = [{"type": "text", "text": "p" * 400, **mark}]

    def used(server: ScriptedServer, *rest: str) -> tuple[int, int, int]:
        content = [{"type": "text", "text": text} for text in rest]
        usage = asked_once(server, content=[*content[:-1], content[-1] | mark], system=plan).usage
        return usage.cache_creation_input_tokens, usage.cache_read_input_tokens, usage.input_tokens

    with ScriptedServer(lambda _: "fine") as server:
        assert used(server, "a" * 40) == (110, 0, 1)
        assert used(server, "b" * 80) == (20, 100, 1)
        assert used(server, "a" * 40, "c" * 40) == (10, 110, 1)  # the mark has moved on; what it left behind is kept
        other = asked_once(server, system=[plan[0] | {"text": "q" * 400}]).usage
    assert (other.cache_creation.ephemeral_1h_input_tokens, other.cache_read_input_tokens) == (100, 0)


# Faults


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, anthropic.BadRequestError),
        (429, anthropic.RateLimitError),
        (500, anthropic.InternalServerError),
        (529, anthropic.InternalServerError),
    ],
)
def test_errors_of_the_api(code, kind):
    with ScriptedServer([status(code, message="too much")]) as server, pytest.raises(kind, match="too much") as raised:
        asked_once(server)
    assert raised.value.status_code == code
    assert (server.count(), server.refused) == (1, [])


def test_the_sdk_waits_as_long_as_it_is_told_and_its_repetition_is_counted():
    with ScriptedServer([status(429, retry_after=0.3), status(529, retry_after=0.01), "fine"]) as server:
        through(server, lambda client: client.messages.create(**asks()), max_retries=2)
    assert [asked.retry for asked in server.requests] == [0, 1, 2]
    assert server.requests[1].at - server.requests[0].at >= 0.3


@pytest.mark.parametrize("answer", [resets(), resets(-1)], ids=["in the body", "before the head"])
def test_a_connection_that_is_reset(answer):
    with (
        ScriptedServer([answer]) as server,
        pytest.raises((anthropic.APIConnectionError, httpx2.TransportError)) as raised,
    ):
        asked_once(server)
    assert not isinstance(raised.value, anthropic.APITimeoutError)
    assert server.count() == 1


@pytest.mark.parametrize("answer", [truncates(), empty()], ids=["truncated", "empty"])
def test_a_body_that_is_not_json(answer):
    with ScriptedServer([answer]) as server, pytest.raises(json.JSONDecodeError, match="line 1"):
        asked_once(server)
    assert server.count() == 1


def test_the_page_of_a_proxy():
    with ScriptedServer([html()]) as server, pytest.raises(anthropic.InternalServerError, match="Bad Gateway"):
        asked_once(server)


def test_an_error_under_status_200_has_no_content():
    with ScriptedServer([error_in_200(), raw('{"type": "message"}')]) as server:
        assert [asked_once(server).content for _ in range(2)] == [None, None]


@pytest.mark.parametrize("answer", [closes(), closes(-1), chatter()], ids=["in the body", "before the head", "no HTTP"])
def test_a_connection_that_is_closed_in_order_or_speaks_no_http(answer):
    with ScriptedServer([answer]) as server, pytest.raises(anthropic.APIConnectionError) as told:
        asked_once(server)
    assert isinstance(told.value.__cause__, httpx2.RemoteProtocolError)


def test_a_body_may_drip():
    with ScriptedServer([drips(says("slowly"), 0.02, 100)]) as server:
        began = time.monotonic()
        assert asked_once(server).content[0].text == "slowly"
    assert time.monotonic() - began >= 0.06


def test_a_body_may_be_without_end_and_the_server_ends_nevertheless():
    with (
        ScriptedServer([endless()]) as server,
        httpx2.stream("POST", f"{server.url}/v1/messages", json=asks(), headers={"anthropic-version": "x"}) as reply,
    ):
        pieces = reply.iter_raw()
        assert sum(len(next(pieces)) for _ in range(100)) > 1_000_000


def test_a_bomb_is_small_and_unpacks_to_a_message_of_megabytes():
    packed = bomb(30).reply.body
    assert len(packed) < 100_000
    unpacked = zlib.decompressobj(31).decompress(packed, 29_000_000)
    assert (len(unpacked), unpacked[:13]) == (29_000_000, b'{"content": [')


def test_a_client_that_gives_up_on_a_hanging_reply_ends_it():
    with ScriptedServer([hangs(), "later"]) as server:
        with pytest.raises(anthropic.APITimeoutError):
            through(server, lambda client: client.messages.create(**asks()), timeout=0.2)
        assert asked_once(server).content[0].text == "later"
    assert (server.count(), server.most_at_once) == (2, 1)


def test_a_server_that_ends_leaves_nobody_hanging():
    async def ask_and_leave() -> None:
        with ScriptedServer([hangs(3600)]) as server:
            client = AsyncAnthropic(base_url=server.url, api_key="a key", max_retries=0)
            waiting = asyncio.create_task(client.messages.create(**asks()))
            while not server.requests:
                await asyncio.sleep(0.01)
        async with client:
            with pytest.raises(anthropic.APIConnectionError):
                await waiting

    asyncio.run(ask_and_leave())


# What the server refuses, and what it cannot answer


def test_a_refused_request_is_not_scripted_but_counted():
    with ScriptedServer([]) as server, pytest.raises(anthropic.BadRequestError, match="non-whitespace"):
        asked_once(server, content=" ")
    assert server.refused == ["messages.0.content.0: text content blocks must contain non-whitespace text"]
    assert len(server.requests) == 1


def test_an_unknown_model_and_an_unknown_path():
    with ScriptedServer([]) as server:
        with pytest.raises(anthropic.NotFoundError, match="model: claude-9"):
            asked_once(server, model="claude-9")
        with pytest.raises(anthropic.NotFoundError, match="Not found: GET /v1/files"):
            through(server, lambda client: client.get("/v1/files", cast_to=object))
    with ScriptedServer(["fine"], models=()) as server:
        assert asked_once(server, model="claude-9").model == "claude-9"


@pytest.mark.parametrize("header", ["authorization", "x-api-key"])
def test_a_key_is_demanded_and_never_kept(header):
    own = {"authorization": {"auth_token": "s3cret", "api_key": None}, "x-api-key": {"api_key": "s3cret"}}[header]
    with ScriptedServer(["fine"], key="s3cret") as server:
        with pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"):
            asked_once(server)
        message = through(server, lambda client: client.messages.create(**asks()), **own)
    assert message.content[0].text == "fine"
    assert server.requests[0].keyed
    assert "s3cret" not in repr(server.requests) + repr(server.refused)


def test_a_script_that_fails_is_asked_once_and_is_heard_at_the_end():
    def reply(asked):
        assert asked.last == "goodbye", "nobody says goodbye"

    with (
        pytest.raises(AssertionError, match="nobody says goodbye"),
        ScriptedServer(reply) as server,
        pytest.raises(anthropic.InternalServerError, match="AssertionError: nobody says goodbye"),
    ):
        through(server, lambda client: client.messages.create(**asks()), max_retries=2)
    assert server.count() == 1


def test_a_list_that_is_at_its_end_says_who_asked():
    with (
        pytest.raises(ScriptError, match="no reply is left for request 1, which says 'hello'"),
        ScriptedServer([]) as server,
        pytest.raises(anthropic.InternalServerError, match="no reply is left"),
    ):
        asked_once(server)


def test_a_failed_script_is_a_note_to_what_failed_in_the_test():
    with pytest.raises(anthropic.InternalServerError, match="no reply") as raised, ScriptedServer([]) as server:
        asked_once(server)
    assert "The script of the server had failed: ScriptError: no reply" in raised.value.__notes__[0]


# Models


def test_models_are_listed_and_told_one_by_one():
    async def talk(client: AsyncAnthropic) -> list[Any]:
        return [[model.id async for model in client.models.list()], (await client.models.retrieve("b")).max_tokens]

    with ScriptedServer([], models=("a", "b")) as server:
        assert through(server, talk) == [["a", "b"], 64_000]
        with pytest.raises(anthropic.NotFoundError, match="Not found"):
            through(server, lambda client: client.models.retrieve("c"))


# Many at once


def test_an_outcome_of_batches_is_no_reply_to_a_single_request():
    with (
        pytest.raises(ScriptError, match="cannot be expired"),
        ScriptedServer([expires()]) as server,
        pytest.raises(anthropic.InternalServerError, match="cannot be expired"),
    ):
        asked_once(server)


def test_many_requests_at_once_are_served_at_once():
    async def talk(client: AsyncAnthropic) -> set[str]:
        gate = asyncio.Semaphore(16)

        async def one(number: int) -> str:
            async with gate:
                return (await client.messages.create(**asks(f"number {number}"))).content[0].text

        return set(await asyncio.gather(*map(one, range(96))))

    with ScriptedServer(lambda asked: asked.last, latency=0.1) as server:
        assert through(server, talk) == {f"number {number}" for number in range(96)}
    assert server.most_at_once == 16
    assert sorted(asked.number for asked in server.requests) == list(range(1, 97))


def test_the_peak_is_seen_while_replies_wait():
    started = time.monotonic()
    with ScriptedServer([says("slow").after(0.2), says("slow").after(0.2)]) as server:

        async def both(client: AsyncAnthropic) -> None:
            await asyncio.gather(*(client.messages.create(**asks()) for _ in range(2)))

        through(server, both)
    assert server.most_at_once == 2
    assert time.monotonic() - started >= 0.2
