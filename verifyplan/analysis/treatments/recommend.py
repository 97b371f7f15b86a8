"""Choose the rules to recommend: the cheapest that are not shown to be below the best (rule R5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval
from verifyplan.analysis.treatments.cross_fit import MIN_RUNS, Choice, CrossFit
from verifyplan.analysis.treatments.recommendation import Recommendation
from verifyplan.analysis.treatments.rule_costs import cost_words
from verifyplan.analysis.treatments.rule_quality import Floats
from verifyplan.errors import Problem, SettingsError
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import Ints
from verifyplan.text import counted, short_repr

MIN_UNITS = 20
"""With fewer runs or claims to halve, a note says that choosing is almost at random."""


def recommend(
    fit: CrossFit,
    table: pd.DataFrame,
    rules: tuple[VotingRules, ...],
    quality: str,
    measure: str,
    max_cost: float | None = None,
    synthetic: bool = False,
) -> Recommendation:
    """Return the cheapest rules whose quality is not shown to be below that of the best rules within `max_cost`.

    The frontier is gone through from cheap to dear. At each of its costs, the best rule of at most this cost and the
    best of all are chosen on one half of the findings and compared on the other. The first cost is taken at which the
    95 % interval of the paired difference reaches 0, and so does that from today's rules, if these are within
    `max_cost`. Recommended is the rule of the frontier at that cost. See `CrossFit` for halves and intervals.

    Raises SettingsError where no rule costs as little as `max_cost`.
    """
    costs = table[measure].to_numpy(dtype=np.float64)
    allowed = costs <= _checked(max_cost, costs, measure)
    is_today = np.flatnonzero(table["is_today"].to_numpy(dtype=bool))
    today = int(is_today[0]) if len(is_today) else None
    best = fit.best_of(int(allowed.sum()))
    rivals = [best] if today is None or not allowed[today] else [best, fit.always(today)]
    on_frontier = np.flatnonzero(table["on_frontier"].to_numpy(dtype=bool) & allowed)
    position, choice = _cheapest(fit, costs, on_frontier[np.argsort(costs[on_frontier], kind="stable")], rivals)
    row = table.iloc[position]
    figures = _figures(fit, row, choice, best, today, int(allowed.sum()))
    return Recommendation(
        rules[position],
        None if today is None else rules[today],
        quality,
        measure,
        float(costs[position]),
        math.nan if today is None else float(costs[today]),
        int(allowed.sum()),
        int(row["censored"]),
        float(row["low_bound"]),
        float(row["high_bound"]),
        figures,
        synthetic,
        tuple(_notes(fit, table, quality, measure)),
        None if max_cost is None else float(max_cost),
        len(fit.outcomes.findings),
    )


def _cheapest(fit: CrossFit, costs: Floats, on_frontier: Ints, rivals: list[Choice]) -> tuple[int, Choice]:
    """Return the first rule of the frontier at whose cost the best rule is not shown to be below any rival.

    Else the last; with it, the best rule of at most its cost for each half. SettingsError where there is no frontier.
    """
    if not len(on_frontier):
        message = "is not defined for any rule within the cost: nothing is held, or nothing is true"
        raise SettingsError(Problem("quality", message, "search by another quality, such as accuracy"))
    for position in on_frontier:
        choice = fit.best_of(int((costs <= costs[position]).sum()))
        if not any(fit.gain(rival, choice).low > 0 for rival in rivals):
            break
    return int(position), choice


def _checked(max_cost: float | None, costs: Floats, measure: str) -> float:
    """Return the most that rules may cost; SettingsError where none costs as little, or no cost is known."""
    if np.isnan(costs).all():
        message = f"is not known in {measure} for any rule, so that none is cheaper than another"
        raise SettingsError(Problem("cost", message, "search by another cost, such as votes or calls"))
    if max_cost is None:
        return math.inf
    if isinstance(max_cost, bool) or not isinstance(max_cost, int | float | np.number) or not max_cost >= 0:
        message = f"must be a number of {measure} of at least 0, or None for any, got {short_repr(max_cost)}"
        raise SettingsError(Problem("max_cost", message, f"give {measure} such as those of the table"))
    if not (costs <= max_cost).any():
        message = f"no rule costs at most {cost_words(float(max_cost), measure)}"
        cheapest = cost_words(float(np.nanmin(costs)), measure)
        raise SettingsError(Problem("max_cost", message, f"the cheapest costs {cheapest}; give more"))
    return float(max_cost)


def _figures(fit: CrossFit, row: Any, choice: Choice, best: Choice, today: int | None, n: int) -> pd.DataFrame:
    """Return the figures of a recommendation; those against today's rules are missing where these are not known."""
    missing, cheapest = Interval(math.nan, math.nan, math.nan, 0), int(fit.order[0])
    found: dict[str, tuple[Interval, float]] = {
        "recommended": (Interval(row["value"], row["low"], row["high"], row["n"]), math.nan),
        "held-out": (fit.quality(choice), math.nan),
        "choosing": (fit.quality(best), math.nan),
        "loss": (fit.gain(best, choice), math.nan),
        "gain": (missing, math.nan),
        "choosing-over-today": (missing, math.nan),
        "choosing-over-cheapest": (fit.gain(best, fit.always(cheapest)), fit.p_value(n, cheapest)),
    }
    if today is not None:
        found["gain"] = fit.gain(choice, fit.always(today)), math.nan
        found["choosing-over-today"] = fit.gain(best, fit.always(today)), fit.p_value(n, today)
    rows = [(name, *interval, p_value) for name, (interval, p_value) in found.items()]
    return pd.DataFrame(rows, columns=["figure", "value", "low", "high", "n", "p_value"]).astype({"n": "int64"})


def _notes(fit: CrossFit, table: pd.DataFrame, quality: str, measure: str) -> Iterator[str]:
    n_runs, units = fit.clusters.n_runs, fit.units
    if n_runs < MIN_RUNS:
        yield (
            f"{counted(n_runs, 'run')}: rules were chosen on half of the claims and measured on the other half, which "
            "says little of how they would do in other runs"
        )
    if units.n_units < MIN_UNITS:
        yield f"halves of {units.n_units} {units.of} choose almost at random"
    n_open = int(table.loc[table["on_frontier"], "censored"].gt(0).sum())
    if n_open:
        yield (
            f"of {counted(n_open, 'rule')} of the frontier the {quality} depends on votes that were never "
            "cast, so that others may be better: .settle(n) plans the votes that tell most"
        )
    unknown = int(table[measure].isna().sum())
    if unknown:
        yield f"of {counted(unknown, 'rule')} the cost in {measure} is not known: they were not compared"
