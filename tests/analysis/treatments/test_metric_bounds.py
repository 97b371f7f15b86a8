"""Bounds of metrics against every choice of the classes that unseen votes leave open, one by one."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.analysis.cluster_intervals import share_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.metrics import FALSE, IS_HELD, TRUE, UNKNOWN, metrics_of_classes
from verifyplan.analysis.treatments.bounds import ClassBounds, held_states, metric_bounds
from verifyplan.protocol.vote import CLASSIFICATIONS

FINDING = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.sampled_from([FALSE, TRUE, UNKNOWN]))
"""Two classes that bound a finding, the recorded one, and its truth."""


def value(part: np.ndarray, whole: np.ndarray) -> float:
    return float(part.sum() / whole.sum()) if whole.sum() else np.nan


def naive_extremes(low: list[int], high: list[int], truth: np.ndarray) -> dict[str, tuple[float, float]]:
    """Return the extremes of every metric over all choices of classes between the bounds; NaN where none defines it."""
    values: dict[str, list[float]] = {}
    for classes in product(*(range(best, worst + 1) for worst, best in zip(low, high, strict=True))):
        for name, metric in metrics_of_classes(np.array(classes), truth).items():
            values.setdefault(name, []).append(value(metric.part, metric.whole))
    return {
        name: (np.nanmin(v), np.nanmax(v)) if not np.all(np.isnan(v)) else (np.nan,) * 2 for name, v in values.items()
    }


def one_run(n: int) -> Clusters:
    return Clusters(np.zeros(n, dtype=np.int64), np.arange(n))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(FINDING, min_size=1, max_size=4))
def test_bounds_are_the_extremes_over_all_choices(findings: list[tuple[int, int, int, int]]) -> None:
    classes = np.array([recorded for _, _, recorded, _ in findings])
    low = [max(a, b, c) for a, b, c, _ in findings]
    high = [min(a, b, c) for a, b, c, _ in findings]
    truth = np.array([true for *_, true in findings])
    table = metric_bounds(classes, ClassBounds(np.array(low), np.array(high)), truth, one_run(len(truth)))
    extremes = naive_extremes(low, high, truth)
    assert table["metric"].tolist() == list(extremes)
    np.testing.assert_allclose(table[["low_bound", "high_bound"]].to_numpy(), list(extremes.values()))


def test_intervals_hold_both_bounds_and_are_those_of_the_value_where_nothing_is_censored() -> None:
    random = np.random.default_rng(4)
    truth, classes = random.integers(0, 2, 200), random.integers(0, 4, 200)
    clusters = Clusters(np.arange(200) // 20, np.arange(200))
    known = metric_bounds(classes, ClassBounds(classes, classes), truth, clusters)
    for row, metric in zip(known.to_dict("records"), metrics_of_classes(classes, truth).values(), strict=True):
        interval = share_interval(metric.part, metric.whole, clusters)
        assert (row["value"], row["low"], row["high"]) == interval[:3]
        assert (row["low_bound"], row["high_bound"], row["n_censored"]) == (row["value"], row["value"], 0)
    open_ = np.where(np.arange(200) < 30, 3, classes)
    bounds = metric_bounds(classes, ClassBounds(open_, np.where(open_ == 3, 0, classes)), truth, clusters)
    assert (bounds["low"] <= bounds["low_bound"]).all()
    assert (bounds["high"] >= bounds["high_bound"]).all()
    assert (bounds["low_bound"] <= bounds["value"]).all()
    assert (bounds["high_bound"] >= bounds["value"]).all()
    assert (bounds["low"] <= known["low"]).all()
    assert (bounds["n_censored"] > 0).all()


def test_precision_where_nothing_is_held_for_sure_is_what_any_choice_gives() -> None:
    bounds = ClassBounds(np.array([3, 3]), np.array([0, 3]))
    table = metric_bounds(np.array([3, 3]), bounds, np.array([TRUE, FALSE]), one_run(2)).set_index("metric")
    figures = table[["low_bound", "high_bound", "n", "n_censored"]].to_numpy().tolist()
    assert np.isnan(table["value"]).tolist() == [name == "precision" for name in table.index]
    assert dict(zip(table.index, figures, strict=True))["precision"] == [1, 1, 0, 1]
    assert dict(zip(table.index, figures, strict=True))["recall"] == [0, 1, 1, 1]


def test_without_truth_there_are_shares_alone() -> None:
    bounds = ClassBounds(np.array([2, 0]), np.array([1, 0]))
    table = metric_bounds(np.array([2, 0]), bounds, np.array([UNKNOWN, UNKNOWN]), one_run(2))
    assert table["metric"].tolist() == [*CLASSIFICATIONS, "held"]
    assert table["low_bound"].tolist() == [0.5, 0, 0, 0, 0.5]
    assert table["high_bound"].tolist() == [0.5, 0.5, 0.5, 0, 1]


def test_held_means_full_or_partial_consensus() -> None:
    assert IS_HELD.tolist() == [True, True, False, False]
    assert held_states(ClassBounds(np.array([1, 3, 3]), np.array([0, 1, 2]))).tolist() == [2, 1, 0]
