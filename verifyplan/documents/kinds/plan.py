"""Plan: what an executor is to do, task by task, and what must be true afterwards (document 003)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field, InstanceOf

from verifyplan.documents.reading.body import DocumentSection
from verifyplan.documents.reading.comparing import phase_number
from verifyplan.documents.reading.document import Document, Form, Kind
from verifyplan.documents.reading.front import Front, count_of, flag_of, text_of, texts_of, value_of
from verifyplan.documents.reading.phrases import labelled_texts
from verifyplan.documents.reading.source import Source
from verifyplan.plans.code_names import is_path
from verifyplan.plans.markup import Element

_COMMA = re.compile(r",(?![^{}]{0,200}\})")
"""A comma between paths; those within braces belong to a glob."""


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
        """The first element of a name; None if the task has none."""
        return next((element for element in self.elements if element.name == name), None)

    def text(self, name: str) -> str:
        """The text of the first element of a name, without blanks around it; empty if there is none."""
        element = self.get(name)
        return element.text.strip() if element else ""

    @property
    def id(self) -> str | None:
        """What the task calls itself; None if it has no id."""
        return self.attributes.get("id")

    @property
    def type(self) -> str | None:
        """The type as it is written; None if it states none."""
        return self.attributes.get("type")

    @property
    def complexity(self) -> str | None:
        """The complexity as it is written; None if it states none."""
        return self.attributes.get("complexity")

    @property
    def tdd(self) -> bool | None:
        """Whether tests come first; None where the task states neither true nor false."""
        return {"true": True, "false": False}.get(self.attributes.get("tdd", "").casefold())

    @property
    def name(self) -> str:
        """What is to be done, in one line; empty if the task does not say."""
        return " ".join(self.text("name").split())

    @property
    def files(self) -> tuple[str, ...]:
        """The paths that the task names, one a line or divided by commas, without bullets and backticks."""
        return tuple(path for _, path in files_of(self))


def files_of(task: Task) -> Iterator[tuple[int, str]]:
    """The paths that a task names, each with its line."""
    element = task.get("files")
    if element is None:
        return
    for number, line in enumerate(element.text.split("\n"), element.line):
        for piece in _COMMA.split(line):
            path = piece.strip().removeprefix("- ").strip("` \t").removeprefix("@")
            if path:
                yield number, path


def read_tasks(source: Source) -> tuple[Task, ...]:
    """The tasks of a document in their order; a task in a task is one of its own, and its elements are its alone.

    A task that never closes reaches to the end of what is read. A plan in Markdown alone has a task under each heading
    that says so ("### Task 1: ..."), what it says of files, check and outcome behind labels. Source: rule D1.
    """
    if not any(element.name in _XML for element in source.elements):
        return tuple(_headed(source))
    found: list[tuple[Element, list[TaskElement]]] = []
    outer: list[int] = []  # places in `found` of the tasks that an element may stand in, innermost last
    for element in source.elements:
        while outer and not _within(element, found[outer[-1]][0]):
            outer.pop()
        if element.name == "task":
            outer.append(len(found))
            found.append((element, []))
        elif outer:
            found[outer[-1]][1].append(_inner(element, source))
    return tuple(Task(e.first, e.last, e.attributes, tuple(inner), e.closed) for e, inner in found)


def _headed(source: Source) -> Iterator[Task]:
    for part in source.sections:
        titled = _TITLE.match(part.title)
        if titled:
            lines = source.lines_of(part)
            told = labelled_texts(lines, _LABELS)
            name = TaskElement("name", titled["name"].strip(), part.first)
            inner = [TaskElement(element, text.text, text.line) for element, text in told.items() if text.text]
            yield Task(part.first, part.last, {}, (name, *inner))


_XML = frozenset({"task", "feature"})
_TITLE = re.compile(r"Task\s{1,4}\d{1,3}[a-z]?\s{0,4}[:.)\N{EN DASH}\N{EM DASH}-]\s{0,4}(?P<name>\S.*)", re.IGNORECASE)
_LABELS = {
    **dict.fromkeys(("file", "files", "files modified"), "files"),
    **dict.fromkeys(("action", "actions", "steps"), "action"),
    **dict.fromkeys(("verify", "verification", "verification command", "verification commands"), "verify"),
    **dict.fromkeys(("done", "done when", "acceptance criteria", "expected outcome"), "done"),
}


def _within(element: Element, task: Element) -> bool:
    return element.depth > task.depth and element.last <= task.last


def _inner(element: Element, source: Source) -> TaskElement:
    """An element with its code and comments, which are blanked where elements are found."""
    lines = element.text.split("\n")
    if len(lines) > 1:
        lines = [lines[0], *source.lines[element.first : element.last - 1], lines[-1]]
    return TaskElement(element.name, "\n".join(lines), element.first)


MustHaveKind = Literal["truth", "artifact", "key_link"]

MUST_HAVES: dict[str, MustHaveKind] = {"truths": "truth", "artifacts": "artifact", "key_links": "key_link"}
"""The three lists of must-haves, and what an item of each is."""

IMPLIED_MODEL = {"simple": "haiku", "medium": "sonnet", "complex": "inherit"}
"""The model that a task's complexity implies; "inherit" is the one that runs the executor. Source: document 003."""

TASK_TYPES = ("auto", "tdd", "checkpoint:human-verify", "checkpoint:decision", "checkpoint:human-action")
"""The five types of task. Source: document 003."""

TASK_ELEMENTS = ("name", "files", "action", "verify", "done")
"""The five elements of a task. Source: document 003."""

NEWER_ELEMENTS = ("read_first", "acceptance_criteria")
"""The two elements that a task of the newer form has besides."""


_TWO_NUMBERS = re.compile(r"\d{1,6}(?:\.\d{1,6})?-\d{1,6}[a-z]?", re.ASCII)


_REQUIREMENTS = {"requirement_ids": ("requirements", "requirement", "implements")}

PLAN_FORMS = (
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
        "a plan in Markdown alone, whose tasks stand under headings or in lists",
        seen_by=("prose",),
        unless=("element:task", "front:must_haves", "front:wave", "front:depends_on", "front:provides"),
        aliases=_REQUIREMENTS,
    ),
)


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
        """Truths, then artifacts, then key links."""
        return self.truths + self.artifacts + self.key_links


class PlanDocument(Document):
    """A plan as a planner hands it to an executor.

    `plan` is its id as text: "01" of phase "13-backend" is "13-01". `summary` is its closing section. Source:
    document 003, Planner -> Executor; rule D1.
    """

    FORMS: ClassVar[tuple[Form, ...]] = PLAN_FORMS

    kind: Kind = "plan"
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
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:
        """The typed fields of a plan."""
        front = source.front
        lists = ("depends_on", "files_modified", "provides", "consumes", "requirement_ids")
        return {
            "phase": text_of(front, "phase"),
            "plan": _plan_id(front),
            "wave": count_of(front, "wave"),
            **{name: texts_of(front, form.key(source, name)) for name in lists},
            "must_haves": MustHaves(*(tuple(must_haves(front, name)) for name in MUST_HAVES)),
            "gap_closure": flag_of(front, "gap_closure") or False,
            "objective": _objective(source),
            "tasks": read_tasks(source),
            "summary": source.section("Summary"),
        }


def implied_model(task: Task) -> str | None:
    """The model that a task's complexity implies; None without one of the three complexities.

    >>> implied_model(Task(1, 9, {"complexity": "simple"}, ()))
    'haiku'
    """
    return IMPLIED_MODEL.get(task.complexity or "")


def is_plan_id(plan: str, phase: str = "") -> bool:
    """Whether an id is two numbers, as "02-01", the first of them the phase's where the phase has one.

    >>> is_plan_id("02-01", "02-auth"), is_plan_id("03-01", "02-auth"), is_plan_id("auth-02")
    (True, False, False)
    """
    number = phase_number(phase)
    return bool(_TWO_NUMBERS.fullmatch(plan)) and (not number or phase_number(plan) == number)


def is_artifact(text: str) -> bool:
    """Whether an artifact begins with its file and a colon, and says something behind it.

    >>> is_artifact("src/auth.py: checks tokens"), is_artifact("middleware exists")
    (True, False)
    """
    head, colon, rest = text.partition(":")
    file = named_path(text) != "" or ("." in head and " " not in head.strip())
    return file and bool(colon and rest.strip())


def _plan_id(front: Front) -> str | None:
    """The plan's id, with its phase's number where it is a number alone."""
    plan, phase = text_of(front, "plan"), text_of(front, "phase")
    if plan is None or not plan.isdecimal() or not phase:
        return plan
    number = phase.strip().partition("-")[0] if phase_number(phase) else ""
    return f"{number}-{plan}" if number else plan


def must_haves(front: Front, group: str) -> Iterator[MustHave]:
    """The must-haves of one of the three lists, each with its line; items that say nothing are left out.

    Where `must_haves` is one list, its items are truths.
    """
    flat = isinstance(front.values.get("must_haves"), list)
    place: tuple[str, ...] = ("must_haves",) if flat and group == "truths" else ("must_haves", group)
    found = value_of(front, *place)
    for at, item in enumerate(found if isinstance(found, list) else []):
        line = front.line(*place, at)
        if isinstance(item, dict):
            text, path = _told(item)
        else:
            text = text_of(front, *place, at) or ""
            path = named_path(text) if group != "truths" else ""
        if text.strip():
            yield MustHave(text, MUST_HAVES[group], line, path)


def _told(item: dict[str, Any]) -> tuple[str, str]:
    """The text and path of a must-have that has several fields, as `path` and `provides`, or `from`, `to` and `via`."""
    held = {name: value for name, value in item.items() if isinstance(value, str | int | float) and value != ""}
    if "from" in held or "to" in held:
        text = f"{held.get('from', '?')} -> {held.get('to', '?')}"
        return f"{text}: {held['via']}" if "via" in held else text, str(held.get("from", ""))
    path = str(held.get("path", ""))
    words = next((str(held[name]) for name in ("provides", "description", "text", "truth") if name in held), "")
    if not path and not words:
        return ", ".join(f"{name}: {value}" for name, value in held.items()), ""
    return ": ".join(part for part in (path, words) if part), path


def named_path(text: str) -> str:
    """The path that a must-have begins with, as in "src/auth.py: checks tokens"; empty where it begins with none.

    >>> named_path("src/auth.py: checks tokens"), named_path("src/index.js exists"), named_path("Dashboard works")
    ('src/auth.py', 'src/index.js', '')
    """
    first = text.strip()[:300].split(maxsplit=1)
    name = first[0].strip("`:,") if first else ""
    return name if is_path(name) else ""


def _objective(source: Source) -> str:
    """What the plan is for: its <objective>, else the text of its section Objective or Goal; empty without any."""
    element = next((e for e in source.elements if e.name == "objective"), None)
    if element is not None:
        return element.text.strip()
    part = source.section("Objective") or source.section("Goal")
    return "\n".join(line for _, line in source.lines_of(part)).strip() if part else ""
