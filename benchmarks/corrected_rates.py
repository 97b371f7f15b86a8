"""Whether intervals of corrected rates hold the truth, under each design of labels.

By simulation; it prints the tables of docs/statistics.md.

Run it with `make bench-statistics`; a number as argument sets the simulations of each cell (600). Seeded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.rates.corrected import mean_interval
from verifyplan.analysis.rates.judged_items import JudgedItems
from verifyplan.analysis.rates.label_checks import note_label_rates
from verifyplan.analysis.rates.prediction_powered import estimate_powered
from verifyplan.analysis.rates.rogan_gladen import estimate_corrected, panel_shares
from verifyplan.analysis.rates.stratified import estimate_stratified

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
METHODS = ("prediction-powered", "rogan-gladen", "the paper's")
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


STANDARD_NORMAL = np.random.default_rng(0).standard_normal(1_000_000)
MARGINAL = {panel: float(moved(values[0], RUN_SPREAD * STANDARD_NORMAL).mean()) for panel, values in PANELS.items()}
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


class Case(NamedTuple):
    """A panel and how many labels it has."""

    name: str
    rate: float
    sensitivity: float
    specificity: float
    n_labels: int
    accepted: float
    """By verdict: the share of the labels that are on accepted items."""


CASES = (
    Case("half true", 0.5, 0.85, 0.85, 100, 0.8),
    Case("three in ten", 0.3, 0.85, 0.85, 100, 0.5),
    Case("a fifth", 0.2, 0.85, 0.85, 100, 0.6),
    Case("half true", 0.5, 0.85, 0.85, 20, 0.8),
    Case("three in ten", 0.3, 0.85, 0.85, 50, 0.8),
    Case("rare", 0.05, 0.9, 0.97, 20, 0.5),
    Case("rare", 0.05, 0.9, 0.97, 100, 0.5),
    Case("good panel", 0.5, 0.95, 0.95, 50, 0.2),
    Case("poor panel", 0.5, 0.7, 0.7, 20, 0.8),
    Case("poor panel", 0.5, 0.7, 0.7, 50, 0.8),
    Case("poor panel", 0.5, 0.7, 0.7, 200, 0.8),
)
DESIGNS = ("random", "by-truth", "by-verdict")
DESIGN_METHODS = (
    ("random", "prediction-powered"),
    ("random", "rogan-gladen"),
    ("by-truth", "rogan-gladen"),
    ("by-verdict", "stratified"),
    ("by-verdict", "rogan-gladen"),
)
"""The last is refused, and shown as a warning."""


def drawn_by(design: str, rng: np.random.Generator, case: Case, said: Floats, truth: Floats) -> npt.NDArray[np.int64]:
    """Return the labelled items: of any, half of them true, or so many of the accepted as the case says."""
    if design == "random":
        return rng.choice(len(said), case.n_labels, replace=False)
    values, share = (truth, 0.5) if design == "by-truth" else (said, case.accepted)
    of_ones = min(round(share * case.n_labels), int(values.sum()))
    kinds = ((1.0, of_ones), (0.0, case.n_labels - of_ones))
    return np.concatenate([rng.choice(np.flatnonzero(values == kind), n, replace=False) for kind, n in kinds])


def judged_by(design: str, rng: np.random.Generator, case: Case, spread: float) -> JudgedItems:
    """Return 1,000 items with labels; by truth these are of a set of its own, half of it true, judged as the others."""
    n = OTHERS + (4 * case.n_labels if design == "by-truth" else 0)
    runs = np.arange(n) // RUN_SIZE
    by = rng.normal(0, spread, (3, runs[-1] + 1))[:, runs]
    own_set = np.arange(n) >= OTHERS
    rate = np.where(own_set, 0.5, moved(case.rate, by[0]))
    said, truth = items(rng, n, rate, (moved(case.sensitivity, by[1]), moved(case.specificity, by[2])))
    known = np.full(n, np.nan)
    if design == "by-truth":
        chosen = OTHERS + drawn_by(design, rng, case, said[own_set], truth[own_set])
        kept = ~own_set
        kept[chosen] = True
    else:
        chosen = drawn_by(design, rng, case, said, truth)
        kept = np.ones(n, dtype=bool)
    known[chosen] = truth[chosen]
    clusters = Clusters(runs, np.arange(n)).take(kept) if spread else None
    return JudgedItems(said[kept], known[kept], clusters)


def estimate(judged: JudgedItems, method: str) -> tuple[float, float, float] | None:
    """Return a method's value, low and high; None where it gives none."""
    if method == "prediction-powered":
        return estimate_powered(judged)[:3]
    if method == "stratified":
        return estimate_stratified(judged)[:3]
    if not {0.0, 1.0} <= set(judged.truth[judged.labelled]):
        return None
    return estimate_corrected(*panel_shares(judged))


def design_cells(case: Case, layout: str, simulations: int) -> Iterator[str]:
    """Yield of each method coverage, bias in points and mean width, and where it often gives no rate, how often.

    Last how often the note on label rates appears if labels are called random: where they are, and by verdict.
    """
    spread = 0.0 if layout == "independent" else RUN_SPREAD
    true_rate = float(moved(case.rate, spread * STANDARD_NORMAL).mean())
    draws: dict[str, list[JudgedItems]] = {}
    for design in DESIGNS:
        rng = np.random.default_rng([CASES.index(case), DESIGNS.index(design), LAYOUTS.index(layout)])
        draws[design] = [judged_by(design, rng, case, spread) for _ in range(simulations)]
    for design, method in DESIGN_METHODS:
        found = [estimate(judged, method) for judged in draws[design]]
        known = np.array([each for each in found if each])
        if len(known) < simulations / 10:
            yield "-"
            continue
        value, low, high = known.T
        covered = 100 * np.mean((low <= true_rate) & (true_rate <= high))
        none = 1 - len(known) / simulations
        words = f", none in {100 * none:.0f} %" if none >= 0.05 else ""
        yield f"{covered:.1f} ({100 * np.mean(value - true_rate):+.1f}; {np.mean(high - low):.2f}{words})"
    noted = [np.mean([any(note_label_rates(each)) for each in draws[design]]) for design in ("random", "by-verdict")]
    yield " / ".join(f"{100 * share:.1f}" for share in noted)


def label_designs(simulations: int) -> Iterator[str]:
    """Yield the lines of the table on the designs of labels."""
    heads = " | ".join(f"{design}: {method}" for design, method in DESIGN_METHODS)
    yield f"| items | panel | labels | on accepted | {heads} | noted: random / by-verdict |"
    yield "|---|---|--:|--:|" + "--:|" * (len(DESIGN_METHODS) + 1)
    for layout in ("independent", "sample of runs"):
        for case in CASES:
            panel = f"{case.name}: {case.rate}, {case.sensitivity} / {case.specificity}"
            cells = " | ".join(design_cells(case, layout, simulations))
            where = "independent" if layout == "independent" else "in runs"
            yield f"| {where} | {panel} | {case.n_labels} | {100 * case.accepted:.0f} % | {cells} |"


def main() -> None:
    """Print every table."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS
    for table in (label_designs, corrected_rates):
        for line in table(simulations):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
