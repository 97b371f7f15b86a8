"""Shares of runs that say yes, with an interval that knows that runs of one plan are alike."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

LEVEL = 0.95
"""The level of every interval."""


class Share(NamedTuple):
    """A share over runs: the mean, each run counted by itself, and its 95 % interval."""

    n_plans: int
    n_runs: int
    n: int
    """What is counted: a run, or a run and a defect of its plan."""
    found: int
    rate: float
    low: float
    high: float

    def __str__(self) -> str:
        """The share in words, with all its numbers."""
        if not self.n:
            return "none of 0 runs"
        runs = "" if self.n_runs == self.n_plans else f" in {self.n_runs} runs of {self.n_plans} plans"
        return f"{self.found} of {self.n}{runs}: {self.rate:.0%} [{self.low:.0%}, {self.high:.0%}]"


def share(table: pd.DataFrame, column: str) -> Share:
    """Return the share of rows whose boolean `column` is true; rows have a `run_id` and the `plan` of that run.

    The interval is Wilson's, for the number of independent rows that would be as sure (Korn and Graubard 1998; Dean
    and Pagano 2015): runs of one plan that agree count as one, and few plans widen it by Student's t. With one run a
    plan it is Wilson's own. Where all rows agree, the plans are what is counted. NaN where there are no rows.

    >>> share(pd.DataFrame({"run_id": ["a", "b"], "plan": ["p", "p"], "hit": [True, False]}), "hit").rate
    0.5
    """
    hits = table[column].to_numpy(dtype=float)
    n, found, n_plans = len(hits), int(hits.sum()), int(table["plan"].nunique())
    if not n:
        return Share(0, 0, 0, 0, np.nan, np.nan, np.nan)
    rate = found / n
    residuals = pd.Series(hits - rate).groupby(table["plan"].to_numpy()).sum()
    effective = _effective(n, n_plans, rate, float((residuals**2).sum()) / n**2)
    low, high = proportion_confint(rate * effective, effective, alpha=1 - LEVEL, method="wilson")
    return Share(n_plans, int(table["run_id"].nunique()), n, found, rate, float(low), float(high))


def _effective(n: int, n_plans: int, rate: float, variance: float) -> float:
    """How many independent rows would be as sure; between 1 and n."""
    if n_plans == n:
        return n
    if n_plans == 1 or not 0 < rate < 1:
        return n_plans
    independent = n if variance == 0 else min(n, rate * (1 - rate) / variance)
    tail = (1 + LEVEL) / 2
    return max(1.0, independent * float(student.ppf(tail, n - 1) / student.ppf(tail, n_plans - 1)) ** 2)
