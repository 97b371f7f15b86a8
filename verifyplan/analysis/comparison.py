"""The result of comparing two readings of the same findings: tables to look at, chart and test."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

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

    def __str__(self) -> str:
        """What differs, in about ten lines."""
        moved = self.summary[self.summary["metric"] == "changed"].iloc[0]
        made = " (synthetic)" if self.synthetic else ""
        lines = [
            f"{self.a} against {self.b}: {self.n_findings} findings{made} of {self.n_runs} runs",
            f"{_share(moved, 'difference')} of the findings change class",
            *_classes(self),
            *_truths(self),
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The comparison for a notebook; every text is shown as text."""
        parts = [f"<p>{escape(str(self)).replace(chr(10), '<br>')}</p>"]
        parts.append(f"<p>From the class under {escape(self.a)} (rows) to that under {escape(self.b)}:</p>")
        parts.append(self.transitions.to_html())
        parts.append("<p>Every metric; the difference is b - a, with its 95 % interval:</p>")
        parts.append(self.summary.to_html(index=False, float_format="{:.3f}".format, na_rep="-"))
        return "".join(parts)


def _share(row: pd.Series, column: str) -> str:
    """A share as a percentage with its interval; a dash where it is not defined."""
    if pd.isna(row[column]):
        return "-"
    return f"{100 * row[column]:.1f} % [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"


def _classes(comparison: Comparison) -> list[str]:
    table = comparison.mix.pivot(index="reading", columns="classification", values="n")
    rows = [", ".join(f"{count} {name}" for name, count in table.loc[r].items()) for r in (comparison.a, comparison.b)]
    return [f"{label}: {row}" for label, row in zip((comparison.a, comparison.b), rows, strict=True)]


def _truths(comparison: Comparison) -> list[str]:
    if comparison.truth is None:
        return []
    table = comparison.truth.set_index(["metric", "reading"])
    told = []
    for metric in table.index.unique("metric"):
        rows = [table.loc[(metric, reading)] for reading in (comparison.a, comparison.b)]
        told.append(f"{metric}: " + " against ".join(f"{_share(row, 'value')} (n = {int(row['n'])})" for row in rows))
    return told
