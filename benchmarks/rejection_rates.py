"""How often tests at 5 % reject where conditions do not differ, by simulation, as in docs/statistics.md.

Run it with `make bench-statistics`. Classes of equal shares under two modes come from `simulated_runs`; runs and modes
vary together by chance from run to run, and claims and modes where claims repeat, so that 5 % are to be rejected and no
more.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from benchmarks.simulated_runs import Design, classes
from verifyplan.analysis.cluster_intervals import share_difference
from verifyplan.analysis.difference_tests import difference_tests, metric_tests
from verifyplan.analysis.metrics import IS_HELD
from verifyplan.protocol.vote import CLASSIFICATIONS

REPETITIONS, SEED = 600, 0
SHARES = (0.4, 0.2, 0.15, 0.25)
RUNS = {9: 60, 12: 60, 50: 40}
"""The findings of each run, by the number of runs."""
RUN_MODE = (0.05, 0.1, 0.2)
"""The share of the variance that is a run's under one mode alone."""
FEW_RUNS = {2: 60, 3: 60, 4: 60, 5: 60, 6: 20}
"""Fewer runs, at the middle share."""
ONE_RUN = 150
"""The findings of one run alone, whose runs must not differ, since one cannot show it."""
COLUMNS = {
    "classes by cluster": ("classes", "clustered-homogeneity"),
    "held by interval": ("held", "clustered-t"),
    "accuracy by interval": ("accuracy", "clustered-t"),
    "Stuart-Maxwell": ("classes", "stuart-maxwell"),
    "McNemar, held": ("held", "mcnemar"),
    "McNemar, accuracy": ("accuracy", "mcnemar"),
}
"""The tests whose rejections are counted; those of fewer than six clusters have no p-value for classes."""
ITEM_MODE = (0.1, 0.2)
"""The share that is a repeated claim's under one mode alone, beside none or a tenth that is a run's."""


def designs() -> Iterator[tuple[dict[str, object], Design]]:
    """Yield the rows of the table, each with its design."""
    cells = [(repeated, runs, share, 0.0) for repeated, runs, share in product((False, True), RUNS, RUN_MODE)]
    cells += [(True, runs, share, item) for runs, share, item in product(RUNS, (0.0, 0.1), ITEM_MODE)]
    cells += [(repeated, runs, 0.1, 0.0) for repeated, runs in product((False, True), FEW_RUNS)]
    cells += [(False, 1, 0.0, 0.0)]
    findings = RUNS | FEW_RUNS | {1: ONE_RUN}
    for repeated, runs, share, item in cells:
        design = Design(
            runs, findings[runs], run_correlation=2 * share, item_correlation=0.4, item_mode=item, repeated=repeated
        )
        names = {"run x mode": f"{share:.0%}", "claim x mode": f"{item:.0%}"}
        kind = "independent" if runs == 1 else "repeated" if repeated else "fresh"
        yield {"claims": kind, "runs": runs, **names}, design


def rejection_rates(design: Design, repetitions: int, seed: int, level: float = 0.05) -> pd.Series:
    """Return the share of repetitions in which each test rejects; an interval rejects where it leaves 0 out."""
    clusters, n = design.clusters, design.runs * design.findings
    is_true = np.arange(n) % 2 == 0
    every, p_values = np.ones(n), []
    for block in classes(design, SHARES, repetitions, seed):
        for codes in block:
            named = {
                f"classification_{name}": pd.Categorical.from_codes(each, pd.Index(CLASSIFICATIONS), ordered=True)
                for name, each in zip("ab", codes, strict=True)
            }
            findings = pd.DataFrame({**named, "truth": pd.array(is_true, dtype="boolean")})
            held = IS_HELD[codes]
            differences = {
                name: share_difference(first, every, second, every, clusters)
                for name, (first, second) in (("held", held), ("accuracy", held == is_true))
            }
            tests = [
                difference_tests(findings, "a", "b", clusters),
                metric_tests(differences, [clusters], "accuracy", n_conclusions=1),
            ]
            p_values.append(pd.concat(tests).set_index(["of", "test"])["p_value"])
    rejected = (pd.concat(p_values, axis=1) <= level).mean(axis=1)
    return pd.Series({words: rejected[key] for words, key in COLUMNS.items()})


def main(repetitions: int = REPETITIONS) -> None:
    rows = []
    for cell, design in designs():
        rows.append({**cell, **(100 * rejection_rates(design, repetitions, SEED)).round(1)})
        print(*rows[-1].values(), file=sys.stderr)
    error = 100 * np.sqrt(0.05 * 0.95 / repetitions)
    print(f"Rejections at 5 % without any difference, in per cent; {repetitions:,} simulations a row (± {error:.1f})\n")
    table = pd.DataFrame(rows)
    print("| " + " | ".join(table.columns) + " |")
    print("|" + "".join("---|" if name == "claims" else "--:|" for name in table.columns))
    for row in table.itertuples(index=False):
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
