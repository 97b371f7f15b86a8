"""rule F7: a confidence sequence by betting holds at every look, where repeated tests do not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

import verifyplan as vp
from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.analysis.study_design.monitor import confidence_sequence
from verifyplan.errors import InputError, SettingsError

LOOKS = 100


def runs_without_difference(rng: np.random.Generator) -> np.ndarray:
    """Differences of runs of 20 findings, three in ten of which differ, as often one way as the other."""
    changed = rng.binomial(20, 0.3, LOOKS)
    return (2 * rng.binomial(changed, 0.5) - changed) / 20


@pytest.fixture
def coarse(monkeypatch):
    """Fewer candidates than are tested by default: the same sequence, its ends outward to 0.01, and quicker."""
    monkeypatch.setattr("verifyplan.analysis.study_design.monitor.GRID_POINTS", 201)


@pytest.mark.usefixtures("coarse")
def test_looking_a_hundred_times_excludes_no_difference_in_at_most_5_per_cent():
    rng = np.random.default_rng(0)
    n = np.arange(1, LOOKS + 1)
    excluded, rejected = [], []
    for _ in range(200):
        differences = runs_without_difference(rng)
        low, high = confidence_sequence(differences)
        excluded.append(bool(((low > 0) | (high < 0)).any()))
        mean = np.cumsum(differences) / n
        spread = np.sqrt(np.maximum(np.cumsum(differences**2) / n - mean**2, 1e-12) * n / np.maximum(n - 1, 1))
        tests = np.abs(mean) > student.ppf(0.975, np.maximum(n - 1, 1)) * spread / np.sqrt(n)
        rejected.append(bool(tests[4:].any()))
    assert np.mean(excluded) <= 0.05
    assert np.mean(rejected) > 0.25


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("value", [-0.4, 0.0, 0.3, 0.9])
def test_all_intervals_together_hold_the_difference(value):
    """Of runs of one finding each, whose differences are -1 or 1: the widest that there are."""
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(100):
        low, high = confidence_sequence(np.where(rng.random(LOOKS) < (1 + value) / 2, 1.0, -1.0))
        missed += bool(((low > value) | (high < value)).any())
    assert missed <= 5


def test_the_low_end_is_where_the_capital_reaches_its_bound():
    """The capital after twenty differences of 1, written out as a product."""
    low, _ = confidence_sequence(np.ones(20))
    grid = np.linspace(0, 1, 2001)[1:-1]
    number = np.arange(1, 21)[:, None]
    mean = (0.5 + number) / (number + 1)
    variance = (0.25 + np.cumsum((1 - mean) ** 2, axis=0)) / (number + 1)
    before = np.concatenate([[[0.25]], variance[:-1]])
    stake = np.sqrt(2 * np.log(40) / (before * number * np.log(number + 1)))
    capital = np.prod(1 + np.minimum(stake, 0.75 / grid) * (1 - grid), axis=0)
    assert low[-1] == pytest.approx(2 * (grid[capital < 40][0] - 0.0005) - 1, abs=1e-9)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60))
def test_intervals_never_widen_and_mirrored_differences_mirror_them(differences):
    low, high = confidence_sequence(np.array(differences))
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) <= 0).all()
    assert (low >= -1).all()
    assert (high <= 1).all()
    assert -confidence_sequence(-np.array(differences))[1] == pytest.approx(low, abs=1.1e-3)


def test_the_grid_may_be_taken_in_blocks(monkeypatch):
    differences = runs_without_difference(np.random.default_rng(2))
    whole = confidence_sequence(differences)
    monkeypatch.setattr("verifyplan.analysis.study_design.monitor._MAX_CELLS", 5_000)
    assert np.array_equal(whole, confidence_sequence(differences))


def test_runs_are_watched_in_their_order():
    found = vp.monitor("stdlib-claims/adversarial")
    findings = vp.compare("stdlib-claims/adversarial").findings
    kept = ["full-consensus", "partial-consensus"]
    first, second = (findings[f"classification_{name}"].isin(kept).astype(float) for name in found.conditions)
    wanted = (second - first).groupby(findings["run_id"], sort=False).mean()
    assert found.looks["run_id"].tolist() == wanted.index.tolist()
    assert found.looks["difference"].tolist() == pytest.approx(wanted.tolist())
    assert found.looks["mean"].iloc[-1] == pytest.approx(wanted.mean())
    assert found.looks["n"].sum() == len(findings)
    assert list(found.looks.columns) == [column.name for column in RESULT_TABLES["monitor"]]
    assert "adversarial minus collaborative, after 12 runs (synthetic)" in str(found)
    assert "none of the looks excludes 0" in str(found)


def test_the_first_look_that_excludes_0_is_named():
    differences = pd.Series([0.2, 0.1, 0.3] * 20, index=[f"run-{n}" for n in range(60)])
    found = vp.monitor(differences)
    first = int(found.looks.loc[found.looks["excludes_zero"], "look"].min())
    assert found.first_exclusion == first
    assert f"0 is excluded from look {first} on (run run-{first - 1})" in str(found)
    assert found.fixed.high - found.fixed.low < found.looks["high"].iloc[-1] - found.looks["low"].iloc[-1]


def test_one_run_has_no_interval_for_a_fixed_number():
    assert (
        str(vp.monitor([0.5])).splitlines()[2]
        == "with one run there is no interval for a number of runs fixed beforehand"
    )
    assert "nan" not in str(vp.monitor([0.5]))


@pytest.mark.parametrize("value", [0, 0.1, 0.5])
def test_an_interval_without_width_is_noticed(value):
    note = "All 50 runs have the same difference, so the interval for a number of runs fixed beforehand has zero width"
    assert note in str(vp.monitor([value] * 50))
    assert note not in str(vp.monitor([value] * 49 + [value + 0.1]))


def test_a_difference_that_drifts_is_noticed():
    assert "the difference seems to drift" in str(vp.monitor([0.8] * 60 + [-0.9] * 60))


@pytest.mark.parametrize(
    ("differences", "message"),
    [
        ([], "differences: must not be empty"),
        ([0.1, 2], "differences: must be numbers between -1 and 1, got 2 at run 2"),
        ([0.1, None], "differences: must be numbers between -1 and 1, got None at run 2"),
    ],
)
def test_what_cannot_be_watched_is_named(differences, message):
    with pytest.raises(InputError, match=message):
        vp.monitor(differences)
    with pytest.raises(SettingsError, match="level: must lie between 0 and 1, got 95"):
        vp.monitor([0.1], level=95)


def test_notebooks_show_results_with_every_text_as_text():
    shown = vp.monitor(pd.Series([0.1, 0.2], index=["<b>one</b>", "two"]))._repr_html_()
    assert "<table" in shown
    assert "<b>one" not in shown
    for result in (
        vp.sample_size(delta=0.1, discordance=0.3, icc=0),
        vp.power("stdlib-claims/adversarial", delta=0.1),
        vp.corrected_rate([1, 0, 1, 1], [1, 0, None, None], labels="random"),
    ):
        assert result._repr_html_().startswith("<p>")
        assert repr(result) == str(result)
