"""Whether the runs that `sample_size` and `power` name show a difference, by simulation, as in docs/statistics.md.

Run it with `make bench-statistics`; a number as argument sets the simulations of each cell (3,000). Seeded. Data are
those of two conditions over the same findings, and a difference is shown where the interval of `compare` leaves 0 out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.cluster_intervals import LEVEL, share_difference
from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.study_design.power import discordance_of, intra_run_correlation, planning_ends
from verifyplan.analysis.study_design.run_differences import RunDifferences
from verifyplan.analysis.study_design.sample_size import POWER, needed_runs

Array = npt.NDArray[np.float64]

SIMULATIONS = 3000


@dataclass(frozen=True)
class Plan:
    """A study that is planned: what `sample_size` is asked for."""

    name: str
    delta: float
    discordance: float
    icc: float
    findings: int
    claim_icc: float | None = None
    """Of the same claims in every run; None for other claims in every run."""

    @property
    def runs(self) -> int:
        """The runs that show the difference with a power of 80 %; those of one finding each are claims of one run."""
        [runs] = needed_runs(self.delta, self.discordance, self.icc, [self.findings], POWER, LEVEL, self.claim_icc)
        if runs is None:
            raise ValueError(f"no number of runs shows the difference of {self}")
        return runs


PLANS = (
    Plan("runs of some findings", 0.1, 0.3, 0.05, 20),
    Plan("runs that differ much", 0.2, 0.4, 0.3, 20),
    Plan("small difference", 0.05, 0.2, 0.05, 50),
    Plan("few runs of many findings", 0.15, 0.3, 0.1, 100),
    Plan("the same claims in every run", 0.1, 0.3, 0.05, 40, 0.0),
    Plan("the same claims, which differ", 0.1, 0.3, 0.05, 40, 0.03),
    Plan("claims of one run", 0.1, 0.3, 0.0, 1),
)


def differences(plan: Plan, runs: int, delta: float, rng: np.random.Generator) -> Array:
    """Return the differences of findings, -1, 0 or 1, of shape (runs, findings).

    The mean difference of a run, and of a claim, varies by a beta distribution, so that two findings of one run have
    the correlation of the plan. All other things are the same where the true difference is another than planned.
    """
    variance = plan.discordance - delta**2
    means = delta + _effect(plan, delta, plan.icc * variance, (runs, 1), rng)
    if plan.claim_icc is not None:
        means = means + _effect(plan, delta, plan.claim_icc * variance, (1, plan.findings), rng)
    means = np.clip(means, -plan.discordance, plan.discordance)
    drawn = rng.random((runs, plan.findings))
    gained = drawn < (plan.discordance + means) / 2
    return np.where(gained, 1.0, np.where(drawn < plan.discordance, -1.0, 0.0))


def _effect(plan: Plan, delta: float, variance: float, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    if variance == 0:
        return np.zeros(shape)
    share = (1 + delta / plan.discordance) / 2
    size = share * (1 - share) / (variance / (2 * plan.discordance) ** 2) - 1
    return np.asarray((2 * rng.beta(share * size, (1 - share) * size, shape) - 1) * plan.discordance - delta)


def shown(plan: Plan, delta: float, simulations: int, seed: int = 0) -> float:
    """Return how often the interval of as many runs as the plan names leaves 0 out."""
    rng, runs = np.random.default_rng(seed), plan.runs
    run, claim = np.divmod(np.arange(runs * plan.findings), plan.findings)
    if plan.findings == 1:
        run, claim = claim, run
    elif plan.claim_icc is None:
        claim = np.arange(len(run))
    clusters, every = Clusters(run, claim), np.ones(len(run))
    count = 0
    for _ in range(simulations):
        moves = differences(plan, runs, delta, rng).ravel()
        kept = rng.random(len(moves)) < 0.5
        second = (moves > 0) | ((moves == 0) & kept)
        low, high = share_difference(second - moves, every, second, every, clusters).interval()[1:3]
        count += low > 0 or high < 0
    return count / simulations


def planned(simulations: int) -> Iterator[str]:
    """Yield the lines of the table on planned studies."""
    yield (
        "| study | delta | discordance | correlation | by claim | findings a run | runs | shown (80 % planned) | shown "
        "without any |"
    )
    yield "|---|" + "--:|" * 8
    for plan in PLANS:
        rates = " | ".join(f"{100 * shown(plan, delta, simulations):.1f}" for delta in (plan.delta, 0.0))
        alone = plan.findings == 1
        by_claim = "-" if plan.claim_icc is None else f"{plan.claim_icc:g}"
        size = (plan.runs, 1) if alone else (plan.findings, plan.runs)
        cells = [plan.name, plan.delta, plan.discordance, "-" if alone else plan.icc, by_claim, *size, rates]
        yield f"| {' | '.join(map(str, cells))} |"


PILOT_RUNS = (3, 5, 12, 30)


def pilots(simulations: int) -> Iterator[str]:
    """Yield the lines of the table on pilots: how often their interval of the runs needed holds that number."""
    yield "| delta | discordance | correlation | findings a run | runs of the pilot | held | median interval |"
    yield "|" + "--:|" * 7
    rng = np.random.default_rng(0)
    for plan, n_runs in product(PLANS[:2], PILOT_RUNS):
        clusters = Clusters(np.repeat(np.arange(n_runs), plan.findings), np.arange(n_runs * plan.findings))
        names, ends = tuple(map(str, range(n_runs))), []
        for _ in range(simulations // 10):
            values = differences(plan, n_runs, plan.delta, rng).ravel()
            pilot = RunDifferences("held", ("a", "b"), values, clusters, names, synthetic=True)
            low, _, high = planning_ends(plan.delta, discordance_of(pilot), intra_run_correlation(pilot))
            ends.append(
                [
                    needed_runs(plan.delta, end.discordance, end.icc, [plan.findings], POWER, LEVEL)[0]
                    for end in (low, high)
                ]
            )
        least, most = np.array(ends, dtype=float).T
        held = np.mean((least <= plan.runs) & (plan.runs <= most))
        interval = f"{np.median(least):.0f} to {np.median(most):.0f} ({plan.runs})"
        cells = [plan.delta, plan.discordance, plan.icc, plan.findings, n_runs, f"{100 * held:.1f}", interval]
        yield f"| {' | '.join(map(str, cells))} |"


def main(simulations: int = SIMULATIONS) -> None:
    """Print both tables."""
    for table in (planned, pilots):
        for line in table(simulations):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
