"""rule F1: sets that share no finding, by their clusters or paired by a coarser unit; Michael et al. 2023; oracles."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind

import verifyplan as vp
from benchmarks.unpaired_coverage import about_stories, apart
from tests.longer import examples
from verifyplan.analysis.cluster_intervals import share_difference, unpaired_difference
from verifyplan.analysis.clusters import Clusters
from verifyplan.errors import InputError, SettingsError
from verifyplan.widgets import ModeComparison


@pytest.fixture(scope="module")
def judgments() -> dict[str, vp.RunSet]:
    """The final judgments of Michael et al. 2023: each upholds that the right answer is right where p is above 1/2."""
    beliefs = vp.datasets.votes("debate-judges").query("final and in_paper and session == 'online'")
    beliefs = beliefs.assign(holds=True, upheld=beliefs["belief_right"].gt(0.5).map({True: "yes", False: "no"}))
    columns = {"item": "item", "worker": "worker", "verdict": "upheld", "truth": "holds", "category": "story"}
    words = {"yes": "agree", "no": "disagree"}
    return {
        " ".join(names): vp.from_votes(rows, **columns, verdicts=words)
        for names, rows in beliefs.groupby(["debaters", "protocol"])
    }


def test_the_four_rates_of_michael_et_al(judgments):
    summary = vp.compare(judgments, cluster_by="category").summary.set_index("metric").loc["accuracy"]
    rates = {name: (round(float(summary[name]), 3), int(summary[f"{name}_n"])) for name in judgments}
    assert rates == {
        "human debate": (0.844, 154),
        "human consultancy": (0.740, 96),
        "ai debate": (0.782, 87),
        "ai consultancy": (0.803, 76),
    }


def test_debate_less_consultancy_by_story_is_that_of_michael_et_al(judgments):
    """Known: +10.5 points [-0.8, +21.7] of all 250 judgments by story, a normal interval with a sandwich variance.

    Ours has Student's t for 60 uneven stories and one effective pair of either kind added: -1.5 to +22.0.
    """
    both = vp.compare({name: judgments[name] for name in ("human consultancy", "human debate")}, cluster_by="category")
    row = both.summary.set_index("metric").loc["accuracy", ["difference", "difference_low", "difference_high"]]
    assert row.to_numpy(dtype=float) == pytest.approx([0.1046, -0.008, 0.217], abs=0.008)
    assert 100 * row.to_numpy(dtype=float) == pytest.approx([10.5, -1.5, 22.0], abs=0.05)
    assert (both.paired_by, both.resampled) == (None, "values of category")
    assert both.conclusions == [
        "accuracy: 74.0 % against 84.4 % (n = 96 and 154; held and true, or not held and false), difference +10.5 "
        "points [-1.5, +22.0], p = 0.0850: no difference is shown"
    ]
    assert str(both).splitlines()[:2] == [
        "human consultancy against human debate: 96 and 154 findings of 1 run each (difference = human debate - human "
        "consultancy)",
        "unpaired: no finding is compared with itself; independent are values of category",
    ]
    test = both.tests.iloc[0]
    assert (test["role"], test["n"], test["clusters"]) == ("concluding", 250, 60)


def test_stories_that_both_have_are_paired_by_their_means(judgments):
    """By loops: of the 45 stories with both, the mean difference of their means is +4.4 points."""
    sets = {name: judgments[name] for name in ("human consultancy", "human debate")}
    both = vp.compare(sets, pair_by="category")
    tables = [each.votes.merge(each.findings[["finding_id", "category"]]) for each in sets.values()]
    means = [table["verdict"].eq("agree").groupby(table["category"]).mean() for table in tables]
    paired = (means[1] - means[0]).dropna()
    row = both.summary.set_index("metric").loc["accuracy"]
    assert len(paired) == 45
    assert row["difference"] == pytest.approx(paired.mean())
    assert row["human debate"] == pytest.approx(means[1][paired.index].mean())
    by_t = 2.0154 * paired.sem()
    assert row["difference_high"] - row["difference_low"] == pytest.approx(2 * by_t, rel=0.05)
    assert both.paired_by == "category"
    assert "paired by category: the means of 45 values that all sets have; independent are values of category" in str(
        both
    )
    assert "41 findings are left out, as their category is not in all sets." in both.notes
    assert both.bounds.empty


def test_the_first_judgments_of_a_story_are_paired_as_any_finding():
    """Known: +8.9 points [-9.0, +26.0] where stories are paired: the first judgment of each, 16 of 45 pairs differ."""
    final = "final and in_paper and session == 'online' and debaters == 'human'"
    beliefs = vp.datasets.votes("debate-judges").query(final).drop_duplicates(["protocol", "story"])
    beliefs = beliefs.assign(holds=True, upheld=beliefs["belief_right"].gt(0.5).map({True: "agree", False: "disagree"}))
    columns = {"item": "story", "worker": "worker", "verdict": "upheld", "truth": "holds"}
    sets = {name: vp.from_votes(rows, **columns) for name, rows in beliefs.groupby("protocol")}
    both = vp.compare({"consultancy": sets["consultancy"], "debate": sets["debate"]})
    row = both.summary.set_index("metric").loc["accuracy", ["difference", "difference_low", "difference_high"]]
    assert (both.paired_by, both.n_findings, len(both.changed)) == ("finding", 45, 16)
    assert 100 * row.to_numpy(dtype=float) == pytest.approx([8.9, -9.0, 26.0], abs=0.05)


def runs_of(name: str, n_runs: int, size: int, wrong: float, seed: int = 0, **columns: object) -> vp.RunSet:
    """Runs of one judge on true claims of its own, of which it rejects a share."""
    rng = np.random.default_rng(seed)
    n = n_runs * size
    table = pd.DataFrame({"item": [f"{name}{i}" for i in range(n)], "run": np.repeat(np.arange(n_runs), size)})
    table = table.assign(
        run=name + table["run"].astype(str), worker="w", truth=True, category=[f"k{i % 7}" for i in range(n)],
        verdict=np.where(rng.random(n) < wrong, "disagree", "agree"),
    ).assign(**columns)  # fmt: skip
    named = {"item": "item", "worker": "worker", "verdict": "verdict", "truth": "truth", "category": "category"}
    return vp.from_votes(table, **named, run="run")


def test_sets_that_share_nothing_are_compared_by_their_runs():
    both = vp.compare({"a": runs_of("a", 12, 20, 0.4), "b": runs_of("b", 9, 30, 0.1, seed=1)})
    assert (both.paired_by, both.resampled, both.n_findings) == (None, "runs", 510)
    assert both.findings["classification_a"].notna().sum() == 240
    assert both.findings["changed"].isna().all()
    assert "changed" not in set(both.summary["metric"])
    assert set(both.tests["test"]) == {"clustered-t"}
    assert both.conclusions[0].endswith(": a difference is shown")
    assert both.tests["clusters"].eq(21).all()
    for name in ("transitions", "changed"):
        with pytest.raises(
            SettingsError, match=f"{name}: needs findings that have a class under every condition.*unpai"
        ):
            getattr(both, name)
    assert "<p>From the class" not in both._repr_html_()
    assert vp.charts.truth_metrics(both).description
    assert vp.charts.class_mix(both).description


def test_a_report_of_unpaired_sets_says_that_no_finding_can_change(tmp_path):
    both = vp.compare({"a": runs_of("a", 3, 8, 0.4), "b": runs_of("b", 3, 8, 0.1)})
    text = vp.report(both, tmp_path).read_text()
    assert text.count("Not known: the sets are not paired by finding.") == 2
    assert f"- {both.conclusions[0]}".replace("%", "%") in text.replace("\\", "")


def test_three_sets_of_which_none_shares_a_finding_are_taken_two_by_two():
    sets = {name: runs_of(name, 6, 10, wrong) for name, wrong in (("a", 0.4), ("b", 0.1), ("c", 0.1))}
    three, two = vp.compare(sets), vp.compare({name: sets[name] for name in ("b", "c")})
    between = three.between("b", "c")
    pd.testing.assert_frame_equal(between.summary, two.summary)
    assert between.n_findings == 120
    assert three.pairs["b"].conditions == ("a", "b")


def test_a_shared_finding_pairs_unless_it_is_not_to():
    sets = {"a": runs_of("a", 4, 10, 0.4), "b": runs_of("a", 4, 10, 0.1, seed=1)}
    assert vp.compare(sets).paired_by == "finding"
    apart = vp.compare(sets, pair_by=None)
    assert (apart.paired_by, apart.n_findings) == (None, 80)
    paired, unpaired = (each.summary.set_index("metric").loc["accuracy"] for each in (vp.compare(sets), apart))
    assert paired["difference"] == pytest.approx(unpaired["difference"])


def test_values_that_repeat_claims_of_both_sets_vary_together():
    """Equal verdicts in both sets: the variance between categories cancels, as in a pair."""
    easy = [i % 7 < 3 for i in range(140)]
    verdict = np.where(easy, "agree", "disagree")
    sets = {name: runs_of(name, 1, 140, 0, verdict=verdict) for name in ("a", "b")}
    together, alone = (
        vp.compare(sets, cluster_by=by).summary.set_index("metric").loc["held"] for by in ("category", None)
    )
    assert together["difference"] == alone["difference"] == 0
    assert together["difference_high"] < alone["difference_high"]
    assert together["a_high"] - together["a_low"] > alone["a_high"] - alone["a_low"], "7 categories are fewer than 140"


def test_a_set_of_one_run_is_of_its_claims_and_says_so():
    both = vp.compare({"a": runs_of("a", 1, 60, 0.4), "b": runs_of("b", 1, 60, 0.1)})
    assert both.resampled == "claims"
    assert "(of one run: others may differ)" in both.conclusions[0]
    assert sum("There is only one run" in note for note in both.notes) == 1
    mixed = vp.compare({"a": runs_of("a", 1, 60, 0.4), "b": runs_of("b", 12, 10, 0.1)})
    assert mixed.resampled == "claims and runs"


def test_what_cannot_be_a_unit_is_refused():
    sets = {"a": runs_of("a", 2, 10, 0.4), "b": runs_of("b", 2, 10, 0.1)}
    with pytest.raises(
        SettingsError, match=r"pair_by: must be None or one of 'finding', .* got 'story'.*category='story'"
    ):
        vp.compare(sets, pair_by="story")
    with pytest.raises(SettingsError, match="cluster_by: must be None or one of 'category'"):
        vp.compare(sets, cluster_by="categroy")
    with pytest.raises(SettingsError, match="pair_by: goes with several sets, got 'category' and one set"):
        vp.compare(sets["a"], pair_by="category")
    with pytest.raises(
        InputError, match=r"pair_by: no run_id is in all sets: 'a0', 'a1' in a; 'b0', 'b1' in b\. Fix: nam"
    ):
        vp.compare(sets, pair_by="run_id")
    with pytest.raises(InputError, match="pair_by: 20 findings of a have no summary"):
        vp.compare(sets, pair_by="summary")
    with pytest.raises(InputError, match="cluster_by: 20 findings of the set have no summary"):
        vp.compare(sets["a"], cluster_by="summary")
    with pytest.raises(InputError, match="other: the sets have no finding in common"):
        ModeComparison(sets["a"], sets["b"])


def test_one_set_can_be_clustered_by_a_column_in_memory_and_out_of_it(tmp_path):
    path = vp.datasets.path("stdlib-claims/adversarial")
    by = {"cluster_by": "category"}
    whole = vp.compare(path, **by, metric="held", resamples=20)
    vp.compile_dataset(path, str(tmp_path / "set"))
    parts = vp.analysis.compare_dataset(str(tmp_path / "set"), **by, metric="held", resamples=20)
    pd.testing.assert_frame_equal(parts.summary, whole.summary)
    pd.testing.assert_frame_equal(parts.tests, whole.tests)
    assert (parts.metric, parts.resampled) == (whole.metric, whole.resampled) == ("held", whole.resampled)


@settings(max_examples=examples(40))
@given(st.integers(30, 80), st.integers(30, 80), st.floats(0.1, 0.9), st.floats(0.1, 0.9), st.integers(0, 99))
def test_unpaired_runs_of_one_size_are_nearly_the_test_of_welch(n_first, n_second, first, second, seed):
    """Of many clusters the oracle is Welch's t interval of their means; ours is moderated, and adds two pairs."""
    rng, size = np.random.default_rng(seed), 10
    sides, means = [], []
    for n, rate in ((n_first, first), (n_second, second)):
        values = rng.binomial(1, np.clip(rate + rng.normal(0, 0.1, n), 0, 1)[:, None], (n, size))
        sides += [values.ravel(), np.ones(n * size), Clusters(np.repeat(np.arange(n), size), np.arange(n * size))]
        means.append(values.mean(axis=1))
    found = unpaired_difference(*sides)
    welch = ttest_ind(means[1], means[0], equal_var=False)
    error = (means[1].mean() - means[0].mean()) / welch.statistic
    assert found.value == pytest.approx(means[1].mean() - means[0].mean())
    assert found.error == pytest.approx(error, rel=0.12)
    swapped = unpaired_difference(*sides[3:], *sides[:3])
    assert swapped.interval()[:3] == pytest.approx((-found.value, -found.interval().high, -found.interval().low))


def test_independent_rows_have_the_interval_of_one_table():
    """Where each row is its own cluster, two tables are one table without a common row."""
    rng = np.random.default_rng(2)
    first, second = rng.random(70) < 0.4, rng.random(50) < 0.7
    alone = [Clusters(np.zeros(n, dtype=int), np.arange(n)) for n in (70, 50)]
    apart_ = unpaired_difference(first, np.ones(70), alone[0], second, np.ones(50), alone[1])
    is_second = np.repeat([0, 1], [70, 50])
    errors = np.concatenate([first, second])
    rows = Clusters(np.zeros(120, dtype=int), np.arange(120))
    together = share_difference(errors * (1 - is_second), 1 - is_second, errors * is_second, is_second, rows)
    assert apart_ == pytest.approx(together)


def test_one_set_alone_is_no_difference():
    alone = Clusters(np.arange(3), np.arange(3))
    nothing = unpaired_difference(np.ones(3), np.zeros(3), alone, np.ones(3), np.ones(3), alone)
    assert np.isnan(nothing.value)
    assert np.isnan(nothing.interval().low)
    assert np.isnan(nothing.p_value)


@pytest.mark.parametrize("correlation", [0.0, 0.1, 0.3])
def test_unpaired_intervals_hold_what_they_say(correlation):
    """The whole table is in docs/statistics.md (benchmarks.unpaired_coverage)."""
    draws = (partial(apart, ((6, 20), (6, 20))), about_stories, partial(about_stories, by_means=True))
    for draw in draws:
        rng = np.random.default_rng(1)
        found = [draw(rng, correlation, (0.3, 0.15)) for _ in range(300)]
        assert np.mean([each.low <= -0.15 <= each.high for each in found]) >= 0.91, "95 less three standard errors"
