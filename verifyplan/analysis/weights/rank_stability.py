"""How stable a ranking is under drawn weights, in a few measures (rule F4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, kendalltau

from verifyplan.analysis.intervals import interval
from verifyplan.analysis.weights.dirichlet import Drawn, Ranks, draw
from verifyplan.analysis.weights.rank_shares import draw_attrs, reached
from verifyplan.analysis.weights.score_table import Floats
from verifyplan.analysis.weights.scored import with_attrs
from verifyplan.analysis.weights.simplex import Weights
from verifyplan.frames.runset import RunSet


def stability(
    scores: RunSet | pd.DataFrame,
    weights: Weights | None = None,
    *,
    concentration: float = 50.0,
    draws: int = 2000,
    seed: int = 0,
    threshold: float | None = None,
) -> pd.DataFrame:
    """How far the ranking as a whole stands if the weights are not quite sure; the arguments are those of `sweep`.

    One row a measure: `measure, value, low, high, n`. Each compares the ranking under drawn weights with that at
    the centre:

    - `kendall-tau-b`: the rank correlation; 1 is the same ranking, 0 none in common, -1 the reverse; n plans.
    - `pairs-kept`: of the n pairs of plans that have an order at the centre, the share that keep it.
    - `ranks-kept`: of n plans, the share that keep their rank.
    - `same-first`: of n draws, the share in which the same plan, or the same plans, have rank 1.

    The first three are means over the draws, with the middle 95 % of draws (which a mean may lie outside of, where
    few plans move in few draws); the last is one share, with the Wilson
    interval of its simulation. A measure is NaN where nothing can be compared: fewer than two plans, or all tied.
    Where a `threshold` is given, `above-kept` follows: of n plans, the share that stay on their side of it (mean and
    middle 95 % of draws). `attrs` are those of `sweep`. Source: Kendall 1945.

    The score informs and never decides a verdict.

    >>> table = pd.DataFrame({"wit": [7, 5, 1], "depth": [4, 5, 1]}, index=["a", "b", "c"])
    >>> stability(table, {"wit": "0.6", "depth": "0.4"}, draws=200)[["measure", "value", "n"]]
             measure  value    n
    0  kendall-tau-b    1.0    3
    1     pairs-kept    1.0    3
    2     ranks-kept    1.0    3
    3     same-first    1.0  200
    """
    drawn = draw(scores, weights, concentration, draws, seed, threshold)
    plans, n_draws = int(drawn.count.sum()), len(drawn.weights)
    pairs = _ordered_pairs(drawn)
    each = _each_draw(drawn, threshold)
    rows = [
        _over_draws("kendall-tau-b", each["tau"], plans),
        _over_draws("pairs-kept", _pairs_kept(drawn, each["tau"], pairs), pairs),
        _over_draws("ranks-kept", each["ranks"], plans),
        _one_share("same-first", int(np.nansum(each["first"])), n_draws if plans else 0),
    ]
    if threshold is not None:
        rows.append(_over_draws("above-kept", each["above"], plans))
    return with_attrs(pd.DataFrame(rows), drawn.table, **draw_attrs(drawn, concentration, seed, threshold))


def _each_draw(drawn: Drawn, threshold: float | None) -> dict[str, Floats]:
    """What each draw keeps: tau-b with the centre, the share of ranks, those in first place, sides of the threshold."""
    base, plans = drawn.base_rank, max(int(drawn.count.sum()), 1)
    at_centre = reached(drawn.base_score, threshold)
    found: dict[str, list[Floats]] = {"tau": [], "ranks": [], "first": [], "above": []}
    for scores, ranks in drawn.blocks():
        found["tau"].append(_taus(drawn, base, ranks))
        found["ranks"].append((ranks == base) @ drawn.count / plans)
        found["first"].append(((ranks == 1) == (base == 1)).all(axis=1).astype(np.float64))
        found["above"].append((reached(scores, threshold) == at_centre) @ drawn.count / plans)
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _taus(drawn: Drawn, base: Ranks, ranks: Ranks) -> Floats:
    if len(drawn.kind) < 2:
        return np.full(len(ranks), np.nan)
    centre = base[drawn.kind]
    return np.array([kendalltau(centre, row).statistic for row in ranks[:, drawn.kind]], dtype=np.float64)


def _pairs(counts: Any) -> int:
    return int((counts * (counts - 1) // 2).sum())


def _ordered_pairs(drawn: Drawn) -> int:
    """Pairs of plans that do not tie at the centre."""
    ranks = drawn.base.rank[drawn.base.known]
    return _pairs(np.array([len(ranks)])) - _pairs(np.unique(ranks, return_counts=True)[1])


def _pairs_kept(drawn: Drawn, tau: Floats, ordered: int) -> Floats:
    """The share of ordered pairs that keep their order, from tau-b: no pair that has an order ties under a draw."""
    every = _pairs(drawn.count.sum(keepdims=True))
    ordered_drawn = every - _pairs(drawn.count)
    surplus = tau * np.sqrt(float(ordered) * float(ordered_drawn))  # pairs kept less pairs turned round
    return (surplus + ordered) / (2 * ordered) if ordered else np.full(len(tau), np.nan)


def _over_draws(measure: str, values: Floats, n: int) -> dict[str, Any]:
    """The mean over draws and the middle 95 % of them; NaN where nothing can be compared."""
    if not n or np.isnan(values).all():
        return {"measure": measure, "value": np.nan, "low": np.nan, "high": np.nan, "n": n}
    low, high = interval(values)
    return {"measure": measure, "value": float(values.mean()), "low": low, "high": high, "n": n}


def _one_share(measure: str, kept: int, n: int) -> dict[str, Any]:
    if not n:
        return {"measure": measure, "value": np.nan, "low": np.nan, "high": np.nan, "n": n}
    wilson = binomtest(kept, n).proportion_ci(method="wilson")
    return {"measure": measure, "value": kept / n, "low": float(wilson.low), "high": float(wilson.high), "n": n}
