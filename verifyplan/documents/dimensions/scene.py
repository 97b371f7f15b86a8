"""All that a plan check looks at: plans, their graph, and what is known beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from verifyplan.documents.dimensions.context import PhaseContext
from verifyplan.documents.dimensions.graph import PlanGraph, plan_graph
from verifyplan.documents.dimensions.issue import Issue, IssueSeverity
from verifyplan.documents.dimensions.jobs import all_tasks, label, spoken
from verifyplan.documents.dimensions.names import folder_of, name_of, phase_of, phases_folder
from verifyplan.documents.dimensions.wording import meaningful_words
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.plan_ids import phase_number, plan_key
from verifyplan.documents.reading.tasks import Task
from verifyplan.documents.walk import Unread

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
