"""Whether intervals of corrected rates hold the truth, planned runs show a difference, and repeated looks do no harm.

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
from verifyplan.analysis.rates.corrected import mean_interval
from verifyplan.analysis.rates.judged_items import JudgedItems
from verifyplan.analysis.rates.prediction_powered import estimate_powered
from verifyplan.analysis.rates.rogan_gladen import estimate_corrected, panel_shares
from verifyplan.analysis.study_design.monitor import confidence_sequence
from verifyplan.analysis.study_design.power import discordance_of, intra_run_correlation, planning_ends
from verifyplan.analysis.study_design.run_differences import RunDifferences
from verifyplan.analysis.study_design.sample_size import needed_runs

Floats = npt.NDArray[np.float64]

SIMULATIONS = 600
LABELS = (20, 50, 100, 200)
OTHERS = 1_000
PANELS = {  # rate of true items, sensitivity, specificity
    "common, good panel": (0.5, 0.9, 0.9),
    "common, poor panel": (0.5, 0.75, 0.75),
    "a fifth": (0.2, 0.9, 0.9),
    "rare": (0.05, 0.9, 0.97),
}
METHODS = ("`ppi`", "`corrected_rate`", "the paper's")
"""The last is prediction-powered inference with a normal interval, as it was published."""
LAYOUTS = ("independent", "sample of runs", "whole runs")
"""Items are independent; come in runs, of which labels are a random sample; come in runs that are labelled whole."""
RUN_SIZE, RUN_SPREAD = 20, 0.3  # items a run; logits by which runs' rates and the panel's errors vary


def items(rng: np.random.Generator, n: int, rate: Floats, errors: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return what a panel says of n items, and their truth."""
    truth = rng.random(n) < rate
    sensitivity, specificity = errors
    said = np.where(truth, rng.random(n) < sensitivity, rng.random(n) >= specificity)
    return said.astype(float), truth.astype(float)


def moved(shares: float, by: Floats) -> Floats:
    """Return a share moved by logits."""
    return 1 / (1 + (1 - shares) / shares * np.exp(-by))


def coverage(panel: str, n_labels: int, simulations: int, layout: str) -> list[str]:
    """Return of each method how often the interval holds the true rate, and widths, that of labels alone last."""
    rng = np.random.default_rng([n_labels, list(PANELS).index(panel), LAYOUTS.index(layout)])
    rate, sensitivity, specificity = PANELS[panel]
    n = n_labels + OTHERS
    runs = np.arange(n) // RUN_SIZE
    spread = 0.0 if layout == "independent" else RUN_SPREAD
    clusters = None if layout == "independent" else Clusters(runs, np.arange(n))
    true_rate = MARGINAL[panel] if spread else rate
    found: list[list[tuple[float, float]]] = [[], [], []]
    alone = []
    for _ in range(simulations):
        by = rng.normal(0, spread, (3, runs[-1] + 1))[:, runs]
        said, truth = items(rng, n, moved(rate, by[0]), (moved(sensitivity, by[1]), moved(specificity, by[2])))
        chosen = np.arange(n_labels) if layout == "whole runs" else rng.choice(n, n_labels, replace=False)
        known = np.full(n, np.nan)
        known[chosen] = truth[chosen]
        judged = JudgedItems(said, known, clusters)
        powered = estimate_powered(judged)
        found[0].append((powered.low, powered.high))
        half = 1.96 * powered.standard_error
        found[2].append((powered.value - half, powered.value + half))
        if len(set(truth[chosen])) == 2 and (corrected := estimate_corrected(*panel_shares(judged))):
            found[1].append(corrected[1:3])
        labels = mean_interval(truth[chosen], judged.clusters_at(judged.labelled), share=True)
        alone.append(labels.high - labels.low)
    return [_words(np.array(intervals), true_rate, float(np.mean(alone))) for intervals in found]


def _words(intervals: Floats, true_rate: float, alone: float) -> str:
    if not len(intervals):
        return "-"
    low, high = intervals.T
    return f"{100 * np.mean((low <= true_rate) & (true_rate <= high)):.1f} ({np.mean(high - low):.3f} / {alone:.3f})"


SPREAD = np.random.default_rng(0).normal(0, RUN_SPREAD, 1_000_000)
MARGINAL = {panel: float(moved(values[0], SPREAD).mean()) for panel, values in PANELS.items()}
"""The true rate over all runs."""


def corrected_rates(simulations: int) -> Iterator[str]:
    """Yield the lines of the table on corrected rates."""
    yield "| method | labels | items | " + " | ".join(PANELS) + " |"
    yield "|---|--:|---|" + "--:|" * len(PANELS)
    for layout in LAYOUTS:
        for n_labels in LABELS:
            cells = [coverage(panel, n_labels, simulations, layout) for panel in PANELS]
            for method, words in zip(METHODS, zip(*cells, strict=True), strict=True):
                yield f"| {method} | {n_labels} | {layout} | " + " | ".join(words) + " |"


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
    for table in (corrected_rates, planned_runs, pilots, repeated_looks):
        for line in table(simulations):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
