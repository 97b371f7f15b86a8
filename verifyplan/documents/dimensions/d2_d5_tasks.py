"""D2 and D5: each task says what to do, how it is checked and what is then true; a plan is small enough (rule D4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from verifyplan.documents.dimensions.check_context import (
    MAX_TASKS,
    DimensionResult,
    Issue,
    IssueSeverity,
    PlanCheckContext,
    TaskInPlan,
    TaskKind,
    task_kind,
    tasks_and_features,
)
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.comparing import id_in_name, is_empty, meaningful_words, plain_words, vague_words
from verifyplan.text import counted

REQUIRED_ELEMENTS: dict[TaskKind, tuple[tuple[str, ...], ...]] = {
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
"""For each kind of task the elements, or attributes, that it must have: one of each group, the contract's own first.

A checkpoint asks a person, in its own elements.
"""

MIN_ACTION_WORDS = 4
"""Words with meaning below which an action leaves its doing to the reader."""

MAX_ACTION_CHARACTERS = 2_000
"""Characters of an action that are read to decide whether it says enough."""

MIN_OUTCOME_WORDS = 2
"""Words with meaning, beside vague ones, below which an outcome cannot be observed."""

MANY_TASKS, MANY_FILES = 5, 15
"""Tasks and files of a plan from which on it gets a warning; 2-3 tasks and 5-8 files are the target.

Source: the public plan checker of GSD (dimension 5, "Scope Sanity"), of whose limits these are the outer ones: plans
between target and limit are carried out well every day.
"""

_ACTION_ELEMENTS = (
    "behavior", "implementation", "steps", "instructions", "how-to-verify", "what-built", "decision", "context",
)  # fmt: skip
"""The elements that may say what to do where a task has no action."""

_STEPS = re.compile(r"\s{0,12}(?:[-*+]\s+\[[ xX]\]|\d{1,3}[.)]\s+\S|```|~~~)")
_BULLETS = re.compile(r"\s{0,12}(?:[-*+]\s+\S|\d{1,3}[.)]\s+\S|```|~~~)")
_WORK_TITLE = re.compile(r"(?:task|step|phase|part)s?\b", re.IGNORECASE)
_CODE = re.compile(r"`[^`\n]+`|```")


def task_completeness(context: PlanCheckContext) -> DimensionResult:
    """Check that each task has the five elements, or those of its own kind, and that they say something.

    A blocker, as nobody can carry it out: a plan that has neither tasks nor anything else to do, a task without an
    action. A warning: frontmatter that cannot be read, any other element that is missing or blank, an action too short
    to act on, a `done` that two people would judge differently. An element that several tasks of a plan lack gives one
    issue. Blank `<files>` are not a fault: a task may change no file. Tasks in Markdown are left to a judge.
    Source: rule D4; the plan checker of plan-build-run, dimension 2.
    """
    issues: list[Issue] = []
    for file in context.unread:  # so that nobody takes it for a plan in which nothing is wrong
        name = PurePath(file.path).name
        values = {"name": name, "reason": file.reason, "fix": file.fix}
        issues.append(context.issue(id_in_name(name) or name, file.path, 1, "plan-unread", **values))
    issues += [issue for at in range(len(context.plans)) for issue in _incomplete(context, at)]
    in_markdown = (at for at in context.reported if not context.tasks[at] and _has_work(context.plans[at]))
    names = (context.graph.nodes[at].plan_id for at in in_markdown)
    return DimensionResult.of(2, issues, (f"{name}: its tasks, which are no <task> elements" for name in names))


def _has_work(plan: PlanDocument) -> bool:
    """Whether a plan without <task> elements says what to do: in steps, in code, or under such headings.

    Bullets are steps only in a plan without frontmatter; in any other they are context.
    """
    source = plan.source
    steps = _STEPS if source.front.last else _BULLETS
    titled = any(_WORK_TITLE.match(part.title) for part in source.sections)
    return titled or any(map(steps.match, source.lines[source.front.last :]))


def _incomplete(context: PlanCheckContext, at: int) -> Iterator[Issue]:
    plan, tasks = context.plans[at], context.tasks[at]
    if plan.source.front.problems and not plan.source.front.values:
        line, problem = plan.source.front.problems[0]
        yield context.of_plan(at, "frontmatter-damaged", line, problem=problem)
    if len(tasks) >= MAX_TASKS:
        yield context.of_plan(at, "tasks-unread", tasks[-1].task.line, limit=MAX_TASKS)
    if not tasks and not _has_work(plan):
        yield context.of_plan(at, "no-tasks", 1)
    yield from _lacking_elements(context, tasks)
    for task in tasks:
        if task_kind(task.task) == "work":
            yield from _vague(context, task)


def _lacking_elements(context: PlanCheckContext, tasks: Sequence[TaskInPlan]) -> Iterator[Issue]:
    """Elements that tasks lack, each once for all of them."""
    lacking: dict[tuple[bool, tuple[str, ...]], list[TaskInPlan]] = {}
    for each in tasks:
        for names in REQUIRED_ELEMENTS[task_kind(each.task)]:
            present = any(each.task.get(name) for name in names)
            texts = (each.task.text(name) or each.task.attributes.get(name, "") for name in names)
            if all(map(is_empty, texts)) and not (present and names == ("files",)):
                lacking.setdefault((present, names), []).append(each)
    for (blank, names), without in lacking.items():
        acts = all(any(not is_empty(each.task.text(name)) for name in _ACTION_ELEMENTS) for each in without)
        severity: IssueSeverity = "blocker" if "action" in names and not acts else "warning"
        first = without[0]
        element = next((name for name in names if first.task.get(name)), "")
        listed = names[:1] if task_kind(first.task) == "work" else names
        lack = f"a `<{element}>` that says nothing" if blank else f"no {' or '.join(f'`<{name}>`' for name in listed)}"
        if len(without) > 1:
            lack += f", and so it is with {counted(len(without) - 1, 'other task')}"
        values = {"severity": severity, "lack": lack, "element": element or names[0]}
        yield context.of_task(first, "element-blank" if blank else "element-missing", element, **values)


def _vague(context: PlanCheckContext, task: TaskInPlan) -> Iterator[Issue]:
    action, done = task.task.text("action")[:MAX_ACTION_CHARACTERS], task.task.text("done")
    if not is_empty(action) and len(meaningful_words(action)) < MIN_ACTION_WORDS and not _CODE.search(action):
        yield context.of_task(task, "action-too-short", "action", action=action)
    if not is_empty(done) and vague_words(done) and len(plain_words(done)) < MIN_OUTCOME_WORDS:
        yield context.of_task(task, "done-vague", "done", done=done)


def scope(context: PlanCheckContext) -> DimensionResult:
    """Compare the tasks and files of each plan with limits; a plan that is too large can be carried out, if badly.

    Checkpoints count as tasks. Files are those that the plan or any task names, each once. The limits are for tasks as
    elements; the steps of a plan in Markdown are cut as its author likes, and not counted.
    Source: rule D4; the limits as said beside them.
    """
    return DimensionResult.of(5, (issue for at in range(len(context.plans)) for issue in _too_large(context, at)))


def _too_large(context: PlanCheckContext, at: int) -> Iterator[Issue]:
    plan, tasks = context.plans[at], tasks_and_features(context.plans[at])
    files = context.graph.nodes[at].files if tasks else dict.fromkeys(plan.files_modified)
    if len(tasks) >= MANY_TASKS:
        yield context.of_plan(at, "many-tasks", tasks[MANY_TASKS - 1].line, n=len(tasks), limit=MANY_TASKS)
    if len(files) >= MANY_FILES:
        line = context.line(at, "files_modified")
        yield context.of_plan(at, "many-files", line, n=len(files), limit=MANY_FILES)
