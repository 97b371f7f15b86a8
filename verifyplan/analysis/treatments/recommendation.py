"""Recommend rules: the cheapest that are not shown to be below the best, with what is uncertain (rule R5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval
from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.analysis.treatments.cross_fit import MIN_RUNS, Choice, CrossFit
from verifyplan.analysis.treatments.rule_quality import Floats
from verifyplan.errors import Problem, SettingsError
from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import Ints
from verifyplan.text import counted, short_repr

MIN_UNITS = 20
"""With fewer runs or claims to halve, a note says that choosing is almost at random."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class Recommendation:
    """The cheapest rules that are not shown to be below the best, by figures on findings that they were not chosen on.

    Give `.rules` to `crossverify(rules=)`, or save them as JSON: `.rules.save("rules.json")`.
    """

    rules: VotingRules
    """The recommended rules."""
    today: VotingRules | None
    """The rules that the runs had; None where the search did not judge them."""
    quality: str
    """The metric that rules are chosen by, such as `f1`."""
    measure: str
    """What costs are counted in: `votes`, `calls`, `tokens` or `dollars`."""
    cost: float
    """What the recommended rules would have cost, on all findings."""
    cost_today: float
    """What today's rules would have cost; NaN where that is not known."""
    n_rules: int
    """The rules that were compared, those within `max_cost`."""
    n_censored: int
    """The findings whose class under the recommended rules depends on votes that were never cast."""
    lowest: float
    """The quality of the recommended rules if every vote that was never cast had been the worst for it."""
    highest: float
    """The same if every one had been the best."""
    figures: pd.DataFrame
    """`figure, value, low, high, n, p_value`: see `documentation("search_rules.recommend")`."""
    synthetic: bool
    """True where findings or votes were generated, not observed."""
    notes: tuple[str, ...] = ()
    """What a reader must know: few runs, votes never cast, costs that are not known."""

    def figure(self, name: str) -> Interval:
        """Return one of the figures with its interval and n."""
        row = self.figures.set_index("figure").loc[[name]].iloc[0]
        return Interval(float(row["value"]), float(row["low"]), float(row["high"]), int(row["n"]))

    @property
    def saving(self) -> float:
        """The share of the cost of today's rules that is saved; negative where the recommended rules cost more."""
        return 1 - self.cost / self.cost_today if self.cost_today else math.nan

    def __str__(self) -> str:
        """Return the rules, what they save and may lose, what is uncertain, and the notes, in about eight lines."""
        made = " (synthetic)" if self.synthetic else ""
        lines = [
            f"recommended of {counted(self.n_rules, 'rule')}{made}: {self._changes()}",
            f"cost: {self._cost()}",
            f"{self.quality}: {share_words(*self.figure('recommended'))}{self._bounds()}",
            f"on findings that it was not chosen on: {share_words(*self.figure('held-out'))}, {self._against_best()}",
            *self._against_today(),
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the words and the figures for a notebook; every text is shown as text."""
        return words_and_tables(str(self), self.figures)

    def in_short(self) -> str:
        """Return what the recommended rules save against today's, and what they may lose, in one phrase."""
        gain, saved = self.figure("gain"), f"{100 * self.saving:.0f} % of {self.measure}"
        if self.rules == self.today:
            return "today's rules"
        if math.isnan(self.saving) or math.isnan(gain.value):
            return f"at {self._cost()}"
        words = f"saves {saved}" if self.saving >= 0 else f"costs {saved.removeprefix('-')} more"
        return f"{words} against today's rules, {points_words(*gain[:3])} of {self.quality}"

    def _changes(self) -> str:
        if self.today is None:
            return str(self.rules)
        return "; ".join(self.today.diff(self.rules).splitlines()) or "today's rules"

    def _cost(self) -> str:
        words = f"{self.cost:,.10g} {self.measure}"
        if math.isnan(self.saving):
            return words
        more = "saved" if self.saving >= 0 else "more"
        return f"{words} instead of {self.cost_today:,.10g} ({100 * abs(self.saving):.0f} % {more})"

    def _bounds(self) -> str:
        if not self.n_censored:
            return ""
        ends = f"[{100 * self.lowest:.1f}, {100 * self.highest:.1f}]"
        return f"; {ends} by what the votes would be that were never cast on {counted(self.n_censored, 'finding')}"

    def _against_best(self) -> str:
        loss = self.figure("loss")
        if math.isnan(loss.value):
            return "which says nothing of the best of all rules"
        shown = "shown to be below it" if loss.low > 0 else "not shown to be below it"
        return f"{points_words(-loss.value, -loss.high, -loss.low)} against the best of all rules there, {shown}"

    def _against_today(self) -> list[str]:
        gain = self.figure("gain")
        if math.isnan(gain.value):
            return []
        loses = f"; it may lose up to {-100 * gain.low:.1f} points" if gain.low < 0 else ""
        words = f"against today's rules there: {points_words(*gain[:3])}{loses}"
        p_value = float(self.figures.set_index("figure")["p_value"]["choosing-over-today"])
        if math.isnan(p_value):
            return [words]
        chance = f"p = {p_value:.3f}: choosing would gain as much in {100 * p_value:.1f} % of cases"
        return [words, f"choosing gains over today's rules: {chance} if no rule were better or worse than these"]


def points_words(value: float, low: float, high: float) -> str:
    """Return a difference in points with its interval.

    >>> points_words(-0.012, -0.04, 0.016)
    '-1.2 points [-4.0, +1.6]'
    """
    value, low, high = (round(100 * each, 1) + 0.0 for each in (value, low, high))  # -0.0 becomes 0.0
    return f"{value:+.1f} points [{low:+.1f}, {high:+.1f}]"


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
        message = f"no rule costs at most {max_cost:,.10g} {measure}"
        raise SettingsError(Problem("max_cost", message, f"the cheapest is {np.nanmin(costs):,.10g}; give more"))
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
