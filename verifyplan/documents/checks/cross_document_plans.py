"""Check plans among each other, against the requirements, and against their summaries (rule D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.execution_summary import ExecutionSummary, TaskResult
from verifyplan.documents.kinds.plan import PlanDocument, Task
from verifyplan.documents.loading import read_text
from verifyplan.documents.reading.comparing import id_in_name, phase_number, plan_key, unmatched, wording
from verifyplan.documents.reading.document import CONTRACT
from verifyplan.documents.tree import Phase, Tree
from verifyplan.errors import InputError

MAX_TASKS = 200
"""So many tasks and results of a plan are compared."""
MAX_LISTED_PLANS = 8

_REQUIREMENT_WORD = re.compile(r"[\w.-]+")
_TASK_NUMBER = re.compile(r"(?:Task\s+)?(\d{1,3})(?!\d|-|\.\d)", re.IGNORECASE)


def check_plans(tree: Tree) -> Iterator[Violation]:
    """Yield plan ids that are repeated in a phase, unknown dependencies, and consumed items that no plan provides.

    A dependency may name a plan of its milestone by its id, within its phase also by its number alone, or a phase;
    what a plan consumes may come from an earlier milestone. In a folder that is not a whole `.planning`, names of what
    may lie outside of it are not checked.
    """
    for phases in tree.milestones.values():
        known = frozenset(phase.key_of(plan) for phase in phases for plan in phase.plans)
        names = frozenset(name for phase in phases for name in _phase_names(phase))
        for phase in phases:
            yield from _check_plan_ids(phase)
            for plan in phase.plans:
                yield from _check_dependencies(plan, phase, known, names, whole=tree.whole)
    provided = frozenset(wording(item) for plan in tree.of(PlanDocument) for item in plan.provides)
    for plan in tree.of(PlanDocument) if tree.whole else ():
        for at, item in enumerate(plan.consumes):
            if wording(item) not in provided:
                yield violation(
                    "tree/consumed-unprovided", plan.path, plan.source.front.line("consumes", at), item=item
                )


def _phase_names(phase: Phase) -> Iterator[str]:
    """Yield what a dependency may call a phase: its folder, its number."""
    yield wording(phase.name)
    number = phase_number(phase.name)
    if number:
        yield wording(number)
        yield wording(phase.name.partition("-")[0])


def _check_plan_ids(phase: Phase) -> Iterator[Violation]:
    first: dict[str, PlanDocument] = {}
    for plan in phase.plans:
        before = first.setdefault(phase.key_of(plan), plan)
        if before is not plan:
            values = {"plan": plan.plan or id_in_name(plan.path), "other": PurePath(before.path).name}
            yield violation("tree/plan-id-repeated", plan.path, plan.source.front.line("plan"), **values)


def _check_dependencies(
    plan: PlanDocument, phase: Phase, known: frozenset[str], phases: frozenset[str], *, whole: bool
) -> Iterator[Violation]:
    here = phase_number(phase.name)
    for at, name in enumerate(plan.depends_on):
        stem = id_in_name(name) if name.endswith(".md") else name
        key = plan_key(stem, phase.name)
        if key in known or wording(stem.casefold().removeprefix("phase")) in phases:
            continue
        if whole or (here and key.startswith(f"{here}-")):
            beside = [o.plan or id_in_name(o.path) for o in phase.plans[:MAX_LISTED_PLANS] if o is not plan]
            line, listed = plan.source.front.line("depends_on", at), ", ".join(beside) or "01-01"
            yield violation("tree/dependency-unknown", plan.path, line, name=name, known=listed)


def check_requirements(tree: Tree) -> Iterator[Violation]:
    """Yield requirement ids that no REQUIREMENTS file of the tree, and no other of its overviews (ROADMAP ...), names.

    Nothing is checked without a REQUIREMENTS file, and in a small task under quick/.
    """
    if not any(PurePath(path).stem.upper().endswith("REQUIREMENTS") for path in tree.others):
        return
    known: set[str] = set()
    for path in tree.others:
        with suppress(InputError):  # a file that was readable a moment ago
            known.update(word.strip(".-") for word in _REQUIREMENT_WORD.findall(read_text(Path(path))))
    for plan in tree.of(PlanDocument):
        for at, name in enumerate(plan.requirement_ids if plan.form != "quick" else ()):
            if name.strip() not in known:
                line = plan.source.front.line(plan.the_form.key(plan.source, "requirement_ids"), at)
                yield violation("tree/requirement-unknown", plan.path, line, name=name)


def check_summaries(tree: Tree) -> Iterator[Violation]:
    """Check that a summary has a plan and a plan one summary, their tasks, and what a complete one provides.

    The plan is looked for in the summary's folder, by the `plan` field or else the file's name.
    """
    for phase in tree.phases:
        first: dict[str, ExecutionSummary] = {}
        for summary in phase.summaries:
            line = summary.source.front.line("plan")
            before = first.setdefault(phase.key_of(summary), summary)
            if before is not summary:
                yield violation("tree/summary-repeated", summary.path, line, other=PurePath(before.path).name)
            plan = phase.plan_of(summary)
            if plan is not None:
                yield from _check_tasks(plan, summary)
                yield from _check_provides(plan, summary)
            elif phase.plans or not phase.quick:
                values = {"plan": summary.plan or id_in_name(summary.path), "phase": phase.name or "."}
                yield violation("tree/summary-without-plan", summary.path, line, **values)


def planned_task(result: TaskResult, tasks: Sequence[Task]) -> Task | None:
    """Return the plan's task of a result, by its id, name or number; None where it names none of them."""
    text = result.task.strip("`* ")
    by_id = next((task for task in tasks if task.id and _begins_with_id(text, task.id)), None)
    by_name = next((task for task in tasks if task.name and task.name.casefold() in text.casefold()), None)
    number = _TASK_NUMBER.match(text)
    at = int(number[1]) - 1 if number else -1
    return by_id or by_name or (tasks[at] if 0 <= at < len(tasks) else None)


def _begins_with_id(text: str, task_id: str) -> bool:
    """Whether a text begins with an id, or with its end behind the plan's: "T1" for "01-01-T1", not "01-01-T10"."""
    ends = (task_id, task_id.rpartition("-")[2])
    return any(text.startswith(end) and not text[len(end) : len(end) + 1].isalnum() for end in ends if end)


def _check_tasks(plan: PlanDocument, summary: ExecutionSummary) -> Iterator[Violation]:
    """Yield results of unknown tasks, and tasks without a result; in summaries of the contract's form only."""
    if summary.form != CONTRACT.name:
        return
    tasks, results, plan_name = plan.tasks[:MAX_TASKS], summary.task_results[:MAX_TASKS], PurePath(plan.path).name
    reported = [planned_task(result, tasks) for result in results]
    for result, task in zip(results, reported, strict=True):
        if tasks and task is None and result.task.strip("`* -"):
            yield violation("tree/task-unknown", summary.path, result.line, task=result.task, plan=plan_name)
    if plan.form != CONTRACT.name or summary.table is None or summary.status != "complete" or None in reported:
        return
    for task in tasks:
        if task not in reported:
            values = {"task": task.id or task.name, "plan": plan_name}
            yield violation("tree/task-untold", summary.path, summary.table.line, **values)


def _check_provides(plan: PlanDocument, summary: ExecutionSummary) -> Iterator[Violation]:
    if summary.status != "complete" or "provides" not in summary.source.front.values:
        return
    missing, _ = unmatched(plan.provides, summary.provides)
    line = summary.source.front.line("provides")
    for at in missing:
        values = {"item": plan.provides[at], "plan": PurePath(plan.path).name}
        yield violation("tree/provides-dropped", summary.path, line, **values)
