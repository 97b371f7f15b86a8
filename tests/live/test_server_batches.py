"""Message Batches of the scripted server, through the real SDK."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest
from anthropic import AsyncAnthropic

from tests.live.asking import asks, through
from tests.live.scripted_replies import cancels, expires, resets, status
from tests.live.scripted_server import ScriptedServer


def batched(*names: str, **bodies: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"custom_id": name, "params": bodies.get(name, asks(f"I am {name}"))} for name in names]


async def results_of(client: AsyncAnthropic, batch: str) -> list[Any]:
    return [one async for one in await client.messages.batches.results(batch)]


def test_a_batch_stays_in_progress_and_gives_its_results_in_no_order():
    async def talk(client: AsyncAnthropic) -> tuple[list[str], list[Any], Any]:
        batch = await client.messages.batches.create(requests=batched("a", "b", "c"))
        states = [(await client.messages.batches.retrieve(batch.id)).processing_status for _ in range(3)]
        return states, await results_of(client, batch.id), await client.messages.batches.retrieve(batch.id)

    with ScriptedServer(lambda asked: f"{asked.last}, {asked.in_batch}, {asked.batch}", polls=2) as server:
        states, results, batch = through(server, talk)
    assert states == ["in_progress", "in_progress", "ended"]
    assert [one.custom_id for one in results] == ["c", "b", "a"]
    assert results[2].result.message.content[0].text == "I am a, True, 1"
    assert results[2].result.message.usage.service_tier == "batch"
    assert (batch.request_counts.succeeded, batch.request_counts.processing) == (3, 0)
    assert (server.requests, list(server.batches[0].params)) == ([], ["a", "b", "c"])
    assert (server.count("/v1/messages/batches"), server.count("/v1/messages/batches/*", "GET")) == (1, 6)


def test_batched_requests_fail_one_by_one_and_succeed_in_the_next_batch():
    first = {"b": status(500), "c": expires(), "d": cancels(), "f": resets()}

    def reply(asked):
        return first.get(asked.custom_id, "fine") if asked.batch == 1 else "fine"

    async def talk(client: AsyncAnthropic) -> list[dict[str, str]]:
        found = []
        for _ in range(2):
            requests = batched("a", "b", "c", "d", "e", "f", e=asks(" "))
            batch = await client.messages.batches.create(requests=requests)
            found.append({one.custom_id: one.result.type for one in await results_of(client, batch.id)})
        return found

    with ScriptedServer(reply, polls=0) as server:
        found = through(server, talk)
    assert [found[0][name] for name in "abcde"] == ["succeeded", "errored", "expired", "canceled", "errored"]
    assert [found[1][name] for name in "abcde"] == ["succeeded"] * 4 + ["errored"]


def test_a_canceled_batch_ends_at_the_next_look():
    async def talk(client: AsyncAnthropic) -> list[str]:
        batch = await client.messages.batches.create(requests=batched("a"))
        canceled = await client.messages.batches.cancel(batch.id)
        return [canceled.processing_status, *(one.result.type for one in await results_of(client, batch.id))]

    with ScriptedServer([], polls=9) as server:
        assert through(server, talk) == ["canceling", "canceled"]


def test_a_submit_whose_answer_is_lost_is_found_in_the_list():
    async def talk(client: AsyncAnthropic) -> list[str]:
        with pytest.raises(anthropic.APIConnectionError):
            await client.messages.batches.create(requests=batched("a"))
        await client.messages.batches.create(requests=batched("b"))
        return [batch.id async for batch in client.messages.batches.list(limit=1)]

    with ScriptedServer([], lose_create=True) as server:
        listed = through(server, talk)
    assert listed == [batch.id for batch in reversed(server.batches)]
    assert [list(batch.params) for batch in server.batches] == [["a"], ["b"]]


def test_results_before_the_end_and_of_no_batch():
    with ScriptedServer([]) as server:
        through(server, lambda client: client.messages.batches.create(requests=batched("a")))
        name = server.batches[0].id
        with pytest.raises(anthropic.NotFoundError, match="results"):
            through(server, lambda client: client.get(f"/v1/messages/batches/{name}/results", cast_to=object))
        with pytest.raises(anthropic.NotFoundError, match="msgbatch_7 not found"):
            through(server, lambda client: client.messages.batches.retrieve("msgbatch_7"))


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        ([], "not empty"),
        (batched("a b"), "custom_id"),
        (batched("a" * 65), "custom_id"),
        (batched("a", "a"), "unique"),
        ([{"custom_id": "a"}], "params"),
    ],
)
def test_batches_that_the_api_would_refuse(requests, words):
    with ScriptedServer([]) as server, pytest.raises(anthropic.BadRequestError, match=words):
        through(server, lambda client: client.messages.batches.create(requests=requests))
    assert server.batches == []
