"""How often the intervals of a panel's figures hold the truth, by simulation, as a table of docs/statistics.md.

Run it with `make bench-statistics`. With chance r the judges of an item all err alike, else each by itself.
"""

from __future__ import annotations

import numpy as np

from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.effective_votes import effective_votes, effective_votes_interval
from verifyplan.analysis.panels.error_correlation import error_correlation
from verifyplan.analysis.panels.panel_answers import Ints, PanelAnswers

REPETITIONS, SEED = 2000, 0
ITEMS = (8, 12, 20, 30, 50, 100, 400)
PANELS = (
    (5, 0.0, 0.3), (5, 0.25, 0.3), (5, 0.25, 0.1), (5, 0.6, 0.1), (3, 0.6, 0.2), (8, 0.7, 0.3), (20, 0.3, 0.3),
    (10, 0.25, 0.05),
)  # fmt: skip
"""Judges, correlation of errors, share of errors."""


def answers(n_items: int, judges: int, correlation: float, errors: float, rng: np.random.Generator) -> PanelAnswers:
    """Return the answers of judges to items, of one class of truth, with a correlation of errors that is known."""
    alike = rng.random((n_items, 1)) < correlation
    wrong = np.where(alike, rng.random((n_items, 1)) < errors, rng.random((n_items, judges)) < errors)
    same: Ints = np.zeros(n_items, dtype=np.int64)
    names = tuple(map(str, range(judges)))
    clusters = Clusters(same, np.arange(n_items))
    return PanelAnswers(names, wrong.astype(np.int64), 2, True, same, clusters, np.ones(judges), False)


def coverage(n_items: int, judges: int, correlation: float, errors: float, repetitions: int) -> tuple[float, float]:
    """Return how often there is an interval, and how often it holds the truth where there is."""
    rng, truth = np.random.default_rng(SEED), effective_votes(judges, correlation)
    there, held = 0, 0
    for _ in range(repetitions):
        drawn = answers(n_items, judges, correlation, errors, rng)
        worth, _ = effective_votes_interval(error_correlation(drawn, "plain"), drawn.clusters)
        there += bool(np.isfinite(worth.low))
        held += worth.low <= truth <= worth.high
    return there / repetitions, held / there if there else np.nan


def main(repetitions: int = REPETITIONS) -> None:
    """Print the table."""
    print("| judges | r | share of errors | " + " | ".join(f"{n} items" for n in ITEMS) + " |")
    print("|--:|--:|--:|" + "--:|" * len(ITEMS))
    for panel in PANELS:
        cells = []
        for n_items in ITEMS:
            there, held = coverage(n_items, *panel, repetitions)
            part = f" ({100 * there:.0f})" if there < 0.995 else ""
            cells.append(f"{100 * held:.1f}{part}" if there else "-")
        print("| " + " | ".join([*(f"{figure:g}" for figure in panel), *cells]) + " |")


if __name__ == "__main__":
    main()
