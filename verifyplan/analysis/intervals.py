"""Intervals of 95 %: a percentile bootstrap clustered by run, and a share clustered by plan (rules F1, G2)."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

Array = npt.NDArray[Any]

MIN_RUNS = 10
"""With fewer runs than this, findings are resampled in place of runs."""

LEVEL = 0.95
"""The level of every interval."""

_MAX_WEIGHTS = 4_000_000  # held at once


def resampling_unit(n_runs: int) -> Literal["runs", "findings"]:
    """Return what is resampled of so many runs: whole runs, or with fewer than 10 runs single findings.

    >>> resampling_unit(10), resampling_unit(9)
    ('runs', 'findings')
    """
    return "runs" if n_runs >= MIN_RUNS else "findings"


def resample(counts: Array, resamples: int, seed: int) -> Array:
    """Return bootstrap totals of per-run counts, of shape (resamples, ...).

    `counts` has shape (runs, ...), its trailing axes are the cells. Runs are drawn whole, since findings of one run
    share its workers; with fewer than 10 runs findings are drawn one by one, as a multinomial draw over the cells.
    """
    rng = np.random.default_rng(seed)
    n_runs, shape = len(counts), counts.shape[1:]
    if resampling_unit(n_runs) == "runs":
        flat = counts.reshape(n_runs, -1).astype(np.float64)
        block = max(1, _MAX_WEIGHTS // n_runs)
        sizes = (min(block, resamples - start) for start in range(0, resamples, block))
        blocks = [rng.multinomial(n_runs, np.full(n_runs, 1 / n_runs), size=size) @ flat for size in sizes]
        return np.concatenate(blocks).reshape(resamples, *shape)
    total = counts.sum(axis=0).ravel()
    n = int(total.sum())
    drawn = rng.multinomial(n, total / n, size=resamples) if n else np.zeros((resamples, len(total)))
    return drawn.reshape(resamples, *shape)


def interval(values: Array) -> tuple[float, float]:
    """Return the middle 95 % of resampled values; resamples in which the metric is undefined are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all-NaN: the interval is NaN, as it should be
        low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)


class Share(NamedTuple):
    """A share over runs: the mean, each run counted by itself, and its 95 % interval."""

    n_plans: int
    n_runs: int
    n: int
    """The rows counted: one a run, or one a run and a defect of its plan."""
    found: int
    rate: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return the share in words, with all its numbers."""
        if not self.n:
            return "none of 0 runs"
        runs = "" if self.n_runs == self.n_plans else f" in {self.n_runs} runs of {self.n_plans} plans"
        return f"{self.found} of {self.n}{runs}: {self.rate:.0%} [{self.low:.0%}, {self.high:.0%}]"


def clustered_share(table: pd.DataFrame, column: str) -> Share:
    """Return the share of rows whose boolean `column` is true; rows have a `run_id` and the `plan` of that run.

    The interval is Wilson's, for the number of independent rows that would be as sure (Korn and Graubard 1998; Dean
    and Pagano 2015): runs of one plan that agree count as one, and few plans widen it by Student's t. With one run a
    plan it is Wilson's own. Where all rows agree, the plans are what is counted. NaN where there are no rows.

    >>> clustered_share(pd.DataFrame({"run_id": ["a", "b"], "plan": ["p", "p"], "hit": [True, False]}), "hit").rate
    0.5
    """
    hits = table[column].to_numpy(dtype=float)
    n, found, n_plans = len(hits), int(hits.sum()), int(table["plan"].nunique())
    if not n:
        return Share(0, 0, 0, 0, np.nan, np.nan, np.nan)
    rate = found / n
    residuals = pd.Series(hits - rate).groupby(table["plan"].to_numpy()).sum()
    effective = _effective_rows(n, n_plans, rate, float((residuals**2).sum()) / n**2)
    low, high = proportion_confint(rate * effective, effective, alpha=1 - LEVEL, method="wilson")
    return Share(n_plans, int(table["run_id"].nunique()), n, found, rate, float(low), float(high))


def _effective_rows(n: int, n_plans: int, rate: float, variance: float) -> float:
    """Return how many independent rows would be as sure; between 1 and n."""
    if n_plans == n:
        return n
    if n_plans == 1 or not 0 < rate < 1:
        return n_plans
    independent = n if variance == 0 else min(n, rate * (1 - rate) / variance)
    tail = (1 + LEVEL) / 2
    return max(1.0, independent * float(student.ppf(tail, n - 1) / student.ppf(tail, n_plans - 1)) ** 2)
