"""Drive runs again from recorded replies alone, under the same rules or others, and list what changes (rule E3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from verifyplan.engine.calls import CensoredError
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.protocol.event_run import CallReplied, DebateInputs, RunStarted, TurnReplied
from verifyplan.protocol.settings import Policy
from verifyplan.protocol.vote import Mode
from verifyplan.reports.log import event_text
from verifyplan.rules.convergence import verdict_words
from verifyplan.rules.grouping import Matcher
from verifyplan.runlog.chain import Record
from verifyplan.runlog.migrate import rules_changed
from verifyplan.runlog.recorder import FACTS, Past, Recorder
from verifyplan.runs.arguments import check_counts
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.verify import make_settings
from verifyplan.runs.resume import drive, read_run, run_of
from verifyplan.runs.run import CrossRun, Run

CHANGEABLE = {"plan": ("policy", "max_iterations", "mode"), "debate": ("max_turns",), "cross": ()}
"""The settings that a replay may change, by kind of run."""


@dataclass(frozen=True)
class Replayed:
    """A run driven again from recorded replies: its outcome, how far it came, and how it differs."""

    run: Run
    censored: str | None
    """The first call that is needed and was never made; None if the run came to its end, or waits. Scores are no
    such call where changed rules end the run sooner: they decide nothing."""
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

    @property
    def same(self) -> bool:
        """Whether the recorded replies give the recorded events again."""
        return not self.differences

    def __str__(self) -> str:
        """The outcome, and how far it can be trusted."""
        lines = [str(self.run)]
        if self.censored:
            lines = [
                f"censored: these rules ask for {self.censored}, which was never called, so nothing is said of more"
            ]
        if self.rules_changed and self.changes:
            lines += [self.rules_changed, "today's rules would change:", *(f"  {line}" for line in self.changes)]
        elif self.rules_changed:
            reach = " as far as they reach" if self.censored else ""
            lines += [self.rules_changed, f"today's rules change nothing of its outcome{reach}"]
        if self.unscored:
            lines.append(f"no score: these rules end the run where none was asked for ({self.unscored})")
        if self.asked_otherwise:
            calls = ", ".join(self.asked_otherwise)
            lines.append(f"answered from replies to requests that differ, as settings and course do: {calls}")
        return "\n".join(lines)


def replay_run(
    run: Run | str | Path,
    *,
    policy: Policy | None = None,
    max_iterations: int | None = None,
    mode: Mode | None = None,
    max_turns: int | None = None,
    matcher: str | Matcher | None = None,
) -> Replayed:
    r"""Drive a run again from its recorded replies alone, under its own rules or under others.

    With nothing changed, the derived events must come out equal (`.same`), unless older rules decided the run: then
    `.rules_changed` says so, and `.changes` what today's rules make of it. `policy`, `max_iterations` and the
    panel's `mode` change a plan run, `max_turns` a debate; it then goes as far as recorded replies reach, and
    `.censored` names the first call that is missing. The votes of a cross run are read under other rules by `replay`.
    Raises SettingsError for a change that the run has no place for. Source: rule E3.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> from verifyplan.plans.plan import parse_plan
    >>> from verifyplan.runs.plan.verify import verify
    >>> plan = parse_plan("# Ship\n\nGoal: ship it.\n\n1. Build it\n2. Test it\n3. Ship it")
    >>> run = verify(plan, backend=ScriptedBackend({}, silent=True), log_dir=None)
    >>> replay_run(run).same, run.verdict
    (True, 'PROCEED')
    """
    recorded = run if isinstance(run, Run) else read_run(run)
    options = {"policy": policy, "max_iterations": max_iterations, "mode": mode, "max_turns": max_turns}
    changes = {name: value for name, value in options.items() if value is not None}
    started = _changed_start(recorded.started, changes)
    facts = [record for record in recorded.records[1:] if isinstance(record.event, FACTS)]
    past = Past([recorded.records[0]._replace(event=started), *facts], may_go_unscored=bool(changes))
    recorder = Recorder(past=past)
    censored = None
    try:
        # in an older run today's default replaces a matcher that no longer exists
        strict = rules_changed(started) is None
        drive(started, None, recorder, matcher=matcher, strict=strict, progress=False)
    except CensoredError as error:
        censored = error.call_id
    replies = {"source": "replay"}  # read from a log and not made now, so the tables say so
    records = [
        record._replace(event=record.event.model_copy(update=replies))
        if isinstance(record.event, CallReplied | TurnReplied)
        else record
        for record in recorder.records
    ]
    again = run_of(records, None, recorded.run_id)
    return Replayed(
        run=again,
        censored=censored,
        asked_otherwise=tuple(recorder.asked_otherwise),
        differences=_differences(recorded.records, recorder.records),
        unscored=_unscored(again, past),
        rules_changed=rules_changed(recorded.started),
        changes=_outcome_changes(recorded, again, whole=censored is None),
    )


def _unscored(run: Run, past: Past) -> str | None:
    """Return the call for scores that was never made, where a replay under other rules has a verdict without it."""
    if not isinstance(run, PlanRun) or run.verdict is None or run.state.iteration == 0:
        return None
    call_id = f"i{run.state.iteration}/score"
    return call_id if past.goes_unscored(call_id) else None


def _changed_start(started: RunStarted, changes: dict[str, Any]) -> RunStarted:
    """Return the first event as it would be under other rules."""
    inputs = started.inputs
    if wrong := [name for name in changes if name not in CHANGEABLE[inputs.kind]]:
        fix = f"change {one_of(CHANGEABLE[inputs.kind])}, or leave it out"
        if inputs.kind == "cross":
            fix = "read the votes of cross runs under other rules by `replay(load(...), mode)`"
        noun = {"plan": "plan run", "debate": "debate", "cross": "cross run"}[inputs.kind]
        raise SettingsError(Problem(name, f"cannot be changed in a {noun}", fix) for name in wrong)
    if not changes:
        return started
    if isinstance(inputs, DebateInputs):
        check_counts(**changes)
        return started.model_copy(update={"inputs": inputs.model_copy(update=changes)})
    settings = started.plan.settings
    changed = settings.model_dump() | {name: value for name, value in changes.items() if name != "mode"}
    if "mode" in changes:
        if settings.panel is None:
            raise SettingsError(Problem("mode", "has no meaning: this run had no panel", "leave it out"))
        changed["panel"] = settings.panel.model_dump() | {"mode": changes["mode"]}
    return started.model_copy(update={"inputs": inputs.model_copy(update={"settings": make_settings(**changed)})})


def _differences(recorded: Sequence[Record], again: Sequence[Record]) -> tuple[str, ...]:
    """Return how derived events differ; those that an unfinished log does not have yet are no difference."""
    old = [record for record in recorded if not isinstance(record.event, FACTS)]
    new = [record.event for record in again if not isinstance(record.event, FACTS)]
    return tuple(
        f"line {record.seq}: {event_text(record.event)}; now: {event_text(event) if event else 'nothing'}"
        for record, event in zip_longest(old, new)
        if record is not None and record.event != event
    )


def _outcome_changes(recorded: Run, again: Run, *, whole: bool) -> tuple[str, ...]:
    """List where the outcomes of two runs of the same replies differ: verdict, statuses of challenges, classes.

    Parts that only the recorded run has are listed if the second one was driven as far (`whole`).
    """
    old, new = _outcome(recorded), _outcome(again)
    return tuple(
        f"{name}: {old.get(name, 'none')}; now: {new.get(name, 'none')}"
        for name in (old | new)
        if (name in new or whole) and old.get(name) != new.get(name)
    )


def _outcome(run: Run) -> dict[str, str]:
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
