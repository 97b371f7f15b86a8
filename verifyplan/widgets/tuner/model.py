"""The model of the weight tuner: weights that always sum to 1, and the scores and ranks of plans under them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd

from verifyplan.analysis.weights.rank_stability import rank_stability
from verifyplan.analysis.weights.score_table import wide
from verifyplan.analysis.weights.scored import Plans, apply, sensitivity, whole_or_missing
from verifyplan.analysis.weights.simplex import Exact, Weight, Weights, checked, rebalance, to_decimals
from verifyplan.analysis.weights.stability_measures import stability_measures
from verifyplan.charts.figure import Figure
from verifyplan.charts.rank_stability import rank_stability as ranks_drawn
from verifyplan.charts.ranking import Rankings
from verifyplan.charts.sensitivity import sensitivity as tornado
from verifyplan.frames.load import Runs

N_DRAWS = 200
"""Weights drawn to measure how stable a ranking is: enough to know a share within 7 points."""

MAX_DRAWN_PLANS = 15
"""Plans in the chart that follows the sliders: most of its time goes into measuring their names."""

WeightDigits = Mapping[str, Decimal]


class TunedScores:
    """Plans with scores, under the first weights and under any others."""

    def __init__(self, scores: Runs | pd.DataFrame, threshold: float | None) -> None:
        self.table = wide(scores)
        self.threshold = threshold
        self._plans = Plans.of(self.table)
        values = self.table.to_numpy(dtype=np.float64)[self._plans.known]
        domain = (float(values.min()), float(values.max())) if values.size else None
        self._rankings = Rankings(domain=domain, limit=MAX_DRAWN_PLANS)

    @property
    def n_ranked(self) -> int:
        """How many plans have every score."""
        return int(self._plans.known.sum())

    def begin(self, weights: WeightDigits) -> None:
        """Take these as the first weights."""
        self.start = apply(self.table, weights)

    def under(self, weights: WeightDigits) -> pd.DataFrame:
        """Return what `weights.apply` returns, without reading the scores again."""
        scored = self._plans.under({name: Fraction(weights[name]) for name in self.table.columns})
        return self.start.assign(
            score=scored.score,
            final=whole_or_missing(scored.final, scored.known),
            rank=whole_or_missing(scored.rank, scored.known),
        )

    def ranked(self, weights: WeightDigits) -> pd.DataFrame:
        """The plans by their ranks, with the rank that each had at the start (`was`); those without a rank last."""
        now = self.under(weights).assign(was=self.start["rank"])
        by_rank = now.sort_values("rank", kind="stable", na_position="last").reset_index(drop=True)
        return by_rank[["plan", "score", "final", "rank", "was", "missing"]]

    def picture(self, weights: WeightDigits) -> Figure:
        """The chart of the ranking; its axis stays while weights change."""
        return self._rankings.draw(self.under(weights), self.start)

    def stability(self, weights: WeightDigits) -> pd.DataFrame:
        """Return how stable the ranking is, as `weights.stability_measures` does."""
        return stability_measures(self.table, dict(weights), draws=N_DRAWS, threshold=self.threshold)

    def rank_picture(self, weights: WeightDigits) -> Figure:
        """Draw how sure each rank is under drawn weights."""
        return ranks_drawn(rank_stability(self.table, dict(weights), draws=N_DRAWS, threshold=self.threshold))

    def weight_picture(self, weights: WeightDigits) -> Figure:
        """Draw the effect of each weight on the scores."""
        return tornado(sensitivity(self.table, dict(weights)))


PLACES = 4
"""Decimal places of weights that are adjusted; `to_decimals` distributes the rounding errors."""
MAX_PLACES = 15

_MAX_KNOWN_PLACES = 60


class TunedWeights:
    """Weights of some dimensions; one is moved at a time, the others change in proportion, locked ones stay.

    While the same weight is moved, the proportions are those from before its first move, so moving it back restores all
    weights, and rounding errors do not add up.

    >>> tuned = TunedWeights({"wit": "0.5", "depth": "0.3", "length": "0.2"})
    >>> tuned.move("wit", 1)
    >>> tuned.move("wit", "0.75")
    >>> tuned.weights
    {'wit': Decimal('0.7500'), 'depth': Decimal('0.1500'), 'length': Decimal('0.1000')}
    """

    def __init__(self, weights: Weights) -> None:
        self.weights = decimals(checked(weights, None))
        self.start = dict(self.weights)
        self.locked: set[str] = set()
        self._forget()

    def _forget(self) -> None:
        """Let the next move begin from the weights as they are."""
        self._before, self._moved = dict(self.weights), ""

    def set(self, weights: Weights) -> None:
        """Take these weights, of the same dimensions, and unlock all; SettingsError for invalid weights."""
        self.weights = decimals(checked(weights, list(self.weights)))
        self.locked.clear()
        self._forget()

    def lock(self, dimension: str, on: bool) -> None:
        """Keep a weight as it is while others are moved, or let it change again."""
        (self.locked.add if on else self.locked.discard)(dimension)
        self._forget()

    def move(self, dimension: str, to: Weight) -> None:
        """Move one weight as far as the locked ones allow; does nothing where `held` gives a reason."""
        if self.held(dimension):
            return
        if self._moved != dimension:
            self._forget()
            self._moved = dimension
        exact = rebalance(self._before, dimension, to, locked=self.locked)
        kept = [-int(self.weights[name].as_tuple().exponent) for name in self.locked]
        self.weights = to_decimals(exact, min(max(PLACES, *kept, 0), MAX_PLACES))

    def held(self, dimension: str) -> str:
        """Return why a weight cannot be moved; blank if it can."""
        if dimension in self.locked:
            return "locked"
        if len(self.weights) == 1:
            return "cannot move: it is the only dimension"
        if len(self.locked) == len(self.weights) - 1:
            return "cannot move: all others are locked"
        if sum(map(Fraction, (self.weights[name] for name in self.locked)), Fraction(0)) == 1:
            return "cannot move: the locked weights take all"
        return ""


def decimals(exact: Exact) -> dict[str, Decimal]:
    """Return fractions as decimals; if one is not a decimal, such as 1/3, all are rounded to four places.

    >>> decimals({"wit": Fraction(1, 8), "depth": Fraction(7, 8)})
    {'wit': Decimal('0.125'), 'depth': Decimal('0.875')}
    >>> decimals({"wit": Fraction(1, 3), "depth": Fraction(2, 3)})
    {'wit': Decimal('0.3333'), 'depth': Decimal('0.6667')}
    """
    places = {name: _places(weight) for name, weight in exact.items()}
    known = {name: place for name, place in places.items() if place is not None}
    if len(known) < len(exact):
        return to_decimals(exact, PLACES)
    return {name: Decimal(f"{int(weight * 10 ** known[name])}e-{known[name]}") for name, weight in exact.items()}


def _places(weight: Fraction) -> int | None:
    """Return how many decimal places a fraction needs; None if no number suffices."""
    rest, counts = weight.denominator, []
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        counts.append(power)
    return max(counts) if rest == 1 and max(counts) <= _MAX_KNOWN_PLACES else None
