"""The run viewer: runs and their items; one run step by step, with votes, evidence, calls and other rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from verifyplan.analysis.replay import Setting
from verifyplan.analysis.run_steps import OWN_RULES, RunSteps
from verifyplan.errors import InputError, Problem, VerifyplanError
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.text import counted, did_you_mean
from verifyplan.widgets.explorer import contents, views, vote_views
from verifyplan.widgets.explorer.lists import ListSettings, RowList
from verifyplan.widgets.explorer.page import LOOK, ViewerPage, timeline
from verifyplan.widgets.explorer.recorded_lines import Lines
from verifyplan.widgets.explorer.replay_form import OtherRules, ReplayForm
from verifyplan.widgets.explorer.transcript import RunLog, file_state, no_log
from verifyplan.widgets.html import DASH, block, heading, paragraph, table, text
from verifyplan.widgets.panel import Panel, guarded, in_turn

MAX_STATIC_ITEMS = 100
"""Items that a page without a kernel lists."""


class RunExplorer(Panel):
    """Runs and their items to choose from, one run step by step, and its votes under other rules.

    It opens on the first run, or on `run_id`. `run_id`, `step` and `finding_id` say what is shown and can be set;
    `selected` is the row of the chosen finding, challenge or message.

    Args:
        runs: the runs to choose from: a set, a run, or a path.
        run_id: the run to open; None for the first.
    """

    def __init__(self, runs: Runs, run_id: str | None = None) -> None:
        super().__init__("Run viewer")
        self.runs: RunSet = as_runs(runs)
        """The runs to choose from."""
        self.course: RunSteps | None = None
        """The run that is shown; see `verifyplan.analysis.run_steps.RunSteps`."""
        self.replay = ReplayForm()
        """The rules under which the run is replayed."""
        self._step, self._item = 0, ""
        self._items = self._changes = pd.DataFrame({"item": []})
        self._log: RunLog | None = None
        self._transcripts: dict[str, str] = {}
        self._others: OtherRules | None = None
        self._settings = {"runs": ListSettings(), "items": ListSettings()}
        self._lists: dict[str, RowList] = {"runs": RowList(self.runs.runs, contents.RUNS, self._settings["runs"])}
        self._every: RowList | None = None
        self.frame = ViewerPage()
        """What is drawn in the page."""
        self.frame.on_msg(lambda _page, message, _buffers: self.receive(message))
        self.add_class("vp-explorer")
        self.fill(self.frame)
        self.header.show(_sizes(self.runs))
        if len(self.runs) or run_id is not None:
            self.run_id = str(self.runs.runs["run_id"].iloc[0]) if run_id is None else run_id
        else:
            self._show_list("runs", -1)
            self.frame.head = block(heading(4, "No run"), paragraph("There are no runs in this set."))

    @property
    def run_id(self) -> str | None:
        """The run that is shown; None without runs. Setting it raises InputError for a run that is not there."""
        return None if self.course is None else str(self.course.tables.runs["run_id"].iloc[0])

    @run_id.setter
    @in_turn
    def run_id(self, run_id: str) -> None:
        self._open(run_id)

    @property
    def step(self) -> int:
        """The step that is shown, from 0. Setting it raises InputError for a step that the run does not have."""
        return self._step

    @step.setter
    @in_turn
    def step(self, step: int) -> None:
        if isinstance(step, bool) or step not in range(self._last + 1):
            fix = f"use a whole number from 0 to {self._last}"
            raise InputError(Problem("step", f"must be a step of this run, got {step!r}", fix))
        self._step = self.frame.step = step
        self._draw_step()

    @property
    def finding_id(self) -> str | None:
        """The chosen finding, challenge or message, or None. Setting one that is not there raises InputError."""
        return self._item or None

    @finding_id.setter
    @in_turn
    def finding_id(self, finding_id: str | None) -> None:
        known = list(self._own_items[self._item_key].astype("str"))
        if finding_id is not None and finding_id not in known:
            near = did_you_mean(finding_id, known[:1000])
            fix = f"use one of: {', '.join(known[:5]) or 'none'}"
            raise InputError(Problem("finding_id", f"{finding_id!r} is not in run {self.run_id!r}{near}", fix))
        self._item = finding_id or ""
        self._draw_items()
        self._draw_item()

    @property
    def rules(self) -> Setting:
        """The mode, rounds and missing basis under which the run is replayed; neutral as recorded."""
        return self.replay.rules

    @property
    def selected(self) -> pd.DataFrame:
        """The row of the chosen item, as in the tables of the runs; without rows where nothing is chosen."""
        own = self._own_items
        return own[own[self._item_key].astype("str").eq(self._item).to_numpy(dtype=bool)].reset_index(drop=True)

    @property
    def _item_key(self) -> str:
        return {"plan": "challenge_id", "debate": "position"}.get(self.course.kind if self.course else "", "finding_id")

    @property
    def _own_items(self) -> pd.DataFrame:
        tables = self.runs if self.course is None else self.course.tables
        return {"challenge_id": tables.challenges, "position": tables.messages}.get(self._item_key, tables.findings)

    @property
    def _last(self) -> int:
        return 0 if self.course is None else len(self.course.steps) - 1

    def _open(self, run_id: str, item: str = "") -> None:
        """Show a run as it ended."""
        course = RunSteps(self.runs.select(run_id))
        if self.frame.scope == "run":
            self._settings["items"].search = ""
            if self.course is None or self.course.kind != course.kind:  # whose items have other classes
                self._settings["items"].filters.clear()
        self.course, self._item, self._transcripts = course, item, {}
        self._others = OtherRules(course.tables)
        self._step = self._last
        with self.frame.hold_sync():
            self.frame.steps, self.frame.step, self.frame.others = timeline(course), self._step, ""
            self.frame.head = block(views.headline(course))
            self._show_list("runs", self._chosen_in("runs"))
            self._draw_step()
            self._draw_rules()

    # messages of the page

    @in_turn
    def receive(self, message: Mapping[str, Any]) -> None:
        """Do what a message `{do, ...}` of the page asks for; a failure is shown."""
        actions: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "rows": self._send_rows,
            "choose": self._choose,
            "list": self._set_list,
            "scope": self._set_scope,
            "step": self._go,
            "rules": self._set_rules,
            "call": self._send_transcript,
            "why": self._send_why,
            "others": self._send_others,
        }
        action = actions.get(str(message.get("do")))
        if action is not None:
            action(message)

    @guarded
    def _send_rows(self, message: Mapping[str, Any]) -> None:
        name = str(message["list"])
        self._show_list(name, self._chosen_in(name), int(message["first"]))

    @guarded
    def _choose(self, message: Mapping[str, Any]) -> None:
        run_id, *names = map(str, message["key"])
        if not names:
            self._open(run_id)
        elif run_id != self.run_id:
            self._open(run_id, names[0])
        else:
            self.finding_id = None if names[0] == self._item else names[0]

    @guarded
    def _set_list(self, message: Mapping[str, Any]) -> None:
        """Search, filter or sort a list."""
        listed, what, value = str(message["list"]), str(message["name"]), str(message["value"])
        settings = self._settings[listed]
        if what == "search":
            settings.search = value
        elif what == "sort":
            settings.sort = value
        elif what == "descending":
            settings.descending = bool(value)
        else:
            settings.filters[what] = value
        self._show_list(listed, self._chosen_in(listed))
        self.frame.status = str(getattr(self.frame, listed)["note"])

    @guarded
    def _set_scope(self, message: Mapping[str, Any]) -> None:
        self.frame.scope = "all" if message.get("value") == "all" else "run"
        self._settings["items"].filters.clear()
        self._draw_items()

    @guarded
    def _go(self, message: Mapping[str, Any]) -> None:
        self.step = min(max(int(message["step"]), 0), self._last)

    @guarded
    def _set_rules(self, message: Mapping[str, Any]) -> None:
        name = str(message["name"])
        if name == "reset":
            self.replay.reset()
        else:
            self.replay.set(name, str(message["value"]))
        self._draw_step()
        self._draw_rules()

    @guarded
    def _send_transcript(self, message: Mapping[str, Any]) -> None:
        """Send the transcript of a call that was unfolded, or why there is none."""
        call_id = str(message["call"])
        if call_id not in self._transcripts and self.course is not None:
            why = no_log(self.course.tables)
            words = f"No transcript: {why}."
            self._transcripts[call_id] = paragraph(words) if why else self._run_log.transcript(call_id)
        self.frame.send({"slot": call_id, "html": self._transcripts.get(call_id, "")})

    @guarded
    def _send_why(self, _message: Mapping[str, Any]) -> None:
        """Send why the chosen item ends in its class, which takes longer than all else about it."""
        if self.course is not None and self._item:
            self.frame.send({"slot": "why", "html": views.why(self.course, self._item, self.replay.rules)})

    @guarded
    def _send_others(self, _message: Mapping[str, Any]) -> None:
        if self._others is not None:
            self.frame.others = block(self._others.html(self._item or None))

    @property
    def _run_log(self) -> RunLog:
        """The log of the run, read on first use and again when its file changes."""
        if self.course is None:
            raise InputError(Problem("run_id", "there is no run", "give runs that were read from logs"))
        path = Path(str(self.course.tables.runs["source"].iloc[0]))
        if self._log is None or self._log.path != path or self._log.state != file_state(path):
            self._log = RunLog(path)
        return self._log

    # drawing

    def _chosen_in(self, name: str) -> int:
        listed = self._lists.get(name)
        if listed is None or self.course is None:
            return -1
        if name == "runs":
            return listed.position(run_id=str(self.run_id))
        where = {"run_id": str(self.run_id)} if self.frame.scope == "all" else {}
        return listed.position(item=self._item, **where) if self._item else -1

    def _show_list(self, name: str, chosen: int, first: int | None = None) -> None:
        noun = self._lists[name].kind.noun
        label = f"{noun.capitalize()}s{' of all runs' if name == 'items' and self.frame.scope == 'all' else ''}"
        setattr(self.frame, name, self._lists[name].shown(label, chosen, first))

    @guarded
    def _draw_step(self) -> None:
        """Show the step: what changed, the calls, the items."""
        course, step = self.course, self._step
        if course is None:
            return
        title = str(course.steps["title"].iloc[step])
        self._items, self._changes = contents.items_at(course, step), course.changes(step)
        summary = views.pool_summary(self._items, title, views.noun(course))
        self.frame.changed = block(views.changes(self._changes, title), summary)
        self.frame.calls = block(views.calls(course.calls(step), course.kind, self._transcripts))
        self.frame.status = f"Step {step} of {self._last}: {title}; {counted(len(self._changes), 'change')}."
        try:
            self._draw_items_of_step(course)
        finally:  # rules that refuse these votes hide neither the votes nor the items as they were recorded
            self._draw_item()

    def _draw_items_of_step(self, course: RunSteps) -> None:
        """List the items of the step; under other rules, with their class, marked where it differs."""
        try:
            if self.replay.rules != OWN_RULES and course.kind != "debate":
                self._items = self._items.assign(replayed=self._under(course))
        finally:
            self._draw_items()

    def _under(self, course: RunSteps) -> pd.Series[Any]:
        reread = course.items(self._step, self.replay.rules)
        new, old = (
            items["classification" if course.kind == "plan" else "standing"].astype("object").fillna(DASH)
            for items in (reread, self._items)
        )
        return new.where(new.eq(old), "≠ " + new)

    def _draw_items(self) -> None:
        if self.course is None:
            return
        if self.frame.scope == "all":
            if self._every is None:
                kind = contents.items_kind("item")
                self._every = RowList(contents.items_of_all(self.runs), kind, self._settings["items"])
            self._lists["items"] = self._every
        else:
            kind = contents.items_kind(views.noun(self.course), str(self.run_id))
            table = contents.ordered_standings(self._items)
            self._lists["items"] = RowList(table, kind, self._settings["items"])
        self._show_list("items", self._chosen_in("items"))

    @guarded
    def _draw_item(self) -> None:
        """Show the votes, evidence and rule of the chosen item; without a choice, the votes on the first items."""
        if self.course is None:
            return
        self.frame.item = self._item_html(self.course, controls=True)
        if self.frame.others and self._others is not None:
            self.frame.others = block(self._others.html(self._item or None))

    def _item_html(self, course: RunSteps, *, controls: bool) -> str:
        cast, first = course.votes(self._step), pd.concat([pd.Series([self._item]), self._changes["item"]])
        matrix = vote_views.vote_matrix(cast, self._items, course.discoverers, first)
        if not self._item:
            hint = f"Choose a {views.noun(course)} in the list to see the evidence and the votes behind it."
            return block(paragraph(hint) if len(self._items) and controls else "", matrix)
        evidence = views.detail(course, self._item, self._items, self._step, self._lines())
        if course.kind == "debate":
            return block(evidence)
        votes = vote_views.item_matrix(course, cast, self._item, controls=controls)
        fold = f'<details data-fold="matrix"><summary>Votes on other items so far</summary>{matrix}</details>'
        why = views.why_fold(self.replay.rules, "" if controls else views.why(course, self._item, self.replay.rules))
        return block(heading(5, self._title), votes, evidence, why, fold)

    @property
    def _title(self) -> str:
        """The name of the chosen item, and its claim."""
        row = self._items[self._items["item"].eq(self._item)]
        summary = row["summary"].iloc[0] if len(row) else None
        return self._item if summary is None or pd.isna(summary) else f"{self._item}: {summary}"

    def _lines(self) -> Lines | None:
        """Return the lines that the log of the run holds; None without a log that can be read."""
        try:
            return None if self.course is None or no_log(self.course.tables) else self._run_log.lines
        except VerifyplanError:
            return None

    @guarded
    def _draw_rules(self) -> None:
        """Show the differences from the record; drawn last, since replaying a damaged log fails."""
        if self.course is None:
            return
        why = self.replay.suit(self.course)
        self.frame.rules, self.frame.replayed = self.replay.controls(self.course), ""
        reason = paragraph(why) if why else ""
        self.frame.replayed = block(self.replay.differences_html(self.course), reason)

    def static(self) -> str:
        """The run and step that are shown, as HTML without controls."""
        if self.course is None:
            return self.frame.head
        course, title = self.course, str(self.course.steps["title"].iloc[self._step])
        shown = self._items.head(MAX_STATIC_ITEMS)
        caption = counted(len(self._items), views.noun(course))
        caption += f"; the first {MAX_STATIC_ITEMS} are listed" if len(self._items) > len(shown) else ""
        heads = {"item": "Item", "standing": "Status", "classification": "The panel's class", "rule": "Rule"}
        heads |= {"replayed": "Under these rules", "summary": "Claim"}
        left_out = {"debate": ("classification", "rule"), "plan": ()}.get(course.kind, ("classification",))
        names = [name for name in heads if name in shown and name not in left_out]
        rows = [[text(value, 120) for value in row] for row in shown[names].itertuples(index=False, name=None)]
        all_items = table(caption, [heads[name] for name in names], rows)
        listed = f"<details><summary>List of {caption}</summary>{all_items}</details>" if rows else ""
        step = block(heading(4, f"Step {self._step} of {self._last}: {title}"))
        parts = [
            f"<style>{LOOK}</style>",
            self.frame.head,
            step,
            self.frame.changed,
            self._item_html(course, controls=False),
        ]
        calls = self.frame.calls if len(course.calls(self._step)) else ""
        return "".join([*parts, listed, calls, self.frame.replayed if self.replay.changes(course) else ""])


def _sizes(runs: RunSet) -> str:
    """Return the numbers of runs, and of findings, challenges, votes and calls."""
    tables = {"finding": runs.findings, "challenge": runs.challenges, "vote": runs.votes, "call": runs.calls}
    sizes = [counted(len(table), noun) for noun, table in tables.items() if len(table)]
    return f"{', '.join([counted(len(runs), 'run'), *sizes])}."
