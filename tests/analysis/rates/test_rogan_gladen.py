"""rule F3c: Rogan and Gladen's rate by its closed form, the interval of Lang and Reiczigel, and when it is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import verifyplan as vp
from verifyplan.errors import InputError


def rogan_gladen(*items, labels="by-truth", **arguments):
    return vp.corrected_rate(*items, labels=labels, method="rogan-gladen", **arguments)


def counts(found: int, of: int, true: tuple[int, int], false: tuple[int, int]):
    """Predictions and truth with `found` upheld among `of` others, of the true (upheld, all), and of the false."""
    said = [*_ones(found, of), *_ones(*true), *_ones(*false)]
    return said, [*[None] * of, *[1] * true[1], *[0] * false[1]]


def _ones(n: int, of: int) -> list[int]:
    return [1] * n + [0] * (of - n)


def test_the_closed_form_of_rogan_and_gladen():
    found = rogan_gladen(*counts(300, 1000, (90, 100), (20, 200)))
    assert found.value == pytest.approx((0.3 + 0.9 - 1) / (0.9 + 0.9 - 1), abs=1e-12)
    p, se, sp = 0.3 * 0.7 / 1000, 0.9 * 0.1 / 100, 0.9 * 0.1 / 200
    wanted = np.sqrt(p + found.value**2 * se + (1 - found.value) ** 2 * sp) / 0.8
    assert found.standard_error == pytest.approx(wanted, abs=1e-12)


def test_the_interval_of_lang_and_reiczigel():
    """Their formula, written out once more: Agresti-Coull counts, one success and one failure more, and a shift."""
    found = rogan_gladen(*counts(300, 1000, (90, 100), (20, 200)))
    z = norm.ppf(0.975)
    n, p = 1000 + z**2, (300 + z**2 / 2) / (1000 + z**2)
    se, sp = 91 / 102, 181 / 202
    rate = (p + sp - 1) / (se + sp - 1)
    shift = 2 * z**2 * (rate * se * (1 - se) / 102 - (1 - rate) * sp * (1 - sp) / 202)
    half = z * np.sqrt(p * (1 - p) / n + rate**2 * se * (1 - se) / 102 + (1 - rate) ** 2 * sp * (1 - sp) / 202)
    half /= se + sp - 1
    assert (found.low, found.high) == pytest.approx((rate + shift - half, rate + shift + half), abs=1e-12)


def test_with_a_perfect_panel_the_rate_is_its_own():
    found = rogan_gladen(*counts(30, 100, (500, 500), (0, 500)))
    assert found.value == pytest.approx(0.3)


@given(st.integers(0, 50), st.integers(31, 40), st.integers(0, 9))
def test_rate_and_interval_stay_between_0_and_1(found, true, false):
    result = rogan_gladen(*counts(found, 50, (true, 40), (false, 40)))
    known = 0 <= result.low <= result.value <= result.high <= 1 and result.low < result.high
    assert known or np.isnan([result.value, result.low, result.high]).all()


def test_a_rate_beyond_its_range_is_cut_and_said():
    found = rogan_gladen(*counts(8, 100, (90, 100), (10, 100)))
    assert found.value == found.low == 0 < found.high
    assert "is computed as -2.5 %, and is cut" in str(found)


@pytest.mark.parametrize(("upheld", "side"), [(0, "all below 0"), (300, "all above 100 %")])
def test_an_interval_beyond_its_range_is_no_rate(upheld, side):
    """The labels say that of three hundred items sixty are upheld at the least, and 240 at most."""
    found = rogan_gladen(*counts(upheld, 300, (80, 100), (20, 100)))
    assert np.isnan([found.value, found.low, found.high, found.standard_error]).all()
    assert found.rates.set_index("estimate").loc["corrected", ["value", "low", "high"]].isna().all()
    assert "corrected: not known" in str(found)
    assert f"{side}, which no rate can be: the panel seems to err differently on these items" in str(found)


def test_labels_that_may_be_chosen_by_truth_are_not_compared_in_width():
    assert "narrower" not in str(rogan_gladen(*counts(300, 1000, (90, 100), (20, 200))))


def test_a_panel_that_says_the_opposite_is_not_one_that_tells_nothing():
    found = rogan_gladen(*counts(30, 300, (10, 100), (90, 100)))
    assert np.isnan(found.value)
    assert "is -0.80, clearly below 0: on 200 labels the panel says the opposite of the truth" in str(found)
    assert "Are labels swapped?" in str(found)
    assert "may be 0" not in str(found)


@pytest.mark.parametrize("false", [(50, 100), (60, 100), (45, 100)])
def test_a_panel_that_tells_nothing_has_no_corrected_rate(false):
    found = rogan_gladen(*counts(30, 100, (50, 100), false))
    assert np.isnan([found.value, found.low, found.high, found.standard_error]).all()
    assert "the panel does not tell true from false" in str(found)
    assert "corrected: not known" in str(found)


def test_sensitivity_and_specificity_have_intervals():
    table = rogan_gladen(*counts(300, 1000, (90, 100), (20, 200))).rates.set_index("estimate")
    assert table.loc[["sensitivity", "specificity"], "value"].tolist() == pytest.approx([0.9, 0.9])
    assert table.loc[["sensitivity", "specificity"], "n"].tolist() == [100, 200]
    assert (table["width"] == table["high"] - table["low"]).all()


def test_labels_chosen_by_truth_do_no_harm():
    """Half of the labelled items are true, one in ten of the others."""
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.ones(200), np.zeros(200), rng.random(5000) < 0.1])
    said = np.where(truth == 1, rng.random(5400) < 0.8, rng.random(5400) < 0.1).astype(float)
    known = np.where(np.arange(5400) < 400, truth, np.nan)
    assert rogan_gladen(said, known).low < 0.1 < rogan_gladen(said, known).high
    sample = vp.corrected_rate(said, known, labels="random")
    assert sample.low > 0.1  # called a random sample it is wrong, and says what looks so
    assert any('say labels="by-verdict"' in note for note in sample.notes)


def test_copies_in_clusters_make_nothing_surer():
    said, truth = counts(60, 200, (45, 50), (5, 50))
    once = rogan_gladen(said, truth)
    copied = rogan_gladen(np.repeat(said, 4), np.repeat(truth, 4), clusters=np.repeat(range(300), 4))
    assert copied.value == pytest.approx(once.value)
    assert copied.high - copied.low > 0.9 * (once.high - once.low)


def test_the_rate_by_a_random_sample_is_that_of_all_items_and_by_truth_that_of_the_others():
    said, truth = counts(300, 1000, (90, 100), (20, 200))
    sample, by_truth = rogan_gladen(said, truth, labels="random"), rogan_gladen(said, truth)
    assert sample.value == pytest.approx(by_truth.value)
    assert (sample.population, by_truth.population) == ("all items", "items without truth")
    sizes = [found.rates.set_index("estimate").loc["corrected", "n"] for found in (sample, by_truth)]
    assert sizes == [1300, 1000]
    assert "labels-alone" in set(sample.rates["estimate"])
    assert "labels-alone" not in set(by_truth.rates["estimate"])  # somebody chose this share


def test_refusals_name_a_way_that_is_not_refused():
    nothing = counts(30, 100, (50, 100), (50, 100))
    assert "Prediction-powered then uses the labels alone" in str(rogan_gladen(*nothing, labels="random"))
    assert 'Label a random sample of the items: with labels="random"' in str(rogan_gladen(*nothing))
    assert 0 < vp.corrected_rate(*nothing, labels="random").value < 1
    beyond = counts(0, 300, (80, 100), (20, 100))
    assert "Are they a random sample?" in str(rogan_gladen(*beyond, labels="random"))
    assert 'Label a random sample of these items: labels="random"' in str(rogan_gladen(*beyond))


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ([1, 1, None, None], "truth: is false of no labelled item, so specificity is not known"),
        ([0, 0, None, None], "truth: is true of no labelled item, so sensitivity is not known"),
        ([0.5, 1, None, None], "truth: must be 1 or 0, got 0.5. Fix: give 1 and 0: rogan-gladen is for rates"),
    ],
)
def test_what_cannot_be_used_is_named(truth, message):
    with pytest.raises(InputError, match=message):
        rogan_gladen([1, 0, 1, 0], truth)
    with pytest.raises(InputError, match=r"predictions: must be between 0 and 1, as a rate's are, got 3.0"):
        rogan_gladen([3, 0, 1, 0], [1, 0, None, None])
