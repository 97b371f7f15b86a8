"""rule F1: how many runs show a difference, by the formula and by simulation, and what a pilot knows of it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f_oneway, norm

import verifyplan as vp
from benchmarks.planned_power import PLANS, shown
from verifyplan.analysis.clusters import clusters_of
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.analysis.study_design.power import intra_run_correlation
from verifyplan.analysis.study_design.run_differences import RunDifferences, run_differences
from verifyplan.analysis.study_design.sample_size import planned_power
from verifyplan.errors import InputError, SettingsError
from verifyplan.protocol.vote import HELD

PLANNED = {"delta": 0.1, "discordance": 0.3, "icc": 0.05}


def simulated(rng: np.random.Generator, runs: int, size: int, delta: float, discordance: float, icc: float):
    """Differences of findings in -1, 0, 1, whose mean differs from run to run so that their correlation is `icc`."""
    spread = np.sqrt(icc * (discordance - delta**2))
    means = np.clip(rng.normal(delta, spread, (runs, 1)), -discordance, discordance)
    draw = rng.random((runs, size))
    return (draw < (discordance + means) / 2).astype(float) - (draw > 1 - (discordance - means) / 2)


def differences(values: np.ndarray) -> RunDifferences:
    runs, size = values.shape
    names = pd.Series(np.repeat(np.arange(runs), size))
    clusters = clusters_of(names, pd.Series(range(runs * size)))
    return RunDifferences("held", ("a", "b"), values.ravel(), clusters, tuple(map(str, range(runs))), synthetic=True)


def test_a_tenth_needs_26_runs_of_20_findings():
    assert vp.sample_size(**PLANNED, n_findings=20).needed["runs"].tolist() == [26]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_the_interval_of_compare_shows_a_difference_as_often_as_planned(plan):
    """The full table is in docs/statistics.md; three standard errors, and runs that differ much are skewed."""
    assert 0.73 <= shown(plan, plan.delta, 500, seed=1) <= 0.87
    assert shown(plan, 0.0, 500, seed=2) <= 0.08


def test_power_is_that_of_a_t_test_where_many_runs_are_alike():
    """An oracle for many effective pairs, where nothing is shrunk: the non-central t, here the normal distribution."""
    runs, findings = 400, 25
    error = np.sqrt((0.2 - 0.02**2) * (1 + 24 * 0.05) / (runs * findings))
    expected = norm.sf(norm.ppf(0.975) - 0.02 / error)
    assert planned_power(0.02, 0.2, 0.05, findings, runs, 0.95) == pytest.approx(expected, abs=0.01)
    assert planned_power(-0.02, 0.2, 0.05, findings, runs, 0.95) == planned_power(0.02, 0.2, 0.05, findings, runs, 0.95)


@given(
    st.floats(0.02, 0.3), st.floats(0.3, 0.8), st.floats(0, 0.5), st.integers(1, 200),
    st.sampled_from([0.8, 0.9, 0.99]), st.none() | st.floats(0, 0.2),
)  # fmt: skip
def test_the_runs_are_the_fewest_that_have_the_power(delta, discordance, icc, findings, power, claim_icc):
    numbers = {"delta": delta, "discordance": discordance, "icc": icc}
    found = vp.sample_size(**numbers, claim_icc=claim_icc, n_findings=findings, power=power)
    runs = found.needed["runs"].iloc[0]

    def of(n):
        return planned_power(*numbers.values(), findings, n, 0.95, claim_icc)

    if pd.isna(runs):
        assert claim_icc is not None
        assert of(10**12) < power
        return
    assert of(runs) >= power
    assert runs == 2 or of(runs - 1) < power


def test_too_few_claims_show_nothing_in_any_number_of_runs():
    few = vp.sample_size(**PLANNED, claim_icc=0.2, n_findings=[10, 400])
    assert (
        str(few)
        .splitlines()[0]
        .endswith("correlation 0.05, the same claims in every run, correlation 0.2, 95 % intervals):")
    )
    assert str(few).splitlines()[1] == "  10 findings a run: no number of runs does, as the claims are too few"
    assert few.needed["runs"].isna().tolist() == [True, False]
    more = vp.sample_size(**PLANNED, claim_icc=0.0, n_findings=40).needed["runs"].iloc[0]
    fewer = vp.sample_size(**PLANNED, n_findings=40).needed["runs"].iloc[0]
    assert more >= fewer, "repeated claims are fewer claims"


def test_more_findings_need_fewer_runs_down_to_a_floor():
    needed = vp.sample_size(**PLANNED, n_findings=[5, 20, 100, 10**6, 10**7]).needed
    assert needed["runs"].is_monotonic_decreasing
    assert needed["runs"].iloc[-2] == needed["runs"].iloc[-1] > 10
    assert (needed["total"] == needed["runs"] * needed["findings"]).all()


def test_the_words_have_a_line_a_number_of_findings():
    assert str(vp.sample_size(**PLANNED, n_findings=[5, 20])).splitlines()[1:] == [
        "   5 findings a run: 59 runs, 295 findings in all",
        "  20 findings a run: 26 runs, 520 findings in all",
    ]


def test_every_number_out_of_range_is_named():
    with pytest.raises(SettingsError) as caught:
        vp.sample_size(delta=0, discordance=1.5, icc=-1, n_findings=[0], power=0.2, level=95)
    places = [problem.place for problem in caught.value.problems]
    assert places == ["delta", "discordance", "icc", "power", "level", "n_findings"]
    assert "delta: must be a difference of shares, at least 0.0001 and below 1, got 0. Fix: give" in str(caught.value)
    with pytest.raises(SettingsError, match=r"discordance: must be at least delta, 0\.3, got 0\.1"):
        vp.sample_size(delta=0.3, discordance=0.1, icc=0)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"delta": 1e-9}, "delta: must be a difference of shares, at least 0.0001 and below 1, got 1e-09"),
        ({"n_findings": 10**9}, "n_findings: must be between 1 and 100,000,000, got 1000000000"),
        ({"power": 1 - 1e-12}, "power: must be from 0.5 to 0.999999999, got 0.999999999999"),
        ({"level": 1 - 1e-16}, "level: must be above 0 and at most 0.999999999, got 0.9999999999999999"),
    ],
)
def test_numbers_too_extreme_to_plan_for_are_refused(numbers, message):
    with pytest.raises(SettingsError, match=message):
        vp.sample_size(**{**PLANNED, **numbers})


def test_the_most_that_is_planned_for_can_be_counted():
    certainty = {"power": 1 - 1e-9, "level": 1 - 1e-9}
    needed = vp.sample_size(delta=1e-4, discordance=1, icc=1, n_findings=10**8, **certainty).needed
    assert needed["total"].iloc[0] == int(needed["runs"].iloc[0]) * 10**8 > 10**17


def test_power_and_level_near_1_are_not_rounded_to_it():
    words = str(vp.sample_size(**PLANNED, power=0.9999999, level=0.999))
    assert "with 99.99999 % power" in words
    assert "99.9 % intervals" in words


def test_the_correlation_is_that_of_an_analysis_of_variance():
    values = simulated(np.random.default_rng(3), 30, 12, 0.1, 0.4, 0.2)
    found = intra_run_correlation(differences(values))
    ratio = f_oneway(*values).statistic
    assert found.value == pytest.approx((ratio - 1) / (ratio + 11), abs=1e-9)
    assert found.low < found.value < found.high


def test_the_interval_of_the_correlation_holds_it():
    rng = np.random.default_rng(1)
    held = []
    for _ in range(300):
        icc = intra_run_correlation(differences(simulated(rng, 12, 20, 0.1, 0.4, 0.1)))
        held.append(icc.low <= 0.1 <= icc.high)
    assert np.mean(held) > 0.92


def test_a_pilot_without_variance_within_or_between_runs_knows_little():
    assert intra_run_correlation(differences(np.array([[1.0, 1], [0, 0], [0, 0]])))[:3] == (1, 0, 1)
    assert intra_run_correlation(differences(np.zeros((3, 4))))[:3] == (0.1, 0, 0.3)
    assert intra_run_correlation(differences(np.array([[1.0, 0, 0]])))[:3] == (0.1, 0, 0.3)


@cache
def a_comparison():
    return vp.compare("stdlib-claims/adversarial")


def pilot(values: np.ndarray):
    """A comparison whose held differences are those given."""
    made = a_comparison()
    runs, size = values.shape
    flat = values.ravel()
    findings = pd.DataFrame(
        {
            "run_id": np.repeat([f"r{n}" for n in range(runs)], size),
            "finding_id": [f"F-{n}" for n in range(runs * size)],
            "summary": None,
            "truth": pd.array(np.arange(runs * size) % 2 == 0, dtype="boolean"),
            "classification_collaborative": np.where(flat < 0, "full-consensus", "contested"),
            "classification_adversarial": np.where(flat > 0, "full-consensus", "contested"),
        }
    )
    return replace(made, findings=findings, metric="held")


def test_a_pilot_gives_power_and_needed_runs_with_intervals():
    values = simulated(np.random.default_rng(5), 20, 20, 0.1, 0.3, 0.05)
    found = vp.power(pilot(values), delta=0.1, n_runs=[10, 25])
    assert found.observed == pytest.approx(values.mean())
    assert found.discordance.value == pytest.approx(np.abs(values).mean())
    assert (found.by_runs["low"] <= found.by_runs["power"]).all()
    assert (found.by_runs["power"] <= found.by_runs["high"]).all()
    assert found.by_runs["findings"].tolist() == [20, 20]
    at_20 = found.needed.set_index("findings").loc[20]
    assert at_20["low"] <= at_20["runs"] <= at_20["high"]
    assert at_20["low"] <= 26 <= at_20["high"]
    by_hand = vp.sample_size(delta=0.1, discordance=found.discordance.value, icc=found.icc.value, n_findings=20)
    assert at_20["runs"] == by_hand.needed["runs"].iloc[0]
    assert "pilot (collaborative against adversarial; 20 runs, 400 findings, synthetic)" in str(found)


def test_the_interval_of_the_runs_needed_holds_them():
    rng = np.random.default_rng(8)
    held = []
    for _ in range(40):
        found = vp.power(pilot(simulated(rng, 12, 20, 0.1, 0.3, 0.05)), delta=0.1, n_findings=20).needed.iloc[0]
        held.append(found["low"] <= 26 <= found["high"])
    assert np.mean(held) >= 0.95


def test_power_reaches_what_was_asked_for_at_the_needed_runs():
    made = pilot(simulated(np.random.default_rng(5), 20, 20, 0.1, 0.3, 0.05))
    needed = int(vp.power(made, delta=0.1, n_findings=20).needed["runs"].iloc[0])
    below, at = vp.power(made, delta=0.1, n_findings=20, n_runs=[needed - 1, needed]).by_runs["power"]
    assert below < 0.8 <= at


def test_the_tables_are_as_declared():
    found = vp.power("stdlib-claims/adversarial", delta=0.05)
    names = {"power": found.needed, "power.by_runs": found.by_runs, "sample_size": vp.sample_size(**PLANNED).needed}
    for name, table in names.items():
        assert list(table.columns) == [column.name for column in RESULT_TABLES[name]], name


def test_metrics_of_truth_take_the_claims_that_they_are_of():
    values = simulated(np.random.default_rng(6), 12, 20, 0.1, 0.4, 0.05)
    true = np.arange(values.size).reshape(values.shape) % 2 == 0
    assert vp.power(pilot(values), delta=0.1, metric="recall").observed == pytest.approx(values[true].mean())
    fewer = vp.power(pilot(values), delta=0.1, metric="false-demotion-rate").observed
    assert fewer == pytest.approx(-values[true].mean())
    false = vp.power(pilot(values), delta=0.1, metric="false-consensus-rate")
    assert (false.observed, false.discordance.n) == (pytest.approx(values[~true].mean()), 120)


@pytest.mark.parametrize(
    ("runs", "note"),
    [(1, "A pilot of one run cannot show how much runs differ"), (4, "The pilot has 4 runs, which say little")],
)
def test_a_small_pilot_is_said_to_be_small(runs, note):
    values = simulated(np.random.default_rng(7), runs, 40, 0.1, 0.4, 0.05)
    assert note in str(vp.power(pilot(values), delta=0.1))


def test_a_pilot_of_few_differences_is_lifted_to_the_difference_planned():
    found = vp.power(pilot(np.zeros((12, 20))), delta=0.1)
    assert "Only 0.0 % of the pilot's findings differ, fewer than a difference of 0.1 needs" in str(found)
    assert (found.needed["runs"] >= 2).all()


def test_a_pilot_on_repeated_claims_plans_for_the_same_claims_in_every_run():
    rng = np.random.default_rng(4)
    made = pilot(np.where(rng.random((12, 40)) < 0.25, rng.choice([-1.0, 1.0, 1.0], size=(1, 40)), 0.0))
    repeated = replace(made, findings=made.findings.assign(finding_id=[f"c{n % 40}" for n in range(480)]))
    found = vp.power(repeated, delta=0.1, n_findings=[10, 200])
    assert found.claim_icc is not None
    assert (found.claim_icc.n, found.claim_icc.low > 0) == (40, True)
    by_hand = vp.sample_size(
        delta=0.1, discordance=found.discordance.value, icc=found.icc.value, claim_icc=found.claim_icc.value,
        n_findings=[10, 200],
    )  # fmt: skip
    pd.testing.assert_series_equal(found.needed["runs"], by_hand.needed["runs"])
    assert "; the same claims in every run, correlation 0." in str(found)
    assert vp.power(made, delta=0.1).claim_icc is None
    assert vp.charts.power(found).data["runs"].notna().all()


def test_the_metric_that_is_planned_for_is_the_one_that_is_concluded_on():
    both = vp.compare("stdlib-claims/collaborative", "stdlib-claims/adversarial", metric="recall", resamples=5)
    assert vp.power(both, delta=0.05).metric == "recall"
    assert vp.power("stdlib-claims/adversarial", delta=0.05).metric == "accuracy"
    apart = vp.compare("stdlib-claims/collaborative", "stdlib-claims/adversarial", pair_by=None, resamples=5)
    with pytest.raises(InputError, match="these are not paired"):
        vp.power(apart, delta=0.05)


def test_the_metric_of_the_verdict_line_can_be_planned_for():
    both = vp.compare("stdlib-claims/adversarial", resamples=10)
    differences = run_differences(both, "accuracy")
    held = {name: both.findings[f"classification_{name}"].isin(HELD) for name in both.conditions}
    right = {name: column.eq(both.findings["truth"]) for name, column in held.items()}
    first, second = both.conditions
    assert differences.values.mean() == pytest.approx(right[second].mean() - right[first].mean())
    assert vp.power(both, delta=0.05, metric="accuracy", n_runs=[12]).metric == "accuracy"
    unknown = both.findings.assign(truth=pd.array([pd.NA] * len(both.findings), dtype="boolean"))
    with pytest.raises(InputError, match="accuracy needs claims whose truth is known, and there are none"):
        run_differences(replace(both, findings=unknown), "accuracy")
    assert f"\naccuracy: {100 * right[first].mean():.1f} % against {100 * right[second].mean():.1f} % (n = " in str(
        both
    )


def test_what_cannot_be_planned_for_is_named():
    with pytest.raises(SettingsError, match="metric: must be a mean over the same findings, got 'precision'"):
        vp.power("stdlib-claims/adversarial", delta=0.1, metric="precision")
    with pytest.raises(SettingsError, match="runs: must be at least 2, got 1"):
        vp.power("stdlib-claims/adversarial", delta=0.1, n_runs=1)
    made = pilot(np.zeros((3, 4)))
    unknown = replace(made, findings=made.findings.assign(truth=pd.array([None] * 12, dtype="boolean")))
    with pytest.raises(InputError, match="metric: recall needs true claims, and there are none"):
        vp.power(unknown, delta=0.1, metric="recall")
    three = vp.compare("stdlib-claims/adversarial", modes=["collaborative", "adversarial", "recorded"])
    with pytest.raises(InputError, match="comparison: must have two conditions, this one has 3"):
        vp.power(three, delta=0.1)


def test_power_is_said_by_findings_a_run_and_then_by_runs():
    values = simulated(np.random.default_rng(5), 12, 20, 0.1, 0.3, 0.05)
    lines = str(vp.power(pilot(values), delta=0.1, n_runs=[5, 10], n_findings=[1, 20])).splitlines()
    assert lines[0] == "to detect a difference of 10 points in held with 80 % power:"
    said = [line for line in lines if line.startswith("power with")]
    share = r"\d+ % \[\d+, \d+\]"
    assert re.fullmatch(f"power with 1 finding a run: 5 runs {share}; 10 runs {share}", said[0])
    assert re.fullmatch(f"power with 20 findings a run: 5 runs {share}; 10 runs {share}", said[1])
    assert len(said) == 2


def test_percentages_have_a_space_and_all_their_digits():
    words = str(vp.sample_size(**PLANNED, power=0.875, level=0.995))
    assert "with 87.5 % power" in words
    assert "99.5 % intervals" in words


def test_a_single_set_is_said_to_be_judged_by_both_rules():
    note = "One set was given, so its votes are judged by both rules, collaborative and adversarial"
    assert vp.power("stdlib-claims/adversarial", delta=0.1).notes[0].startswith(note)


def test_named_conditions_need_no_such_note():
    sets = {"a": "stdlib-claims/collaborative", "b": "stdlib-claims/adversarial"}
    for named in (sets, a_comparison()):
        assert "One set was given" not in str(vp.power(named, delta=0.1))


def test_a_pilot_of_one_run_says_how_many_claims_like_its_own_show_the_difference():
    pair = vp.datasets.runs("stdlib-claims/collaborative"), vp.datasets.runs("stdlib-claims/adversarial")
    first = pair[0].runs["run_id"].iloc[0]
    one = vp.power(vp.compare(*(runs.select([first]) for runs in pair), resamples=20), delta=0.2)
    n, share = one.discordance.n, max(one.discordance.value, 0.2)
    expected = vp.sample_size(delta=0.2, discordance=share, icc=0, n_findings=1).needed["total"].iloc[0]
    assert one.claims is not None
    assert (one.claims.value, one.claims.n) == (expected, n)
    assert one.claims.low <= one.claims.value <= one.claims.high
    more = max(0, expected - n)
    assert f"one run: {expected:,} claims [" in str(one)
    assert f"if claims are independent, {more:,} more than the {n:,} of the pilot" in str(one)
    assert vp.power("stdlib-claims/adversarial", delta=0.2).claims is None


def test_an_intra_run_correlation_that_is_left_out_is_assumed_and_said():
    supposed = vp.sample_size(delta=0.1, discordance=0.3)
    assert supposed.needed.equals(vp.sample_size(delta=0.1, discordance=0.3, icc=0.1).needed)
    independent = vp.sample_size(delta=0.1, discordance=0.3, icc=0, n_findings=1).needed["total"].iloc[0]
    assert "note: An intra-run correlation (icc) of 0.1 is assumed" in str(supposed)
    assert f"If findings were independent (icc=0), {independent} findings in all would do" in supposed.notes[0]
    assert "(icc) of 0.1 is assumed" in supposed._repr_html_()
    assert vp.sample_size(delta=0.1, discordance=0.3, icc=0).notes == ()
    with pytest.raises(SettingsError, match="discordance: must be at least delta"):
        vp.sample_size(delta=0.4, discordance=0.3)
