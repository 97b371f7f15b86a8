"""Shares over runs of plans, with intervals by plan (rule G2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import share_interval
from verifyplan.analysis.clusters import Clusters, codes


class Share(NamedTuple):
    """A share over runs: the mean, each run counted by itself, and its 95 % interval."""

    n_plans: int
    n_runs: int
    n: int
    """The rows counted: one a run, one a run and a defect of its plan, or one a challenge."""
    found: int
    rate: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return the share in words, with all its numbers."""
        if not self.n:
            return "none of 0 runs"
        runs = "" if self.n_runs == self.n_plans else f" in {self.n_runs:,} runs of {self.n_plans:,} plans"
        return f"{self.found:,} of {self.n:,}{runs}: {self.rate:.0%} [{self.low:.0%}, {self.high:.0%}]"


def clustered_share(table: pd.DataFrame, column: str) -> Share:
    """Return the share of rows whose boolean `column` is true; rows have a `run_id` and the `plan` of that run.

    The interval is that of `share_interval` with plans as clusters: runs of one plan that agree count as one, and few
    plans widen it by Student's t. With one run a plan it is Wilson's own. NaN where there are no rows.

    >>> clustered_share(pd.DataFrame({"run_id": ["a", "b"], "plan": ["p", "p"], "hit": [True, False]}), "hit").rate
    0.5
    """
    n_plans, n_runs, n = int(table["plan"].nunique()), int(table["run_id"].nunique()), len(table)
    by_plan = Clusters(np.zeros(n, dtype=np.int64), codes(table["plan"]))  # what one plan says counts once
    rate, low, high, _ = share_interval(table[column].to_numpy(dtype=float), np.ones(n), by_plan)
    return Share(n_plans, n_runs, n, int(table[column].sum()), rate, low, high)
