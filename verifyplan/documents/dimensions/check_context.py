"""All that a plan check looks at: plans, their graph, and what is known beside them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from verifyplan.documents.dimensions.overlap import meaningful_words
from verifyplan.documents.dimensions.phase_documents import PhaseContext
from verifyplan.documents.dimensions.plan_graph import (
    PlanGraph,
    folder_of,
    name_of,
    phase_of,
    phases_folder,
    plan_graph,
)
from verifyplan.documents.kinds.plan import PlanDocument, Task, TaskElement
from verifyplan.documents.kinds.plan_check_report import IssueSeverity as IssueSeverity
from verifyplan.documents.kinds.plan_check_report import PlanIssue, issue_line
from verifyplan.documents.reading.comparing import phase_number, plan_key
from verifyplan.documents.walk import Unread
from verifyplan.plans.markup import Element

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


DimensionState = Literal["checked", "needs-judgement", "not-applicable"]

NAMES: dict[int, str] = {
    1: "requirement coverage",
    2: "task completeness",
    3: "dependency correctness",
    4: "key links",
    5: "scope",
    6: "must-haves",
    7: "context compliance",
    8: "verifiability",
    9: "contracts across plans",
}
"""The nine dimensions of document 003; their numbers are written D1-D9 in its report, and only there."""

MAX_QUOTED_CHARACTERS = 100
"""Letters of a plan's own words within a description: a report is read line by line."""


class Issue(NamedTuple):
    """One thing that is wrong with a plan: how badly, where, and what to do."""

    severity: IssueSeverity
    dimension: int
    plan_id: str  # or the name of the phase, where no single plan is at fault
    description: str
    fix: str
    path: str
    line: int
    rule: str  # what was held against it, such as "dependency-unknown"
    task: str = ""  # the name of the task, where one is at fault

    def in_report(self) -> PlanIssue:
        """The issue as document 003's report has it."""
        return PlanIssue(self.plan_id, f"D{self.dimension}", self.severity, self.description, self.fix, line=self.line)

    def __str__(self) -> str:
        """The issue as its line in the report."""
        return issue_line(self.in_report()).removeprefix("- ")


class Dimension(NamedTuple):
    """One dimension: what was found, and what of it is left to a person or a model, or why it does not apply."""

    number: int
    state: DimensionState
    issues: tuple[Issue, ...] = ()
    judge: tuple[str, ...] = ()  # what must be judged
    why_not: str = ""

    @property
    def name(self) -> str:
        """The dimension in words."""
        return NAMES[self.number]


def quoted(text: str) -> str:
    """A plan's own words on one line, in quotation marks, cut where they are long.

    >>> quoted("the  login works")
    '"the login works"'
    """
    line = " ".join(text.split())
    return f'"{line if len(line) <= MAX_QUOTED_CHARACTERS else line[: MAX_QUOTED_CHARACTERS - 1].rstrip() + "…"}"'


_NAME = re.compile(r"[A-Za-z_]\w*")
_DOTTED = re.compile(r"(?<!\w)[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)+")
_CODE = re.compile(r"`([^`\n]{1,300})`")
MAX_COMPARED = 100
"""Tasks, and links or artifacts, of one plan that are held against each other: nobody plans more, and a hostile text
would take minutes."""
MAX_TASKS, MAX_TASK_CHARACTERS = 1_000, 40_000
"""Tasks of a plan that are looked at, and characters of what one of them says."""


@dataclass(frozen=True)
class TaskInPlan:
    """A task of a plan: whose it is, what it is called, and itself."""

    plan: int
    label: str
    task: Task

    @cached_property
    def text(self) -> str:
        """What it says, as far as anyone would read."""
        return spoken(self.task)[:MAX_TASK_CHARACTERS]

    @cached_property
    def meaning(self) -> frozenset[str]:
        """The words with meaning of all that it says."""
        return meaningful_words(self.text)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of code that it says: the parts of dotted names, and what stands in backticks."""
        said = (*_DOTTED.findall(self.text), *_CODE.findall(self.text))
        return frozenset(name for text in said for name in _NAME.findall(text))

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files that it names."""
        return self.task.files


@dataclass(frozen=True)
class PlanCheckContext:
    """Plans of one or several phases, and what is known beside them; nothing else is looked at.

    `phases_whole`: whether all plans of their phases are here. `elsewhere`: the keys of plans of other phases;
    `all_phases`: whether there are no others. `contexts`, and in `required` the requirements, by the folder of the
    phase; `known`: the words of the documents that state requirements; None without any. `files`: the repository's
    files; None if unknown, and `no_files` says why. `unread`: plans that could not be read. `about`: the path of the
    plan that alone is asked about.
    """

    plans: tuple[PlanDocument, ...]
    phases_whole: bool = True
    all_phases: bool = False
    elsewhere: frozenset[str] = frozenset()
    contexts: Mapping[str, PhaseContext] = field(default_factory=dict)
    required: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: frozenset[str] | None = None
    files: frozenset[str] | None = None
    no_files: str = ""
    unread: tuple[Unread, ...] = ()
    about: str | None = None

    @cached_property
    def graph(self) -> PlanGraph:
        """The plans' dependencies and waves."""
        return plan_graph(self.plans)

    @cached_property
    def jobs(self) -> tuple[tuple[TaskInPlan, ...], ...]:
        """For each plan its tasks."""
        return tuple(
            tuple(
                TaskInPlan(at, label(task, number), task) for number, task in enumerate(all_tasks(plan)[:MAX_TASKS], 1)
            )
            for at, plan in enumerate(self.plans)
        )

    @cached_property
    def shown_ids(self) -> tuple[str, ...]:
        """The id of each plan as a reader finds it: where two milestones have it, behind the folder of its phases."""
        count = Counter(node.plan_id for node in self.graph.nodes)
        return tuple(
            node.plan_id if count[node.plan_id] == 1 else f"{Path(phases_folder(plan)).name}/{node.plan_id}".lstrip("/")
            for node, plan in zip(self.graph.nodes, self.plans, strict=True)
        )

    def compared(self, plan: int) -> tuple[TaskInPlan, ...]:
        """The tasks of a plan that its links and artifacts are held against."""
        return self.jobs[plan][:MAX_COMPARED]

    @cached_property
    def phases(self) -> Mapping[str, tuple[int, ...]]:
        """For each phase the positions of its plans."""
        found: dict[str, list[int]] = {}
        for at, node in enumerate(self.graph.nodes):
            found.setdefault(node.phase, []).append(at)
        return {phase: tuple(positions) for phase, positions in found.items()}

    @cached_property
    def others_known(self) -> bool:
        """Whether there are no plans but those that are here."""
        own = {plan_key(node.plan_id, node.phase) for node in self.graph.nodes}
        return self.phases_whole and (self.all_phases or self.elsewhere <= own)

    @cached_property
    def phase_numbers(self) -> frozenset[str]:
        """The numbers of the phases that are known, with or without their plans."""
        own = {phase_number(phase_of(plan)) for plan in self.plans}
        return frozenset(own | {key.partition("-")[0] for key in self.elsewhere})

    def folder(self, phase: str) -> str:
        """The folder that the plans of a phase lie in."""
        return folder_of(self.plans[self.phases[phase][0]])

    @cached_property
    def asked(self) -> tuple[int, ...]:
        """The positions of the plans that are asked about."""
        return tuple(at for at, plan in enumerate(self.plans) if self.about in (None, plan.path))

    def each_job(self) -> Iterator[TaskInPlan]:
        """The tasks of all plans."""
        for jobs in self.jobs:
            yield from jobs

    def line(self, plan: int, *path: str | int) -> int:
        """The line of a field of a plan's frontmatter, under the name that its form has for it."""
        document = self.plans[plan]
        name, *rest = path
        return document.source.front.line(document.the_form.key(document.source, str(name)), *rest)


@dataclass(frozen=True)
class IssueFactory:
    """Makes the issues of one dimension of one scene, each with the line that it stands in."""

    scene: PlanCheckContext
    dimension: int

    def plan(
        self, plan: int, severity: IssueSeverity, rule: str, line: int, description: str, fix: str, task: str = ""
    ) -> Issue:
        """An issue of one plan."""
        document = self.scene.plans[plan]
        name = self.scene.shown_ids[plan]
        return Issue(severity, self.dimension, name, description, fix, document.path, line, rule, task)

    def job(
        self, job: TaskInPlan, severity: IssueSeverity, rule: str, element: str, description: str, fix: str
    ) -> Issue:
        """An issue of one task, at the line of an element of it, or of the task where it has no such element."""
        found = job.task.get(element)
        line = found.line if found else job.task.line
        return self.plan(job.plan, severity, rule, line, description, fix, job.label)

    def phase(self, phase: str, severity: IssueSeverity, rule: str, description: str, fix: str) -> Issue:
        """An issue of a phase, of which no single plan is guilty; it stands at the head of the phase's first plan."""
        document = self.scene.plans[self.scene.phases[phase][0]]
        name = phase or name_of(document)
        return Issue(severity, self.dimension, name, description, fix, document.path, 1, rule)
