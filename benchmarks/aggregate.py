"""How fast Dawid-Skene goes over a million votes of five workers, beside crowd-kit's, in one run.

Run it with `make bench`. It prints medians and their ratio; posteriors must be equal to 1e-9, or it stops.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, OneCoinDawidSkene

import verifyplan as vp
from verifyplan.analysis.aggregation.dawid_skene import dawid_skene

VOTES, WORKERS, ITERATIONS, REPEATS = 1_000_000, 5, 20, 3
ALL_ITERATIONS = -1e9  # a tolerance that ends nothing


def crowd(votes: int, workers: int, n_workers: int, labels: int) -> pd.DataFrame:
    """Seeded votes of `n_workers` people, each item by `workers` of them, right three times of four; synthetic."""
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(votes // workers), workers)
    first = rng.integers(n_workers, size=votes // workers)
    truth = rng.integers(labels, size=votes // workers)[item]
    label = np.where(rng.random(votes) < 0.75, truth, rng.integers(labels, size=votes))
    worker = (first[item] + np.tile(np.arange(workers), votes // workers)) % n_workers
    return pd.DataFrame({"task": item, "worker": worker, "label": label})


def seconds(work: Callable[[], object], repeats: int) -> tuple[float, object]:
    """Median wall time, and what the last repeat returned."""
    taken, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), result


def main() -> None:
    """Print both times and their ratio, for both forms, and for a crowd of whom each sees few items."""
    warnings.simplefilter("ignore")  # crowd-kit calls pandas in ways that are going to end
    print(f"{'case':<44}{'crowd-kit':>12}{'verifyplan':>12}{'ratio':>8}")
    for n_workers, labels, iterations, one_coin in ((5, 2, ITERATIONS, False), (500, 4, 5, False), (5, 2, 5, True)):
        table = crowd(VOTES, WORKERS, n_workers, labels)
        theirs = (OneCoinDawidSkene if one_coin else DawidSkene)(n_iter=iterations, tol=ALL_ITERATIONS)
        slow, expected = seconds(lambda model=theirs, table=table: model.fit_predict_proba(table), 1)
        columns = [table[name].to_numpy() for name in ("task", "worker", "label")]
        sizes = VOTES // WORKERS, n_workers, labels
        settings = {"iterations": iterations, "tolerance": 0, "one_coin": one_coin}
        fast, fit = seconds(
            lambda columns=columns, sizes=sizes, settings=settings: dawid_skene(*columns, *sizes, **settings), REPEATS
        )
        difference = np.abs(expected.sort_index(axis=1).sort_index().to_numpy() - fit.posteriors).max()
        if difference > 1e-9 or fit.iterations != iterations:
            raise SystemExit(f"posteriors differ by {difference}, or {fit.iterations} are not {iterations} iterations")
        name = f"{'one-coin' if one_coin else 'dawid-skene'}, {n_workers} workers, {labels} labels, {iterations} its"
        print(f"{name:<44}{slow:>10.2f} s{fast:>10.3f} s{slow / fast:>8.0f}")
    table = crowd(VOTES, WORKERS, 5, 2).rename(columns={"task": "item"})
    whole, _ = seconds(lambda: vp.aggregate(table, method="dawid-skene", iterations=ITERATIONS), REPEATS)
    print(f"vp.aggregate of that table, from columns to notes: {whole:.2f} s")


if __name__ == "__main__":
    main()
