"""The reference figures of real votes over rounds, as their sources give them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp


def whole(found: vp.results.Flips) -> dict[str, tuple[int, int]]:
    rows = found.changes.query("step == 'first → last'").set_index("change")
    return {name: (row["count"], row["n"]) for name, row in rows.iterrows()}


def run_of(table: str, run: str) -> pd.DataFrame:
    votes = vp.datasets.votes(table)
    return votes[votes["run"].eq(run)]


@pytest.mark.parametrize(
    ("run", "lost", "won", "n"), [("debate", (15, 479), (29, 109), 588), ("debate-paper", (11, 468), (38, 123), 591)]
)
def test_agents_of_a_debate(run, lost, won, n):
    found = whole(vp.flips(run_of("prover-verifier", run)))
    assert (found["right → wrong"], found["wrong → right"], found["changed"][1]) == (lost, won, n)


@pytest.mark.parametrize(
    ("run", "majorities", "moves"), [("debate", (165, 165), (6, 6)), ("debate-paper", (160, 165), (6, 11))]
)
def test_the_majority_of_three_where_the_first_letter_breaks_a_tie(run, majorities, moves):
    found = vp.flips(run_of("prover-verifier", run), ties="first")
    rows = found.rounds.query("measure == 'majority-accuracy'")
    right = (rows["value"] * rows["n"]).round(9).tolist()
    assert (right[0], right[-1]) == majorities
    lost, won = found.majority.query("step == 'first → last'")["count"]
    assert (lost, won + 1) == moves  # the source takes an item that nobody answers in round 0 for wrong there


def test_agreement_grows_and_accuracy_hardly_moves():
    found = vp.flips(run_of("prover-verifier", "debate"))
    shared = found.rounds.query("measure == 'majority-accuracy'")["value"].tolist()
    assert shared[0] == pytest.approx(0.8435, abs=5e-5)
    assert shared[2] == pytest.approx(0.8376, abs=5e-5)
    worth = found.rounds.query("measure == 'effective-votes'")["value"].tolist()
    assert worth == pytest.approx([1.384, 1.153, 1.062], abs=0.006)  # the source correlates over all classes of truth
    changed = found.differences.set_index("measure")
    assert changed.loc["majority-accuracy", "low"] < 0 < changed.loc["majority-accuracy", "high"]
    assert changed.loc["agreement", "low"] > 0.05
    assert "15 of 479 right votes became wrong (3.1 % [" in str(found)


@pytest.mark.parametrize(
    ("run", "lost", "won", "n"),
    [
        ("pvd-standard", (10, 151), (6, 45), 196),
        ("single-call", (2, 103), (48, 91), 194),
        ("pvd-retry-gemini", (3, 180), (8, 17), 197),
    ],
)
def test_a_prover_from_its_first_answer_to_its_last(run, lost, won, n):
    votes = run_of("prover-verifier", run)
    found = whole(vp.flips(votes[votes["label"].notna()]))  # the source skips lost answers, and takes the next
    assert (found["right → wrong"], found["wrong → right"], found["changed"][1]) == (lost, won, n)


def test_honest_agents_beside_one_that_defends_a_wrong_answer():
    votes = vp.datasets.votes("debate-rounds")
    found = vp.flips(votes.assign(worker=np.where(votes["confederate"], "planted ", "honest ") + votes["worker"]))
    kind = found.workers["worker"].str.split().str[0]
    sums = found.workers.groupby([kind, "change"])[["count", "n"]].sum().apply(tuple, axis=1)
    assert (sums["honest", "right → wrong"], sums["honest", "wrong → right"]) == ((5, 795), (14, 69))
    assert (sums["planted", "right → wrong"], sums["planted", "wrong → right"]) == ((1, 69), (272, 363))
    shared = vp.flips(votes).rounds.query("measure == 'majority-accuracy'")["value"].tolist()
    assert (shared[0], shared[2]) == (pytest.approx(0.9151, abs=5e-5), pytest.approx(0.9313, abs=5e-5))


def test_people_who_judge_debates():
    votes = vp.datasets.votes("debate-judges")
    sure = votes.assign(label=votes["label"].where(votes["belief"].ne(0.5), None))
    ended = votes.groupby(["item", "worker"])["final"].transform("any")
    asked = sure[ended & sure["speeches_seen"].ge(1)]
    found = whole(vp.flips(asked, item=["item", "worker"], carry=False))  # of two statements or more
    assert (found["right → wrong"], found["wrong → right"], found["changed"][1]) == ((17, 269), (73, 120), 389)
    paper = asked[asked["in_paper"] & asked["session"].eq("online")]
    found = whole(vp.flips(paper, item=["item", "worker"], carry=False))
    assert (found["right → wrong"], found["wrong → right"], found["changed"][1]) == ((9, 133), (41, 73), 206)


def test_judges_who_discuss_for_two_turns_and_for_three():
    votes = vp.datasets.votes("judge-panel")
    turns = votes.assign(turn=votes["run"].map({"two-turns": 2, "three-turns": 3})).dropna(subset="turn")
    found = whole(vp.flips(turns.drop(columns="run"), round="turn"))
    assert (found["right → wrong"], found["wrong → right"], found["changed"][1]) == ((10, 127), (9, 103), 230)


def test_who_moves_to_the_answer_that_one_agent_had_to_defend():
    """The source marks each answer that is the planted one: 359 of the confederates' first ones, and 77 of the last."""
    votes = vp.datasets.votes("debate-rounds")
    planted = votes[votes["planted_wrong"]].groupby("item")["label"].first()
    named = votes.assign(worker=np.where(votes["confederate"], "planted ", "honest ") + votes["worker"])
    found = vp.flips(named.assign(pushed=votes["item"].map(planted)), toward="pushed")
    kind = found.workers["worker"].str.split().str[0]
    sums = found.workers.groupby([kind, "change"])[["count", "n"]].sum().apply(tuple, axis=1)
    assert (sums["planted", "other → given"], sums["planted", "given → other"]) == ((1, 73), (283, 359))
    assert (sums["honest", "other → given"], sums["honest", "given → other"]) == ((5, 836), (11, 28))
    ends = votes.groupby(["confederate", "round"])["planted_wrong"].sum()
    for name, kind in (("planted", True), ("honest", False)):
        to, away = sums[name, "other → given"], sums[name, "given → other"]
        assert (away[1], away[1] - away[0] + to[0]) == (ends[kind, 0], ends[kind, 2])
