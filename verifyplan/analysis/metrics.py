"""Metrics of two readings of the same findings, as functions of counts, and the tables that hold them (rule F1).

Every function works on `counts` of shape (..., 4, 4, 3): class under a, class under b, truth (false, true, unknown).
Leading axes are resamples, so an interval costs one call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.intervals import Array, interval
from verifyplan.protocol.vote import CLASSIFICATIONS, HELD

SHAPE = (len(CLASSIFICATIONS), len(CLASSIFICATIONS), 3)
FALSE, TRUE, UNKNOWN = range(3)
IS_HELD = np.array([classification in HELD for classification in CLASSIFICATIONS])
TRUTH_METRICS = ("precision", "recall", "f1", "false-consensus-rate", "false-demotion-rate")


class Metric(NamedTuple):
    """A share and its denominator; the value is NaN where the denominator is 0."""

    value: Array
    n: Array


def _ratio(part: Array, whole: Array) -> Metric:
    with np.errstate(invalid="ignore", divide="ignore"):
        return Metric(np.where(whole > 0, part / whole, np.nan), whole)


def of_reading(counts: Array, reading: int) -> dict[str, Metric]:
    """Return all metrics of one reading (0: a, 1: b): the share of each class, of held findings, and truth metrics.

    Held means full or partial consensus. Precision is true among held, recall held among true; the false-consensus
    rate is held among false, the false-demotion rate not held among true. n is the denominator; for F1, which is a
    share of nothing, it is the number of findings whose truth is known.
    """
    by_class = counts.sum(axis=-2 if reading == 0 else -3)  # (..., class, truth)
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


def changed(counts: Array) -> Metric:
    """Return the share of findings whose class differs between the two readings."""
    by_pair = counts.sum(axis=-1)
    total = by_pair.sum(axis=(-1, -2))
    return _ratio(total - np.trace(by_pair, axis1=-2, axis2=-1), total)


def counts_by_run(findings: pd.DataFrame) -> Array:
    """Return findings counted by run, class under a, class under b, and truth (false, true, unknown)."""
    run, names = pd.factorize(findings["run_id"])
    truth = findings["truth"].astype("Int8").fillna(UNKNOWN).to_numpy(dtype=np.int64)
    a, b = (findings[f"classification_{side}"].cat.codes.to_numpy(dtype=np.int64) for side in "ab")
    cell = np.ravel_multi_index((run, a, b, truth), (max(len(names), 1), *SHAPE))
    return np.bincount(cell, minlength=max(len(names), 1) * int(np.prod(SHAPE))).reshape(-1, *SHAPE)


def reading_table(total: Array, drawn: Array, side: int, metrics: list[str]) -> pd.DataFrame:
    """Return `value, low, high, n` of every metric of one reading, by metric."""
    observed, resampled = of_reading(total, side), of_reading(drawn, side)
    ends = [interval(resampled[name].value) for name in metrics]
    rows = [(float(observed[name].value), *end, int(observed[name].n)) for name, end in zip(metrics, ends, strict=True)]
    return pd.DataFrame(rows, columns=["value", "low", "high", "n"], index=pd.Index(metrics, name="metric"))


def mix_table(tables: list[pd.DataFrame], labels: tuple[str, str]) -> pd.DataFrame:
    """Return how each reading spreads the findings over the classes; n counts the findings of a class."""
    mix = _rows_of_readings(tables, labels, CLASSIFICATIONS)
    mix = mix.rename(columns={"metric": "classification", "value": "share"})
    mix["n"] = (mix["share"] * mix["n"]).round().fillna(0).astype("int64")
    mix["classification"] = pd.Categorical(mix["classification"], categories=CLASSIFICATIONS, ordered=True)
    return mix[["reading", "classification", "n", "share", "low", "high"]]


def truth_table(tables: list[pd.DataFrame], labels: tuple[str, str]) -> pd.DataFrame:
    """Return the truth metrics of each reading."""
    return _rows_of_readings(tables, labels, TRUTH_METRICS)[["reading", "metric", "value", "low", "high", "n"]]


def _rows_of_readings(tables: list[pd.DataFrame], labels: tuple[str, str], metrics: tuple[str, ...]) -> pd.DataFrame:
    parts = [table.loc[list(metrics)].assign(reading=label) for table, label in zip(tables, labels, strict=True)]
    return pd.concat(parts).reset_index()


def summary_table(total: Array, drawn: Array, tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return every metric under both readings; the difference is b - a, with the interval of that difference."""
    a, b = (of_reading(drawn, side) for side in (0, 1))
    sides = [table.add_prefix(f"{side}_") for side, table in zip("ab", tables, strict=True)]
    table = pd.concat(sides, axis=1).rename(columns={"a_value": "a", "b_value": "b", "a_n": "n_a", "b_n": "n_b"})
    table["difference"] = table["b"] - table["a"]
    table["low"], table["high"] = zip(*(interval(b[name].value - a[name].value) for name in table.index), strict=True)
    moved = changed(total)
    low, high = interval(changed(drawn).value)
    row = {"difference": float(moved.value), "low": low, "high": high, "n_a": int(moved.n), "n_b": int(moved.n)}
    table = pd.concat([table, pd.DataFrame(row, index=["changed"])])
    columns = ["a", "a_low", "a_high", "b", "b_low", "b_high", "difference", "low", "high", "n_a", "n_b"]
    return table[columns].rename_axis("metric").reset_index()
