"""Dawid-Skene: equal to crowd-kit, to figures by hand, and to itself under other orders and names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import DawidSkene, OneCoinDawidSkene
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.analysis.aggregation.crowds import by_crowd_kit, simulated
from tests.longer import examples
from verifyplan.analysis.aggregation.dawid_skene import dawid_skene

ALL_ITERATIONS = -1e9  # a tolerance that ends nothing


def fitted(table: pd.DataFrame, iterations: int = 100, **options):
    unit, _ = pd.factorize(table["item"])
    worker, workers = pd.factorize(table["worker"])
    label, labels = pd.factorize(table["label"], sort=True)
    sizes = int(unit.max()) + 1, len(workers), len(labels)
    return dawid_skene(unit, worker, label, *sizes, iterations=iterations, **options)


def theirs(table: pd.DataFrame, iterations: int, one_coin: bool) -> np.ndarray:
    model = (OneCoinDawidSkene if one_coin else DawidSkene)(n_iter=iterations, tol=ALL_ITERATIONS)
    by_crowd_kit(model, table)
    return model.probas_.reindex(pd.unique(table["item"])).sort_index(axis=1).to_numpy()


@pytest.mark.parametrize("one_coin", [False, True])
@pytest.mark.parametrize("name", ["rte", "dog"])
def test_posteriors_are_those_of_crowd_kit_on_real_labels(name, one_coin):
    table = vp.datasets.votes(name)
    ours = fitted(table, 6, tolerance=0, one_coin=one_coin).posteriors
    np.testing.assert_allclose(ours, theirs(table, 6, one_coin), atol=1e-9)


cells = st.tuples(st.integers(0, 7), st.integers(0, 3))
tables = st.dictionaries(cells, st.integers(0, 2), min_size=2, max_size=28).map(
    lambda votes: pd.DataFrame([(item, worker, label) for (item, worker), label in votes.items()],
                               columns=["item", "worker", "label"])
)  # fmt: skip


@settings(max_examples=examples(32), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables.filter(lambda table: table["label"].nunique() > 1), st.booleans())
def test_posteriors_are_those_of_crowd_kit_on_any_table_with_ties_and_missing_votes(table, one_coin):
    ours = fitted(table, 4, tolerance=0, one_coin=one_coin)
    np.testing.assert_allclose(ours.posteriors, theirs(table, ours.iterations, one_coin), atol=1e-9)


@settings(max_examples=examples(48), deadline=None)
@given(tables, st.randoms(use_true_random=False), st.booleans())
def test_order_and_names_change_nothing(table, random, one_coin):
    order = random.sample(range(len(table)), len(table))
    other = table.iloc[order].assign(worker=9 - table["worker"].iloc[order], label=5 - table["label"].iloc[order])
    first, second = fitted(table, 4, one_coin=one_coin), fitted(other, 4, one_coin=one_coin)
    back = pd.DataFrame(second.posteriors[:, ::-1], index=pd.unique(other["item"])).reindex(pd.unique(table["item"]))
    np.testing.assert_allclose(first.posteriors, back, atol=1e-9)


def test_one_iteration_by_hand():
    """Two agree on item 0, and contradict on item 1: matrices from shares 1 and 1/2, then Bayes' rule."""
    table = pd.DataFrame({"item": [0, 0, 1, 1], "worker": [0, 1, 0, 1], "label": [0, 0, 0, 1]})
    fit = fitted(table, 1)
    np.testing.assert_allclose(fit.posteriors[0], [1, 1e-10 / 3], atol=1e-9)  # worker 0 always says 0
    likelihood = np.array([3 / 4 * 1 / 3, 1 / 4 * 1])  # prior, times what worker 1 says
    np.testing.assert_allclose(fit.posteriors[1], likelihood / likelihood.sum(), atol=1e-9)


def test_unanimous_workers_are_always_right():
    table = pd.DataFrame({"item": [0, 0, 1, 1, 2, 2], "worker": [0, 1] * 3, "label": [0, 0, 1, 1, 1, 1]})
    fit = fitted(table)
    np.testing.assert_allclose(fit.posteriors, [[1, 0], [0, 1], [0, 1]], atol=1e-9)
    np.testing.assert_allclose(fit.confusion, [np.eye(2)] * 2, atol=1e-9)
    np.testing.assert_allclose(fit.prior, [1 / 3, 2 / 3], atol=1e-9)
    assert fit.iterations == 1
    assert fit.change == pytest.approx(0, abs=1e-9)


def test_units_workers_and_labels_without_votes():
    unit, worker, label = np.array([0, 0, 2]), np.array([0, 1, 1]), np.array([1, 1, -1])
    fit = dawid_skene(unit, worker, label, 3, 3, 3)
    np.testing.assert_array_equal(fit.posteriors, [[0, 1, 0], [np.nan] * 3, [np.nan] * 3])
    assert np.isnan(fit.confusion[2]).all()
    assert fit.prior.tolist() == [0, 1, 0]
    none = dawid_skene(unit, worker, np.full(3, -1), 3, 3, 3)
    assert np.isnan(none.posteriors).all()
    assert none.iterations == 0


def test_planted_error_rates_are_found():
    accuracies = [0.95, 0.85, 0.8, 0.75, 0.65, 0.55]
    table = simulated(4000, accuracies, labels=3)
    right = fitted(table, one_coin=True).confusion[:, 0, 0]
    np.testing.assert_allclose(right, accuracies, atol=0.025)
    full = fitted(table).confusion
    np.testing.assert_allclose(np.einsum("wcc->wc", full), np.repeat(np.array(accuracies)[:, None], 3, 1), atol=0.06)


def test_the_number_of_iterations_and_the_tolerance_end_it():
    table = simulated(100, [0.7, 0.7, 0.7, 0.6])
    assert fitted(table, 3, tolerance=0).iterations == 3
    loose, tight = fitted(table, 1000, tolerance=1e-2), fitted(table, 1000, tolerance=1e-6)
    assert loose.iterations < tight.iterations < 1000
    assert loose.change <= 1e-2
    assert tight.change <= 1e-6
