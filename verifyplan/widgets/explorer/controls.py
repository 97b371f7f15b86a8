"""The controls of the run explorer: filters over the table of runs, and the rules to replay a run by (rules B7, E3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as ipw
import pandas as pd

from verifyplan.analysis.replay import REPLAY_MODES, Setting
from verifyplan.analysis.run_steps import OWN_RULES, RunSteps
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.plan_rules import POLICIES
from verifyplan.protocol.vote import MISSING_BASES
from verifyplan.text import counted
from verifyplan.widgets.controls import SelectableTable, rounds_offered, sorted_rows
from verifyplan.widgets.explorer import policy
from verifyplan.widgets.html import (
    Html,
    heading,
    paragraph,
    table,
    text,
)

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
AS_RUN = "as in the run"
MAX_DIFFERENCES = 50
CENSORED = "; censored: the votes that would decide were never cast"


class RunChoice(ipw.VBox):
    """Filters by kind, verdict, mode and text over a table of runs; `table.selected` holds the chosen run's id."""

    def __init__(self, runs: pd.DataFrame) -> None:
        self.runs = runs
        self._searched = [runs[name].astype("str").str.casefold() for name in _SEARCHED]
        self.kind = _filter("Kind", runs["kind"])
        self.verdict = _filter("Verdict", runs["plan_verdict"], NO_VERDICT)
        self.mode = _filter("Mode", runs["mode"])
        self.search = ipw.Text(description="Text", placeholder="run, task or plan", continuous_update=True, style=WIDE)
        self.table = SelectableTable(label="Runs")
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
        """Return the runs that pass the filters, in the chosen order."""
        keep = pd.Series(True, self.runs.index)
        for control, name in ((self.kind, "kind"), (self.verdict, "plan_verdict"), (self.mode, "mode")):
            if control.value == NO_VERDICT:
                keep &= self.runs[name].isna()
            elif control.value != ANY:
                keep &= self.runs[name].eq(control.value).fillna(False).astype(bool)
        searched = self.search.value.strip().casefold()
        if searched:
            matches = [words.str.contains(searched, regex=False).fillna(False).astype(bool) for words in self._searched]
            keep &= matches[0] | matches[1] | matches[2]
        return sorted_rows(self.runs[keep], self.table.sort)

    def fill(self) -> None:
        """Show the runs that pass."""
        titles = {name: title for name, title in _TITLES.items() if name == "run_id" or self.runs[name].notna().any()}
        passing = self.passing()
        self.table.fill(passing, "run_id", titles=titles, noun="run")
        if len(self.runs) and passing.empty:
            self.table.note = f"No run passes: none of {len(self.runs):,} has all that is asked for. Loosen a filter."


def _filter(name: str, values: pd.Series[Any], missing: str | None = None) -> ipw.Dropdown:
    known = [str(value) for value in values.cat.categories if values.eq(value).any()]
    none = [missing] if missing and known and values.isna().any() else []
    return ipw.Dropdown(description=name, options=[ANY, *known, *none], style=WIDE)


class ReplayControls(ipw.VBox):
    """Mode, rounds, missing basis and policy under which the chosen run is read again."""

    def __init__(self) -> None:
        self.mode = ipw.Dropdown(
            description="Replay mode",
            options=["recorded", *(mode for mode in REPLAY_MODES if mode != "recorded")],
            style=WIDE,
        )
        self.rounds = ipw.Dropdown(description="Rounds allowed", options=_rounds(RunSet()), value=0, style=WIDE)
        self.basis = ipw.Dropdown(description="Missing basis", options=MISSING_BASES, value="infer", style=WIDE)
        self.policy = ipw.Dropdown(description="Policy", options=[AS_RUN, *POLICIES], style=WIDE)
        self.reset = ipw.Button(description="As recorded", tooltip="Set all replay controls back")
        self.reason = ipw.HTML()
        self.note = ipw.HTML()
        self.driven = policy.ReplayCache()
        row = ipw.HBox([*self.controls, self.reset], layout=ipw.Layout(flex_flow="row wrap"))
        super().__init__([row, self.note, self.reason])

    @property
    def controls(self) -> tuple[ipw.Dropdown, ...]:
        """The four controls."""
        return self.mode, self.rounds, self.basis, self.policy

    @property
    def rules(self) -> Setting:
        """The rules that the controls say; the policy is not among them."""
        return Setting(self.mode.value, self.rounds.value or None, self.basis.value)

    @property
    def changed(self) -> bool:
        """Whether a control differs from the record."""
        return self.rules != OWN_RULES or self.policy.value != AS_RUN

    def on_change(self, callback: Callable[[Any], Any]) -> None:
        """Call `callback` when a control is changed."""
        for control in self.controls:
            control.observe(callback, "value")

    def set_back(self) -> None:
        """Set all controls to the record."""
        for control, value in zip(self.controls, ("recorded", 0, "infer", AS_RUN), strict=True):
            control.value = value

    def suit(self, course: RunSteps) -> None:
        """Offer the rounds that the run has, and the policy where it can be driven again, else say why not.

        Rounds that are chosen stay chosen, also where this run has not that many.
        """
        chosen = self.rounds.value
        rounds = _rounds(course.tables, chosen)
        if rounds != list(self.rounds.options):
            self.rounds.options = rounds
            self.rounds.value = chosen
        why = policy.why_no_policy(course)
        if why:
            self.policy.value = AS_RUN
        self.policy.disabled = bool(why)
        self.reason.value, self.reason.layout.display = why, None if why else "none"

    def differences_html(self, course: RunSteps) -> str:
        """Return what differs from the record, one sentence where nothing does; the note beside the controls counts it.

        If the run cannot be replayed, the note is left blank.
        """
        self.note.value = ""
        rules, differing = self.rules, course.differences(self.rules)
        parts = [_differences(differing, rules, len(course.judged(rules)))]
        counts, extra, n = [f"{counted(len(differing), 'difference')} to the recorded classes"], "", len(differing)
        if self.policy.value != AS_RUN:
            mode = None if self.mode.value == "recorded" else self.mode.value
            again = self.driven.under(course, self.policy.value, mode)
            rows = policy.policy_differences(course, again)
            parts.append(policy.policy_html(again, self.policy.value, rows))
            counts.append(f"{len(rows):,} to the recorded run under policy {self.policy.value}")
            extra, n = " Rounds and missing bases do not apply to the policy.", n + len(rows)
        self.note.value = f"<b>{', '.join(counts)}</b>{', listed at the end' if n else ''}.{extra}"
        return "".join(parts)


def _rounds(runs: RunSet, chosen: int = 0) -> list[tuple[str, int]]:
    return [(AS_RUN, 0), *((str(n), n) for n in rounds_offered(runs, chosen or None))]


def _differences(differing: pd.DataFrame, rules: Setting, total: int) -> str:
    title = heading(5, "Differences to the recorded classes")
    if differing.empty:
        what = "give the recorded classes" if rules.own else "change no class"
        return title + paragraph(f"These rules {what}: no difference in {_classes(total)}.")
    censored = int(differing["censored"].sum())
    caption = f"{counted(len(differing), 'difference')} in {_classes(total)}"
    if censored:
        caption += f"; {censored} censored"
    if len(differing) > MAX_DIFFERENCES:
        caption += f"; the first {MAX_DIFFERENCES} are listed"
    iterated = bool(differing["iteration"].any())
    heads = ["Item", *(["Iteration"] if iterated else []), "Class", "By the rule"]
    rows = [_difference(row, iterated) for row in differing.head(MAX_DIFFERENCES).to_dict("records")]
    return title + table(caption, heads, rows, bounded=True)


def _difference(row: dict[Any, Any], iterated: bool) -> list[Any]:
    rule = f"{row['rule']}: {row['meaning']}{CENSORED if row['censored'] else ''}"
    moved = Html(f'<span class="vp-tiles">{text(row["old"])} → <span class="vp-mark">{text(row["new"])}</span></span>')
    return [row["finding_id"], *([row["iteration"]] if iterated else []), moved, rule]


def _classes(n: int) -> str:
    return f"{n:,} class" if n == 1 else f"{n:,} classes"
