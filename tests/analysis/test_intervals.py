"""Shares over runs: the mean, and an interval that knows which runs are of one plan."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from verifyplan.analysis.plan_shares import clustered_share

HITS = st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=8)


def table(plans: list[list[bool]]) -> pd.DataFrame:
    """Runs by plan, and whether each found."""
    rows = [(f"{plan}-{at}", plan, hit) for plan, hits in enumerate(plans) for at, hit in enumerate(hits)]
    return pd.DataFrame(rows, columns=["run_id", "plan", "hit"])


@given(HITS)
def test_a_share_is_the_mean_over_runs_and_lies_in_its_interval(plans):
    made, runs = clustered_share(table(plans), "hit"), [hit for hits in plans for hit in hits]
    assert (made.n_plans, made.n_runs, made.n, made.found) == (len(plans), len(runs), len(runs), sum(runs))
    assert made.rate == np.mean(runs)
    assert 0 <= made.low <= made.rate + 1e-9
    assert made.rate - 1e-9 <= made.high <= 1


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_with_one_run_a_plan_it_is_the_interval_of_wilson(hits):
    made = clustered_share(table([[hit] for hit in hits]), "hit")
    assert (made.low, made.high) == pytest.approx(proportion_confint(sum(hits), len(hits), method="wilson"))


@given(st.lists(st.booleans(), min_size=2, max_size=10), st.integers(min_value=2, max_value=6))
def test_repeating_a_deterministic_run_makes_nothing_surer(hits, times):
    once, often = (
        clustered_share(table([[hit] for hit in hits]), "hit"),
        clustered_share(table([[hit] * times for hit in hits]), "hit"),
    )
    assert often.rate == pytest.approx(once.rate)
    assert often.high - often.low >= once.high - once.low - 1e-9


def test_many_runs_of_one_plan_are_one_plan():
    made = clustered_share(table([[True, False] * 10]), "hit")
    assert (made.low, made.high) == pytest.approx(proportion_confint(0.5, 1, method="wilson"))
    assert str(made).startswith("10 of 20 in 20 runs of 1 plans: 50%")


def test_no_runs_have_no_share():
    made = clustered_share(table([]), "hit")
    assert np.isnan(made.rate)
    assert str(made) == "none of 0 runs"
