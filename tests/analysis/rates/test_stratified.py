"""rule F3c: with labels chosen by verdict the rate is stratified by verdict; by other libraries and by brute force."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from statsmodels.stats.weightstats import DescrStatsW

import verifyplan as vp
from benchmarks import corrected_rates
from verifyplan.errors import InputError


def stratified(*items, **arguments):
    return vp.corrected_rate(*items, labels="by-verdict", **arguments)


def by_verdict(**verdicts: tuple[int, int, int]):
    """Predictions and truth: of each verdict how many items there are, how many have a label, and are true by it."""
    said, truth = [], []
    for name, (n, labelled, true) in verdicts.items():
        said += [{"accepted": 1, "tied": 0.5, "rejected": 0}[name]] * n
        truth += [1] * true + [0] * (labelled - true) + [None] * (n - labelled)
    return said, truth


def test_share_accepted_times_precision_plus_share_rejected_times_misses():
    found = stratified(*by_verdict(accepted=(600, 80, 60), rejected=(400, 20, 3)))
    assert found.value == pytest.approx(0.6 * 60 / 80 + 0.4 * 3 / 20, abs=1e-12)
    wanted = 0.6**2 * 0.75 * 0.25 / 80 + 0.4**2 * 0.15 * 0.85 / 20 + 0.6 * 0.4 * (0.75 - 0.15) ** 2 / 1000
    assert found.standard_error == pytest.approx(np.sqrt(wanted), abs=1e-12)  # Cochran 1977, 12.2
    table = found.rates.set_index("estimate")
    assert table["value"].to_dict() == pytest.approx(
        {"panel": 0.6, "true-among-accepted": 0.75, "true-among-rejected": 0.15, "corrected": 0.51}
    )
    assert table["n"].tolist() == [1000, 80, 20, 1000]
    assert (found.method, found.population) == ("stratified", "all items")
    assert "51.0 % [" in str(found)
    assert "among all items (stratified, labels by-verdict; 100 labelled and 900 other items)" in str(found)


def test_the_interval_of_price_and_bonett_with_the_variance_of_the_shares():
    """Their counts written out once more: 2 / m true and as many false labels more in each of m verdicts."""
    found = stratified(*by_verdict(accepted=(600, 80, 60), rejected=(400, 20, 3)))
    accepted, rejected, rate = 61 / 82, 4 / 22, 0.6 * 61 / 82 + 0.4 * 4 / 22
    variance = 0.36 * accepted * (1 - accepted) / 82 + 0.16 * rejected * (1 - rejected) / 22
    variance += 0.24 * (accepted - rejected) ** 2 / 1000
    half = student.ppf(0.975, 99) * np.sqrt(variance)
    assert (found.low, found.high) == pytest.approx((rate - half, rate + half), abs=3e-4)


@given(st.integers(0, 10_000))
def test_value_and_variance_are_those_of_weights_and_of_a_regression_on_verdicts(seed):
    """Labels weighted by what they stand for (inverse label rates), and White's variance of the verdicts' means."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(30, 300, 3)
    said = np.repeat([1.0, 0.5, 0.0], sizes)
    truth = np.where(np.arange(len(said)) % 7 < 3, (rng.random(len(said)) < 0.2 + 0.6 * said).astype(float), np.nan)
    found = stratified(said, truth)
    known = ~np.isnan(truth)
    verdicts = (said[:, None] == [1.0, 0.5, 0.0]).astype(float)
    weights = verdicts[known] @ (verdicts.sum(0) / verdicts[known].sum(0))
    assert found.value == pytest.approx(DescrStatsW(truth[known], weights=weights).mean, abs=1e-9)
    fitted = sm.OLS(truth[known], verdicts[known]).fit(cov_type="HC0")
    shares = verdicts.mean(0)
    of_shares = float(shares @ (fitted.params - found.value) ** 2) / len(said)
    by_statsmodels = float(shares @ fitted.cov_params() @ shares) + of_shares
    assert found.standard_error == pytest.approx(np.sqrt(by_statsmodels), abs=1e-9)


def test_the_standard_error_is_how_estimates_vary():
    """By brute force: samples of items, of which 40 accepted and 10 rejected ones are labelled."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(800):
        truth = (rng.random(400) < 0.3).astype(float)
        said = np.where(rng.random(400) < 0.15, 1 - truth, truth)
        chosen = [rng.choice(np.flatnonzero(said == kind), n, replace=False) for kind, n in ((1, 40), (0, 10))]
        known = np.full(400, np.nan)
        known[np.concatenate(chosen)] = truth[np.concatenate(chosen)]
        result = stratified(said, known)
        found.append((result.value, result.standard_error))
    value, error = np.array(found).T
    assert value.mean() == pytest.approx(0.3, abs=4 * value.std() / np.sqrt(800))
    assert np.sqrt(np.mean(error**2)) == pytest.approx(value.std(), rel=0.1)  # a few labels' variance is a bit low


@pytest.mark.parametrize("case", corrected_rates.CASES[:3], ids=lambda case: case.name)
@pytest.mark.parametrize("layout", ["independent", "sample of runs"])
def test_it_covers_in_the_designs_in_which_rogan_and_gladen_fails(case, layout):
    *_, by_strata, by_errors, _ = corrected_rates.design_cells(case, layout, 200)
    assert float(by_strata.split()[0]) >= 93
    bias = float(by_strata.partition("(")[2].partition(";")[0])
    assert abs(bias) < 1.5
    assert float(by_errors.split()[0]) < 93
    assert abs(float(by_errors.partition("(")[2].partition(";")[0])) > 8


@given(
    st.tuples(st.integers(1, 30), st.floats(0, 1), st.floats(0, 1)),
    st.tuples(st.integers(1, 30), st.floats(0, 1), st.floats(0, 1)),
)
def test_the_interval_holds_the_value_and_stays_a_rate(accepted, rejected):
    counts = []
    for labelled, extra, true in (accepted, rejected):
        counts.append((labelled + int(50 * extra) + 1, labelled, int(labelled * true)))
    found = stratified(*by_verdict(accepted=counts[0], rejected=counts[1]))
    n = counts[0][0] + counts[1][0]
    exact = sum(Fraction(size, n) * Fraction(true, labelled) for size, labelled, true in counts)
    assert found.value == pytest.approx(float(exact), abs=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


def test_no_error_among_few_labels_still_has_a_width():
    found = stratified(*by_verdict(accepted=(50, 5, 5), rejected=(950, 15, 0)))
    assert found.standard_error == pytest.approx(np.sqrt(0.05 * 0.95 / 1000))
    assert found.low < 0.05 < found.value + 0.1 < found.high


def test_ties_are_a_verdict_of_their_own():
    found = stratified(*by_verdict(accepted=(50, 20, 18), tied=(20, 10, 4), rejected=(30, 10, 1)))
    assert found.value == pytest.approx(0.5 * 0.9 + 0.2 * 0.4 + 0.3 * 0.1)
    assert "true among tied: 40.0 % [" in str(found)
    with pytest.raises(InputError, match=r"truth: is known of none of 3 tied items. Fix: label a random sample of th"):
        stratified(*by_verdict(accepted=(50, 20, 18), tied=(3, 0, 0), rejected=(30, 10, 1)))


def test_a_panel_that_accepts_all_has_a_single_verdict():
    assert stratified(*by_verdict(accepted=(50, 20, 18))).value == 0.9


def test_verdicts_without_a_label_are_named_all_at_once():
    wanted = "none of 30 tied items.*\n.*none of 7 rejected items"
    with pytest.raises(InputError, match=wanted):
        stratified(*by_verdict(accepted=(50, 20, 18), tied=(30, 0, 0), rejected=(7, 0, 0)))
    with pytest.raises(InputError, match=r"none of 1 accepted item\. "):
        stratified(*by_verdict(accepted=(1, 0, 0), rejected=(70, 10, 2)))


def test_scores_are_no_verdicts():
    wanted = r"predictions: must be verdicts, 1 \(accepted\), 0 \(rejected\) or 1/2 \(tied\), got 0.7. Fix: make them 1"
    with pytest.raises(InputError, match=wanted):
        stratified([0.7, 0.2, 1, 0], [1, 0, None, None])
    with pytest.raises(InputError, match=r"truth: must be 1 or 0, got 0.5. Fix: give 1 and 0: stratified is for rates"):
        stratified([1, 0, 1, 0], [0.5, 0, None, None])


def test_copies_in_clusters_make_nothing_surer_and_single_items_change_little():
    said, truth = by_verdict(accepted=(60, 30, 24), rejected=(140, 30, 3))
    alone, single = stratified(said, truth), stratified(said, truth, clusters=range(200))
    assert (alone.low, alone.high) == pytest.approx((single.low, single.high), abs=1e-9)
    copied = stratified(np.repeat(said, 4), np.repeat(truth, 4), clusters=np.repeat(range(200), 4))
    assert copied.value == pytest.approx(alone.value)
    assert copied.high - copied.low > 0.9 * (alone.high - alone.low)
    assert copied.standard_error > 0.9 * alone.standard_error


def test_runs_and_votes_bring_their_own():
    frame = pd.DataFrame(
        {"item": np.repeat(range(60), 2), "worker": list("ab") * 60, "label": ["y", "y", "x", "y", "x", "x"] * 20}
    )
    frame["truth"] = np.where(frame["item"] < 30, np.where(frame["item"] % 3 == 0, "y", "x"), None)
    found = stratified(frame)  # in turn accepted, tied and rejected; of the labelled ones the accepted are true
    assert found.value == pytest.approx(1 / 3)
    assert "20 items are tied" in str(found)
