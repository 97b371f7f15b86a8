"""How often tests at 5 % reject where conditions do not differ, by simulation, as in docs/statistics.md.

Run it with `make bench-statistics`. Classes of equal shares under two modes come from `simulated_runs`; runs and modes
vary together by chance from run to run, so that 5 % are to be rejected and no more.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.simulated_runs import Design, classes
from verifyplan.analysis.difference_tests import difference_tests
from verifyplan.protocol.vote import CLASSIFICATIONS

REPETITIONS, SEED = 600, 0
SHARES = (0.4, 0.2, 0.15, 0.25)
RUNS = {9: 60, 12: 60, 50: 40}
"""The findings of each run, by the number of runs."""
RUN_MODE = (0.05, 0.1, 0.2)
"""The share of the variance that is a run's under one mode alone."""


def rejection_rates(design: Design, repetitions: int, seed: int, level: float = 0.05) -> pd.Series:
    """Return the share of repetitions in which each test rejects."""
    clusters = design.clusters
    truth = pd.array(np.arange(len(clusters.run)) % 2 == 0, dtype="boolean")
    p_values = []
    for block in classes(design, SHARES, repetitions, seed):
        for codes in block:
            named = {
                f"classification_{name}": pd.Categorical.from_codes(each, CLASSIFICATIONS, ordered=True)
                for name, each in zip("ab", codes, strict=True)
            }
            tests = difference_tests(pd.DataFrame({**named, "truth": truth}), "a", "b", clusters)
            p_values.append(tests.set_index(["of", "test"])["p_value"])
    rejected = (pd.concat(p_values, axis=1) <= level).mean(axis=1)
    return rejected.set_axis([f"{of}: {test}" for of, test in rejected.index])


def main(repetitions: int = REPETITIONS) -> None:
    rows = []
    for repeated, runs, variance in product((False, True), RUNS, RUN_MODE):
        design = Design(runs, RUNS[runs], run_correlation=2 * variance, item_correlation=0.4, repeated=repeated)
        cell = {"claims": "repeated" if repeated else "fresh", "runs": runs, "run x mode": f"{variance:.0%}"}
        rows.append({**cell, **(100 * rejection_rates(design, repetitions, SEED)).round(1)})
        print(*cell.values(), file=sys.stderr)
    error = 100 * np.sqrt(0.05 * 0.95 / repetitions)
    print(f"Rejections at 5 % without any difference, in per cent; {repetitions:,} simulations a row (± {error:.1f})\n")
    table = pd.DataFrame(rows)
    print("| " + " | ".join(table.columns) + " |")
    print("|" + "---|" * len(table.columns))
    for row in table.itertuples(index=False):
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
