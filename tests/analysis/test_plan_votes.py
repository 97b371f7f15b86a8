"""A panel's votes are read as a cross run's are, iteration by iteration (rules A9, B7)."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import verifyplan as vp
from tests.frames.plan_events import first, records, second, started, whole
from verifyplan.analysis.replay import at_iteration
from verifyplan.errors import InputError
from verifyplan.frames.run_tables import tables_of

RECORDED = {
    ("C1", 1): "contested",
    ("C2", 1): "full-consensus",
    ("C4", 1): "worker-unique",
    ("C1", 2): "partial-consensus",
    ("C2", 2): "contested",
}


@pytest.fixture(scope="module")
def runs() -> vp.RunSet:
    return tables_of(records(whole()), "r")


def classes(table: pd.DataFrame, column: str = "classification") -> dict[tuple[str, int], str]:
    return {(r.finding_id, r.iteration): str(getattr(r, column)) for r in table.itertuples()}


def test_votes_judged_again_give_the_classes_that_were_recorded(runs):
    judged = vp.classify(runs.votes, mode="adversarial", max_rounds=2)
    assert classes(judged) == RECORDED
    replayed = vp.replay(runs, "recorded")
    assert classes(replayed) == classes(replayed, "recorded") == RECORDED
    assert not replayed["censored"].any()
    assert replayed[["finding_id", "iteration"]].to_numpy().tolist() == [
        ["C1", 1], ["C1", 2], ["C2", 1], ["C2", 2], ["C4", 1]]  # fmt: skip


def test_another_mode_changes_classes_and_not_what_was_recorded(runs):
    table = vp.replay(runs, "collaborative")
    assert classes(table, "recorded") == RECORDED
    assert classes(table)["C1", 1] == "partial-consensus"


def test_rounds_of_one_iteration_do_not_count_for_another(runs):
    decided = vp.replay(runs, "recorded").set_index(["finding_id", "iteration"])["decided_round"]
    assert decided.to_dict() == {("C1", 1): 2, ("C1", 2): 2, ("C2", 1): 1, ("C2", 2): 2, ("C4", 1): 1}
    fewer = vp.replay(runs, "recorded", max_rounds=1).set_index(["finding_id", "iteration"])
    assert fewer.loc[("C2", 1), "classification"] == "full-consensus"
    assert not fewer["censored"].any()
    more = vp.replay(runs, "recorded", max_rounds=3).set_index(["finding_id", "iteration"])["censored"]
    assert more[more].index.tolist() == [("C1", 1), ("C2", 2)]


def test_without_a_history_the_last_class_alone_is_known(runs):
    bare = replace(runs, challenge_history=runs.challenge_history.iloc[:0])
    recorded = vp.replay(bare, "recorded").set_index(["finding_id", "iteration"])["recorded"]
    assert pd.isna(recorded["C1", 1])
    assert recorded["C1", 2] == "partial-consensus"


def test_a_comparison_takes_each_iteration_and_pairs_by_it(runs):
    comparison = vp.compare(runs, resamples=20)
    assert comparison.n_findings == 5
    assert comparison.findings["iteration"].tolist() == [1, 2, 1, 2, 1]
    other = tables_of(records(whole()), "another")
    assert not vp.compare(runs, other, resamples=20).findings["changed"].any()
    shorter = tables_of(records([started(), *first()]), "r")
    assert vp.compare(runs, shorter, resamples=20).n_findings == 3


def test_plan_and_cross_runs_are_read_together(runs):
    votes = pd.DataFrame({"item": "F", "who": ["a", "b"], "says": ["agree", "disagree"], "why": "no"})
    cross = vp.from_votes(votes, item="item", worker="who", verdict="says", explanation="why")
    names = ("runs", "findings", "votes", "challenge_history")
    joined = {name: pd.concat([getattr(one, name) for one in (runs, cross)], ignore_index=True) for name in names}
    both = replace(runs, **joined)
    table = vp.replay(both, "adversarial")
    assert classes(table[table["run_id"] == "r"]) == RECORDED
    assert table[["finding_id", "iteration", "rule"]].astype(str).to_numpy().tolist()[-1] == ["F", "0", "lone-doubt"]


def test_agreement_and_cost_take_each_iteration_by_itself(runs):
    table = vp.agreement(runs).set_index("measure")
    assert table.loc["krippendorff-alpha", "n"] == 5
    costs = vp.analysis.cost(runs).set_index("measure")["value"]
    assert (costs["rounds"], costs["votes"], costs["failed-votes"]) == (4, 24, 1)
    assert (costs["calls"], costs["failed-calls"]) == (12 + 7, 1)  # the panel's and the agents'
    assert (costs["input-tokens"], costs["output-tokens"]) == (1800, 180)
    assert (costs["cache-read-tokens"], costs["failed-tokens"], costs["unpriced-calls"]) == (0, 0, 18)
    assert pd.isna(costs["dollars"])  # no price is known


def test_the_last_iteration_is_explained_unless_another_is_named(runs):
    last = str(vp.explain(runs, "C1"))
    assert "Votes of iteration 2." in last
    assert "partial-consensus" in last
    before = str(vp.explain(runs, "C1", iteration=1))
    assert "Votes of iteration 1." in before
    assert "contested" in before
    assert "Round 2: 2 agree, 1 counter-evidence (n = 3)" in before
    with pytest.raises(InputError, match=r"iteration: there are no votes of iteration 7\. Fix: use one of: 1, 2"):
        vp.explain(runs, "C1", iteration=7)


def test_a_grid_shows_one_iteration_of_each_challenge(runs):
    grid = vp.analysis.vote_matrix(runs)
    assert not grid.duplicated(["finding_id", "round", "worker"]).any()
    told = grid.drop_duplicates("finding_id").set_index("finding_id")["classification"].astype("str").to_dict()
    assert told == {"C1": "partial-consensus", "C2": "contested", "C4": "worker-unique"}
    one = vp.analysis.vote_matrix(runs, iteration=1)
    assert one.set_index(["finding_id", "round", "worker"])["mark"]["C1", 2, "cy"] == "counter-evidence"
    told = one.drop_duplicates("finding_id").set_index("finding_id")["classification"].astype("str").to_dict()
    assert told == {name: RECORDED[name, 1] for name in ("C1", "C2", "C4")}


def test_queues_of_all_iterations_are_added_up(runs):
    table = vp.analysis.queue(runs)
    assert table[["round", "waiting", "resolved"]].to_numpy().tolist() == [[0, 5, 0], [1, 3, 2], [2, 0, 3]]
    assert set(table["n_runs"]) == {1}


def test_an_iteration_alone_does_not_take_the_rounds_of_the_last(runs):
    alone = at_iteration(runs, 1)
    assert set(alone.votes["iteration"]) == {1}
    assert alone.findings["n_rounds"].isna().tolist() == [True, True, False]
    assert vp.replay(alone, "recorded", max_rounds=2)["censored"].sum() == 0


def test_half_an_iteration_can_be_studied():
    events = [started(), *first(), *second()[:12]]
    table = vp.replay(tables_of(records(events), "r"), "recorded")
    assert {key: value for key, value in classes(table, "recorded").items() if key[1] == 1} == {
        key: value for key, value in RECORDED.items() if key[1] == 1
    }
