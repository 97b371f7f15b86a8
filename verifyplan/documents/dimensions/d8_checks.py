"""D8, verifiability: each task is checked by a command that runs, ends, and would fail if the task were not done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from verifyplan.documents.dimensions.issue import Dimension, Issue, IssueSeverity, quoted
from verifyplan.documents.dimensions.jobs import kind_of_job
from verifyplan.documents.dimensions.links import paths_in, same_file
from verifyplan.documents.dimensions.scene import Against, Job, Scene
from verifyplan.documents.dimensions.shell import Run, commands_in, runs
from verifyplan.documents.dimensions.wording import is_empty
from verifyplan.documents.wordlists import words

NUMBER = 8

LONG_WAIT = 30
"""Seconds of `sleep` from which on a check is told to be slow; the limit of GSD's plan checker (dimension 8)."""

Made = dict[str, list[str]]
"""Files by their last names."""

_TESTS = re.compile(r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_[^/]*$|[._-](?:test|spec)\.\w+$")


def verifiability(scene: Scene) -> Dimension:
    """Read the check of each task as commands: are there any, do they end, and can they fail?

    A blocker: a check without a command, one that only prints, one that never ends (a watch mode, a server). A
    warning: one that looks for files alone, hides its failure (`|| true`), waits 30 seconds or more, or asks a server
    that nothing starts. Info: a pipe whose last program decides. Checkpoints are exempt, they ask a person; so are
    features of plans with tests first, which state no check. Source: SPEC D4; GSD's plan checker, dimension 8.
    """
    against = Against(scene, NUMBER)
    made = _files(scene)
    works = (job for job in scene.each_job() if kind_of_job(job.task) == "work")
    issues = [issue for job in works for issue in _job(against, job, made)]
    asked = (job for at in scene.asked for job in scene.jobs[at])
    by_hand = [job for job in asked if kind_of_job(job.task) in ("manual", "tests-first")]
    judge = tuple(
        f"{scene.graph.nodes[job.plan].plan_id}: how task {quoted(job.label)} is to be checked; it states no command"
        for job in by_hand
    )
    return Dimension(NUMBER, "needs-judgement" if judge else "checked", tuple(issues), judge)


def _job(against: Against, job: Job, made: Made | None) -> Iterator[Issue]:
    name = "automated" if job.task.get("automated") else "verify"
    text = job.task.text(name)
    if is_empty(text):
        return  # that a check is missing is told of once, as an element that is missing (D2)
    found = [tuple(runs(command)) for command in commands_in(text)]
    told = f"the check of task {quoted(job.label)}"
    if not found:
        fix = "write a command that fails if the task is not done"
        yield against.job(job, "blocker", "check-no-command", name, f"{told} is no command: {quoted(text)}", fix)
        return
    telling = [run for command in found for run in command if run.program not in words("plan_check", "silent")]
    if not telling:
        fix = "test what the task makes"
        yield against.job(job, "blocker", "check-silent", name, f"{told} only prints: {quoted(text)}", fix)
        return
    for severity, rule, what, fix in (*_ends(found), *_fails(found, telling), *_needs(found, telling)):
        yield against.job(job, severity, rule, name, f"{told} {what}", fix)
    if made is not None:
        yield from _unknown_tests(against, job, name, telling, made)


Fault = tuple[IssueSeverity, str, str, str]


def _ends(found: Sequence[Sequence[Run]]) -> Iterator[Fault]:
    for run in (run for command in found for run in command):
        if run.then != "&" and _never_ends(run):
            yield "blocker", "check-never-ends", f"never ends: {quoted(run.text)}", "run it once, without watching"
            return
    waits = [float(run.words[1].rstrip("s")) for command in found for run in command if _is_sleep(run)]
    if sum(waits) >= LONG_WAIT:
        yield "warning", "check-slow", f"waits {sum(waits):.0f} seconds", "ask again until it is ready, with a limit"


def _is_sleep(run: Run) -> bool:
    return (
        run.program == "sleep"
        and len(run.words) > 1
        and re.fullmatch(r"\d{1,6}(?:\.\d{1,3})?s?", run.words[1]) is not None
    )


def _never_ends(run: Run) -> bool:
    given = run.words
    first, rest = run.program, set(given[1:])
    if {"--watch", "--watchAll", "--watch=true"} & rest or first == "watch":
        return True
    if "-w" in rest and first in words("plan_check", "watchers"):
        return True
    if first == "tail" and rest & {"-f", "-F", "--follow"}:
        return True
    if first in words("plan_check", "servers") or ("http.server" in rest and "-m" in rest):
        return True
    script = [word for word in given[1:3] if word != "run"]
    scripts = words("plan_check", "server_scripts")
    return first in ("npm", "yarn", "pnpm", "bun") and bool(script) and script[0] in scripts


def _fails(found: Sequence[Sequence[Run]], telling: Sequence[Run]) -> Iterator[Fault]:
    if all(run.program in words("plan_check", "existence") and _is_existence(run) for run in telling):
        fix = "run what is in the files, or test it"
        yield "warning", "check-existence", "looks only whether files are there", fix
    for command in found:
        behind = list(pairwise(command))
        if any(one.then == "||" and other.program in ("true", ":", "echo", "printf") for one, other in behind):
            yield (
                "warning",
                "check-cannot-fail",
                "cannot fail: `||` takes its failure away",
                "leave out what is behind it",
            )
            return
        if len(command) > 1 and command[-2].then == ";" and command[-1].program in ("echo", "true", ":", "printf"):
            yield (
                "warning",
                "check-cannot-fail",
                "cannot fail: it ends with a command that always succeeds",
                "join them by `&&`",
            )
            return
    if any(_passes_on(command) for command in found):
        what = "hides its failure behind a pipe"
        yield "info", "check-piped", what, "leave out the pipe, or set -o pipefail before it"


def _is_existence(run: Run) -> bool:
    if run.program in ("test", "[", "[["):
        return bool({"-f", "-d", "-e", "-x", "-s", "-r"} & set(run.words))
    return True


def _passes_on(command: Sequence[Run]) -> bool:
    if any("pipefail" in run.text for run in command):
        return False
    pipes = [other for one, other in pairwise(command) if one.then == "|"]
    return any(run.program in words("plan_check", "passing_on") and run.then != "|" for run in pipes)


def _needs(found: Sequence[Sequence[Run]], telling: Sequence[Run]) -> Iterator[Fault]:
    asks = [run for run in telling if run.program in words("plan_check", "requesters")]
    local = [run for run in asks if "localhost" in run.text or "127.0.0.1" in run.text or "0.0.0.0" in run.text]  # noqa: S104
    started = any(run.then == "&" or " up" in run.text for command in found for run in command)
    if local and not started:
        what = f"asks a server that nothing in it starts: {quoted(local[0].text)}"
        yield "warning", "check-no-server", what, "start the server in it, or test without one"


def _files(scene: Scene) -> Made | None:
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


def _unknown_tests(against: Against, job: Job, name: str, telling: Sequence[Run], made: Made) -> Iterator[Issue]:
    """Test files that the check runs, and that neither a plan makes nor the repository has."""
    for path in (path for run in telling for path in paths_in(run.text)):
        if (
            _TESTS.search(path)
            and "." in _last(path)
            and not any(same_file(path, f) for f in made.get(_last(path), []))
        ):
            told = f"the check of task {quoted(job.label)} runs {quoted(path)}, which no plan makes and nobody has"
            fix = "make the test in a task, or correct the path"
            yield against.job(job, "warning", "check-unknown-test", name, told, fix)
