"""rule F1: intervals by clusters hold the truth as often as they say, never vanish, and do not depend on order."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

import verifyplan as vp
from benchmarks.interval_coverage import FIGURES, RATES, RUNS, coverage, designs
from benchmarks.simulated_runs import Design, errors
from tests.longer import examples
from verifyplan.analysis.cluster_intervals import Interval, clustered_variance, difference_interval, share_interval
from verifyplan.analysis.clusters import Clusters, codes
from verifyplan.analysis.interval_notes import notes_on_intervals
from verifyplan.analysis.kind_counts import kind_counts
from verifyplan.analysis.metrics import summary_columns

ROOT = Path(__file__).parents[2]


@st.composite
def clustered_rows(draw, max_rows: int = 40):
    """Two binary figures of rows, the rows that count for them, and the runs and claims of the rows."""
    n = draw(st.integers(1, max_rows))
    codes = st.lists(st.integers(0, 5), min_size=n, max_size=n)
    bits = st.lists(st.booleans(), min_size=n, max_size=n)
    run, claim = (np.unique(draw(codes), return_inverse=True)[1] for _ in range(2))
    first, second, whole = (np.array(draw(bits)) for _ in range(3))
    return first & whole, second & whole, whole, Clusters(run, claim)


@settings(max_examples=examples(150))
@given(clustered_rows(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(rows, random):
    first, second, whole, clusters = rows
    order = random.sample(range(len(whole)), len(whole))
    shuffled = Clusters(clusters.run[order], clusters.claim[order])
    share, again = share_interval(first, whole, clusters), share_interval(first[order], whole[order], shuffled)
    assert share == pytest.approx(again, rel=1e-9, abs=1e-12, nan_ok=True)
    both = difference_interval(first, whole, second, whole, clusters)
    other = difference_interval(first[order], whole[order], second[order], whole[order], shuffled)
    assert both == pytest.approx(other, rel=1e-9, abs=1e-12, nan_ok=True)


@settings(max_examples=examples(150))
@given(clustered_rows())
def test_swapped_shares_mirror_their_difference_exactly(rows):
    first, second, whole, clusters = rows
    one = difference_interval(first, whole, second, whole, clusters)
    other = difference_interval(second, whole, first, whole, clusters)
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low), abs=0, nan_ok=True)


@settings(max_examples=examples(150))
@given(clustered_rows())
def test_intervals_hold_their_value_and_have_a_width_wherever_there_is_a_row(rows):
    first, second, whole, clusters = rows
    for made, least in (
        (share_interval(first, whole, clusters), 0),
        (difference_interval(first, whole, second, whole, clusters), -1),
    ):
        if not whole.any():
            assert np.isnan([made.value, made.low, made.high]).all()
            continue
        assert least <= made.low <= made.value <= made.high <= 1
        assert made.high - made.low > 1e-3


@settings(max_examples=examples(60))
@given(st.lists(st.booleans(), min_size=3, max_size=30), st.integers(2, 12))
def test_copies_of_one_run_make_nothing_surer(hits, copies):
    """A deterministic run that is repeated tells no more of other claims."""
    part, rows = np.array(hits), len(hits)
    once = share_interval(part, np.ones(rows), Clusters(np.zeros(rows, dtype=int), np.arange(rows)))
    runs = Clusters(np.repeat(np.arange(copies), rows), np.tile(np.arange(rows), copies))
    often = share_interval(np.tile(part, copies), np.ones(rows * copies), runs)
    assert often.value == pytest.approx(once.value)
    assert often.high - often.low >= 0.97 * (once.high - once.low)


def test_ten_copies_of_one_run_are_no_point_nor_is_a_rate_of_nothing():
    rows = np.arange(300)
    copies = Clusters(rows // 30, rows % 30)
    alike = share_interval(rows % 30 < 13, rows >= 0, copies)
    assert alike == pytest.approx((0.43333, 0.267, 0.616, 300), abs=2e-3)
    nothing = share_interval(rows < 0, rows >= 0, Clusters(rows // 30, rows))
    assert nothing == pytest.approx((0, 0, 0.0175, 300), abs=1e-3)
    unchanged = difference_interval(rows < 150, rows >= 0, rows < 150, rows >= 0, Clusters(rows // 30, rows))
    assert (unchanged.value, unchanged.low) == (0, -unchanged.high)
    assert 0.005 < unchanged.high < 0.02


@given(st.integers(1, 60), st.data())
def test_findings_of_one_run_have_the_interval_of_wilson(n, data):
    x = data.draw(st.integers(0, n))
    made = share_interval(np.arange(n) < x, np.ones(n), Clusters(np.zeros(n, dtype=int), np.arange(n)))
    assert (made.low, made.high) == pytest.approx(proportion_confint(x, n, method="wilson"))


def test_pairs_of_one_run_have_the_interval_of_bonett_and_price():
    """30 pairs, 8 of which change one way and 3 the other, by the formula of the paper."""
    n, up, down = 30, 8, 3
    rows = np.arange(n)
    first, second = rows >= 20, (rows < up) | (rows >= 20 + down)
    made = difference_interval(first, rows >= 0, second, rows >= 0, Clusters(np.zeros(n, dtype=int), rows))
    p_up, p_down = (up + 1) / (n + 2), (down + 1) / (n + 2)
    half = 1.959964 * np.sqrt((p_up + p_down - (p_up - p_down) ** 2) / (n + 2))
    assert made == pytest.approx((5 / 30, p_up - p_down - half, p_up - p_down + half, 30), abs=1e-6)


def test_a_ratio_counts_the_rows_behind_it():
    """F1 of 40 findings, 10 of each kind: 2 TP / (2 TP + FP + FN)."""
    kind = np.arange(40) % 4
    tp, wrong = kind == 0, (kind == 1) | (kind == 2)
    made = share_interval(2 * tp, 2 * tp + wrong, Clusters(np.zeros(40, dtype=int), np.arange(40)))
    variance = (10 * (2 * (1 - 0.5)) ** 2 + 20 * 0.5**2) / 40**2
    effective = 0.25 / variance
    assert made.value == 0.5
    assert (made.low, made.high) == pytest.approx(proportion_confint(effective / 2, effective, method="wilson"))


def test_where_both_sets_have_runs_of_their_own_both_vary():
    """Findings by the run of one set, in two runs of the other, under which the second figure differs."""
    rows = np.arange(240)
    first_run, second_run = rows // 20, rows % 2
    second = np.where(second_run == 0, rows % 3 == 0, rows % 7 < 5)
    alone = difference_interval(rows % 5 == 0, rows >= 0, second, rows >= 0, Clusters(first_run, rows))
    both = difference_interval(rows % 5 == 0, rows >= 0, second, rows >= 0, Clusters(first_run, rows, second_run))
    assert both.high - both.low > 3 * (alone.high - alone.low)


def test_variance_of_a_mean_by_run_is_that_of_the_means_of_runs():
    values = np.random.default_rng(3).normal(size=(40, 25)) + np.linspace(-1, 1, 40)[:, None]
    run = Clusters(np.repeat(np.arange(40), 25), np.arange(1000))
    variance, degrees = clustered_variance((values.ravel() - values.mean()) / 1000, run)
    assert variance == pytest.approx(values.mean(axis=1).var(ddof=1) / 40, rel=0.02)  # the prior takes half a run of 40
    assert 30 < degrees <= 39.5


@pytest.mark.parametrize(
    ("design", "least", "most"),
    [
        (Design(1, 20, (0.05, 0.02)), 88, 100),
        (Design(3, 20, (0.3, 0.15), 0.3), 90, 100),
        (Design(12, 20, (0.3, 0.15), 0.1), 91, 99),
        (Design(12, 20, (0.05, 0.02), 0.3), 90, 99.5),
        (Design(10, 40, (0.3, 0.15), 0.1, 0.6, repeated=True), 91, 99),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(design, least, most):
    """Bounds are four standard errors away from what docs/statistics.md has: only a broken method fails."""
    held = 100 * coverage(design, 300, seed=5)["held"]
    assert held.between(least, 100).all(), held
    assert held[["share", "changed"]].le(most).all(), held


def cells_out_of_bounds() -> list[tuple[Design, str, float]]:
    """Design, figure and coverage of each cell of docs/statistics.md that is marked as below or above its bounds."""
    text = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    rows = [
        line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith(("| fresh | ", "| repeated | "))
    ]
    measured = {tuple(row[:3]): row[3:] for row in rows if row[1] in RATES}
    return [
        (design, figure, float(held.strip("*")))
        for cell, design in designs()
        if cell["runs"] >= 9
        for figure, held in zip(
            FIGURES,
            measured[cell["claims"], cell["errors"], str(cell["correlation"])][RUNS.index(cell["runs"])].split(" / "),
            strict=True,
        )
        if held.startswith("*")
    ]


def test_where_intervals_hold_the_truth_less_or_more_often_a_note_says_how_often():
    """In samples of each such cell: the coverage that was measured is within what a note says."""
    cells = cells_out_of_bounds()
    assert len(cells) > 40
    for design, figure, held in cells:
        n, said = design.runs * design.findings, []
        for first, second in next(errors(design, 8, seed=1)):
            sizes = {"a_n": n, "b_n": n}
            summary = pd.DataFrame(
                [
                    {"metric": "share", "a": first.mean(), "b": second.mean(), "difference": 0.1, **sizes},
                    {"metric": "changed", "a": np.nan, "b": np.nan, "difference": (first != second).mean(), **sizes},
                ]
            )
            notes = " ".join(notes_on_intervals(summary, dict.fromkeys("ab", design.clusters)))
            ranges = re.findall(r"contain the true value in (\d+) to (\d+) %", notes)
            said.append(any(int(low) - 0.5 <= held <= int(high) for low, high in ranges))
        assert np.mean(said) >= 0.75, (design, figure, held)


@pytest.mark.parametrize("table", ["summary", "mix", "truth"])
def test_the_columns_of_a_comparison_are_declared_with_their_method(table):
    comparison = vp.compare("stdlib-claims/adversarial")
    declared = vp.documentation(table)
    if table == "summary":
        made = [name for name in summary_columns(["CONDITION", "other"]) if not name.startswith("other")]
    else:
        made = list(getattr(comparison, table))
    assert sorted(declared.index) == sorted(made)
    assert any("Wilson" in meaning for meaning in declared["meaning"])


def test_an_undefined_share_is_no_number():
    none = share_interval(np.zeros(3), np.zeros(3), Clusters(np.arange(3), np.arange(3)))
    assert isinstance(none, Interval)
    assert none.n == 0
    assert np.isnan(none.value)


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), st.integers(1, 5), st.booleans(), st.sampled_from([1, 4, 40]))
def test_figures_of_counted_kinds_are_those_of_the_rows(draw, n_kinds, of_two_sets, n_claims):
    rows = draw.draw(st.integers(1, 60))
    of_rows = lambda top: np.array(draw.draw(st.lists(st.integers(0, top), min_size=rows, max_size=rows)))  # noqa: E731
    clusters = Clusters(codes(of_rows(4)), codes(of_rows(n_claims - 1)), codes(of_rows(3)) if of_two_sets else None)
    kind = of_rows(n_kinds - 1)
    values = np.array(draw.draw(st.lists(st.integers(0, 1), min_size=4 * n_kinds, max_size=4 * n_kinds)))
    part, whole, other, whole_of_other = values.reshape(4, n_kinds)
    of_kinds = (part * whole, whole, other * whole_of_other, whole_of_other)
    counts = kind_counts(kind, n_kinds, clusters)
    chosen = np.flatnonzero(whole)
    taken = np.flatnonzero(whole[kind])
    for by_kind, by_row, of in (
        (counts, clusters, [each[kind] for each in of_kinds]),
        (counts.take(chosen), clusters.take(taken), [each[kind][taken] for each in of_kinds]),
    ):
        few = of_kinds if by_kind is counts else [each[chosen] for each in of_kinds]
        assert_close(share_interval(*few[:2], by_kind), share_interval(*of[:2], by_row))
        assert_close(difference_interval(*few, by_kind), difference_interval(*of, by_row))
        if len(of[0]):
            variances = (clustered_variance(each[0] - 0.25, kinds) for each, kinds in ((few, by_kind), (of, by_row)))
            assert_close(*variances)
    assert counts.n_runs == clusters.n_runs
    assert counts.take(chosen).n_runs == clusters.take(taken).n_runs


def assert_close(found, expected):
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-12, equal_nan=True)
