"""How fast Dawid-Skene goes over a million votes of five workers, beside crowd-kit's, in one run.

Run it with `make bench`. Posteriors must be equal to 1e-9, or it stops.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, OneCoinDawidSkene

import verifyplan as vp
from benchmarks.figures import YARDSTICK, once, report, timed, yardstick
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


def main() -> None:
    """Report both forms, and a crowd of whom each sees few items; then `vp.aggregate` of the table whole."""
    warnings.simplefilter("ignore")  # crowd-kit calls pandas in ways that are going to end
    for n_workers, labels, iterations, one_coin in ((5, 2, ITERATIONS, False), (500, 4, 5, False), (5, 2, 5, True)):
        table = crowd(VOTES, WORKERS, n_workers, labels)
        theirs = (OneCoinDawidSkene if one_coin else DawidSkene)(n_iter=iterations, tol=ALL_ITERATIONS)
        slow, expected = once(lambda model=theirs, table=table: model.fit_predict_proba(table))
        columns = [table[name].to_numpy() for name in ("task", "worker", "label")]
        sizes = VOTES // WORKERS, n_workers, labels
        settings = {"iterations": iterations, "tolerance": 0, "one_coin": one_coin}
        work = partial(dawid_skene, *columns, *sizes, **settings)
        fast, fit = timed(work, REPEATS), work()
        difference = np.abs(expected.sort_index(axis=1).sort_index().to_numpy() - fit.posteriors).max()
        if difference > 1e-9 or fit.iterations != iterations:
            raise SystemExit(f"posteriors differ by {difference}, or {fit.iterations} are not {iterations} iterations")
        name = f"{'one-coin ' if one_coin else ''}Dawid-Skene, {n_workers} workers, {labels} labels, {iterations} steps"
        aims = {"crowd-kit": 20} if iterations == ITERATIONS else {}
        report("aggregate", name, VOTES, "votes", fast, {"crowd-kit": slow}, aims)
    table = crowd(VOTES, WORKERS, 5, 2).rename(columns={"task": "item"})
    whole = timed(lambda: vp.aggregate(table, method="dawid-skene", iterations=ITERATIONS), REPEATS)
    report(
        "aggregate", "vp.aggregate by Dawid-Skene, from table to notes", VOTES, "votes", whole, {YARDSTICK: yardstick()}
    )


if __name__ == "__main__":
    main()
