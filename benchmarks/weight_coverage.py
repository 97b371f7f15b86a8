"""How often the 95 % intervals of fitted weights hold the truth, by simulation, as in docs/statistics.md.

Run it with `make bench-statistics`. Plans have dimensions that are uniform from 0 to 1, and an overall score that is
their weighted sum and normal noise, which makes half of its variance or a fifth.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np

from verifyplan.analysis.weights.least_squares import Sample, moments, shares, simplex, weight_intervals

REPETITIONS, SEED = 500, 0
WEIGHTS = ((0.5, 0.3, 0.2), (0.6, 0.4, 0.0), (1.0, 0.0, 0.0), (0.4, 0.3, 0.2, 0.1, 0.0, 0.0))
SIZES = (20, 40, 100, 200)


def coverage(weights: tuple[float, ...], n: int, explained: float, repetitions: int, seed: int) -> list[float]:
    """Return how often the interval of each weight holds it."""
    rng, true, held = np.random.default_rng(seed), np.array(weights), []
    for _ in range(repetitions):
        x = rng.random((n, len(true)))
        signal = x @ true
        y = signal + signal.std() * np.sqrt(1 / explained - 1) * rng.standard_normal(n)
        y = (y - y.mean()) / y.std()
        fitted = shares(simplex(moments(x, y, np.zeros(n, dtype=np.int64))).slopes)[0]
        low, high = weight_intervals(Sample(x, y, np.arange(n)), np.nan_to_num(fitted, nan=1 / len(true)))
        held.append((low - 1e-9 <= true) & (true <= high + 1e-9))
    return [float(share) for share in np.mean(held, axis=0)]


def main(repetitions: int = REPETITIONS) -> None:
    error = 100 * np.sqrt(0.05 * 0.95 / repetitions)
    print(f"95 % intervals of weights that hold them, in per cent; {repetitions:,} simulations a row (± {error:.1f})\n")
    print("| weights | R² | " + " | ".join(f"n = {n}" for n in SIZES) + " |")
    print("|" + "--:|" * (len(SIZES) + 2))
    for weights, explained in product(WEIGHTS, (0.5, 0.8)):
        cells = []
        for n in SIZES:
            held = coverage(weights, n, explained, repetitions, SEED)
            cells.append(", ".join(f"{100 * share:.0f}" for share in held))
        print(f"| {', '.join(map(str, weights))} | {explained} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
