"""How many independent votes the judges of a panel are worth, with an interval and in words (rule F3a)."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from verifyplan.analysis.cluster_intervals import LEVEL, Interval, clustered_variance
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.one_more_claim import variance_of_one_more
from verifyplan.analysis.panels.error_correlation import ErrorCorrelation

MAX_VOTES_PER_JUDGE = 10
"""Errors that would make a judge worth more votes than this exclude each other completely."""
MAX_OPEN_LOW = 1.1
"""An interval from here on, up to all votes, says nothing, and no number within it is said."""
MAX_LOG = 100.0
"""Votes differ by no larger factor than e to this, which keeps it a number."""


def effective_votes(n: float, correlation: float) -> float:
    """Return how many independent votes n votes are worth whose errors have this mean correlation (Kish 1965).

    n / (1 + (n - 1) r). Where r is below 0 it exceeds n; it is at least 1. NaN beyond 10 n: errors that exclude each
    other so far have no number of independent votes.

    >>> [round(effective_votes(5, r), 2) for r in (0, 0.25, 1)]
    [5.0, 2.5, 1.0]
    """
    spread = 1 + (n - 1) * correlation
    return float(n / spread) if spread * MAX_VOTES_PER_JUDGE >= 1 else np.nan


def effective_votes_interval(found: ErrorCorrelation, clusters: Clusters) -> tuple[Interval, Interval]:
    """Return the effective votes and the mean correlation with intervals.

    On the scale log(n_eff - 1), which is the logit of 1 / n_eff, the mean correlation is linearised and clustered as
    every difference is (rule F1). The variance allows for two more items, one on which all judges err and one on which
    half of them do, since few items may have neither by chance: so the intervals hold the truth in 93 % of simulations
    or more, with 12 items, too (docs/statistics.md). There is none where every error is common to all.
    """
    n, units = found.n_votes, len(found.residuals)
    value = effective_votes(n, found.mean)
    if not value > 1 + 1e-9 or n <= 1:
        return Interval(value, np.nan, np.nan, units), Interval(found.mean, np.nan, np.nan, units)
    variance, degrees = clustered_variance(found.residuals, clusters)
    variance += variance_of_one_more(found.unseen, units, clusters)
    half = float(stdtrit(degrees, (1 + LEVEL) / 2) * np.sqrt(variance))
    factor = np.exp(min(half * (n - 1) * value**2 / (n * (value - 1)), MAX_LOG))
    low, high = 1 + (value - 1) / factor, 1 + (value - 1) * factor
    least, most = (float((n / votes - 1) / (n - 1)) for votes in (high, low))
    return Interval(value, float(low), float(high), units), Interval(found.mean, least, most, units)


def votes_in_words(votes: Interval, n: float, decimals: int = 1, noun: str = "") -> str:
    """Return the effective votes of n votes with their interval; what exceeds n is "more than n".

    No panel is worth a number of votes that nobody cast: by how far errors exclude each other is never sure.

    >>> votes_in_words(Interval(2.16, 2.01, 2.32, 414), 6, noun=" votes")
    '2.2 votes [2.0, 2.3]'
    >>> votes_in_words(Interval(4.2, 2.4, 8.6, 432), 3), votes_in_words(Interval(1.7, 1.01, 9, 12), 4)
    ('more than 3 [2.4, more than 3]', 'from 1.0 to more than 4')
    """

    def number(votes: float) -> str:
        beyond = round(votes, decimals) > round(n, decimals)
        return f"more than {n:.1f}".removesuffix(".0") if beyond else f"{votes:.{decimals}f}"

    if says_nothing(votes, n):
        return f"from {number(votes.low)} to {number(votes.high)}{noun}"
    value, low, high = (number(each) for each in votes[:3])
    interval = "" if np.isnan(votes.low) or low == high else f" [{low}, {high}]"
    return f"{value}{noun}{interval}"


def why_unusual(votes: Interval, n: float) -> str:
    """Return why n votes have no interval, leave everything open, or are worth more than n; a predicate, or nothing."""
    if says_nothing(votes, n):
        return "have too few common errors to say"
    if np.isnan(votes.low):
        return "share every error, so there is no interval"
    return "err together less than independent judges would" if round(votes.value, 1) > round(n, 1) else ""


def says_nothing(votes: Interval, n: float) -> bool:
    """Return whether the interval leaves everything open, from one vote to as many as were cast."""
    return round(votes.low, 1) <= MAX_OPEN_LOW and votes.high >= n
