"""D8, verifiability: each task is checked by a command that runs, ends, and would fail if the task were not done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from verifyplan.documents.checks.catalogue import quoted
from verifyplan.documents.dimensions.check_commands import ProgramCall, commands_in, program_calls
from verifyplan.documents.dimensions.check_context import (
    DimensionResult,
    Issue,
    PlanCheckContext,
    TaskInPlan,
    task_kind,
)
from verifyplan.documents.reading.comparing import is_empty, paths_in, same_file
from verifyplan.plans.word_lists import words
from verifyplan.text import counted

SLOW_S = 30
"""Seconds of `sleep` from which on a check is slow; the limit of GSD's plan checker (dimension 8)."""

ParsedCommands = Sequence[Sequence[ProgramCall]]
Fault = tuple[str, dict[str, Any]]
"""The rule that a check breaks, and the values of its message."""

_STARTS_SERVER = re.compile(
    r"\b(?:start|launch|run|serve)\w{0,5}\s[^\n]{0,60}?\bserver|compose up|runserver|uvicorn"
    r"|(?:npm|yarn|pnpm) (?:run )?(?:dev|start)",
    re.IGNORECASE,
)
_ABOUT_PLACES = re.compile(r"\b(?:remov|delet|mov|renam|archiv|git mv)\w{0,4}\b|\bdirector|\bfolder", re.IGNORECASE)
"""The names of tasks that are done once files are, or are not, where they should be."""

_TESTS = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_[^/]*$|[._-](?:test|spec)\.\w+$")
_SECONDS = re.compile(r"\d{1,6}(?:\.\d{1,3})?s?")
_LOCAL_HOST = re.compile(r"localhost|127\.0\.0\.1|0\.0\.0\.0")


def verifiability(context: PlanCheckContext) -> DimensionResult:
    """Read the check of each task as commands: are there any, do they end, and can they fail?

    A blocker: a check that never ends (a watch mode, a server), so that execution waits for ever. A warning: one
    without a command, one that only prints, looks for files alone or hides its failure whatever it runs (`|| true`),
    may never end, waits 30 seconds or more, or asks a server that nothing starts. Info: a pipe whose last program
    decides. A check that prints its result (`|| echo "FAIL"`) is meant to be read, and is fine. Checkpoints are
    exempt, as they ask a person; so are features of plans with tests first, which state no check.
    Source: rule D4; GSD's plan checker, dimension 8.
    """
    known_files = _files_by_name(context)
    work = (task for tasks in context.tasks for task in tasks if task_kind(task.task) == "work")
    issues = _pipes_once_a_plan(issue for task in work for issue in _check_issues(context, task, known_files))
    ids = [node.plan_id for node in context.graph.nodes]
    judge = [
        f"{ids[at]}: how task {quoted(task.label)} is to be checked; it states no command"
        for at in context.reported
        for task in context.tasks[at]
        if task_kind(task.task) in ("manual", "tests-first")
    ]
    in_markdown = (at for at in context.reported if not context.tasks[at] and context.plans[at].tasks)
    judge += [f"{ids[at]}: its checks, which are no elements of tasks" for at in in_markdown]
    if context.no_files:
        judge.append(f"whether the tests that checks run are there: {context.no_files}")
    return DimensionResult.of(8, issues, judge)


def _files_by_name(context: PlanCheckContext) -> dict[str, list[str]] | None:
    """The files that the plans make or the repository has, by their last names; None where it is not known."""
    if context.files is None:
        return None
    of_tasks = (file for tasks in context.tasks for task in tasks for file in task.files)
    of_plans = (file for plan in context.plans for file in plan.files_modified)
    by_name: dict[str, list[str]] = {}
    for file in (*of_tasks, *of_plans, *sorted(context.files)):
        by_name.setdefault(_last_name(file), []).append(file)
    return by_name


def _last_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _pipes_once_a_plan(issues: Iterable[Issue]) -> Iterator[Issue]:
    """Issues as they are, but pipes once for a plan, at the first, with how many of its checks end in one."""
    piped: dict[str, list[Issue]] = {}
    for issue in issues:
        if issue.rule == "check-piped":
            piped.setdefault(issue.path, []).append(issue)
        else:
            yield issue
    for first, *others in piped.values():
        more = f", and so it is with {counted(len(others), 'other task')}" if others else ""
        yield first._replace(description=f"{first.description}{more}")


def _check_issues(
    context: PlanCheckContext, task: TaskInPlan, known_files: dict[str, list[str]] | None
) -> Iterator[Issue]:
    """The issues of a task's check; that a check is missing is an issue of D2."""
    name = next((known for known in ("automated", "verify") if task.task.get(known)), "verification")
    texts = [element.text for element in task.task.elements if element.name == name and not is_empty(element.text)]
    commands = [
        tuple(program_calls(command)) for text in texts for command in commands_in(text, stated=name == "automated")
    ]
    silent = words("plan_check", "silent")
    calls = [call for command in commands for call in command if call.program not in silent]
    faults: list[Fault] = []
    if texts and not commands:
        faults.append(("check-no-command", {"check": texts[0]}))
    elif texts and not calls:
        faults.append(("check-silent", {"check": texts[0]}))
    elif texts:
        others = context.compared_tasks(task.plan)
        faults += [*_endless(commands), *_cannot_fail(task, commands, calls), *_no_server(others, commands, calls)]
        if known_files is not None:
            faults += _unknown_tests(calls, known_files)
    for rule, values in faults:
        yield context.of_task(task, rule, name, **values)


def _endless(commands: ParsedCommands) -> Iterator[Fault]:
    waits = 0.0
    for call in (call for command in commands for call in command):
        if call.then != "&" and _never_ends(call):
            yield "check-never-ends", {"call": call.text}
            return
        script = [word for word in call.words[1:] if word != "run"]  # what it does is not known, its name is
        named_server = len(script) == 1 and script[0] in words("plan_check", "server_scripts")
        if call.then != "&" and named_server and call.program in ("npm", "yarn", "pnpm", "bun"):
            yield "check-may-not-end", {"call": call.text}
            return
        if call.program == "sleep" and len(call.words) > 1 and _SECONDS.fullmatch(call.words[1]):
            waits += float(call.words[1].rstrip("s"))
    if waits >= SLOW_S:
        yield "check-slow", {"seconds": waits}


def _never_ends(call: ProgramCall) -> bool:
    first, rest = call.program, set(call.words[1:])
    if first == "gh" or "rollout" in rest or {"--help", "--version"} & rest:
        return False  # what these watch comes to an end
    if {"--watch", "--watchAll", "--watch=true"} & rest or first == "watch":
        return True
    if "-w" in rest and first in words("plan_check", "watchers"):
        return True
    if first == "tail" and rest & {"-f", "-F", "--follow"}:
        return True
    return first in words("plan_check", "servers") or ("http.server" in rest and "-m" in rest)


def _cannot_fail(task: TaskInPlan, commands: ParsedCommands, calls: Sequence[ProgramCall]) -> Iterator[Fault]:
    only_existence = all(map(_tests_existence, calls)) and not all(map(_tests_folders, calls))
    if only_existence and not _ABOUT_PLACES.search(task.task.name):
        yield "check-existence", {}
    checks = [command for command in commands if any(call in calls for call in command)]
    if all(map(_always_succeeds, checks)):
        yield "check-cannot-fail", {}
    elif (lost := [pair for command in checks if (pair := _status_lost(command))]) and len(lost) == len(checks):
        yield "check-piped", {"tester": lost[0][0], "last": lost[0][1]}


def _always_succeeds(command: Sequence[ProgramCall]) -> bool:
    """Whether the last call of a command succeeds whatever came before, and prints nothing of it."""
    if len(command) < 2 or command[-2].then not in ("||", ";"):
        return False
    last = command[-1]
    quiet = last.program in ("true", ":") or last.text.split()[:2] == ["exit", "0"]
    return quiet or (command[-2].then == ";" and last.program in ("echo", "printf") and "$" not in last.text)


def _tests_existence(call: ProgramCall) -> bool:
    """Whether a call tests only that files exist; one that tests that they do not looks at what was done."""
    negated = call.text.lstrip("( ").startswith("!") or " ! " in call.text
    if call.program not in words("plan_check", "existence") or negated:
        return False
    return call.program not in ("test", "[", "[[") or bool({"-f", "-d", "-e", "-x", "-s", "-r"} & set(call.words))


def _tests_folders(call: ProgramCall) -> bool:
    """Whether a call tests that folders exist, which have nothing in them to test."""
    named = [word for word in call.words[1:] if not word.startswith("-")]
    return "-d" in call.words or (call.program == "ls" and bool(named) and all(word.endswith("/") for word in named))


def _status_lost(command: Sequence[ProgramCall]) -> tuple[str, str] | None:
    """The tester whose exit status a command loses to the pipe that it ends with, and the last program of that pipe.

    None where the command ends in no such pipe, or the pipe tests nothing, as a search whose finds are counted.
    """
    last = len(command) - 1
    pipefail = any("pipefail" in call.text for call in command)
    if command[last].program not in words("plan_check", "passing_on") or pipefail:
        return None
    first = last
    while first and command[first - 1].then == "|":
        first -= 1
    piped = (call.program for call in command[first:last])
    tester = next((program for program in piped if program in words("plan_check", "testers")), None)
    return (tester, command[last].program) if tester else None


def _no_server(others: Sequence[TaskInPlan], commands: ParsedCommands, calls: Sequence[ProgramCall]) -> Iterator[Fault]:
    requests = [call for call in calls if call.program in words("plan_check", "requesters")]
    local = [call for call in requests if _LOCAL_HOST.search(call.text)]
    started = any(call.then == "&" or " up" in call.text for command in commands for call in command)
    if local and not started and not any(_STARTS_SERVER.search(other.text) for other in others):
        yield "check-no-server", {"call": local[0].text}


def _unknown_tests(calls: Sequence[ProgramCall], known_files: dict[str, list[str]]) -> Iterator[Fault]:
    """Test files that the check runs, and that neither a plan makes nor the repository has."""
    for path in (path for call in calls for path in paths_in(call.text)):
        name = _last_name(path)
        if _TESTS.search(path) and "." in name and not any(same_file(path, f) for f in known_files.get(name, [])):
            yield "check-unknown-test", {"path": path}
