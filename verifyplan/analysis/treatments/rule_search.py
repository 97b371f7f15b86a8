"""The result of a search over rules: quality against cost of each, with intervals and bounds (rule R5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.analysis.treatments.cross_fit import CrossFit, cross_fit
from verifyplan.analysis.treatments.recommend import MAX_LOSS, RuleTable, recommend
from verifyplan.analysis.treatments.recommendation import Recommendation
from verifyplan.analysis.treatments.rule_costs import RuleCosts, cost_words
from verifyplan.analysis.treatments.rule_outcomes import RuleOutcomes
from verifyplan.analysis.treatments.rule_quality import Floats, quality_cells
from verifyplan.analysis.treatments.rule_space import space_words
from verifyplan.analysis.treatments.settle import settle
from verifyplan.errors import Problem, SettingsError
from verifyplan.field_docs import with_field_docs
from verifyplan.lazy_names import public_value
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import Ints
from verifyplan.text import counted

MAX_SETTLED_RULES = 20
"""Votes are planned for at most so many rules that are not on the frontier."""

_SHOWN_RULES = 6
"""The frontier is printed with at most so many rules."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class RuleSearch:
    """Many rules judged on the same recorded votes: what each is worth, and what it would have cost."""

    table: pd.DataFrame
    """One row a rule, see `documentation("search_rules")`: the fields that vary, `digest`, quality with interval and
    bounds, `n`, `censored`, costs, `on_frontier`, `is_recorded`."""
    quality: str
    """What `value` of the table measures, such as `f1`."""
    cost: str
    """What the frontier is cheap in: `votes`, `calls`, `tokens` or `dollars`."""
    rules: tuple[VotingRules, ...]
    """The rules, in the order of the table."""
    n_findings: int
    """The findings whose truth is known."""
    n_runs: int
    """The runs that they are of."""
    notes: tuple[str, ...] = ()
    """What a reader must know: censored findings, missing usage, rules that were merged."""
    synthetic: bool = False
    """True where findings or votes were generated, not observed."""
    n_added: int = 0
    """The votes among these that supplementary runs added, on findings that somebody chose."""
    mode: Mode | None = None
    """The mode that all runs were recorded in; None where they differ."""
    _notes_on_runs: tuple[str, ...] = field(default=(), repr=False)
    """How ties were read, and that runs of both modes are judged together; a recommendation has these notes, too."""
    _outcomes: RuleOutcomes | None = field(default=None, repr=False, compare=False)
    """What each rule made of every finding."""
    _costs: RuleCosts | None = field(default=None, repr=False, compare=False)
    """What each rule costs."""

    @property
    def frontier(self) -> pd.DataFrame:
        """The rules that no other beats: none is at least as good and cheaper, from cheap to expensive."""
        return self.table[self.table["on_frontier"]].sort_values(self.cost, kind="stable", ignore_index=True)

    def recommend(self, max_cost: float | None = None, max_loss: float = MAX_LOSS) -> Recommendation:
        """Return the cheapest rules that are shown to lose at most `max_loss` against the best, in words with figures.

        Rules are chosen by quality and cost on one half of the findings and measured on the other, twenty times over.
        The rules are recommended if at least 9 of 10 halves put them near the best, and the 95 % interval of their
        loss, measured on the other halves, ends within `max_loss`; or if they are shown to be better than the rules of
        the recorded runs, even if they cost more. Else the result is undecided, keeps the rules of the recorded runs,
        and names how many findings would decide (docs/statistics.md, "Choosing rules"). Votes that were never cast are
        taken to be the worst for a rule, and rules whose quality rests on few findings are left out.

        Args:
            max_cost: what rules may cost at most on all findings of the search together, in what `.cost` names (votes,
                calls, tokens or dollars); None: any cost.
            max_loss: what the quality may be below that of the best rules within `max_cost`: 0.03 is three points.

        Raises SettingsError where no rule costs as little, no cost is known, or `max_loss` is not above 0, at most 1.
        """
        searched = RuleTable(self.table, self.rules, self.quality, self.cost, self.mode, self._cost_of)
        made = recommend(self._fit, searched, max_cost, max_loss)
        notes = (*made.notes, *self._note_on_added(), *self._notes_on_runs)
        return replace(made, notes=notes, synthetic=self.synthetic)

    def settle(self, n: int) -> pd.DataFrame:
        """Return the `n` votes never cast that would narrow the bounds of the frontier most, as a plan of a live run.

        Where no bound of the frontier is open, the votes are of the rules whose bounds reach above it: up to 20 that
        reach furthest. `crossverify(..., only=plan)` makes the votes and no others; a plan of several runs is divided
        by its `run_id`. `n` counts votes: a call asks a worker for several of a round. `narrows` is in units of the
        quality: 0.01 is one point of the mean width of the bounds. Columns: `documentation("search_rules.settle")`. A
        plan without a row says why, printed and as `.attrs["reason"]`.

        Raises SettingsError unless `n` is an integer of at least 1.
        """
        return settle(self._judged, self._open_rules().tolist(), quality_cells(self.quality), n)

    def _open_rules(self) -> Ints:
        """Return the rules of the frontier, by position; those that may belong to it where no bound of these is open.

        A rule may belong to it if with the best votes it were better than every rule that costs as little.
        """
        table, sign = self.table, quality_cells(self.quality).sign
        on_frontier: Ints = np.flatnonzero(table["on_frontier"])
        is_open = (table["low_bound"] < table["high_bound"]).to_numpy(dtype=bool)
        if is_open[on_frontier].any():
            return on_frontier
        cost, value = (table[name].to_numpy(dtype=np.float64) for name in (self.cost, "value"))
        order = np.argsort(cost, kind="stable")
        best_up_to = np.fmax.accumulate(sign * value[order])
        reached = best_up_to[np.searchsorted(cost[order], cost, side="right") - 1]
        above = sign * table["high_bound" if sign > 0 else "low_bound"].to_numpy(dtype=np.float64) - reached
        may_belong = np.flatnonzero(is_open & (above > 0) & ~np.isnan(cost))
        return may_belong[np.argsort(-above[may_belong], kind="stable")][:MAX_SETTLED_RULES]

    def chart(self, **options: Any) -> Any:
        """Return the chart of quality against cost, with the options of all charts; see `charts.rule_search`."""
        draw: Any = public_value("charts", "rule_search")
        return draw(self, **options)

    def _note_on_added(self) -> Iterator[str]:
        """Yield that values rest on findings that were chosen, where votes were added and others are still missing."""
        if self.n_added and bool(self.table["censored"].gt(0).any()):
            yield (
                f"{counted(self.n_added, 'vote')} were added on chosen findings, which are not a random sample: as "
                "long as a bound is open, read low_bound and high_bound"
            )

    @property
    def _judged(self) -> RuleOutcomes:
        if self._outcomes is None:
            raise self._is_table_alone()
        return self._outcomes

    @staticmethod
    def _is_table_alone() -> SettingsError:
        message = "has a table alone, without what each rule made of the findings"
        return SettingsError(Problem("search", message, "use what search_rules returns"))

    @cached_property
    def _fit(self) -> CrossFit:
        is_open = bool(self.table["censored"].gt(0).any())
        return cross_fit(self._judged, self.quality, worst=is_open)

    def _cost_of(self, position: int) -> Floats:
        """Return what a rule costs on each finding."""
        if self._costs is None:
            raise self._is_table_alone()
        return self._costs.by_finding(self._judged.walks(position), self.cost)

    def __str__(self) -> str:
        """Return the recorded rules and the frontier with intervals and costs, and the notes: about a dozen lines."""
        return "\n".join(self._lines())

    __repr__ = __str__  # a console shows the words, not every rule

    def _lines(self) -> Iterator[str]:
        made = " (synthetic)" if self.synthetic else ""
        size = f"{counted(self.n_findings, 'finding')}{made} of {counted(self.n_runs, 'run')}"
        yield f"{counted(len(self.rules), 'rule')} by {self.quality} and {self.cost}, on {size}"
        for row in self.table.index[self.table["is_recorded"]]:
            yield f"the rules of the recorded runs: {self._words(row)}"
        frontier = self.table[self.table["on_frontier"]].sort_values(self.cost, kind="stable")
        is_whole = len(frontier) <= _SHOWN_RULES
        shown = frontier.index if is_whole else [*frontier.index[:3], *frontier.index[-3:]]
        some = "" if is_whole else ", the first and last three of which are shown; .frontier has all"
        yield f"frontier, from cheap to expensive: {counted(len(frontier), 'rule')}{some}"
        yield from (f"  {self._words(row)}: {space_words(self.rules[row])}" for row in shown)
        yield from (f"note: {note}" for note in (*self.notes, *self._note_on_added()))

    def _words(self, position: int) -> str:
        """Return the quality of a rule with its interval, its bounds where votes are missing, and its cost."""
        row: dict[Any, Any] = self.table.loc[position].to_dict()
        bounds = f", {share_range(row['low_bound'], row['high_bound'])}" if row["low_bound"] < row["high_bound"] else ""
        value = share_words(row["value"], row["low"], row["high"], int(row["n"]))
        return f"{value}{bounds} for {cost_words(row[self.cost], self.cost)}"

    def _repr_html_(self) -> str:
        """Return the search for a notebook; every text is shown as text."""
        return words_and_tables(str(self), self.frontier)


def share_range(low: float, high: float) -> str:
    """Return the bounds of a share as percentages.

    >>> share_range(0.5, 0.75)
    'with unseen votes 50.0 to 75.0 %'
    """
    return f"with unseen votes {100 * low:.1f} to {100 * high:.1f} %"
