"""Sentences that stand under more than one chart."""

from __future__ import annotations

from verifyplan.analysis.comparison import Comparison
from verifyplan.charts.labels import count, shortened
from verifyplan.rules.scoring import INFORMS as INFORMS  # for the charts that have it in their captions

SYNTHETIC = "Synthetic data: findings, votes or scores were generated, not observed."
INTERVALS = "95 % bootstrap intervals"


def readings(comparison: Comparison, width: int) -> tuple[str, str]:
    """The labels of both readings, cut to about `width` characters each and still told apart."""
    labels = shortened([comparison.a, comparison.b], width)
    return labels[comparison.a], labels[comparison.b]


def sentences(*parts: str) -> str:
    """The parts that say something, one after the other."""
    return " ".join(part for part in parts if part)


def intervals_are(comparison: Comparison) -> str:
    """What the intervals are, and what the bootstrap drew."""
    drawn = comparison.n_runs if comparison.resampled == "runs" else comparison.n_findings
    over = f"{comparison.resampled} ({count(drawn, comparison.resampled.removesuffix('s'))})"
    return f"Intervals: 95 % percentile bootstrap, resampled over {over}."


def synthetic_is(synthetic: bool) -> str:
    """The warning under charts of generated data, nothing under others."""
    return SYNTHETIC if synthetic else ""


def subtitle(line: str, synthetic: bool) -> list[str]:
    """Lines under a chart's title; generated data is marked there too, for pictures lose their captions."""
    return [line, "Synthetic data"] if synthetic else [line]
