"""A search over rules: metrics and intervals as on rows, costs as counted by hand, the frontier, the space, errors."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from tests.analysis.treatments.test_search_outcomes import FIELDS, random_rules, random_runs
from verifyplan.analysis.cluster_intervals import share_interval
from verifyplan.analysis.clusters import Clusters, clusters_of_findings
from verifyplan.analysis.kind_counts import KindCounts
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.analysis.treatments.bounds import ClassBounds, metric_bounds
from verifyplan.analysis.treatments.rule_costs import RuleCosts
from verifyplan.analysis.treatments.rule_outcomes import rule_outcomes
from verifyplan.analysis.treatments.rule_quality import QUALITIES, QualityMeasure, quality_cells
from verifyplan.analysis.treatments.rule_space import MAX_RULES, default_space, read_space
from verifyplan.errors import SettingsError
from verifyplan.protocol.voting_rules import VotingRules


def runs_of(rows: list[tuple], **settings) -> vp.RunSet:
    votes = pd.DataFrame(rows, columns=["run", "item", "round", "who", "says", "truth"])
    return vp.from_votes(
        votes, run="run", item="item", round="round", worker="who", verdict="says", truth="truth", **settings
    )


def good_and_bad() -> vp.RunSet:
    """Return 40 claims on which ann is always right, bob mostly, and cy never."""
    says = {True: "agree", False: "disagree"}
    return runs_of(
        [
            (f"r{item % 4}", f"F{item}", 1, who, says[vote], item % 2 == 0)
            for item in range(40)
            for who, vote in (("ann", item % 2 == 0), ("bob", (item % 2 == 0) ^ (item % 7 == 0)), ("cy", item % 2 == 1))
        ],
        mode="collaborative",
    )


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize("repeated", [False, True], ids=["claims once", "claims in every run"])
def test_figures_are_those_of_rows(quality, repeated):
    random = np.random.default_rng(4)
    runs = random_runs(random)
    outcomes = rule_outcomes(runs, [VotingRules(max_rounds=4), *(random_rules(random) for _ in range(8))])
    claim = np.arange(len(outcomes.truth)) % (8 if repeated else 1000)
    clusters = Clusters(pd.factorize(outcomes.findings["run_id"])[0].astype(np.int64), claim)
    measure, cells = QualityMeasure(outcomes, quality_cells(quality), clusters), quality_cells(quality)
    for k in range(len(outcomes.rules)):
        figure, classes = measure.figure(outcomes.packed(k)), outcomes.classes(k).astype(np.int64)
        by_rows = share_interval(cells.part[outcomes.truth, classes], cells.whole[outcomes.truth, classes], clusters)
        assert np.allclose(figure[:3], by_rows[:3], rtol=0, atol=1e-9, equal_nan=True)
        if quality == "accuracy":
            continue
        bounds = ClassBounds(outcomes.low(k).astype(np.int64), outcomes.high(k).astype(np.int64))
        whole = metric_bounds(classes, bounds, outcomes.truth, clusters).set_index("metric").loc[quality]
        expected = whole[["low_bound", "high_bound", "low", "high", "n"]].to_numpy(dtype=np.float64)
        assert np.allclose(figure[3:8], expected, rtol=0, atol=1e-9, equal_nan=True)
        assert figure.censored == int((outcomes.low(k) != outcomes.high(k)).sum())


def test_an_interval_of_kinds_without_clusters_is_that_of_rows():
    part, whole = np.array([0, 1, 0]), np.array([1, 1, 0])
    rows = np.repeat([0, 1, 2], [30, 12, 5])
    clusters = Clusters(np.zeros(47, dtype=np.int64), np.arange(47))
    assert clusters.dimensions == ()
    found = share_interval(part, whole, KindCounts(clusters, (), [np.array([[30, 12, 5]])]))
    assert found == share_interval(part[rows], whole[rows], clusters)
    nothing = share_interval(part, whole, KindCounts(clusters, (), [np.array([[0, 0, 5]])]))
    assert np.isnan(nothing.value)


def test_the_runs_own_rules_cost_what_the_runs_recorded():
    for name in ("live-example/adversarial", "live-example/collaborative"):
        runs = vp.datasets.runs(name)
        recorded = vp.analysis.cost(runs).set_index("measure")["value"]
        outcomes = rule_outcomes(runs, [VotingRules()])
        low, cost, high = RuleCosts(runs, outcomes).of(outcomes.walks(0))
        assert low == cost == high
        assert (cost.votes, cost.calls) == (recorded["votes"], recorded["calls"])
        assert cost.dollars == pytest.approx(recorded["dollars"])
        kinds = ["input-tokens", "output-tokens", "cache-read-tokens", "cache-write-tokens"]
        assert cost.tokens == pytest.approx(recorded[kinds].sum())


def costs_by_hand(runs: vp.RunSet, rules: VotingRules) -> tuple[int, int]:
    """Return votes and calls of rules that ask all workers of a round at once, one finding after the other."""
    replayed = vp.replay(runs, rules=rules).set_index(["run_id", "finding_id"])
    votes, calls = 0, set()
    for (run, finding, number), asked in runs.votes.groupby(["run_id", "finding_id", "round"], observed=True):
        if number <= replayed.loc[(run, finding), "decided_round"]:
            workers = [who for who in asked["worker"] if rules.workers is None or who in rules.workers]
            votes, calls = votes + len(workers), calls | {(run, number, who) for who in workers}
    return votes, len(calls)


@pytest.mark.parametrize("mode", ["collaborative", "adversarial"])
@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("workers", [None, ("window",)])
def test_costs_count_the_votes_and_calls_of_the_rounds_that_rules_hold(mode, rounds, workers):
    runs = vp.datasets.runs("stdlib-claims/adversarial")
    runs = runs.select(runs.runs["run_id"].head(3).tolist())
    rules = VotingRules(mode=mode, max_rounds=rounds, workers=workers)
    outcomes = rule_outcomes(runs, [rules])
    low, _, _ = RuleCosts(runs, outcomes).of(outcomes.walks(0))
    votes, calls = costs_by_hand(runs, rules)
    censored = (outcomes.low(0) != outcomes.high(0)).any()
    assert (low.votes, low.calls) == (votes, calls) or (censored and low.votes >= votes)


def test_a_round_that_was_never_held_costs_what_unseen_votes_decide():
    rows = [
        ("r", f"F{item}", 1, who, says, True) for item in range(3) for who, says in (("a", "agree"), ("b", "disagree"))
    ]
    runs = runs_of(rows, mode="collaborative")
    outcomes = rule_outcomes(runs, [VotingRules(max_rounds=3)])
    low, cost, high = RuleCosts(runs, outcomes).of(outcomes.walks(0))
    assert (low.votes, low.calls) == (12, 4)  # the second round is held, the third perhaps
    assert (cost.votes, high.votes, high.calls) == (18, 18, 6)
    assert np.isnan(cost.tokens)
    assert np.isnan(cost.dollars)


def test_a_stop_saves_votes():
    rows = [("r", f"F{item}", 1, who, "agree", True) for item in range(3) for who in "abc"]
    runs = runs_of(rows, mode="collaborative")
    outcomes = rule_outcomes(runs, [VotingRules(stop={"margin": 1}), VotingRules(stop={"margin": 2})])
    costs = RuleCosts(runs, outcomes)
    assert [costs.of(outcomes.walks(k)).cost.votes for k in range(2)] == [3, 6]
    assert [costs.of(outcomes.walks(k)).cost.calls for k in range(2)] == [1, 2]


def test_workers_who_never_voted_are_priced_at_the_mean_of_the_run():
    runs = vp.datasets.runs("live-example/collaborative")
    outcomes = rule_outcomes(runs, [VotingRules(workers=("zoe",), max_rounds=1), VotingRules()])
    costs = RuleCosts(runs, outcomes)
    new, all_workers = (costs.of(outcomes.walks(k)).cost for k in range(2))
    assert new.votes == 7
    assert new.dollars == pytest.approx(7 * all_workers.dollars / all_workers.votes)


def test_runs_that_limit_items_a_call_make_more_calls():
    runs = vp.datasets.runs("live-example/collaborative")
    calls = runs.calls.assign(call_id=[f"{name}/p1" for name in runs.calls["call_id"]], items=[["F-01", "F-02"]] * 4)
    outcomes = rule_outcomes(runs, [VotingRules()])
    limited = RuleCosts(vp.RunSet(**{**vars(runs), "calls": calls}), outcomes).of(outcomes.walks(0)).cost
    asked = runs.votes.groupby("worker", observed=True).size()
    assert limited.calls == np.ceil(asked / 2).sum()


def test_the_search_finds_the_worker_who_is_right():
    search = vp.search_rules(good_and_bad())
    assert search.frontier["workers"].tolist()[-1] == "ann"
    assert search.frontier["value"].tolist()[-1] == 1
    today = search.table[search.table["is_recorded"]]
    assert len(today) == 1
    assert search.rules[today.index[0]] == VotingRules()
    assert (
        search.table.loc[today.index[0], "value"]
        == vp.compare(good_and_bad(), rules={"a": VotingRules(), "b": VotingRules(workers=("ann",))})
        .truth.set_index(["condition", "metric"])
        .loc[("a", "f1"), "value"]
    )


def test_no_rule_beats_one_of_the_frontier():
    search = vp.search_rules(vp.datasets.runs("stdlib-claims/adversarial"), cost="votes")
    table = search.table
    for row in table[table["on_frontier"]].itertuples():
        cheaper = (table["votes"] < row.votes) & (table["value"] >= row.value)
        assert not (cheaper | ((table["votes"] == row.votes) & (table["value"] > row.value))).any()
    for row in table[~table["on_frontier"]].itertuples():
        better = (table["value"] >= row.value) & (table["votes"] <= row.votes) & (table.index != row.Index)
        assert better.any()


def test_less_is_better_for_rates_of_errors():
    search = vp.search_rules(good_and_bad(), quality="false-consensus-rate")
    assert search.frontier["value"].is_monotonic_decreasing
    assert search.frontier["value"].iloc[-1] == 0


def test_rules_that_judge_and_cost_alike_are_merged_in_the_default_space_alone():
    runs = good_and_bad()
    search = vp.search_rules(runs)
    assert search.table["n_same"].sum() == len(default_space(runs))
    assert any("merged" in note for note in search.notes)
    listed = vp.search_rules(runs, ["collaborative", "majority"])
    assert listed.table["n_same"].tolist() == [1, 1, 1]
    assert listed.table["preset"].tolist() == ["as-recorded", "collaborative", "majority"]
    assert not any("merged" in note for note in listed.notes)


def test_a_search_says_what_it_found_and_what_is_uncertain():
    search = vp.search_rules(vp.datasets.runs("live-example/adversarial"), {"max_rounds": [3], "mode": "collaborative"})
    words = str(search)
    assert words.startswith(
        "2 rules by f1 and calls, on 21 findings (synthetic) of 3 runs\nthe rules of the recorded runs: "
    )
    assert "the rules of the recorded runs: 55.6 % [15.1, 89.8]" in words
    assert "mode=collaborative, max_rounds=3" in words
    assert "note: for 1 rule, the quality depends on votes that were never cast, at most on 6 findings" in words
    assert "with unseen votes 66.7 to 88.9 %" in words
    assert "<table" in search._repr_html_()
    assert repr(search) == words


def test_missing_usage_is_said():
    search = vp.search_rules(good_and_bad(), ["majority"], cost="dollars")
    assert search.frontier.empty
    assert "tokens and dollars are missing: for 4 runs, the usage of calls is not known" in search.notes
    assert "no rule has both the quality and the cost in dollars: there is no frontier" in search.notes


def test_a_table_of_votes_has_no_calls_and_a_worker_without_votes_is_named():
    search = vp.search_rules(good_and_bad(), {"workers": [["ann"], ["anne"]]}, cost="calls")
    assert "no vote of anne is recorded (did you mean 'ann'?)" in "".join(search.notes)
    assert any(note.startswith("no run recorded its calls: one is counted for each run") for note in search.notes)
    by_votes = vp.search_rules(good_and_bad(), {"workers": [["ann"]]}, cost="votes").notes
    assert not any("no vote of" in note or "no run recorded" in note for note in by_votes)
    assert not any(
        "no run recorded" in note for note in vp.search_rules("stdlib-claims/adversarial", ["majority"]).notes
    )


def test_votes_that_were_added_are_said_to_be_no_sample_as_long_as_others_are_missing():
    runs = good_and_bad()
    added = replace(runs, runs=runs.runs.assign(added_votes=[3, *[0] * (len(runs.runs) - 1)]))
    is_said = [
        any(note.startswith("3 votes were added on chosen findings") for note in notes)
        for rules in ({"max_rounds": [1]}, {"workers": [["zed", "bob"]]})
        for search in (vp.search_rules(added, rules, quality="accuracy", cost="votes"),)
        for notes in (str(search).replace("note: ", "").splitlines(), search.recommend().notes)
    ]
    assert is_said == [False, False, True, True]


def test_the_table_has_the_columns_that_its_documentation_explains():
    columns = [column.name for column in RESULT_TABLES["search_rules"]]
    values = {name: [None, *choices] for name, choices in FIELDS.items() if name not in ("lost_votes", "weights")}
    spread = [VotingRules(**{name: options[1]}) for name, options in values.items()]
    table = vp.search_rules(good_and_bad(), spread).table
    assert [name for name in columns if name in table] == list(table.columns)
    assert {"mode", "refutes", "stop", "workers"} <= set(table.columns)
    assert table["stop"].tolist()[-2:] == ["margin 1", "round"]
    assert table["order"].tolist()[-2:] == ["ann+bob+cy", "c"]


def test_the_default_space_is_what_votes_allow():
    runs = vp.datasets.runs("stdlib-claims")
    space = default_space(runs)
    assert 200 <= len(space) <= 600
    assert space[0] == VotingRules()
    assert len({rules.digest for rules in space}) == len(space)
    assert {rules.workers for rules in space} == {None} | {
        rules.workers for rules in space if rules.workers and len(rules.workers) < runs.votes["worker"].nunique()
    }
    without_bases = default_space(good_and_bad())
    assert {rules.mode for rules in without_bases} == {None, "collaborative"}
    assert {rules.max_rounds for rules in without_bases} == {None, 1}


def test_of_many_workers_the_space_has_some_subsets():
    says = [("r", f"F{item}", 1, f"w{who}", "agree", True) for item in range(3) for who in range(30)]
    space = default_space(runs_of(says))
    sizes = {len(rules.workers) for rules in space if rules.workers}
    assert sizes == {1, 2, 3, 5, 8, 13, 21}
    assert len(space) < 300


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ([], "has 0 rules, must have from 1 to 10,000"),
        (
            {"max_rounds": list(range(1, 202)), "quorum": list(range(50))},
            r"has 10,050 combinations \(201 of max_rounds",
        ),
        ({"majorty": [1]}, "is not a field of these rules"),
        (["stikcy-refutes"], r"space\[0\]: 'stikcy-refutes' is neither rules nor the name of a preset"),
        (3, "space: 3 is neither rules nor the name of a preset"),
    ],
)
def test_a_space_that_holds_no_rules_is_refused(space, message):
    with pytest.raises(SettingsError, match=message):
        vp.search_rules(good_and_bad(), space)


def test_what_a_space_may_be():
    runs = good_and_bad()
    neutral, majority = VotingRules(), VotingRules.preset("majority")
    assert read_space("majority", runs) == (neutral, majority)
    assert read_space([majority, {"aggregate": "majority"}, neutral], runs) == (neutral, majority)
    assert len(read_space({"quorum": [0, 1, 2], "workers": [None, ["ann"]]}, runs)) == 6
    assert MAX_RULES == 10_000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"quality": "f2"}, "quality: 'f2' is unknown. Fix: use 'precision', 'recall', 'f1'"),
        ({"cost": "euros"}, "cost: 'euros' is unknown"),
    ],
)
def test_unknown_qualities_and_costs_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        vp.search_rules(good_and_bad(), ["majority"], **settings)


def test_without_truth_the_error_says_what_to_do():
    votes = pd.DataFrame({"item": "F", "who": ["a", "b"], "says": ["agree", "disagree"]})
    runs = vp.from_votes(votes, item="item", worker="who", verdict="says")
    with pytest.raises(SettingsError, match=r"no finding has a known truth.*with_truth"):
        vp.search_rules(runs)


def test_findings_of_unknown_truth_count_for_costs_alone():
    known = good_and_bad()
    unknown = [("r9", "G", 1, who, "agree", None) for who in ("ann", "bob", "cy")]
    rows = known.votes.merge(known.findings[["run_id", "finding_id", "truth"]], on=["run_id", "finding_id"])
    more = rows[["run_id", "finding_id", "round", "worker", "verdict", "truth"]].astype("object").values.tolist()
    runs = runs_of([*map(tuple, more), *unknown], mode="collaborative")
    one, other = (vp.search_rules(each, ["majority"]).table for each in (known, runs))
    assert one["value"].tolist() == other["value"].tolist()
    assert (other["votes"] - one["votes"]).tolist() == [3, 3]
    assert clusters_of_findings(runs.findings).n_runs == 5


def test_rules_that_all_runs_recorded_are_those_of_today():
    runs = good_and_bad()
    own = VotingRules(aggregate="unanimous")
    recorded = replace(runs, runs=runs.runs.assign(rules=own.to_json()))
    search = vp.search_rules(recorded, ["majority"])
    assert search.rules == (own, VotingRules.preset("majority"))
    assert search.table["is_recorded"].tolist() == [True, False]
    assert search.table["preset"].tolist() == ["unanimous", "majority"]
    mixed = replace(runs, runs=runs.runs.assign(rules=[own.to_json(), None, None, None]))
    assert vp.search_rules(mixed, ["majority"]).rules[0] == VotingRules()


def order_votes(reverse: bool = False) -> pd.DataFrame:
    """Return votes of three workers of whom the first to be asked decides under a margin of 1."""
    rows = [
        (f"F{item}", who, "agree" if (item % 2 == 0) == (who != "bad") else "disagree", item % 2 == 0)
        for item in range(20)
        for who in ("good", "bad", "fair")
    ]
    table = pd.DataFrame(rows, columns=["item", "worker", "verdict", "truth"])
    return table[::-1].reset_index(drop=True) if reverse else table


def runs_of_table(table: pd.DataFrame) -> vp.RunSet:
    columns = {"item": "item", "worker": "worker", "verdict": "verdict", "truth": "truth"}
    return vp.from_votes(table, **columns, mode="collaborative", max_rounds=1)


def test_a_rule_that_stops_within_a_round_says_in_which_order_it_asks_and_keeps_it():
    stops = {"stop": [{"margin": 1}], "workers": [None, ["bad", "good"]]}
    search = vp.search_rules(runs_of_table(order_votes()), stops, quality="accuracy")
    assert [rules.order for rules in search.rules] == [None, ("good", "bad", "fair"), ("good", "bad")]
    asks = "asks good first, then bad, then fair"
    assert any(f"a round that can stop {asks}: the order in which the votes name them" in each for each in search.notes)
    assert asks in str(search)
    made = search.recommend(max_loss=0.5)
    assert "within a round it asks good first, then bad" in str(made)
    saved = vp.VotingRules.from_json(made.rules.to_json())
    assert saved.order[0] == "good"
    turned = runs_of_table(order_votes(reverse=True))
    again = vp.search_rules(turned, [saved], quality="accuracy").table
    assert again["value"].tolist()[-1] == search.table["value"].iloc[search.rules.index(made.rules)] == 1
    other = vp.search_rules(turned, stops, quality="accuracy")
    assert other.rules[1].order == ("fair", "bad", "good")
    assert any("asks fair first" in note and "another order of rows can give other" in note for note in other.notes)


def test_without_a_stop_no_order_is_said():
    search = vp.search_rules(runs_of_table(order_votes()), ["majority"])
    assert not any("first" in note for note in search.notes)
    assert "asks" not in str(search.recommend())


def test_runs_whose_rosters_contradict_each_other_ask_each_in_their_own_order():
    tables = [order_votes().assign(run="r"), order_votes(reverse=True).assign(run="s")]
    columns = {"item": "item", "worker": "worker", "verdict": "verdict", "truth": "truth", "run": "run"}
    runs = vp.from_votes(pd.concat(tables, ignore_index=True), **columns, mode="collaborative", max_rounds=1)
    rosters = ['["good", "bad", "fair"]', '["fair", "bad", "good"]']
    runs = replace(runs, runs=runs.runs.assign(roster=rosters))
    search = vp.search_rules(runs, {"stop": [{"margin": 1}]}, quality="accuracy")
    assert search.rules[1].order is None
    assert any("ask in the order of each run's roster" in note for note in search.notes)


def test_of_many_workers_no_order_is_written_into_rules():
    says = [("r", f"F{item}", 1, f"w{who}", "agree", bool(item)) for item in range(2) for who in range(101)]
    search = vp.search_rules(runs_of(says), {"stop": [{"margin": 1}]}, quality="accuracy")
    assert search.rules[1].order is None


def test_costs_are_counted_in_votes_where_no_calls_are_recorded():
    search = vp.search_rules(good_and_bad(), ["majority"])
    assert search.cost == "votes"
    assert search.notes[0] == "no run recorded its calls: costs are counted in votes"
    with_calls = vp.search_rules("stdlib-claims/adversarial", ["majority"])
    assert with_calls.cost == "calls"
    assert not any("no run recorded" in note for note in with_calls.notes)


def test_a_long_frontier_says_where_all_of_it_is():
    search = vp.search_rules(vp.datasets.runs("stdlib-claims/adversarial"), cost="votes")
    table = search.table.assign(on_frontier=search.table.index < 9)
    words = str(replace(search, table=table))
    assert (
        "frontier, from cheap to expensive: 9 rules, the first and last three of which are shown; .frontier has all"
        in words
    )
