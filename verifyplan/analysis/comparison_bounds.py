"""Bound the metrics of conditions by what their unseen votes allow, and say it in words (rule R4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.metrics import FALSE, IS_HELD, TRUE, UNKNOWN, Metric, class_codes, truth_codes
from verifyplan.analysis.pairing import rows_of
from verifyplan.analysis.treatments.bounds import (
    BOUNDS_COLUMNS,
    EITHER,
    HELD_SURELY,
    NOT_HELD,
    ClassBounds,
    figures_of,
    held_states,
    metric_bounds,
)
from verifyplan.rules.vote_codes import Ints
from verifyplan.text import counted

_DIFFERENCES = ["difference_low_bound", "difference_high_bound"]
_IN_WORDS = ("held", "accuracy", "precision", "recall", "f1", "false-consensus-rate", "false-demotion-rate")


def bounds_table(rows: Mapping[str, tuple[pd.DataFrame, Clusters]]) -> pd.DataFrame:
    """Return the bounds of each metric under each condition and of its difference; no row where nothing is censored.

    `rows` are the findings of each condition and their clusters, the baseline first. The bounds of a difference take
    the unseen votes of the two conditions to be different ones, as most are, and are wide where they are the same.
    """
    if not any(findings[f"censored_{name}"].any() for name, (findings, _) in rows.items()):
        return no_bounds()
    tables = {name: _of_condition(findings, name, own) for name, (findings, own) in rows.items()}
    baseline = next(iter(tables.values()))
    for place, table in enumerate(tables.values()):
        low, high = table["low_bound"] - baseline["high_bound"], table["high_bound"] - baseline["low_bound"]
        table["difference_low_bound"], table["difference_high_bound"] = (low, high) if place else (np.nan, np.nan)
    joined = pd.concat([table.assign(condition=name) for name, table in tables.items()], ignore_index=True)
    return joined[["condition", *joined.columns.drop("condition")]]


def no_bounds() -> pd.DataFrame:
    """Return the table of bounds without a row.

    >>> len(no_bounds())
    0
    """
    names = ["condition", *BOUNDS_COLUMNS, *_DIFFERENCES]
    kinds = {"condition": "str", "metric": "str", "n": "int64", "n_censored": "int64"}
    return pd.DataFrame({name: pd.Series(dtype=kinds.get(name, "float64")) for name in names})


def _of_condition(findings: pd.DataFrame, name: str, clusters: Clusters) -> pd.DataFrame:
    low, high = (np.asarray(findings[f"{end}_{name}"].cat.codes, dtype=np.int64) for end in ("low", "high"))
    classes, truth = class_codes(findings, name), truth_codes(findings)
    bounds = ClassBounds(np.maximum(low, classes), np.minimum(high, classes))
    table = metric_bounds(classes, bounds, truth, clusters)
    if (truth == UNKNOWN).all():
        return table
    return pd.concat([table, _of_accuracy(classes, held_states(bounds), truth, clusters)], ignore_index=True)


def _of_accuracy(classes: Ints, states: Ints, truth: Ints, clusters: Clusters) -> pd.DataFrame:
    """Return the bounds of the accuracy: least where of the findings that can be either each has the wrong class."""
    known, is_true = truth != UNKNOWN, truth == TRUE
    worst = np.where(truth == FALSE, states != NOT_HELD, states == HELD_SURELY)
    best = np.where(truth == FALSE, states == HELD_SURELY, states != NOT_HELD)
    n = int(known.sum())
    lowest, right, highest = (
        Metric(known & (held == is_true), known, n) for held in (worst, np.asarray(IS_HELD[classes]), best)
    )
    row = ("accuracy", *figures_of(lowest, right, highest, clusters), n, int((known & (states == EITHER)).sum()))
    return pd.DataFrame([row], columns=BOUNDS_COLUMNS)


def notes_on_bounds(bounds: pd.DataFrame) -> Iterator[str]:
    """Yield a note on what the range is that votes never cast allow, where a metric has one."""
    if bounds["n_censored"].any():
        yield (
            "What votes never cast could give is a range, not a confidence interval: the recorded votes fit every "
            "value in it. More runs do not narrow it; only the missing votes would (.bounds; rule R4)."
        )


def bounds_lines(findings: pd.DataFrame, bounds: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each condition with censored findings: the range of each metric that unseen votes allow."""
    for name, table in bounds.groupby("condition", sort=False):
        own = rows_of(findings, str(name))
        n_open = int(own[f"low_{name}"].ne(own[f"high_{name}"]).sum())
        if not n_open:
            continue
        wide = table[table["metric"].isin(_IN_WORDS) & table["n_censored"].gt(0)]
        ranges = [
            f"{row['metric']} {100 * row['low_bound']:.1f} to {100 * row['high_bound']:.1f} %"
            for row in wide.to_dict("records")
        ]
        what = "; ".join(ranges) or "the same held findings, in other classes"
        yield f"votes never cast under {name} (on {counted(n_open, 'finding')}) could give: {what}"
