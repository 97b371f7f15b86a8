"""Runs driven again from recorded replies alone, under the same rules or under others (rule E3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from verifyplan.engine.calls import CensoredError
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.protocol.event_run import CallReplied, DebateInputs, PlanInputs, RunStarted, TurnReplied
from verifyplan.protocol.settings import Policy
from verifyplan.protocol.vote import Mode
from verifyplan.reports.log import told
from verifyplan.rules.convergence import verdict_words
from verifyplan.rules.grouping import Matcher
from verifyplan.runlog.chain import Record
from verifyplan.runlog.recorder import FACTS, Past, Recorder
from verifyplan.runlog.rules_version import rules_changed
from verifyplan.runs.arguments import check_counts
from verifyplan.runs.cross import drive_cross
from verifyplan.runs.debate.debate import drive_debate
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.merges import matcher_of
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.verify import drive_plan, settings_of
from verifyplan.runs.resume import read_run, run_of
from verifyplan.runs.run import CrossRun, Run


def outcome_changes(recorded: Run, again: Run, *, whole: bool = True) -> tuple[str, ...]:
    """List what two runs of the same replies came to where they differ: verdict, statuses of challenges, classes.

    What only the recorded run has is listed if the second one was driven as far (`whole`).
    """
    old, new = _outcome(recorded), _outcome(again)
    names = [name for name in (old | new) if name in new or whole]
    return tuple(
        f"{name}: {old.get(name, 'none')}; now: {new.get(name, 'none')}"
        for name in names
        if old.get(name) != new.get(name)
    )


def _outcome(run: Run) -> dict[str, str]:
    """Return what a run came to, by the name of each part; without parts that it has not come to."""
    if isinstance(run, PlanRun):
        return _plan(run)
    if isinstance(run, CrossRun):
        return _cross(run)
    return _debate(run) if isinstance(run, Debate) else {}


def _plan(run: PlanRun) -> dict[str, str]:
    state, outcome = run.state, run.outcome
    parts: dict[str, str] = {}
    if outcome is not None:
        parts["verdict"] = verdict_words(outcome.verdict, outcome.strong)
        parts["status"] = outcome.status or "none"
        parts["ended by"] = outcome.ended_by
        parts["score"] = str(outcome.score or "none")
    for name, challenge in state.challenges.items():
        overflow = ", in overflow" if name in state.overflow else ""
        parts[name] = f"{challenge.severity}, {challenge.status}{overflow}"
    for (iteration, name), classified in state.classes.items():
        parts[f"the panel on {name} in iteration {iteration}"] = classified.classification
    return parts


def _cross(run: CrossRun) -> dict[str, str]:
    outcome = run.state.outcome
    parts: dict[str, str] = {"final state": outcome.final_state} if outcome else {}
    if outcome and outcome.gate_passed is not None:
        parts["gate of the plan body"] = "passed" if outcome.gate_passed else "failed"
    return parts | {name: classified.classification for (_, name), classified in run.state.classes.items()}


def _debate(run: Debate) -> dict[str, str]:
    if run.outcome is None:
        return {}
    return {"status": run.outcome.status or "none", "reason": run.outcome.reason, "turns": str(run.turns)}


@dataclass(frozen=True)
class Replayed:
    """A run driven again from recorded replies: what came out, how far it came, and how it differs."""

    run: Run
    censored: str | None
    """The first call that is asked for and was never made; None if the run came to its end, or waits. Scores are no
    such call where changed rules end the run sooner: they decide nothing."""
    asked_otherwise: tuple[str, ...]
    """Calls whose recorded reply answered another request than the one that these rules make."""
    differences: tuple[str, ...]
    """How the derived events differ from the recorded ones, line by line."""
    unscored: str | None = None
    """The call for scores that was never made, where the verdict stands without one."""
    rules_changed: str | None = None
    """Where other rules than today's decided the run: which ones, and what checks it as it was."""
    changes: tuple[str, ...] = ()
    """What of the outcome came out otherwise: verdict, statuses, classes, in words."""

    @property
    def same(self) -> bool:
        """Whether the recorded replies give the recorded events again."""
        return not self.differences

    def __str__(self) -> str:
        """What came out, and how far it can be trusted."""
        lines = [str(self.run)]
        if self.censored:
            lines = [
                f"censored: these rules ask for {self.censored}, which was never called, so nothing is said of more"
            ]
        if self.rules_changed:
            lines += [self.rules_changed, *self._changed()]
        if self.unscored:
            lines.append(f"no score: these rules end the run where none was asked for ({self.unscored})")
        if self.asked_otherwise:
            told = ", ".join(self.asked_otherwise)
            lines.append(f"answered from replies to requests that differ, as settings and course do: {told}")
        return "\n".join(lines)

    def _changed(self) -> list[str]:
        """Return what today's rules make of an older run."""
        if not self.changes:
            return ["today's rules change nothing of its outcome" + (" as far as they reach" if self.censored else "")]
        return ["today's rules would change:", *(f"  {line}" for line in self.changes)]


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
    read = run if isinstance(run, Run) else read_run(run)
    given = {"policy": policy, "max_iterations": max_iterations, "mode": mode, "max_turns": max_turns}
    changes = {name: value for name, value in given.items() if value is not None}
    started = _changed(read.started, changes)
    facts = [record for record in read.records[1:] if isinstance(record.event, FACTS)]
    recorder = Recorder(past=Past([read.records[0]._replace(event=started), *facts]))
    recorder.past.may_go_unscored = bool(changes)
    censored = None
    try:
        _drive(started, recorder, matcher)
    except CensoredError as error:
        censored = error.call_id
    again = run_of([_replayed(record) for record in recorder.records], None, read.run_id)
    past, differences = recorder.past, _differences(read.records, recorder.records)
    return Replayed(
        again,
        censored,
        tuple(past.asked_otherwise),
        differences,
        past.unscored,
        rules_changed(read.started),
        outcome_changes(read, again, whole=censored is None),
    )


def _drive(started: RunStarted, recorder: Recorder, matcher: str | Matcher | None) -> None:
    """Drive a run of any kind without a backend."""
    inputs = started.inputs
    if isinstance(inputs, PlanInputs):
        drive_plan(started, None, recorder, progress=False)
    elif isinstance(inputs, DebateInputs):
        drive_debate(started, None, recorder, progress=False)
    else:
        # in an older run today's default stands in for a matcher that is no more
        known = matcher_of(inputs, matcher, strict=rules_changed(started) is None)
        drive_cross(started, None, known, recorder, progress=False)


def _replayed(record: Record) -> Record:
    """A reply as a replay has it: read from a log, not made now; so the tables tell it."""
    event = record.event
    if not isinstance(event, CallReplied | TurnReplied):
        return record
    return record._replace(event=event.model_copy(update={"source": "replay"}))


_CHANGEABLE = {"plan": ("policy", "max_iterations", "mode"), "debate": ("max_turns",), "cross": ()}
"""What a replay may change, by kind of run."""
_NOUN = {"plan": "plan run", "debate": "debate", "cross": "cross run"}


def _changed(started: RunStarted, changes: dict[str, Any]) -> RunStarted:
    """The first event as it would be under other rules."""
    inputs = started.inputs
    if wrong := [name for name in changes if name not in _CHANGEABLE[inputs.kind]]:
        fix = f"change {one_of(_CHANGEABLE[inputs.kind])}, or leave it out"
        if inputs.kind == "cross":
            fix = "read the votes of cross runs under other rules by `replay(load(...), mode)`"
        raise SettingsError(Problem(name, f"cannot be changed in a {_NOUN[inputs.kind]}", fix) for name in wrong)
    if not changes:
        return started
    if isinstance(inputs, DebateInputs):
        check_counts(**changes)
        return started.model_copy(update={"inputs": inputs.model_copy(update=changes)})
    settings = started.plan.settings
    given = settings.model_dump() | {name: value for name, value in changes.items() if name != "mode"}
    if "mode" in changes:
        if settings.panel is None:
            raise SettingsError(Problem("mode", "has no meaning: this run had no panel", "leave it out"))
        given["panel"] = settings.panel.model_dump() | {"mode": changes["mode"]}
    return started.model_copy(update={"inputs": inputs.model_copy(update={"settings": settings_of(**given)})})


def _differences(recorded: Sequence[Record], again: Sequence[Record]) -> tuple[str, ...]:
    """Derived events that came out otherwise; those that an unfinished log has not yet are no difference."""
    old = [record for record in recorded if not isinstance(record.event, FACTS)]
    new = [record.event for record in again if not isinstance(record.event, FACTS)]
    return tuple(
        f"line {record.seq}: {told(record.event)}; now: {told(event) if event else 'nothing'}"
        for record, event in zip_longest(old, new)
        if record is not None and record.event != event
    )
