"""Metrics of conditions over the same findings, as sums over findings, and the tables that hold them (rule F1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.cluster_intervals import (
    LEVEL,
    AnyClusters,
    Difference,
    Interval,
    share_difference,
    share_interval,
)
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.kind_counts import KindCounts, kind_counts
from verifyplan.frames.codes import first_rows
from verifyplan.protocol.vote import CLASSIFICATIONS, HELD

Ints = npt.NDArray[Any]

FALSE, TRUE, UNKNOWN = range(3)
IS_HELD = np.array([classification in HELD for classification in CLASSIFICATIONS])
TRUTH_METRICS = ("precision", "recall", "f1", "false-consensus-rate", "false-demotion-rate")
CONCLUDED = ("accuracy", "held")
"""What a comparison concludes on unless another metric is named: the first of these that it has."""


class Metric(NamedTuple):
    """A share or ratio sum(part) / sum(whole) of findings; not defined where sum(whole) is 0."""

    part: Ints
    whole: Ints
    n: int
    """The denominator; for F1, which is a share of nothing, the number of findings whose truth is known."""

    @property
    def value(self) -> float:
        """The share or ratio; NaN where the denominator is 0."""
        whole = float(np.sum(self.whole))
        return float(np.sum(self.part)) / whole if whole else np.nan


class FindingKinds(NamedTuple):
    """Findings of a few kinds: those of one kind have the same classes under all conditions, and the same truth."""

    classes: Mapping[str, Ints]
    """The class of each kind under each condition, by position in CLASSIFICATIONS."""
    truth: Ints
    """FALSE, TRUE or UNKNOWN of each kind."""
    kind: Ints
    """The kind of each finding."""
    share: Ints | float = 1.0
    """What a finding of each kind counts for in a metric; of n findings of one unit, 1 / n where units are paired."""

    def counted(self, clusters: Clusters) -> KindCounts:
        """Return how many findings of each kind are in each cluster."""
        return kind_counts(self.kind, len(self.truth), clusters)

    def metrics(self, condition: str) -> dict[str, Metric]:
        """Return all metrics of one condition (see `metrics_of_classes`) and its accuracy, with an entry a kind.

        The accuracy is the share of findings that are held and true, or not held and false. Kinds without a class under
        the condition count for nothing.
        """
        classes = self.classes[condition]
        there = classes >= 0
        weight = np.bincount(self.kind, minlength=len(self.truth)) * there
        metrics = metrics_of_classes(classes, self.truth, weight)
        known = self.truth != UNKNOWN
        if known.any():
            right = known & (IS_HELD[classes] == (self.truth == TRUE))
            metrics["accuracy"] = Metric(right, known, int(np.sum(weight * known)))
        share = self.share * there
        if np.all(share == 1):
            return metrics
        return {name: Metric(each.part * share, each.whole * share, each.n) for name, each in metrics.items()}


def kinds_of(findings: pd.DataFrame, conditions: Sequence[str], share: Ints | None = None) -> FindingKinds:
    """Return the kinds of findings that have classes under some conditions; `share` is what each finding counts for."""
    columns = [class_codes(findings, name) for name in conditions]
    truth = kind = truth_codes(findings)
    for codes in columns:
        kind = kind * (len(CLASSIFICATIONS) + 1) + codes + 1
        kind = pd.factorize(kind)[0] if len(conditions) > 2 else kind  # of two all fit
    if share is not None:
        kind = kind * len(findings) + pd.factorize(share)[0]
    kind = np.asarray(pd.factorize(kind)[0], dtype=np.int64)
    first = first_rows(kind)
    return FindingKinds(
        {name: codes[first] for name, codes in zip(conditions, columns, strict=True)},
        truth[first],
        kind,
        1.0 if share is None else share[first],
    )


def metrics_of_classes(classes: Ints, truth: Ints, weight: Ints | int = 1) -> dict[str, Metric]:
    """Return all metrics of findings from their classes, by position in CLASSIFICATIONS, and their truth (TRUE ...).

    These are the share of each class and of held findings and, where known, truth. Held means full or partial
    consensus. Precision is true among held, recall held among true; the false-consensus rate is held among false, the
    false-demotion rate not held among true. F1 is 2 TP / (2 TP + FP + FN). An entry is of as many findings as `weight`
    says.
    """
    everything = np.ones(len(classes), dtype=bool)
    n = int(np.sum(weight * everything))
    shares = {name: Metric(classes == i, everything, n) for i, name in enumerate(CLASSIFICATIONS)}
    return shares | metrics_of_held(IS_HELD[classes], truth, weight)


def metrics_of_held(held: Ints, truth: Ints, weight: Ints | int = 1) -> dict[str, Metric]:
    """Return the metrics that rest on which findings are held: their share and, where known, truth."""
    shares: dict[str, tuple[Ints, Ints]] = {"held": (held, np.ones(len(held), dtype=bool))}
    true, false = truth == TRUE, truth == FALSE
    known = true | false
    if known.any():
        shares["precision"] = held & true, held & known
        shares["recall"] = held & true, true
        shares["f1"] = 2 * (held & true), (held & known).astype(np.int64) + true
        shares["false-consensus-rate"] = held & false, false
        shares["false-demotion-rate"] = ~held & true, true
    return {
        name: Metric(part, whole, int(np.sum(weight * (known if name == "f1" else whole))))
        for name, (part, whole) in shares.items()
    }


def class_codes(findings: pd.DataFrame, condition: str) -> Ints:
    """Return the class of each finding under a condition, by its position in CLASSIFICATIONS; -1 for none."""
    return findings[f"classification_{condition}"].cat.codes.to_numpy(dtype=np.int64)


def truth_codes(findings: pd.DataFrame) -> Ints:
    """Return FALSE, TRUE or UNKNOWN for each finding."""
    return findings["truth"].astype("Int8").fillna(UNKNOWN).to_numpy(dtype=np.int64)


def transition_counts(findings: pd.DataFrame, first: str, second: str) -> Ints:
    """Return findings counted by their class under the first condition and that under the second, of shape (4, 4)."""
    size = len(CLASSIFICATIONS)
    cell = class_codes(findings, first) * size + class_codes(findings, second)
    return np.bincount(cell, minlength=size**2).reshape(size, size)


def condition_table(metrics: Mapping[str, Metric], clusters: AnyClusters) -> pd.DataFrame:
    """Return `value, low, high, n` of every metric of one condition, by metric."""
    rows = [(*share_interval(metric.part, metric.whole, clusters)[:3], metric.n) for metric in metrics.values()]
    return pd.DataFrame(rows, columns=["value", "low", "high", "n"], index=pd.Index(metrics, name="metric"))


def differences_of(
    first: Mapping[str, Metric], second: Mapping[str, Metric], clusters: AnyClusters
) -> dict[str, Difference]:
    """Return the second condition minus the first by metric, over the same rows."""
    return {name: share_difference(*first[name][:2], *second[name][:2], clusters) for name in first}


def difference_table(
    differences: Mapping[str, Difference], changed: Interval | None, levels: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Return `value, low, high` of differences by metric, and of the share that `changed`, if findings are paired.

    `levels` are those of intervals that are not of 95 %.
    """
    levels = levels or {}
    rows = [each.interval(levels.get(name, LEVEL))[:3] for name, each in differences.items()]
    index = [*differences]
    if changed is not None:
        rows, index = [*rows, changed[:3]], [*index, "changed"]
    return pd.DataFrame(rows, columns=["value", "low", "high"], index=pd.Index(index, name="metric"))


def changed_share(first: Ints, second: Ints, clusters: AnyClusters) -> Interval:
    """Return the share of findings whose class differs, from the classes under two conditions."""
    return share_interval(first != second, np.ones(len(first)), clusters)


def mix_table(metric_tables: Mapping[str, pd.DataFrame], findings: pd.DataFrame) -> pd.DataFrame:
    """Return how the findings spread over the classes under each condition; n counts the findings of a class."""
    mix = _rows_of_conditions(metric_tables, CLASSIFICATIONS).rename(
        columns={"metric": "classification", "value": "share"}
    )
    counts = [
        np.bincount(class_codes(findings, name) + 1, minlength=len(CLASSIFICATIONS) + 1)[1:] for name in metric_tables
    ]
    mix["n"] = np.concatenate(counts).astype("int64")
    mix["classification"] = pd.Categorical(mix["classification"], categories=CLASSIFICATIONS, ordered=True)
    return mix[["condition", "classification", "n", "share", "low", "high"]]


def truth_table(metric_tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the truth metrics under each condition."""
    return _rows_of_conditions(metric_tables, TRUTH_METRICS)[["condition", "metric", "value", "low", "high", "n"]]


def _rows_of_conditions(tables: Mapping[str, pd.DataFrame], metrics: tuple[str, ...]) -> pd.DataFrame:
    return pd.concat(table.loc[list(metrics)].assign(condition=name) for name, table in tables.items()).reset_index()


def summary_table(tables: Mapping[str, pd.DataFrame], differences: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return every metric under every condition, then its difference from the first.

    The last row is `changed`, where findings are paired. A metric that not all conditions have is left out.
    """
    parts = [*tables.values(), *differences.values()]
    summary = pd.concat(parts, axis=1).set_axis(summary_columns(list(tables))[1:], axis=1)
    sizes = [f"{name}_n" for name in tables]
    if "changed" in summary.index:
        summary.loc["changed", sizes] = summary[sizes[0]].iloc[0]
    summary = summary.loc[list(next(iter(differences.values())).index)]
    return summary.astype(dict.fromkeys(sizes, "int64")).rename_axis("metric").reset_index()


def summary_columns(names: Sequence[str]) -> list[str]:
    """Return the columns of the summary of some conditions, in order.

    >>> summary_columns(["gpt", "claude"])[:5], summary_columns(["gpt", "claude"])[9:]
    (['metric', 'gpt', 'gpt_low', 'gpt_high', 'gpt_n'], ['difference', 'difference_low', 'difference_high'])
    """
    differences = [difference_column(names, name) for name in names[1:]]
    return [
        "metric",
        *(f"{name}{end}" for name in names for end in ("", "_low", "_high", "_n")),
        *(f"{name}{end}" for name in differences for end in ("", "_low", "_high")),
    ]


def difference_column(names: Sequence[str], name: str) -> str:
    """Return the column of the difference of a condition from the first: `difference`, with its name if there are more.

    >>> difference_column(["gpt", "claude"], "claude"), difference_column(["gpt", "claude", "gemini"], "gemini")
    ('difference', 'difference_gemini')
    """
    return "difference" if len(names) == 2 else f"difference_{name}"
