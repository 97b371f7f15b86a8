"""Replays under any voting rules: whose rules hold, what was never cast, what a class does without."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.analysis.treatments.rule_outcomes import rule_outcomes
from verifyplan.errors import SettingsError
from verifyplan.protocol.vote import CLASSIFICATIONS

ROSTER = ["zed", "bob", "ann", "cyd"]
AGREE = {"verdict": "agree"}
REFUTE = {"verdict": "refuted", "disagree_basis": "counter-evidence", "explanation": "m.py:4 says so"}


def live(rules, *, first=None, second=None, roster=ROSTER, **options):
    """Run one finding, found by cyd, under rules; every worker agrees unless `first` or `second` says otherwise."""
    script = {
        number: {worker: {"F": (said or {}).get(worker, AGREE)} for worker in ROSTER}
        for number, said in ((1, first), (2, second))
    }
    rows = [{"finding_id": "F", "summary": "a claim", "evidence": "", "worker": "cyd"}]
    backend = vp.agents.ScriptedBackend(script)
    options = {"mode": "adversarial", "matcher": None, "log_dir": None} | options
    return vp.crossverify(rows, roster, rules=rules, backend=backend, **options).frames


def only(table):
    (row,) = table.to_dict("records")
    return row


@pytest.mark.parametrize(
    "rules",
    [{"stop": {"margin": 1}}, {"workers": ["ann", "zed"]}, {"refutes": "sticky"}, {"pruning": "none"},
     {"quorum": 3}, {"aggregate": "majority"}, {"aggregate": "dawid-skene"}, {"aggregate": "first-round"}],
    ids=str,
)  # fmt: skip
def test_runs_are_judged_by_what_they_recorded_where_nobody_says_otherwise(rules):
    run = live(rules, first={"bob": REFUTE}, second={"zed": REFUTE})
    for arguments in ({}, {"mode": "recorded"}, {"rules": vp.VotingRules()}, {"rules": "as-recorded"}):
        row = only(vp.replay(run, **arguments))
        assert row["classification"] == row["recorded"]
        assert not row["censored"]
        assert row["low"] == row["high"] == row["classification"]


def test_rounds_alone_leave_a_run_its_own_rules():
    run = live({"aggregate": "any-refute"}, first={"bob": REFUTE})
    assert only(vp.replay(run, max_rounds=1))["rule"] == "any-disagree"
    assert only(vp.replay(run, "adversarial", max_rounds=1))["rule"] == "hard-refute"


def test_runs_whose_rosters_contradict_each_other_ask_each_in_its_own_order(tmp_path):
    rosters, stop = (ROSTER, ROSTER[::-1]), {"stop": {"margin": 1}}
    for roster in rosters:
        live(stop, first={"zed": REFUTE}, roster=roster, log_dir=tmp_path / "stopped", max_rounds=1)
        live({}, first={"zed": REFUTE}, roster=roster, log_dir=tmp_path / "all", max_rounds=1)
    stopped = vp.replay(tmp_path / "stopped")
    assert stopped["classification"].tolist() == stopped["recorded"].tolist() == ["worker-unique", "full-consensus"]
    runs = vp.load(tmp_path / "all")
    replayed = vp.replay(runs, rules=stop)
    assert replayed["classification"].tolist() == ["worker-unique", "full-consensus"]
    assert not replayed["censored"].any()
    searched = rule_outcomes(runs, [vp.VotingRules(**stop)])
    assert [CLASSIFICATIONS[code] for code in searched.classes(0)] == ["worker-unique", "full-consensus"]


def test_runs_of_different_rules_are_judged_each_by_its_own(tmp_path):
    for rules in ({}, "any-refute"):
        live(rules, first={"bob": REFUTE}, log_dir=tmp_path)
    both = vp.load(tmp_path)
    assert vp.replay(both)["rule"].tolist() == ["survived", "any-disagree"]
    assert vp.replay(both, rules="majority")["rule"].tolist() == ["majority-agree", "majority-agree"]


def test_whom_a_stop_left_unasked_others_would_ask():
    run = live({"stop": {"margin": 1}})
    assert run.votes["worker"].tolist() == ["zed"]
    row = only(vp.replay(run, "adversarial"))
    assert (row["classification"], row["censored"]) == ("full-consensus", True)
    assert (row["low"], row["high"]) == ("worker-unique", "full-consensus")
    assert not only(vp.replay(run, rules={"mode": "adversarial", "stop": {"margin": 1}}))["censored"]


def test_workers_are_asked_in_the_order_of_the_roster_and_not_of_their_votes():
    run = live({}, first={"zed": REFUTE, "bob": REFUTE})
    shuffled = vp.RunSet(run.runs, run.findings, run.votes[::-1].reset_index(drop=True), run.rounds, run.dispatches)
    for runs in (run, shuffled):
        row = only(vp.replay(runs, rules={"mode": "adversarial", "stop": {"margin": 2}}))
        assert (row["rule"], row["deciding_votes"]) == ("all-others-disagree", 2)


def test_a_named_worker_who_was_never_asked_leaves_the_class_open():
    run = live({})
    row = only(vp.replay(run, rules={"mode": "adversarial", "workers": ["zed", "dan"]}))
    assert (row["classification"], row["low"], row["high"]) == ("full-consensus", "worker-unique", "full-consensus")
    assert row["censored"]
    found_it = only(vp.replay(run, rules={"mode": "adversarial", "workers": ["zed", "cyd"]}))
    assert not found_it["censored"], "cyd found it, and would not be asked"


LOSSES = pd.DataFrame(
    [(1, "a", "agree", None), (1, "b", "disagree", "counter-evidence"), (1, "c", "agree", None),
     (2, "a", "agree", None), (2, "b", "verification-error", None), (2, "c", "supplement", None)],
    columns=["round", "worker", "verdict", "disagree_basis"],
).assign(run_id="r", finding_id="F", explanation="m.py:4")  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, ("partial-consensus", 2, 2, 1, 1)),
        ({"refutes": "sticky"}, ("contested", 2, 3, 1, 0)),
        ({"lost_votes": "last-vote"}, ("contested", 2, 3, 1, 0)),
        ({"lost_votes": "as-agree"}, ("partial-consensus", 2, 3, 1, 1)),
        ({"lost_votes": "as-disagree"}, ("contested", 2, 3, 1, 0)),
        ({"workers": ["a", "c"]}, ("full-consensus", 1, 2, 0, 0)),
        ({"quorum": 3}, ("contested", 2, 2, 1, 1)),
        ({"stop": {"margin": 1}}, ("full-consensus", 1, 1, 0, 0)),
        ({"aggregate": "first-round"}, ("contested", 1, 3, 0, 0)),
        ({"caveats": "as-agree"}, ("full-consensus", 2, 2, 1, 1)),
    ],
    ids=str,
)
def test_what_a_class_rests_on_and_does_without(rules, expected):
    columns = {"item": "finding_id", "verdict": "verdict", "basis": "disagree_basis", "explanation": "explanation"}
    runs = vp.from_votes(LOSSES, worker="worker", round="round", mode="adversarial", **columns)
    row = only(vp.replay(runs, rules={"mode": "adversarial"} | rules))
    names = ("classification", "decided_round", "deciding_votes", "lost_votes", "lost_refutes")
    assert tuple(row[name] for name in names) == expected


def test_filled_bases_are_counted_among_the_votes_that_the_rules_ask_for():
    bare = LOSSES[LOSSES["round"].eq(1)].assign(disagree_basis=None)
    assert vp.classify(bare, mode="adversarial")["filled_bases"].tolist() == [1]
    for rules in ({"workers": ["a", "c"]}, {"stop": {"margin": 1}}, {"aggregate": "majority"}):
        assert vp.classify(bare, mode="adversarial", rules=rules)["filled_bases"].tolist() == [0]
    with pytest.raises(
        vp.errors.TableError, match="the disagree of 'b' on finding 'F' of run 'r' in round 1 has no basis"
    ):
        vp.classify(bare, rules={"mode": "adversarial", "quorum": 1, "missing_basis": "raise"})
    vp.classify(bare, rules={"mode": "adversarial", "workers": ["a", "c"], "missing_basis": "raise"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "collaborative", "rules": "adversarial"}, "mode: is 'collaborative', and rules say 'adversarial'"),
        ({"mode": "recorded", "rules": "adversarial"}, "mode: is 'recorded', and rules say 'adversarial'"),
        ({"max_rounds": 1, "rules": {"max_rounds": 2}}, "max_rounds: is 1, and rules say 2"),
        (
            {"missing_basis": "burden-not-met", "rules": {"missing_basis": "counter-evidence"}},
            "missing_basis: is 'burden-not-met', and rules say 'counter-evidence'",
        ),
        ({"rules": {"quorum": "x"}}, "rules.quorum: must be a number of votes, or a share such as '2/3', got 'x'"),
        ({"rules": 3}, "rules: 3 is neither rules nor the name of a preset"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(arguments, message):
    with pytest.raises(SettingsError) as raised:
        vp.replay(live({}), **arguments)
    assert str(raised.value).startswith(message)


def test_what_is_said_twice_is_taken():
    run = live({})
    twice = vp.replay(run, "adversarial", rules="adversarial", max_rounds=np.int64(2))
    pd.testing.assert_frame_equal(twice, vp.replay(run, rules={"mode": "adversarial", "max_rounds": 2}))


def test_a_table_needs_a_mode():
    with pytest.raises(SettingsError, match="mode: is missing, and the rules name none"):
        vp.classify(LOSSES, rules="unanimous")


def test_a_table_is_classified_in_parts_where_it_is_large(monkeypatch):
    votes = pd.concat([LOSSES.assign(finding_id=f"F{k}") for k in range(7)], ignore_index=True)
    whole = vp.classify(votes, rules="sticky-refutes")
    monkeypatch.setattr("verifyplan.analysis.judgement.MAX_CELLS_AT_ONCE", 20)
    pd.testing.assert_frame_equal(vp.classify(votes, rules="sticky-refutes"), whole)
