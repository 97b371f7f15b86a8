"""What a plan asks to be done: its tasks, and the features of plans in which tests come first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal

from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.tasks import Task, TaskElement
from verifyplan.plans.elements import Element

TaskKind = Literal["work", "tests-first", "checkpoint", "manual"]

SPOKEN = ("name", "files", "action", "verify", "done", "behavior", "implementation", "what-built", "how-to-verify")
"""The elements whose words say what a task is about."""


def all_tasks(plan: PlanDocument) -> tuple[Task, ...]:
    """The tasks of a plan and, in the form for plans with tests first, its `<feature>` elements, in their order.

    Of a plan in Markdown alone there are none: what its headings and labels leave out may stand in the text around.
    """
    elements = plan.source.elements
    tasks = plan.tasks if any(element.name == "task" for element in elements) else ()
    firsts = [element.first for element in elements]
    features = (
        Task(
            element.first,
            element.last,
            {"type": "feature"},
            tuple(_within(element, elements[at + 1 : bisect_right(firsts, element.last)])),
            element.closed,
        )
        for at, element in enumerate(elements)
        if element.name == "feature" and element.depth == 0
    )
    return tuple(sorted((*tasks, *features), key=lambda job: job.line))


def task_kind(job: Task) -> TaskKind:
    """Who does it, and how: an agent, tests first, a person at a checkpoint, or a person by hand."""
    stated = (job.type or "").strip().lower()
    if stated == "feature":
        return "tests-first"
    if stated.startswith("checkpoint"):
        return "checkpoint"
    return "manual" if stated == "manual" else "work"


def label(job: Task, number: int) -> str:
    """What a task is called in a report: its id, its number and its name.

    Numbers are those of the plan, from 1.
    """
    name = job.name or "unnamed"
    if job.id:
        return f"{job.id} {name}"
    return name if name.lower().startswith(f"task {number}") else f"{number}. {name}"


def spoken(job: Task) -> str:
    """All that a task says."""
    return "\n".join(element.text for element in job.elements if element.name in SPOKEN)


def _within(feature: Element, following: Sequence[Element]) -> Iterator[TaskElement]:
    """The elements of a feature, not those within them."""
    for element in following:
        if element.last <= feature.last and element.depth == feature.depth + 1:
            yield TaskElement(element.name, element.text, element.first)
