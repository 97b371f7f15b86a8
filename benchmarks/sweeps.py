"""How fast weights are swept and runs resampled: a billion scores, 2,000 resamples of 20,000 runs, beside named peers.

Run it with `make bench`, or `python -m benchmarks.sweeps`. Plans, weights and findings are synthetic and seeded. Peers
that would take minutes do a part of the work, which must come to the same, and their times count in proportion.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import bootstrap

from benchmarks.figures import MET, Measurement, once, report, timed, within
from verifyplan.analysis.cluster_intervals import difference_interval
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.weights import rank_stability
from verifyplan.analysis.weights.dirichlet import draw
from verifyplan.analysis.weights.least_squares import Sample, moments, resampled

PLANS, DRAWS, THRESHOLD, PEER_DRAWS = 100_000, 10_000, 8.75, 100
CENTRE = dict(zip("abcdef", ("0.2", "0.2", "0.2", "0.2", "0.1", "0.1"), strict=True))
RUNS, FINDINGS_A_RUN, RESAMPLES, PEER_RESAMPLES = 20_000, 10, 2_000, 20
AIM_SCORES_S, AIM_RESAMPLES_S, REPEATS = 1.0, 0.5, 3


def main() -> None:
    """Report the sweep of weights, then what is said of many runs by resampling them."""
    sweep_weights()
    resample_fits()
    bound_differences()


def sweep_weights() -> None:
    """Report the ranks of plans above a threshold under drawn weights; peers only count the scores above it."""
    names = [f"plan-{number:06d}" for number in range(PLANS)]
    values = np.random.default_rng(0).uniform(1, 10, (PLANS, 6)).round(2)
    plans = pd.DataFrame(values, columns=list(CENTRE), index=names)
    weights = draw(plans, CENTRE, 50.0, DRAWS, 0).weights[:PEER_DRAWS]
    drawn = pd.DataFrame(weights.T, index=plans.columns)
    least = THRESHOLD - 1e-9

    def ours() -> pd.DataFrame:
        return rank_stability(plans, CENTRE, draws=DRAWS, threshold=THRESHOLD, ranked="above")

    by_numpy, above = once(lambda: (weights @ values.T >= least).sum(axis=0))
    by_pandas, also = once(lambda: (plans.dot(drawn) >= least).sum(axis=1).to_numpy())
    one_by_one, _ = once(lambda: [(plans * pd.Series(row, index=plans.columns)).sum(axis=1) for row in weights[:10]])
    peers = {"numpy, all in float64": by_numpy, "pandas dot": by_pandas}
    peers = {name: in_proportion(each, DRAWS / PEER_DRAWS) for name, each in peers.items()}
    peers["pandas, weights by weights"] = in_proportion(one_by_one, DRAWS / 10)
    found = ours()
    if not (above == also).all() or (above > found["above"].to_numpy() * DRAWS + 0.5).any():
        raise SystemExit("sweeps: the engines count different scores above the threshold")
    spent = timed(ours, REPEATS)
    report(
        "sweeps", f"rank {PLANS:,} plans above a threshold under {DRAWS:,} weights", PLANS * DRAWS, "scores", spent,
        peers | within(AIM_SCORES_S), MET,
    )  # fmt: skip


def resample_fits() -> None:
    """Report fits of weights to bootstrap samples of whole runs; the peer adds up the rows of the runs that it drew."""
    rng = np.random.default_rng(1)
    unit = np.repeat(np.arange(RUNS), FINDINGS_A_RUN)
    x = rng.uniform(1, 10, (len(unit), 6))
    y = x @ np.array([float(weight) for weight in CENTRE.values()]) + rng.normal(0, 1, len(unit))
    sample = Sample(x, y, unit)

    def by_rows() -> None:
        for _ in range(PEER_RESAMPLES):
            rows = (rng.integers(RUNS, size=RUNS)[:, None] * FINDINGS_A_RUN + np.arange(FINDINGS_A_RUN)).ravel()
            moments(x[rows], y[rows], np.zeros(len(rows), dtype=np.int64))

    peer = in_proportion(once(by_rows)[0], RESAMPLES / PEER_RESAMPLES)
    spent = timed(lambda: resampled(sample, RESAMPLES, np.random.default_rng(0)), REPEATS)
    report(
        "sweeps", f"fit weights to {RESAMPLES:,} resamples of {RUNS:,} runs", RUNS, "runs", spent,
        {"numpy, rows resampled": peer} | within(AIM_RESAMPLES_S), MET,
    )  # fmt: skip


def bound_differences() -> None:
    """Report the interval of a difference of two rules, linearised, beside a bootstrap of counts by run."""
    rng = np.random.default_rng(2)
    run = np.repeat(np.arange(RUNS), FINDINGS_A_RUN)
    first = rng.random(len(run)) < rng.beta(4, 4, RUNS)[run]
    second = np.where(rng.random(len(run)) < 0.1, ~first, first)
    whole, clusters = np.ones(len(run)), Clusters(run, np.arange(len(run)))
    moved = np.bincount(run, second.astype(int) - first, minlength=RUNS) / FINDINGS_A_RUN

    def by_scipy() -> tuple[float, float]:
        found = bootstrap(
            (moved,), np.mean, n_resamples=RESAMPLES, method="percentile", batch=100, rng=np.random.default_rng(0)
        )
        return found.confidence_interval

    peer, (low, high) = once(by_scipy)
    ours = difference_interval(first, whole, second, whole, clusters)
    if abs(ours.low - low) > (high - low) / 10 or abs(ours.high - high) > (high - low) / 10:
        raise SystemExit(f"sweeps: the intervals differ: {ours}, {(low, high)}")
    spent = timed(lambda: difference_interval(first, whole, second, whole, clusters), REPEATS)
    report(
        "sweeps", f"interval of a difference over {RUNS:,} runs", RUNS, "runs", spent,
        {f"scipy bootstrap, {RESAMPLES:,} resamples": peer} | within(AIM_RESAMPLES_S), MET,
    )  # fmt: skip


def in_proportion(part: Measurement, factor: float) -> Measurement:
    """Return what all the work would take, from what a part of it took; the memory is that of the part."""
    return Measurement(part.seconds * factor, part.cpu * factor, part.peak_mb)


if __name__ == "__main__":
    main()
