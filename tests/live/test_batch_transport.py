"""The way of a batch to an endpoint and back: what was not confirmed is found, and never sent while it may be there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.live import scripted_batches
from tests.live.asking import asks
from tests.live.live_runs import KEY
from tests.live.scripted_http import Reply, Request, json_reply
from tests.live.scripted_replies import error
from tests.live.scripted_server import ScriptedServer
from verifyplan.agents.anthropic.batches import AnthropicBatches
from verifyplan.agents.anthropic.endpoints import Endpoints
from verifyplan.errors import AgentError
from verifyplan.runs.batch import transport as module
from verifyplan.runs.batch.journal import BatchedExchange, Submitted, open_journal
from verifyplan.runs.batch.transport import BatchTransport

ENTRIES = [BatchedExchange(run="a-001 of now", turn=f"r1/{name}/t1", sha256=name) for name in ("ann", "bob")]
POLL = 0.05


class Unsteady(ScriptedServer):
    """Fails requests that `fault` picks, by method, path and number, before or after they took effect."""

    def __init__(self, fault: Any = lambda *_: None, **more: Any) -> None:
        super().__init__(lambda _: "fine", **more)
        self._fault = fault
        self.seen: list[str] = []  # all that came, with those that had no effect

    async def answer(self, request: Request) -> Reply:
        self.seen.append(f"{request.method} {request.path}")
        fault = self._fault(request.method, request.path, len(self.seen))
        if isinstance(fault, list):
            await super().answer(request)
            return fault[0]
        return fault or await super().answer(request)


def carried(server: ScriptedServer, folder: Any, work: Any, poll: float = POLL) -> Any:
    """What `work` makes of a carrier, its journal, and the batches of the server as somebody else uses them."""

    async def run() -> Any:
        endpoints = Endpoints(server.url, KEY, {}, timeout=5.0, max_retries=0)
        with open_journal(folder) as journal:
            async with endpoints.session():
                carrier = BatchTransport(lambda at: AnthropicBatches(endpoints.at(at)), journal, poll, lambda *_: None)
                return await work(carrier, journal, AnthropicBatches(endpoints.at(server.url)))

    return asyncio.run(run())


def of(*names: str) -> list[dict[str, Any]]:
    return [{"custom_id": name, "params": asks(name)} for name in names]


def bodies(intent: Any) -> dict[str, Any]:
    return {name: asks(name) for name in intent.requests}


async def sends(carrier: Any, journal: Any, _: Any) -> str:
    intent = journal.intend(None, await carrier.newest(None), ENTRIES)
    return await carrier.send(None, intent, bodies(intent))


LOST = [Reply(sent=-1)]
"""A request that took effect, though nobody was told so."""


@pytest.mark.parametrize("answer", [LOST[0], json_reply(error(500), 500), json_reply(error(529), 529), Reply(b"{")])
def test_a_batch_whose_creation_was_not_confirmed_is_found(tmp_path, answer):
    with Unsteady(lambda method, _, number: [answer] if (method, number) == ("POST", 2) else None) as server:
        assert carried(server, tmp_path, sends) == "msgbatch_0001"
    assert len(server.batches) == 1


@pytest.mark.parametrize("answer", [Reply(sent=-1), json_reply(error(429), 429), json_reply(error(500), 500)])
def test_a_batch_that_did_not_arrive_is_sent_again_when_that_is_sure(tmp_path, answer):
    def fault(method, _, number):
        return answer if (method, number) == ("POST", 2) else None

    with Unsteady(fault) as server:
        assert carried(server, tmp_path, sends) == "msgbatch_0001"
    assert server.seen.count("POST /v1/messages/batches") == 2
    assert server.seen.count("GET /v1/messages/batches") == 3  # what was the youngest, and two looks for it
    assert len(server.batches) == 1


def test_a_batch_that_arrives_late_is_not_sent_again(tmp_path):
    """Its creation fails, and it shows up between the two looks."""
    late: list[bool] = []

    def fault(method, path, _):
        if (method, path) == ("POST", "/v1/messages/batches") and not late:
            return Reply(sent=-1)
        return None

    async def work(carrier, journal, others):
        intent = journal.intend(None, await carrier.newest(None), ENTRIES)

        async def arrive():
            await asyncio.sleep(0.15)
            late.append(True)
            await others.submit([{"custom_id": name, "params": asks(name)} for name in intent.requests])

        arriving = asyncio.create_task(arrive())
        found = await carrier.send(None, intent, bodies(intent))
        await arriving
        return found

    with Unsteady(fault) as server:
        assert carried(server, tmp_path, work, poll=0.3) == "msgbatch_0001"
    assert len(server.batches) == 1


def test_a_batch_is_told_from_those_of_others_by_its_custom_ids(tmp_path):
    async def work(carrier, journal, others):
        for names in (("x",), ("x", "y")):
            await others.submit(of(*names))  # before
        intent = journal.intend(None, await carrier.newest(None), ENTRIES)
        known = journal.intend(None, None, ENTRIES)
        for names in (("x", "y"), ("x",), ("v", "w"), tuple(intent.requests), ("x", "y"), tuple(known.requests)):
            last = await others.submit(of(*names))
        journal.note(Submitted(nonce=known.nonce, batch=last))
        return await carrier.find(None, intent)

    with Unsteady(polls=2) as server:
        assert carried(server, tmp_path, work) == "msgbatch_0006"
        looked = {batch.id for batch in server.batches if batch.looks}
    assert looked <= {"msgbatch_0003", "msgbatch_0005", "msgbatch_0006", "msgbatch_0007"}  # two requests, younger


def test_a_batch_that_nobody_has_is_surely_not_there(tmp_path):
    async def work(carrier, journal, others):
        intent = journal.intend(None, await carrier.newest(None), ENTRIES)
        for names in (("x", "y"), ("x",), ("v", "w")):
            await others.submit(of(*names))
        return await carrier.find(None, intent)

    with Unsteady() as server:
        assert carried(server, tmp_path, work) is None
    assert server.count("/v1/messages/batches", "GET") == 3


def test_a_batch_of_others_whose_results_are_gone_is_none_of_ours(tmp_path):
    async def work(carrier, journal, others):
        intent = journal.intend(None, await carrier.newest(None), ENTRIES)
        await others.submit(of("x", "y"))
        return await carrier.find(None, intent)

    gone = json_reply(error(404, "archived"), 404)
    with Unsteady(lambda _, path, __: gone if path.endswith("results") else None, polls=0) as server:
        assert carried(server, tmp_path, work) is None


def test_results_are_waited_for_through_outages(tmp_path):
    down = json_reply(error(503), 503)
    told: list[tuple[str, int, int]] = []

    async def work(carrier, journal, others):
        carrier._on_progress = lambda *stand: told.append(stand)
        batch = await sends(carrier, journal, others)
        return await carrier.results(None, batch)

    with Unsteady(lambda _, __, number: down if 3 <= number < 9 or number == 10 else None) as server:
        results = carried(server, tmp_path, work)
    assert [result.message["content"][0]["text"] for result in results] == ["fine", "fine"]
    assert told == [("msgbatch_0001", 0, 2), ("msgbatch_0001", 2, 2)]
    assert len(server.batches) == 1


def test_a_batch_past_its_time_ends_as_expired(tmp_path, monkeypatch):
    monkeypatch.setattr(scripted_batches, "EXPIRES", "2026-01-02T00:00:00Z")

    async def work(carrier, journal, others):
        return await carrier.results(None, await sends(carrier, journal, others), ["x"])

    with Unsteady(lambda *_: None, polls=99) as server:
        [result] = carried(server, tmp_path, work)
    assert result == ("x", None, "batch msgbatch_0001 expired at 2026-01-02 00:00 UTC and has not ended", False)


def test_an_endpoint_that_is_silent_for_too_long_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_SILENT_POLLS", 4)
    words = r"connection failed.*, 4 times in a row\. Fix: .*the same command then goes on"
    with (
        Unsteady(lambda _, __, number: Reply(sent=-1) if number > 2 else None) as server,
        pytest.raises(AgentError, match=words),
    ):
        carried(server, tmp_path, read)
    assert server.seen[2:] == ["GET /v1/messages/batches/msgbatch_0001"] * 4


async def read(carrier: Any, journal: Any, others: Any) -> Any:
    return await carrier.results(None, await sends(carrier, journal, others))


@pytest.mark.parametrize(
    ("method", "end", "words"),
    [
        ("GET", "batches", "message batches: the endpoint answered 404"),
        ("POST", "batches", "message batches: the endpoint answered 404"),
        ("GET", "0001", "batch msgbatch_0001: the endpoint answered 404.* pay for it again, remove .*batches.journal"),
        ("GET", "results", "batch msgbatch_0001: the endpoint answered 404"),
    ],
)
def test_an_endpoint_that_has_no_batches_or_not_this_one(tmp_path, method, end, words):
    def fault(verb, path, _):
        return json_reply(error(404), 404) if verb == method and path.endswith(end) else None

    with Unsteady(fault) as server, pytest.raises(AgentError, match=words):
        carried(server, tmp_path, read)
    assert len(server.batches) == (0 if end == "batches" else 1)


def test_a_list_that_is_refused_says_nothing_of_the_batch(tmp_path):
    def fault(method, _, number):
        if (method, number) == ("POST", 2):
            return LOST
        return json_reply(error(400), 400) if number == 3 else None

    with Unsteady(fault) as server, pytest.raises(AgentError, match="cannot be listed") as told:
        carried(server, tmp_path, sends)
    assert not hasattr(told.value, "status")
    assert len(server.batches) == 1
