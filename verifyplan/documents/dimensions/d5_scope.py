"""D5, scope: a plan is small enough to be executed well in one go."""

from __future__ import annotations

from collections.abc import Iterator

from verifyplan.documents.dimensions.issue import Dimension, Issue
from verifyplan.documents.dimensions.jobs import all_tasks
from verifyplan.documents.dimensions.scene import IssueFactory, PlanCheckContext

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
