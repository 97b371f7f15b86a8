"""Replays of whole sets: round 0 keeps its class, each run has its own rounds, plan bodies stay out."""

from __future__ import annotations

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.errors import SettingsError

ROSTER = ["a", "b", "c"]


def run(script, *, findings, settings=None, run_key="k"):
    rows = [
        {"finding_id": name, "summary": f"claim {name}", "evidence": "", "worker": worker}
        for name, workers in findings.items()
        for worker in workers
    ]
    backend = vp.agents.ScriptedBackend(script)
    return vp.crossverify(
        rows, ROSTER, settings=settings, backend=backend, matcher=None, log_dir=None, task_key=run_key
    )


SPLIT = {1: {"b": {"F": {"verdict": "agree"}}, "c": {"F": {"verdict": "disagree"}}}}


def test_a_finding_of_everybody_keeps_its_class_under_every_reading():
    runs = run(SPLIT, findings={"F": "a", "G": "abc"}, settings={"maxRounds": 1}).frames
    for mode in ("collaborative", "adversarial", "recorded"):
        row = vp.replay(runs, mode).set_index("finding_id").loc["G"]
        assert (row["classification"], row["rule"], row["decided_round"]) == ("full-consensus", "round-0", 0)
        assert not row["censored"]


def test_fewer_rounds_recorded_than_allowed_is_censored():
    runs = run(SPLIT, findings={"F": "a"}, settings={"maxRounds": 1}).frames
    own = vp.replay(runs, "collaborative").iloc[0]
    more = vp.replay(runs, "collaborative", max_rounds=2).iloc[0]
    assert (own["classification"], own["censored"]) == ("contested", False)
    assert (more["classification"], more["censored"]) == ("contested", True)


def test_each_run_is_replayed_with_its_own_number_of_rounds():
    one = run(SPLIT, findings={"F": "a"}, settings={"maxRounds": 1}).frames
    votes = one.votes.assign(run_id="two")
    two = vp.RunSet(
        one.runs.assign(run_id="two", effective_max_rounds=2),
        one.findings.assign(run_id="two"),
        votes,
        one.rounds.assign(run_id="two"),
        one.dispatches.assign(run_id="two"),
    )
    joined = pd.concat([vp.replay(one, "collaborative"), vp.replay(two, "collaborative")])
    assert joined["censored"].tolist() == [False, True]


def test_recorded_means_each_run_in_its_own_mode():
    adversarial = run(
        {1: {"b": {"F": {"verdict": "agree"}}, "c": {"F": {"verdict": "refuted", "disagree_basis": "burden-not-met"}}}},
        findings={"F": "a"},
        settings={"adversarial": True, "maxRounds": 1},
    ).frames
    assert vp.replay(adversarial, "recorded")["rule"].tolist() == ["lone-doubt"]
    assert vp.replay(adversarial, "collaborative")["rule"].tolist() == ["no-majority"]


def test_the_items_of_a_plan_body_are_left_out():
    script = {1: {worker: {"P-001": {"verdict": "agree"}} for worker in ROSTER}}
    plan = [{"finding_id": "P-001", "summary": "step one"}]
    done = vp.crossverify(
        [],
        ROSTER,
        task_type="implementation-planning",
        plan_items=plan,
        backend=vp.agents.ScriptedBackend(script),
        log_dir=None,
    )
    assert done.frames.findings["finding_id"].tolist() == ["P-001"]
    assert vp.replay(done.frames, "recorded").empty


def test_an_unknown_mode_is_refused_with_what_exists():
    runs = run(SPLIT, findings={"F": "a"}).frames
    with pytest.raises(SettingsError, match=r"mode: 'hostile' is unknown\. Fix: use 'collaborative', 'adversarial'"):
        vp.replay(runs, "hostile")


def test_rounds_in_which_nobody_voted_count_as_executed():
    """An artifact may record a round without any vote: it ran, and nobody is censored by it."""
    runs = run(SPLIT, findings={"F": "a"}, settings={"maxRounds": 2}).frames
    assert runs.votes["round"].tolist() == [1, 1, 2, 2]
    silent = vp.RunSet(runs.runs, runs.findings, runs.votes[runs.votes["round"] == 1], runs.rounds, runs.dispatches)
    row = vp.replay(silent, "collaborative").iloc[0]
    assert (row["classification"], row["decided_round"], row["censored"]) == ("contested", 2, False)
    late = vp.RunSet(runs.runs, runs.findings, runs.votes[runs.votes["round"] == 2], runs.rounds, runs.dispatches)
    assert vp.replay(late, "collaborative")["decided_round"].tolist() == [2]


def test_the_recorded_class_stands_beside_the_replayed_one():
    runs = run(SPLIT, findings={"F": "a"}, settings={"maxRounds": 1}).frames
    assert vp.replay(runs, "adversarial")["recorded"].astype(str).tolist() == ["contested"]
