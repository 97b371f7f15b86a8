"""The chart of a search over rules: who is named, what is drawn, and what the caption says."""

from dataclasses import replace

import pytest

import verifyplan as vp
from verifyplan.charts.figure import spec
from verifyplan.charts.rule_names import rule_words
from verifyplan.protocol.voting_rules import VotingRules


@pytest.fixture(scope="module")
def search() -> vp.results.RuleSearch:
    return vp.search_rules("stdlib-claims/adversarial", cost="votes")


def test_a_search_draws_itself(search):
    figure = search.chart(title="Ours")
    assert isinstance(figure, vp.results.Figure)
    assert spec(figure.chart)["title"]["text"] == "Ours"
    assert figure.data is search.table


def test_the_frontier_rules_of_runs_and_the_recommended_are_named(search):
    words, caption = search.chart().description, search.chart().caption
    assert words.count(" votes") == int((search.table["on_frontier"] | search.table["is_recorded"]).sum())
    assert "recorded " in words
    assert "recommended: " in words
    assert f"{len(search.rules)} rules judged on the same recorded votes (n = 720 findings)" in caption
    assert "Recommended: max_rounds: as recorded -> 1; majority: 1/2 -> 2/3; stop: no stop -> margin 2 (34" in caption
    assert "The axis begins at" in caption
    assert "logarithmic" not in caption


def test_costs_that_differ_much_are_on_a_logarithmic_axis():
    figure = vp.search_rules("llmbar").chart()
    assert "logarithmic" in str(spec(figure.chart))


def test_where_nothing_is_decided_no_rule_is_named_as_recommended():
    figure = vp.search_rules(vp.datasets.runs("live-example/adversarial")).chart()
    assert "recommended" not in figure.description
    assert "Undecided: keep the rules of the recorded runs" in figure.caption


def test_rules_that_are_recommended_are_named_as_that():
    rules = {"workers": [["GPT-4/Vanilla"], ["ChatGPT/Vanilla"]]}
    figure = vp.search_rules("llmbar/plain", rules, quality="accuracy").chart()
    assert figure.description.count("recommended: ") == 1
    assert "Recommended: workers: all workers -> GPT-4/Vanilla (83 % fewer votes)." in figure.caption


def test_the_caption_counts_findings_whatever_the_quality_is_taken_of():
    search = vp.search_rules("stdlib-claims/adversarial", ["unanimous"], quality="precision", cost="votes")
    assert search.table["n"].max() < 720
    assert "(n = 720 findings)" in search.chart().caption


def test_where_every_rule_has_a_name_no_empty_layer_is_drawn():
    search = vp.search_rules("stdlib-claims/adversarial", [{"workers": ["window"]}], quality="precision", cost="votes")
    assert (search.table["on_frontier"] | search.table["is_recorded"]).all()
    layers = spec(search.chart().chart)["layer"]
    assert [layer["mark"]["type"] for layer in layers].count("point") == 1


def test_bounds_are_bars(search):
    table = search.table.assign(low_bound=search.table["value"] - 0.1)
    marks = [layer["mark"]["type"] for layer in spec(replace(search, table=table).chart().chart)["layer"]]
    assert marks.count("rule") == 3
    assert "line" in marks
    hover = str(spec(replace(search, table=table).chart().chart)["layer"])
    assert "By votes never cast" in hover


def test_without_a_cost_there_is_nothing_to_draw(search):
    empty = replace(search, cost="dollars", table=search.table.assign(dollars=float("nan"))).chart()
    assert empty.caption == "No rule has both a f1 and a cost in dollars."


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "as run"),
        ({"workers": ["a", "b"], "mode": "adversarial"}, "a + b, adversarial"),
        ({"workers": ["a", "b", "c", "d"]}, "without e"),
        ({"stop": {"margin": 2}, "quorum": 2, "max_rounds": 1}, "1 round, quorum 2, stop at lead 2"),
        ({"stop": {}}, "sequential stop"),
        ({"weights": {"a": 2}, "pruning": "none", "refutes": "sticky"}, "sticky refutes, weighted, no pruning"),
        ({"caveats": "as-agree", "uncited": "as-burden"}, "uncited as burden, caveats agree"),
        ({"lost_votes": "as-agree", "missing_basis": "raise"}, "lost votes as-agree, missing basis raise"),
        ({"aggregate": "majority", "majority": "2/3"}, "majority, majority above 2/3"),
    ],
)
def test_rules_are_said_by_what_differs(fields, words):
    assert rule_words(VotingRules(**fields), VotingRules(), list("abcde")) == words


def test_many_named_rules_are_numbered_in_the_plot_and_named_below_the_title():
    found = vp.search_rules("stdlib-claims/adversarial", cost="votes")
    table = found.table.assign(on_frontier=found.table.index < 7)
    chart = vp.charts.rule_search(replace(found, table=table))
    lines = spec(chart.chart)["title"]["subtitle"]
    named = "; ".join(lines[1:-1])
    assert [f"({number}) " in named for number in range(1, 8)] == [True] * 7
    assert "recorded" in named
    few = vp.charts.rule_search(found)
    assert spec(few.chart)["title"]["subtitle"][1:] == ["Synthetic data"]


def test_the_order_of_asking_is_said_in_the_caption_and_not_in_every_name():
    chart = vp.charts.rule_search(vp.search_rules("stdlib-claims/adversarial", {"stop": [{"margin": 1}]}, cost="votes"))
    assert "A round that can stop asks syntax-tree first, then window, then search, then quotation." in chart.caption
    assert "asks" not in chart.description
