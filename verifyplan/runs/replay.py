"""Replay runs from their recorded replies alone, under the same or other rules, and list what changes (rule E3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

import pandas as pd

from verifyplan.engine.calls import CensoredError
from verifyplan.errors import InputError, Problem, Problems, SettingsError, VerifyplanError, one_of
from verifyplan.frames.addresses import LOG, find_all, joined
from verifyplan.frames.bundled import is_bundled
from verifyplan.frames.load import as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.event import EXTERNAL_EVENTS
from verifyplan.protocol.event_run import CallReplied, DebateInputs, RunStarted, TurnReplied
from verifyplan.protocol.plan_rules import PlanRules, Policy, stated_rules
from verifyplan.protocol.rules_value import read_rules
from verifyplan.protocol.settings import PanelSettings
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.reports.log import event_text
from verifyplan.rules.grouping import Matcher
from verifyplan.runlog.chain import Record
from verifyplan.runlog.current import current, is_reopened
from verifyplan.runlog.recorder import Past, Recorder
from verifyplan.runlog.versions import rules_changed
from verifyplan.runs.arguments import check_counts
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.settings import make_settings
from verifyplan.runs.replayed import Replayed, outcome_changes, replayed_row, replayed_table
from verifyplan.runs.resume import drive, read_run, run_of
from verifyplan.runs.run import Run
from verifyplan.runs.start import at_present
from verifyplan.text import listed

CHANGEABLE = {
    "plan": ("rules", "policy", "max_iterations", "panel_rules", "mode"),
    "debate": ("max_turns",),
    "cross": (),
}
"""The settings that a replay may change, by kind of run."""


class ReplayChanges(TypedDict, total=False):
    """The rules that a replay may change."""

    rules: PlanRules | Mapping[str, Any] | str | Path | None
    policy: Policy | None
    max_iterations: int | None
    panel_rules: VotingRules | Mapping[str, Any] | str | Path | None
    mode: Mode | None
    max_turns: int | None
    matcher: str | Matcher | None


@overload
def replay_run(run: Run, **changes: Unpack[ReplayChanges]) -> Replayed: ...
@overload
def replay_run(  # type: ignore[overload-overlap]  # a text is a sequence of texts, too
    run: str | Path, **changes: Unpack[ReplayChanges]
) -> Replayed | Any: ...
@overload
def replay_run(run: RunSet | Sequence[Run | str | Path], **changes: Unpack[ReplayChanges]) -> pd.DataFrame: ...
def replay_run(
    run: Run | str | Path | RunSet | Sequence[Run | str | Path],
    *,
    rules: PlanRules | Mapping[str, Any] | str | Path | None = None,
    policy: Policy | None = None,
    max_iterations: int | None = None,
    panel_rules: VotingRules | Mapping[str, Any] | str | Path | None = None,
    mode: Mode | None = None,
    max_turns: int | None = None,
    matcher: str | Matcher | None = None,
) -> Replayed | pd.DataFrame:
    r"""Drive runs again from their recorded replies alone, under their own rules or under others.

    With nothing changed, the derived events must come out equal (`.same`), unless older rules decided the run: then
    `.rules_changed` says so, and `.changes` what today's rules make of it. `rules`, or `policy` and `max_iterations`
    of them alone, and the panel's `mode` change a plan run, `max_turns` a debate; it then goes as far as recorded
    replies reach, and `.censored` names the first call that is missing. Replies are those of agents that heard of the
    recorded rules. The votes of a cross run are read under other rules by `replay`.

    Args:
        run: a run, or the path of its log; or many runs: a folder, a glob, a list of runs and paths, or a RunSet.
        rules: the rules of plan runs instead of all of their own: a `PlanRules`, the name of a preset, a mapping of
            fields (the others are neutral), or a JSON file.
        policy: the policy of plan runs instead of their own, whose other rules stay.
        max_iterations: the last iteration of plan runs instead of their own, whose other rules stay.
        panel_rules: the voting rules of the panel of plan runs instead of their own: a `VotingRules`, the name of a
            preset, a mapping of fields, or a JSON file; mode and rounds are those of the panel unless they say them.
        mode: the mode of the panel of plan runs instead of their own.
        max_turns: the last turn of debates instead of their own.
        matcher: how the findings of cross runs were grouped, if by a matcher of your own.

    Returns:
        A `Replayed` for one run. For many a table, one row a run: `run_id`, `kind`, what was recorded and what comes
        out (`recorded_verdict`, `replayed_verdict`, and so for `status` and, in cross runs, `classes`), whether the
        outcome `changed`, the call that it is `censored` at, how many events come out with `differences`, and a
        `note`. A log that cannot be replayed has its reason in `problem`, and nothing else.

    Raises:
        SettingsError: for a change that does not apply to the run, or an unusable value.
        InputError: if there is no log.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> from verifyplan.plans.plan import parse_plan
    >>> from verifyplan.runs.plan.verify import verify
    >>> plan = parse_plan("# Ship\n\nGoal: ship it.\n\n1. Build it\n2. Test it\n3. Ship it")
    >>> run = verify(plan, backend=ScriptedBackend({}, silent=True), log_dir=None)
    >>> replay_run(run).same, run.verdict
    (True, 'PROCEED')
    >>> table = replay_run([run, run], policy="deliberate")
    >>> table[["kind", "recorded_verdict", "replayed_verdict", "changed"]]
       kind recorded_verdict replayed_verdict  changed
    0  plan          PROCEED          PROCEED    False
    1  plan          PROCEED          PROCEED    False
    """
    options: dict[str, Any] = {"policy": policy, "max_iterations": max_iterations, "mode": mode, "max_turns": max_turns}
    problems = Problems()
    if _are_of_votes(rules):
        fix = "votes are replayed by vp.replay(runs, rules=...), those of the panel of plan runs by panel_rules="
        received = f"{rules!r:.100}" if isinstance(rules, str | Mapping) else f"a {type(rules).__name__}"
        problems.append(Problem("rules", f"must be rules of plan runs, got {received}, which are rules of votes", fix))
    elif rules is not None:
        options["rules"] = problems.of(lambda: stated_rules(rules, policy=policy, max_iterations=max_iterations))
    if panel_rules is not None:
        options["panel_rules"] = problems.of(lambda: read_rules(VotingRules, panel_rules, "panel_rules"))
    if problems:
        raise problems.error()
    changes = {name: value for name, value in options.items() if value is not None}
    if isinstance(run, Run):
        return _replay(run, changes, matcher)
    if isinstance(run, str | Path) and not _names_many(run):
        return _replay(read_run(run), changes, matcher)
    _check_changes(changes)
    rows = []
    for run_id, log in logs_of(run):
        try:
            recorded = run_to_replay(run_id, log)
            rows.append(replayed_row(run_id, recorded, _replay(recorded, changes, matcher)))
        except VerifyplanError as error:
            rows.append({"run_id": run_id, "problem": "; ".join(str(problem) for problem in error.problems)})
    return replayed_table(rows)


def _are_of_votes(rules: object) -> bool:
    """Return whether rules are those of votes, fields of theirs alone, or the name of a preset of them alone."""
    if isinstance(rules, Mapping):
        return bool(rules) and all(name in VotingRules.model_fields for name in rules)
    if isinstance(rules, str):
        return rules in VotingRules.PRESETS and rules not in PlanRules.PRESETS
    return isinstance(rules, VotingRules)


def _names_many(path: str | Path) -> bool:
    """Return whether a path is a folder, a glob, or the name of a bundled set."""
    if Path(path).is_file():
        return False
    return Path(path).is_dir() or any(letter in str(path) for letter in "*?[") or is_bundled(str(path))


def logs_of(runs: Run | str | Path | RunSet | Iterable[Run | str | Path]) -> list[tuple[str, Run | str | None]]:
    """Return the id and the log of each run, None for one that has no log; InputError where there is none at all."""
    if isinstance(runs, Run):
        return [(runs.run_id, runs)]
    if isinstance(runs, RunSet):
        table = runs.runs[["run_id", "source", "log"]].itertuples(index=False)
        return [(run_id, source if source and pd.notna(log) and log else None) for run_id, source, log in table]
    if not isinstance(runs, str | Path):
        return [entry for each in runs for entry in logs_of(each)]
    if is_bundled(str(runs)):
        return logs_of(as_runs(str(runs)))
    files, _ = joined(find_all([str(runs)]))
    logs: list[tuple[str, Run | str | None]] = [(file.run_id, file.path) for file in files if file.path.endswith(LOG)]
    if not logs:
        fix = "name a run log (.jsonl), a folder or a glob of such logs"
        raise InputError(Problem(str(runs), "contains no run log", fix))
    return logs


def run_to_replay(run_id: str, log: Run | str | None) -> Run:
    """Return the run that `logs_of` found; InputError if it has no log."""
    if log is None:
        fix = "name the log (.jsonl) that it was exported from"
        raise InputError(Problem(run_id, "was not read from a log, so there are no replies", fix))
    return log if isinstance(log, Run) else read_run(log)


def _check_changes(changes: dict[str, Any]) -> None:
    """Raise a SettingsError for a change that no run could have; whether one can have it, each run says itself."""
    if "max_turns" in changes:
        check_counts(max_turns=changes["max_turns"])
    stated_rules(policy=changes.get("policy"), max_iterations=changes.get("max_iterations"))
    make_settings(panel={"mode": changes["mode"]} if "mode" in changes else {})


def _replay(recorded: Run, changes: dict[str, Any], matcher: str | Matcher | None) -> Replayed:
    """Drive one run again."""
    records = _records_to_replay(recorded.records)
    past = Past(records, may_go_unscored=bool(changes), repeats_derived=False)
    started = _changed_start(at_present(recorded.started, past), changes)
    records[0] = records[0]._replace(event=started)
    recorder = Recorder(past=past)
    censored = None
    try:
        # in an older run today's default replaces a matcher that no longer exists
        strict = rules_changed(started) is None
        drive(started, None, recorder, matcher=matcher, strict=strict, progress=False)
    except CensoredError as error:
        censored = error.call_id
    replayed = {"source": "replay"}  # read from a log and not made now, so the tables say so
    records = [
        record._replace(event=record.event.model_copy(update=replayed))
        if isinstance(record.event, CallReplied | TurnReplied)
        else record
        for record in recorder.records
    ]
    again = run_of(tuple(records), None, recorded.run_id)
    return Replayed(
        run=again,
        censored=censored,
        asked_otherwise=tuple(recorder.asked_otherwise),
        differences=_differences(current(recorded.records), recorder.records),
        unscored=_unscored(again, past),
        rules_changed=rules_changed(recorded.started),
        changes=outcome_changes(recorded, again, whole=censored is None),
        _given_rules=tuple(_words_of_given_rules(changes)),
    )


def _words_of_given_rules(changes: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rules that a replay was given, by the name of their preset or else by their fields, with the digest."""
    for argument, words in (("rules", "the rules"), ("panel_rules", "the panel rules")):
        if (rules := changes.get(argument)) is not None:
            presets = (name for name in rules.presets() if rules.preset(name) == rules)
            fields = (f"{name} {value}" for name, value in rules.in_words.items() if name in rules.changed)
            yield f"{words} {next(presets, None) or listed(fields)} (digest {rules.digest})"


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
            fix = "votes are replayed by vp.replay(runs, rules=...), which takes the mode, too"
        noun = {"plan": "plan run", "debate": "debate", "cross": "cross run"}[inputs.kind]
        raise SettingsError(Problem(name, f"cannot be changed in a {noun}", fix) for name in wrong)
    if not changes:
        return started
    if isinstance(inputs, DebateInputs):
        check_counts(**changes)
        return started.model_copy(update={"inputs": inputs.model_copy(update=changes)})
    settings = started.plan.settings
    short = {name: changes[name] for name in ("policy", "max_iterations") if name in changes}
    rules = changes.get("rules") or PlanRules(**(settings.rules.changed | short))
    changed = settings.model_dump() | {"rules": rules}
    if of_panel := {"mode", "panel_rules"} & changes.keys():
        if settings.panel is None:
            fix = "leave it out"
            raise SettingsError(Problem(name, "cannot be changed: this run had no panel", fix) for name in of_panel)
        changed["panel"] = _changed_panel(settings.panel, changes)
    made = inputs.model_copy(update={"settings": make_settings(**changed)})
    return started.model_copy(update={"inputs": made, "rules_digest": rules.digest})


def _changed_panel(panel: PanelSettings, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a panel as they are under other rules, which may say its mode and rounds, too."""
    rules = changes.get("panel_rules", panel.rules)
    stated = [name for name in ("mode", "max_rounds") if getattr(rules, name) is not None]
    kept = {name: value for name, value in panel.model_dump().items() if name not in stated}
    return kept | {"rules": rules} | ({"mode": changes["mode"]} if "mode" in changes else {})


def _records_to_replay(records: Sequence[Record]) -> list[Record]:
    """Return the replies of a log; all its records where it was reopened, as what counts depends on derived ones."""
    if is_reopened(records):
        return list(records)
    return [record for number, record in enumerate(records) if not number or isinstance(record.event, EXTERNAL_EVENTS)]


def _differences(recorded: Iterable[Record], again: Sequence[Record]) -> tuple[str, ...]:
    """Return how derived events differ, apart from those that an unfinished log does not have yet."""
    old = [record for record in recorded if not isinstance(record.event, EXTERNAL_EVENTS)]
    new = [record.event for record in again if not isinstance(record.event, EXTERNAL_EVENTS)]
    return tuple(
        f"line {record.seq}: {event_text(record.event)}; now: {event_text(event) if event else 'nothing'}"
        for record, event in zip_longest(old, new)
        if record is not None and record.event != event
    )
