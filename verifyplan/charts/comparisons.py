"""Read comparisons for charts, with the labels in the place of the conditions' names, and say what is in them."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from verifyplan.analysis.compare import compare
from verifyplan.analysis.comparison import Comparison
from verifyplan.charts.labels import count, distinct_labels, plain
from verifyplan.charts.options import ChartOptions
from verifyplan.frames.load import Runs, as_runs

INTERVALS = "95 % bootstrap intervals"


def read_comparison(data: Comparison | Runs, options: ChartOptions) -> Comparison:
    """Return the comparison to draw, or that of both modes of runs; SettingsError for a label of no condition."""
    comparison = data if isinstance(data, Comparison) else compare(as_runs(data, "data"))
    names = comparison.conditions
    options.check_labels(names)
    labels = {name: plain((options.labels or {}).get(name, name)) for name in names}
    mix, truth = (_labelled(table, labels) for table in (comparison.mix, comparison.truth))
    classes = {f"classification_{name}": f"classification_{label}" for name, label in labels.items()}
    return replace(
        comparison,
        conditions=tuple(labels.values()),
        findings=comparison.findings.rename(columns=classes),
        mix=comparison.mix if mix is None else mix,
        truth=truth,
    )


def _labelled(table: pd.DataFrame | None, labels: dict[str, str]) -> pd.DataFrame | None:
    if table is None or "condition" not in table:
        return table
    return table.assign(condition=table["condition"].map(labels))


def interval_sentence(comparison: Comparison) -> str:
    """Say how a comparison's intervals were computed, and over what the bootstrap resampled."""
    n = comparison.n_runs if comparison.resampled == "runs" else comparison.n_findings
    over = f"{comparison.resampled} ({count(n, comparison.resampled.removesuffix('s'))})"
    return f"Intervals: 95 % percentile bootstrap, resampled over {over}."


def condition_labels(comparison: Comparison, width: int) -> list[str]:
    """Return distinct labels of the conditions of a comparison, each of at most about `width` characters."""
    return list(distinct_labels(comparison.conditions, width).values())
