"""The XML tasks of a PLAN document: attributes, elements and their lines (rule D1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from verifyplan.documents.reading.labelled import labelled
from verifyplan.documents.reading.source import Source
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
    for part in source.parts:
        titled = _TITLE.match(part.title)
        if titled:
            lines = source.lines_of(part)
            told = labelled(lines, _LABELS)
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
