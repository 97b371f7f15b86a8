"""Metrics of two conditions over the same findings, as functions of counts, and the tables that hold them (rule F1).

Every function works on `counts` of shape (..., 4, 4, 3): class under the first condition, class under the second,
truth (false, true, unknown). Leading axes are resamples, so an interval costs one call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.intervals import Array, interval
from verifyplan.protocol.vote import CLASSIFICATIONS, HELD

SHAPE = (len(CLASSIFICATIONS), len(CLASSIFICATIONS), 3)
FALSE, TRUE, UNKNOWN = range(3)
FIRST, SECOND = range(2)
IS_HELD = np.array([classification in HELD for classification in CLASSIFICATIONS])
TRUTH_METRICS = ("precision", "recall", "f1", "false-consensus-rate", "false-demotion-rate")


class Metric(NamedTuple):
    """A share and its denominator; the value is NaN where the denominator is 0."""

    value: Array
    n: Array


def _ratio(part: Array, whole: Array) -> Metric:
    with np.errstate(invalid="ignore", divide="ignore"):
        return Metric(np.where(whole > 0, part / whole, np.nan), whole)


def metrics_of(counts: Array, condition: int) -> dict[str, Metric]:
    """Return all metrics of one condition (FIRST or SECOND): the share of each class and of held findings, and truth.

    Held means full or partial consensus. Precision is true among held, recall held among true; the false-consensus
    rate is held among false, the false-demotion rate not held among true. n is the denominator; for F1, which is a
    share of nothing, it is the number of findings whose truth is known.
    """
    by_class = _by_class(counts, condition)
    total = by_class.sum(axis=(-1, -2))
    metrics: dict[str, Metric] = {
        name: _ratio(by_class[..., i, :].sum(axis=-1), total) for i, name in enumerate(CLASSIFICATIONS)
    }
    held = by_class[..., IS_HELD, :].sum(axis=-2)
    metrics["held"] = _ratio(held.sum(axis=-1), total)
    true, false = by_class[..., TRUE].sum(axis=-1), by_class[..., FALSE].sum(axis=-1)
    metrics["precision"] = _ratio(held[..., TRUE], held[..., TRUE] + held[..., FALSE])
    metrics["recall"] = _ratio(held[..., TRUE], true)
    f1 = _ratio(2 * held[..., TRUE], held[..., TRUE] + held[..., FALSE] + true)
    metrics["f1"] = Metric(f1.value, true + false)
    metrics["false-consensus-rate"] = _ratio(held[..., FALSE], false)
    metrics["false-demotion-rate"] = _ratio(true - held[..., TRUE], true)
    return metrics


def class_counts(counts: Array, condition: int) -> Array:
    """Return how many findings each class has under one condition (FIRST or SECOND), of shape (..., 4)."""
    return np.asarray(_by_class(counts, condition).sum(axis=-1))


def _by_class(counts: Array, condition: int) -> Array:
    """Return findings counted by class under one condition, and truth, of shape (..., 4, 3)."""
    return np.asarray(counts.sum(axis=-2 if condition == FIRST else -3))


def changed(counts: Array) -> Metric:
    """Return the share of findings whose class differs between the two conditions."""
    by_pair = counts.sum(axis=-1)
    total = by_pair.sum(axis=(-1, -2))
    return _ratio(total - np.trace(by_pair, axis1=-2, axis2=-1), total)


def counts_by_run(findings: pd.DataFrame, first: str, second: str) -> Array:
    """Return findings counted by run, class under the first condition, class under the second, and truth."""
    run, names = pd.factorize(findings["run_id"])
    truth = findings["truth"].astype("Int8").fillna(UNKNOWN).to_numpy(dtype=np.int64)
    classes = (findings[f"classification_{name}"].cat.codes.to_numpy(dtype=np.int64) for name in (first, second))
    cell = np.ravel_multi_index((run, *classes, truth), (max(len(names), 1), *SHAPE))
    return np.bincount(cell, minlength=max(len(names), 1) * int(np.prod(SHAPE))).reshape(-1, *SHAPE)


def condition_table(total: Array, drawn: Array, condition: int, metrics: Sequence[str]) -> pd.DataFrame:
    """Return `value, low, high, n` of every metric of one condition, by metric."""
    observed, redrawn = metrics_of(total, condition), metrics_of(drawn, condition)
    rows = [(float(observed[m].value), *interval(redrawn[m].value), int(observed[m].n)) for m in metrics]
    return pd.DataFrame(rows, columns=["value", "low", "high", "n"], index=pd.Index(metrics, name="metric"))


def difference_table(total: Array, drawn: Array, metrics: Sequence[str]) -> pd.DataFrame:
    """Return `value, low, high` of the second condition minus the first, by metric, and of the share that `changed`."""
    observed, redrawn = _differences(total), _differences(drawn)
    rows = [(float(observed[metric]), *interval(redrawn[metric])) for metric in metrics]
    rows.append((float(changed(total).value), *interval(changed(drawn).value)))
    return pd.DataFrame(rows, columns=["value", "low", "high"], index=pd.Index([*metrics, "changed"], name="metric"))


def _differences(counts: Array) -> dict[str, Array]:
    first, second = metrics_of(counts, FIRST), metrics_of(counts, SECOND)
    return {metric: second[metric].value - first[metric].value for metric in first}


def mix_table(metric_tables: Mapping[str, pd.DataFrame], counts: Mapping[str, Array]) -> pd.DataFrame:
    """Return how the findings spread over the classes under each condition; n counts the findings of a class.

    `counts` has the findings of each class under each condition (see `class_counts`).
    """
    mix = _rows_of_conditions(metric_tables, CLASSIFICATIONS).rename(
        columns={"metric": "classification", "value": "share"}
    )
    mix["n"] = np.concatenate([counts[name] for name in metric_tables]).astype("int64")
    mix["classification"] = pd.Categorical(mix["classification"], categories=CLASSIFICATIONS, ordered=True)
    return mix[["condition", "classification", "n", "share", "low", "high"]]


def truth_table(metric_tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the truth metrics under each condition."""
    return _rows_of_conditions(metric_tables, TRUTH_METRICS)[["condition", "metric", "value", "low", "high", "n"]]


def _rows_of_conditions(tables: Mapping[str, pd.DataFrame], metrics: tuple[str, ...]) -> pd.DataFrame:
    return pd.concat(table.loc[list(metrics)].assign(condition=name) for name, table in tables.items()).reset_index()


def summary_table(tables: Mapping[str, pd.DataFrame], differences: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return every metric under every condition, then its difference from the first; the last row is `changed`."""
    parts = [*tables.values(), *differences.values()]
    summary = pd.concat(parts, axis=1).set_axis(summary_columns(list(tables))[1:], axis=1)
    sizes = [f"{name}_n" for name in tables]
    summary.loc["changed", sizes] = summary[sizes[0]].iloc[0]
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
