"""The sensitivity of scores and ranks to each weight, lowered and raised one at a time (rule F4)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from verifyplan.analysis.weights.scored import Plans, checked_inputs, fraction, whole_or_missing, with_attrs, within
from verifyplan.analysis.weights.simplex import Weights, moved
from verifyplan.frames.load import Runs

DIRECTIONS = ("lower", "higher")


def sensitivity(scores: Runs | pd.DataFrame, weights: Weights | None = None, *, by: float = 0.10) -> pd.DataFrame:
    """Return scores and ranks with each weight lowered and raised by `by`, one at a time, beside those under `weights`.

    A weight stays within 0 and 1; the others give way in proportion, or evenly where all of them are 0. A single
    dimension keeps its weight of 1. `scores` and `weights` are as `apply` takes them.

    One row a dimension, direction (`lower`, `higher`) and plan: `plan, dimension, direction, weight, score, rank,
    base_score, base_rank`; `weight` is the new weight of that dimension, and base is under `weights` themselves. A
    plan that lacks a dimension has no score and no rank. `attrs["by"]`. The score informs and never decides a
    verdict. Raises TableError and SettingsError listing all that is wrong.

    >>> table = pd.DataFrame({"wit": [7, 5], "depth": [4, 6]}, index=["a", "b"])
    >>> sensitivity(table, {"wit": "0.6", "depth": "0.4"}).query("dimension == 'wit' and plan == 'a'")[
    ...     ["direction", "weight", "score", "rank", "base_score"]]
      direction  weight  score  rank  base_score
    0     lower     0.5    5.5     1         5.8
    2    higher     0.7    6.1     1         5.8
    """
    table, exact = checked_inputs(scores, weights, within("by", by, 0, 1))
    plans, step = Plans.of(table), fraction(by)
    base = plans.under(exact)
    settings = [
        (name, direction, moved(exact, name, exact[name] + sign * step))
        for name in exact
        for direction, sign in zip(DIRECTIONS, (-1, 1), strict=True)
    ]
    scored = [plans.under(weights) for _, _, weights in settings]
    times, known = len(settings), np.tile(plans.known, len(settings))
    columns = {
        "plan": np.tile(table.index.to_numpy(dtype="object"), times),
        "dimension": np.repeat([name for name, _, _ in settings], len(table)),
        "direction": np.repeat([direction for _, direction, _ in settings], len(table)),
        "weight": np.repeat([float(weights[name]) for name, _, weights in settings], len(table)),
        "score": np.concatenate([moved_scores.score for moved_scores in scored]),
        "rank": whole_or_missing(np.concatenate([moved_scores.rank for moved_scores in scored]), known),
        "base_score": np.tile(base.score, times),
        "base_rank": whole_or_missing(np.tile(base.rank, times), known),
    }
    return with_attrs(pd.DataFrame(columns).astype({"plan": "str"}), table, by=float(by))
