"""The rules make the same of what a model says over HTTP as of the same answers in a script (rules G1, G3)."""

from __future__ import annotations

import copy

import pytest

from tests.live.live_runs import Played, derived, facts, findings_of, speaking_to, times, turns
from tests.live.live_scripts import FOUND, ROSTER, VOTES, spoken_script
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, COUNTER, SUPPLEMENT, finding
from tests.runs.plan.planning import PLAN, REPO, run_of, scores, script
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.protocol.settings import PanelSettings
from verifyplan.runs.cross.crossverify import crossverify


def plan_runs(answers, **settings):
    """The run with scripted agents, that with models, and the server that they asked."""
    expected = run_of(copy.deepcopy(answers), **settings)
    with ScriptedServer(Played(answers)) as server:
        run = run_of({}, backend=speaking_to(server), **settings)
    return expected, run, server


def cross_runs(answers, found=FOUND, silence=30.0, **settings):
    given = {"matcher": None, "log_dir": None, "repo": REPO, "progress": False} | settings
    expected = crossverify(found, ROSTER, backend=ScriptedBackend(answers), **given)
    with ScriptedServer(Played(answers)) as server:
        run = crossverify(found, ROSTER, backend=speaking_to(server, timeout=silence), **given)
    return expected, run, server


def test_a_whole_plan_run():
    expected, run, server = plan_runs(spoken_script())
    assert derived(run) == derived(expected)
    assert (run.verdict, run.score) == (expected.verdict, expected.score) == ("RETHINK", 7)
    kinds = {event.type for event in run.events}
    assert {"vote-cast", "unknown-resolved", "risk-probed", "directive-refused", "score-disputed"} <= kinds
    asked = [event.call_id for event in facts(run, "call-requested")]
    assert asked == [event.call_id for event in facts(expected, "call-requested")]
    twice = {"i2/challenger", "i2/resolver", "i2/panel/r1/panel-3"}  # what is no answer gets one turn to be put right
    assert times(server) == {f"{call}/t1": 1 for call in asked} | {f"{call}/t2": 1 for call in twice}
    assert [refused for refused in server.refused if "scripted" not in refused] == []


def test_a_plan_run_of_the_base_team_that_converges():
    answers = {"i1/challenger": script()["i1/challenger"] | {"challenges": []}, "i1/score": scores(8)}
    answers |= {"i1/resolver": script()["i1/resolver"], "i1/audit": scores(8)}
    expected = run_of(answers, silent=True, team="base", panel=None)
    with ScriptedServer(Played(answers, silent=True)) as server:
        run = run_of({}, backend=speaking_to(server), team="base", panel=None)
    assert derived(run) == derived(expected)
    assert (run.verdict, run.score) == ("PROCEED", 8)


@pytest.mark.parametrize("mode", ["adversarial", "collaborative"])
def test_a_plan_run_whose_panel_is_asked_in_parts_of_a_dispatch(mode):
    panel = PanelSettings(workers=("ann", "bob"), max_rounds=2, mode=mode, items_per_call=2)
    answers = spoken_script()
    for iteration in (1, 2, 3):
        for part in (1, 2, 3, 4):
            answers[f"i{iteration}/panel/r1/ann/p{part}"] = {f"C{n}": AGREE for n in range(1, 20)}
            answers[f"i{iteration}/panel/r1/bob/p{part}"] = {f"C{n}": COUNTER for n in range(1, 20)} | {"C2": AGREE}
            answers[f"i{iteration}/panel/r2/ann/p{part}"] = {f"C{n}": SUPPLEMENT for n in range(1, 20)}
            answers[f"i{iteration}/panel/r2/bob/p{part}"] = {f"C{n}": AGREE for n in range(1, 20, 2)}
    expected, run, server = plan_runs(answers, panel=panel)
    assert derived(run) == derived(expected)
    parts = [turn for turn in turns(server) if "/panel/" in turn]
    assert {turn.split("/")[-2] for turn in parts} == {"p1", "p2", "p3", "p4"}
    assert all(len(findings_of(asked)) <= 2 for asked in server.requests)


@pytest.mark.parametrize("adversarial", [True, False])
@pytest.mark.parametrize("items_per_call", [None, 1, 2])
def test_a_whole_cross_run_of_several_rounds(adversarial, items_per_call):
    settings = {"adversarial": adversarial, "maxRounds": 3}
    expected, run, server = cross_runs(VOTES, settings=settings, items_per_call=items_per_call)
    assert derived(run) == derived(expected)
    assert run.artifact.totalRounds == expected.artifact.totalRounds
    assert run.artifact.totalRounds >= 2
    assert len(server.requests) == len(facts(run, "call-requested"))
    assert {len(findings_of(asked)) for asked in server.requests} <= ({1, 2, 3, 4} if items_per_call != 1 else {1})


def test_the_artifacts_differ_in_times_alone():
    expected, run, _ = cross_runs(VOTES, settings={"adversarial": True, "maxRounds": 3})
    timeless = {"roundHistory": {"__all__": {"dispatches": {"__all__": {"durationMs"}}}}}
    assert run.artifact.model_dump(exclude=timeless) == expected.artifact.model_dump(exclude=timeless)


def test_a_cross_run_with_failures_and_answers_that_leave_items_out():
    answers = {
        1: {"ann": "error", "bob": {"F-1": COUNTER}, "cy": {"raw": {"votes": {"F-1": AGREE, "F-3": AGREE}}}},
        2: {"ann": {"F-2": AGREE}, "bob": "error", "cy": {"raw": "sorry"}},
        3: {"ann": "error", "bob": "error", "cy": "error"},
    }
    expected, run, _ = cross_runs(answers, settings={"adversarial": True, "maxRounds": 3})
    assert derived(run) == derived(expected)
    assert run.status == expected.status == "aborted-non-result"
    assert facts(run, "vote-refused")


def test_a_cross_run_with_a_worker_that_is_silent():
    answers = copy.deepcopy(VOTES)
    answers[1]["ann"] = "timeout"
    expected, run, server = cross_runs(answers, silence=1.5)
    assert derived(run) == derived(expected)
    assert [one.status for one in facts(run, "dispatch-closed")][:3] == ["timeout", "completed", "completed"]
    assert times(server)["r1/ann/t1"] == 1


@pytest.mark.parametrize("gating", [True, False])
def test_a_plan_body(gating):
    items = [{"finding_id": f"P-00{n}", "summary": f"step {n} is needed", "evidence": "plan.md:3"} for n in (1, 2)]
    answers = copy.deepcopy(VOTES)
    for worker, vote in (("ann", AGREE), ("bob", AGREE), ("cy", {"verdict": "disagree"})):
        answers[f"p1/{worker}"] = {"P-001": AGREE, "P-002": vote}
    expected, run, server = cross_runs(
        answers,
        task_type="implementation-planning",
        plan_items=items,
        settings={"planBodyVerification": {"gating": gating}},
    )
    assert derived(run) == derived(expected)
    assert (run.gate_passed, run.gating) == (expected.gate_passed, expected.gating)
    assert {f"p1/{worker}/t1" for worker in ("ann", "bob", "cy")} <= set(turns(server))


def test_the_words_of_workers_and_ids_may_be_of_any_kind():
    ids = ['F "1"', "<b>F-2</b>", "F/3\u2028", "Ünï-4"]
    roster = ["Ann/r1", "bób", "c y"]
    found = [finding(name, "Ann/r1") for name in ids]
    answers = {1: {who: {name: COUNTER | {"explanation": f"{name}\n\u2028</data>"} for name in ids} for who in roster}}
    given = {"matcher": None, "log_dir": None, "repo": REPO, "progress": False, "settings": {"maxRounds": 1}}
    expected = crossverify(found, roster, backend=ScriptedBackend(answers), **given)
    with ScriptedServer(Played(answers)) as server:
        run = crossverify(found, roster, backend=speaking_to(server), **given)
    assert derived(run) == derived(expected)
    assert set(turns(server)) == {"r1/bób/t1", "r1/c y/t1"}


def test_every_request_has_what_the_api_wants_and_no_more():
    with ScriptedServer(Played(spoken_script())) as server:
        run_of({}, backend=speaking_to(server, effort="low", thinking="adaptive"), plan=PLAN)
    assert all(asked.keyed for asked in server.requests)
    assert {asked.body["output_config"]["effort"] for asked in server.requests} == {"low"}
    assert {asked.body["thinking"]["type"] for asked in server.requests} == {"adaptive"}
    assert [refused for refused in server.refused if "scripted" not in refused] == []
