"""Made-up scores of plans with an overall score, to try weights on: always marked synthetic."""

from __future__ import annotations

import numpy as np
import pandas as pd

from verifyplan.errors import Problem, SettingsError
from verifyplan.protocol.records import DIMENSIONS

PEOPLE = (0.35, 0.25, 0.10, 0.10, 0.15, 0.05)
"""What each dimension counts for in the overall scores, in the order of the dimensions: what a fit should find."""


def example_scores(n: int = 40, seed: int = 7) -> pd.DataFrame:
    """Scores from 1 to 10 of `n` made-up plans, one row a plan and one column a dimension, and a column `overall`.

    A plan has a quality of its own, each dimension strays from it by itself, and `overall` is what somebody would
    say who weighs the dimensions 35, 25, 10, 10, 15, 5 % and strays by about half a point. Nobody scored anything:
    `attrs["synthetic"]` is True. Raises SettingsError for less than one plan.

    >>> example_scores(3).shape, example_scores(3).attrs
    ((3, 7), {'synthetic': True})
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise SettingsError(Problem("n", f"{n!r} is out of range", "give a whole number from 1"))
    rng = np.random.default_rng(seed)
    quality = rng.normal(6.5, 1.5, size=(n, 1))
    scores = np.clip(np.rint(quality + rng.normal(0, 1.6, size=(n, len(DIMENSIONS)))), 1, 10)
    overall = np.clip(np.rint((scores @ np.array(PEOPLE) + rng.normal(0, 0.5, size=n)) * 2) / 2, 1, 10)
    names = pd.Index([f"plan-{number:02d}" for number in range(1, n + 1)], name="plan")
    table = pd.DataFrame(scores, index=names, columns=list(DIMENSIONS)).assign(overall=overall)
    table.attrs["synthetic"] = True
    return table
