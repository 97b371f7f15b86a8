"""Plans among each other: their ids, what they depend on, what they consume (rule D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.execution_summary import ExecutionSummary, TaskResult
from verifyplan.documents.kinds.plan import PlanDocument, Task
from verifyplan.documents.loading import read_text
from verifyplan.documents.reading.comparing import id_in_name, phase_number, plan_key, unmatched, wording
from verifyplan.documents.reading.document import CONTRACT
from verifyplan.documents.tree import Phase, Tree
from verifyplan.errors import InputError


def check_plans(tree: Tree) -> Iterator[Violation]:
    """Plan ids that are used twice in a phase, and dependencies and consumed items that no plan answers.

    A dependency may name a plan of its milestone by its id, within its phase also by its number alone, or a phase;
    what a plan consumes may come from an earlier milestone. Of a folder that is not a whole `.planning`, what may lie
    outside of it is not asked. Source: document 003, Planner -> Executor.
    """
    for phases in tree.milestones.values():
        known = frozenset(phase.key_of(plan) for phase in phases for plan in phase.plans)
        names = frozenset(name for phase in phases for name in _phase_names(phase))
        for phase in phases:
            yield from _check_plan_ids(phase)
            for plan in phase.plans:
                for at, name in enumerate(plan.depends_on):
                    if not _is_known(name, phase, known, names, whole=tree.whole):
                        yield _unknown_dependency(plan, at, name, phase)
    provided = frozenset(wording(item) for plan in tree.of(PlanDocument) for item in plan.provides)
    for plan in tree.of(PlanDocument) if tree.whole else ():
        yield from _check_consumed(plan, provided)


def _check_plan_ids(phase: Phase) -> Iterator[Violation]:
    first: dict[str, PlanDocument] = {}
    for plan in phase.plans:
        before = first.setdefault(phase.key_of(plan), plan)
        if before is not plan:
            message = (
                f"the plan's id {plan.plan or id_in_name(plan.path)!r} is that of {PurePath(before.path).name}, too"
            )
            line = plan.source.front.line("plan")
            yield violation("tree/plan-id-repeated", plan.path, line, message, "give each plan an id of its own")


def _is_known(name: str, phase: Phase, known: frozenset[str], phases: frozenset[str], *, whole: bool) -> bool:
    stem = id_in_name(name) if name.endswith(".md") else name
    key = plan_key(stem, phase.name)
    named = wording(stem.casefold().removeprefix("phase"))
    if key in known or named in phases:
        return True
    here = phase_number(phase.name)
    return not whole and not (here and key.startswith(f"{here}-"))


def _phase_names(phase: Phase) -> Iterator[str]:
    """What a dependency may call a phase: its folder, its number."""
    yield wording(phase.name)
    number = phase_number(phase.name)
    if number:
        yield wording(number)
        yield wording(phase.name.partition("-")[0])


def _unknown_dependency(plan: PlanDocument, at: int, name: str, phase: Phase) -> Violation:
    message = f"depends on {name!r}, which is no plan of its milestone"
    beside = [other.plan or id_in_name(other.path) for other in phase.plans[:_SHOWN] if other is not plan]
    fix = f"name a plan by its id, as {', '.join(beside) or '01-01'}, or take it out"
    return violation("tree/dependency-unknown", plan.path, plan.source.front.line("depends_on", at), message, fix)


_SHOWN = 8


def _check_consumed(plan: PlanDocument, provided: frozenset[str]) -> Iterator[Violation]:
    for at, item in enumerate(plan.consumes):
        if wording(item) not in provided:
            message = f"consumes {item!r}, which no plan of the tree provides"
            line = plan.source.front.line("consumes", at)
            fix = "name it as the plan that provides it does; leave it if it was there before"
            yield violation("tree/consumed-unprovided", plan.path, line, message, fix)


_WORD = re.compile(r"[\w.-]+")


def check_requirements(tree: Tree) -> Iterator[Violation]:
    """Requirement ids that neither a REQUIREMENTS file of the tree names nor another of its overviews (ROADMAP ...).

    Without a REQUIREMENTS file nothing is asked, and neither of a small task under quick/. Source: rule D3.
    """
    if not any(PurePath(path).stem.upper().endswith("REQUIREMENTS") for path in tree.others):
        return
    known = frozenset(word.strip(".-") for path in tree.others for word in _WORD.findall(_read(path)))
    for plan in tree.of(PlanDocument):
        if plan.form == "quick":
            continue
        for at, name in enumerate(plan.requirement_ids):
            if name.strip() not in known:
                yield _unknown_requirement(plan, at, name)


def _read(path: str) -> str:
    try:
        return read_text(Path(path))
    except InputError:  # it was read a moment ago; what cannot be read now names nothing
        return ""


def _unknown_requirement(plan: PlanDocument, at: int, name: str) -> Violation:
    message = f"requirement {name!r} stands in no REQUIREMENTS file or overview of the tree"
    key = plan.the_form.key(plan.source, "requirement_ids")
    line = plan.source.front.line(key, at)
    return violation(
        "tree/requirement-unknown", plan.path, line, message, "name a requirement that is there, or add it"
    )


MAX_TASKS = 200
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
    tasks = plan.tasks[:MAX_TASKS]
    for result in summary.task_results[:MAX_TASKS] if tasks and summary.form == "contract" else ():
        if result.task.strip("`* -") and planned_task(result, tasks) is None:
            message = f"{result.task[:80]!r} is no task of {PurePath(plan.path).name}"
            fix = "write the task's id as the plan does; tell what was done besides under Deviations"
            yield violation("tree/task-unknown", summary.path, result.line, message, fix)


def _check_untold(plan: PlanDocument, summary: ExecutionSummary) -> Iterator[Violation]:
    """Tasks of the plan that a complete summary's table leaves out; asked where both are of the contract's form."""
    told = [planned_task(result, plan.tasks[:MAX_TASKS]) for result in summary.task_results[:MAX_TASKS]]
    contract = plan.form == CONTRACT.name and summary.form == CONTRACT.name
    if not contract or summary.table is None or summary.status != "complete" or None in told:
        return
    for task in plan.tasks[:MAX_TASKS]:
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
