"""The plans that the weight tuner ranks: read once, scored under any weights in a few milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd

from verifyplan.analysis.weights.one_at_a_time import sensitivity
from verifyplan.analysis.weights.rank_shares import sweep
from verifyplan.analysis.weights.rank_stability import stability
from verifyplan.analysis.weights.score_table import wide
from verifyplan.analysis.weights.scored import Plans, apply, whole_or_missing
from verifyplan.charts.figure import Figure
from verifyplan.charts.rank_stability import rank_stability
from verifyplan.charts.ranking import Rankings
from verifyplan.charts.sensitivity import sensitivity as tornado
from verifyplan.frames.runset import RunSet

DRAWS = 200
"""Weights drawn to see how stable a ranking is: enough for a share to be sure within 7 points."""

DRAWN = 15
"""Plans in the picture that follows the sliders: most of its time goes into measuring their names."""

Digits = Mapping[str, Decimal]


class TunedScores:
    """Plans with scores, under the weights to start from and under any others."""

    def __init__(self, scores: RunSet | pd.DataFrame, threshold: float | None) -> None:
        self.table = wide(scores)
        self.threshold = threshold
        self._plans = Plans.of(self.table)
        values = self.table.to_numpy(dtype=np.float64)[self._plans.known]
        domain = (float(values.min()), float(values.max())) if values.size else None
        self._rankings = Rankings(domain=domain, most=DRAWN)

    @property
    def n_ranked(self) -> int:
        """How many plans have every score."""
        return int(self._plans.known.sum())

    def begin(self, weights: Digits) -> None:
        """Take these as the weights to start from."""
        self.start = apply(self.table, weights)

    def under(self, weights: Digits) -> pd.DataFrame:
        """What `weights.apply` returns, without reading the scores again."""
        found = self._plans.under({name: Fraction(weights[name]) for name in self.table.columns})
        return self.start.assign(
            score=found.score,
            final=whole_or_missing(found.final, found.known),
            rank=whole_or_missing(found.rank, found.known),
        )

    def ranked(self, weights: Digits) -> pd.DataFrame:
        """The plans by their ranks, with the rank that each had at the start (`was`); those without a rank last."""
        now = self.under(weights).assign(was=self.start["rank"])
        by_rank = now.sort_values("rank", kind="stable", na_position="last").reset_index(drop=True)
        return by_rank[["plan", "score", "final", "rank", "was", "missing"]]

    def picture(self, weights: Digits) -> Figure:
        """The chart of the ranking; its axis stays while weights change."""
        return self._rankings.draw(self.under(weights), self.start)

    def stability(self, weights: Digits) -> pd.DataFrame:
        """How stable the ranking is, as `weights.stability` tells it."""
        return stability(self.table, dict(weights), draws=DRAWS, threshold=self.threshold)

    def rank_picture(self, weights: Digits) -> Figure:
        """How sure each rank is under drawn weights."""
        return rank_stability(sweep(self.table, dict(weights), draws=DRAWS, threshold=self.threshold))

    def weight_picture(self, weights: Digits) -> Figure:
        """What each weight does to the scores."""
        return tornado(sensitivity(self.table, dict(weights)))
