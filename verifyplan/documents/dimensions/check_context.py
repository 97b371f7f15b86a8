"""The plan check's input (plans, their tasks and graph, the files beside them) and its result (issues, dimensions)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from verifyplan.documents.checks.catalogue import filled, rule_rows
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
from verifyplan.documents.reading.comparing import meaningful_words, phase_number, plan_key
from verifyplan.documents.walk import Unread

DimensionState = Literal["checked", "needs-judgement", "not-applicable"]
TaskKind = Literal["work", "tests-first", "checkpoint", "manual"]

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
"""The nine dimensions; a report writes their numbers as D1-D9."""

MAX_COMPARED = 100
"""Tasks, and links or artifacts, of one plan that are compared with each other: nobody plans more, and a hostile text
would take minutes."""
MAX_TASKS, MAX_TASK_CHARACTERS = 1_000, 40_000
"""Tasks of a plan that are read, and characters of the text of one."""
_TEXT_ELEMENTS = frozenset(
    {"name", "files", "action", "verify", "done", "behavior", "implementation", "what-built", "how-to-verify"}
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_DOTTED = re.compile(r"(?<!\w)[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)+")
_CODE = re.compile(r"`([^`\n]{1,300})`")


class IssueRule(NamedTuple):
    """A rule of the plan check: its dimension and id, how much it weighs, and what an issue of it says."""

    dimension: int
    id: str
    severity: IssueSeverity
    message: str
    fix: str


ISSUE_RULES = {
    row["id"]: IssueRule(**row | {"dimension": int(row["dimension"])})
    for row in rule_rows("verifyplan.documents.dimensions", "issues.csv")
}
"""Every rule of the plan check by its id."""


class Issue(NamedTuple):
    """One thing that is wrong with a plan: how badly, where, and what to do."""

    severity: IssueSeverity
    dimension: int
    plan_id: str  # or the name of the phase, where no single plan is at fault
    description: str
    fix: str
    path: str
    line: int
    rule: str  # the rule that is broken, such as "dependency-unknown"
    task: str = ""  # the name of the task, where one is at fault

    def in_report(self) -> PlanIssue:
        """Return the issue as a plan-check report has it."""
        return PlanIssue(self.plan_id, f"D{self.dimension}", self.severity, self.description, self.fix, line=self.line)

    def __str__(self) -> str:
        """Return the issue as its line in the report."""
        return issue_line(self.in_report()).removeprefix("- ")


class DimensionResult(NamedTuple):
    """One dimension: its issues, and what of it is left to a person or a model, or why it does not apply."""

    number: int
    state: DimensionState
    issues: tuple[Issue, ...] = ()
    judge: tuple[str, ...] = ()  # what must be judged
    why_not: str = ""

    @classmethod
    def of(cls, number: int, issues: Iterable[Issue], judge: Iterable[str] = ()) -> Self:
        """Return a dimension with its issues and with what is left to judge."""
        left = tuple(judge)
        return cls(number, "needs-judgement" if left else "checked", tuple(issues), left)

    @classmethod
    def not_applicable(cls, number: int, why_not: str) -> Self:
        """Return a dimension as one that does not apply."""
        return cls(number, "not-applicable", why_not=why_not)

    @property
    def name(self) -> str:
        """The dimension in words."""
        return NAMES[self.number]


def tasks_and_features(plan: PlanDocument) -> tuple[Task, ...]:
    """Return the tasks of a plan and, of plans with tests first, its `<feature>` elements, in their order.

    A plan in Markdown alone has none: what its headings and labels leave out may be in the text around.
    """
    elements = plan.source.elements
    tasks = plan.tasks if any(element.name == "task" for element in elements) else ()
    firsts = [element.first for element in elements]
    features = []
    for at, feature in enumerate(elements):
        if feature.name == "feature" and feature.depth == 0:
            following = elements[at + 1 : bisect_right(firsts, feature.last)]
            inner = (element for element in following if element.last <= feature.last and element.depth == 1)
            parts = tuple(TaskElement(element.name, element.text, element.first) for element in inner)
            features.append(Task(feature.first, feature.last, {"type": "feature"}, parts, feature.closed))
    return tuple(sorted((*tasks, *features), key=lambda task: task.line))


def task_kind(task: Task) -> TaskKind:
    """Return who does a task, and how: an agent, tests first, a person at a checkpoint, or a person by hand."""
    stated = (task.type or "").strip().lower()
    if stated == "feature":
        return "tests-first"
    if stated.startswith("checkpoint"):
        return "checkpoint"
    return "manual" if stated == "manual" else "work"


def must_have_entries(plan: PlanDocument, group: str) -> Iterator[tuple[int, Any]]:
    """Yield the must-haves of one list as they are in the frontmatter, each with its line."""
    front = plan.source.front
    must_haves = front.values.get("must_haves")
    entries = must_haves.get(group) if isinstance(must_haves, dict) else None
    for at, entry in enumerate(entries if isinstance(entries, list) else []):
        yield front.line("must_haves", group, at), entry


@dataclass(frozen=True)
class TaskInPlan:
    """A task, the position of its plan, and its label in a report: its id or number, and its name."""

    plan: int
    label: str
    task: Task

    @cached_property
    def text(self) -> str:
        """The text of its elements, as far as anyone would read."""
        spoken = (element.text for element in self.task.elements if element.name in _TEXT_ELEMENTS)
        return "\n".join(spoken)[:MAX_TASK_CHARACTERS]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words with meaning of its text."""
        return meaningful_words(self.text)

    @cached_property
    def code_names(self) -> frozenset[str]:
        """The names of code in its text: the parts of dotted names, and of code in backticks."""
        pieces = (*_DOTTED.findall(self.text), *_CODE.findall(self.text))
        return frozenset(name for text in pieces for name in _NAME.findall(text))

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it names."""
        return self.task.files


@dataclass(frozen=True)
class PlanCheckContext:
    """Plans of one or several phases, and the facts beside them; a check reads nothing else.

    `phases_whole`: whether all plans of their phases are here. `other_plans`: the keys of plans of other phases;
    `all_phases`: whether there are no others. `contexts`, and in `required` the requirements, by the folder of the
    phase; `known`: the words of the documents that state requirements; None without any. `files`: the repository's
    files; None if unknown, and `no_files` says why. `unread`: plans that could not be read. `only`: the path of the
    plan that alone is reported on.
    """

    plans: tuple[PlanDocument, ...]
    phases_whole: bool = True
    all_phases: bool = False
    other_plans: frozenset[str] = frozenset()
    contexts: Mapping[str, PhaseContext] = field(default_factory=dict)
    required: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: frozenset[str] | None = None
    files: frozenset[str] | None = None
    no_files: str = ""
    unread: tuple[Unread, ...] = ()
    only: str | None = None

    @cached_property
    def graph(self) -> PlanGraph:
        """The plans' dependencies and waves."""
        return plan_graph(self.plans)

    @cached_property
    def tasks(self) -> tuple[tuple[TaskInPlan, ...], ...]:
        """For each plan its tasks."""
        return tuple(
            tuple(
                TaskInPlan(at, _label(task, number), task)
                for number, task in enumerate(tasks_and_features(plan)[:MAX_TASKS], 1)
            )
            for at, plan in enumerate(self.plans)
        )

    def compared_tasks(self, plan: int) -> tuple[TaskInPlan, ...]:
        """Return the tasks of a plan that are compared with its links and artifacts."""
        return self.tasks[plan][:MAX_COMPARED]

    @cached_property
    def shown_ids(self) -> tuple[str, ...]:
        """The id of each plan in a report: where two milestones have it, behind the folder of its phases."""
        count = Counter(node.plan_id for node in self.graph.nodes)
        return tuple(
            node.plan_id if count[node.plan_id] == 1 else f"{Path(phases_folder(plan)).name}/{node.plan_id}".lstrip("/")
            for node, plan in zip(self.graph.nodes, self.plans, strict=True)
        )

    @cached_property
    def phases(self) -> Mapping[str, tuple[int, ...]]:
        """For each phase the positions of its plans."""
        phases: dict[str, list[int]] = {}
        for at, node in enumerate(self.graph.nodes):
            phases.setdefault(node.phase, []).append(at)
        return {phase: tuple(positions) for phase, positions in phases.items()}

    @cached_property
    def others_known(self) -> bool:
        """Whether the plans that are here are all plans."""
        own = {plan_key(node.plan_id, node.phase) for node in self.graph.nodes}
        return self.phases_whole and (self.all_phases or self.other_plans <= own)

    @cached_property
    def phase_numbers(self) -> frozenset[str]:
        """The numbers of the phases that are known, with or without their plans."""
        own = {phase_number(phase_of(plan)) for plan in self.plans}
        return frozenset(own | {key.partition("-")[0] for key in self.other_plans})

    def folder(self, phase: str) -> str:
        """Return the folder that has the plans of a phase."""
        return folder_of(self.plans[self.phases[phase][0]])

    @cached_property
    def reported(self) -> tuple[int, ...]:
        """The positions of the plans that are reported on."""
        return tuple(at for at, plan in enumerate(self.plans) if self.only in (None, plan.path))

    def line(self, plan: int, field: str, *path: str | int) -> int:
        """Return the line of a field of a plan's frontmatter, under the name that its form has for it."""
        document = self.plans[plan]
        return document.source.front.line(document.the_form.key(document.source, field), *path)

    def of_plan(self, plan: int, rule: str, line: int, /, **values: Any) -> Issue:
        """Return an issue of one plan: what its rule says, filled in with values; `severity` replaces the rule's."""
        path, name = self.plans[plan].path, self.shown_ids[plan]
        return self.issue(name, path, line, rule, **values)

    def of_task(self, task: TaskInPlan, rule: str, element: str, /, **values: Any) -> Issue:
        """Return an issue of one task, at the line of an element of it, or of the task where it has none."""
        line = (task.task.get(element) or task.task).line
        return self.of_plan(task.plan, rule, line, task=task.label, **values)

    def of_phase(self, phase: str, rule: str, /, **values: Any) -> Issue:
        """Return an issue of a phase, for which no single plan is to blame, at the head of the phase's first plan."""
        document = self.plans[self.phases[phase][0]]
        return self.issue(phase or name_of(document), document.path, 1, rule, **values)

    def issue(self, plan_id: str, path: str, line: int, rule: str, /, **values: Any) -> Issue:
        """Return an issue of a plan or phase by its name."""
        broken = ISSUE_RULES[rule]
        message, fix = (filled(broken, name, values) for name in ("message", "fix"))
        severity: IssueSeverity = values.get("severity", broken.severity)
        return Issue(severity, broken.dimension, plan_id, message, fix, path, line, rule, values.get("task", ""))


def _label(task: Task, number: int) -> str:
    name = task.name or "unnamed"
    if task.id:
        return f"{task.id} {name}"
    return name if name.lower().startswith(f"task {number}") else f"{number}. {name}"
