"""D8, verifiability: each task is checked by a command that runs, ends, and would fail if the task were not done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from verifyplan.documents.dimensions.check_commands import ProgramCall, commands_in, program_calls
from verifyplan.documents.dimensions.check_context import (
    Dimension,
    Issue,
    IssueFactory,
    IssueSeverity,
    PlanCheckContext,
    TaskInPlan,
    quoted,
    task_kind,
)
from verifyplan.documents.dimensions.d4_d6_must_haves import paths_in, same_file
from verifyplan.documents.dimensions.overlap import is_empty
from verifyplan.plans.word_lists import words
from verifyplan.text import counted

D8 = 8

LONG_WAIT = 30
"""Seconds of `sleep` from which on a check is told to be slow; the limit of GSD's plan checker (dimension 8)."""

Made = dict[str, list[str]]
"""Files by their last names."""

_STARTED = re.compile(
    r"\b(?:start|launch|run|serve)\w{0,5}\s[^\n]{0,60}?\bserver|compose up|runserver|uvicorn"
    r"|(?:npm|yarn|pnpm) (?:run )?(?:dev|start)",
    re.IGNORECASE,
)
"""How a task of the plan starts the server that a check asks."""

_ABOUT_PLACES = re.compile(r"\b(?:remov|delet|mov|renam|archiv|git mv)\w{0,4}\b|\bdirector|\bfolder", re.IGNORECASE)
"""The names of tasks that are done once files are, or are not, where they should be."""

_TESTS = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_[^/]*$|[._-](?:test|spec)\.\w+$")


def verifiability(scene: PlanCheckContext) -> Dimension:
    """Read the check of each task as commands: are there any, do they end, and can they fail?

    A blocker: a check that never ends (a watch mode, a server), as whoever runs it waits for ever. A warning: one
    without a command, one that only prints, looks for files alone or hides its failure whatever it runs (`|| true`),
    may never end, waits 30 seconds or more, or asks a server that nothing starts. Info: a pipe whose last program
    decides. A check that prints what it found (`|| echo "FAIL"`) is read by somebody, and fine. Checkpoints are exempt,
    they ask a person; so are features of plans with tests first, which state no check.
    Source: rule D4; GSD's plan checker, dimension 8.
    """
    against = IssueFactory(scene, D8)
    made = _files(scene)
    works = (job for job in scene.each_job() if task_kind(job.task) == "work")
    issues = [*_once_a_plan(issue for job in works for issue in _job(against, job, made))]
    asked = (job for at in scene.asked for job in scene.jobs[at])
    by_hand = [job for job in asked if task_kind(job.task) in ("manual", "tests-first")]
    judge = [
        f"{scene.graph.nodes[job.plan].plan_id}: how task {quoted(job.label)} is to be checked; it states no command"
        for job in by_hand
    ]
    plain = (at for at in scene.asked if not scene.jobs[at] and scene.plans[at].tasks)
    judge += [f"{scene.graph.nodes[at].plan_id}: its checks, which are no elements of tasks" for at in plain]
    if scene.no_files:
        judge.append(f"whether the tests that checks run are there: {scene.no_files}")
    return Dimension(D8, "needs-judgement" if judge else "checked", tuple(issues), tuple(judge))


def _once_a_plan(issues: Iterable[Issue]) -> Iterator[Issue]:
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


def _job(against: IssueFactory, job: TaskInPlan, made: Made | None) -> Iterator[Issue]:
    name = next((known for known in ("automated", "verify") if job.task.get(known)), "verification")
    texts = [element.text for element in job.task.elements if element.name == name and not is_empty(element.text)]
    if not texts:
        return  # that a check is missing is told of once, as an element that is missing (D2)
    found = [
        tuple(program_calls(command)) for text in texts for command in commands_in(text, stated=name == "automated")
    ]
    told = f"the check of task {quoted(job.label)}"
    if not found:
        fix = "write a command that fails if the task is not done"
        yield against.job(job, "warning", "check-no-command", name, f"{told} is no command: {quoted(texts[0])}", fix)
        return
    telling = [run for command in found for run in command if run.program not in words("plan_check", "silent")]
    if not telling:
        fix = "test what the task makes"
        yield against.job(job, "warning", "check-silent", name, f"{told} only prints: {quoted(texts[0])}", fix)
        return
    beside = against.scene.compared(job.plan)
    for severity, rule, what, fix in (*_ends(found), *_fails(job, found, telling), *_needs(beside, found, telling)):
        yield against.job(job, severity, rule, name, f"{told} {what}", fix)
    if made is not None:
        yield from _unknown_tests(against, job, name, telling, made)


Fault = tuple[IssueSeverity, str, str, str]


def _ends(found: Sequence[Sequence[ProgramCall]]) -> Iterator[Fault]:
    for run in (run for command in found for run in command):
        if run.then != "&" and _never_ends(run):
            yield "blocker", "check-never-ends", f"never ends: {quoted(run.text)}", "run it once, without watching"
            return
        if run.then != "&" and _serves(run):
            fix = "start it in the background, or test without it"
            yield (
                "warning",
                "check-may-not-end",
                f"may never end, as it is called like a server: {quoted(run.text)}",
                fix,
            )
            return
    waits = [float(run.words[1].rstrip("s")) for command in found for run in command if _is_sleep(run)]
    if sum(waits) >= LONG_WAIT:
        yield "warning", "check-slow", f"waits {sum(waits):.0f} seconds", "ask again until it is ready, with a limit"


def _is_sleep(run: ProgramCall) -> bool:
    return (
        run.program == "sleep"
        and len(run.words) > 1
        and re.fullmatch(r"\d{1,6}(?:\.\d{1,3})?s?", run.words[1]) is not None
    )


def _never_ends(run: ProgramCall) -> bool:
    first, rest = run.program, set(run.words[1:])
    if first == "gh" or "rollout" in rest or {"--help", "--version"} & rest:
        return False  # what these watch comes to an end
    if {"--watch", "--watchAll", "--watch=true"} & rest or first == "watch":
        return True
    if "-w" in rest and first in words("plan_check", "watchers"):
        return True
    if first == "tail" and rest & {"-f", "-F", "--follow"}:
        return True
    return first in words("plan_check", "servers") or ("http.server" in rest and "-m" in rest)


def _serves(run: ProgramCall) -> bool:
    """Whether a run is of a package's script that has the name of a server's; what such a script does is not known."""
    script = [word for word in run.words[1:] if word != "run"]
    scripts = words("plan_check", "server_scripts")
    return run.program in ("npm", "yarn", "pnpm", "bun") and len(script) == 1 and script[0] in scripts


def _fails(job: TaskInPlan, found: Sequence[Sequence[ProgramCall]], telling: Sequence[ProgramCall]) -> Iterator[Fault]:
    if (
        not _ABOUT_PLACES.search(job.task.name)
        and all(map(_is_existence, telling))
        and not all(map(_is_place, telling))
    ):
        fix = "run what is in the files, or test it"
        yield "warning", "check-existence", "looks only whether files are there", fix
    checks = [command for command in found if any(run in telling for run in command)]
    if all(map(_always_succeeds, checks)):
        fix = "leave out what takes the failure away"
        yield "warning", "check-cannot-fail", "cannot fail: it ends with a command that always succeeds", fix
    elif (lost := [ended for command in checks if (ended := _status_lost(command))]) and len(lost) == len(checks):
        what = f"hides its failure behind a pipe: its exit status is that of `{lost[0][1]}`, not of `{lost[0][0]}`"
        yield "info", "check-piped", what, "leave out the pipe, or set -o pipefail before it"


def _always_succeeds(command: Sequence[ProgramCall]) -> bool:
    """Whether the last run of a command succeeds whatever came before, and prints nothing of it."""
    if len(command) < 2 or command[-2].then not in ("||", ";"):
        return False
    last = command[-1]
    quiet = last.program in ("true", ":") or last.text.split()[:2] == ["exit", "0"]
    return quiet or (command[-2].then == ";" and last.program in ("echo", "printf") and "$" not in last.text)


def _is_existence(run: ProgramCall) -> bool:
    """Whether a run looks only whether files are there; one that asks that they are not looks at what was done."""
    if (
        run.program not in words("plan_check", "existence")
        or run.text.lstrip("( ").startswith("!")
        or " ! " in run.text
    ):
        return False
    return run.program not in ("test", "[", "[[") or bool({"-f", "-d", "-e", "-x", "-s", "-r"} & set(run.words))


def _is_place(run: ProgramCall) -> bool:
    """Whether a run looks whether folders are there, which have nothing in them to test."""
    named = [word for word in run.words[1:] if not word.startswith("-")]
    return "-d" in run.words or (run.program == "ls" and bool(named) and all(word.endswith("/") for word in named))


def _status_lost(command: Sequence[ProgramCall]) -> tuple[str, str] | None:
    """The tester whose exit status a command loses to the pipe that it ends with, and the last program of that pipe.

    None where the command ends in no such pipe, or what is piped tests nothing, as a search whose finds are counted.
    """
    last = len(command) - 1
    if command[last].program not in words("plan_check", "passing_on") or any("pipefail" in run.text for run in command):
        return None
    first = last
    while first and command[first - 1].then == "|":
        first -= 1
    piped = (run.program for run in command[first:last])
    tester = next((program for program in piped if program in words("plan_check", "testers")), None)
    return (tester, command[last].program) if tester else None


def _needs(
    beside: Sequence[TaskInPlan], found: Sequence[Sequence[ProgramCall]], telling: Sequence[ProgramCall]
) -> Iterator[Fault]:
    asks = [run for run in telling if run.program in words("plan_check", "requesters")]
    local = [run for run in asks if "localhost" in run.text or "127.0.0.1" in run.text or "0.0.0.0" in run.text]  # noqa: S104
    started = any(run.then == "&" or " up" in run.text for command in found for run in command)
    if local and not started and not any(_STARTED.search(other.text) for other in beside):
        what = f"asks a server that nothing in it starts: {quoted(local[0].text)}"
        yield "warning", "check-no-server", what, "start the server in it, or test without one"


def _files(scene: PlanCheckContext) -> Made | None:
    """The files that the plans make or the repository has, by their last names; None where it is not known."""
    if scene.files is None:
        return None
    made = [file for job in scene.each_job() for file in job.files]
    found: dict[str, list[str]] = {}
    for file in (*made, *(file for plan in scene.plans for file in plan.files_modified), *sorted(scene.files)):
        found.setdefault(_last(file), []).append(file)
    return found


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _unknown_tests(
    against: IssueFactory, job: TaskInPlan, name: str, telling: Sequence[ProgramCall], made: Made
) -> Iterator[Issue]:
    """Test files that the check runs, and that neither a plan makes nor the repository has."""
    for path in (path for run in telling for path in paths_in(run.text)):
        if (
            _TESTS.search(path)
            and "." in _last(path)
            and not any(same_file(path, f) for f in made.get(_last(path), []))
        ):
            told = f"the check of task {quoted(job.label)} runs {quoted(path)}, which neither plans nor repository have"
            fix = "make the test in a task, or correct the path"
            yield against.job(job, "warning", "check-unknown-test", name, told, fix)
