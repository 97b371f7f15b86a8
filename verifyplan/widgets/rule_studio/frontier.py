"""The frontier of the rules that recorded votes allow, on request, and where both settings are beside it (rule R5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as ipw

from verifyplan.analysis.treatments.rule_costs import cost_words
from verifyplan.analysis.treatments.rule_search import RuleSearch
from verifyplan.analysis.treatments.rule_space import space_words
from verifyplan.analysis.treatments.search_rules import search_rules
from verifyplan.charts.rule_search import rule_search
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.widgets.html import block, paragraph
from verifyplan.widgets.rule_studio.fields import SIDES, Side


class FrontierView(ipw.VBox):
    """A button that searches some hundred rules, their chart, and a sentence on each setting, which follows it.

    Who calls `draw` on a click shows its failure.
    """

    def __init__(self, runs: RunSet) -> None:
        self._runs = runs
        self._search: RuleSearch | None = None
        tooltip = "Judge some hundred rules on these votes, quality against cost; no call is made"
        self.button = ipw.Button(description="Draw the frontier", tooltip=tooltip)
        self.words, self.chart = ipw.HTML(), ipw.HTML()
        super().__init__([self.button, self.words, self.chart])

    def draw(self, rules: Mapping[Side, VotingRules]) -> None:
        """Search the rules that the votes allow, and show them beside both settings."""
        self._search = search_rules(self._runs)
        self.chart.value = rule_search(self._search)._repr_html_()
        self.follow(rules)

    def follow(self, rules: Mapping[Side, VotingRules]) -> None:
        """Say where both settings are, if the frontier is drawn."""
        if self._search is None:
            return
        given = search_rules(self._runs, list(rules.values()), cost=self._search.cost)
        rows = given.table.to_dict("records")
        here = {side: rows[_position(given, rules[side])] for side in SIDES}
        self.words.value = block("".join(paragraph(_place(self._search, side, here[side])) for side in SIDES))


def _position(search: RuleSearch, rules: VotingRules) -> int:
    """Return which rules of a search are these; a search names the order in which a round that can stop asks."""
    return next(
        place for place, each in enumerate(search.rules) if rules in (each, each.model_copy(update={"order": None}))
    )


def _place(search: RuleSearch, side: Side, row: Mapping[Any, Any]) -> str:
    """Return what a setting is worth, and the rules of the frontier that are as good for less, or better as cheap."""
    value, cost = row["value"], row[search.cost]
    worth = f"{side.capitalize()}: {search.quality} {100 * value:.1f} % for {cost_words(cost, search.cost)}"
    of_frontier = search.table[search.table["on_frontier"]]
    at_least_as_good = of_frontier["value"] >= value - 1e-12
    better = of_frontier[at_least_as_good & (of_frontier[search.cost] <= cost)]
    better = better[(better["value"] > value + 1e-12) | (better[search.cost] < cost)]
    if better.empty:
        return f"{worth}; no searched rule is as good for less, or better for as much."
    best = better.loc[better[search.cost].idxmin()]
    words = space_words(search.rules[int(best.name)])
    return f"{worth}; {words}: {100 * best['value']:.1f} % for {cost_words(best[search.cost], search.cost)}."
