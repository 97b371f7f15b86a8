"""Tables of labels for tests, and crowd-kit to hold results against."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd


def simulated(units: int, accuracies: list[float], labels: int = 2, seed: int = 0, shared: float = 0.0) -> pd.DataFrame:
    """Return votes of workers who are right as often as `accuracies` say; `shared`: how often all err alike."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(labels, size=units)
    wrong = (truth + rng.integers(1, labels, size=units)) % labels
    alike, luck = rng.random(units) < shared, rng.random(units)
    rows = []
    for name, accuracy in enumerate(accuracies):
        right = np.where(alike, luck, rng.random(units)) < accuracy
        each = np.where(alike, wrong, (truth + rng.integers(1, labels, size=units)) % labels)
        said = np.where(right, truth, each)
        rows.append(pd.DataFrame({"item": np.arange(units), "worker": f"w{name}", "label": said, "truth": truth}))
    return pd.concat(rows, ignore_index=True)


def by_crowd_kit(model, table: pd.DataFrame, how: str = "fit") -> object:
    """Return a model of crowd-kit that was fitted to a table of item, worker and label."""
    named = table.rename(columns={"item": "task"})[["task", "worker", "label"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it calls pandas in ways that are going to end
        return getattr(model, how)(named)
