"""D2, task completeness: each task says what is to be done where, how it is checked, and what is then so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.documents.dimensions.issue import Dimension, Issue, quoted
from verifyplan.documents.dimensions.jobs import JobKind, kind_of_job
from verifyplan.documents.dimensions.scene import LONGEST, LOOKED_AT, Against, Job, Scene
from verifyplan.documents.dimensions.wording import is_empty, meaning, vague_words

NUMBER = 2

NEEDED: dict[JobKind, tuple[tuple[str, ...], ...]] = {
    "work": (("name",), ("files",), ("action",), ("verify",), ("done",)),
    "tests-first": (("name",), ("files",), ("behavior", "action"), ("implementation", "action")),
    "manual": (("name",), ("action", "instructions", "how-to-verify"), ("done", "verify", "how-to-verify")),
    "checkpoint": (
        ("name", "what-built", "decision", "action"),
        ("how-to-verify", "verify", "options", "instructions", "action", "context"),
    ),
}
"""What each kind of task must hold: one element of each group. A checkpoint asks a person, in elements of its own."""

FEWEST_WORDS = 4
"""Words with meaning below which an action leaves its doing to the reader."""

FEWEST_SEEN = 2
"""Words with meaning, beside vague ones, below which an outcome cannot be observed."""

_STEP = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*+]|\*\*|#)", re.MULTILINE)
_SENTENCE = re.compile(r"[.;!?:](?=\s|$)|\n\s*\n|\bthen\b")


def task_completeness(scene: Scene) -> Dimension:
    """Hold each task against the five elements, or those of its own kind, and look whether they say anything.

    A blocker: frontmatter that cannot be read, a plan without tasks, an element that is missing or blank, an action
    too short to act on. A warning: an action of one step, files that are left blank, a `done` that two people would
    judge differently.
    Source: SPEC D4; the plan checker of plan-build-run, dimension 2.
    """
    against = Against(scene, NUMBER)
    issues = [issue for at in range(len(scene.plans)) for issue in _plan(against, at)]
    return Dimension(NUMBER, "checked", tuple(issues))


def _plan(against: Against, at: int) -> Iterator[Issue]:
    jobs, front = against.scene.jobs[at], against.scene.plans[at].source.front
    if front.problems and not front.values:
        line, problem = front.problems[0]
        fix = "write it as plain YAML; single quotes keep a backslash as it is"
        yield against.plan(
            at, "blocker", "frontmatter-damaged", line, f"the frontmatter cannot be read: {problem}", fix
        )
    if len(jobs) >= LOOKED_AT:
        told = f"only the first {LOOKED_AT:,} tasks are looked at"
        yield against.plan(at, "warning", "tasks-unread", jobs[-1].task.line, told, "split the plan")
    if not jobs:
        fix = "write the work down as <task> elements"
        yield against.plan(at, "blocker", "no-tasks", 1, "the plan has no tasks", fix)
    for job in jobs:
        yield from _missing(against, job)
        if kind_of_job(job.task) == "work":
            yield from _action(against, job)
            yield from _done(against, job)


def _missing(against: Against, job: Job) -> Iterator[Issue]:
    for names in NEEDED[kind_of_job(job.task)]:
        if any(not is_empty(job.task.text(name)) for name in names):
            continue
        present = next((name for name in names if job.task.get(name)), None)
        what = " or ".join(f"`<{name}>`" for name in names)
        if present == "files":
            told = f"task {quoted(job.label)} leaves `<files>` blank"
            yield against.job(job, "warning", "files-blank", "files", told, "name the files that the task may touch")
        elif present:
            told = f"task {quoted(job.label)} has a `<{present}>` that says nothing"
            yield against.job(job, "blocker", "element-blank", present, told, f"write down the {present}")
        else:
            told = f"task {quoted(job.label)} has no {what}"
            yield against.job(job, "blocker", "element-missing", "", told, f"add {what} to the task")


def _action(against: Against, job: Job) -> Iterator[Issue]:
    text = job.task.text("action")[:LONGEST]
    if is_empty(text):
        return
    if len(meaning(text)) < FEWEST_WORDS:
        told = f"the action of task {quoted(job.label)} is too short to act on: {quoted(text)}"
        fix = "say what to change, where, and how"
        yield against.job(job, "blocker", "action-too-short", "action", told, fix)
    elif len(_STEP.findall(text)) < 2 and len(_SENTENCE.findall(text)) < 2:
        told = f"the action of task {quoted(job.label)} is one step: {quoted(text)}"
        yield against.job(job, "warning", "action-one-step", "action", told, "number its steps")


def _done(against: Against, job: Job) -> Iterator[Issue]:
    text = job.task.text("done")
    if is_empty(text):
        return
    vague = vague_words(text)
    left = meaning(text) - frozenset(word for name in vague for word in meaning(name))
    if vague and len(left) < FEWEST_SEEN:
        told = f"<done> of task {quoted(job.label)} cannot be observed: {quoted(text)}"
        fix = "say what can be seen once the task is done"
        yield against.job(job, "warning", "done-vague", "done", told, fix)
