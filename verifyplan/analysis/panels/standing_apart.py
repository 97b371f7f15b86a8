"""Find the workers whose figure differs clearly from the others', all comparisons taken together (rule F3)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.cluster_intervals import LEVEL, Interval, difference_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.leave_one_out import Floats
from verifyplan.frames.panel_votes import Ints

MIN_UNITS = 20
"""Of a worker with fewer units that others voted on, too, nothing is said."""

CLEAR_DIFFERENCE = 0.05
"""A worker differs clearly if its figure is farther than this from the others' and from the median worker's."""

Rows = npt.NDArray[np.intp]


class StandingApart(NamedTuple):
    """How far each worker's figure is from that of the others on the same units."""

    gaps: list[Interval]
    """The worker's figure minus the mean of the others', by worker, each with its own 95 % interval."""
    below: list[int]
    """The workers clearly below the others, the clearest first."""
    above: list[int]
    """The workers clearly above the others, likewise."""


def standing_apart(value: Floats, unit: Ints, worker: Ints, n_workers: int, clusters: Clusters) -> StandingApart:
    """Return how far each worker's mean is from the others', and who is clearly apart.

    `value`, `unit` and `worker` have one entry a vote; `clusters` has one a unit. Each vote is held against the mean
    of the other votes on its unit; units with one vote alone do not count. A worker is clearly apart if it has 20
    such units or more, its mean is more than 0.05 from that of the median worker, and the interval of its gap lies
    beyond 0.05 whole, at a level that rises with the number of workers that are looked at: Holm's procedure
    (1979) at 5 % in all. So of workers that are equal one is named in at most 5 of 100 panels, mostly in none.
    """
    total, n = np.bincount(unit, weights=value), np.bincount(unit)
    shared = n[unit] > 1
    others = np.zeros(len(value))
    others[shared] = (total[unit] - value)[shared] / (n[unit] - 1)[shared]
    rows = rows_of_workers(np.where(shared, worker, -1), n_workers)
    means = np.array([value[own].mean() if len(own) else np.nan for own in rows])

    def gap(number: int, level: float = LEVEL) -> Interval:
        own = rows[number]
        ones = np.ones(len(own))
        return difference_interval(others[own], ones, value[own], ones, clusters.take(unit[own]), level=level)

    gaps = [gap(number) for number in range(n_workers)]
    looked_at = [number for number in range(n_workers) if len(rows[number]) >= MIN_UNITS]
    if len(looked_at) < 2:
        return StandingApart(gaps, [], [])
    middle = float(np.median(means[looked_at]))
    below, above = (
        [number for number in _holm(gaps, looked_at, gap, sign) if sign * (means[number] - middle) > CLEAR_DIFFERENCE]
        for sign in (-1, 1)
    )
    return StandingApart(gaps, below, above)


def rows_of_workers(worker: Ints, n_workers: int) -> list[Rows]:
    """Return the positions of each worker's votes, in order; votes of worker -1 are nobody's."""
    order = np.argsort(worker, kind="stable")
    ends = np.searchsorted(worker[order], np.arange(n_workers + 1))
    return [order[start:end] for start, end in pairwise(ends)]


def _holm(gaps: list[Interval], looked_at: list[int], gap: Callable[[int, float], Interval], sign: int) -> list[int]:
    """Return whose gap lies beyond the clear difference in the direction of `sign`, the clearest first."""

    def clearness(number: int) -> float:
        beyond = sign * gaps[number].value - CLEAR_DIFFERENCE
        half = (gaps[number].high - gaps[number].low) / 2
        return beyond / half if half > 0 else np.inf * np.sign(beyond)

    found: list[int] = []
    for number in sorted(looked_at, key=clearness, reverse=True):
        interval = gap(number, together(len(looked_at) - len(found)))
        if min(sign * interval.low, sign * interval.high) <= CLEAR_DIFFERENCE:
            break
        found.append(number)
    return found


def together(n: int) -> float:
    """Return the level that each of `n` intervals needs so that all hold in 95 % of cases (Bonferroni).

    >>> together(5)
    0.99
    """
    return 1 - (1 - LEVEL) / n
