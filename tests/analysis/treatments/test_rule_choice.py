"""Choosing among rules: chosen on one half, measured on the other, and what is recommended."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import verifyplan as vp
from benchmarks.rule_choice import FIVE, HELD, Judges, SimulatedOutcomes, choice, is_cheaper, trials
from benchmarks.simulated_runs import Design, errors
from tests.analysis.treatments.test_search_rules import good_and_bad, runs_of
from verifyplan.analysis.cluster_intervals import Interval, share_difference, share_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.analysis.treatments.cross_fit import (
    LOSS_LEVEL,
    MAX_UNITS,
    N_SPLITS,
    CrossFit,
    cross_fit,
    halved_units,
    median_loss,
)
from verifyplan.errors import SettingsError

REPEATED = Clusters(np.repeat(np.arange(12), 10), np.tile(np.arange(10), 12))
PAIRED = Clusters(np.repeat(np.arange(24), 10), np.repeat(np.arange(24) // 2, 10) * 10 + np.tile(np.arange(10), 24))
EVERY = np.ones(2 * N_SPLITS, dtype=bool)


def fitted(quality: str = "f1", n_rules: int = 4, seed: int = 0) -> CrossFit:
    """Return the cross-fitting of simulated rules of different error rates, on 12 runs of 15 claims."""
    design = Design(12, 15, tuple(np.linspace(0.4, 0.1, n_rules)), 0.1)
    wrong = next(errors(design, 1, seed))[0]
    truth = np.random.default_rng(seed).random(wrong.shape[1]) < 0.5
    run, claim = design.clusters.run.astype(str), design.clusters.claim.astype(str)
    findings = pd.DataFrame({"run_id": run, "finding_id": claim, "summary": claim, "truth": truth})
    classes = np.where(truth != wrong, HELD, 2).astype(np.uint8)
    return cross_fit(SimulatedOutcomes(classes, truth.astype(np.int64), findings), quality)


def parts(fit: CrossFit, rule: int, rows: np.ndarray) -> list[np.ndarray]:
    """Return part and whole of the metric on some findings."""
    return [cells[fit.outcomes.truth, fit.outcomes.classes(rule)][rows] for cells in fit.cells[:2]]


def measured_on(fit: CrossFit, half: int) -> np.ndarray:
    """Return the findings that a half does not choose on."""
    return np.flatnonzero(~fit.units.chooses[half][fit.units.unit])


def difference(fit: CrossFit, over: int, rule: int, half: int, level: float) -> Interval:
    """Return how much better a rule is than another on the half that did not choose."""
    rows = measured_on(fit, half)
    sides = [*parts(fit, over, rows), *parts(fit, rule, rows)]
    found = share_difference(*sides, fit.clusters.take(rows)).interval(level)
    return found if fit.cells.sign > 0 else Interval(-found.value, -found.high, -found.low, found.n)


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
    assert (units.of, units.n_units) == (of, n_units)
    assert units.chooses.shape == (2 * N_SPLITS, n_units)
    assert (units.chooses[1::2] == ~units.chooses[::2]).all()  # each half of each halving chooses once
    assert (units.chooses[1::2].sum(axis=1) == n_units // 2).all()
    together = clusters.run if of == "runs" else clusters.claim
    assert (pd.Series(units.unit).groupby(together).nunique() == 1).all()
    if independent and of == "runs":
        assert (pd.Series(units.unit).groupby(clusters.claim).nunique() == 1).all()


@pytest.mark.parametrize("quality", ["f1", "precision", "recall", "accuracy", "false-consensus-rate"])
def test_rules_are_chosen_on_one_half_and_measured_on_the_other(quality):
    fit = fitted(quality)
    qualities, gains = [], []
    for half in range(2 * N_SPLITS):
        rows = np.flatnonzero(fit.units.chooses[half][fit.units.unit])
        by_hand = [fit.cells.sign * (sums := parts(fit, k, rows))[0].sum() / sums[1].sum() for k in range(4)]
        assert fit.chosen[:, half] == pytest.approx(by_hand)
        others = measured_on(fit, half)
        qualities.append(share_interval(*parts(fit, 2, others), fit.clusters.take(others)))
        gains.append(difference(fit, 0, 2, half, 0.95))
    rules = np.full(2 * N_SPLITS, 2)
    assert fit.quality(2, EVERY)[:3] == pytest.approx(np.median([each[:3] for each in qualities], axis=0))
    assert fit.gain(rules, 0, EVERY)[:3] == pytest.approx(np.median([each[:3] for each in gains], axis=0))
    some = EVERY & (np.arange(2 * N_SPLITS) < 5)
    assert fit.quality(2, some)[:3] == pytest.approx(np.median([each[:3] for each in qualities[:5]], axis=0))
    assert fit.gain(rules, 2, EVERY)[:3] == (0, 0, 0)  # than itself


@pytest.mark.parametrize("quality", ["f1", "false-consensus-rate"])
def test_a_loss_ends_where_the_interval_of_any_rival_ends_highest(quality):
    fit = fitted(quality)
    best = fit.chosen.argmax(axis=0)
    by_hand = []
    for half in range(2 * N_SPLITS):
        ends = {k: difference(fit, 2, k, half, LOSS_LEVEL) for k in (0, 1, 3)}
        value, low = ends[best[half]][:2] if best[half] != 2 else (0, 0)
        by_hand.append([max(0.0, each) for each in (value, low, max(each.high for each in ends.values()))])
    losses = fit.losses(2, np.arange(4), best)
    assert [each.interval[:3] for each in losses] == [pytest.approx(tuple(each)) for each in by_hand]
    loss = median_loss(losses, EVERY).interval
    assert loss[:3] == pytest.approx(np.median(by_hand, axis=0))
    assert 0 <= loss.low <= loss.value < loss.high
    alone = median_loss(fit.losses(2, np.array([2]), np.full(2 * N_SPLITS, 2)), EVERY)
    assert (alone.interval[:3], alone.error) == ((0, 0, 0), 0)


def test_rivals_that_are_left_out_do_not_reach_higher():
    fit = fitted("accuracy", 20)
    best = fit.chosen.argmax(axis=0)
    ends = [max(difference(fit, 17, k, half, LOSS_LEVEL).high for k in range(20) if k != 17) for half in range(20)]
    found = median_loss(fit.losses(17, np.arange(20), best), EVERY).interval.high
    assert found == pytest.approx(np.median(ends), abs=0.005)


def test_a_cost_is_the_mean_over_the_halves_that_did_not_choose():
    fit, cost = fitted(), np.random.default_rng(0).integers(1, 6, 180).astype(float)
    found = fit.cost(cost, EVERY)
    means = [cost[measured_on(fit, half)].mean() for half in range(2 * N_SPLITS)]
    assert found.value == pytest.approx(np.median(means))
    assert found.low < cost.mean() < found.high
    assert fit.cost(np.full(180, 3.0), EVERY)[:3] == (3, 3, 3)
    chosen = [cost[fit.units.chooses[half][fit.units.unit]].mean() for half in range(2 * N_SPLITS)]
    assert fit.chosen_cost(cost) == pytest.approx(chosen)


def test_of_few_findings_the_cheapest_of_equal_judges_is_not_recommended():
    judges = Judges("five", (0.75,) * 5, 0.0, FIVE)
    for n in (20, 40, 100):
        made = trials(judges, n, 12)
        assert not made["decided"].any()
        assert made.filter(regex="-").mean().min() >= 0.8  # every figure of every rule holds the truth


def test_a_judge_who_is_better_is_recommended():
    judges = Judges("one of .88", (0.88, *(0.75,) * 4), 0.0, tuple((k,) for k in (1, 2, 3, 0, 4)))
    made = [choice(judges, 300, [trial]) for trial in range(12)]
    assert sum(each.advice == "acceptable" and each.rules.max_rounds == 4 for each in made) >= 10


def test_cheaper_rules_that_are_as_good_are_recommended_at_the_number_that_a_pilot_names():
    judges = Judges("two equal", (0.8, 0.8), 0.9, ((0,), (1, 1, 1)))
    pilot = choice(judges, 100, [0])
    assert (pilot.decided, pilot.rules == pilot.recorded) == (False, True)
    truth, held, _ = judges.draw(100, [0])
    differ = (np.sum(held[0] != held[1]) / 2 + 2) / 52  # on a half, with two findings that are added
    assert truth.shape == (100,)
    quantiles = 0.8416 + 1.2816 + 2**0.5 * 1.4395
    assert pilot.n_needed == pytest.approx(quantiles**2 * differ * 50 / 52 / 0.03**2, rel=0.1)
    assert f"keep the rules of the recorded runs; about {math.ceil(pilot.n_needed / 100) * 100:,} findings" in str(
        pilot
    )
    assert np.mean([is_cheaper(judges, int(pilot.n_needed), trial) for trial in range(20)]) >= 0.7


def test_of_many_findings_a_cheaper_rule_that_loses_less_than_is_allowed_is_recommended():
    judges = Judges("two points below", (0.8, 0.82), 0.9, ((0,), (1, 1, 1)))
    for allowed, cost in ((0.03, 1), (0.01, 3)):
        made = choice(judges, 6000, [0], allowed)
        assert (made.advice, made.cost / 6000) == ("acceptable", cost)
        assert made.figures.set_index("rule").loc["cheapest", "loss_high"] <= allowed


def test_rules_that_are_shown_to_be_better_are_recommended_even_if_they_cost_more():
    judges = Judges("recorded .55", (0.55, 0.9), 0.0, ((1, 1, 1), (0,)))
    made = choice(judges, 100, [3])
    assert (made.advice, made.rules.max_rounds, made.saving) == ("acceptable", 1, -2)
    near = Judges("two good ones", (0.55, 0.85, 0.86), 0.0, ((1, 1, 1), (2, 2, 2), (0,)))
    found = [choice(near, 100, [trial]) for trial in range(10)]
    better = [each for each in found if each.advice == "better"]
    assert len(better) >= 3
    for each in better:
        figures = each.figures.set_index("rule")
        assert max(figures.loc[["cheapest", "best"], "gain_low"]) > 0
        assert each.agreeing >= 0.95
        assert each.rules != each.recorded
        assert "(200 % more votes); shown to be better than the rules of the recorded runs" in str(each)


def test_with_a_larger_loss_cheaper_rules_are_recommended():
    search = vp.search_rules(vp.datasets.runs("stdlib-claims/adversarial"), cost="votes")
    exact, rough = search.recommend(max_loss=0.01), search.recommend(max_loss=0.2)
    assert (exact.decided, exact.rules, math.isnan(exact.n_needed)) == (False, exact.recorded, False)
    assert (rough.advice, rough.cost < exact.cost, math.isnan(rough.n_needed)) == ("acceptable", True, True)
    assert rough.figures.set_index("rule").loc["cheapest", "loss_high"] <= 0.2
    assert "shown to lose at most 20 points of f1 against the best" in str(rough)
    for wrong in (0, -0.1, 1.5, "few", True, math.nan):
        with pytest.raises(
            SettingsError, match=r"max_loss: must be a number above 0 and at most 1, got .*such as 0\.03"
        ):
            search.recommend(max_loss=wrong)


def test_the_first_rules_from_cheap_to_dear_that_are_shown_to_lose_little_are_recommended():
    search = vp.search_rules(vp.datasets.runs("stdlib-claims/adversarial"), cost="votes")
    made = search.recommend()
    ends, costs = {}, []
    for max_loss in (0.03, 0.034, 0.2):
        found = search.recommend(max_loss=max_loss)
        ends[max_loss] = found.figures.set_index("rule").loc["cheapest", "loss_high"]
        costs.append(found.cost)
        assert found.decided
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1]
    assert ends[0.03] <= 0.03 < ends[0.2]  # the rule that is cheaper is near the best, but is not shown to be
    assert made.cost == costs[0] < made.cost_recorded


def test_a_judge_alone_who_may_be_worse_is_not_recommended():
    random = np.random.default_rng(0)
    truth = np.arange(150) % 2 == 0
    right = {"gpt": random.permutation(150) < 127, "qwen": random.permutation(150) < 127}
    right["claude"] = np.where(np.arange(150) < 120, True, random.random(150) < 0.2)
    rows = [
        (k, who, "yes" if says == truth[k] else "no", truth[k]) for who in right for k, says in enumerate(right[who])
    ]
    votes = pd.DataFrame(rows, columns=["item", "who", "says", "true"])
    names = {"item": "item", "worker": "who", "verdict": "says", "truth": "true"}
    runs = vp.from_votes(votes, **names, verdicts={"yes": "agree", "no": "disagree"}, mode="collaborative")
    search = vp.search_rules(runs, quality="accuracy", cost="votes")
    made = search.recommend()
    assert (made.decided, made.rules) == (False, made.recorded)
    lines = str(made).splitlines()
    assert lines[0].startswith(f"undecided among {made.n_rules} rules: keep the rules of the recorded runs; about ")
    assert [line.split("  ")[0] for line in lines[2:5]] == ["cheapest candidate", "best", "recorded"]
    assert len(lines) <= 8


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("quality", ["accuracy", "precision"])
def test_of_very_few_findings_nothing_is_recommended(n, quality):
    rows = [("r", f"F{k}", 1, who, "agree", k == 0) for k in range(n) for who in "ab"]
    made = vp.search_rules(runs_of(rows, mode="collaborative"), quality=quality, cost="votes").recommend()
    assert (made.decided, made.rules, made.n_findings) == (False, made.recorded, n)
    assert len(str(made).splitlines()) >= 5


def test_a_search_recommends_rules_for_a_run():
    search = vp.search_rules(good_and_bad(), quality="accuracy")
    made = search.recommend(max_loss=0.4)
    assert isinstance(made, vp.results.Recommendation)
    assert made.rules.workers == ("ann",)
    assert made.figures.set_index("rule").loc["cheapest", ["cost", "value", "n"]].tolist() == [1, 1, 20]
    assert json.loads(made.rules.to_json())["workers"] == ["ann"]
    assert vp.VotingRules.from_json(made.rules.to_json()) == made.rules
    assert "4 runs: halves are of claims" in str(made)
    assert [column.name for column in RESULT_TABLES["search_rules.recommend"]] == list(made.figures)
    assert "<p>recommended of" in made._repr_html_()
    assert made._repr_html_().count("<tr") == 4


def test_rules_within_a_cost_are_recommended():
    search = vp.search_rules(vp.datasets.runs("stdlib-claims/adversarial"), cost="votes")
    cheap = search.recommend(max_cost=490, max_loss=0.2)
    assert cheap.cost <= 490 < search.recommend(max_loss=0.2).cost
    assert f"recommended of {cheap.n_rules} rules of at most 490 votes (synthetic)" in str(cheap)
    assert cheap.saving == pytest.approx(1 - cheap.cost / 2217)
    assert f"({100 * cheap.saving:.0f} % fewer votes)" in str(cheap)
    assert cheap.n_rules < search.recommend().n_rules == len(search.rules)
    assert search.recommend(max_cost=np.int64(490), max_loss=0.2).rules == cheap.rules
    with pytest.raises(
        SettingsError,
        match=r"max_cost: no rule costs at most 3 votes on all 720 findings\. Fix: .* cheapest costs [\d,]+ votes",
    ):
        search.recommend(max_cost=3)
    with pytest.raises(SettingsError, match=r"max_cost: must be a number of votes of at least 0.*, got 'few'"):
        search.recommend(max_cost="few")


def test_a_search_without_its_outcomes_says_so():
    search = vp.search_rules(good_and_bad(), ["majority"])
    with pytest.raises(SettingsError, match="search: has a table alone"):
        replace(search, _outcomes=None).settle(3)
    with pytest.raises(SettingsError, match="search: has a table alone"):
        replace(search, _costs=None).recommend()


def test_without_any_cost_nothing_is_cheaper():
    with pytest.raises(SettingsError, match="cost: is not known in dollars for any rule"):
        vp.search_rules(good_and_bad(), ["majority"], cost="dollars").recommend()
