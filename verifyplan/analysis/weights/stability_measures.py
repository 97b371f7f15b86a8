"""The stability of a ranking under drawn weights, in a few measures (rule F4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, kendalltau

from verifyplan.analysis.cluster_intervals import interval
from verifyplan.analysis.weights.dirichlet import Drawn, draw
from verifyplan.analysis.weights.score_table import Floats
from verifyplan.analysis.weights.scored import with_attrs
from verifyplan.analysis.weights.simplex import WeightsOfScores
from verifyplan.frames.load import Runs


def stability_measures(
    scores: Runs | pd.DataFrame,
    weights: WeightsOfScores = None,
    *,
    concentration: float = 50.0,
    draws: int = 2000,
    seed: int = 0,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Return how stable the ranking as a whole is under drawn weights; the arguments are those of `rank_stability`.

    One row a measure: `measure, value, low, high, n`. Each compares the ranking under drawn weights with that at
    the centre:

    - `kendall-tau-b`: the rank correlation; 1 is the same ranking, 0 none in common, -1 the reverse; n plans.
    - `pairs-kept`: of the n pairs of plans that have an order at the centre, the share that keep it.
    - `ranks-kept`: of n plans, the share that keep their rank.
    - `same-first`: of n draws, the share in which the same plan, or the same plans, have rank 1.
    - `above-kept`, where a `threshold` is given: of n plans, the share that stay on their side of it.

    All but `same-first` are means over the draws, with the middle 95 % of draws (which a mean may lie outside of, where
    few plans move in few draws); that one is a single share, with the Wilson interval of its simulation. A measure is
    NaN where nothing can be compared: fewer than two plans, or all tied. `attrs` are those of `rank_stability`.
    Source: Kendall 1945.

    The score informs and never decides a verdict.

    >>> table = pd.DataFrame({"wit": [7, 5, 1], "depth": [4, 5, 1]}, index=["a", "b", "c"])
    >>> measures = stability_measures(table, {"wit": "0.6", "depth": "0.4"}, draws=200)
    >>> measures[["measure", "value", "n"]]
             measure  value    n
    0  kendall-tau-b    1.0    3
    1     pairs-kept    1.0    3
    2     ranks-kept    1.0    3
    3     same-first    1.0  200
    """
    drawn = draw(scores, weights, concentration, draws, seed, threshold)
    plans, pairs, kept = int(drawn.count.sum()), _ordered_pairs(drawn), _kept(drawn)
    same_first = int(np.nansum(kept["first"]))
    rows = [
        _over_draws("kendall-tau-b", kept["tau"], plans),
        _over_draws("pairs-kept", _pairs_kept(drawn, kept["tau"], pairs), pairs),
        _over_draws("ranks-kept", kept["ranks"], plans),
        ("same-first", np.nan, np.nan, np.nan, 0),
    ]
    if plans:
        wilson = binomtest(same_first, len(drawn.weights)).proportion_ci(method="wilson")
        share = same_first / len(drawn.weights)
        rows[-1] = ("same-first", share, float(wilson.low), float(wilson.high), len(drawn.weights))
    if threshold is not None:
        rows.append(_over_draws("above-kept", kept["above"], plans))
    return with_attrs(pd.DataFrame(rows, columns=["measure", "value", "low", "high", "n"]), drawn.table, **drawn.attrs)


def _kept(drawn: Drawn) -> dict[str, Floats]:
    """Return what each draw keeps: tau-b with the centre, the share of ranks, those in first place, threshold sides."""
    base, plans = drawn.base_rank, max(int(drawn.count.sum()), 1)
    at_centre, centre = drawn.reached(drawn.base_score), base[drawn.kind]
    kept: dict[str, list[Floats]] = {"tau": [], "ranks": [], "first": [], "above": []}
    for scores, ranks in drawn.blocks():
        taus = np.full(len(ranks), np.nan)
        if len(drawn.kind) > 1:
            taus = np.array([kendalltau(centre, row).statistic for row in ranks[:, drawn.kind]], dtype=np.float64)
        kept["tau"].append(taus)
        kept["ranks"].append((ranks == base) @ drawn.count / plans)
        kept["first"].append(((ranks == 1) == (base == 1)).all(axis=1).astype(np.float64))
        kept["above"].append((drawn.reached(scores) == at_centre) @ drawn.count / plans)
    return {name: np.concatenate(parts) for name, parts in kept.items()}


def _pairs(counts: Any) -> int:
    return int((counts * (counts - 1) // 2).sum())


def _ordered_pairs(drawn: Drawn) -> int:
    """Return how many pairs of plans do not tie at the centre."""
    ranks = drawn.base.rank[drawn.base.known]
    return _pairs(np.array([len(ranks)])) - _pairs(np.unique(ranks, return_counts=True)[1])


def _pairs_kept(drawn: Drawn, tau: Floats, ordered: int) -> Floats:
    """Return the share of ordered pairs that keep their order, from tau-b: none of them ties under a draw."""
    every = _pairs(drawn.count.sum(keepdims=True))
    ordered_drawn = every - _pairs(drawn.count)
    surplus = tau * np.sqrt(float(ordered) * float(ordered_drawn))  # pairs kept less pairs turned round
    return (surplus + ordered) / (2 * ordered) if ordered else np.full(len(tau), np.nan)


def _over_draws(measure: str, values: Floats, n: int) -> tuple[str, float, float, float, int]:
    """Return the mean over draws and the middle 95 % of them; NaN where nothing can be compared."""
    if not n or np.isnan(values).all():
        return measure, np.nan, np.nan, np.nan, n
    return measure, float(values.mean()), *interval(values), n
