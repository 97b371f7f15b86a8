"""Runs of models from a notebook's running loop, from threads, again and again; and replayed without a request."""

from __future__ import annotations

import asyncio
import threading

import pytest

import verifyplan as vp
from tests.live.live_faults import SCORED
from tests.live.live_runs import Played, derived, facts, speaking_to, times, turns
from tests.live.scripted_replies import calls, cut, says
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, COUNTER, finding
from tests.runs.plan.planning import PLAN, REPO, challenge, votes
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.plans.plan import parse_plan
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.replay import replay_run

VOTES = {number: {"bob": {"F-1": vote}, "cy": {"F-1": AGREE}} for number, vote in ((1, COUNTER), (2, AGREE))}
FIRST = {"i1/challenger/t1": calls("Read", path="planning.py"), "i1/challenger/t2": says("Let me think.")}
ANSWERS = SCORED | {
    "i1/challenger": {"challenges": [challenge("locks", "MINOR")]},
    "i1/panel/r1/ann": votes(AGREE),
    "i1/panel/r1/bob": votes(COUNTER),
}


def crossed(backend, **settings):
    given = {"matcher": None, "log_dir": None, "repo": REPO, "progress": False} | settings
    return crossverify([finding()], ["ann", "bob", "cy"], backend=backend, **given)


def planned(backend, **settings):
    given = {"team": "base", "panel": ["ann", "bob"], "log_dir": None, "max_iterations": 1, "progress": False}
    return verify(parse_plan(PLAN), REPO, backend=backend, **given | settings)


def test_a_run_within_a_running_loop_as_in_a_notebook():
    async def notebook(server):
        await asyncio.sleep(0)
        first = crossed(speaking_to(server))
        backend = speaking_to(server)
        return first, [crossed(backend), crossed(backend)], planned(backend)

    with ScriptedServer(Played(ANSWERS | VOTES, FIRST, silent=True)) as server:
        first, both, plan = asyncio.run(notebook(server))
    expected = derived(crossed(ScriptedBackend(VOTES)))
    assert [derived(run) for run in (first, *both)] == [expected] * 3
    assert plan.verdict == "PROCEED"
    assert len(server.requests) == 3 * 4 + 9 + 1


def test_code_that_awaits_runs_several_at_once_on_one_backend():
    async def gathered(server):
        backend = speaking_to(server, max_concurrency=2)
        return await asyncio.gather(*(asyncio.to_thread(crossed, backend) for _ in range(4)))

    with ScriptedServer(Played(VOTES), latency=0.05) as server:
        runs = asyncio.run(gathered(server))
    assert [derived(run) for run in runs] == [derived(crossed(ScriptedBackend(VOTES)))] * 4
    assert set(times(server).values()) == {4}
    assert server.most_at_once > 2  # each run has a limit of its own


def test_connections_are_closed_with_the_run_and_opened_with_the_next():
    before = threading.active_count()
    with ScriptedServer(Played(VOTES)) as server:
        backend = speaking_to(server)
        for _ in range(3):
            crossed(backend)
            assert backend.endpoints._open == {}
        assert asyncio.run(backend.answer(WORKER_REQUEST)).value["votes"]["F-1"]["verdict"] == "disagree"
        assert backend.endpoints._open == {}
    assert threading.active_count() == before


WORKER_REQUEST = vp.protocol.call.WorkerRequest(
    call_id="r1/bob",
    worker="bob",
    round=1,
    mode="adversarial",
    verification_mode="lightweight",
    items=({"finding_id": "F-1", "summary": "s", "evidence": ""},),
)


@pytest.mark.parametrize("at_once", [1, 3])
def test_no_more_calls_are_under_way_than_the_limit(at_once):
    found = [finding(f"F-{n}") for n in range(8)]
    votes_of_all = {1: {"bob": {f"F-{n}": AGREE for n in range(8)}}}
    with ScriptedServer(Played(votes_of_all), latency=0.02) as server:
        backend = speaking_to(server, max_concurrency=at_once)
        crossverify(found, ["ann", "bob"], backend=backend, matcher=None, log_dir=None, repo=REPO, items_per_call=1)
    assert server.most_at_once == at_once
    assert len(server.requests) == 8


# Repetitions


def test_repetitions_are_runs_of_their_own_and_all_are_asked_anew(tmp_path):
    with ScriptedServer(Played(ANSWERS | VOTES, FIRST, silent=True)) as server:
        backend = speaking_to(server)
        for number in (1, 2, 3):
            crossed(backend, log_dir=tmp_path / "cross", repetition=number)
            planned(backend, log_dir=tmp_path / "plan", repetition=number)
    assert set(times(server).values()) == {3}
    for folder, kind in (("cross", "cross"), ("plan", "plan")):
        tables = vp.load(tmp_path / folder)
        assert list(tables.runs["repetition"]) == [1, 2, 3]
        assert set(tables.runs["kind"]) == {kind}
        assert tables.runs["run_id"].is_unique
        assert set(tables.calls["source"]) == {"live"}
        assert tables.calls.groupby("run_id").size().nunique() == 1


# Replays


@pytest.mark.parametrize("kind", ["plan", "cross"])
def test_a_replay_sends_nothing_and_says_that_it_is_one(kind, tmp_path):
    first = FIRST | {"r1/bob/t1": says("Let me think."), "i1/probe/t1": cut("{")}
    with ScriptedServer(Played(ANSWERS | VOTES, first, silent=True)) as server:
        backend = speaking_to(server)
        run = planned(backend, log_dir=tmp_path) if kind == "plan" else crossed(backend, log_dir=tmp_path)
        sent = len(server.requests)
        replayed = [replay_run(run), replay_run(run.log_path)]
    assert len(server.requests) == sent
    for one in replayed:
        assert one.same
        assert (one.censored, one.asked_otherwise) == (None, ())
        assert derived(one.run) == derived(run)
        assert set(one.run.frames.calls["source"].dropna()) == {"replay"}
        assert {event.source for event in facts(one.run, "turn-replied")} == {"replay"}
        assert {event.call_id: event.usage for event in facts(one.run, "turn-replied")} == {
            event.call_id: event.usage for event in facts(run, "turn-replied")
        }
    assert set(run.frames.calls["source"].dropna()) == {"live"}
    assert turns(server)


def test_a_replay_under_other_rules_sends_nothing(tmp_path):
    with ScriptedServer(Played(ANSWERS, FIRST, silent=True)) as server:
        run = planned(speaking_to(server), log_dir=tmp_path)
        sent = len(server.requests)
        other = replay_run(run.log_path, mode="collaborative")
    assert len(server.requests) == sent
    assert other.censored is None
