"""Choose the rules to recommend: the cheapest that are not shown to be below the best (rule R5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval
from verifyplan.analysis.treatments.cross_fit import MIN_RUNS, Choice, CrossFit
from verifyplan.analysis.treatments.recommendation import Recommendation
from verifyplan.analysis.treatments.rule_costs import cost_words
from verifyplan.analysis.treatments.rule_quality import Floats, min_measured, n_changed, on_frontier
from verifyplan.errors import Problem, SettingsError
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import Bools, Ints
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
    mode: Mode | None = None,
) -> Recommendation:
    """Return the cheapest rules whose quality is not shown to be below that of the best rules within `max_cost`.

    Compared are rules whose quality rests on enough findings (`min_measured`), by what it is if every vote that was
    never cast is the worst for it. Their frontier is gone through from cheap to dear. At each of its costs, the best
    rule of at most this cost is chosen on one half of the findings and compared, on the other, with the best of at most
    each dearer cost of the frontier within `max_cost`, chosen likewise, and with today's rules, if these are within
    `max_cost`. The first cost is taken at which the 95 % interval of no paired difference is above 0. Recommended is
    the rule of the frontier at that cost: never cheaper, nor of a lower quality, with a larger `max_cost`. As all
    findings have picked the costs of the frontier, its rules are compared with each other only if the best of all
    rules, whatever their cost, chosen on one half, is shown on the other to be above the cheapest. See `CrossFit` for
    halves and intervals. `mode` is the one that all runs were recorded in.

    Raises SettingsError where no rule costs as little as `max_cost`.
    """
    costs = table[measure].to_numpy(dtype=np.float64)
    allowed = costs <= _checked(max_cost, costs, measure, fit.n_findings)
    enough = min_measured(table["n"])
    measured = table["n"].to_numpy() >= enough
    fit = replace(fit, order=fit.order[measured[fit.order]])
    is_today = np.flatnonzero(table["is_today"].to_numpy(dtype=bool))
    today = int(is_today[0]) if len(is_today) else None
    base = VotingRules() if today is None else rules[today]
    worst = fit.cells.sign * table["low_bound" if fit.cells.sign > 0 else "high_bound"]
    distance = [n_changed(each, base, mode) for each in rules]
    frontier = np.flatnonzero(on_frontier(worst.where(measured), costs, distance))
    frontier = frontier[allowed[frontier]]
    _check_frontier(frontier, allowed, measured & worst.notna().to_numpy(), enough, max_cost, quality, measure)
    frontier = frontier[np.argsort(costs[frontier], kind="stable")]
    rivals = [] if today is None or not (allowed & measured)[today] else [fit.always(today)]
    best = [fit.best_of(int((costs[fit.order] <= costs[position]).sum())) for position in frontier]
    place = _cheapest(fit, best, best if _differ(fit, costs) else [], rivals)
    row, n_rules = table.iloc[frontier[place]], int((allowed & measured).sum())
    return Recommendation(
        rules[frontier[place]],
        None if today is None else rules[today],
        quality,
        measure,
        float(costs[frontier[place]]),
        math.nan if today is None else float(costs[today]),
        n_rules,
        int(row["censored"]),
        float(row["low_bound"]),
        float(row["high_bound"]),
        _figures(fit, row, best[place], fit.best_of(n_rules), today, n_rules),
        synthetic,
        tuple(_notes(fit, table[allowed | np.isnan(costs)], quality, measure, enough)),
        None if max_cost is None else float(max_cost),
        fit.n_findings,
        mode,
    )


def _differ(fit: CrossFit, costs: Floats) -> bool:
    """Return whether choosing among all rules of known cost is shown to gain over the best of the cheapest ones."""
    known = costs[fit.order]
    known = known[~np.isnan(known)]
    return fit.gain(fit.best_of(len(known)), fit.best_of(int((known == known[0]).sum()))).low > 0


def _cheapest(fit: CrossFit, best: list[Choice], later: list[Choice], rivals: list[Choice]) -> int:
    """Return the first of the best rules by cost that is not shown to be below any later one, or any rival.

    Else the last. With more rules at the end, it is never an earlier one.
    """
    for place, choice in enumerate(best):
        if not any(fit.gain(rival, choice).low > 0 for rival in (*rivals, *later[:place:-1])):
            return place
    return len(best) - 1


def _check_frontier(
    frontier: Ints, allowed: Bools, measured: Bools, enough: float, max_cost: float | None, quality: str, measure: str
) -> None:
    """Raise SettingsError where no rule within the cost has a quality that rests on enough findings."""
    if len(frontier):
        return
    if measured.any() and max_cost is not None and not (measured & allowed).any():
        message = (
            f"for rules of at most {cost_words(float(max_cost), measure)}, the {quality} rests on fewer than "
            f"{enough:,.0f} findings"
        )
        raise SettingsError(Problem("max_cost", message, "give more"))
    message = "is not defined for any rule within the cost: nothing is held, or nothing is true"
    raise SettingsError(Problem("quality", message, "search by another quality, such as accuracy"))


def _checked(max_cost: float | None, costs: Floats, measure: str, n_findings: int) -> float:
    """Return the most that rules may cost; SettingsError where none costs as little, or no cost is known."""
    if np.isnan(costs).all():
        message = f"is not known in {measure} for any rule, so none can be compared"
        raise SettingsError(Problem("cost", message, "search by another cost, such as votes or calls"))
    if max_cost is None:
        return math.inf
    if isinstance(max_cost, bool) or not isinstance(max_cost, int | float | np.number) or not max_cost >= 0:
        message = f"must be a number of {measure} of at least 0, or None for any, got {short_repr(max_cost)}"
        raise SettingsError(Problem("max_cost", message, f"give {measure} such as those of the table"))
    if not (costs <= max_cost).any():
        findings = f"on all {counted(n_findings, 'finding')}"
        message = f"no rule costs at most {cost_words(float(max_cost), measure)} {findings}"
        cheapest = cost_words(float(np.nanmin(costs)), measure)
        raise SettingsError(Problem("max_cost", message, f"the cheapest costs {cheapest} {findings}; give more"))
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


def _notes(fit: CrossFit, table: pd.DataFrame, quality: str, measure: str, enough: float) -> Iterator[str]:
    """Yield what a reader must know, from the rules within the cost."""
    n_runs, units = fit.clusters.n_runs, fit.units
    if n_runs < MIN_RUNS:
        yield (
            f"{counted(n_runs, 'run')}: rules were chosen on half of the claims and measured on the other half, which "
            "says little about other runs"
        )
    if units.n_units < MIN_UNITS:
        shared = units.of == "runs" and fit.clusters.repeated
        of = "groups of runs without a common claim" if shared else units.of
        yield f"{units.n_units} {of}, split in halves of {units.n_units // 2}: the choice is almost random"
    few = table["n"] < enough
    if few.any():
        yield (
            f"for {counted(int(few.sum()), 'rule')}, the {quality} rests on fewer than {math.ceil(enough):,} findings: "
            "they were not compared, as their intervals are too wide to show a difference"
        )
    is_open = table["censored"].gt(0) & ~few
    if is_open.any():
        with_today = ", today's rules among them" if (is_open & table["is_today"]).any() else ""
        yield (
            f"for {counted(int(is_open.sum()), 'rule')}{with_today}, the {quality} depends on votes that were never "
            "cast: they were compared by the worst that these could be, so some may be better; .settle(n) lists the "
            "votes to ask for next"
        )
    unknown = int(table[measure].isna().sum())
    if unknown:
        yield f"for {counted(unknown, 'rule')}, the cost in {measure} is not known: they were not compared"
