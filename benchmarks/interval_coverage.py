"""How often the 95 % intervals hold the truth, by simulation, as the tables of docs/statistics.md.

Run it with `make bench-statistics`. It calls the functions that the analyses call; runs come from `simulated_runs`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.simulated_runs import Design, errors
from verifyplan.analysis.cluster_intervals import Interval, difference_interval, share_interval

REPETITIONS, SEED = 2000, 0
RUNS = (1, 3, 9, 10, 12, 50)
CORRELATIONS = (0.0, 0.1, 0.3)
RATES = {"common": (0.3, 0.15), "rare": (0.05, 0.02), "rare, equal": (0.03, 0.03)}
CLAIMS = {"fresh": {"findings": 20, "item_correlation": 0.4}, "repeated": {"findings": 40, "item_correlation": 0.6}}
FIGURES = ("share", "difference", "changed")


def designs() -> Iterator[tuple[dict[str, object], Design]]:
    """Yield the cells of the table, each with its design."""
    for claims, errors_are, correlation, runs in product(CLAIMS, RATES, CORRELATIONS, RUNS):
        design = Design(
            runs, rates=RATES[errors_are], run_correlation=correlation, repeated=claims == "repeated", **CLAIMS[claims]
        )
        yield {"claims": claims, "errors": errors_are, "correlation": correlation, "runs": runs}, design


def coverage(design: Design, repetitions: int, seed: int) -> pd.DataFrame:
    """Return the share of intervals that hold the truth, and their mean width, of each figure."""
    clusters, (first, second) = design.clusters, design.rates
    whole = np.ones(design.runs * design.findings)
    truths = dict(zip(FIGURES, (first, second - first, design.changed), strict=True))
    held: dict[str, list[tuple[bool, float]]] = {name: [] for name in FIGURES}
    for block in errors(design, repetitions, seed):
        for one, other in block:
            made: dict[str, Interval] = {
                "share": share_interval(one, whole, clusters),
                "difference": difference_interval(one, whole, other, whole, clusters),
                "changed": share_interval(one != other, whole, clusters),
            }
            for name, (_, low, high, _) in made.items():
                held[name].append((low <= truths[name] <= high, high - low))
    return pd.DataFrame({name: np.mean(values, axis=0) for name, values in held.items()}, index=["held", "width"]).T


def main(repetitions: int = REPETITIONS) -> None:
    rows = []
    for cell, design in designs():
        for figure, (held, width) in coverage(design, repetitions, SEED).iterrows():
            rows.append({**cell, "figure": figure, "held": 100 * held, "width": width})
    table = pd.DataFrame(rows)
    error = 100 * np.sqrt(0.95 * 0.05 / repetitions)
    print(
        f"Per cent of 95 % intervals that hold the truth; {repetitions:,} repetitions, Monte Carlo error {error:.1f}."
    )
    for figure in FIGURES:
        chosen = table[table["figure"].eq(figure)]
        pivot = chosen.pivot_table("held", ["claims", "errors", "correlation"], "runs", sort=False)
        print(f"\n{figure}\n{pivot.round(1).to_string()}")
    many, few = table["runs"].ge(9), table["runs"].eq(3)
    alone = table["runs"].eq(1) & table["correlation"].eq(0)
    for name, cells, low, high in (
        ("9 runs or more, below 93", many, 0, 93),
        ("9 runs or more, above 97", many, 97, 101),
        ("3 runs, below 90", few, 0, 90),
        ("1 run without correlation, below 90", alone, 0, 90),
    ):
        out = cells & (table["held"].lt(high) & table["held"].ge(low) if low == 0 else table["held"].gt(low))
        print(f"\n{name}: {int(out.sum())} of {int(cells.sum())} cells")
        if out.any():
            print(table[out].round(3).to_string(index=False))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS)
