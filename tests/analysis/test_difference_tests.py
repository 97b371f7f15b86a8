"""Tests of no difference: by hand, by enumeration, against a simulation without any difference, and Holm's."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

import verifyplan as vp
from benchmarks.simulated_runs import Design, errors
from tests.longer import examples
from verifyplan.analysis.cluster_intervals import share_difference
from verifyplan.analysis.clustered_tests import MIN_CLUSTERS, clustered_test
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.difference_tests import difference_tests, metric_tests, with_holm
from verifyplan.protocol.vote import CLASSIFICATIONS


def findings_of(moves: list[tuple[int, int]], run: list[int] | None = None, truth: list[bool] | None = None):
    """One row a finding, by its class under a and under b."""
    classes = (pd.Categorical.from_codes(codes, CLASSIFICATIONS, ordered=True) for codes in zip(*moves, strict=True))
    table = pd.DataFrame(dict(zip(("classification_a", "classification_b"), classes, strict=True)))
    runs = np.arange(len(moves)) if run is None else np.asarray(run)
    known = pd.array(truth if truth is not None else [None] * len(moves), dtype="boolean")
    return table.assign(truth=known), Clusters(runs, np.arange(len(moves)))


def results_of(*args, **named):
    table, clusters = findings_of(*args, **named)
    return difference_tests(table, "a", "b", clusters).set_index(["of", "test"])


def of_table(table: list[list[int]]):
    return results_of([(i, j) for i in range(4) for j in range(4) for _ in range(table[i][j])])


def by_run(moves: np.ndarray, repeated: bool = False) -> tuple[np.ndarray, Clusters]:
    """Moves of shape (runs, findings) as rows."""
    runs, findings = moves.shape
    claim = np.tile(np.arange(findings), runs) if repeated else np.arange(moves.size)
    return moves.reshape(-1, 1), Clusters(np.repeat(np.arange(runs), findings), claim)


def test_stuart_maxwell_and_mcnemar_by_hand():
    tests = of_table([[10, 0, 8, 0], [0, 5, 0, 0], [2, 0, 7, 0], [0, 0, 0, 1]])
    assert tests.loc[("classes", "stuart-maxwell"), "statistic"] == pytest.approx((8 - 2) ** 2 / (8 + 2))
    assert tests.loc[("held", "mcnemar"), "p_value"] == pytest.approx(2 * sum([1, 10, 45]) / 2**10)  # 2 of 10
    nothing_moves = of_table(np.diag([3, 3, 3, 3]).tolist())
    assert nothing_moves[["statistic", "df", "p_value"]].isna().all(axis=None)


@pytest.mark.parametrize(("lost", "won"), [(0, 1), (3, 3), (12, 12), (2, 22), (13, 12), (25, 25), (4, 40), (300, 240)])
def test_mcnemar_is_that_of_statsmodels(lost, won):
    row = results_of([(0, 2)] * lost + [(2, 0)] * won).loc[("held", "mcnemar")]
    exact = lost + won < 25
    theirs = mcnemar([[0, lost], [won, 0]], exact=exact)
    assert row["p_value"] == pytest.approx(theirs.pvalue, rel=1e-12)
    assert np.isnan(row["statistic"]) if exact else row["statistic"] == pytest.approx(theirs.statistic)


def test_stuart_maxwell_of_two_separate_pairs_adds_up():
    tests = of_table([[5, 8, 0, 0], [2, 5, 0, 0], [0, 0, 5, 9], [0, 0, 1, 5]])
    row = tests.loc[("classes", "stuart-maxwell")]
    assert row["statistic"] == pytest.approx(36 / 10 + 64 / 10)
    assert row["df"] == 2


def test_right_and_wrong_are_tested_beside_held():
    """Ten true findings fall, ten false ones rise: as many are held, and all twenty were right before."""
    moves, truth = [(0, 2)] * 10 + [(2, 0)] * 10, [True] * 10 + [False] * 10
    tests = results_of([*moves, (0, 2)], truth=[*truth, None])
    assert tests.loc[("held", "mcnemar"), "p_value"] == 1
    assert tests.loc[("accuracy", "mcnemar"), "p_value"] == pytest.approx(2 / 2**20)
    assert tests["n"].to_dict() == {key: 20 if key[0] == "accuracy" else 21 for key in tests.index}
    assert ("accuracy", "mcnemar") not in results_of(moves).index, "no truth is known"


def test_a_sign_flip_is_that_of_all_ways_by_enumeration():
    sums = np.array([3, -1, 4, 1, -5, 2, 0])
    moves, clusters = np.repeat(np.sign(sums), np.abs(sums)), np.repeat(np.arange(7), np.abs(sums))
    rows = np.concatenate([moves, [0]])  # the last run has a finding, and it does not move
    result = clustered_test(rows[:, None], Clusters(np.append(clusters, 6), np.arange(len(rows))))
    all_ways = [abs(np.dot(signs, sums)) for signs in product((1, -1), repeat=7)]
    assert result.p_value == pytest.approx(np.mean(np.array(all_ways) >= abs(sums.sum())))
    assert result.statistic == pytest.approx(abs(sums.sum()) / np.sqrt((sums**2).sum()))
    assert (result.method, result.clusters) == ("exact sign-flip", 7)


def test_drawn_signs_come_close_to_all_of_them():
    rng = np.random.default_rng(3)
    sums = rng.integers(-5, 8, size=16)
    moves = np.zeros((16, 8), dtype=int)
    for run, total in enumerate(sums):
        moves[run, : abs(total)] = np.sign(total)
    result = clustered_test(*by_run(moves))
    bits = np.arange(2**16)[:, None] >> np.arange(16) & 1
    exact = (np.abs((1 - 2 * bits) @ sums) >= abs(sums.sum())).mean()
    assert result.method == "sign-flip, 2,000 draws"
    assert result.p_value == pytest.approx(exact, abs=0.02)
    assert result == clustered_test(*by_run(moves)), "the draws are seeded"
    assert clustered_test(*by_run(moves), seed=1).p_value != result.p_value


@settings(max_examples=examples(30))
@given(arrays(np.int64, (8, 5), elements=st.integers(-1, 1)), st.permutations(range(40)), st.booleans())
def test_order_of_rows_and_of_conditions_does_not_matter(moves, order, repeated):
    rows, clusters = by_run(moves, repeated)
    order = np.array(order)
    again = clustered_test(rows[order], clusters.take(order))
    result, swapped = clustered_test(rows, clusters), clustered_test(-rows, clusters)
    assert (result.method, result.clusters) == (again.method, again.clusters) == (swapped.method, swapped.clusters)
    for other in (again, swapped):
        assert (other.statistic, other.p_value) == pytest.approx((result.statistic, result.p_value), nan_ok=True)


def test_the_test_of_classes_has_no_p_value_with_fewer_than_six_clusters():
    moves = [(0, 2)] * 12
    table, clusters = findings_of(moves, run=[0] * 4 + [1] * 4 + [2] * 4)
    tests = difference_tests(table, "a", "b", clusters).set_index(["of", "test"])
    assert np.isnan(tests.loc[("classes", "clustered-homogeneity"), "p_value"])
    assert 2 / 2**MIN_CLUSTERS <= 0.05 < 2 / 2 ** (MIN_CLUSTERS - 1)


def test_one_run_is_tested_by_claim():
    table, clusters = findings_of([(0, 2)] * 8 + [(0, 0)] * 4, run=[0] * 12)
    row = (
        difference_tests(table, "a", "b", clusters).set_index(["of", "test"]).loc[("classes", "clustered-homogeneity")]
    )
    assert (row["assumes"], row["clusters"], row["p_value"]) == ("independent claims", 12, 2 / 2**8)


def test_claims_that_repeat_over_runs_are_a_dimension_of_their_own():
    moves = np.random.default_rng(0).integers(0, 4, size=(2, 7 * 8))
    table, _ = findings_of(list(zip(*moves.tolist(), strict=True)))
    _, clusters = by_run(np.zeros((7, 8)), repeated=True)
    tests = difference_tests(table, "a", "b", clusters)
    assert tests["assumes"].unique().tolist() == ["independent runs and claims", "independent findings"]
    assert (tests["method"][0], tests["clusters"][0]) == ("studentised sign-flip, all ways", 7)


@settings(max_examples=examples(60))
@given(arrays(np.int64, (9, 6), elements=st.integers(0, 3)), st.booleans(), st.integers(1, 3))
def test_p_is_below_5_percent_where_the_interval_leaves_0_out(outcomes, repeated, n_conclusions):
    """An outcome is 2 x first + second; the level of the interval is that of so many conclusions."""
    rows, clusters = by_run(outcomes, repeated)
    first, second = rows[:, 0] // 2, rows[:, 0] % 2
    found = share_difference(first, np.ones(54), second, np.ones(54), clusters)
    concluding, exploratory = metric_tests({"f1": found, "held": found}, [clusters], "held", n_conclusions).itertuples()
    assert (concluding.of, concluding.role, exploratory.role) == ("held", "concluding", "exploratory")
    for row, level in ((concluding, 1 - 0.05 / n_conclusions), (exploratory, 0.95)):
        low, high = found.interval(level)[1:3]
        assert (low > 0 or high < 0) == (row.p_value < 0.05)


def test_clusters_that_all_move_alike_over_runs_and_claims_are_as_sure_as_flips_of_the_fewer():
    result = clustered_test(*by_run(np.ones((7, 9), dtype=int), repeated=True))
    assert (result.p_value, result.clusters) == (2 / 2**7, 7)


def naive_score(moves: np.ndarray, ways: list[np.ndarray]) -> float:
    """|S| over its standard error by runs and claims, in loops; as far as can be where there is none."""
    residuals = moves - moves.mean()

    def summed(code: list) -> float:
        groups = sorted(set(code))
        squares = sum(sum(x for x, c in zip(residuals, code, strict=True) if c == g) ** 2 for g in groups)
        return squares * len(groups) / max(len(groups) - 1, 1)

    alone = [summed(list(way)) for way in ways]
    variance = max(sum(alone) - summed(list(zip(*ways, strict=True))), *alone)
    return 0.0 if not moves.sum() else np.inf if variance < 1e-9 else abs(moves.sum()) / np.sqrt(variance)


@settings(max_examples=examples(8))
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6), st.integers(-1, 1)), min_size=25, max_size=42))
def test_studentised_flips_of_runs_and_claims_are_those_of_loops(rows):
    rows = sorted({(run, claim): move for run, claim, move in rows}.items())
    run, claim = (np.unique([key[way] for key, _ in rows], return_inverse=True)[1] for way in range(2))
    moves, clusters = np.array([move for _, move in rows]), Clusters(run, claim)
    if sum(not each.is_joint for each in clusters.dimensions) < 2 or not moves.any():
        return
    code = min((run, claim), key=lambda each: each.max())
    ways = [np.array([1, *signs]) for signs in product((1, -1), repeat=code.max())]
    scores = np.array([naive_score(moves * signs[code], [run, claim]) for signs in ways])
    result = clustered_test(moves[:, None], clusters)
    assert result.statistic == pytest.approx(scores[0])
    if code.max() + 1 >= MIN_CLUSTERS:
        assert result.p_value == pytest.approx(np.mean(scores >= scores[0] * (1 - 1e-9)))


def test_claims_that_move_alike_in_all_runs_are_no_more_evidence_than_their_number():
    """Without a difference, 20 claims that each favour one mode or the other in 12 runs: runs alone would be sure."""
    rng = np.random.default_rng(5)
    p_values, by_runs_alone = [], []
    for _ in range(80):
        favoured = rng.choice([-1, 0, 1], size=20)
        rows, clusters = by_run(np.where(rng.random((12, 20)) < 0.8, favoured, 0), repeated=True)
        p_values.append(clustered_test(rows, clusters).p_value)
        by_runs_alone.append(clustered_test(rows, Clusters(clusters.run, np.arange(240))).p_value)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.125
    assert np.mean(np.array(by_runs_alone) <= 0.05) > 0.5


def test_more_clusters_than_are_flipped_use_t_and_agree_with_a_normal_approximation():
    rng = np.random.default_rng(0)
    rows, clusters = by_run(rng.choice([-1, 0, 1], p=[0.25, 0.4, 0.35], size=(2000, 2)))
    result = clustered_test(rows, clusters)
    assert result.method == "t"
    flipped = clustered_test(rows[:1800], clusters.take(np.arange(1800)))
    assert flipped.method.startswith("sign-flip")


def test_the_family_of_holm_is_all_exploratory_tests_of_all_conditions():
    tests = pd.DataFrame(
        {"role": ["exploratory", "exploratory", "concluding"] * 2, "p_value": [0.01, 0.04, 0.001, 0.03, np.nan, 0.001]}
    )
    adjusted = with_holm(tests)
    family = [0, 1, 3]
    expected = multipletests(tests.loc[family, "p_value"], method="holm")[1]
    assert adjusted.loc[family, "p_holm"].tolist() == pytest.approx(expected)
    assert adjusted["p_holm"].isna().tolist() == [False, False, True, False, True, True]
    assert "p_holm" not in tests, "the table given is not changed"


@pytest.mark.parametrize("repeated", [False, True])
def test_without_a_difference_tests_by_clusters_reject_in_about_one_of_twenty(repeated):
    design = Design(12, 30, run_correlation=0.4, item_correlation=0.2, repeated=repeated)
    clusters = design.clusters
    p_values = np.array(
        [
            clustered_test((after.astype(int) - before)[:, None], clusters).p_value
            for block in errors(design, 300, seed=1)
            for before, after in block
        ]
    )
    assert 0.015 <= (p_values <= 0.05).mean() <= 0.09, "three standard errors about 5 %"


def test_the_tests_of_a_comparison_have_the_columns_that_are_documented():
    tests = vp.compare("stdlib-claims/adversarial", resamples=20).tests
    documented = vp.documentation("tests")
    assert list(documented.index) == list(tests.columns)
    for column in ("role", "test"):
        assert set(tests[column]) == set(documented.loc[column, "type"].split(" | "))
    assert tests["assumes"].unique().tolist() == ["independent runs", "independent findings"]
    assert tests["p_holm"].notna().equals(tests["role"].eq("exploratory"))


def test_a_class_whose_moves_cancel_within_every_run_is_left_out_of_the_flips():
    moves = np.array([[1, 0], [0, 1], [0, -1], [0, 0]])
    result = clustered_test(moves, Clusters(np.array([0, 1, 1, 2]), np.arange(4)))
    assert result.statistic == 1


@pytest.mark.parametrize("n", [10, 40, 80, 150])
@pytest.mark.parametrize("discordance", [0.05, 0.1, 0.3, 0.5])
def test_of_independent_findings_the_interval_leaves_0_out_in_vain_in_one_of_twenty(n, discordance):
    """By enumeration of all results of n pairs, of which either condition alone is right in as many on average."""
    rows = np.arange(n)
    alone = Clusters(np.zeros(n, dtype=int), rows)
    rejected = 0.0
    for moved in range(n + 1):
        probability = binom.pmf(moved, n, discordance)
        for won in range(moved // 2 + 1 if probability > 1e-6 else 0):
            both = share_difference(rows < moved - won, rows >= 0, (rows >= n - won), rows >= 0, alone)
            either = 1 if 2 * won == moved else 2
            rejected += (both.p_value < 0.05) * either * probability * binom.pmf(won, moved, 0.5)
    assert rejected <= 0.054
