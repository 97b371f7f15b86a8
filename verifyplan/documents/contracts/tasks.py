"""The XML tasks of a PLAN document: attributes, elements and their lines (SPEC D1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from verifyplan.documents.contracts.source import Source
from verifyplan.documents.elements import Element


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
        for piece in line.split(","):
            path = piece.strip().removeprefix("- ").strip("` \t").removeprefix("@")
            if path:
                yield number, path


def read_tasks(source: Source) -> tuple[Task, ...]:
    """The tasks of a document in their order; a task in a task is one of its own, and its elements are its alone.

    A task that never closes reaches to the end of what is read. Source: SPEC D1.
    """
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


def _within(element: Element, task: Element) -> bool:
    return element.depth > task.depth and element.last <= task.last


def _inner(element: Element, source: Source) -> TaskElement:
    """An element with its code and comments, which are blanked where elements are found."""
    lines = element.text.split("\n")
    if len(lines) > 1:
        lines = [lines[0], *source.lines[element.first : element.last - 1], lines[-1]]
    return TaskElement(element.name, "\n".join(lines), element.first)
