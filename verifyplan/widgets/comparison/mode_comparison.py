"""Two settings side by side: which findings change class, at what cost in quality, and why (rule F1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import ipywidgets as ipw
import pandas as pd

from verifyplan.analysis.compare import compare_conditions
from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.comparison_figures import ComparisonOptions
from verifyplan.analysis.conditions import Condition, are_several_sets, conditions_of, setting_names
from verifyplan.analysis.replay import REPLAY_MODES, ReplayMode, Setting
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.frames.load import Runs
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import MissingBasis
from verifyplan.text import joined
from verifyplan.widgets.comparison import view
from verifyplan.widgets.comparison.rows import CHANGED, ComparisonRows, votes_by_set
from verifyplan.widgets.comparison.view import Details
from verifyplan.widgets.controls import SelectableTable, rounds_offered
from verifyplan.widgets.html import heading, text
from verifyplan.widgets.panel import Panel, group, guarded

OWN = 0
"""The value of each run's own rounds in the list; None would look like no choice."""
MODE_LABELS = {"recorded": "recorded: each run's own"}
BASIS_LABELS: dict[MissingBasis, str] = {
    "infer": "infer from the words",
    "counter-evidence": "counter-evidence",
    "burden-not-met": "burden-not-met",
}
"""How a missing basis can be filled in here; `raise` is for scripts."""


class SettingControls(ipw.Box):
    """Three lists to choose from, named after their condition (`first` or `second`), and the Setting that they form.

    Under the collaborative mode no basis matters, so its list is disabled.
    """

    def __init__(self, name: str, title: str, runs: RunSet, setting: Setting) -> None:
        modes = [(MODE_LABELS.get(mode, mode), mode) for mode in REPLAY_MODES]
        self.mode = _dropdown(f"Mode of the {name}", modes, setting.mode)
        rounds = [("each run's own", OWN), *((str(n), n) for n in rounds_offered(runs, setting.max_rounds))]
        self.rounds = _dropdown(f"Rounds of the {name}", rounds, setting.max_rounds or OWN)
        labels = BASIS_LABELS if setting.missing_basis in BASIS_LABELS else {**BASIS_LABELS, "raise": "refuse"}
        bases = [(words, basis) for basis, words in labels.items()]
        self.missing_basis = _dropdown(f"Missing bases of the {name}", bases, setting.missing_basis)
        self.mode.observe(self._switch, "value")
        self._switch()
        title_above = ipw.HTML(heading(5, title))
        title_above.add_class("vp-wide")
        super().__init__([title_above, self.mode, self.rounds, self.missing_basis])
        self.add_class("vp-fields")

    @property
    def setting(self) -> Setting:
        """The setting that the lists form."""
        mode, basis = cast(ReplayMode, self.mode.value), cast(MissingBasis, self.missing_basis.value)
        return Setting(mode, self.rounds.value or None, "infer" if mode == "collaborative" else basis)

    @property
    def lists(self) -> tuple[ipw.Dropdown, ...]:
        """The three lists, to listen to."""
        return self.mode, self.rounds, self.missing_basis

    def _switch(self, _: object = None) -> None:
        self.missing_basis.disabled = self.mode.value == "collaborative"


def _dropdown(description: str, options: Sequence[tuple[str, object]], value: object) -> ipw.Dropdown:
    return ipw.Dropdown(description=description, options=options, value=value)


DISAGREEMENT = (
    "Disagreement: the share of pairs of votes on the finding in one round that differ (agree, supplement, disagree), "
    "over all recorded rounds; errors and discoverers' own votes do not count; a dash where there is no such pair."
)


MAX_CACHED_COMPARISONS = 4
"""Comparisons that are kept; each has a row for each finding."""


class _ShownComparison:
    """One comparison with its rows and charts."""

    def __init__(self, comparison: Comparison, votes: list[pd.DataFrame]) -> None:
        self.comparison = comparison
        self.rows = ComparisonRows(comparison, votes)

    @cached_property
    def charts(self) -> tuple[str, str]:
        return view.transitions_html(self.comparison), view.truth_html(self.comparison)


class ModeComparison(Panel):
    """Compare two conditions, each with its own mode, rounds and missing bases.

    With one set, its recorded votes are judged twice; with `other`, two real sets over the same findings are paired
    (see `compare`). Shows transitions, metrics with intervals, and the findings that change class, which can be
    filtered, sorted (for example by `disagreement`) and chosen; for those chosen, the votes and an explanation.

    Args:
        runs: a set of runs (a RunSet, a run, or a path).
        other: a second set, over the same findings.
        metric: the metric to conclude on, as in `compare`.
        modes: modes or Settings with which the two conditions begin; by default collaborative and adversarial, or
            for two sets each as recorded.
        resamples: random draws of the tests, as in `compare`.
        seed: the seed of these draws.

    Raises:
        InputError, SettingsError, TableError: as `compare`, for the first comparison. Later failures are shown in the
            widget, which keeps its last result.
    """

    def __init__(
        self,
        runs: Runs,
        other: Runs | None = None,
        *,
        metric: str | None = None,
        modes: Sequence[ReplayMode | Setting] | None = None,
        resamples: int = 2000,
        seed: int = 0,
    ) -> None:
        super().__init__("Mode comparison")
        options = ComparisonOptions(metric, resamples=resamples, seed=seed)
        options.check(several_sets=are_several_sets(runs, other))
        conditions = conditions_of(runs, other, modes)
        if len(conditions) != 2:
            message = f"must name two conditions, got {len(conditions)}"
            raise SettingsError(Problem("modes", message, "give two; compare takes more"))
        first, second = conditions
        for condition in conditions:
            condition.replayed.replay(condition.rules)  # raises errors of the votes, and is kept
        self._several_sets = are_several_sets(runs, other)
        self._sets = (first.replayed, second.replayed)
        self._comparison_options = options
        self._votes = votes_by_set(self._sets)
        self._kept: dict[tuple[Setting, Setting], _ShownComparison] = {}
        self._details = Details(self._sets)
        titles = ("First set", "Second set") if other is not None else ("First", "Second: the same votes")
        self.first = SettingControls("first", titles[0], first.frames, first.setting)
        self.second = SettingControls("second", titles[1], second.frames, second.setting)
        self.changed = ipw.Dropdown(description="What changed")
        self.find = ipw.Text(description="Find", placeholder="in ids and claims")
        self.changed.observe(self._listed, "value")
        self.clear = ipw.Button(description="Choose none")
        self.table = SelectableTable(multiple=True, sort={"column": "disagreement", "descending": True})
        self._metrics, self._notes, self._told = (ipw.HTML() for _ in range(3))
        self._charts = (ipw.HTML(), ipw.HTML())
        self._work_out()
        self._lay_out()
        self._listen()

    @property
    def comparison(self) -> Comparison:
        """The comparison that is shown."""
        return self._shown.comparison

    @property
    def settings(self) -> tuple[Setting, Setting]:
        """The settings of the comparison that is shown."""
        return self._settings

    @property
    def selected(self) -> pd.DataFrame:
        """The chosen findings, in the order in which they were chosen: rows of `.comparison.findings`.

        Three more columns: `key`, the row's name in the list; `votes` that count, and their `disagreement`. Findings
        that the filter hides stay chosen.
        """
        return self._shown.rows.chosen(self.table.selected)

    def static(self) -> str:
        """Return notes, charts, metrics, the list and explanations as HTML without scripts."""
        charts = "".join(f"<div>{chart.value}</div>" for chart in self._charts)
        listed = f"<p>{text(self.table.note, 1000)}</p>{self.table.html() if self.table.rows else ''}"
        words = f'<p class="vp-small">{DISAGREEMENT}</p>'
        return f"{self._notes.value}{charts}{self._metrics.value}{listed}{words}{self._told.value}"

    def _work_out(self) -> None:
        """Compare under the settings of the controls, and show the result; if that fails, the last result stays."""
        settings = (self.first.setting, self.second.setting)
        self._shown, self._settings = self._made(settings), settings
        comparison = self.comparison
        self._metrics.value, self._notes.value = view.metrics(comparison), view.notes(comparison)
        self.header.show(view.headline(comparison))
        self._offer()
        self._list()
        self._tell()
        for widget, chart in zip(self._charts, self._shown.charts, strict=True):
            widget.value = chart  # last, since drawing takes as long as comparing

    def _made(self, settings: tuple[Setting, Setting]) -> _ShownComparison:
        """Return the comparison under two settings; the last four are kept."""
        if settings not in self._kept:
            names = setting_names(settings, [replayed.frames for replayed in self._sets])
            rules = [setting.rules for setting in settings]
            conditions = [Condition(*parts) for parts in zip(names, self._sets, rules, strict=True)]
            comparison = compare_conditions(
                conditions, several_sets=self._several_sets, options=self._comparison_options
            )
            if not comparison.is_paired:
                message = f"the sets have no finding in common: {joined(names)}"
                raise InputError(Problem("other", message, "give runs over the same findings, or use vp.compare"))
            self._kept[settings] = _ShownComparison(comparison, self._votes)
        while len(self._kept) > MAX_CACHED_COMPARISONS:
            del self._kept[next(iter(self._kept))]
        return self._kept[settings]

    def _offer(self) -> None:
        """Count again how many findings changed in each way; the choice stays."""
        kept = self.changed.value or CHANGED
        self.changed.unobserve(self._listed, "value")
        self.changed.options = self._shown.rows.options()
        self.changed.value = kept
        self.changed.observe(self._listed, "value")

    def _list(self) -> None:
        """Fill the list with the findings that pass the filters, in the chosen order."""
        part = self._shown.rows.shown(self.changed.value, self.find.value, self.table.sort)
        self.table.label = f"Findings, their class under {' and under '.join(self.comparison.conditions)}"
        self.table.fill(part, "key", titles=self._shown.rows.titles(), noun="finding")
        if part.empty:
            self.table.note = self._why_empty()

    def _why_empty(self) -> str:
        if not self.comparison.n_findings:
            return "There are no findings."
        if not self.comparison.findings["changed"].any() and self.changed.value == CHANGED:
            return f"No finding changes class between {' and '.join(self.comparison.conditions)}."
        return "No finding matches: choose another change, or another search."

    def _tell(self) -> None:
        """Show the votes and explanations of the chosen findings."""
        self._told.value = self._details.html(self.selected, self._settings, self.comparison.conditions)

    @guarded
    def _set(self, _: Any) -> None:
        """Compare anew after a setting changed; meanwhile, the headline says so."""
        self.header.show(view.computing(self.comparison.n_findings))
        try:
            self._work_out()
        finally:
            self.header.show(view.headline(self.comparison))

    @guarded
    def _listed(self, _: Any) -> None:
        self._list()

    @guarded
    def _chosen(self, _: Any) -> None:
        self._tell()

    def _choose_none(self, _: Any) -> None:
        self.table.selected = []  # its observers are guarded; a second guard would erase their message

    def _listen(self) -> None:
        for dropdown in (*self.first.lists, *self.second.lists):
            dropdown.observe(self._set, "value")
        self.find.observe(self._listed, "value")
        self.table.observe(self._listed, "sort")
        self.table.observe(self._chosen, "selected")
        self.clear.on_click(self._choose_none)

    def _lay_out(self) -> None:
        self.fill(
            self.first,
            self.second,
            self._notes,
            group("vp-beside", *self._charts),
            self._metrics,
            group("vp-fields", self.changed, self.find, self.clear),
            self.table,
            ipw.HTML(f'<p class="vp-small">{DISAGREEMENT}</p>'),
            self._told,
        )
