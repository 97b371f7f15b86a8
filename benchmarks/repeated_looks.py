"""Whether repeated looks do no harm.

By simulation; it prints the tables of docs/statistics.md.

Run it with `make bench-statistics`; a number as argument sets the simulations of each cell (600). Seeded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from verifyplan.analysis.study_design.monitor import confidence_sequence

Floats = npt.NDArray[np.float64]

SIMULATIONS = 600


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
    lost = rng.binomial(findings - gained, np.minimum(down / (1 - up), 1))
    return gained.astype(np.float64), lost.astype(np.float64)


def run_means(
    rng: np.random.Generator, shape: tuple[int, int], plan: tuple[float, float, float, int], delta: float
) -> Floats:
    """Return the mean differences of runs, of findings whose differences are -1, 0 or 1; shape: (attempts, runs)."""
    gained, lost = run_counts(rng, shape, plan, delta)
    return np.asarray((gained - lost) / plan[3])


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
    """Print the table."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS
    for line in repeated_looks(simulations):
        print(line, flush=True)


if __name__ == "__main__":
    main()
