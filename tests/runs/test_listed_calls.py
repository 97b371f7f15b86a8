"""`only=`: exactly the listed votes are asked for, and what rests on them says so (rule R5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from tests.runs.crossing import AGREE, COUNTER, Playing, finding, run_of, told
from tests.runs.test_live_rules import classes, derived, live_classes, rule_values
from tests.runs.test_same_votes import scripts
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.analysis.compare import compare
from verifyplan.analysis.replay import replay
from verifyplan.errors import InputError
from verifyplan.frames.load import load
from verifyplan.rules.invariants import violations
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import resume

FOUND = [finding("F-1"), finding("F-2"), finding("F-3", "cy")]
ROSTER = "ann bob cy dan"
ROWS = [
    {"finding_id": "F-2", "round": 2, "worker": "dan"},
    {"finding_id": "F-1", "round": 2, "worker": "dan"},
    {"finding_id": "F-1", "round": 1, "worker": "cy"},
]


def only(rows: Any, **more: Any) -> Any:
    return run_of({}, FOUND, ROSTER, **({"backend": Playing(), "only": rows, "max_rounds": 2} | more))


@pytest.mark.parametrize("kind", ["list", "frame", "csv"])
def test_exactly_the_listed_calls_are_made(kind, tmp_path):
    table: Any = ROWS
    if kind != "list":
        table = pd.DataFrame(ROWS)
    if kind == "csv":
        table.to_csv(tmp_path / "calls.csv", index=False)
        table = str(tmp_path / "calls.csv")
    backend = Playing()
    only(table, backend=backend)
    asked = [(r.round, r.worker, [item.finding_id for item in r.items]) for r in backend.requests]
    assert asked == [(1, "cy", ["F-1"]), (2, "dan", ["F-1", "F-2"])]


def test_the_run_is_about_the_listed_findings_and_says_on_what_its_classes_rest(tmp_path):
    run = only([row | {"run_id": "runs/first"} for row in ROWS], log_dir=tmp_path)
    assert live_classes(run) == {"F-1": "full-consensus", "F-2": "full-consensus"}
    assert "supplementary to run 'runs/first': 3 listed votes and no other was asked for" in str(run)
    assert "supplementary, converged" in repr(run)
    assert violations(run.artifact) == []
    for runs in (run.frames, load(run.path), load(run.log_path)):
        assert runs.runs[["supplementary", "supplements"]].values.tolist() == [[True, "runs/first"]]
        assert runs.findings["n_rounds"].tolist() == [2, 2]
        assert "note: 1 run is supplementary: it made only listed calls" in str(runs)
    assert any("is supplementary" in note for note in compare(run.frames, resamples=9).notes)


@settings(max_examples=examples(30), deadline=None)
@given(scripts(), rule_values(), st.data())
def test_live_and_replayed_classes_of_listed_calls_are_the_same(script, rules, data):
    places = [
        {"finding_id": name, "round": number, "worker": worker}
        for name, finder in (("F-1", "ann"), ("F-2", "dan"))
        for number in range(1, rules.max_rounds + 1)
        for worker in rules.asked_of(("bob", "cy", "dan"))
        if worker != finder
    ]
    rows = data.draw(st.lists(st.sampled_from(places), min_size=1, unique_by=str)) if places else []
    if not rows:
        return
    run = run_of(script, [finding("F-1"), finding("F-2", "dan")], "ann bob cy dan", rules=rules, only=rows)
    cast = run.frames.votes[["finding_id", "round", "worker"]].to_dict("records")
    assert sorted(map(str, cast)) == sorted(map(str, rows))
    assert classes(replay(run.frames, "recorded")) == live_classes(run)
    assert violations(run.artifact) == []
    assert replay_run(run).same


def test_rounds_that_gave_no_result_do_not_keep_the_other_listed_calls_from_being_made():
    rows = [{"finding_id": "F-1", "round": number, "worker": "bob"} for number in (1, 2)]
    run = only(rows, backend=ScriptedBackend({1: {"bob": "timeout"}, 2: {"bob": {"F-1": AGREE}}}))
    assert [event.call_id for event in told(run, "call-requested")] == ["r1/bob", "r2/bob"]
    assert run.frames.votes["verdict"].tolist() == ["verification-error", "agree"]


def test_listed_calls_are_made_whatever_earlier_rounds_decide_and_stops_stop_none():
    rows = [{"finding_id": "F-1", "round": number, "worker": who} for number in (1, 2) for who in ("bob", "cy", "dan")]
    run = only(rows, rules="margin-2")
    assert len(run.frames.votes) == 6
    assert run.started.cross.rules.stop == "round"


def test_it_resumes_to_the_same_events_wherever_it_was_broken_off(tmp_path):
    backend = ScriptedBackend({1: {"cy": {"F-1": AGREE}}, 2: {"dan": {"F-1": COUNTER, "F-2": AGREE}}})
    run = only(ROWS, backend=backend, log_dir=tmp_path)
    lines = Path(run.log_path).read_bytes().splitlines(keepends=True)
    for cut in range(1, len(lines)):
        log = tmp_path / f"cut-{cut}.jsonl"
        log.write_bytes(b"".join(lines[:cut]))
        assert derived(resume(log, backend=backend, progress=False)) == derived(run)


def test_a_finding_that_was_joined_is_asked_about_under_the_id_of_the_group():
    same = {"summary": "claim F-1", "evidence": "m.py:1"}
    found = [finding("F-1", **same), finding("F-9", "bob", **same)]
    backend = Playing()
    rows = [{"finding_id": "F-9", "round": 1, "worker": "cy"}]
    run_of({}, found, "ann bob cy", matcher="claim", only=rows, backend=backend)
    assert [item.finding_id for item in backend.requests[0].items] == ["F-1"]


def test_calls_about_findings_that_are_joined_say_so():
    same = {"summary": "claim F-1", "evidence": "m.py:1"}
    found = [finding("F-1", **same), finding("F-9", "bob", **same)]
    rows = [{"finding_id": name, "round": 1, "worker": "cy"} for name in ("F-1", "F-9")]
    with pytest.raises(InputError) as caught:
        run_of({}, found, "ann bob cy", matcher="claim", only=rows)
    assert str(caught.value) == (
        "only: lists 2 findings that are joined as one, such as 'F-1' and 'F-9'. "
        "Fix: give each finding its own summary, or matcher=None to join none."
    )


def test_all_problems_of_the_table_are_told_at_once():
    rows = [
        {"finding_id": "F-4", "round": 1, "worker": "bob"},
        {"finding_id": "F-1", "round": 3, "worker": "bob"},
        {"finding_id": "F-1", "round": 1, "worker": "zed"},
        {"finding_id": "F-1", "round": 1, "worker": "ann"},
        {"finding_id": "F-1", "round": None, "worker": "bob"},
        {"finding_id": "F-2", "round": 1, "worker": "bob", "run_id": "a"},
        {"finding_id": "F-2", "round": 1, "worker": "bob", "run_id": "b"},
        "F-1",
    ]
    backend = Playing()
    with pytest.raises(InputError) as caught:
        only(rows, backend=backend)
    assert [(problem.place, problem.message) for problem in caught.value.problems] == [
        ("only[0].finding_id", "'F-4' is not a finding of this run"),
        ("only[1].round", "must be an integer from 1 to 2, got 3"),
        ("only[2].worker", "'zed' is not a worker of this run"),
        ("only[3].worker", "'ann' found 'F-1', and so does not vote on it"),
        ("only[4].round", "is missing"),
        ("only[7]", "is 'F-1', not a row"),
        ("only", "asks 'bob' about 'F-2' in round 1 2 times"),
        ("only.run_id", "names 2 runs, such as 'a' and 'b'"),
    ]
    assert backend.requests == []


@pytest.mark.parametrize("number", ["x", 1.5, 0, True, float("inf")])
def test_rounds_that_are_none(number):
    with pytest.raises(InputError, match=r"only\[0\].round: must be an integer from 1 to 2, got "):
        only([{"finding_id": "F-1", "round": number, "worker": "bob"}])


def test_runs_that_can_make_no_listed_calls():
    with pytest.raises(InputError, match="only: has no rows, so nothing would be asked"):
        only([])
    with pytest.raises(InputError, match="only: lists calls of a run in which nobody votes"):
        only(ROWS, settings={"enabled": False})
    item = [{"finding_id": "P-1", "summary": "a step"}]
    with pytest.raises(InputError, match="only: lists calls about findings, and the plan body would be voted on, too"):
        only(ROWS, task_type="implementation-planning", plan_items=item)


def test_rules_and_listed_calls_from_a_shell(cli, tmp_path):
    (tmp_path / "findings.csv").write_text("finding_id,summary,evidence,worker\nF-1,a claim,m.py:1,window\n")
    (tmp_path / "calls.csv").write_text("finding_id,round,worker\nF-1,1,search\n")
    given = ("crossverify", tmp_path / "findings.csv", "--log-dir", tmp_path / "out", "--repo", tmp_path)
    done = cli(*given, "--only", tmp_path / "calls.csv", "--rules", "sticky-refutes")
    assert "supplementary: 1 listed vote and no other was asked for" in done.out
    assert "refutes=sticky" in done.out
    wrong = cli(*given, "--rules", "stiky-refutes")
    assert (wrong.code, "did you mean 'sticky-refutes'" in wrong.err) == (2, True)
