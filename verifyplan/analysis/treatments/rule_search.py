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
from verifyplan.analysis.treatments.recommend import recommend
from verifyplan.analysis.treatments.recommendation import Recommendation
from verifyplan.analysis.treatments.rule_costs import cost_words
from verifyplan.analysis.treatments.rule_outcomes import RuleOutcomes
from verifyplan.analysis.treatments.rule_quality import quality_cells
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
    bounds, `n`, `censored`, costs, `on_frontier`, `is_today`."""
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
    _mixed_modes: tuple[str, ...] = field(default=(), repr=False)
    """The note that runs of both modes are judged together, where they are; a recommendation has it, too."""
    _outcomes: RuleOutcomes | None = field(default=None, repr=False, compare=False)
    """What each rule made of every finding."""

    @property
    def frontier(self) -> pd.DataFrame:
        """The rules that no other beats: none is at least as good and cheaper, from cheap to expensive."""
        return self.table[self.table["on_frontier"]].sort_values(self.cost, kind="stable", ignore_index=True)

    def recommend(self, max_cost: float | None = None) -> Recommendation:
        """Return the cheapest rules whose quality is not shown to be below that of the best, in words with figures.

        At each cost of the frontier, the best rule of at most this cost and the best of dearer ones are chosen on one
        half of the findings and compared on the other half. The first cost is taken at which the 95 % interval of no
        paired difference is above 0, nor of that from today's rules (docs/statistics.md, "Choosing rules"). Votes that
        were never cast are taken to be the worst for a rule, and rules whose quality rests on few findings are left
        out. A larger `max_cost` never gives rules of a lower quality.

        Args:
            max_cost: what rules may cost at most on all findings of the search together, in what `.cost` names (votes,
                calls, tokens or dollars); None: any cost.

        Raises SettingsError where no rule costs as little, or no cost is known.
        """
        made = recommend(
            self._fit, self.table, self.rules, self.quality, self.cost, max_cost, self.synthetic, self.mode
        )
        return replace(made, notes=(*made.notes, *self._note_on_added(), *self._mixed_modes))

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
            message = "has a table alone, without what each rule made of the findings"
            raise SettingsError(Problem("search", message, "use what search_rules returns"))
        return self._outcomes

    @cached_property
    def _fit(self) -> CrossFit:
        is_open = bool(self.table["censored"].gt(0).any())
        return cross_fit(self._judged, self.quality, self.table[self.cost], worst=is_open)

    def __str__(self) -> str:
        """Return today's rules and the frontier with intervals and costs, and the notes: about a dozen lines."""
        return "\n".join(self._lines())

    __repr__ = __str__  # a console shows the words, not every rule

    def _lines(self) -> Iterator[str]:
        made = " (synthetic)" if self.synthetic else ""
        size = f"{counted(self.n_findings, 'finding')}{made} of {counted(self.n_runs, 'run')}"
        yield f"{counted(len(self.rules), 'rule')} by {self.quality} and {self.cost}, on {size}"
        for row in self.table.index[self.table["is_today"]]:
            yield f"today's rules (those that the runs were recorded under): {self._words(row)}"
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
