"""Intervals of fitted weights: against an independent library, at the edges of the simplex, where nothing is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import t as student

from verifyplan import weights
from verifyplan.analysis.weights.least_squares import Sample, moments, shares, simplex, weight_intervals


def sample(n: int, true: tuple[float, ...], noise: float, rng: np.random.Generator) -> Sample:
    x = rng.random((n, len(true)))
    y = x @ true + noise * rng.standard_normal(n)
    return Sample(x, (y - y.mean()) / y.std(), np.arange(n))


def fitted(of: Sample):
    return shares(simplex(moments(of.x, of.y, np.zeros(len(of.y), dtype=np.int64))).slopes)[0]


def test_the_ends_are_where_a_robust_t_test_of_the_ratio_just_fails():
    """At an end w the contrast slope - w x sum of slopes is a t quantile away from 0, by statsmodels' HC2."""
    of = sample(60, (0.5, 0.3, 0.2), 0.1, np.random.default_rng(0))
    ends = np.array(weight_intervals(of, fitted(of)))
    model = sm.OLS(of.y, sm.add_constant(of.x)).fit(cov_type="HC2")
    quantile, correction = student.ppf(0.975, 60 - 4), np.sqrt(60 / 59)
    for end in ends:
        for column, weight in enumerate(end):
            contrast = np.r_[0, np.eye(3)[column] - weight]
            tested = model.t_test(contrast)
            assert abs(tested.effect.item() / tested.sd.item()) == pytest.approx(quantile * correction, rel=1e-6)


@pytest.mark.parametrize("true", [(1.0, 0.0, 0.0), (0.6, 0.4, 0.0), (0.5, 0.3, 0.2)])
@pytest.mark.parametrize("n", [20, 100])
def test_intervals_hold_weights_at_an_edge_and_within(true, n):
    rng = np.random.default_rng(n)
    held = []
    for _ in range(200):
        of = sample(n, true, 0.2, rng)
        low, high = weight_intervals(of, fitted(of))
        held.append((low <= np.array(true) + 1e-9) & (high >= np.array(true) - 1e-9))
    assert (np.mean(held, axis=0) > 0.89).all(), "four standard errors below 95 %"


def test_rows_of_a_unit_that_repeat_count_once():
    of = sample(40, (0.7, 0.3), 0.2, np.random.default_rng(1))
    copies = Sample(*(np.repeat(each, 5, axis=0) for each in of))
    assert np.array(weight_intervals(copies, fitted(of))) == pytest.approx(np.array(weight_intervals(of, fitted(of))))


def test_nothing_is_known_of_weights_where_the_scale_may_be_0():
    of = sample(30, (0.0, 0.0, 0.0), 1, np.random.default_rng(2))
    low, high = weight_intervals(of, fitted(of))
    assert (low.tolist(), high.tolist()) == ([0, 0, 0], [1, 1, 1])


def test_equal_columns_are_named_and_their_intervals_say_nothing():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.integers(1, 10, (120, 2)), columns=["wit", "depth"]).assign(twin=lambda t: t["wit"])
    overall = table["wit"] + table["depth"] + rng.standard_normal(120)
    found = weights.fit(table, overall, resamples=20, repeats=2)
    assert (
        "wit and twin are equal in every plan: how they share their weight is arbitrary, and only their sum means "
        "anything." in found.notes
    )
    ends = found.weights.set_index("dimension")[["low", "high"]]
    assert ends.loc[["wit", "twin"]].to_numpy().tolist() == [[0, 1], [0, 1]]
    assert ends.loc["depth", "low"] > 0.4
    assert ends.loc["depth", "high"] < 0.6
