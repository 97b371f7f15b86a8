"""Which rules are compared and recommended: on enough findings, by the worst of missing votes, nearest to today's."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.analysis.treatments.test_search_rules import runs_of
from verifyplan.analysis.treatments.cross_fit import WorstOutcomes, cross_fit
from verifyplan.analysis.treatments.rule_outcomes import NO_CLASS
from verifyplan.analysis.treatments.rule_quality import on_frontier
from verifyplan.errors import SettingsError
from verifyplan.protocol.voting_rules import MODE_NOTE

BY_WORKERS = {"workers": [["gpt"], ["claude"], ["gpt", "claude"], ["strict"], None], "aggregate": ["unanimous"]}


def votes_of(n: int, accuracies: dict[str, float], cast: dict[str, float], seed: int) -> vp.RunSet:
    """Return votes of workers with these accuracies on the findings that they are asked about; `strict` holds three."""
    random = np.random.default_rng(seed)
    truth = random.random(n) < 0.5
    rows = []
    for who, accuracy in accuracies.items():
        says = np.where(random.random(n) < accuracy, truth, ~truth)
        says = says & (np.cumsum(truth & says) <= 3) & truth if who == "strict" else says
        asked = random.random(n) < cast.get(who, 1)
        rows += [
            ("r", f"F{item}", 1, who, "agree" if says[item] else "disagree", bool(truth[item]))
            for item in np.flatnonzero(asked)
        ]
    return runs_of(rows, mode="collaborative")


ACCURACIES = {"gpt": 0.78, "claude": 0.85, "strict": 0.9}


@settings(max_examples=8, deadline=None)
@given(
    st.integers(0, 2**20),
    st.sampled_from(["precision", "f1", "accuracy", "false-consensus-rate"]),
    st.sampled_from([{}, {"claude": 0.4}]),
    st.sampled_from([0.03, 0.3]),
    st.sampled_from([None, 150]),
)
def test_what_is_recommended_is_what_its_figures_show(seed, quality, cast, max_loss, max_cost):
    search = vp.search_rules(votes_of(150, ACCURACIES, cast, seed), BY_WORKERS, quality=quality, cost="votes")
    made = search.recommend(max_cost, max_loss)
    figures = made.figures.set_index("rule")
    cheapest, best = figures.loc["cheapest"], figures.loc["best"]
    assert (figures["loss_low"] <= figures["loss"]).all()
    assert (figures["loss"] <= figures["loss_high"]).all()
    assert figures.loc["recorded", ["gain", "gain_low", "gain_high"]].tolist() == [0, 0, 0]
    assert made.decided == (made.advice != "undecided")
    if made.advice == "acceptable":
        assert (made.rules, made.agreeing >= 0.9) == (made.cheapest, True)
        assert cheapest["loss_high"] <= max_loss
        assert max_cost is None or made.cost <= max_cost
    elif made.advice == "better":
        assert max(cheapest["gain_low"], best["gain_low"]) > 0
        assert made.rules in (made.cheapest, made.best)
    else:
        assert made.rules == made.recorded
        assert made.agreeing < 0.9 or cheapest["loss_high"] > max_loss


def test_a_rule_that_holds_three_findings_is_no_yardstick():
    search = vp.search_rules(votes_of(300, ACCURACIES, {}, 1), BY_WORKERS, quality="precision", cost="votes")
    table = search.table.set_index("workers")
    assert (table.loc["strict", "n"], table.loc["strict", "value"]) == (3, 1)
    assert any("the quality rests on fewer than 20 findings: .recommend() leaves them out" in n for n in search.notes)
    made = search.recommend()
    assert made.best.workers == ("claude", "gpt")
    assert any(
        note.startswith("rules that were not compared: ") and "whose precision rests on fewer than 20 findings" in note
        for note in made.notes
    )
    only = vp.search_rules(votes_of(300, ACCURACIES, {"strict": 0.5}, 1), BY_WORKERS, quality="precision", cost="votes")
    assert only.recommend().best.workers == ("claude", "gpt")


def test_a_cost_at_which_too_few_findings_are_measured_is_refused():
    some = {"workers": [["strict"], ["gpt", "claude"]], "aggregate": ["unanimous"]}
    search = vp.search_rules(votes_of(100, ACCURACIES, {}, 2), some, quality="precision", cost="votes")
    message = (
        r"max_cost: for rules of at most 100 votes, the precision rests on fewer than \d+ findings\. Fix: give more"
    )
    with pytest.raises(SettingsError, match=message):
        search.recommend(max_cost=100)


def test_a_rule_whose_votes_are_missing_does_not_win_over_a_settled_one():
    runs = votes_of(300, {"gpt": 0.9, "claude": 0.97}, {"claude": 0.3}, 3)
    search = vp.search_rules(runs, {"workers": [["gpt"], ["claude"]], "aggregate": ["majority"]}, quality="precision")
    table = search.table.set_index("workers")
    assert table.loc["claude", "low_bound"] < 0.5 < table.loc["gpt", "value"]
    made = search.recommend()
    assert table.loc["claude", "value"] > table.loc["gpt", "value"]
    assert ("claude",) not in {made.best.workers, made.cheapest.workers, made.rules.workers}
    assert any("they were compared by the worst that these could be" in note for note in made.notes)


def test_the_worst_of_missing_votes_is_the_low_bound():
    runs = votes_of(80, ACCURACIES, {"claude": 0.4}, 4)
    search = vp.search_rules(runs, BY_WORKERS, quality="f1", cost="votes")
    worst = WorstOutcomes(search._outcomes)
    fit = cross_fit(search._outcomes, "f1", worst=True)
    counts = worst.counts(np.zeros(len(worst.truth), dtype=np.int64), 1)[:, 0]
    for k, low in enumerate(search.table["low_bound"]):
        classes = worst.classes(k)
        by_hand = pd.crosstab(worst.truth, classes).drop(columns=NO_CLASS, errors="ignore")
        assert counts[k][np.ix_(by_hand.index, by_hand.columns)].tolist() == by_hand.to_numpy().tolist()
        part, whole = (sums[k].sum() for sums in fit.sums)
        assert part / whole == pytest.approx(low)


def test_of_rules_that_are_alike_the_nearest_to_todays_is_named():
    assert on_frontier([0.5, 0.5, 0.9], [1, 1, 2], [3, 1, 0]).tolist() == [False, True, True]
    runs = runs_of(
        [("r", f"F{i}", 1, who, "agree" if i % 2 else "disagree", i % 2 > 0) for i in range(60) for who in "ab"],
        mode="adversarial",
    )
    made = vp.search_rules(runs, quality="accuracy").recommend(max_loss=0.2)
    assert made.rules.workers == ("a",)
    assert made.rules.mode in (None, "adversarial")
    assert "mode" not in str(made)
    alike = [{"workers": ["a"], "refutes": "sticky", "quorum": 1}, {"workers": ["a"]}]
    near = vp.search_rules(runs, alike, quality="accuracy").recommend(max_loss=0.2)
    assert near.rules == near.best == vp.VotingRules(workers=["a"])


def test_rules_of_another_mode_say_what_that_does_live():
    search = vp.search_rules(votes_of(60, ACCURACIES, {}, 5), [{"mode": "adversarial", "workers": ["claude"]}])
    made = search.recommend(max_loss=0.3)
    assert made.rules.mode == "adversarial"
    assert f"note: rules of the frontier change the mode: {MODE_NOTE}" in str(search)
    assert f"note: {MODE_NOTE}: what was measured may not hold there" in str(made)
    kept = vp.search_rules(votes_of(60, ACCURACIES, {}, 5), [{"mode": "collaborative", "workers": ["claude"]}])
    assert kept.recommend(max_loss=0.3).rules.mode == "collaborative"
    assert MODE_NOTE not in f"{kept}{kept.recommend(max_loss=0.3)}"
    assert "mode" not in str(kept.recommend(max_loss=0.3))
