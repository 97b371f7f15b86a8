"""The result of comparing two readings of the same findings: tables to read, chart and test (rule F1)."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd

from verifyplan.errors import Problem, SettingsError, expect, one_of
from verifyplan.text import counted, did_you_mean


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
    """`metric, a, a_low, a_high, b, b_low, b_high, difference, low, high, n_a, n_b`: every metric under both
    readings, each with its interval; the difference is b - a, and low and high are its interval."""
    tests: pd.DataFrame
    """`test, method, statistic, df, p_value, n`: Stuart-Maxwell on the classes, McNemar on held or not."""
    agreement: pd.DataFrame
    """`reading, measure, worker_a, worker_b, value, n`: how far workers agree (see `agreement`). Two readings of
    one set have the same votes, and so the same rows."""
    cost: pd.DataFrame
    """`reading, measure, value, n_runs`: calls, rounds, votes and time (see `cost`)."""
    n_findings: int
    n_runs: int
    resampled: str
    """`runs` or `findings`: what the bootstrap drew (findings where there are fewer than 10 runs)."""
    synthetic: bool
    """True where findings or votes were generated, not observed."""
    notes: tuple[str, ...] = ()
    """Warnings for a reader: censored findings, filled bases, failed calls, bases of the intervals."""

    def in_words(self, metric: str) -> str:
        """Return one metric under both readings, each with its interval and its n; or the share that changed class.

        A rate may be named without `-rate`. Raises SettingsError for a metric that `.summary` does not have.
        """
        known = list(self.summary["metric"])
        metric = f"{metric}-rate" if metric not in known and f"{metric}-rate" in known else metric
        if metric not in known:
            message = f"{metric!r} is no metric of this comparison{did_you_mean(metric, known)}"
            unmeasured = "" if self.truth is not None else "; others need findings whose truth is known"
            raise SettingsError(Problem("metric", message, f"use one of {one_of(known)}{unmeasured}"))
        row = self.summary.set_index("metric").loc[[metric]].iloc[0]
        if metric == "changed":
            return f"{_share(row['difference'], row['low'], row['high'])} (n = {int(row['n_a'])})"
        sides = [(row[side], row[f"{side}_low"], row[f"{side}_high"], row[f"n_{side}"]) for side in "ab"]
        return " against ".join(f"{_share(value, low, high)} (n = {int(n)})" for value, low, high, n in sides)

    def __str__(self) -> str:
        """Return what differs, in about ten lines."""
        made = " (synthetic)" if self.synthetic else ""
        truths = [] if self.truth is None else list(self.truth["metric"].drop_duplicates())
        lines = [
            f"{self.a} against {self.b}: {counted(self.n_findings, 'finding')}{made} of {counted(self.n_runs, 'run')}",
            f"change class: {self.in_words('changed')}",
            *(f"{label}: {self._class_counts(label)}" for label in (self.a, self.b)),
            *(f"{metric}: {self.in_words(metric)}" for metric in truths),
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)

    def _class_counts(self, label: str) -> str:
        counts = self.mix[self.mix["reading"].eq(label)].sort_values("classification")
        return ", ".join(f"{n} {name}" for n, name in zip(counts["n"], counts["classification"], strict=True))

    def _repr_html_(self) -> str:
        """Return the comparison for a notebook; every text is shown as text."""
        parts = [f"<p>{escape(str(self)).replace(chr(10), '<br>')}</p>"]
        parts.append(f"<p>From the class under {escape(self.a)} (rows) to that under {escape(self.b)}:</p>")
        parts.append(self.transitions.to_html())
        parts.append("<p>Every metric; the difference is b - a, with its 95 % interval:</p>")
        parts.append(self.summary.to_html(index=False, float_format="{:.3f}".format, na_rep="-"))
        return "".join(parts)


def expect_comparison(value: object) -> None:
    """Raise InputError unless `value` is a Comparison."""
    expect(value, Comparison, "comparison", "give what compare returns")


def _share(value: float, low: float, high: float) -> str:
    """Return a share as a percentage with its interval; a dash where it is not defined."""
    return "-" if pd.isna(value) else f"{100 * value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
