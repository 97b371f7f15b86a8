"""The shown run under other rules: set by controls, by a policy from its log, or by presets (rules B7, E3, R1, R4)."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from verifyplan.analysis.explain import RULE_MEANINGS
from verifyplan.analysis.replay import REPLAY_MODES, Setting, replay
from verifyplan.analysis.run_steps import OWN_RULES, RunSteps
from verifyplan.errors import InputError, Problem, VerifyplanError, one_of
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.plan_rules import POLICIES, Policy
from verifyplan.protocol.vote import MISSING_BASES, Mode
from verifyplan.runs.replay import replay_run
from verifyplan.runs.replayed import Replayed
from verifyplan.text import counted
from verifyplan.widgets.controls import rounds_offered
from verifyplan.widgets.explorer.transcript import file_state, no_log
from verifyplan.widgets.html import DASH, Html, heading, paragraph, table, text

AS_RUN = "as in the run"
MAX_DIFFERENCES = 50
CENSORED = "; censored: the votes that would decide were never cast"
_OWN = {"mode": "recorded", "rounds": "0", "basis": "infer", "policy": AS_RUN}


class ReplayForm:
    """Mode, rounds, missing basis and policy under which the chosen run is read again."""

    def __init__(self) -> None:
        self._values = dict(_OWN)
        self._replays = ReplayCache()

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
        """Set one of `mode`, `rounds`, `basis`, `policy`; InputError for a value that it does not offer."""
        offered: dict[str, tuple[str, ...]] = {
            "mode": REPLAY_MODES,
            "basis": MISSING_BASES,
            "policy": (AS_RUN, *POLICIES),
        }
        fits = value.isdecimal() if name == "rounds" else value in offered.get(name, ())
        if not fits:
            allowed = "a whole number, 0 for the run's own" if name == "rounds" else one_of(offered.get(name, ()))
            raise InputError(Problem(name, f"{value!r} cannot be replayed", f"use {allowed}"))
        self._values[name] = value

    def reset(self) -> None:
        """Set all to what the run was recorded under."""
        self._values = dict(_OWN)

    def suit(self, course: RunSteps) -> str:
        """Unset a policy under which the run cannot be replayed, and return why it cannot; "" where it can."""
        why = why_no_policy(course)
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
        is_closed = bool(why_no_policy(course))
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
        """Return whether other rules or another policy are set, or the recorded votes give other classes."""
        return self.rules != OWN_RULES or self.policy != AS_RUN or not course.differences(self.rules).empty

    def differences_html(self, course: RunSteps) -> str:
        """Return the differences from the record, after their count; one sentence where nothing differs."""
        rules, differing = self.rules, course.differences(self.rules)
        parts = [_differences(differing, rules, len(course.judged(rules)))]
        counts, extra = [f"{counted(len(differing), 'difference')} to the recorded classes"], ""
        if self.policy != AS_RUN:
            mode = None if rules.mode == "recorded" else rules.mode
            again = self._replays.under(course, self.policy, mode)  # type: ignore[arg-type]  # checked by `set`
            rows = policy_differences(course, again)
            parts.append(policy_html(again, self.policy, rows))
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


MAX_CACHED_REPLAYS = 4
"""The last replays are kept; each holds a whole run."""
Differences = list[tuple[str, str, Html]]


class ReplayCache:
    """Replays of runs from their logs, each made once for a policy and mode unless its log changes."""

    def __init__(self) -> None:
        self._replays: dict[tuple[Any, ...], Replayed] = {}

    def __len__(self) -> int:
        return len(self._replays)

    def under(self, course: RunSteps, policy: Policy, mode: Mode | None) -> Replayed:
        """Replay the run, or return its earlier replay. Raises what `replay_run` raises, such as for a damaged log."""
        source = Path(str(course.tables.runs["source"].iloc[0]))
        key = (str(source), file_state(source), policy, mode)
        again = self._replays.pop(key, None) or replay_run(source, policy=policy, mode=mode)
        self._replays[key] = again  # now the last
        for old in list(self._replays)[:-MAX_CACHED_REPLAYS]:
            del self._replays[old]
        return again


def why_no_policy(course: RunSteps) -> str:
    """Return why the run cannot be replayed under a policy; "" where it can."""
    if course.kind != "plan":
        return "Policy: only plan runs have a policy."
    why = no_log(course.tables)
    return f"Policy: {why}, so it cannot be replayed under another." if why else ""


def policy_differences(course: RunSteps, again: Replayed) -> Differences:
    """Return what differs: rulings, the verdict, and the last status of each challenge."""
    old, new = course.tables, again.run.frames
    return [
        *_changed_rows(_rulings(old.iterations), _rulings(new.iterations), "iteration {}"),
        *_changed_rows({"verdict": _end(old.runs)}, {"verdict": _end(new.runs)}, "{}"),
        *_changed_rows(_statuses(old.challenges), _statuses(new.challenges), "{}"),
    ]


def policy_html(again: Replayed, policy: str, rows: Differences) -> str:
    """Return the differences under a policy as HTML, and whether the recorded replies suffice."""
    parts: str = heading(5, f"Under policy {policy}")
    if again.censored:
        parts += paragraph(f"Censored: this policy asks for {again.censored}, which was never called.")
    if again.unscored:
        parts += paragraph(f"No score: this policy ends the run where none was asked for ({again.unscored}).")
    if not rows:
        return parts + paragraph("Rulings, verdict and challenges are as recorded.")
    caption = f"{counted(len(rows), 'difference')} to the recorded run"
    return parts + table(caption, ["What", "Recorded", "Now"], rows)


def _changed_rows(old: dict[Any, str], new: dict[Any, str], name: str) -> Differences:
    """Return the values that differ; a key that one side lacks is "not reached"."""
    keys = dict.fromkeys([*old, *new])
    pairs = [(key, old.get(key, "not reached"), new.get(key, "not reached")) for key in keys]
    return [(name.format(key), a, Html(f'<span class="vp-mark">{text(b)}</span>')) for key, a, b in pairs if a != b]


def _rulings(iterations: pd.DataFrame) -> dict[Any, str]:
    return {int(row["iteration"]): _ruling(row) for row in iterations.to_dict("records")}


def _ruling(row: Any) -> str:
    if pd.isna(row["plan_status"]):
        return "not ended"
    verdict = f": {row['plan_verdict']}{' (strong)' if row['strong'] is True else ''}"
    return f"{row['plan_status']}{verdict if pd.notna(row['plan_verdict']) else ''}"


def _end(runs: pd.DataFrame) -> str:
    row = runs.to_dict("records")[0]
    strong = " (strong)" if row["strong"] is True else ""
    return f"{row['plan_verdict']}{strong}" if pd.notna(row["plan_verdict"]) else "none"


def _statuses(challenges: pd.DataFrame) -> dict[Any, str]:
    return {str(row["challenge_id"]): str(row["status"]) for row in challenges.to_dict("records")}


PRESETS = ("collaborative", "adversarial", "majority", "two-thirds", "unanimous", "any-refute", "sticky-refutes")
"""The presets that are tried; `compare(rules={...})` takes any rules."""


class OtherRules:
    """The classes of a run's items under presets, replayed on first use."""

    def __init__(self, run: RunSet) -> None:
        self._run = run

    @cached_property
    def _replayed(self) -> dict[str, pd.DataFrame | str]:
        """The last class of each item by the name of the rules; why there is none, where the rules refuse the votes."""
        replayed: dict[str, pd.DataFrame | str] = {}
        for name in PRESETS:
            try:
                judged = replay(self._run, rules=name)
            except VerifyplanError as error:
                replayed[name] = str(error)
            else:
                replayed[name] = judged.drop_duplicates("finding_id", keep="last").set_index("finding_id")
        return replayed

    def html(self, name: str | None) -> str:
        """Return how many items change class under each preset, and the class of the item that is chosen, if any."""
        if self._run.votes.empty:
            return paragraph("Without votes, no rules can give other classes.")
        rows = [self._row(rules, judged, name) for rules, judged in self._replayed.items()]
        own = [] if name is None else [f"{name} would be", "By the rule"]
        heads = ["Rules", *own, "Items that change class"]
        censored = paragraph("Censored: other rules would ask for votes that were never cast.")
        return table("The same recorded votes under other rules", heads, rows) + censored

    def _row(self, rules: str, judged: pd.DataFrame | str, name: str | None) -> list[Any]:
        if isinstance(judged, str):
            return [rules, *([DASH, judged] if name is not None else []), DASH if name is not None else judged]
        recorded = judged["recorded"].astype("object")
        changed = recorded.notna() & recorded.ne(judged["classification"].astype("object"))
        total = f"{int(changed.sum()):,} of {int(recorded.notna().sum()):,}" if recorded.notna().any() else DASH
        if name is None:
            return [rules, total]
        if name not in judged.index:
            return [rules, "no vote", DASH, total]
        row = judged.loc[name]
        new, rule = str(row["classification"]), str(row["rule"])
        censored = f" (censored: {row['low']} to {row['high']})" if row["censored"] else ""
        moved = Html(f'<span class="vp-mark">{text(new)}</span>') if changed[name] else text(new)
        return [rules, Html(f"{moved}{text(censored) if censored else ''}"), f"{rule}: {RULE_MEANINGS[rule]}", total]  # type: ignore[index]
