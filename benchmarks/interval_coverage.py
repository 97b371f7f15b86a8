"""How often the 95 % intervals hold the truth, by simulation, as the tables of docs/statistics.md.

Run it with `make bench-statistics`. It calls the functions that the analyses call; runs come from `simulated_runs`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
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


def coverage(design: Design, repetitions: int, seed: int | Sequence[int]) -> pd.DataFrame:
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


def measured(repetitions: int) -> pd.DataFrame:
    """Return a row a cell and figure: per cent of intervals that hold the truth, and their mean width."""
    rows = [
        {**cell, "figure": figure, "held": 100 * held, "width": width}
        for number, (cell, design) in enumerate(designs())
        for figure, (held, width) in coverage(design, repetitions, [SEED, number]).iterrows()
    ]
    return pd.DataFrame(rows)


def wanted(cell: pd.Series) -> tuple[float, float]:
    """Return the bounds that the coverage of a cell should keep; none where one run cannot know them."""
    if cell["runs"] >= 9:
        return 93, 97
    return (90, 100) if cell["runs"] == 3 or not cell["correlation"] else (0, 100)


def marked(cell: pd.Series) -> str:
    """Return the coverage of a cell, bold below its bounds and in italics above them."""
    low, high = wanted(cell)
    held = f"{cell['held']:.1f}"
    return f"**{held}**" if cell["held"] < low else f"*{held}*" if cell["held"] > high else held


def main(repetitions: int = REPETITIONS) -> None:
    table = measured(repetitions)
    error = 100 * np.sqrt(0.95 * 0.05 / repetitions)
    print("Per cent of 95 % intervals that hold the truth: share / difference / changed, for 1 to 50 runs.")
    print(f"{repetitions:,} repetitions a cell, seed {SEED}; the standard error of 95 % is {error:.1f}.\n")
    table["shown"] = table.apply(marked, axis=1)
    keys = ["claims", "errors", "correlation", "runs"]
    cells = table.groupby(keys, sort=False)["shown"].agg(" / ".join).unstack("runs", sort=False)
    heads = [f"{runs} run{'s' * (runs > 1)}" for runs in RUNS]
    print(f"| claims | errors | correlation | {' | '.join(heads)} |")
    print("|---|---|--:|" + "--:|" * len(RUNS))
    for key, row in cells.iterrows():
        print(f"| {' | '.join(map(str, key))} | {' | '.join(row)} |")
    bounds = table.apply(wanted, axis=1, result_type="expand")
    for name, out in (("below", table["held"] < bounds[0]), ("above", table["held"] > bounds[1])):
        print(f"\n{name} the bounds: {int(out.sum())} of {len(table)} figures")
        groups = table[out].groupby(["claims", "errors", "figure"], sort=False)["held"]
        print(groups.describe()[["count", "min", "max"]])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS)
