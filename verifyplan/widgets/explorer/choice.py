"""Choosing a run out of many: filters, and the table of the runs that pass them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as ipw
import pandas as pd

from verifyplan.widgets.controls import Table, ordered

ANY = "any"
NO_VERDICT = "no verdict"
_TITLES = {
    "run_id": "Run",
    "kind": "Kind",
    "plan_verdict": "Verdict",
    "mode": "Mode",
    "n_findings": "Findings",
    "total_rounds": "Rounds",
    "n_iterations": "Iterations",
    "task_key": "About",
}
_SEARCHED = ("run_id", "task_key", "plan_name")
WIDE = {"description_width": "initial"}


class RunChoice(ipw.VBox):
    """Filters by kind, verdict, mode and text over a table of runs; `table.selected` holds the chosen run's id."""

    def __init__(self, runs: pd.DataFrame) -> None:
        self.runs = runs
        self._words = [runs[name].astype("str").str.casefold() for name in _SEARCHED]
        self.kind = _dropdown("Kind", runs["kind"])
        self.verdict = _dropdown("Verdict", runs["plan_verdict"], NO_VERDICT)
        self.mode = _dropdown("Mode", runs["mode"])
        self.search = ipw.Text(description="Text", placeholder="run, task or plan", continuous_update=True, style=WIDE)
        self.table = Table(label="Runs")
        super().__init__([ipw.HBox(list(self.controls), layout=ipw.Layout(flex_flow="row wrap")), self.table])
        self.fill()

    @property
    def controls(self) -> tuple[ipw.Widget, ...]:
        """The filters."""
        return self.kind, self.verdict, self.mode, self.search

    def on_change(self, callback: Callable[[Any], Any]) -> None:
        """Call `callback` when a filter or the order is changed."""
        for control in self.controls:
            control.observe(callback, "value")
        self.table.observe(callback, "sort")

    def passing(self) -> pd.DataFrame:
        """The runs that pass the filters, in the order asked for."""
        keep = pd.Series(True, self.runs.index)
        for control, name in ((self.kind, "kind"), (self.verdict, "plan_verdict"), (self.mode, "mode")):
            if control.value == NO_VERDICT:
                keep &= self.runs[name].isna()
            elif control.value != ANY:
                keep &= self.runs[name].eq(control.value).fillna(False).astype(bool)
        wanted = self.search.value.strip().casefold()
        if wanted:
            found = [words.str.contains(wanted, regex=False).fillna(False).astype(bool) for words in self._words]
            keep &= found[0] | found[1] | found[2]
        return ordered(self.runs[keep], self.table.sort)

    def fill(self) -> None:
        """Show the runs that pass."""
        titles = {name: title for name, title in _TITLES.items() if name == "run_id" or self.runs[name].notna().any()}
        passing = self.passing()
        self.table.fill(passing, "run_id", titles=titles, noun="run")
        if len(self.runs) and passing.empty:
            self.table.note = f"No run passes: none of {len(self.runs):,} has all that is asked for. Loosen a filter."


def _dropdown(name: str, values: pd.Series[Any], missing: str | None = None) -> ipw.Dropdown:
    known = [str(value) for value in values.cat.categories if values.eq(value).any()]
    none = [missing] if missing and known and values.isna().any() else []
    return ipw.Dropdown(description=name, options=[ANY, *known, *none], style=WIDE)
