"""Replay controls of the run explorer, and what differs under them from what was recorded (SPEC B7, E3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as ipw
import pandas as pd

from verifyplan.analysis.course import Course
from verifyplan.analysis.reading import OWN, Rules
from verifyplan.analysis.replay import READINGS
from verifyplan.loops.replay import Replayed, replay_run
from verifyplan.protocol.settings import POLICIES
from verifyplan.protocol.vote import MISSING_BASES
from verifyplan.widgets.explorer.choice import WIDE
from verifyplan.widgets.explorer.html import Html, heading, paragraph, table
from verifyplan.words import counted

AS_RUN = "as in the run"
MOST_ROUNDS = 5
MOST_DIFFERENCES = 50
CENSORED = "; censored: the votes that would decide were never cast"


class ReplayControls(ipw.VBox):
    """Mode, rounds, missing basis and policy under which the chosen run is read again."""

    def __init__(self) -> None:
        self.mode = ipw.Dropdown(
            description="Replay mode", options=["recorded", *(one for one in READINGS if one != "recorded")], style=WIDE
        )
        rounds = [(AS_RUN, 0), *((str(n), n) for n in range(1, MOST_ROUNDS + 1))]
        self.rounds = ipw.Dropdown(description="Rounds allowed", options=rounds, value=0, style=WIDE)
        self.basis = ipw.Dropdown(description="Missing basis", options=MISSING_BASES, value="infer", style=WIDE)
        self.policy = ipw.Dropdown(description="Policy", options=[AS_RUN, *POLICIES], style=WIDE)
        self.reset = ipw.Button(description="As recorded", tooltip="Set all replay controls back")
        self.reason = ipw.HTML()
        self.note = ipw.HTML()
        self._policies: dict[tuple[str, ...], Replayed] = {}
        row = ipw.HBox([*self.controls, self.reset], layout=ipw.Layout(flex_flow="row wrap"))
        super().__init__([row, self.note, self.reason])

    @property
    def controls(self) -> tuple[ipw.Dropdown, ...]:
        """The four controls."""
        return self.mode, self.rounds, self.basis, self.policy

    @property
    def rules(self) -> Rules:
        """The rules that the controls stand for; the policy is not among them."""
        return Rules(self.mode.value, self.rounds.value or None, self.basis.value)

    @property
    def changed(self) -> bool:
        """Whether anything is asked for but what was recorded."""
        return self.rules != OWN or self.policy.value != AS_RUN

    def on_change(self, callback: Callable[[Any], Any]) -> None:
        """Call `callback` when a control is changed."""
        for control in self.controls:
            control.observe(callback, "value")

    def set_back(self) -> None:
        """All controls as they were at first."""
        for control, value in zip(self.controls, ("recorded", 0, "infer", AS_RUN), strict=True):
            control.value = value

    def suit(self, course: Course) -> None:
        """Offer the policy where the run can be driven again, else say why not."""
        why = _no_policy(course)
        if why:
            self.policy.value = AS_RUN
        self.policy.disabled = bool(why)
        self.reason.value, self.reason.layout.display = why, None if why else "none"

    def driven(self, course: Course) -> Replayed:
        """The run driven again under the policy (and mode, if one is chosen), once for each."""
        source = str(course.one.runs["source"].iloc[0])
        key = (source, self.policy.value, self.mode.value)
        if key not in self._policies:
            mode = None if self.mode.value == "recorded" else self.mode.value
            self._policies[key] = replay_run(Path(source), policy=self.policy.value, mode=mode)
        return self._policies[key]

    def told(self, course: Course) -> str:
        """What differs, as HTML; where nothing was asked for, and the recorded classes follow, one sentence."""
        rules, found = self.rules, course.differences(self.rules)
        where = ", listed at the end" if len(found) else ""
        self.note.value = f"<b>{counted(len(found), 'difference')} to the recorded classes</b>{where}."
        parts = [_differences(found, rules, len(course.judged(rules)))]
        if self.policy.value != AS_RUN:
            parts.append(_policy(course, self.driven(course), self.policy.value))
        return "".join(parts)


def _no_policy(course: Course) -> str:
    run = course.one.runs.iloc[0]
    if run["kind"] != "plan":
        return "Policy: only plan runs have one."
    if run["log"] is not True and not (pd.notna(run["log"]) and bool(run["log"])):
        return "Policy: this run has no log, from which it could be driven again."
    if pd.isna(run["source"]):
        return "Policy: this run was not written to a file, from which it could be driven again."
    if not Path(str(run["source"])).is_file():
        return "Policy: the log of this run is not where it was read from, so it cannot be driven again."
    return ""


def _differences(found: pd.DataFrame, rules: Rules, total: int) -> str:
    told = heading(5, "Differences to the recorded classes")
    if found.empty:
        what = "give the recorded classes" if rules.own else "change no class"
        return told + paragraph(f"These rules {what}: no difference in {_classes(total)}.")
    censored = int(found["censored"].sum())
    caption = f"{counted(len(found), 'difference')} in {_classes(total)}"
    if censored:
        caption += f"; {censored} censored"
    if len(found) > MOST_DIFFERENCES:
        caption += f"; the first {MOST_DIFFERENCES} are listed"
    iterated = bool(found["iteration"].any())
    heads = ["Item", *(["Iteration"] if iterated else []), "Class", "By the rule"]
    return told + table(caption, heads, [_difference(row, iterated) for row in _first(found)], bounded=True)


def _first(found: pd.DataFrame) -> list[dict[Any, Any]]:
    return found.head(MOST_DIFFERENCES).to_dict("records")


def _difference(row: dict[Any, Any], iterated: bool) -> list[Any]:
    rule = f"{row['rule']}: {row['meaning']}{CENSORED if row['censored'] else ''}"
    moved = Html(f'<span class="vp-tiles">{row["old"]} → <span class="vp-mark">{row["new"]}</span></span>')
    return [row["finding_id"], *([row["iteration"]] if iterated else []), moved, rule]


def _classes(n: int) -> str:
    return f"{n:,} class" if n == 1 else f"{n:,} classes"


def _policy(course: Course, again: Replayed, policy: str) -> str:
    told: str = heading(5, f"Under policy {policy}")
    if again.censored:
        told += paragraph(f"Censored: this policy asks for {again.censored}, which was never called.")
    if again.unscored:
        told += paragraph(f"No score: this policy ends the run where none was asked for ({again.unscored}).")
    old, new = course.one, again.run.frames
    rows = [
        *_moved(_rulings(old.iterations), _rulings(new.iterations), "iteration {}"),
        *_moved({"verdict": _end(old.runs)}, {"verdict": _end(new.runs)}, "{}"),
        *_moved(_statuses(old.challenges), _statuses(new.challenges), "{}"),
    ]
    if not rows:
        return told + paragraph("Rulings, verdict and challenges come out as recorded.")
    caption = f"{counted(len(rows), 'difference')} to the recorded run"
    return told + table(caption, ["What", "Recorded", "Now"], rows)


def _moved(old: dict[Any, str], new: dict[Any, str], name: str) -> list[tuple[str, str, Html]]:
    """What is otherwise; what the one or the other has not got to is said to be missing."""
    keys = dict.fromkeys([*old, *new])
    pairs = [(key, old.get(key, "not reached"), new.get(key, "not reached")) for key in keys]
    return [(name.format(key), a, Html(f'<span class="vp-mark">{b}</span>')) for key, a, b in pairs if a != b]


def _rulings(iterations: pd.DataFrame) -> dict[Any, str]:
    return {int(row["iteration"]): _ruling(row) for row in iterations.to_dict("records")}


def _ruling(row: Any) -> str:
    if pd.isna(row["plan_status"]):
        return "not ended"
    verdict = f": {row['plan_verdict']}{' (strong)' if row['strong'] is True else ''}"
    return f"{row['plan_status']}{verdict if pd.notna(row['plan_verdict']) else ''}"


def _end(runs: pd.DataFrame) -> str:
    row = runs.iloc[0]
    return (
        f"{row['plan_verdict']}{' (strong)' if row['strong'] is True else ''}"
        if pd.notna(row["plan_verdict"])
        else "none"
    )


def _statuses(challenges: pd.DataFrame) -> dict[Any, str]:
    return {str(row["challenge_id"]): str(row["status"]) for row in challenges.to_dict("records")}
