"""Choose the rules to recommend: the cheapest that are shown to lose at most so much against the best (rule R5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from verifyplan.analysis.cluster_intervals import Interval
from verifyplan.analysis.treatments.cross_fit import LOSS_LEVEL, MIN_RUNS, CrossFit, Loss, median_loss
from verifyplan.analysis.treatments.recommendation import FIGURES, Advice, Recommendation
from verifyplan.analysis.treatments.rule_costs import cost_words
from verifyplan.analysis.treatments.rule_quality import Floats, min_measured, n_changed
from verifyplan.errors import Problem, SettingsError
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import Bools, Ints
from verifyplan.text import counted, short_repr

MAX_LOSS = 0.03
"""What recommended rules may lose against the best, if a caller does not say: three points."""
MIN_AGREEING = 0.9
"""A rule is recommended only if so many of the halves that choose agree."""
MIN_AGREEING_BETTER = 0.95
"""The same for rules that are shown to be better than the recorded ones, but not how much they lose."""
NEAR = 0.5
"""A half agrees if a rule loses at most this share of `max_loss` there, or is shown there to lose at most all of it."""
POWER = 0.8
"""The number of findings that would decide is for this probability."""
MAX_TESTED = 30
"""At most so many rules are tested: those that are the cheapest on all findings."""


class RuleTable(NamedTuple):
    """The rules that a search judged."""

    table: pd.DataFrame
    """A row a rule, as in `RuleSearch.table`."""
    rules: tuple[VotingRules, ...]
    quality: str
    """The metric."""
    measure: str
    """What costs are counted in."""
    mode: Mode | None
    """The mode that all runs were recorded in; None where they differ."""
    cost_of: Callable[[int], Floats]
    """Returns what a rule, by position, costs on each finding."""

    @property
    def costs(self) -> Floats:
        """The cost of each rule on all findings."""
        return self.table[self.measure].to_numpy(dtype=np.float64)

    @property
    def recorded(self) -> int:
        """The position of the rules of the recorded runs."""
        return int(np.flatnonzero(self.table["is_recorded"])[0])


def recommend(fit: CrossFit, searched: RuleTable, max_cost: float | None, max_loss: float) -> Recommendation:
    """Return the cheapest rules that are shown to lose at most `max_loss` against the best rules within `max_cost`.

    Compared are rules whose quality rests on enough findings (`min_measured`), by what it is if every vote that was
    never cast is the worst for it. The rules are tested from cheap to dear: the first is recommended whose 95 %
    interval of the loss, measured on halves of the findings that did not choose it, ends within `max_loss`. At least 9
    of 10 halves must have chosen it: it loses at most half of `max_loss` there, or is shown to lose at most all of it.
    Else the cheapest of them, or the best rule, is recommended if it is shown to be better than the rules of the
    recorded runs, and loses at most `max_loss` on 19 of the 20 halves. Else nothing is decided. See `CrossFit` for
    halves and intervals, and docs/statistics.md ("Choosing rules") for why.

    Raises SettingsError where no rule costs as little as `max_cost`, or `max_loss` is not above 0 and at most 1.
    """
    costs, table = searched.costs, searched.table
    allowed = costs <= _checked_cost(max_cost, costs, searched.measure, len(fit.outcomes.truth))
    max_loss, enough = _checked_loss(max_loss), min_measured(table["n"])
    measured = table["n"].to_numpy() >= enough
    defined = measured & table["low_bound"].notna().to_numpy()
    _check_compared(allowed, defined, enough, max_cost, searched)
    compared = np.flatnonzero(allowed & defined)
    recorded = searched.rules[searched.recorded]
    distance = np.array([n_changed(searched.rules[k], recorded, searched.mode) for k in compared])
    compared = compared[np.lexsort((distance, costs[compared]))]
    made = _Chosen.of(fit, searched, compared, max_loss)
    cheapest, is_acceptable = made.cheapest()
    named = {"cheapest": cheapest.rule, "best": made.best, "recorded": searched.recorded}
    by_rule = {k: made.figures(k, cheapest) for k in set(named.values())}
    better = None if is_acceptable else made.better({k: by_rule[k].gain for k in (cheapest.rule, made.best)})
    advice: Advice = "acceptable" if is_acceptable else "undecided" if better is None else "better"
    agreeing = float(cheapest.chose.mean())
    position = cheapest.rule if is_acceptable else searched.recorded
    if better is not None:
        position, agreeing = better
    return Recommendation(
        rules=searched.rules[position],
        advice=advice,
        cheapest=searched.rules[cheapest.rule],
        best=searched.rules[made.best],
        recorded=recorded,
        quality=searched.quality,
        measure=searched.measure,
        max_loss=max_loss,
        max_cost=None if max_cost is None else float(max_cost),
        figures=pd.DataFrame([by_rule[k].row(name) for name, k in named.items()], columns=list(FIGURES)),
        agreeing=agreeing,
        n_needed=made.n_needed(cheapest.loss) if advice == "undecided" else math.nan,
        n_findings=len(fit.outcomes.truth),
        n_rules=len(compared),
        cost=float(costs[position]),
        cost_recorded=float(costs[searched.recorded]),
        mode=searched.mode,
        notes=tuple(_notes(fit, table[allowed | np.isnan(costs)], searched, enough)),
    )


class _Figures(NamedTuple):
    """What was measured of a rule."""

    cost: Interval
    quality: Interval
    loss: Loss
    gain: Interval
    halves: float
    """The share of the halves that chose it."""

    def row(self, name: str) -> tuple[object, ...]:
        """Return the row of `Recommendation.figures`."""
        measured = *self.cost[:3], *self.quality, *self.loss.interval[:3], *self.gain[:3]
        return name, *measured, self.halves


class _Tested(NamedTuple):
    """A rule whose loss was measured."""

    rule: int
    losses: list[Loss]
    """The loss on each half that measures."""
    chose: Bools
    """The halves that chose the rule."""

    @property
    def loss(self) -> Loss:
        """The loss, from the halves that did not choose the rule."""
        return median_loss(self.losses, self.chose if self.chose.any() else ~self.chose)


class _Chosen(NamedTuple):
    """The rules that are compared with each other, and what the halves chose."""

    fit: CrossFit
    searched: RuleTable
    compared: Ints
    """The positions of the rules, from cheap to dear, of equal ones those first that are nearest to the recorded."""
    lost: Floats
    """What each rule loses on each half against the best there, of shape (compared, halves)."""
    max_loss: float
    best_of_half: Ints
    """The rule that each half chose as the best, of equal ones the cheapest."""

    @classmethod
    def of(cls, fit: CrossFit, searched: RuleTable, compared: Ints, max_loss: float) -> _Chosen:
        """Choose on each half."""
        quality = fit.chosen[compared]
        lost = np.where(np.isfinite(quality), quality.max(axis=0) - np.where(np.isfinite(quality), quality, 0), np.inf)
        return cls(fit, searched, compared, lost, max_loss, compared[lost.round(12).argmin(axis=0)])

    @property
    def best(self) -> int:
        """The rule that is the best over all halves, of equal ones the cheapest."""
        return int(self.compared[self.fit.chosen[self.compared].mean(axis=1).round(12).argmax()])

    def cheapest(self) -> tuple[_Tested, bool]:
        """Return the first rule, from cheap to dear, that is shown to lose at most `max_loss`, and True.

        Else the cheapest rule that most halves put near the best, and False.
        """
        within, near = (_at_most(self.lost, share * self.max_loss).mean(axis=1) for share in (1, NEAR))
        for rule in self._by_cost(within >= MIN_AGREEING):
            tested = self.tested(rule)
            if tested.chose.mean() >= MIN_AGREEING and tested.loss.interval.high <= self.max_loss:
                return tested, True
        return self.tested(self._by_cost(near >= min(MIN_AGREEING, near.max()))[0]), False

    def tested(self, rule: int) -> _Tested:
        """Return the loss of a rule; halves choose it where it is near the best, or shown to lose at most `max_loss`.

        A half is the one that measures for its complement, which is beside it.
        """
        losses = self.fit.losses(rule, self.compared, self.best_of_half)
        high = np.array([each.interval.high for each in losses])
        shown = high.reshape(-1, 2)[:, ::-1].ravel() <= self.max_loss
        return _Tested(rule, losses, shown | self.within(rule, NEAR * self.max_loss))

    def figures(self, rule: int, cheapest: _Tested) -> _Figures:
        """Return the figures of a rule from the halves that did not choose it; of the recorded rules from all."""
        fit, recorded = self.fit, self.searched.recorded
        every = np.ones(len(self.best_of_half), dtype=bool)
        tested = cheapest
        if rule != cheapest.rule:
            chose = every if rule == recorded else self.best_of_half == rule
            tested = _Tested(rule, self.fit.losses(rule, self.compared, self.best_of_half), chose)
        halves = tested.chose if tested.chose.any() else every
        return _Figures(
            fit.cost(self.searched.cost_of(rule), halves),
            fit.quality(rule, halves),
            tested.loss,
            fit.gain(np.full(len(halves), rule), recorded, halves),
            float(halves.mean()),
        )

    def better(self, gains: dict[int, Interval]) -> tuple[int, float] | None:
        """Return the first of some rules that is shown to be better than the recorded ones, and how many halves agree.

        So must be what each half chose as its best.
        """
        every = np.ones(len(self.best_of_half), dtype=bool)
        if self.fit.gain(self.best_of_half, self.searched.recorded, every).low > 0:
            for rule, gain in gains.items():
                agreeing = float(self.within(rule, self.max_loss).mean())
                if agreeing >= MIN_AGREEING_BETTER and gain.low > 0:
                    return rule, agreeing
        return None

    def n_needed(self, loss: Loss) -> float:
        """Return how many findings would decide with a probability of 80 %; NaN where none would.

        At so many, 9 of 10 halves show of a rule that is as good as the best that it loses at most `max_loss`. Where
        that many are there already, the rule is taken to lose what it lost here.
        """
        quantiles = float(ndtri(POWER) + ndtri(MIN_AGREEING) + math.sqrt(2) * ndtri((1 + LOSS_LEVEL) / 2))
        n, of_all = len(self.fit.outcomes.truth), loss.error / math.sqrt(2)
        for lost in (0.0, loss.interval.value):
            margin = self.max_loss - lost
            needed = n * (quantiles * of_all / margin) ** 2 if margin > 0 else math.nan
            if needed > n:
                return needed
        return math.nan

    def within(self, rule: int, most: float) -> Bools:
        """Return the halves on which a rule loses at most so much against the best there."""
        return _at_most(self.lost[int(np.flatnonzero(self.compared == rule)[0])], most)

    def _by_cost(self, is_tested: Bools) -> list[int]:
        """Return rules by their cost on the halves that choose, of equally cheap ones the best first."""
        rules = self.compared[is_tested][:MAX_TESTED]
        cost = [self.fit.chosen_cost(self.searched.cost_of(int(k))).mean().round(12) for k in rules]
        quality = self.fit.chosen[rules].mean(axis=1).round(12)
        return [int(rules[place]) for place in np.lexsort((-quality, np.array(cost)))]


def _at_most(lost: Floats, most: float) -> Bools:
    return np.asarray(lost <= most + 1e-12)


def _check_compared(allowed: Bools, defined: Bools, enough: float, max_cost: float | None, searched: RuleTable) -> None:
    """Raise SettingsError where no rule within the cost has a quality that rests on enough findings."""
    if (allowed & defined).any():
        return
    if defined.any() and max_cost is not None:
        message = (
            f"for rules of at most {cost_words(float(max_cost), searched.measure)}, the {searched.quality} rests on "
            f"fewer than {enough:,.0f} findings"
        )
        raise SettingsError(Problem("max_cost", message, "give more"))
    message = "is not defined for any rule within the cost: nothing is held, or nothing is true"
    raise SettingsError(Problem("quality", message, "search by another quality, such as accuracy"))


def _checked_cost(max_cost: float | None, costs: Floats, measure: str, n_findings: int) -> float:
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


def _checked_loss(max_loss: float) -> float:
    """Return what rules may lose; SettingsError unless it is a share above 0."""
    if isinstance(max_loss, bool) or not isinstance(max_loss, int | float | np.number) or not 0 < max_loss <= 1:
        message = f"must be a number above 0 and at most 1, got {short_repr(max_loss)}"
        raise SettingsError(Problem("max_loss", message, "give what may be lost of the quality, such as 0.03"))
    return float(max_loss)


def _notes(fit: CrossFit, table: pd.DataFrame, searched: RuleTable, enough: float) -> Iterator[str]:
    """Yield what a reader must know, from the rules within the cost."""
    n_runs, few = fit.clusters.n_runs, table["n"] < enough
    is_open, unknown = table["censored"].gt(0) & ~few, int(table[searched.measure].isna().sum())
    if is_open.any():
        yield (
            f"for {counted(int(is_open.sum()), 'rule')}, the {searched.quality} depends on votes that were never cast: "
            "they were compared by the worst that these could be, so some may be better; .settle(n) lists the votes to "
            "ask for next"
        )
    left_out = []
    if few.any():
        left_out.append(
            f"{int(few.sum()):,} whose {searched.quality} rests on fewer than {math.ceil(enough):,} findings"
        )
    if unknown:
        left_out.append(f"{unknown:,} whose cost in {searched.measure} is not known")
    if left_out:
        yield f"rules that were not compared: {' and '.join(left_out)}"
    if 1 < n_runs < MIN_RUNS:
        yield f"{n_runs} runs: halves are of claims, so the figures say little about other runs"
