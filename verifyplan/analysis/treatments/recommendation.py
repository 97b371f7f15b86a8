"""The rules that a search recommends, in words: what they save, what they may lose, what is uncertain (rule R5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from verifyplan.analysis.cluster_intervals import Interval
from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.analysis.treatments.rule_costs import cost_words
from verifyplan.analysis.treatments.rule_quality import changes_mode
from verifyplan.analysis.treatments.rule_space import order_words
from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import MODE_NOTE, VotingRules
from verifyplan.text import counted


@with_field_docs
@dataclass(frozen=True, eq=False)
class Recommendation:
    """The cheapest rules that are not shown to be below the best, by figures on findings that they were not chosen on.

    Give `.rules` to `crossverify(rules=)`, or save them as JSON: `.rules.save("rules.json")`.
    """

    rules: VotingRules
    """The recommended rules; where they stop within a round, with the order in which they ask."""
    today: VotingRules | None
    """The rules that the runs were recorded under; None where the search did not judge them."""
    quality: str
    """The metric that rules are chosen by, such as `f1`."""
    measure: str
    """What costs are counted in: `votes`, `calls`, `tokens` or `dollars`."""
    cost: float
    """What the recommended rules would have cost, on all findings."""
    cost_today: float
    """What today's rules would have cost; NaN where that is not known."""
    n_rules: int
    """The rules that were compared: those within `max_cost` whose quality rests on enough findings."""
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
    max_cost: float | None = None
    """What rules were allowed to cost on all findings, in `measure`; None for any cost."""
    n_findings: int = 0
    """The findings that costs are of."""
    mode: Mode | None = None
    """The mode that all runs were recorded in; None where they differ."""

    def figure(self, name: str) -> Interval:
        """Return one of the figures with its interval and n."""
        row = self.figures.set_index("figure").loc[[name]].iloc[0]
        return Interval(float(row["value"]), float(row["low"]), float(row["high"]), int(row["n"]))

    @property
    def saving(self) -> float:
        """The share of the cost of today's rules that is saved; negative where the recommended rules cost more."""
        return 1 - self.cost / self.cost_today if self.cost_today else math.nan

    def __str__(self) -> str:
        """Return the rules, what they save and may lose, what is uncertain, and the notes, in about ten lines."""
        return "\n".join(self._lines())

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

    def _lines(self) -> Iterator[str]:
        made = " (synthetic)" if self.synthetic else ""
        within = "" if self.max_cost is None else f" of at most {cost_words(self.max_cost, self.measure)}"
        yield f"recommended of {counted(self.n_rules, 'rule')}{within}{made}: {self._changes()}"
        if self.rules.stop != "round" and self.rules.order:
            yield f"within a round it {order_words(self.rules.order)}, until one side leads; another order may differ"
        yield f"cost: {self._cost()}"
        yield f"{self.quality}: {share_words(*self.figure('recommended'))}{self._bounds()}; chosen on these findings"
        best = f"the best rule of at most {self._per_finding(self.cost)}"
        how = "chosen on one half of the findings and measured on the other"
        yield f"the figure to report: {share_words(*self.figure('held-out'))}, of {best}, {how}"
        yield from self._against_best()
        yield from self._against_today()
        if changes_mode(self.rules, self.mode):
            yield f"note: {MODE_NOTE}: what was measured may not hold there"
        yield from (f"note: {note}" for note in self.notes)

    def _changes(self) -> str:
        if self.today is None:
            return str(self.rules)
        kept: dict[str, object] = {"order": self.rules.order} if self.rules.order is not None else {}
        if self.rules.mode == self.mode and self.today.mode is None:
            kept["mode"] = self.mode
        base = self.today.model_copy(update=kept)
        return "; ".join(base.diff(self.rules).splitlines()) or "today's rules"

    def _per_finding(self, cost: float) -> str:
        """Return a cost on all findings with its unit, and what that is for a finding; a call is of many."""
        is_known = self.n_findings and self.measure != "calls"
        each = f" ({cost / self.n_findings:,.3g} a finding)" if is_known else ""
        return f"{cost_words(cost, self.measure)}{each}"

    def _cost(self) -> str:
        words = self._per_finding(self.cost)
        if math.isnan(self.saving):
            return words
        more = "saved" if self.saving >= 0 else "more"
        today = cost_words(self.cost_today, self.measure)
        return f"{words} instead of {today} under today's rules ({100 * abs(self.saving):.0f} % {more})"

    def _bounds(self) -> str:
        if not self.n_censored:
            return ""
        ends = f"[{100 * self.lowest:.1f}, {100 * self.highest:.1f}]"
        return (
            f"; {ends} if the votes never cast had been the worst or the best, on {counted(self.n_censored, 'finding')}"
        )

    def _against_best(self) -> Iterator[str]:
        """Yield what is lost against the best of all rules, which is chosen and measured in the same way."""
        loss, against = self.figure("loss"), "against the best of all compared rules, chosen in the same way"
        if math.isnan(loss.value):
            yield f"{against}: not known, as the quality is not defined on one half"
            return
        gain = -loss.value, -loss.high, -loss.low
        shown = "shown to be below it" if loss.low > 0 else "not shown to be below it"
        yield f"{against}: {points_words(*gain)}, {shown}; {loss_words(*gain[1:])}"

    def _against_today(self) -> Iterator[str]:
        gain = self.figure("gain")
        if math.isnan(gain.value):
            return
        today = "today's rules (those that the runs were recorded under)"
        yield f"against {today}: {points_words(*gain[:3])}; {loss_words(gain.low, gain.high)}"
        p_value = float(self.figures.set_index("figure")["p_value"]["choosing-over-today"])
        if not math.isnan(p_value):
            yield (
                f"is any of the {counted(self.n_rules, 'rule')} better than today's at all? p = {p_value:.3f}: if none "
                f"were better or worse, choosing the best would gain as much in {100 * p_value:.1f} % of cases; this "
                "tests the choice among rules, not the recommended rules"
            )


def points_words(value: float, low: float, high: float) -> str:
    """Return a difference in points with its interval.

    >>> points_words(-0.012, -0.04, 0.016)
    '-1.2 points [-4.0, +1.6]'
    """
    value, low, high = (round(100 * each, 1) + 0.0 for each in (value, low, high))  # -0.0 becomes 0.0
    return f"{value:+.1f} points [{low:+.1f}, {high:+.1f}]"


def loss_words(low: float, high: float) -> str:
    """Return the ends of the interval of a difference as what is lost or gained at worst and at best.

    >>> loss_words(-0.04, 0.016), loss_words(0.01, 0.02)
    ('at worst 4.0 points are lost, at best 1.6 gained', 'at worst 1.0 points are gained, at best 2.0 gained')
    """
    worst, best = (f"{abs(100 * end):.1f}" for end in (low, high))
    lost, gained = ("lost" if end < 0 else "gained" for end in (low, high))
    return f"at worst {worst} points are {lost}, at best {best} {gained}"
