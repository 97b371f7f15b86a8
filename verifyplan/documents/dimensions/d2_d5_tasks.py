"""D2, task completeness: each task says what is to be done where, how it is checked, and what is then so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from verifyplan.documents.dimensions.check_context import (
    MAX_TASKS,
    Dimension,
    Issue,
    IssueFactory,
    IssueSeverity,
    PlanCheckContext,
    TaskInPlan,
    TaskKind,
    all_tasks,
    quoted,
    task_kind,
)
from verifyplan.documents.dimensions.overlap import is_empty, meaningful_words, vague_words
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.comparing import id_in_name
from verifyplan.documents.walk import Unread
from verifyplan.text import counted

D2 = 2

NEEDED: dict[TaskKind, tuple[tuple[str, ...], ...]] = {
    "work": (
        ("name", "title"),
        ("files",),
        ("action", "steps", "instructions", "description"),
        ("verify", "verification"),
        ("done", "acceptance_criteria", "success_criteria"),
    ),
    "tests-first": (("name",), ("files",), ("behavior", "action"), ("implementation", "action")),
    "manual": (("name",), ("action", "instructions", "how-to-verify"), ("done", "verify", "how-to-verify")),
    "checkpoint": (
        ("name", "what-built", "decision", "action"),
        ("how-to-verify", "verify", "options", "instructions", "action", "context"),
    ),
}
"""What each kind of task must hold: one element, or attribute, of each group, the contract's own first.

A checkpoint asks a person, in elements of its own.
"""

FEWEST_WORDS = 4
"""Words with meaning below which an action leaves its doing to the reader."""

ENOUGH = 2_000
"""Characters of an action that are read to tell whether it says enough."""

FEWEST_SEEN = 2
"""Words with meaning, beside vague ones, below which an outcome cannot be observed."""

STEPS = ("behavior", "implementation", "steps", "instructions", "how-to-verify", "what-built", "decision", "context")
"""The elements that may say what is to be done where a task has no action."""

_STEPS = re.compile(r"\s{0,12}(?:[-*+]\s+\[[ xX]\]|\d{1,3}[.)]\s+\S|```|~~~)")
_BULLETS = re.compile(r"\s{0,12}(?:[-*+]\s+\S|\d{1,3}[.)]\s+\S|```|~~~)")
_WORK = re.compile(r"(?:task|step|phase|part)s?\b", re.IGNORECASE)
_CODE = re.compile(r"`[^`\n]+`|```")


def task_completeness(scene: PlanCheckContext) -> Dimension:
    """Hold each task against the five elements, or those of its own kind, and look whether they say anything.

    A blocker, as nobody can carry it out: a plan that has neither tasks nor anything else to do, a task without an
    action. A warning: frontmatter that cannot be read, any other element that is missing or blank, an action too short
    to act on, a `done` that two people would judge differently. What several tasks of a plan lack is told once.
    `<files>` that are blank are no fault: a task may change none. Tasks in Markdown are left to a judge.
    Source: rule D4; document 003; the plan checker of plan-build-run, dimension 2.
    """
    against = IssueFactory(scene, D2)
    issues = [*map(_unread, scene.unread), *(i for at in range(len(scene.plans)) for i in _plan(against, at))]
    plain = [at for at in scene.asked if not scene.jobs[at] and _has_work(scene.plans[at])]
    judge = tuple(f"{scene.graph.nodes[at].plan_id}: its tasks, which are no <task> elements" for at in plain)
    return Dimension(D2, "needs-judgement" if judge else "checked", tuple(issues), judge)


def _unread(file: Unread) -> Issue:
    """That a plan could not be read, so that nobody takes it for one in which nothing is wrong."""
    name = PurePath(file.path).name
    told = f"the plan {quoted(name)} was not read: it {file.reason}"
    return Issue("warning", D2, id_in_name(name) or name, told, file.fix, file.path, 1, "plan-unread")


def _has_work(plan: PlanDocument) -> bool:
    """Whether a plan without <task> elements says what is to be done: in steps, in code, or under such headings.

    Bullets are steps only in a plan without frontmatter; in any other they are context.
    """
    source = plan.source
    steps = _STEPS if source.front.last else _BULLETS
    return any(map(steps.match, source.lines[source.front.last :])) or any(
        _WORK.match(p.title) for p in source.sections
    )


def _plan(against: IssueFactory, at: int) -> Iterator[Issue]:
    plan, jobs = against.scene.plans[at], against.scene.jobs[at]
    if plan.source.front.problems and not plan.source.front.values:
        line, problem = plan.source.front.problems[0]
        fix = "write it as plain YAML; single quotes keep a backslash as it is"
        told = f"the frontmatter cannot be read: {problem}"
        yield against.plan(at, "warning", "frontmatter-damaged", line, told, fix)
    if len(jobs) >= MAX_TASKS:
        told = f"only the first {MAX_TASKS:,} tasks are looked at"
        yield against.plan(at, "warning", "tasks-unread", jobs[-1].task.line, told, "split the plan")
    if not jobs and not _has_work(plan):
        fix = "write the work down as <task> elements"
        yield against.plan(at, "blocker", "no-tasks", 1, "the plan has no tasks", fix)
    yield from _lacking(against, jobs)
    for job in jobs:
        if task_kind(job.task) == "work":
            yield from _action(against, job)
            yield from _done(against, job)


def _lacking(against: IssueFactory, jobs: Sequence[TaskInPlan]) -> Iterator[Issue]:
    """Yield what tasks lack, each element once for all of them."""
    found: dict[tuple[bool, tuple[str, ...]], list[TaskInPlan]] = {}
    for job in jobs:
        for names in NEEDED[task_kind(job.task)]:
            blank = any(job.task.get(name) for name in names)
            said = any(not is_empty(job.task.text(name) or job.task.attributes.get(name, "")) for name in names)
            if not said and not (blank and names == ("files",)):
                found.setdefault((blank, names), []).append(job)
    for (blank, names), lacking in found.items():
        severity: IssueSeverity = "blocker" if "action" in names and not _has_steps(lacking) else "warning"
        present = next((name for name in names if lacking[0].task.get(name)), "")
        kind = task_kind(lacking[0].task)
        listed = names[:1] if kind == "work" else names
        has = f"a `<{present}>` that says nothing" if blank else f"no {' or '.join(f'`<{name}>`' for name in listed)}"
        told = f"task {quoted(lacking[0].label)} has {has}"
        if len(lacking) > 1:
            told += f", and so it is with {counted(len(lacking) - 1, 'other task')}"
        rule = "element-blank" if blank else "element-missing"
        yield against.job(lacking[0], severity, rule, present, told, f"write down the {present or names[0]}")


def _has_steps(jobs: Sequence[TaskInPlan]) -> bool:
    """Whether each of some tasks says in another element, or in text of its own, what is to be done."""
    return all(any(not is_empty(job.task.text(name)) for name in STEPS) for job in jobs)


def _action(against: IssueFactory, job: TaskInPlan) -> Iterator[Issue]:
    text = job.task.text("action")[:ENOUGH]
    if not is_empty(text) and len(meaningful_words(text)) < FEWEST_WORDS and not _CODE.search(text):
        told = f"the action of task {quoted(job.label)} is too short to act on: {quoted(text)}"
        fix = "say what to change, where, and how"
        yield against.job(job, "warning", "action-too-short", "action", told, fix)


def _done(against: IssueFactory, job: TaskInPlan) -> Iterator[Issue]:
    text = job.task.text("done")
    if is_empty(text):
        return
    vague = vague_words(text)
    left = meaningful_words(text) - frozenset(word for name in vague for word in meaningful_words(name))
    if vague and len(left) < FEWEST_SEEN:
        told = f"<done> of task {quoted(job.label)} cannot be observed: {quoted(text)}"
        fix = "say what can be seen once the task is done"
        yield against.job(job, "warning", "done-vague", "done", told, fix)


D5 = 5

TOO_MANY_TASKS, TOO_MANY_FILES = 5, 15
"""Tasks and files of a plan from which on it gets a warning; 2-3 tasks and 5-8 files are the target.

Source: the public plan checker of GSD (dimension 5, "Scope Sanity"), of whose limits these are the outer ones: what
lies between target and limit is carried out well every day.
"""


def scope(scene: PlanCheckContext) -> Dimension:
    """Count the tasks and files of each plan against limits; a plan that is too large can be carried out, if badly.

    Checkpoints count as tasks. Files are those that the plan or any task names, each once. The limits are those of
    tasks as document 003 has them; the steps of a plan in Markdown are cut as its author likes, and not counted.
    Source: rule D4; the limits as said beside them.
    """
    against = IssueFactory(scene, D5)
    issues = [issue for at in range(len(scene.plans)) for issue in _scope_of_plan(against, at)]
    return Dimension(D5, "checked", tuple(issues))


def _scope_of_plan(against: IssueFactory, at: int) -> Iterator[Issue]:
    plan, work = against.scene.plans[at], all_tasks(against.scene.plans[at])
    files = against.scene.graph.nodes[at].files if work else dict.fromkeys(plan.files_modified)
    if len(work) >= TOO_MANY_TASKS:
        told = f"the plan has {len(work):,} tasks; 2-3 are the target, and {TOO_MANY_TASKS} are many for one go"
        first = work[TOO_MANY_TASKS - 1].line
        yield against.plan(at, "warning", "many-tasks", first, told, "split the plan")
    if len(files) >= TOO_MANY_FILES:
        told = f"the plan touches {len(files)} files; 5-8 are the target, and {TOO_MANY_FILES} are many for one go"
        line = against.scene.line(at, "files_modified")
        yield against.plan(at, "warning", "many-files", line, told, "split the plan along its files")
