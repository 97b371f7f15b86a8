"""Bound the metrics of findings whose classes unseen votes could change: the extremes over all choices (rule R4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.cluster_intervals import share_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.metrics import FALSE, IS_HELD, TRUE, UNKNOWN, Metric, metrics_of_classes, metrics_of_held
from verifyplan.analysis.treatments.class_bounds import ClassBounds
from verifyplan.protocol.vote import CLASSIFICATIONS

Ints = npt.NDArray[Any]

NOT_HELD, EITHER, HELD_SURELY = range(3)
"""What unseen votes can make of a finding: not held in any case, either, held in any case."""

_FALLS = ("false-consensus-rate", "false-demotion-rate")
"""Metrics that are lowest where all others are highest."""


BOUNDS_COLUMNS = ["metric", "value", "low", "high", "low_bound", "high_bound", "n", "n_censored"]
"""The columns of `metric_bounds`."""


def held_states(bounds: ClassBounds) -> Ints:
    """Return NOT_HELD, EITHER or HELD_SURELY for each finding, from the bounds of its class."""
    states: Ints = IS_HELD[bounds.low].astype(np.int64) + IS_HELD[bounds.high]
    return states


def metric_bounds(classes: Ints, bounds: ClassBounds, truth: Ints, clusters: Clusters) -> pd.DataFrame:
    """Return every metric of one condition with its bounds, and an interval that contains those of both bounds.

    Each metric rises or falls with every finding that is held, by its truth: precision, recall and F1 are lowest where
    of the findings that can be either the true ones are not held and the false ones are. Where nothing is then held,
    precision is that of the other extreme, the only value that any choice gives.

    Args:
        classes: the class of each finding by the votes that were cast, by position in CLASSIFICATIONS.
        bounds: the worst and the best class that unseen votes can give; both are the class where none is missing. A
            class outside them, which a finding can have while votes are missing, widens them.
        truth: FALSE, TRUE or UNKNOWN of each finding (`metrics.truth_codes`).
        clusters: which findings are not independent.

    Returns:
        A row a metric, in the order of `metrics_of_classes`: `metric, value, low, high` (the interval of 95 %, from the
        lower end at the low bound to the upper end at the high bound), `low_bound, high_bound, n, n_censored` (the
        findings of its denominator whose part in it unseen votes can change). Where nothing is censored, the bounds are
        the value, and the interval that of the value. NaN where a metric is not defined.
    """
    bounds = ClassBounds(np.maximum(bounds.low, classes), np.minimum(bounds.high, classes))
    lowest, highest, censored = _extremes(bounds, truth)
    rows = [
        (name, *figures_of(lowest[name], metric, highest[name], clusters), metric.n, int(censored[name].sum()))
        for name, metric in metrics_of_classes(classes, truth).items()
    ]
    return pd.DataFrame(rows, columns=BOUNDS_COLUMNS)


def figures_of(lowest: Metric, metric: Metric, highest: Metric, clusters: Clusters) -> tuple[float, ...]:
    """Return `value, low, high, low_bound, high_bound` of a metric from what it is and what it is at its bounds.

    The interval contains those of the three. A bound that is not defined is the other.
    """
    same = np.array_equal(lowest.part, highest.part) and np.array_equal(lowest.whole, highest.whole)
    choices = [metric] if same else [lowest, metric, highest]
    ends = [share_interval(choice.part, choice.whole, clusters) for choice in choices]
    low, value, high = ends[0].value, ends[len(ends) // 2].value, ends[-1].value
    interval = np.fmin.reduce([end.low for end in ends]), np.fmax.reduce([end.high for end in ends])
    return value, *interval, (high if np.isnan(low) else low), (low if np.isnan(high) else high)


def _extremes(bounds: ClassBounds, truth: Ints) -> tuple[dict[str, Metric], dict[str, Metric], dict[str, Ints]]:
    """Return each metric at its low and at its high bound, and which findings make the difference."""
    states = held_states(bounds)
    ranges: dict[str, tuple[Ints, Ints]] = {"held": (states == HELD_SURELY, states != NOT_HELD)}
    for position, classification in enumerate(CLASSIFICATIONS):
        possible = (bounds.high <= position) & (position <= bounds.low)
        ranges[classification] = possible & (bounds.high == bounds.low), possible
    everything = np.ones(len(truth), dtype=bool)
    lowest = {name: Metric(sure, everything, len(truth)) for name, (sure, _) in ranges.items()}
    highest = {name: Metric(possible, everything, len(truth)) for name, (_, possible) in ranges.items()}
    censored = {name: possible & ~sure for name, (sure, possible) in ranges.items()}
    sure, possible = ranges["held"]
    worst = metrics_of_held(np.where(truth == FALSE, possible, sure), truth)
    best = metrics_of_held(np.where(truth == FALSE, sure, possible), truth)
    for name in worst.keys() - {"held"}:
        lowest[name], highest[name] = (best[name], worst[name]) if name in _FALLS else (worst[name], best[name])
        censored[name] = (states == EITHER) & _counted(name, truth)
    return lowest, highest, censored


def _counted(metric: str, truth: Ints) -> Ints:
    """Return which findings a metric of truth counts."""
    match metric:
        case "recall" | "false-demotion-rate":
            counted: Ints = truth == TRUE
        case "false-consensus-rate":
            counted = truth == FALSE
        case _:
            counted = truth != UNKNOWN
    return counted
