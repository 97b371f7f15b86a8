"""Plan: what an executor is to do, task by task, and what must be true afterwards (rule D1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from pydantic import Field, InstanceOf

from verifyplan.documents.reading.body import DocumentSection
from verifyplan.documents.reading.comparing import phase_number
from verifyplan.documents.reading.document import Document, DocumentKind, Form, RequiredField
from verifyplan.documents.reading.front import Front, flag_of, text_of, value_of
from verifyplan.documents.reading.phrases import labelled_texts
from verifyplan.documents.reading.source import Source
from verifyplan.plans.code_names import is_path
from verifyplan.plans.prose import XmlElement

MustHaveKind = Literal["truth", "artifact", "key_link"]

MUST_HAVES: dict[str, MustHaveKind] = {"truths": "truth", "artifacts": "artifact", "key_links": "key_link"}
"""The three lists of must-haves, and the kind of an item of each."""

IMPLIED_MODEL = {"simple": "haiku", "medium": "sonnet", "complex": "inherit"}
"""The model that a task's complexity implies; "inherit" is the one that runs the executor."""

TASK_TYPES = ("auto", "tdd", "checkpoint:human-verify", "checkpoint:decision", "checkpoint:human-action")
TASK_ELEMENTS = ("name", "files", "action", "verify", "done")
NEWER_ELEMENTS = ("read_first", "acceptance_criteria")
"""The two elements that a task of the newer form has besides the five."""

_TWO_NUMBERS = re.compile(r"\d{1,6}(?:\.\d{1,6})?-\d{1,6}[a-z]?", re.ASCII)
_COMMA = re.compile(r",(?![^{}]{0,200}\})")  # commas within braces belong to a glob
_TASK_TAGS = frozenset({"task", "feature"})
_TASK_TITLE = re.compile(
    r"Task\s{1,4}\d{1,3}[a-z]?\s{0,4}[:.)\N{EN DASH}\N{EM DASH}-]\s{0,4}(?P<name>\S.*)", re.IGNORECASE
)
_ELEMENT_LABELS = {
    **dict.fromkeys(("file", "files", "files modified"), "files"),
    **dict.fromkeys(("action", "actions", "steps"), "action"),
    **dict.fromkeys(("verify", "verification", "verification command", "verification commands"), "verify"),
    **dict.fromkeys(("done", "done when", "acceptance criteria", "expected outcome"), "done"),
}
_REQUIREMENTS = {"requirement_ids": ("requirements", "requirement", "implements")}


class TaskElement(NamedTuple):
    """An element of a task: its name, its text as it is written, and the line of its tag."""

    name: str
    text: str
    line: int


class Task(NamedTuple):
    """A task of a PLAN document; `line` and `last` are those of its tags.

    `elements` are all elements within it, in their order, also those within others, as <automated> in <verify>.
    """

    line: int
    last: int
    attributes: dict[str, str]
    elements: tuple[TaskElement, ...]
    closed: bool = True

    def get(self, name: str) -> TaskElement | None:
        """Return the first element of a name; None without one."""
        return next((element for element in self.elements if element.name == name), None)

    def text(self, name: str) -> str:
        """Return the text of the first element of a name, without blanks around it; empty without one."""
        element = self.get(name)
        return element.text.strip() if element else ""

    @property
    def id(self) -> str | None:
        """The task's id; None without one."""
        return self.attributes.get("id")

    @property
    def type(self) -> str | None:
        """The type as it is written; None without one."""
        return self.attributes.get("type")

    @property
    def complexity(self) -> str | None:
        """The complexity as it is written; None without one."""
        return self.attributes.get("complexity")

    @property
    def implied_model(self) -> str | None:
        """The model that the complexity implies; None without one of the three complexities."""
        return IMPLIED_MODEL.get(self.complexity or "")

    @property
    def tdd(self) -> bool | None:
        """Whether tests come first; None where the task states neither true nor false."""
        return {"true": True, "false": False}.get(self.attributes.get("tdd", "").casefold())

    @property
    def name(self) -> str:
        """The task's name in one line; empty without one."""
        return " ".join(self.text("name").split())

    @property
    def files(self) -> tuple[str, ...]:
        """The paths that the task names, one a line or separated by commas, without bullets and backticks."""
        return tuple(path for _, path in files_of(self))


def files_of(task: Task) -> Iterator[tuple[int, str]]:
    """Yield the paths that a task names, each with its line."""
    element = task.get("files")
    for number, line in enumerate(element.text.split("\n"), element.line) if element else ():
        for piece in _COMMA.split(line):
            path = piece.strip().removeprefix("- ").strip("` \t").removeprefix("@")
            if path:
                yield number, path


def read_tasks(source: Source) -> tuple[Task, ...]:
    """Return the tasks of a document in their order; a task within a task is a separate one, with its own elements.

    A task that never closes reaches to the end of what is read. A plan in Markdown alone has a task under each heading
    that says so ("### Task 1: ..."), with its files, check and outcome behind labels.
    """
    if not any(element.name in _TASK_TAGS for element in source.elements):
        return tuple(_tasks_under_headings(source))
    tasks: list[tuple[XmlElement, list[TaskElement]]] = []
    outer: list[int] = []  # places in `tasks` of the tasks that may contain the next element, innermost last
    for element in source.elements:
        while outer and not _is_within(element, tasks[outer[-1]][0]):
            outer.pop()
        if element.name == "task":
            outer.append(len(tasks))
            tasks.append((element, []))
        elif outer:
            lines = element.text.split("\n")
            if len(lines) > 1:  # code and comments are blank where elements are read
                lines = [lines[0], *source.lines[element.first : element.last - 1], lines[-1]]
            tasks[outer[-1]][1].append(TaskElement(element.name, "\n".join(lines), element.first))
    return tuple(Task(e.first, e.last, e.attributes, tuple(inner), e.closed) for e, inner in tasks)


def _is_within(element: XmlElement, task: XmlElement) -> bool:
    return element.depth > task.depth and element.last <= task.last


def _tasks_under_headings(source: Source) -> Iterator[Task]:
    for section in source.sections:
        title = _TASK_TITLE.match(section.title)
        if title:
            labelled = labelled_texts(source.lines_of(section), _ELEMENT_LABELS)
            name = TaskElement("name", title["name"].strip(), section.first)
            inner = [TaskElement(element, text.text, text.line) for element, text in labelled.items() if text.text]
            yield Task(section.first, section.last, {}, (name, *inner))


class MustHave(NamedTuple):
    """Something that must hold when a plan is done; `path` is the file it is about, empty where it names none."""

    text: str
    kind: MustHaveKind
    line: int
    path: str = ""


class MustHaves(NamedTuple):
    """The must-haves of a plan: observable truths, files, and connections between them."""

    truths: tuple[MustHave, ...] = ()
    artifacts: tuple[MustHave, ...] = ()
    key_links: tuple[MustHave, ...] = ()

    def all(self) -> tuple[MustHave, ...]:
        """Return truths, then artifacts, then key links."""
        return self.truths + self.artifacts + self.key_links


class PlanDocument(Document):
    """A plan as a planner hands it to an executor.

    `plan` is its id as text: "01" of phase "13-backend" is "13-01". `summary` is its closing section.
    """

    FORMS = (
        Form(
            "quick",
            "a plan of a small task beside the phases, under quick/",
            seen_by=("folder:quick",),
            unless=("front:provides", "front:consumes"),
            aliases=_REQUIREMENTS,
        ),
        Form(
            "feature",
            "a plan of type tdd: one <feature> with <behavior> and <implementation> in the place of tasks",
            seen_by=("element:feature",),
            aliases=_REQUIREMENTS,
        ),
        Form(
            "objective",
            "a plan with <objective> and <tasks>, requirements, and artifacts and key links of several fields",
            seen_by=("element:objective", "element:execution_context"),
            aliases=_REQUIREMENTS,
        ),
        Form(
            "autonomous",
            "a plan with type and autonomous, whose ids are names, and whose tasks have no attributes",
            seen_by=("front:autonomous",),
            aliases=_REQUIREMENTS,
        ),
        Form(
            "headed",
            "a plan in Markdown alone, whose tasks are under headings or in lists",
            seen_by=("prose",),
            unless=("element:task", "front:must_haves", "front:wave", "front:depends_on", "front:provides"),
            aliases=_REQUIREMENTS,
        ),
    )
    FIELDS = (
        RequiredField("phase", "text"),
        RequiredField("plan", "text"),
        RequiredField("wave", "number"),
        RequiredField("depends_on", "texts", shape='[], or the ids of plans: ["01-01"]'),
        RequiredField("files_modified", "texts"),
        RequiredField("must_haves", "table", shape="truths, artifacts and key_links, indented, each a list"),
        RequiredField("provides", "texts"),
        RequiredField("consumes", "texts"),
        RequiredField("requirement_ids", "texts"),
    )

    kind: DocumentKind = "plan"
    phase: str | None = None
    plan: str | None = None
    wave: int | None = None
    depends_on: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    must_haves: MustHaves = MustHaves()
    provides: tuple[str, ...] = ()
    consumes: tuple[str, ...] = ()
    requirement_ids: tuple[str, ...] = ()
    gap_closure: bool = False
    objective: str = ""
    tasks: tuple[InstanceOf[Task], ...] = Field((), repr=False)
    summary: InstanceOf[DocumentSection] | None = None

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:  # noqa: ARG003  (all forms are read alike)
        """Return the typed fields of a plan."""
        front = source.front
        return {
            "plan": _plan_id(front),
            "must_haves": MustHaves(*(tuple(_must_haves(front, name)) for name in MUST_HAVES)),
            "gap_closure": flag_of(front, "gap_closure") or False,
            "objective": _objective(source),
            "tasks": read_tasks(source),
            "summary": source.section("Summary"),
        }


def _plan_id(front: Front) -> str | None:
    """Return the plan's id, with its phase's number where it is a number alone."""
    plan, phase = text_of(front, "plan"), text_of(front, "phase")
    if plan is None or not plan.isdecimal() or not phase:
        return plan
    number = phase.strip().partition("-")[0] if phase_number(phase) else ""
    return f"{number}-{plan}" if number else plan


def _objective(source: Source) -> str:
    """Return the text of <objective>, else of the section Objective or Goal; empty without any."""
    element = next((e for e in source.elements if e.name == "objective"), None)
    if element is not None:
        return element.text.strip()
    section = source.section("Objective") or source.section("Goal")
    return "\n".join(line for _, line in source.lines_of(section)).strip() if section else ""


def _must_haves(front: Front, group: str) -> Iterator[MustHave]:
    """Yield the must-haves of one of the three lists that say something; where `must_haves` is a list, it is truths."""
    flat = isinstance(front.values.get("must_haves"), list)
    place: tuple[str, ...] = ("must_haves",) if flat and group == "truths" else ("must_haves", group)
    items = value_of(front, *place)
    for at, item in enumerate(items if isinstance(items, list) else []):
        if isinstance(item, dict):
            text, path = _must_have_of_fields(item)
        else:
            text = text_of(front, *place, at) or ""
            path = named_path(text) if group != "truths" else ""
        if text.strip():
            yield MustHave(text, MUST_HAVES[group], front.line(*place, at), path)


def _must_have_of_fields(item: dict[str, Any]) -> tuple[str, str]:
    """Return text and path of a must-have of several fields, as `path` and `provides`, or `from`, `to` and `via`."""
    values = {name: value for name, value in item.items() if isinstance(value, str | int | float) and value != ""}
    if "from" in values or "to" in values:
        text = f"{values.get('from', '?')} -> {values.get('to', '?')}"
        return f"{text}: {values['via']}" if "via" in values else text, str(values.get("from", ""))
    path = str(values.get("path", ""))
    words = next((str(values[name]) for name in ("provides", "description", "text", "truth") if name in values), "")
    if not path and not words:
        return ", ".join(f"{name}: {value}" for name, value in values.items()), ""
    return ": ".join(part for part in (path, words) if part), path


def named_path(text: str) -> str:
    """Return the path that a must-have begins with, as in "src/auth.py: checks tokens"; empty without one.

    >>> named_path("src/auth.py: checks tokens"), named_path("src/index.js exists"), named_path("Dashboard works")
    ('src/auth.py', 'src/index.js', '')
    """
    first = text.strip()[:300].split(maxsplit=1)
    name = first[0].strip("`:,") if first else ""
    return name if is_path(name) else ""


def is_artifact(text: str) -> bool:
    """Whether an artifact begins with its file and a colon, and says something behind it.

    >>> is_artifact("src/auth.py: checks tokens"), is_artifact("middleware exists")
    (True, False)
    """
    head, colon, rest = text.partition(":")
    has_file = named_path(text) != "" or ("." in head and " " not in head.strip())
    return has_file and bool(colon and rest.strip())


def is_plan_id(plan: str, phase: str = "") -> bool:
    """Whether an id is two numbers, as "02-01", the first of them the phase's where the phase has one.

    >>> is_plan_id("02-01", "02-auth"), is_plan_id("03-01", "02-auth"), is_plan_id("auth-02")
    (True, False, False)
    """
    number = phase_number(phase)
    return bool(_TWO_NUMBERS.fullmatch(plan)) and (not number or phase_number(plan) == number)
