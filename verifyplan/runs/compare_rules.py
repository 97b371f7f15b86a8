"""Replay plan runs under several rules, and attribute each verdict that turns to the fields that turn it (rule R3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from verifyplan.datasets.labels import Labels, plan_name, read_labels
from verifyplan.errors import InputError, Problem, Problems, VerifyplanError, expect_mappings
from verifyplan.frames.runset import RunSet
from verifyplan.progress import progress as progress_bar
from verifyplan.protocol.plan_rules import PlanRules
from verifyplan.protocol.rules_value import read_rules
from verifyplan.rules.convergence import verdict_words
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.replay import logs_of, replay_run, run_to_replay
from verifyplan.runs.rule_comparison import RuleComparison, rule_comparison
from verifyplan.runs.run import Run
from verifyplan.text import counted, listed

Row = dict[str, Any]

AS_RUN = "as run"
"""The name of the runs' own rules, where no rules are given."""

RulesArgument = PlanRules | Mapping[str, Any] | str | Path | None
"""Rules, a mapping of fields, the name of a preset, a JSON file, or None for the rules of each run."""


class _Outcome(NamedTuple):
    """How a run ends under rules."""

    ending: str
    """The verdict in words, `no verdict`, or nothing where it is censored."""
    row: Row


def compare_rules(
    plan_runs: Run | str | Path | RunSet | Sequence[Run | str | Path],
    rules: Mapping[str, RulesArgument] | None = None,
    *,
    labels: Labels | None = None,
    progress: bool | None = None,
) -> RuleComparison:
    """Replay plan runs under several rules from their recorded replies: verdicts, what turned them, and calls.

    No agent is called. Under rules that need a call that was never made, a run is censored, and counted in the bounds
    of every share. Where a verdict turns and several fields differ, each field is changed alone from the baseline, and
    the verdict is attributed to those that give it so, or to all of them together.

    Args:
        plan_runs: a run, or the path of its log; a folder, a glob, a list of runs and paths, or a RunSet. Runs of other
            kinds are left out.
        rules: rules by name, the first of which is the baseline: a `PlanRules`, the name of a preset, a mapping of
            fields, the path of a JSON file, or None for the rules of each run itself. By default the runs' own rules
            (`as run`) and every preset.
        labels: the verdicts that the plans deserve, as `datasets.read_labels` takes them; plans without a label count
            in no share of expected verdicts.
        progress: whether to show progress; by default in a terminal or a notebook.

    Returns:
        A `RuleComparison`: `.table` (a row a run and rules), `.summary` (a row a rules), `.turns` (which field turned
        which verdict), `.fields` (each field alone).

    Raises:
        SettingsError: for rules that cannot be used, listing all problems.
        InputError: if there is no plan run.

    >>> found = compare_rules(
    ...     "live-example/plan",
    ...     {"as run": None, "lenient": "lenient", "one pass": "one-pass"},
    ... )
    >>> found.table[["rules", "verdict", "changed", "calls"]]
          rules  verdict  changed  calls
    0    as run  RETHINK    False     19
    1   lenient  RETHINK    False     19
    2  one pass  RETHINK    False      7
    """
    named = _named_rules(rules)
    expected = {label.plan: label.expected for label in read_labels(labels)} if labels is not None else {}
    logs = logs_of(plan_runs)
    rows, fields, notes = list[Row](), list[Row](), list[str]()
    problems, others, synthetic = list[str](), 0, False
    with progress_bar("replaying runs", len(logs), progress) as step:
        for run_id, log in logs:
            try:
                run = run_to_replay(run_id, log)
                if isinstance(run, PlanRun):
                    of_run, alone = _compared(run_id, run, named)
                    rows += of_run
                    fields += alone
                    synthetic |= bool(run.started.synthetic)
                else:
                    others += 1
            except VerifyplanError as error:
                problems.append(f"{run_id} ({'; '.join(problem.message for problem in error.problems)})")
            step()
    if not rows:
        fix = "give logs of plan runs: files, a folder, a glob, or what verify returns"
        found = f"contain no run that can be replayed: {listed(problems)}" if problems else "contain no plan run"
        raise InputError(Problem("plan_runs", found, fix))
    if problems:
        notes.append(f"{counted(len(problems), 'run')} could not be replayed: {listed(problems)}.")
    if others:
        notes.append(f"{counted(others, 'run')} of other kinds left out.")
    return rule_comparison(rows, fields, named, expected, notes, labelled=labels is not None, synthetic=synthetic)


def _named_rules(rules: Mapping[str, RulesArgument] | None) -> dict[str, PlanRules | None]:
    """Return rules by name, None for a run's own; SettingsError listing all that is wrong with any."""
    if rules is None:
        others = {name: PlanRules.preset(name) for name in PlanRules.presets()}
        return {AS_RUN: None, **others}
    expect_mappings(rules=rules)
    problems, named = Problems(), dict[str, PlanRules | None]()
    for name, value in rules.items():
        read = partial(read_rules, PlanRules, value, f"rules[{name!r}]")
        named[str(name)] = None if value is None else problems.of(read)
    if not rules:
        problems.append(Problem("rules", "must name rules, got none", "give names and rules, the baseline first"))
    if problems:
        raise problems.error()
    return named


def _compared(run_id: str, run: PlanRun, named: Mapping[str, PlanRules | None]) -> tuple[list[Row], list[Row]]:
    """Return the rows of a run under each rules, and of each field alone where a verdict turns."""
    own = run.started.plan.settings.rules
    outcomes: dict[PlanRules, _Outcome] = {}

    def under(rules: PlanRules) -> _Outcome:
        if rules not in outcomes:
            outcomes[rules] = _outcome(run, rules)
        return outcomes[rules]

    who = {"run_id": run_id, "plan": plan_name(run.started.plan.plan_path)}
    [baseline, *_] = [own if rules is None else rules for rules in named.values()]
    before, rows, fields = under(baseline), list[Row](), list[Row]()
    for name, given in named.items():
        rules = own if given is None else given
        after = under(rules)
        known = bool(before.ending and after.ending)
        turned = known and before.ending != after.ending
        rows.append({**who, "rules": name, "ending": after.ending, "changed": turned if known else None, **after.row})
        if turned:
            for field in _changes(baseline, rules):
                alone = under(baseline.model_copy(update={field["field"]: getattr(rules, field["field"])}))
                gives = alone.ending == after.ending if alone.ending else None
                shown = {key: alone.row[key] for key in ("verdict", "censored")}
                fields.append({**who, "rules": name, **field, **shown, "gives": gives})
    return rows, fields


def _changes(baseline: PlanRules, rules: PlanRules) -> Iterator[Row]:
    """Yield the fields in which rules differ from the baseline, with both values as texts."""
    for line in baseline.diff(rules).splitlines():
        field, _, values = line.partition(": ")
        before, _, after = values.partition(" -> ")
        yield {"field": field, "before": before, "after": after}


def _outcome(run: PlanRun, rules: PlanRules) -> _Outcome:
    """Replay a run under rules."""
    replayed = replay_run(run, rules=rules)
    again = replayed.run
    assert isinstance(again, PlanRun)  # noqa: S101  (a plan run is replayed as one)
    outcome, usage = again.outcome, again.state.usage
    verdict = verdict_words(outcome.verdict, outcome.strong) if outcome and outcome.verdict else None
    ended_by = outcome.ended_by if outcome else "a question to a person" if again.waiting else None
    unfinished = replayed.censored is None and ended_by is None
    row = {
        "verdict": verdict,
        "status": outcome.status if outcome else None,
        "ended_by": ended_by,
        "censored": "the log ends here" if unfinished else replayed.censored,
        "asked_otherwise": len(replayed.asked_otherwise),
        "unscored": replayed.unscored,
        "calls": again.state.calls,
        "tokens": usage.total,
        "cost": None if usage.cost is None else float(usage.cost),
    }
    return _Outcome("" if row["censored"] else verdict or "no verdict", row)
