"""D5, scope: a plan is small enough to be executed well in one go."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from verifyplan.documents.dimensions.issue import Dimension, Issue, IssueSeverity, quoted
from verifyplan.documents.dimensions.jobs import kind_of_job
from verifyplan.documents.dimensions.scene import Against, Scene
from verifyplan.words import counted

NUMBER = 5

MANY_TASKS, TOO_MANY_TASKS = 4, 5
"""Tasks of a plan from which on it gets a warning, a blocker; 2-3 are the target."""
MANY_FILES, TOO_MANY_FILES = 10, 15
"""Files of a plan from which on it gets a warning, a blocker; 5-8 are the target."""
MANY_FILES_OF_A_TASK = 10
"""Files of one task from which on it gets a warning."""
MANY_DEPENDENCIES = 4
"""Plans that a plan depends on, from which on it gets a warning.

Source of the limits: the public plan checkers of GSD (dimension 5, "Scope Sanity": tasks 2-3, 4, 5+; files 5-8, 10,
15+; a task with 10+ files) and of plan-build-run (more than 3 dependencies; a checkpoint is the last task).
"""


def scope(scene: Scene) -> Dimension:
    """Count the tasks, files and dependencies of each plan and the files of each task against limits.

    Checkpoints count as tasks. Files are those that the plan or any task names, each once.
    Source: SPEC D4; the limits as said beside them.
    """
    against = Against(scene, NUMBER)
    issues = [issue for at in range(len(scene.plans)) for issue in _plan(against, at)]
    return Dimension(NUMBER, "checked", tuple(issues))


def _plan(against: Against, at: int) -> Iterator[Issue]:
    plan, jobs = against.scene.plans[at], against.scene.jobs[at]
    files = dict.fromkeys((*plan.files_modified, *(file for job in jobs for file in job.files)))
    tasks = max(len(jobs), len(plan.tasks))  # of very many not all are looked at
    if severity := _over(tasks, MANY_TASKS, TOO_MANY_TASKS):
        told = f"the plan has {tasks:,} tasks; 2-3 are the target, from {TOO_MANY_TASKS} on it cannot be executed well"
        first = jobs[MANY_TASKS - 1].task.line
        yield against.plan(at, severity, "many-tasks", first, told, "split the plan")
    if severity := _over(len(files), MANY_FILES, TOO_MANY_FILES):
        told = f"the plan touches {len(files)} files; 5-8 are the target, from {TOO_MANY_FILES} on it is too much"
        line = against.scene.line(at, "files_modified")
        yield against.plan(at, severity, "many-files", line, told, "split the plan along its files")
    if len(plan.depends_on) >= MANY_DEPENDENCIES:
        told = f"the plan depends on {counted(len(plan.depends_on), 'plan')}; up to {MANY_DEPENDENCIES - 1} are usual"
        line = against.scene.line(at, "depends_on")
        fix = "depend on the last of them alone, or split the plan"
        yield against.plan(at, "warning", "many-dependencies", line, told, fix)
    yield from _jobs(against, at)


def _jobs(against: Against, at: int) -> Iterator[Issue]:
    jobs = against.scene.jobs[at]
    for job in jobs:
        if len(job.files) >= MANY_FILES_OF_A_TASK:
            told = f"task {quoted(job.label)} touches {len(job.files)} files"
            yield against.job(job, "warning", "task-many-files", "files", told, "split the task")
    for job, following in pairwise(jobs):
        waits, goes_on = kind_of_job(job.task) == "checkpoint", kind_of_job(following.task) == "work"
        if waits and goes_on:
            told = f"work goes on after checkpoint {quoted(job.label)}; whoever executes the plan must wait within it"
            fix = "put the checkpoint at the end, and what comes after it into a plan of its own"
            yield against.job(job, "info", "checkpoint-within", "", told, fix)
            return


def _over(number: int, many: int, too_many: int) -> IssueSeverity | None:
    if number >= too_many:
        return "blocker"
    return "warning" if number >= many else None
