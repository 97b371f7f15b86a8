"""The tables of a comparison, from counts of findings and from resampled counts (rule F1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from verifyplan.analysis.bootstrap import interval
from verifyplan.analysis.metrics import SHAPE, TRUTH_METRICS, UNKNOWN, Array, changed, of_reading
from verifyplan.protocol.vote import CLASSIFICATIONS


def counts_by_run(findings: pd.DataFrame) -> Array:
    """Findings by run, class under a, class under b, and truth (false, true, unknown)."""
    run, names = pd.factorize(findings["run_id"])
    truth = findings["truth"].astype("Int8").fillna(UNKNOWN).to_numpy(dtype=np.int64)
    a, b = (findings[f"classification_{side}"].cat.codes.to_numpy(dtype=np.int64) for side in "ab")
    cell = np.ravel_multi_index((run, a, b, truth), (max(len(names), 1), *SHAPE))
    return np.bincount(cell, minlength=max(len(names), 1) * int(np.prod(SHAPE))).reshape(-1, *SHAPE)


def measured(total: Array, drawn: Array, side: int, metrics: list[str]) -> pd.DataFrame:
    """`value, low, high, n` of every metric of one reading, by metric."""
    observed, resampled = of_reading(total, side), of_reading(drawn, side)
    rows = []
    for name in metrics:
        low, high = interval(resampled[name].value)
        rows.append({"value": float(observed[name].value), "low": low, "high": high, "n": int(observed[name].n)})
    return pd.DataFrame(rows, index=pd.Index(metrics, name="metric"))


def mix_table(each: list[pd.DataFrame], labels: tuple[str, str]) -> pd.DataFrame:
    """How each reading spreads the findings over the classes; n counts the findings of a class."""
    parts = [table.loc[list(CLASSIFICATIONS)].assign(reading=label) for table, label in zip(each, labels, strict=True)]
    mix = pd.concat(parts).rename_axis("classification").reset_index().rename(columns={"value": "share"})
    mix["n"] = (mix["share"] * mix["n"]).round().fillna(0).astype("int64")
    mix["classification"] = pd.Categorical(mix["classification"], categories=CLASSIFICATIONS, ordered=True)
    return mix[["reading", "classification", "n", "share", "low", "high"]]


def truth_table(each: list[pd.DataFrame], labels: tuple[str, str]) -> pd.DataFrame:
    """The truth metrics of each reading."""
    parts = [table.loc[list(TRUTH_METRICS)].assign(reading=label) for table, label in zip(each, labels, strict=True)]
    return pd.concat(parts).reset_index()[["reading", "metric", "value", "low", "high", "n"]]


def summary_table(total: Array, drawn: Array, each: list[pd.DataFrame]) -> pd.DataFrame:
    """Every metric under both readings; the difference is b - a, with the interval of that difference."""
    metrics = list(each[0].index)
    a, b = (of_reading(drawn, side) for side in (0, 1))
    differences = [interval(b[name].value - a[name].value) for name in metrics]
    sides = [table.add_prefix(f"{side}_") for side, table in zip("ab", each, strict=True)]
    table = pd.concat(sides, axis=1).rename(columns={"a_value": "a", "b_value": "b", "a_n": "n_a", "b_n": "n_b"})
    table["difference"] = table["b"] - table["a"]
    table["low"], table["high"] = zip(*differences, strict=True)
    moved = changed(total)
    low, high = interval(changed(drawn).value)
    row = {"difference": float(moved.value), "low": low, "high": high, "n_a": int(moved.n), "n_b": int(moved.n)}
    table = pd.concat([table, pd.DataFrame(row, index=["changed"])])
    columns = ["a", "a_low", "a_high", "b", "b_low", "b_high", "difference", "low", "high", "n_a", "n_b"]
    return table[columns].rename_axis("metric").reset_index()
