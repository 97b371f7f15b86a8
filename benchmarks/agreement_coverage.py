"""How often the 95 % intervals of agreement hold the truth, by simulation, as in docs/statistics.md.

Run it with `make bench-statistics`. Five workers of one rate of errors vote on the claims of `simulated_runs`, each as
a mode of its own, so that alpha, kappas and AC1 have a closed form.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import multivariate_normal, norm

from benchmarks.simulated_runs import Design, errors
from verifyplan.analysis.agreement_measures import alpha, cohen_kappa, fleiss_kappa, gwet_ac1, measured

REPETITIONS, SEED, WORKERS = 300, 0, 5
SIZES = ((1, 8), (1, 20), (1, 40), (1, 100), (3, 40), (12, 20), (50, 20))
"""Runs, and the findings of each."""


def true_values(rate: float, correlation: float) -> dict[str, float]:
    """Return the agreement beyond chance of workers whose errors have a rate and a latent correlation."""
    both = multivariate_normal(cov=[[1, correlation], [correlation, 1]]).cdf(norm.ppf([rate, rate]))
    alike, spread = 2 * both + 1 - 2 * rate, 2 * rate * (1 - rate)
    kappa = (alike - (1 - spread)) / spread
    ac1 = (alike - spread) / (1 - spread)
    return {"alpha": kappa, "fleiss-kappa": kappa, "ac1": ac1, "cohen-kappa": kappa}


def coverage(design: Design, repetitions: int, seed: int) -> dict[str, float]:
    """Return the share of intervals that hold the truth, of those that there are, by measure."""
    clusters = design.clusters
    true = true_values(design.rates[0], design.run_correlation / 2 + design.item_correlation)
    held: dict[str, list[float]] = {name: [] for name in true}
    for block in errors(design, repetitions, seed):
        for said in block.astype(np.int64):
            counts = np.column_stack([WORKERS - said.sum(axis=0), said.sum(axis=0)])
            of_all = (measured(of(counts), clusters, len(counts)) for of in (alpha, fleiss_kappa, gwet_ac1))
            found = (*of_all, cohen_kappa(said[0], said[1], 2, clusters))
            for (name, value), one in zip(true.items(), found, strict=True):
                held[name].append(np.nan if np.isnan(one.low) else float(one.low <= value <= one.high))
    return {name: float(np.nanmean(values)) for name, values in held.items()}


def main(repetitions: int = REPETITIONS) -> None:
    rows = []
    for rate, repeated, (runs, findings), correlation in product((0.3, 0.1), (False, True), SIZES, (0.0, 0.2)):
        if runs == 1 and (repeated or correlation):
            continue
        findings = 4 * findings if repeated else findings
        design = Design(runs, findings, (rate,) * WORKERS, correlation, item_correlation=0.5, repeated=repeated)
        cell = {
            "rate": rate,
            "claims": "repeated" if repeated else "fresh",
            "runs x findings": f"{runs} x {findings}",
            "correlation": correlation,
        }
        rows.append(
            {**cell, **{name: f"{100 * share:.1f}" for name, share in coverage(design, repetitions, SEED).items()}}
        )
    error = 100 * np.sqrt(0.05 * 0.95 / repetitions)
    print(
        f"95 % intervals of agreement that hold the truth, in per cent; {repetitions:,} simulations (± {error:.1f})\n"
    )
    table = pd.DataFrame(rows)
    print("| " + " | ".join(table.columns) + " |")
    print("|" + "".join("---|" if name == "claims" else "--:|" for name in table.columns))
    for row in table.itertuples(index=False):
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
