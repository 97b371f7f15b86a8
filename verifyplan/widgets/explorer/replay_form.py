"""The rules by which the shown run is read again: mode, rounds, missing bases, policy; and the differences (B7, E3)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from verifyplan.analysis.replay import REPLAY_MODES, Setting
from verifyplan.analysis.run_steps import OWN_RULES, RunSteps
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.protocol.plan_rules import POLICIES
from verifyplan.protocol.vote import MISSING_BASES
from verifyplan.text import counted
from verifyplan.widgets.controls import rounds_offered
from verifyplan.widgets.explorer import policy
from verifyplan.widgets.html import Html, heading, paragraph, table, text

AS_RUN = "as in the run"
MAX_DIFFERENCES = 50
CENSORED = "; censored: the votes that would decide were never cast"
_OWN = {"mode": "recorded", "rounds": "0", "basis": "infer", "policy": AS_RUN}


class ReplayForm:
    """Mode, rounds, missing basis and policy under which the chosen run is read again."""

    def __init__(self) -> None:
        self._values = dict(_OWN)
        self._replays = policy.ReplayCache()

    @property
    def rules(self) -> Setting:
        """The rules that are set; the policy is not among them."""
        mode, basis = self._values["mode"], self._values["basis"]
        return Setting(mode, int(self._values["rounds"]) or None, basis)  # type: ignore[arg-type]  # checked by `set`

    @property
    def policy(self) -> str:
        """The policy that is set, or `as in the run`."""
        return self._values["policy"]

    def set(self, name: str, value: str) -> None:
        """Set one of `mode`, `rounds`, `basis`, `policy`; InputError for what none of them offers."""
        offered: dict[str, tuple[str, ...]] = {
            "mode": REPLAY_MODES,
            "basis": MISSING_BASES,
            "policy": (AS_RUN, *POLICIES),
        }
        fits = value.isdecimal() if name == "rounds" else value in offered.get(name, ())
        if not fits:
            allowed = "a whole number, 0 for the run's own" if name == "rounds" else one_of(offered.get(name, ()))
            raise InputError(Problem(name, f"{value!r} is none of what can be replayed", f"use {allowed}"))
        self._values[name] = value

    def set_back(self) -> None:
        """Set all to the record."""
        self._values = dict(_OWN)

    def suit(self, course: RunSteps) -> str:
        """Take back a policy that the run cannot be driven under, and return why it cannot; "" where it can."""
        why = policy.why_no_policy(course)
        if why:
            self._values["policy"] = AS_RUN
        return why

    def controls(self, course: RunSteps) -> list[dict[str, Any]]:
        """Return the controls as JSON values."""
        rounds = rounds_offered(course.tables, int(self._values["rounds"]) or None)
        options: dict[str, list[tuple[str, str]]] = {
            "mode": [(mode, mode) for mode in ("recorded", *(mode for mode in REPLAY_MODES if mode != "recorded"))],
            "rounds": [("0", AS_RUN), *((str(number), str(number)) for number in rounds)],
            "basis": [(basis, basis) for basis in MISSING_BASES],
            "policy": [(name, name) for name in (AS_RUN, *POLICIES)],
        }
        titles = {"mode": "Replay mode", "rounds": "Rounds allowed", "basis": "Missing basis", "policy": "Policy"}
        is_closed = bool(policy.why_no_policy(course))
        return [
            {
                "name": name,
                "label": titles[name],
                "options": [list(option) for option in options[name]],
                "value": self._values[name],
                "disabled": name == "policy" and is_closed,
            }
            for name in titles
        ]

    def changes(self, course: RunSteps) -> bool:
        """Return whether rules or a policy of one's own are set, or the recorded votes give other classes."""
        return self.rules != OWN_RULES or self.policy != AS_RUN or not course.differences(self.rules).empty

    def differences_html(self, course: RunSteps) -> str:
        """Return what differs from the record, counted first; one sentence where nothing does."""
        rules, differing = self.rules, course.differences(self.rules)
        parts = [_differences(differing, rules, len(course.judged(rules)))]
        counts, extra = [f"{counted(len(differing), 'difference')} to the recorded classes"], ""
        if self.policy != AS_RUN:
            mode = None if rules.mode == "recorded" else rules.mode
            again = self._replays.under(course, self.policy, mode)  # type: ignore[arg-type]  # checked by `set`
            rows = policy.policy_differences(course, again)
            parts.append(policy.policy_html(again, self.policy, rows))
            counts.append(f"{len(rows):,} to the recorded run under policy {self.policy}")
            extra = " Rounds and missing bases do not apply to the policy."
        return paragraph(f"{', '.join(counts)}.{extra}") + "".join(parts)


def _differences(differing: pd.DataFrame, rules: Setting, total: int) -> str:
    title = heading(5, "Differences to the recorded classes")
    if differing.empty:
        what = "give the recorded classes" if rules == OWN_RULES else "change no class"
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
