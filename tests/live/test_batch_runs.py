"""Runs in batches come to what the same runs come to one by one, at half the price, in ordinary logs (rule G3)."""

from __future__ import annotations

import asyncio
import copy
from decimal import Decimal
from pathlib import Path

import pytest

from tests.live.batch_served import QUICK, Posted, entries, items
from tests.live.live_runs import KEY, Played, derived, facts, speaking_to
from tests.live.scripted_replies import calls, searches
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, BURDEN, COUNTER, SUPPLEMENT, finding
from tests.runs.plan.planning import PLAN, REPO, challenge, scores, script, unknown
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.analysis.detection import detection
from verifyplan.datasets.plans import labelled_plans, plan_labels
from verifyplan.frames.load import load
from verifyplan.runs.batch.batch import batch_crossverify, batch_verify
from verifyplan.runs.batch.journal import NAME
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.replay import replay_run

VOTES = {
    1: {
        "ann": {"F-2": AGREE, "F-3": SUPPLEMENT, "F-5": BURDEN, "F-6": AGREE},
        "bob": {"F-1": COUNTER, "F-3": AGREE, "F-4": BURDEN, "F-6": COUNTER},
        "cy": {"F-1": AGREE, "F-2": AGREE, "F-4": AGREE, "F-5": BURDEN},
    },
    2: {"ann": {"F-6": AGREE}, "bob": {"F-1": COUNTER, "F-6": AGREE}, "cy": {"F-1": BURDEN, "F-5": COUNTER}},
}
FOUND = [finding(f"F-{n}", worker) for n, worker in enumerate(("ann", "bob", "cy", "ann", "bob", "cy"), start=1)]
RATES = {"input": 1, "output": 5, "cache_write": "1.25", "cache_read": "0.1", "web_search": 10, "batch_discount": "0.5"}
PRICES = {"claude-haiku-5-5": {name: Decimal(value) for name, value in RATES.items()}}


def spoken():
    """The script of three iterations, with scores as a model must give them: six, whole."""
    answers = script() | {"i1/panel/r1/panel-3": "error"}
    answers["i3/score"] = scores(7)
    answers["i3/audit"] = scores(7, risk_coverage=4)
    return answers


def calm():
    """A script of one iteration."""
    return {
        "i1/challenger": {"challenges": [challenge("locks", "MINOR")], "unknowns": [unknown("store")]},
        "i1/score": scores(8),
        "i1/audit": scores(8),
    }


@pytest.fixture
def plans(tmp_path: Path) -> list[Path]:
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text(PLAN.replace("orders", f"{name}s"))
    return [tmp_path / "one.md", tmp_path / "two.md"]


def test_plans_come_to_what_they_come_to_one_by_one(plans, tmp_path):
    answers = [spoken(), calm()]
    given = {"team": "scaled", "progress": False, "log_dir": None}
    alone = [
        verify(plan, REPO, backend=ScriptedBackend(copy.deepcopy(told), silent=True), **given)
        for plan, told in zip(plans, answers, strict=True)
    ]
    played = {name: Played(told, silent=True) for name, told in zip(("one-001", "two-001"), answers, strict=True)}
    with ScriptedServer(Posted(played, tmp_path)) as server:
        batch = batch_verify(
            plans, REPO, backend=speaking_to(server), log_dir=tmp_path / "runs", team="scaled", **QUICK
        )
    assert [derived(run) for run in batch] == [derived(run) for run in alone]
    assert [run.verdict for run in batch] == [run.verdict for run in alone] == ["RETHINK", "PROCEED"]
    assert [run.score for run in batch] == [run.score for run in alone]
    assert server.requests == []
    assert [one for one in server.refused if "scripted" not in one] == []
    sent = items(server, tmp_path)
    assert len(sent) == len(set(sent))
    assert max(len(one.params) for one in server.batches) >= 3  # of one run, and of several; six on an idle machine
    for run in batch:
        assert replay_run(run).same
        told = [event.call_id for event in facts(run, "turn-sent")]
        assert sorted(told) == sorted(turn for name, turn in sent if name == run.run_id)


def test_replies_are_live_and_name_their_batch(plans, tmp_path):
    with ScriptedServer(Posted(Played(calm(), silent=True), tmp_path)) as server:
        batch = batch_verify(plans, REPO, backend=speaking_to(server), log_dir=tmp_path / "runs", **QUICK)
    known = {turn: batch_.id for batch_ in server.batches for turn in turns_of(batch_, tmp_path)}
    for run in batch:
        replied = facts(run, "turn-replied")
        assert {event.source for event in replied} == {"live"}
        assert all(known[run.run_id, event.call_id] == event.batch for event in replied)
        assert {event.source for event in facts(run, "call-replied")} == {"live"}


def turns_of(batch, folder):
    [path] = folder.rglob(NAME)
    known = {name: entry for one in entries(path) for name, entry in one.items()}
    return [(known[name].run.split()[0], known[name].turn) for name in batch.params]


def test_tokens_of_a_batch_cost_half_and_searches_do_not(plans, tmp_path):
    first = {"i1/resolver/t1": calls("WebSearch", query="store", serves="U1")}
    web = {"i1/resolver/t1/w1": searches("store", ("https://a.example", "A"), text="It is old.")}
    told = calm()

    def run(batched):
        played = Played(copy.deepcopy(told), first | web, silent=True)
        with ScriptedServer(Posted(played, tmp_path)) as server:
            backend = speaking_to(server, prices=PRICES, web=True)
            given = {"panel": None, "team": "base", "max_cost": 2}
            if not batched:
                return verify(plans[0], REPO, backend=backend, log_dir=None, progress=False, **given)
            return batch_verify(plans[0], REPO, backend=backend, log_dir=tmp_path / "runs", **given, **QUICK)[0]

    alone, batched = run(batched=False), run(batched=True)
    assert derived(alone) == derived(batched)
    for one, other in zip(facts(alone, "turn-replied"), facts(batched, "turn-replied"), strict=True):
        assert one.call_id == other.call_id
        assert other.usage.total == one.usage.total
        searched = one.usage.web_searches * Decimal("0.01")
        assert other.usage.cost - searched == (one.usage.cost - searched) / 2 > 0
    assert sum(event.usage.web_searches for event in facts(batched, "turn-replied")) == 1
    assert batched.frames.calls["cost"].sum() < alone.frames.calls["cost"].sum()


def test_tools_run_here_and_their_results_travel_in_the_next_batch(plans, tmp_path):
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "store.py").write_text("def lock():\n    return None\n")
    seen = []

    def reply(asked):
        seen.append(asked.last)
        return played(asked)

    played = Played(calm(), {"i1/challenger/t1": calls("Read", path="store.py")}, silent=True)
    with ScriptedServer(Posted(reply, tmp_path)) as server:
        [run] = batch_verify(
            plans[0], tmp_path / "repo", backend=speaking_to(server), log_dir=tmp_path / "runs", panel=None, **QUICK
        )
    assert any("def lock()" in last for last in seen)
    assert [use.tool for use in facts(run, "turn-sent")[1].tools] == ["Read"]
    assert len(server.batches[1].params) == 1  # the second turn of the challenger


@pytest.mark.parametrize("items_per_call", [None, 2])
def test_findings_come_to_what_they_come_to_one_by_one(tmp_path, items_per_call):
    given = {"matcher": None, "repo": REPO, "settings": {"adversarial": True, "maxRounds": 2}}
    given |= {"items_per_call": items_per_call}
    roster, patient = ["ann", "bob", "cy"], QUICK | {"settle": 0.6}  # all come to one batch on a busy machine, too
    alone = crossverify(FOUND, roster, backend=ScriptedBackend(VOTES), log_dir=None, progress=False, **given)
    with ScriptedServer(Posted(Played(VOTES), tmp_path)) as server:
        batch = batch_crossverify(
            FOUND, roster, backend=speaking_to(server), log_dir=tmp_path, repetitions=3, **given, **patient
        )
    assert [derived(run) for run in batch] == [derived(alone)] * 3
    assert [run.status for run in batch] == [alone.status] * 3
    assert [len(one.params) for one in server.batches] == ([9, 9] if items_per_call is None else [18, 9])
    assert [run.path.exists() for run in batch] == [True] * 3
    assert [run.artifact.findings for run in batch] == [alone.artifact.findings] * 3
    assert [run.run_id for run in batch] == [f"ad-hoc/state/convergence-ad-hoc-00{n}" for n in (1, 2, 3)]


def test_repetitions_are_runs_of_their_own(tmp_path, plans):
    said = iter(range(100))

    def reply(asked):
        answer = played(asked)
        if "challenger" not in asked.headers["x-verifyplan-turn"]:
            return answer
        return {"challenges": [challenge(f"word{next(said)}", "MINOR")], "unknowns": []}

    played = Played(calm(), silent=True)
    with ScriptedServer(Posted(reply, tmp_path)) as server:
        given = {"backend": speaking_to(server), "log_dir": tmp_path / "runs", "panel": None, "team": "base"} | QUICK
        batch = batch_verify(plans[0], REPO, repetitions=3, **given)
        more = batch_verify(plans[0], REPO, repetitions=4, **given)
    assert [run.started.repetition for run in more] == [1, 2, 3, 4]
    assert more[:3] == tuple(batch)
    claims = {run.state.challenges["C1"].claim for run in more}
    assert len(claims) == 4
    assert list(more.frames.runs["repetition"]) == [1, 2, 3, 4]


def test_each_endpoint_has_batches_of_its_own(tmp_path):
    play = Posted(Played(VOTES), tmp_path)
    with ScriptedServer(play) as here, ScriptedServer(play) as there:
        backend = speaking_to(here, workers={"cy": {"base_url": there.url}}, api_keys={there.url: KEY})
        given = {"matcher": None, "repo": REPO, "settings": {"adversarial": True, "maxRounds": 2}}
        [run] = batch_crossverify(FOUND, ["ann", "bob", "cy"], backend=backend, log_dir=tmp_path, **given, **QUICK)
    assert [turn for _, turn in items(here, tmp_path)] == [f"r{r}/{who}/t1" for r in (1, 2) for who in ("ann", "bob")]
    assert [turn for _, turn in items(there, tmp_path)] == ["r1/cy/t1", "r2/cy/t1"]
    assert run.status in ("converged", "max-rounds-reached")


def test_several_tables_are_several_runs_named_by_their_files(tmp_path):
    for name in ("left", "right"):
        text = "".join(f"{one['finding_id']},{one['summary']} {name},m.py:3,{one['worker']}\n" for one in FOUND)
        (tmp_path / f"{name}.csv").write_text(f"finding_id,summary,evidence,worker\n{text}")
    files = [tmp_path / "left.csv", tmp_path / "right.csv"]
    with ScriptedServer(Posted(Played(VOTES), tmp_path)) as server:
        batch = batch_crossverify(
            files, ["ann", "bob", "cy"], backend=speaking_to(server), log_dir=tmp_path, matcher=None, repo=REPO, **QUICK
        )
    assert [run.started.task_key for run in batch] == ["left", "right"]
    assert [run.artifact.taskKey for run in batch] == ["left", "right"]
    assert len(server.batches[0].params) == 6


@pytest.mark.usefixtures("plans")
def test_the_tables_are_those_of_the_logs(tmp_path):
    with ScriptedServer(Posted(Played(calm(), silent=True), tmp_path)) as server:
        batch = batch_verify(tmp_path, REPO, backend=speaking_to(server), log_dir=tmp_path / "runs", **QUICK)
    loaded = load(tmp_path / "runs")
    assert list(loaded.runs["run_id"]) == list(batch.frames.runs["run_id"]) == ["one-001", "two-001"]
    for name in ("runs", "calls", "challenges"):
        ours, theirs = getattr(batch.frames, name), getattr(loaded, name)
        assert ours.drop(columns="source", errors="ignore").equals(theirs.drop(columns="source", errors="ignore"))
    assert str(batch) == "2 runs: 2 PROCEED"
    assert repr(batch) == f"<BatchRuns {tmp_path / 'runs'}: 2 runs, 0 failures>"
    assert batch._repr_html_() == "<p>2 runs: 2 PROCEED</p>"
    assert batch[-1] is batch[1] is list(batch)[1]


def test_a_batch_in_a_running_event_loop_as_notebooks_have(plans, tmp_path):
    async def cell(server):
        return batch_verify(plans, REPO, backend=speaking_to(server), log_dir=tmp_path / "runs", **QUICK)

    with ScriptedServer(Posted(Played(calm(), silent=True), tmp_path)) as server:
        assert len(asyncio.run(cell(server))) == 2


def test_the_labelled_plans_by_name(tmp_path, monkeypatch):
    few = [one for one in labelled_plans() if one.name in ("shop-reference", "readme-dbmate")]
    monkeypatch.setattr("verifyplan.runs.batch.batch.labelled_plans", lambda: few)
    with ScriptedServer(Posted(Played(calm(), silent=True), tmp_path)) as server:
        batch = batch_verify("plans", backend=speaking_to(server), log_dir=tmp_path / "runs", panel=None, **QUICK)
    assert {run.started.synthetic for run in batch} == {True}
    assert {run.started.plan.repository["root"] for run in batch} == {str(tmp_path / "runs" / ".sample-repository")}
    assert len(load(tmp_path / "runs")) == 2
    labels = plan_labels()
    scored = detection(batch.frames, labels[labels["plan"].isin(["shop-reference", "readme-dbmate"])])
    assert list(scored.verdicts["plan"]) == [one.name for one in few]
