"""Describe runs that were replayed: one alone, or many as a table of what was recorded and what comes out (rule E3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.rules.convergence import verdict_words
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.run import Run
from verifyplan.text import counted

COLUMNS: dict[str, str] = {
    "run_id": "string",
    "kind": "string",
    "recorded_verdict": "string",
    "replayed_verdict": "string",
    "recorded_status": "string",
    "replayed_status": "string",
    "recorded_classes": "string",
    "replayed_classes": "string",
    "changed": "boolean",
    "censored": "string",
    "differences": "Int64",
    "note": "string",
    "problem": "string",
}
"""The columns of a table of replayed runs, and their types."""


@with_field_docs
@dataclass(frozen=True)
class Replayed:
    """A run driven again from recorded replies: its outcome, how far it came, and how it differs."""

    run: Run
    """The run as it went this time."""
    censored: str | None
    """The first call that is needed and was never made, or never asked a panel about a challenge whose class decides;
    None if the run came to its end, or waits. Scores are no such call where changed rules end the run sooner: they
    decide nothing."""
    asked_otherwise: tuple[str, ...]
    """Calls whose recorded reply answered another request than the one that these rules make."""
    differences: tuple[str, ...]
    """How the derived events differ from the recorded ones, line by line."""
    unscored: str | None = None
    """The call for scores that was never made, where there is a verdict without one."""
    rules_changed: str | None = None
    """Which other rules than today's decided the run, and what checks it as it was; None if today's did."""
    changes: tuple[str, ...] = ()
    """How the outcome differs, in words: verdict, statuses, classes."""
    _given_rules: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the recorded replies give the recorded events again."""
        return not self.differences

    def __str__(self) -> str:
        """The outcome, and how far it can be trusted."""
        under = [f"replayed under {rules}" for rules in self._given_rules]
        lines = [*under, str(self.run)]
        if self.censored:
            lines = [
                *under,
                f"censored: these rules ask for {self.censored}, which was never called, or not about all of this, so "
                "nothing is said of more",
            ]
        if self.rules_changed and self.changes:
            lines += [self.rules_changed, "today's rules would change:", *(f"  {line}" for line in self.changes)]
        elif self.rules_changed:
            reach = " as far as they reach" if self.censored else ""
            lines += [self.rules_changed, f"today's rules change nothing of its outcome{reach}"]
        if self.unscored:
            lines.append(f"no score: the recorded run asked for none where these rules end it ({self.unscored})")
        if self.asked_otherwise:
            calls = ", ".join(self.asked_otherwise)
            lines.append(f"these calls reuse replies to requests that would have been worded differently: {calls}")
        return "\n".join(lines)

    __repr__ = __str__  # a console shows the words, not every table


def outcome_changes(recorded: Run, again: Run, *, whole: bool) -> tuple[str, ...]:
    """List where the outcomes of two runs of the same replies differ: verdict, statuses of challenges, classes.

    Parts that only the recorded run has are listed if the second one was driven as far (`whole`).
    """
    old, new = outcome(recorded), outcome(again)
    return tuple(
        f"{name}: {old.get(name, 'none')}; now: {new.get(name, 'none')}"
        for name in (old | new)
        if (name in new or whole) and old.get(name) != new.get(name)
    )


def outcome(run: Run) -> dict[str, str]:
    """Return the outcome of a run by the names of its parts, without parts that it has not come to."""
    parts: dict[str, str] = {}
    if isinstance(run, PlanRun):
        state = run.state
        if run.outcome is not None:
            parts["verdict"] = verdict_words(run.outcome.verdict, run.outcome.strong)
            parts["status"] = run.outcome.status or "none"
            parts["ended by"] = run.outcome.ended_by
            parts["score"] = str(run.outcome.score or "none")
        for name, challenge in state.challenges.items():
            overflow = ", in overflow" if name in state.overflow else ""
            parts[name] = f"{challenge.severity}, {challenge.status}{overflow}"
        for (iteration, name), classified in state.classes.items():
            parts[f"the panel on {name} in iteration {iteration}"] = classified.classification
    elif isinstance(run, CrossRun):
        if run.status is not None:
            parts["final state"] = run.status
        if run.gate_passed is not None:
            parts["gate of the plan body"] = "passed" if run.gate_passed else "failed"
        parts |= {name: classified.classification for (_, name), classified in run.state.classes.items()}
    elif isinstance(run, Debate) and run.outcome is not None:
        parts = {"status": run.outcome.status or "none", "reason": run.outcome.reason, "turns": str(run.turns)}
    return parts


def replayed_row(run_id: str, recorded: Run, replayed: Replayed) -> dict[str, Any]:
    """Return the row of one run in a table of replayed runs; what a run has not is missing."""
    again = replayed.run
    notes = [replayed.rules_changed] if replayed.rules_changed else []
    notes += [f"no score: {replayed.unscored} was never called"] if replayed.unscored else []
    if replayed.asked_otherwise:
        notes.append(f"{counted(len(replayed.asked_otherwise), 'call')} answered with replies to other requests")
    return {
        "run_id": run_id,
        "kind": recorded.started.inputs.kind,
        **{f"recorded_{name}": value for name, value in _summary(recorded).items()},
        **{f"replayed_{name}": value for name, value in _summary(again).items()},
        "changed": bool(replayed.changes),
        "censored": replayed.censored,
        "differences": len(replayed.differences),
        "note": "; ".join(notes) or None,
    }


def _summary(run: Run) -> dict[str, str | None]:
    """Return verdict, status and class counts of a run, None for those that it has not."""
    verdict: str | None = None
    status: str | None = None
    classes: str | None = None
    if isinstance(run, PlanRun):
        verdict = verdict_words(run.outcome.verdict, run.outcome.strong) if run.outcome else None
        status = run.status
    elif isinstance(run, CrossRun):
        status, counts = run.status, Counter(each.classification for each in run.state.classes.values())
        classes = ", ".join(f"{name} {counts[name]}" for name in CLASSIFICATIONS if counts[name]) or None
    elif isinstance(run, Debate):
        status = run.outcome.status if run.outcome else None
    return {"verdict": verdict, "status": status, "classes": classes}


def replayed_table(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return rows as a table with the columns of `COLUMNS`, typed, whatever the rows lack."""
    return pd.DataFrame(list(rows), columns=list(COLUMNS)).astype(COLUMNS)
