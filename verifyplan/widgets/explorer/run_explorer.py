"""The run explorer: choose a run, step through it, see what stood and what changed, read its votes by other rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ipywidgets as ipw
import pandas as pd

from verifyplan.analysis.run_steps import OWN_RULES, RunSteps
from verifyplan.errors import InputError, Problem
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunIndex
from verifyplan.text import counted
from verifyplan.widgets.controls import SelectableTable, Slider, sorted_rows
from verifyplan.widgets.explorer import views
from verifyplan.widgets.explorer.controls import WIDE, ReplayControls, RunChoice
from verifyplan.widgets.html import (
    DASH,
    STYLE,
    block,
    heading,
    paragraph,
)
from verifyplan.widgets.panel import Panel, guarded

_PLAN = {
    "item": "Challenge",
    "severity": "Severity",
    "standing": "Status",
    "classification": "Panel's class",
    "rule": "Rule",
}
_CROSS = {"item": "Finding", "standing": "Class", "rule": "Rule"}
_UNDER = {"replayed": "Under these rules", "summary": "Claim"}


class RunExplorer(Panel):
    """Runs to choose from, one of them step by step, and what other rules make of its votes.

    `run_id` and `step` say what is shown and can be set; `selected` holds the row of the chosen finding or challenge.
    """

    def __init__(self, runs: Runs) -> None:
        super().__init__("Run explorer")
        runs = as_runs(runs)
        self._by_run = RunIndex(runs)
        self.course: RunSteps | None = None
        """The run that is shown; see `verifyplan.analysis.run_steps.RunSteps`."""
        self._still = False
        self._items, self._changes = pd.DataFrame({"item": []}), pd.DataFrame({"item": []})
        self.choice = RunChoice(runs.runs)
        self.slider = Slider(label="Step", low=0, high=0, step=1)
        self.previous = ipw.Button(description="Previous step", tooltip="One step back")
        self.next = ipw.Button(description="Next step", tooltip="One step on")
        self.find = ipw.Text(description="Find in the pool", placeholder="number or claim", style=WIDE)
        self.pool = SelectableTable(label="Pool")
        self.replay = ReplayControls()
        self.head, self.state, self.changed, self.votes, self.detail, self.calls, self.differences = (
            ipw.HTML() for _ in range(7)
        )
        self._listen()
        self._lay_out()
        if len(runs):
            self.run_id = str(runs.runs["run_id"].iloc[0])
        else:
            self.head.value = block(heading(4, "No run"), paragraph("There are no runs in this set: nothing to show."))

    def _listen(self) -> None:
        self.choice.on_change(self._filtered)
        self.choice.table.observe(self._chosen, "selected")
        self.slider.observe(self._stepped, "value")
        self.previous.on_click(self._back)
        self.next.on_click(self._on)
        self.find.observe(self._sought, "value")
        self.pool.observe(self._sorted, "sort")
        self.pool.observe(self._picked, "selected")
        self.replay.on_change(self._replayed)
        self.replay.reset.on_click(self._as_recorded)

    def _lay_out(self) -> None:
        self.stepping = ipw.HBox(
            [self.previous, self.slider, self.next], layout=ipw.Layout(flex_flow="row wrap", align_items="center")
        )
        rules = ipw.HTML(block(heading(5, "Read by these rules")))
        shown = [self.changed, self.state, self.find, self.pool, self.detail, self.votes, self.calls, self.differences]
        self.body = ipw.VBox([self.stepping, rules, self.replay, *shown])
        self.add_class("vp-explorer")
        self.fill(ipw.HTML(STYLE + block(heading(4, "Runs"))), self.choice, self.head, self.body)
        self.body.layout.display = "none"

    @property
    def run_id(self) -> str | None:
        """The run that is shown; None where there is none. Setting it raises InputError for one that is not there."""
        return None if self.course is None else str(self.course.tables.runs["run_id"].iloc[0])

    @run_id.setter
    def run_id(self, run_id: str) -> None:
        self._open(run_id)

    @property
    def step(self) -> int:
        """The step that is shown, from 0. Setting it raises InputError for one that the run does not have."""
        return min(max(round(self.slider.value), 0), self._last)

    @step.setter
    def step(self, step: int) -> None:
        if isinstance(step, bool) or step not in range(self._last + 1):
            fix = f"use a whole number from 0 to {self._last}"
            raise InputError(Problem("step", f"{step!r} is no step of this run", fix))
        self.slider.value = step

    @property
    def selected(self) -> pd.DataFrame:
        """The row of the chosen challenge or finding, as the runs have it; without rows where none is chosen."""
        tables = self._by_run.runs if self.course is None else self.course.tables
        plan = self.course is not None and self.course.kind == "plan"
        table, key = (tables.challenges, "challenge_id") if plan else (tables.findings, "finding_id")
        return table[table[key].isin(self.pool.selected).to_numpy(dtype=bool)].reset_index(drop=True)

    def _open(self, run_id: str) -> None:
        """Show a run from its first step."""
        course = RunSteps(self._by_run.run(run_id))
        last = len(course.steps) - 1
        with self._drawing_once():
            self.course = course
            self.slider.value, self.slider.high, self.slider.disabled = 0, max(last, 1), last == 0
            self.pool.selected, self.find.value = [], ""
            self.pool.label = f"Pool of {views.noun(course)}s"
            self.choice.table.selected = [run_id]
            self.replay.suit(course)
        self.body.layout.display = None
        self.head.value = block(views.headline(course))
        self._draw_step()
        self._draw_replay()

    @guarded
    def _filtered(self, _change: Any) -> None:
        self.choice.fill()

    @guarded
    def _chosen(self, _change: Any) -> None:
        chosen = self.choice.table.selected
        if not self._still and chosen and chosen[0] != self.run_id:
            self._open(chosen[0])

    @guarded
    def _stepped(self, _change: Any) -> None:
        if not self._still:
            self._draw_step()

    @guarded
    def _back(self, _button: Any) -> None:
        self._go(max(self.step - 1, 0))

    @guarded
    def _on(self, _button: Any) -> None:
        self._go(min(self.step + 1, self._last))

    def _go(self, step: int) -> None:
        """Move the slider and draw here, so that a failure is the button's and stays."""
        with self._drawing_once():
            self.slider.value = step
        self._draw_step()

    @guarded
    def _sorted(self, _change: Any) -> None:
        self._draw_pool()

    @guarded
    def _sought(self, _change: Any) -> None:
        if not self._still:
            self._draw_pool()

    @guarded
    def _picked(self, _change: Any) -> None:
        if not self._still:
            self._draw_votes()

    @guarded
    def _replayed(self, _change: Any) -> None:
        if not self._still:
            self._draw_step()
            self._draw_replay()

    @guarded
    def _as_recorded(self, _button: Any) -> None:
        with self._drawing_once():
            self.replay.set_back()
        self._draw_step()
        self._draw_replay()

    @contextmanager
    def _drawing_once(self) -> Iterator[None]:
        """Draw nothing while traits are set in the block; one drawing follows."""
        self._still = True
        try:
            yield
        finally:
            self._still = False

    @property
    def _last(self) -> int:
        return 0 if self.course is None else len(self.course.steps) - 1

    @guarded
    def _draw_step(self) -> None:
        """Show the step: the pool, the changes, the calls. Its failure is its own, whichever control it follows."""
        course, step = self.course, self.step
        if course is None:
            return
        title = str(course.steps["title"].iloc[step])
        self.slider.text = title
        self.previous.disabled, self.next.disabled = step == 0, step == self._last
        self._items = course.items(step)
        self._changes = course.changes(step)
        self.changed.value = block(views.changes(self._changes, title))
        self.state.value = block(views.pool_summary(self._items, title, views.noun(course)))
        self.calls.value = block(views.calls(course.calls(step), course.kind))
        try:
            self._draw_pool()
        finally:  # rules that refuse these votes hide neither the votes nor the pool as it was recorded
            self._draw_votes()

    def _draw_pool(self) -> None:
        """Show the pool in the chosen order; under other rules with their class, marked where it differs."""
        course, items = self.course, self._items
        if course is None:
            return
        titles = (_PLAN if course.kind == "plan" else _CROSS) | {"summary": "Claim"}
        try:
            if self.replay.rules != OWN_RULES:
                items = items.assign(replayed=self._under(course, items))
                titles = {name: titles[name] for name in titles if name != "summary"} | _UNDER
        finally:
            self._fill_pool(items, titles, views.noun(course))

    def _fill_pool(self, items: pd.DataFrame, titles: dict[str, str], noun: str) -> None:
        """Show the rows whose number or claim contains the text of `find`, and note how many there are."""
        searched = self.find.value.strip().casefold()
        matching = (
            items[_contains(items["item"], searched) | _contains(items["summary"], searched)] if searched else items
        )
        self.pool.fill(sorted_rows(matching, self.pool.sort), "item", titles=titles, noun=noun)
        if len(items) and matching.empty:
            self.pool.note = f"None of {counted(len(items), noun)} has this text: write less of it, or nothing."
        elif len(matching) < len(items):
            self.pool.note = f"{self.pool.note.removesuffix('.')}; found among {len(items):,}."
        self.pool.layout.display = self.find.layout.display = None if len(items) else "none"

    def _under(self, course: RunSteps, items: pd.DataFrame) -> pd.Series[Any]:
        reread = course.items(self.step, self.replay.rules)
        new, old = (
            table["classification" if course.kind == "plan" else "standing"].astype("object").fillna(DASH)
            for table in (reread, items)
        )
        return new.where(new.eq(old), "≠ " + new)

    def _draw_votes(self) -> None:
        """Show the votes so far, and the evidence and votes of the chosen item."""
        course = self.course
        if course is None:
            return
        cast, chosen = course.votes(self.step), list(self.pool.selected)
        first = [*chosen, *self._changes["item"]]
        self.votes.value = block(views.vote_matrix(cast, self._items, course.discoverers, first))
        if chosen:
            evidence = views.detail(course, chosen[0], self._items, self.step)
            words = ""
            try:
                words = views.why(course, chosen[0], self.replay.rules)
            finally:
                self.detail.value = block(evidence, views.item_votes(cast, chosen[0]), words)
        else:
            hint = f"Choose a {views.noun(course)} in the table to see the evidence and the votes behind it."
            self.detail.value = block(paragraph(hint)) if len(self._items) else ""

    @guarded
    def _draw_replay(self) -> None:
        """Show what differs from the record; drawn last, since a damaged log cannot be replayed."""
        self.differences.value = ""
        if self.course is not None:
            self.differences.value = block(self.replay.differences_html(self.course))

    def static(self) -> str:
        """The run and step that are shown, as HTML without controls."""
        if self.course is None:
            return f"{STYLE}{self.head.value}"
        title = block(heading(4, f"Step {self.step} of {self._last}: {self.slider.text}"))
        pool = [block(paragraph(self.pool.note)), self.pool.html()] if len(self._items) else []
        parts = [STYLE, self.head.value, title, self.changed.value, self.state.value, *pool]
        return "".join([*parts, self.detail.value, self.votes.value, self.calls.value, self.differences.value])


def _contains(texts: pd.Series[Any], searched: str) -> pd.Series[bool]:
    """Return which texts contain the searched one; a missing text does not."""
    return texts.astype("str").str.casefold().str.contains(searched, regex=False).fillna(False).astype(bool)
