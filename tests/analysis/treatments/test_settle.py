"""Votes to settle a frontier: planned in the order of a run, where bounds are open, and better than at random."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from benchmarks import added_votes
from benchmarks.settle import VOTE, hidden_votes, measured, recorded_debates, reveal, space
from tests.analysis.treatments.test_search_rules import good_and_bad, runs_of
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.errors import SettingsError


@pytest.fixture(scope="module")
def debates() -> vp.RunSet:
    """Return the first eight recorded debates, in which every vote of three rounds is known."""
    runs = recorded_debates()
    return runs.select(runs.runs["run_id"].head(8).tolist())


def searched(runs: vp.RunSet, hidden: np.ndarray, pruning: str = "queue") -> vp.results.RuleSearch:
    known = replace(runs, votes=runs.votes[~hidden].reset_index(drop=True))
    return vp.search_rules(known, space(runs, pruning), cost="votes")


def test_the_plan_narrows_bounds_twice_as_far_as_votes_at_random(debates):
    for _, hidden, pruning in hidden_votes(debates):
        table = measured(debates, hidden, space(debates, pruning), (40, 80, 140), 2)
        assert table["planned"].is_monotonic_decreasing
        assert (table["planned"] <= table["random"] + 1e-12).all()
        assert (table["planned"] / table["random"].clip(lower=1e-9)).min() <= 0.5


def test_only_votes_that_were_never_cast_are_planned_once_and_in_order(debates):
    for _, hidden, pruning in hidden_votes(debates, seed=3):
        search = searched(debates, hidden, pruning)
        plan = search.settle(10_000)
        assert list(plan) == [column.name for column in RESULT_TABLES["search_rules.settle"]]
        asked = plan[VOTE].merge(debates.votes[hidden][VOTE], on=VOTE)
        assert len(asked) == len(plan) > 0
        assert not plan.duplicated(VOTE).any()
        assert plan["narrows"].is_monotonic_decreasing
        assert plan["narrows"].min() > 0
        by_finding = plan.groupby(["run_id", "finding_id"])
        assert by_finding["round"].is_monotonic_increasing.all()
        pd.testing.assert_frame_equal(search.settle(7), plan.head(7))


def test_all_planned_votes_settle_what_they_can(debates):
    for _, hidden, pruning in hidden_votes(debates, seed=3):
        search = searched(debates, hidden, pruning)
        frontier = [rules for rules, on in zip(search.rules, search.table["on_frontier"], strict=True) if on]
        after = vp.search_rules(reveal(debates, hidden, search.settle(10_000)), frontier).table
        after = after[after["digest"].isin([rules.digest for rules in frontier])]
        assert np.allclose(after["low_bound"], after["high_bound"])


def test_a_vote_that_settles_alone_comes_before_one_of_several():
    says = {True: "agree", False: "disagree"}
    rows = [
        (run, f"F{item}", 1, who, says[item % 2 == 0], item % 2 == 0)
        for run in ("r", "s")
        for item in range(20)
        for who in ("ann", "bob", "cy")
        if not (item == 4 and who == "cy") and not (item == 6 and who in ("bob", "cy"))
    ]
    search = vp.search_rules(runs_of(rows), [vp.VotingRules(workers=("ann", "bob", "cy"), aggregate="unanimous")])
    frontier = search.table["on_frontier"].to_numpy()
    only = replace(search, table=search.table.assign(on_frontier=frontier | ~search.table["is_recorded"]))
    plan = only.settle(10)
    assert plan[["finding_id", "worker"]].values.tolist()[:2] == [["F4", "cy"], ["F4", "cy"]]
    assert set(plan["finding_id"][2:]) == {"F6"}
    assert set(plan["worker"][2:]) == {"bob", "cy"}
    assert plan["narrows"][0] == pytest.approx(2 * plan["narrows"][2])


def test_findings_whose_truth_is_unknown_are_not_asked_about(debates):
    _, hidden, _ = next(iter(hidden_votes(debates)))
    unknown = debates.findings["run_id"].eq(debates.runs["run_id"].iloc[0])
    truth = debates.findings["truth"].mask(unknown)
    plan = searched(replace(debates, findings=debates.findings.assign(truth=truth)), hidden).settle(1000)
    assert debates.runs["run_id"].iloc[0] not in set(plan["run_id"])


def test_nothing_is_planned_where_no_bound_is_open():
    plan = vp.search_rules(good_and_bad(), ["majority"]).settle(5)
    assert plan.empty
    assert list(plan)[:4] == VOTE


def test_votes_are_planned_for_rules_that_may_be_better_where_no_bound_of_the_frontier_is_open():
    later = {"max_rounds": 2, "aggregate": "unanimous"}
    search = vp.search_rules(good_and_bad(), ["majority", later], cost="votes")
    table = search.table
    closed = table["low_bound"] == table["high_bound"]
    assert closed[table["on_frontier"]].all()
    may_belong = ~closed & (table["high_bound"] > table.loc[table["on_frontier"], "value"].max())
    assert len(search.settle(5)) == (5 if may_belong.any() else 0)
    assert may_belong.any()


@pytest.mark.parametrize("n", [0, -1, 2.0, True, "all"])
def test_the_number_of_votes_is_checked(n):
    with pytest.raises(SettingsError, match="n: must be a whole number of votes, at least 1, got "):
        vp.search_rules(good_and_bad(), ["majority"]).settle(n)


def test_an_empty_plan_says_why():
    plan = vp.search_rules(good_and_bad(), ["majority"], cost="votes").settle(5)
    assert plan.empty
    assert list(plan) == [column.name for column in RESULT_TABLES["search_rules.settle"]]
    assert str(plan).startswith("no vote to plan: no bound of the frontier depends on votes that were never cast")
    assert plan.attrs["reason"] in plan._repr_html_()
    closed = vp.search_rules(good_and_bad(), ["majority"], cost="dollars").settle(5)
    assert "no vote to plan" in repr(closed)


def test_bounds_hold_whatever_part_of_a_plan_is_added_and_close_with_it():
    for share in (0, 0.5, 1):
        made = [added_votes.trial(seed, share, n=60) for seed in range(2)]
        assert all(each.is_bounded for each in made)
    assert [each.width for each in made] == [0, 0]
