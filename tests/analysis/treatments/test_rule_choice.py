"""Choosing among rules: chosen on one half and measured on the other, a test by signs, and what is recommended."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from benchmarks.rule_choice import HELD, SimulatedOutcomes, choice, trials
from benchmarks.rule_choice import fitted as simulated
from benchmarks.simulated_runs import Design, errors
from tests.analysis.treatments.test_search_rules import good_and_bad
from verifyplan.analysis.cluster_intervals import difference_interval, share_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.analysis.treatments.cross_fit import MAX_UNITS, N_SPLITS, CrossFit, cross_fit, halved_units
from verifyplan.errors import SettingsError

REPEATED = Clusters(np.repeat(np.arange(12), 10), np.tile(np.arange(10), 12))
PAIRED = Clusters(np.repeat(np.arange(24), 10), np.repeat(np.arange(24) // 2, 10) * 10 + np.tile(np.arange(10), 24))


def fitted(quality: str = "f1", n_rules: int = 6, seed: int = 0) -> CrossFit:
    """Return the cross-fitting of simulated rules of different error rates, on 12 runs of 15 claims."""
    design = Design(12, 15, tuple(np.linspace(0.4, 0.1, n_rules)), 0.1)
    wrong = next(errors(design, 1, seed))[0]
    truth = np.random.default_rng(seed).random(wrong.shape[1]) < 0.5
    run, claim = design.clusters.run.astype(str), design.clusters.claim.astype(str)
    findings = pd.DataFrame({"run_id": run, "finding_id": claim, "summary": claim, "truth": truth})
    classes = np.where(truth != wrong, HELD, 2).astype(np.uint8)
    costs = [3, 1, 2, 6, 5, 4][:n_rules]
    return cross_fit(SimulatedOutcomes(classes, truth.astype(np.int64), findings), quality, costs)


def measured(fit: CrossFit, rule: int, rows: np.ndarray) -> float:
    """Return the metric of a rule on some findings, as a search on these alone would say."""
    part, whole = (cells[fit.outcomes.truth, fit.outcomes.classes(rule)][rows].sum() for cells in fit.cells[:2])
    return fit.cells.sign * part / whole if whole else -math.inf


@pytest.mark.parametrize(
    ("clusters", "of", "n_units", "independent"),
    [
        (Clusters(np.repeat(np.arange(12), 5), np.arange(60)), "runs", 12, True),
        (Clusters(np.repeat(np.arange(4), 5), np.arange(20)), "claims", 20, False),
        (Clusters(np.zeros(30, dtype=np.int64), np.arange(30)), "claims", 30, True),
        (REPEATED, "claims", 10, False),
        (PAIRED, "runs", 12, True),
        (Clusters(np.arange(1000), np.arange(1000)), "runs", MAX_UNITS, True),
    ],
    ids=["runs", "few runs", "one run", "repeated claims", "pairs of runs", "many runs"],
)
def test_what_varies_together_is_in_one_half(clusters, of, n_units, independent):
    units = halved_units(clusters)
    assert (units.of, units.n_units, units.independent) == (of, n_units, independent)
    assert units.second_half.shape == (N_SPLITS, n_units)
    assert (units.second_half.sum(axis=1) == n_units // 2).all()
    together = clusters.run if of == "runs" else clusters.claim
    assert (pd.Series(units.unit).groupby(together).nunique() == 1).all()
    if independent and of == "runs":
        assert (pd.Series(units.unit).groupby(clusters.claim).nunique() == 1).all()


@pytest.mark.parametrize("quality", ["f1", "precision", "recall", "accuracy", "false-consensus-rate"])
def test_the_best_rule_is_chosen_on_the_other_half(quality):
    fit = fitted(quality)
    for n_cheapest in range(1, 7):
        cheapest = [1, 2, 0, 5, 4, 3][:n_cheapest]  # the positions of costs 1, 2, 3 ...
        for split, chosen in enumerate(fit.best_of(n_cheapest)):
            in_second = fit.units.second_half[split][fit.units.unit]
            for rule, rows in zip(chosen, (in_second, ~in_second), strict=True):  # the first half's by the second
                values = [measured(fit, k, rows) for k in cheapest]
                assert rule == cheapest[int(np.argmax(np.round(values, 9)))]


def test_gains_are_the_medians_of_paired_differences():
    fit = fitted()
    best, cheapest = fit.best_of(6), fit.always(1)
    found, qualities = [], []
    truth = fit.outcomes.truth
    for split, (first, second) in enumerate(best):
        in_second = fit.units.second_half[split][fit.units.unit]
        judged = np.where(in_second, fit.outcomes.classes(second), fit.outcomes.classes(first))
        sides = [cells[truth, classes] for classes in (fit.outcomes.classes(1), judged) for cells in fit.cells[:2]]
        found.append(difference_interval(*sides, fit.clusters)[:3])
        qualities.append(share_interval(*sides[2:], fit.clusters)[:3])
    assert fit.gain(best, cheapest)[:3] == pytest.approx(np.median(found, axis=0))
    assert fit.quality(best)[:3] == pytest.approx(np.median(qualities, axis=0))
    assert fit.quality(best).n == len(truth)  # of f1 all findings whose truth is known
    assert fit.gain(cheapest, best)[:3] == pytest.approx([-fit.gain(best, cheapest)[at] for at in (0, 2, 1)])


def test_where_less_is_better_a_gain_is_a_lower_rate():
    fit = fitted("false-consensus-rate")
    gain = fit.gain(fit.always(5), fit.always(0))  # rates of errors of 10 and 40 %
    assert 0 < gain.low < gain.value < gain.high
    assert fit.quality(fit.always(5)).value == pytest.approx(fit.quality(fit.always(0)).value - gain.value)


def test_signs_of_whole_runs_are_flipped():
    fit = fitted()
    part, whole = fit.sums
    moves = part - part[0].sum() / whole[0].sum() * whole
    moves = moves - moves[0]
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], size=(fit.units.n_units, 1000))
    signs[:, 0] = 1

    def gain(sign: np.ndarray, second: np.ndarray) -> float:
        chosen = [int(np.argmax(moves[:, side] @ sign[side])) for side in (second, ~second)]
        gains = [(moves[rule] * sign)[side] for rule, side in zip(chosen, (~second, second), strict=True)]
        squares = sum(float(np.sum(each**2)) for each in gains)
        return sum(float(each.sum()) for each in gains) / math.sqrt(squares) if squares else 0.0

    drawn = [np.median([gain(sign, second) for second in fit.units.second_half]) for sign in signs.T]
    expected = np.mean(np.array(drawn) >= drawn[0] - 1e-9)
    assert fit.p_value(6, int(fit.order[0])) == pytest.approx(expected, abs=0.002)


def test_there_is_no_p_value_without_units_that_differ_and_are_independent():
    fit = fitted()
    assert math.isnan(fit.p_value(1, int(fit.order[0])))  # one rule
    few = replace(fit, units=fit.units._replace(independent=False))
    assert math.isnan(few.p_value(6, 0))


def test_where_no_rule_is_better_the_cheapest_is_recommended():
    made = trials(Design(12, 20, (0.2,) * 10, 0.1), 25)
    assert made["cost"].eq(1).mean() >= 0.9
    assert ((made["low"] <= 0) & (made["high"] >= 0)).mean() >= 0.9
    assert (made["p_value"] < 0.05).mean() <= 0.16


def test_what_choosing_gains_is_of_all_rules_not_only_of_those_up_to_the_best_on_all_findings():
    design, best_at = Design(12, 20, (0.2,) * 10, 0.1), set()
    for seed in range(5):  # the cost of the rule that is best on all findings was seen on both halves
        fit, table = simulated(design, next(errors(design, 1, seed))[0], seed)
        best_at.add(int(table["value"].argmax()))
        made = choice(fit, table)
        assert made.figure("choosing") == fit.quality(fit.best_of(10))
        assert made.figure("choosing-over-today") == fit.gain(fit.best_of(10), fit.always(9))
    assert min(best_at) < 5


def test_a_rule_that_is_better_is_recommended():
    design = Design(20, 30, (0.2, 0.2, 0.05, 0.2), 0.1)
    made = choice(*simulated(design, next(errors(design, 1, 0))[0], 0))
    gain, words = made.figure("gain"), str(made)
    assert made.cost == 3
    assert made.saving == pytest.approx(0.25)
    assert 0.05 < gain.low < gain.value
    assert made.figures.set_index("figure")["p_value"]["choosing-over-today"] < 0.01
    assert words.startswith("recommended of 4 rules (synthetic): max_rounds: 4 -> 3")
    assert "cost: 3 calls instead of 4 calls under today's rules (25 % saved)" in words
    assert "(n = 600), of the best rule of at most 3 calls, chosen on one half of the findings and measured" in words
    assert "\nis any of the 4 rules better than today's at all? p = 0.00" in words
    assert "this tests the choice among rules, not the recommended rules" in words
    assert "not shown to be below it" in words
    assert "points are lost" not in words.partition("against today's rules (those")[2]
    assert "at worst" in words.partition("against today's rules (those")[2]


def test_a_search_recommends_rules_for_a_run():
    made = vp.search_rules(good_and_bad()).recommend()
    assert isinstance(made, vp.results.Recommendation)
    assert made.rules.workers == ("ann",)
    assert made.figure("recommended").value == 1
    assert json.loads(made.rules.to_json())["workers"] == ["ann"]
    assert vp.VotingRules.from_json(made.rules.to_json()) == made.rules
    assert "4 runs: rules were chosen on half of the claims" in str(made)
    assert [column.name for column in RESULT_TABLES["search_rules.recommend"]] == list(made.figures)
    assert "<p>recommended of" in made._repr_html_()


def test_rules_within_a_cost_are_recommended():
    search = vp.search_rules(vp.datasets.runs("stdlib-claims/adversarial"), cost="votes")
    cheap = search.recommend(max_cost=490)
    assert cheap.cost <= 490 < search.recommend().cost
    assert f"recommended of {cheap.n_rules} rules of at most 490 votes (synthetic)" in str(cheap)
    assert "votes (0.672 a finding) instead of 2,217 votes under today's rules" in str(cheap)
    assert cheap.n_rules < search.recommend().n_rules == len(search.rules)
    assert search.recommend(max_cost=np.int64(490)).rules == cheap.rules
    with pytest.raises(
        SettingsError,
        match=r"max_cost: no rule costs at most 3 votes on all 720 findings\. Fix: .* cheapest costs [\d,]+ votes",
    ):
        search.recommend(max_cost=3)
    with pytest.raises(SettingsError, match=r"max_cost: must be a number of votes of at least 0.*, got 'few'"):
        search.recommend(max_cost="few")


def test_rules_shown_to_be_below_todays_are_not_recommended():
    runs = vp.datasets.runs("stdlib-claims/adversarial")
    for cost in ("votes", "calls"):
        made = vp.search_rules(runs, cost=cost).recommend()
        assert made.figure("loss").low <= 0 <= made.figure("gain").high


def test_a_search_without_its_outcomes_says_so():
    search = replace(vp.search_rules(good_and_bad(), ["majority"]), _outcomes=None)
    with pytest.raises(SettingsError, match="search: has a table alone"):
        search.settle(3)


def test_without_any_cost_nothing_is_cheaper():
    with pytest.raises(SettingsError, match="cost: is not known in dollars for any rule"):
        vp.search_rules(good_and_bad(), ["majority"], cost="dollars").recommend()


def test_few_units_are_named_with_the_size_of_their_halves():
    both = vp.datasets.runs("stdlib-claims")
    alone = both.select(lambda r: r["mode"] == "adversarial")
    rules = [{"mode": "collaborative"}, {"mode": "adversarial"}]
    few = [" ".join(vp.search_rules(runs, rules).recommend().notes) for runs in (both, alone)]
    assert "12 groups of runs without a common claim, split in halves of 6: the choice is almost random" in few[0]
    assert "12 runs, split in halves of 6: the choice is almost random" in few[1]
