"""The batches of an endpoint, through the real SDK: what is sent once, what is asked again, what each error says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.live.asking import asks
from tests.live.live_runs import KEY
from tests.live.scripted_http import Reply, Request, json_reply
from tests.live.scripted_replies import cancels, error, expires, status
from tests.live.scripted_server import ScriptedServer
from verifyplan.agents.anthropic import batches
from verifyplan.agents.anthropic.batches import AnthropicBatches
from verifyplan.agents.anthropic.endpoints import Endpoints
from verifyplan.agents.base import BatchResult, NoAnswerError, RefusedError


def talk(server: ScriptedServer, *asked: Any, retries: int = 0, timeout: float = 10.0) -> Any:
    """What the last of some functions of the batches of this server gives."""

    async def run() -> Any:
        endpoints = Endpoints(server.url, KEY, {}, timeout=timeout, max_retries=retries)
        async with endpoints.session():
            for one in asked:
                given = await one(AnthropicBatches(endpoints.at(server.url)))
            return given

    return asyncio.run(run())


def sends(*names: str, **more: Any) -> Any:
    return lambda to: to.submit([{"custom_id": name, "params": asks(name, **more)} for name in names])


class Faulty(ScriptedServer):
    """Answers some requests, by their number, with something else; the real answer is made first."""

    def __init__(self, reply: Any, faults: dict[int, Reply], **more: Any) -> None:
        super().__init__(reply, **more)
        self._faults, self.seen = faults, 0

    async def answer(self, request: Request) -> Reply:
        self.seen += 1
        number = self.seen
        reply = await super().answer(request)
        return self._faults.get(number, reply)


def broken(code: int, **headers: str) -> Reply:
    return json_reply(error(code), code, **headers)


def test_a_batch_is_sent_looked_at_and_read():
    outcomes = {"b": status(500), "c": expires(), "d": cancels(), "e": status(400)}
    with ScriptedServer(lambda asked: outcomes.get(asked.custom_id, "fine")) as server:
        states = [talk(server, sends(*"abcde"))]
        states += [talk(server, lambda to: to.look(states[0])) for _ in range(2)]
        found = talk(server, lambda to: to.results(states[0]))
    assert [(one.ended, one.done, one.requests) for one in states[1:]] == [(False, 0, 5), (True, 5, 5)]
    by_id = {result.custom_id: result for result in found}
    assert by_id["a"].message["content"] == [{"type": "text", "text": "fine"}]
    assert by_id["b"] == BatchResult("b", None, "api_error: scripted", final=False)
    assert by_id["c"] == BatchResult("c", None, "expired")
    assert by_id["d"] == BatchResult("d", None, "canceled")
    assert by_id["e"] == BatchResult("e", None, "invalid_request_error: scripted", final=True)
    assert server.refused == []


@pytest.mark.parametrize("code", [408, 409, 429, 500, 529])
def test_a_batch_is_never_sent_again_by_the_sdk(code):
    with Faulty([], {1: broken(code)}) as server, pytest.raises(NoAnswerError, match=f"answered {code}: .*scripted"):
        talk(server, sends("a"), retries=5)
    assert server.count("/v1/messages/batches") == 1


def test_a_look_is_sent_once_and_may_be_repeated():
    with Faulty(lambda _: "fine", {2: broken(500)}) as server:
        batch = talk(server, sends("a"))
        with pytest.raises(NoAnswerError, match="answered 500"):
            talk(server, lambda to: to.look(batch), retries=2)
        assert talk(server, lambda to: to.look(batch)).id == batch
    assert server.count("/v1/messages/batches/*", "GET") == 2


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413])
def test_what_an_endpoint_refuses_is_told_with_its_reason(code):
    with Faulty([], {1: broken(code)}) as server, pytest.raises(RefusedError, match=f"answered {code}") as told:
        talk(server, sends("a"))
    assert told.value.status == code


ODD = [
    Reply(b""),
    Reply(b"{"),
    Reply(b"[]"),
    json_reply(error(500)),
    json_reply({"id": "", "processing_status": "ended"}),
    Reply(b"<html>", headers={"content-type": "text/html"}),
    Reply(b"x" * 100, sent=10),
    Reply(sent=-1),
    Reply(silence=2.0),
]


@pytest.mark.parametrize("odd", ODD)
def test_an_answer_that_tells_of_no_batch(odd):
    with Faulty([], {1: odd, 2: odd, 3: odd}) as server:
        for ask in (sends("a"), lambda to: to.look("msgbatch_0001"), lambda to: to.newest()):
            with pytest.raises(NoAnswerError):
                talk(server, ask, timeout=0.5)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"3",
        b"{}",
        b'{"custom_id": "a", "result": "none"}',
        b'{"custom_id": 3, "result": {"type": "expired"}}',
        b'{"custom_id": "a", "result": {"type": "succeeded"}}',
    ],
)
def test_results_that_are_none_are_asked_for_again(line):
    with Faulty([], {1: Reply(line)}) as server, pytest.raises(NoAnswerError, match="tells of no batch"):
        talk(server, lambda to: to.results("msgbatch_0001"))


@pytest.mark.parametrize(
    ("result", "failure"),
    [
        ({"type": "succeeded", "message": {"content": None}}, "the endpoint's reply is not a message"),
        ({"type": "succeeded", "message": 7}, "the endpoint's reply is not a message"),
        ({"type": "errored"}, "None: None"),
        ({"type": "errored", "error": {"error": {"type": "overloaded_error"}}}, "overloaded_error: None"),
        ({"type": "lost"}, "lost"),
    ],
)
def test_results_without_a_message(result, failure):
    with Faulty([], {1: json_reply({"custom_id": "a", "result": result})}) as server:
        [told] = talk(server, lambda to: to.results("msgbatch_0001"))
    assert (told.message, told.failure) == (None, failure)
    assert told.final is (result["type"] == "succeeded")


def test_younger_batches_are_listed_page_by_page(monkeypatch):
    monkeypatch.setattr(batches, "BATCHES_PER_PAGE", 2)
    with ScriptedServer([]) as server:
        assert talk(server, lambda to: to.newest()) is None
        assert talk(server, lambda to: to.since(None)) == []
        made = [talk(server, sends(name)) for name in "abcdefg"]
        assert talk(server, lambda to: to.newest()) == made[-1]
        for place in (1, 2, 3, 6):
            found = talk(server, lambda to, place=place: to.since(made[place]))
            assert [one.id for one in found] == made[:place:-1]
        assert [one.id for one in talk(server, lambda to: to.since("gone"))] == made[::-1]


class Elsewhere(ScriptedServer):
    """Says that its results lie on another machine."""

    async def answer(self, request: Request) -> Reply:
        reply = await super().answer(request)
        return reply._replace(body=reply.body.replace(self.url.encode(), b"https://example.com"))


def test_the_key_is_sent_to_the_endpoint_alone_wherever_results_are_said_to_lie():
    with Elsewhere(lambda _: "fine", polls=0) as server:
        batch = talk(server, sends("a"))
        [result] = talk(server, lambda to: to.look(batch), lambda to: to.results(batch))
    assert result.message["content"][0]["text"] == "fine"


def test_a_temperature_travels_in_the_body():
    with ScriptedServer(lambda asked: str(asked.body["temperature"]), polls=0) as server:
        batch = talk(server, sends("a", temperature=0.5))
        [result] = talk(server, lambda to: to.look(batch), lambda to: to.results(batch))
    assert result.message["content"][0]["text"] == "0.5"
