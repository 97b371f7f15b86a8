"""How often the interval of an item's mean score holds what more workers would give, as in docs/statistics.md.

Run it with `make bench-statistics`. Workers give whole scores from 1 to 10; how far they differ varies from item to
item. Beside it: Student's interval from the item's own scores alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm, t

import verifyplan as vp

ITEMS, DRAWS, SEED = 200, 20, 0
WORKERS = (2, 3, 5, 8, 20)
SPREADS = ((1.0, 1.0), (0.3, 1.5), (0.1, 2.0))
"""The least and the largest standard deviation of the scores of an item, before they are rounded."""

Floats = npt.NDArray[np.float64]


def scores(n_workers: int, least: float, most: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the scores of each item, of shape (items, workers), and what they are on average."""
    spread = np.exp(rng.uniform(np.log(least), np.log(most), ITEMS))
    middle = rng.uniform(3, 9.5, ITEMS)
    drawn = middle[:, None] + spread[:, None] * rng.standard_normal((ITEMS, n_workers))
    below = norm.cdf((np.arange(1, 10) + 0.5 - middle[:, None]) / spread[:, None])
    return np.clip(np.rint(drawn), 1, 10), 10 - below.sum(axis=1)


def covered(given: Floats, expected: Floats) -> tuple[float, float]:
    """Return the share of intervals that hold the average: those of `aggregate`, and Student's."""
    n_workers = given.shape[1]
    table = pd.DataFrame(np.argwhere(given > 0), columns=["item", "worker"]).assign(score=given.ravel())
    found = vp.aggregate(table, method="mean").scores
    off = np.abs(found["value"].to_numpy() - expected) - 1e-9
    ours = (found["high"] - found["value"]).to_numpy()
    alone = t.ppf(0.975, n_workers - 1) * given.std(axis=1, ddof=1) / np.sqrt(n_workers)
    return float((off <= ours).mean()), float((off <= alone).mean())


def main(draws: int = DRAWS) -> None:
    """Print the table."""
    for n_workers in WORKERS:
        cells = []
        for least, most in SPREADS:
            rng = np.random.default_rng(SEED)
            held = [covered(*scores(n_workers, least, most, rng)) for _ in range(draws)]
            cells.append(" / ".join(f"{100 * share:.1f}" for share in np.mean(held, axis=0)))
        print(f"| {n_workers} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
