"""A plan run replayed from its log under another policy, and what then differs from the record (rule E3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from verifyplan.analysis.run_steps import RunSteps
from verifyplan.protocol.plan_rules import Policy
from verifyplan.protocol.vote import Mode
from verifyplan.runs.replay import replay_run
from verifyplan.runs.replayed import Replayed
from verifyplan.text import counted
from verifyplan.widgets.explorer.log_files import file_state, no_log
from verifyplan.widgets.html import (
    Html,
    heading,
    paragraph,
    table,
    text,
)

MAX_CACHED_REPLAYS = 4
"""The last replays are kept; each holds a whole run."""
Differences = list[tuple[str, str, Html]]


class ReplayCache:
    """Replays of runs from their logs, each made once for a policy and mode as long as its log does not change."""

    def __init__(self) -> None:
        self._replays: dict[tuple[Any, ...], Replayed] = {}

    def __len__(self) -> int:
        return len(self._replays)

    def under(self, course: RunSteps, policy: Policy, mode: Mode | None) -> Replayed:
        """Replay the run, unless that was done. Raises what `replay_run` raises, mostly for a damaged log."""
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
        return "Policy: only plan runs have one."
    why = no_log(course.tables)
    return f"Policy: {why}, from which it could be driven again." if why else ""


def policy_differences(course: RunSteps, again: Replayed) -> Differences:
    """Return what differs: rulings, the verdict, and the last status of each challenge."""
    old, new = course.tables, again.run.frames
    return [
        *_changed_rows(_rulings(old.iterations), _rulings(new.iterations), "iteration {}"),
        *_changed_rows({"verdict": _end(old.runs)}, {"verdict": _end(new.runs)}, "{}"),
        *_changed_rows(_statuses(old.challenges), _statuses(new.challenges), "{}"),
    ]


def policy_html(again: Replayed, policy: str, rows: Differences) -> str:
    """Return what differs under a policy as HTML, with how far the recorded replies reach."""
    parts: str = heading(5, f"Under policy {policy}")
    if again.censored:
        parts += paragraph(f"Censored: this policy asks for {again.censored}, which was never called.")
    if again.unscored:
        parts += paragraph(f"No score: this policy ends the run where none was asked for ({again.unscored}).")
    if not rows:
        return parts + paragraph("Rulings, verdict and challenges come out as recorded.")
    caption = f"{counted(len(rows), 'difference')} to the recorded run"
    return parts + table(caption, ["What", "Recorded", "Now"], rows)


def _changed_rows(old: dict[Any, str], new: dict[Any, str], name: str) -> Differences:
    """Return the values that differ; a key that one side lacks was "not reached"."""
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
