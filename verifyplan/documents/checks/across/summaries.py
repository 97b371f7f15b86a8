"""Summaries and the plans that they report on: each has one, with its tasks, and provides what it does (rule D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from verifyplan.documents.checks.across.wording import unmatched
from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.execution_summary import ExecutionSummary, TaskResult
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.phase import Phase
from verifyplan.documents.reading.form import CONTRACT
from verifyplan.documents.reading.plan_ids import id_in_name
from verifyplan.documents.reading.tasks import Task
from verifyplan.documents.tree import Tree

MOST_TASKS = 200
"""So many tasks and results of a plan are compared."""
_NUMBER = re.compile(r"(?:Task\s+)?(\d{1,3})(?!\d|-|\.\d)", re.IGNORECASE)


def check_summaries(tree: Tree) -> Iterator[Violation]:
    """Summaries of no plan, second ones of one, results of unknown tasks, and what a complete one does not provide.

    The plan is looked for in the summary's folder, by the `plan` field or else the file's name.
    Source: document 003, Executor -> Verifier: one summary a plan.
    """
    for phase in tree.phases:
        first: dict[str, ExecutionSummary] = {}
        for summary in phase.summaries:
            before = first.setdefault(phase.key_of(summary), summary)
            plan = phase.plan_of(summary)
            if before is not summary:
                yield _repeated_summary(before, summary)
            if plan is None:
                if phase.plans or not phase.quick:
                    yield _without_plan(phase, summary)
                continue
            yield from _check_tasks(plan, summary)
            yield from _check_untold(plan, summary)
            if summary.status == "complete" and "provides" in summary.source.front.values:
                yield from _check_provides(plan, summary)


def _repeated_summary(before: ExecutionSummary, summary: ExecutionSummary) -> Violation:
    message = f"reports on the plan that {PurePath(before.path).name} reports on"
    line = summary.source.front.line("plan")
    return violation("tree/summary-repeated", summary.path, line, message, "keep one summary a plan")


def _without_plan(phase: Phase, summary: ExecutionSummary) -> Violation:
    message = f"reports on the plan {summary.plan or id_in_name(summary.path)!r}, which is not in {phase.name or '.'}"
    line = summary.source.front.line("plan")
    fix = "put the plan beside it, or write the plan's id as the plan does"
    return violation("tree/summary-without-plan", summary.path, line, message, fix)


def planned_task(result: TaskResult, tasks: Sequence[Task]) -> Task | None:
    """The plan's task of a result: that of its id, name or number; None where it names none of them."""
    said = result.task.strip("`* ")
    by_id = next((task for task in tasks if task.id and _begins(said, task.id)), None)
    by_name = next((task for task in tasks if task.name and task.name.casefold() in said.casefold()), None)
    number = _NUMBER.match(said)
    at = int(number[1]) - 1 if number else -1
    return by_id or by_name or (tasks[at] if 0 <= at < len(tasks) else None)


def _begins(said: str, task_id: str) -> bool:
    """Whether a text begins with an id, or with its end behind the plan's: "T1" for "01-01-T1", not "01-01-T10"."""
    ends = (task_id, task_id.rpartition("-")[2])
    return any(said.startswith(end) and not said[len(end) : len(end) + 1].isalnum() for end in ends if end)


def _check_tasks(plan: PlanDocument, summary: ExecutionSummary) -> Iterator[Violation]:
    """Results of tasks that the plan does not have; forms other than the contract's tell them in their own words."""
    tasks = plan.tasks[:MOST_TASKS]
    for result in summary.task_results[:MOST_TASKS] if tasks and summary.form == "contract" else ():
        if result.task.strip("`* -") and planned_task(result, tasks) is None:
            message = f"{result.task[:80]!r} is no task of {PurePath(plan.path).name}"
            fix = "write the task's id as the plan does; tell what was done besides under Deviations"
            yield violation("tree/task-unknown", summary.path, result.line, message, fix)


def _check_untold(plan: PlanDocument, summary: ExecutionSummary) -> Iterator[Violation]:
    """Tasks of the plan that a complete summary's table leaves out; asked where both are of the contract's form."""
    told = [planned_task(result, plan.tasks[:MOST_TASKS]) for result in summary.task_results[:MOST_TASKS]]
    contract = plan.form == CONTRACT.name and summary.form == CONTRACT.name
    if not contract or summary.table is None or summary.status != "complete" or None in told:
        return
    for task in plan.tasks[:MOST_TASKS]:
        if task not in told:
            message = f"says nothing of the task {(task.id or task.name)[:80]!r} of {PurePath(plan.path).name}"
            fix = "add a row with what became of it"
            yield violation("tree/task-untold", summary.path, summary.table.line, message, fix)


def _check_provides(plan: PlanDocument, summary: ExecutionSummary) -> Iterator[Violation]:
    lacking, _ = unmatched(plan.provides, summary.provides)
    line = summary.source.front.line("provides")
    for at in lacking:
        message = f"is complete and does not provide {plan.provides[at]!r}, as {PurePath(plan.path).name} does"
        fix = "add it, or say under Deviations why not and write status: partial"
        yield violation("tree/provides-dropped", summary.path, line, message, fix)
