"""Read comparisons for charts, with labels in place of the names of conditions, and describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from verifyplan.analysis.compare import compare
from verifyplan.analysis.comparison import Comparison
from verifyplan.charts.labels import count, distinct_labels, plain, short
from verifyplan.charts.options import ChartOptions
from verifyplan.frames.load import Runs, as_runs

INTERVALS = "95 % intervals"


@dataclass(frozen=True)
class LabelledComparison:
    """The tables of a comparison that are drawn, with a label in place of each condition's name."""

    comparison: Comparison
    """The comparison under its own names."""
    label_of: Mapping[str, str]
    """The label of each condition, by its name."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the conditions."""
        return tuple(self.label_of.values())

    @property
    def mix(self) -> pd.DataFrame:
        """The mix of the comparison."""
        return self._labelled(self.comparison.mix)

    @property
    def truth(self) -> pd.DataFrame | None:
        """The truth metrics of the comparison; None where no truth is known."""
        return None if self.comparison.truth is None else self._labelled(self.comparison.truth)

    @property
    def bounds(self) -> pd.DataFrame | None:
        """The bounds of metrics that uncast votes could change; None if there is no such metric."""
        bounds = self.comparison.bounds
        is_open = bounds["low_bound"] < bounds["high_bound"]
        if not is_open.any():
            return None
        return self._labelled(bounds.loc[is_open, ["condition", "metric", "low_bound", "high_bound"]])

    @property
    def open_classes(self) -> dict[str, int]:
        """The findings whose class uncast votes could change, by label; only where there are some."""
        findings = self.comparison.findings
        counts = {
            label: int(findings[f"low_{name}"].astype("object").ne(findings[f"high_{name}"].astype("object")).sum())
            for name, label in self.label_of.items()
            if f"low_{name}" in findings
        }
        return {label: n for label, n in counts.items() if n}

    @property
    def without_votes(self) -> dict[str, int]:
        """The findings on which no vote counts, by label; only where there are some."""
        findings = self.comparison.findings
        rules = {label: f"rule_{name}" for name, label in self.label_of.items() if f"rule_{name}" in findings}
        counts = {label: int(findings[rule].astype("object").eq("no-votes").sum()) for label, rule in rules.items()}
        return {label: n for label, n in counts.items() if n}

    @property
    def transitions(self) -> pd.DataFrame:
        """The transitions of the comparison; SettingsError, under its own names, unless it has two conditions."""
        counts, (first, second) = self.comparison.transitions, self.labels
        return counts.rename_axis(index=first, columns=second)

    def distinct_labels(self, width: int) -> list[str]:
        """Return distinct labels of the conditions, each of at most about `width` characters."""
        return list(distinct_labels(self.labels, width).values())

    def _labelled(self, table: pd.DataFrame) -> pd.DataFrame:
        return table.assign(condition=table["condition"].map(self.label_of)) if "condition" in table else table


def read_comparison(data: Comparison | Runs, options: ChartOptions) -> LabelledComparison:
    """Return the comparison to draw, or that of both modes of runs; SettingsError for an unknown label."""
    comparison = data if isinstance(data, Comparison) else compare(as_runs(data, "data"))
    options.check_labels(comparison.conditions)
    label_of = {name: plain((options.labels or {}).get(name, name)) for name in comparison.conditions}
    return LabelledComparison(comparison, label_of)


def no_votes_sentence(labelled: LabelledComparison) -> str:
    """Return a sentence on findings without any vote that counts, whose class is not a judgement; empty without any."""
    counts = findings_under(labelled.without_votes)
    return f"No vote counts on {counts}: they are shown as not held, but nobody rejected them." if counts else ""


def findings_under(counts: Mapping[str, int]) -> str:
    """Return numbers of findings by condition in words, such as "2 findings under adversarial"; empty without any."""
    return " and ".join(f"{count(n, 'finding')} under {short(label, 40)}" for label, n in counts.items())


def interval_sentence(comparison: Comparison) -> str:
    """Return a sentence on the clusters over which a comparison's intervals were computed."""
    runs, claims = count(comparison.n_runs, "run"), f"claims of {count(comparison.n_runs, 'run')}"
    over = {"runs": runs, "claims": claims, "runs and claims": f"{runs} and their claims"}
    return f"Intervals: 95 %, by clusters ({over.get(comparison.resampled, comparison.resampled)})."
