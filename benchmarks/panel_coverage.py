"""How often the intervals of a panel's figures hold the truth, by simulation, as a table of docs/statistics.md.

Run it with `make bench-statistics`. With chance r the judges of an item all err alike, else each by itself.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.error_correlation import effective_votes, effective_votes_interval, error_correlation
from verifyplan.analysis.panels.panel_answers import Ints, PanelAnswers

REPETITIONS, SEED = 1000, 0
ITEMS = (50, 100, 400)
PANELS = ((5, 0.0, 0.3), (5, 0.25, 0.3), (5, 0.25, 0.1), (3, 0.6, 0.2), (8, 0.7, 0.3), (20, 0.3, 0.3))
"""Judges, correlation of errors, share of errors."""


def answers(n_items: int, judges: int, correlation: float, errors: float, rng: np.random.Generator) -> PanelAnswers:
    """Return the answers of judges to items, of one class of truth, with a correlation of errors that is known."""
    alike = rng.random((n_items, 1)) < correlation
    wrong = np.where(alike, rng.random((n_items, 1)) < errors, rng.random((n_items, judges)) < errors)
    same: Ints = np.zeros(n_items, dtype=np.int64)
    names = tuple(map(str, range(judges)))
    clusters = Clusters(same, np.arange(n_items))
    return PanelAnswers(names, wrong.astype(np.int64), 2, True, same, clusters, np.ones(judges), False)


def main(repetitions: int = REPETITIONS) -> None:
    """Print the table."""
    rows = []
    for judges, correlation, errors in PANELS:
        row: dict[str, object] = {"judges": judges, "correlation": correlation, "errors": errors}
        truth = effective_votes(judges, correlation)
        for n_items in ITEMS:
            rng = np.random.default_rng(SEED)
            held, together = 0, 0.0
            for _ in range(repetitions):
                drawn = answers(n_items, judges, correlation, errors, rng)
                found = error_correlation(drawn, "plain")
                worth, _ = effective_votes_interval(found, drawn.clusters)
                held += worth.low <= truth <= worth.high
                together += found.joint_errors / repetitions
            row[f"{n_items} items"] = f"{100 * held / repetitions:.1f} ({together:.1f})"
        rows.append(row)
    print(pd.DataFrame(rows).to_string(index=False))


if __name__ == "__main__":
    main()
