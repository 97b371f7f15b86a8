"""Voting rules as controls: two settings side by side over recorded votes, and the changes between them (part R)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

import ipywidgets as ipw
import pandas as pd

from verifyplan.analysis.treatments.idle_fields import reasons
from verifyplan.analysis.treatments.rule_costs import cost_words
from verifyplan.analysis.treatments.rule_search import RuleSearch
from verifyplan.analysis.treatments.rule_space import space_words
from verifyplan.analysis.treatments.search_rules import search_rules
from verifyplan.charts.rule_search import rule_search
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.rules_value import read_rules
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.widgets.comparison.view import headline
from verifyplan.widgets.controls import rounds_offered
from verifyplan.widgets.html import block, heading, paragraph
from verifyplan.widgets.panel import Panel, group, guarded
from verifyplan.widgets.rule_studio import view
from verifyplan.widgets.rule_studio.form import MAX_WORKERS, SIDES, CopyText, RulesForm, Side, schema, too_many_workers
from verifyplan.widgets.rule_studio.model import StudioResult, StudioRuns
from verifyplan.widgets.rule_studio.saver import Saver, calls


class RuleStudio(Panel):
    """Voting rules as controls, left and right, with the classes, metrics, bounds, transitions and costs under both.

    A field that cannot matter for these votes is disabled and says why. Votes are read once: a change takes a fraction
    of a second on 100,000 findings. The JSON of both settings and the calls that give the same tables can be copied;
    rules, findings and charts can be saved. A button draws the frontier of the rules that the votes allow, and shows
    where both settings are beside it.

    Args:
        runs: a set of runs (a RunSet, a run, or a path).
        left: the rules to begin with on the left: a VotingRules, a preset, a mapping of fields or a JSON file.
        right: those on the right.

    Raises:
        InputError, SettingsError, TableError: for runs or rules that cannot be read, or votes that cannot be judged.
            Later failures are shown in the widget, which keeps its last result.

    >>> studio = RuleStudio("stdlib-claims/adversarial", right="unanimous")
    >>> studio.right = {"mode": "adversarial", "refutes": "sticky"}
    >>> print(studio.left.diff(studio.right))
    mode: as recorded -> adversarial
    refutes: round -> sticky
    """

    def __init__(self, runs: Runs, *, left: object = "as-recorded", right: object = "as-recorded") -> None:
        super().__init__("Rule studio")
        self._source, tables = runs, as_runs(runs)
        given: dict[Side, object] = {"left": left, "right": right}
        self._rules = {side: read_rules(VotingRules, rules, side) for side, rules in given.items()}
        self._runs = StudioRuns(tables)
        workers = self._runs.facts.workers if len(self._runs.facts.workers) <= MAX_WORKERS else ()
        self.form = RulesForm(schema(workers, rounds_offered(tables)))
        self.swap = _button("Swap left and right", "The left setting becomes the right one, and the other way round")
        self.copy_over = _button("Right as left", "Make the right setting the same as the left one")
        self.json = {side: CopyText(label=f"Rules, {side} (JSON)") for side in SIDES}
        self.code = CopyText(label="The same in Python")
        self.saver = Saver(lambda: self._result)
        self._problem, self._words, self._classes, self._metrics, self._notes = (ipw.HTML() for _ in range(5))
        self._charts = (ipw.HTML(), ipw.HTML())
        self.frontier = FrontierView(tables)
        self._still = False
        self._show(self._runs.result(self._rules))
        self._lay_out()
        self._listen()

    @property
    def left(self) -> VotingRules:
        """The rules on the left; set a VotingRules, a preset, a mapping or a JSON file to change them."""
        return self._rules["left"]

    @left.setter
    def left(self, rules: object) -> None:
        self._take({"left": read_rules(VotingRules, rules, "left")})

    @property
    def right(self) -> VotingRules:
        """The rules on the right; set a VotingRules, a preset, a mapping or a JSON file to change them."""
        return self._rules["right"]

    @right.setter
    def right(self, rules: object) -> None:
        self._take({"right": read_rules(VotingRules, rules, "right")})

    @property
    def findings(self) -> pd.DataFrame:
        """One row a finding: its class under both settings, and the worst and best that uncast votes could give."""
        return self._result.findings

    @property
    def summary(self) -> pd.DataFrame:
        """Every metric under both settings, and the difference, with 95 % intervals (see `compare`)."""
        return self._result.comparison.summary

    def static(self) -> str:
        """Return both settings and their results, as HTML without controls or scripts."""
        code_blocks = "".join(shown.html() for shown in (*self.json.values(), self.code))
        charts = "".join(part.value for part in (*self._charts, self.frontier.words, self.frontier.chart))
        shown = (self._words, self._classes, self._metrics, self._notes)
        return "".join([*(part.value for part in shown), charts, code_blocks])

    def _take(self, rules: Mapping[Side, VotingRules]) -> None:
        """Judge by these rules, and show the result; if that fails, nothing changes."""
        chosen: dict[Side, VotingRules] = {**self._rules, **rules}
        result = self._runs.result(chosen)
        self._rules = chosen
        self._show(result)

    def _show(self, result: StudioResult) -> None:
        """Show a result and its settings."""
        self._result = result
        self._write_form()
        self._problem.value = ""
        self.header.show(headline(result.comparison))
        self._words.value = view.differences(result)
        self._classes.value, self._metrics.value = view.classes(result), view.metrics(result)
        self._notes.value = view.notes(result, self._runs.n_left_out)
        for side in SIDES:
            self.json[side].text = self._rules[side].to_json()
        self.code.text = calls(self._rules, self._source)
        self.frontier.button.disabled = result.comparison.truth is None
        self.frontier.follow(self._rules)
        drawn = list(view.figures(result).values())
        for widget, figure in zip_longest(self._charts, drawn):
            widget.value = "" if figure is None else figure._repr_html_()  # last, for to draw takes longest

    def _write_form(self) -> None:
        """Write into the form the settings, which fields differ, and which cannot matter."""
        self._still = True
        try:
            with self.form.hold_sync():
                for side in SIDES:
                    setattr(self.form, side, self._rules[side].changed)
                self.form.problems = {}
                self.form.mark(self._rules)
                self.form.reasons = {
                    side: reasons(self._runs.facts, self._rules[side], unseen=self._result.unseen[side])
                    | too_many_workers(self._runs.facts.workers)
                    for side in SIDES
                }
        finally:
            self._still = False

    @guarded
    def _edited(self, _: Any) -> None:
        """A control was changed: errors of rules are shown beside it, and the last result stays."""
        if self._still:
            return
        rules, errors = self.form.read()
        self.form.show_problems(errors)
        if errors:
            self._problem.value = view.not_valid(errors)
        else:
            self._take(rules)

    @guarded
    def _swap(self, _: Any) -> None:
        self._take({"left": self.right, "right": self.left})

    @guarded
    def _copy_over(self, _: Any) -> None:
        self._take({"right": self.left})

    @guarded
    def _draw_frontier(self, _: Any) -> None:
        self.frontier.draw(self._rules)

    @guarded
    def _save(self, button: Any) -> None:
        self.saver.save(button)

    def _listen(self) -> None:
        for button in self.saver.buttons.values():
            button.on_click(self._save)
        self.form.observe(self._edited, list(SIDES))
        self.frontier.button.on_click(self._draw_frontier)
        self.swap.on_click(self._swap)
        self.copy_over.on_click(self._copy_over)

    def _lay_out(self) -> None:
        self.add_class("vp-studio")
        self.header.act(self.swap, self.copy_over)
        self.fill(
            self.form,
            self._problem,
            self._words,
            self._classes,
            self._metrics,
            self._notes,
            group("vp-beside", *self._charts),
            self.frontier,
            ipw.HTML(heading(4, "The same elsewhere")),
            group("vp-beside", *self.json.values(), self.code),
            self.saver,
        )


def _button(label: str, tooltip: str) -> ipw.Button:
    return ipw.Button(description=label, tooltip=tooltip)


class FrontierView(ipw.VBox):
    """A button that searches some hundred rules, their chart, and a sentence on each setting, which follows it.

    The caller of `draw` must show its failure.
    """

    def __init__(self, runs: RunSet) -> None:
        self._runs = runs
        self._search: RuleSearch | None = None
        tooltip = "Judge some hundred rules on these votes, quality against cost; no call is made"
        self.button = ipw.Button(description="Draw the frontier", tooltip=tooltip)
        self.words, self.chart = ipw.HTML(), ipw.HTML()
        super().__init__([self.button, self.words, self.chart])

    def draw(self, rules: Mapping[Side, VotingRules]) -> None:
        """Search the rules that the votes allow, and show them with both settings."""
        self._search = search_rules(self._runs)
        self.chart.value = rule_search(self._search)._repr_html_()
        self.follow(rules)

    def follow(self, rules: Mapping[Side, VotingRules]) -> None:
        """Show where both settings are, if the frontier is drawn."""
        if self._search is None:
            return
        given = search_rules(self._runs, list(rules.values()), cost=self._search.cost)
        rows = given.table.to_dict("records")
        here = {side: rows[_position(given, rules[side])] for side in SIDES}
        self.words.value = block("".join(paragraph(_place(self._search, side, here[side])) for side in SIDES))


def _position(search: RuleSearch, rules: VotingRules) -> int:
    """Return the position of rules in a search, which sets the order in which a round that can stop asks."""
    return next(
        place for place, each in enumerate(search.rules) if rules in (each, each.model_copy(update={"order": None}))
    )


def _place(search: RuleSearch, side: Side, row: Mapping[Any, Any]) -> str:
    """Return quality and cost of a setting, and the rules of the frontier that are as good for less, or better."""
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
