"""Whether planned runs show a difference, and repeated looks do no harm.

By simulation; it prints the tables of docs/statistics.md.

Run it with `make bench-statistics`; a number as argument sets the simulations of each cell (600). Seeded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

import verifyplan as vp
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.study_design.monitor import confidence_sequence
from verifyplan.analysis.study_design.power import discordance_of, intra_run_correlation, planning_ends
from verifyplan.analysis.study_design.run_differences import RunDifferences
from verifyplan.analysis.study_design.sample_size import needed_runs

Floats = npt.NDArray[np.float64]

SIMULATIONS = 600
PLANS = ((0.1, 0.3, 0.05, 20), (0.1, 0.3, 0.0, 50), (0.05, 0.2, 0.05, 50), (0.2, 0.4, 0.3, 20), (0.2, 0.3, 0.1, 5))
"""Difference, discordance, intra-run correlation, findings a run."""


def run_counts(
    rng: np.random.Generator, shape: tuple[int, int], plan: tuple[float, float, float, int], delta: float
) -> tuple[Floats, Floats]:
    """Return how many findings of each run differ in one way, and in the other; shape: (attempts, runs)."""
    planned, discordance, icc, findings = plan
    share = (1 + delta / discordance) / 2
    variance = icc * (discordance - planned**2) / (2 * discordance) ** 2
    size = share * (1 - share) / variance - 1 if variance else np.inf
    drawn = rng.beta(share * size, (1 - share) * size, shape) if variance else np.full(shape, share)
    up, down = discordance * drawn, discordance * (1 - drawn)
    gained = rng.binomial(findings, up)
    return gained, rng.binomial(findings - gained, np.minimum(down / (1 - up), 1))


def run_means(
    rng: np.random.Generator, shape: tuple[int, int], plan: tuple[float, float, float, int], delta: float
) -> Floats:
    """Return the mean differences of runs, of findings whose differences are -1, 0 or 1; shape: (attempts, runs)."""
    gained, lost = run_counts(rng, shape, plan, delta)
    return np.asarray((gained - lost) / plan[3])


def planned_runs(simulations: int) -> Iterator[str]:
    """Yield the lines of the table on needed runs: how often a t interval of so many runs leaves 0 out."""
    yield "| delta | discordance | correlation | findings a run | runs | shown (80 % planned) | shown without any |"
    yield "|" + "--:|" * 7
    rng = np.random.default_rng(0)
    for plan in PLANS:
        delta, discordance, icc, findings = plan
        found = vp.sample_size(delta=delta, discordance=discordance, icc=icc, n_findings=findings)
        runs = int(found.needed["runs"].iloc[0])
        shown = [_shown(run_means(rng, (10 * simulations, runs), plan, true)) for true in (delta, 0.0)]
        words = " | ".join(f"{100 * share:.1f}" for share in shown)
        yield f"| {delta} | {discordance} | {icc} | {findings} | {runs} | {words} |"


def _shown(means: Floats) -> float:
    runs = means.shape[1]
    statistic = np.abs(means.mean(axis=1)) / (means.std(axis=1, ddof=1) / np.sqrt(runs))
    return float(np.mean(statistic > student.ppf(0.975, runs - 1)))


PILOT_RUNS = (3, 5, 12, 30)


def pilots(simulations: int) -> Iterator[str]:
    """Yield the lines of the table on pilots: how often their interval of the runs needed holds that number."""
    yield "| delta | discordance | correlation | findings a run | runs of the pilot | held | median interval |"
    yield "|" + "--:|" * 7
    rng = np.random.default_rng(0)
    for plan, n_runs in product((PLANS[0], PLANS[3]), PILOT_RUNS):
        delta, discordance, icc, findings = plan
        [needed] = needed_runs(delta, discordance, icc, [findings], 0.8, 0.95)
        clusters = Clusters(np.repeat(np.arange(n_runs), findings), np.arange(n_runs * findings))
        names = tuple(map(str, range(n_runs)))
        low, high = [], []
        for _ in range(simulations // 2):
            gained, lost = run_counts(rng, (n_runs, 1), plan, delta)
            order = np.arange(findings)
            values = (order < gained).astype(float) - ((order >= gained) & (order < gained + lost))
            pilot = RunDifferences("held", ("a", "b"), values.ravel(), clusters, names, synthetic=True)
            ends = planning_ends(delta, discordance_of(pilot), intra_run_correlation(pilot))
            runs = [needed_runs(delta, *end, [findings], 0.8, 0.95)[0] for end in ends]
            low.append(runs[0])
            high.append(runs[2])
        held = np.mean((np.array(low) <= needed) & (needed <= np.array(high)))
        interval = f"{np.median(low):.0f} to {np.median(high):.0f} ({needed})"
        yield f"| {delta} | {discordance} | {icc} | {findings} | {n_runs} | {100 * held:.1f} | {interval} |"


LOOKS, FIRST_TEST = 100, 5
SHOWN_LOOKS = (10, 25, 50, 100)


def repeated_looks(simulations: int) -> Iterator[str]:
    """Yield the lines of the table on looks after every run; repeated t tests begin at the fifth."""
    columns = " | ".join(f"width at {look}" for look in SHOWN_LOOKS)
    yield f"| true difference | repeated t excludes it | sequence excludes it | 0 excluded by | {columns} |"
    yield "|--:|--:|--:|---|" + "--:|" * len(SHOWN_LOOKS)
    for delta in (0.0, 0.1, 0.2):
        rng = np.random.default_rng(int(100 * delta))
        every = run_means(rng, (simulations, LOOKS), (delta, 0.3, 0.05, 20), delta)
        ends = np.array([confidence_sequence(means) for means in every])
        low, high = ends[:, 0], ends[:, 1]
        number = np.arange(FIRST_TEST, LOOKS + 1)
        tested = np.s_[:, FIRST_TEST - 1 :]
        mean = np.cumsum(every, axis=1)[tested] / number
        spread = np.sqrt((np.cumsum(every**2, axis=1)[tested] - number * mean**2) / (number - 1))
        half = student.ppf(0.975, number - 1) * spread / np.sqrt(number)
        by_t = np.mean((np.abs(mean - delta) > half).any(axis=1))
        missed = np.mean(((low > delta) | (high < delta)).any(axis=1))
        out = (low > 0) | (high < 0)
        first = np.where(out.any(axis=1), out.argmax(axis=1) + 1, np.inf)
        when = "-" if np.isinf(np.median(first)) else f"run {np.median(first):.0f} (median)"
        widths = [
            f"{np.mean((high - low)[:, look - 1]):.2f} / {2 * np.mean(half[:, look - FIRST_TEST]):.2f}"
            for look in SHOWN_LOOKS
        ]
        yield f"| {delta} | {100 * by_t:.1f} | {100 * missed:.1f} | {when} | " + " | ".join(widths) + " |"


def main() -> None:
    """Print every table."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS
    for table in (planned_runs, pilots, repeated_looks):
        for line in table(simulations):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
