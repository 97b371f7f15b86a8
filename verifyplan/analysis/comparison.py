"""The result of comparing two readings of the same findings: tables to look at, chart and test."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Comparison:
    """Two readings (`a`, `b`) of the same findings, side by side.

    Intervals are 95 % percentile bootstrap intervals; `resampled` says of what. A share or metric whose
    denominator is 0 is NaN, with n = 0.
    """

    a: str
    """Label of the first reading, such as `collaborative`."""
    b: str
    """Label of the second reading, such as `adversarial`."""
    findings: pd.DataFrame
    """One row a finding: both classes, rules, rounds and censoring, and whether the class changed."""
    transitions: pd.DataFrame
    """4 x 4 counts: classes under `a` down, classes under `b` across, in the order of CLASSIFICATIONS."""
    mix: pd.DataFrame
    """`reading, classification, n, share, low, high`: how the findings spread over the classes."""
    truth: pd.DataFrame | None
    """`reading, metric, value, low, high, n` for precision, recall, F1, false-consensus rate and
    false-demotion rate; None where no finding's truth is known. n is the metric's denominator."""
    summary: pd.DataFrame
    """`metric, a, b, difference, low, high, n_a, n_b`: every metric under both readings."""
    tests: pd.DataFrame
    """`test, statistic, df, p_value, n`: Stuart-Maxwell on the classes, McNemar on held or not."""
    n_findings: int
    n_runs: int
    resampled: str
    """`runs` or `findings`: what the bootstrap drew (findings where there are fewer than 10 runs)."""
    synthetic: bool
    """True where findings or votes were generated, not observed."""
    notes: tuple[str, ...] = ()
    """What a reader must know: censored findings, filled bases, failed calls, bases of the intervals."""
