"""rule F3c: prediction-powered inference equals the paper's, follows its closed forms, and says what it rests on."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy.stats import norm

import verifyplan as vp
from verifyplan.errors import InputError, TableError
from verifyplan.frames.load import as_runs


def powered(*items, **arguments):
    return vp.corrected_rate(*items, labels="random", **arguments)


def judged(seed: int, n: int = 60, others: int = 300, rate: float = 0.3, errors: float = 0.1):
    """What a panel says of items, and the truth of the first n of them."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n + others) < rate).astype(float)
    said = np.where(rng.random(n + others) < errors, 1 - truth, truth)
    return said, np.where(np.arange(n + others) < n, truth, np.nan)


def of_the_package(said, truth):
    known = ~np.isnan(truth)
    arguments = truth[known], said[known], said[~known]
    [estimate] = ppi_mean_pointestimate(*arguments)
    [low], [high] = ppi_mean_ci(*arguments, alpha=0.05)
    return estimate, (high - low) / 2 / norm.ppf(0.975)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scores", [False, True])
def test_value_and_standard_error_are_those_of_ppi_python(seed, scores):
    said, truth = judged(seed)
    if scores:
        noise = np.random.default_rng(seed)
        said, truth = 5 * said + noise.normal(size=len(said)), 5 * truth + noise.normal(size=len(said))
    found = powered(said, truth)
    estimate, error = of_the_package(said, truth)
    assert found.value == pytest.approx(estimate, abs=1e-9)
    assert found.standard_error == pytest.approx(error, abs=1e-9)
    assert found.binary is not scores


def test_a_panel_that_errs_never_gives_its_own_rate():
    truth = np.array([1, 0, 1, 1, 0, 0, 1, 0] * 5, dtype=float)
    said = np.concatenate([truth, truth, truth])
    found = powered(said, np.concatenate([truth, np.full(80, np.nan)]))
    assert found.value == pytest.approx(0.5)


def test_a_panel_that_says_the_same_of_all_adds_nothing():
    known = np.array([1, 0, 0, 1, 0, 0, 0, 1] * 5, dtype=float)
    found = powered(np.ones(200), np.concatenate([known, np.full(160, np.nan)]))
    assert (found.tuning, found.value) == (0, known.mean())
    assert "only the labels count" in str(found)


@given(st.integers(0, 10_000), st.integers(2, 40), st.sampled_from([0.02, 0.3, 0.5]))
def test_the_interval_holds_the_value_and_stays_a_rate(seed, n, rate):
    found = powered(*judged(seed, n, 50, rate))
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


def test_rows_may_come_in_any_order():
    said, truth = judged(1)
    order = np.random.default_rng(0).permutation(len(said))
    clusters = np.arange(len(said)) // 20
    first, second = (
        powered(said, truth, clusters=clusters),
        powered(said[order], truth[order], clusters=clusters[order]),
    )
    assert (first.low, first.high) == pytest.approx((second.low, second.high), abs=1e-12)


def test_clusters_of_a_single_item_change_little_and_copies_widen():
    said, truth = judged(2, n=100)
    alone, single = powered(said, truth), powered(said, truth, clusters=range(len(said)))
    assert (alone.low, alone.high) == pytest.approx((single.low, single.high), abs=1e-9)
    copies = [np.repeat(values, 5) for values in (said, truth, np.arange(len(said)))]
    copied = powered(copies[0], copies[1], clusters=copies[2])
    assert copied.high - copied.low > 0.9 * (alone.high - alone.low)


def test_labels_of_a_single_run_are_no_surer_than_independent_items():
    said, truth = judged(3, n=20, others=200)
    runs = np.arange(len(said)) // 20
    one_run, apart = powered(said, truth, clusters=runs), powered(said, truth)
    assert one_run.high - one_run.low > 0.95 * (apart.high - apart.low)
    assert "The labels come from 1 run" in str(one_run)


def test_rare_errors_that_no_label_shows_still_have_a_width():
    """The paper's interval knows of no error of the panel here."""
    said = np.concatenate([np.zeros(20), np.ones(2), np.zeros(198)])
    truth = np.concatenate([np.zeros(20), np.full(200, np.nan)])
    found = powered(said, truth)
    assert found.standard_error == 0
    assert found.high > 0.1


def test_below_200_labels_the_coverage_to_expect_is_said():
    words = {n: " ".join(powered(*judged(0, n=n)).notes) for n in (30, 60, 200)}
    assert "There are 30 labels: with 20 labels such intervals contained the true value in 92 to 100 %" in words[30]
    assert (
        "There are 60 labels: with 50 to 200 labels such intervals contained the true value in 94 to 100 %" in words[60]
    )
    assert "labels:" not in words[200]


def test_labels_of_repeated_claims_count_once_among_few():
    said, truth = judged(0, n=60)
    frame = pd.concat(
        pd.DataFrame({"item": range(360), "run": run, "worker": "a", "label": said.astype(int), "truth": truth})
        for run in range(5)
    )
    assert "There are 60 labels" in str(powered(frame))


def test_the_words_have_every_figure_with_its_n():
    words = str(powered(*judged(0)))
    assert words.startswith("corrected: ")
    assert "60 labelled and 300 other items" in words
    assert "(n = 360)" in words
    assert "narrower than that of the labels alone" in words


def test_truths_may_be_of_any_kind_that_says_1_and_0():
    said, truth = judged(5)
    wanted = powered(said, truth).value
    yesno = pd.Series(np.where(np.isnan(truth), None, truth == 1))
    assert powered(pd.Series(said == 1), yesno).value == wanted
    assert powered(said, yesno.astype("boolean")).value == wanted
    assert powered(list(said), list(truth)).value == wanted


def test_items_that_the_panel_said_nothing_of_are_counted():
    said, truth = judged(6)
    said[[0, 100]] = np.nan
    found = powered(said, truth)
    assert (found.n_labelled, found.n_unlabelled) == (59, 299)
    assert "2 items are left out" in str(found)


def partly_labelled(share: float = 0.3):
    runs = as_runs("stdlib-claims/adversarial")
    findings = runs.findings.copy()
    findings.loc[np.random.default_rng(0).random(len(findings)) > share, "truth"] = None
    return replace(runs, findings=findings)


def test_runs_bring_what_held_and_what_is_true():
    runs = partly_labelled()
    held = runs.findings["classification"].isin(["full-consensus", "partial-consensus"])
    by_hand = powered(held, runs.findings["truth"], clusters=runs.findings["run_id"])
    found = powered(runs)
    assert (found.value, found.n_labelled) == (by_hand.value, by_hand.n_labelled)
    assert found.synthetic
    assert abs(found.value - 0.5) < 0.1


def test_votes_bring_their_majority():
    frame = pd.DataFrame(
        {"item": np.repeat(range(60), 3), "worker": list("abc") * 60, "label": ["x", "x", "y", "y", "y", "x"] * 30}
    )
    frame["truth"] = np.where(frame["item"] < 20, np.where(frame["item"] % 2 == 0, "x", "y"), None)
    votes = vp.from_table(frame, item="item", worker="worker", label="label", truth="truth")
    found = powered(votes, positive="x")
    assert found.value == pytest.approx(0.5)
    assert "The rate is that of 'x'" in str(found)
    with pytest.raises(TableError, match="positive: must name the label whose rate is wanted, got 'z'"):
        powered(votes, positive="z")


def test_200_labels_correct_five_real_judges():
    """`judge-scores-balanced`: their majority upholds 36 % of claims, and 49 % are true."""
    votes = vp.datasets.votes("judge-scores-balanced")
    items = votes["item"].drop_duplicates()
    known = items.sample(200, random_state=0)
    frame = votes.assign(truth=votes["truth"].where(votes["item"].isin(known)))
    truth = votes.drop_duplicates("item")["truth"].astype(str).eq(str(votes["truth"].max())).mean()
    for method in ("prediction-powered", "rogan-gladen"):
        found = powered(frame, method=method)
        rates = found.rates.set_index("estimate")
        assert not found.synthetic
        assert rates.loc["panel", "high"] < truth - 0.05
        assert found.low < truth < found.high
    widths = powered(frame).rates.set_index("estimate")["width"]
    assert widths["corrected"] < 0.9 * widths["labels-alone"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 0, 1], [1, None]), "truth: has 2 values, predictions have 3"),
        (([1, 0, 1], 3), "truth: must be a list, array or column, got 3"),
        (([1, 0, "so"], [1, None, None]), "predictions: holds 'so', which is not a number"),
        (([1, 0, np.inf, np.inf], [1, 0, 1, None]), "predictions: must be finite, got inf at item 3. Fix: leave such"),
        (([1, 0, 1, 0], [1, -np.inf, 1, None]), "truth: must be finite, got -inf at item 2"),
        (([1, 0, 1], [1, None, None]), "truth: is known of 1 item, and a correction needs at least 2"),
        (([1, 0, 1], [1, 0, 1]), "truth: is known of all 3 items, so there is no rate to correct"),
    ],
)
def test_what_cannot_be_used_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        powered(*arguments)


def test_columns_of_other_tables_are_refused():
    with pytest.raises(InputError, match="truth: has another index than predictions"):
        powered(pd.Series([1, 0, 1]), pd.Series([1, None, None], index=[2, 1, 0]))


def test_clusters_without_a_name_and_arguments_that_runs_bring_are_refused():
    with pytest.raises(InputError, match="clusters: is missing for 1 item"):
        powered([1, 0, 1, 0], [1, 0, None, None], clusters=["a", None, "b", "b"])
    with pytest.raises(InputError, match="clusters: was given, got 3"):
        powered("contract", clusters=3)


@pytest.mark.parametrize(
    ("scale_said", "scale_truth", "note"),
    [
        (100, 1, "Predictions range from 0 to 100, the truth from 0 to 1: the scales differ"),
        (1, 100, "Predictions range from 0 to 1, the truth from 0 to 100: the scales differ"),
        (5, 5, ""),
        (1, 1, ""),
    ],
)
def test_predictions_on_another_scale_than_the_truth_are_noticed(scale_said, scale_truth, note):
    said, truth = judged(0)
    words = str(powered(scale_said * said, scale_truth * truth))
    assert ("the scales differ" in words, note in words) == (bool(note), True)
    assert ("make them 1 and 0 by a threshold" in words) == (scale_said > scale_truth)


def test_ranges_without_a_common_figure_are_other_scales_and_cautious_scores_are_not():
    rng = np.random.default_rng(0)
    truth = np.where(np.arange(200) < 60, rng.uniform(1, 5, 200), np.nan)
    assert "the scales differ" in str(powered(rng.uniform(11, 15, 200), truth))
    assert "the scales differ" not in str(powered(rng.uniform(2, 4, 200), truth))
    assert "the scales differ" not in str(powered(np.full(200, 3.0), truth))


def test_percentages_have_a_space():
    words = str(powered(*judged(0)))
    assert " % narrower than that of the labels alone" in words
    assert re.search(r"\d%", words) is None
