"""Whether intervals of corrected rates hold the truth, planned runs show a difference, and repeated looks do no harm.

By simulation; it prints the tables of docs/statistics.md.

Run it with `make bench-statistics`; a number as argument sets the simulations of each cell (1,000). Seeded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.rates.corrected import mean_interval
from verifyplan.analysis.rates.judged_items import JudgedItems
from verifyplan.analysis.rates.prediction_powered import estimate_powered
from verifyplan.analysis.rates.rogan_gladen import estimate_corrected, panel_shares

Floats = npt.NDArray[np.float64]

SIMULATIONS = 1_000
LABELS = (20, 50, 100, 200)
OTHERS = 1_000
PANELS = {  # rate of true items, sensitivity, specificity
    "common, good panel": (0.5, 0.9, 0.9),
    "common, poor panel": (0.5, 0.75, 0.75),
    "a fifth": (0.2, 0.9, 0.9),
    "rare": (0.05, 0.9, 0.97),
}
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
    """Return of both methods how often the interval holds the true rate, and widths, that of labels alone last."""
    rng = np.random.default_rng([n_labels, list(PANELS).index(panel), LAYOUTS.index(layout)])
    rate, sensitivity, specificity = PANELS[panel]
    n = n_labels + OTHERS
    runs = np.arange(n) // RUN_SIZE
    spread = 0.0 if layout == "independent" else RUN_SPREAD
    clusters = None if layout == "independent" else Clusters(runs, np.arange(n))
    true_rate = MARGINAL[panel] if spread else rate
    found: list[list[tuple[float, float]]] = [[], []]
    alone = []
    for _ in range(simulations):
        by = rng.normal(0, spread, (3, runs[-1] + 1))[:, runs]
        said, truth = items(rng, n, moved(rate, by[0]), (moved(sensitivity, by[1]), moved(specificity, by[2])))
        chosen = np.arange(n_labels) if layout == "whole runs" else rng.choice(n, n_labels, replace=False)
        known = np.full(n, np.nan)
        known[chosen] = truth[chosen]
        judged = JudgedItems(said, known, clusters)
        found[0].append(estimate_powered(judged)[1:3])
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
    yield "|---|---|---|" + "---|" * len(PANELS)
    for layout in LAYOUTS:
        for n_labels in LABELS:
            cells = [coverage(panel, n_labels, simulations, layout) for panel in PANELS]
            for method, words in zip(("ppi", "corrected_rate"), zip(*cells, strict=True), strict=True):
                yield f"| `{method}` | {n_labels} | {layout} | " + " | ".join(words) + " |"


def main() -> None:
    """Print every table."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS
    for lines in (corrected_rates(simulations),):
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
