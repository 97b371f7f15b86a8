"""Percentile bootstrap of counts, clustered by run where there are runs enough (rule F1)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from verifyplan.analysis.metrics import SHAPE, Array

MIN_RUNS = 10
"""With fewer runs than this, findings are resampled in place of runs."""

_CELLS = int(np.prod(SHAPE))
_BLOCK = 4_000_000  # weights held at once


def resample(counts: Array, resamples: int, seed: int) -> tuple[Array, str]:
    """Bootstrap totals of per-run counts, and what was resampled: `runs` or `findings`.

    `counts` has shape (runs, 4, 4, 3). Runs are drawn whole, since findings of one run share its workers; with
    fewer than 10 runs findings are drawn one by one, which is the same as a multinomial draw over the cells.
    """
    rng = np.random.default_rng(seed)
    runs = len(counts)
    if runs >= MIN_RUNS:
        flat = counts.reshape(runs, _CELLS).astype(np.float64)
        blocks = [rng.multinomial(runs, np.full(runs, 1 / runs), size=size) @ flat for size in _sizes(resamples, runs)]
        return np.concatenate(blocks).reshape(resamples, *SHAPE), "runs"
    total = counts.sum(axis=0).ravel()
    n = int(total.sum())
    drawn = rng.multinomial(n, total / n, size=resamples) if n else np.zeros((resamples, _CELLS))
    return drawn.reshape(resamples, *SHAPE), "findings"


def _sizes(resamples: int, runs: int) -> Iterator[int]:
    block = max(1, _BLOCK // runs)
    for start in range(0, resamples, block):
        yield min(block, resamples - start)


def interval(values: Array) -> tuple[float, float]:
    """The middle 95 % of resampled values; resamples in which the metric is undefined are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all-NaN: the interval is NaN, as it should be
        low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)
