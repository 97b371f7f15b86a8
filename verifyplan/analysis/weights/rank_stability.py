"""Measure how often plans keep their ranks, or stay above a threshold, under drawn weights (rule F4)."""

from __future__ import annotations

from math import ceil, floor
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.weights.dirichlet import Drawn, Ranks, draw, ranks_above
from verifyplan.analysis.weights.score_table import Floats
from verifyplan.analysis.weights.scored import whole_or_missing, with_attrs
from verifyplan.analysis.weights.simplex import WeightsOfScores
from verifyplan.errors import Problem
from verifyplan.frames.load import Runs

_TAIL = 0.025

_NO_RANK = 2**62

Ranked = Literal["all", "above"]
"""Which plans are ranked in a draw: all, or those that reach the threshold."""


def rank_stability(
    scores: Runs | pd.DataFrame,
    weights: WeightsOfScores = None,
    *,
    concentration: float = 50.0,
    draws: int = 2000,
    seed: int = 0,
    threshold: float | None = None,
    ranked: Ranked = "all",
) -> pd.DataFrame:
    """Return how often each plan keeps its rank, comes first, or stays above a threshold, under drawn weights.

    Weights are drawn from a Dirichlet distribution whose mean is `weights`; a weight of 0 stays 0. `concentration`
    says how sure the weights are: as sure as if so many people had each named the one dimension that matters most
    and the weights were the shares of their votes. The standard deviation of a weight w is sqrt(w (1 - w) /
    (concentration + 1)): a weight of 0.25 is 0.25 ± 0.13 at 10, ± 0.06 at 50, ± 0.03 at 200. With few (2, say) nearly
    all of a drawn weight may lie on one dimension.

    Args:
        scores: as `wide` takes them.
        weights: the centre, as `apply` takes them.
        concentration: above 0; the larger, the closer to the centre.
        draws: how many weights are drawn, up to 1,000,000.
        seed: of the draws; the same seed gives the same table.
        threshold: a score that counts as above if it is reached; it is compared with the sum before rounding, so
            give 6.5 for a final score of 7.
        ranked: `all` ranks every plan in every draw; `above`, for very many plans, only those that reach the threshold
            in it, some hundred times as fast. A plan then keeps its rank, or comes first, in draws in which it is
            ranked, and `low_rank, high_rank` are of these draws alone.

    Returns:
        One row a plan: `plan, score, rank` at the centre, and of the draws `kept_rank` (the share with that rank),
        `low_rank, high_rank` (the middle 95 % of ranks, in whole ranks), `first` (the share with rank 1, ties
        included), `above` (the share at or above the threshold; NaN without one). Plans of equal scores tie in every
        draw. A plan that lacks a dimension has none of these. `attrs` hold draws, concentration, seed, threshold.
        The score informs and never decides a verdict.

    Raises:
        InputError: listing all that is wrong with scores, weights and settings.

    >>> table = pd.DataFrame({"wit": [7, 5, 1], "depth": [4, 5, 1]}, index=["a", "b", "c"])
    >>> ranks = rank_stability(table, {"wit": "0.6", "depth": "0.4"}, draws=500)
    >>> ranks[["plan", "rank", "low_rank", "high_rank"]]
      plan  rank  low_rank  high_rank
    0    a     1         1          1
    1    b     2         2          2
    2    c     3         3          3
    """
    problems = []
    if ranked not in ("all", "above"):
        problems.append(Problem("ranked", f"must be 'all' or 'above', got {ranked!r:.80}", "give one of the two"))
    elif ranked == "above" and threshold is None:
        problems.append(Problem("threshold", "is missing: ranked='above' ranks the plans that reach it", "give one"))
    drawn = draw(scores, weights, concentration, draws, seed, threshold, problems)
    shares, low, high = _of_kinds(drawn) if ranked == "all" else _of_kinds_above(drawn)
    table, base, known = drawn.table, drawn.base, drawn.base.known

    def of_plans(of_kinds: npt.NDArray[Any], missing: float) -> npt.NDArray[Any]:
        values = np.full(len(known), missing, dtype=of_kinds.dtype)
        values[known] = of_kinds[drawn.kind]
        return values

    columns: dict[str, Any] = {
        "plan": table.index,
        "score": base.score,
        "rank": whole_or_missing(base.rank, known),
        "kept_rank": of_plans(shares["kept_rank"], np.nan),
        "low_rank": whole_or_missing(of_plans(low, 0), of_plans(low, 0) > 0),
        "high_rank": whole_or_missing(of_plans(high, 0), of_plans(low, 0) > 0),
        "first": of_plans(shares["first"], np.nan),
        "above": of_plans(shares["above"], np.nan),
    }
    return with_attrs(pd.DataFrame(columns), table, **drawn.attrs)


def _of_kinds(drawn: Drawn) -> tuple[dict[str, Floats], Ranks, Ranks]:
    """Return, of each kind of plan, shares of draws, and the lowest and highest rank of the middle 95 %."""
    draws, kinds, base = len(drawn.weights), len(drawn.count), drawn.base_rank
    counts = {name: np.zeros(kinds) for name in ("kept_rank", "first", "above")}
    n_low, n_high = floor(_TAIL * (draws - 1)) + 1, draws - ceil((1 - _TAIL) * (draws - 1))
    low, high = (np.empty((0, kinds), dtype=np.int64) for _ in range(2))
    for scores, ranks in drawn.blocks():
        counts["kept_rank"] += (ranks == base).sum(axis=0)
        counts["first"] += (ranks == 1).sum(axis=0)
        counts["above"] += np.nan if drawn.attrs["threshold"] is None else drawn.reached(scores).sum(axis=0)
        low, high = _lowest(low, ranks, n_low), -_lowest(-high, -ranks, n_high)
    shares = {name: count / draws for name, count in counts.items()}
    return shares, low.max(axis=0, initial=0), high.min(axis=0, initial=_NO_RANK)


def _of_kinds_above(drawn: Drawn) -> tuple[dict[str, Floats], Ranks, Ranks]:
    """Return what `_of_kinds` does, from draws in which a plan reaches the threshold; ranks are 0 where none is."""
    found = ranks_above(drawn, _TAIL)
    return {"kept_rank": found.kept_rank, "first": found.first, "above": found.above}, found.low, found.high


def _lowest(kept: Ranks, ranks: Ranks, n: int) -> Ranks:
    """Return the n lowest of each column, in any order, of the kept ranks and of new ones."""
    every = np.concatenate([kept, ranks])
    return every if len(every) <= n else np.partition(every, n - 1, axis=0)[:n]
