"""The values of a plan that was read: sections, steps, references, blocks of code; lines are counted from 1."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from verifyplan.field_docs import with_field_docs
from verifyplan.plans.markdown import TextBlock

RefKind = Literal["file", "symbol", "command", "package"]
Intent = Literal["create", "change", "delete", "move", "use"]

INTENTS: tuple[Intent, ...] = get_args(Intent)

MAX_QUOTE_CHARACTERS = 200
"""Characters of a line that are quoted with a reference."""


@dataclass(frozen=True)
class Section:
    """The lines under one heading, the heading's included, as far as the next heading of any level.

    Sections follow one another without gap. The lines before the first heading have the title "" and level 0.
    """

    title: str
    level: int
    first: int
    last: int


@dataclass(frozen=True)
class Step:
    """Something that the plan says to do; `number` counts the plan's steps from 1, in their order.

    `label` is the plan's own name of the step ("Task 2", "3"; empty for a task-list item). `level` is 0 for an
    outermost step, 1 for a step of a step, and so on. `done` is None where the plan has no mark for it.
    """

    number: int
    text: str
    first: int
    last: int
    done: bool | None
    label: str = ""
    level: int = 0


@dataclass(frozen=True)
class Reference:
    """A file, symbol, command or package that the plan names, where, and what the plan does with it there.

    `intent` is of this mention alone: a file that is created in one line may be used in another.
    """

    kind: RefKind
    name: str
    intent: Intent
    line: int
    quoted: str


@dataclass(frozen=True)
class CodeBlock:
    """A fenced block, from its opening fence to its closing one; `text` is the code between them."""

    language: str
    first: int
    last: int
    text: str


@with_field_docs
@dataclass(frozen=True)
class Plan:
    """A plan as it was read: its text with one kind of line end, and what the readers found in it.

    `goal` and `title` are empty where the plan states none. `constraints` and `decisions` are line numbers; a
    decision counts where it states its reason. `body` is the first line behind the frontmatter. `notes` say what
    was skipped or could not be read. `texts` are the headings, paragraphs, items and cells; `actions` has the line of
    each thing that the plan says to do. Source: rules A8, G2.
    """

    path: str
    """The path as it was given; `plan.md` for a text without one."""
    text: str
    """The whole text, with one kind of line end."""
    title: str
    """The first heading; empty where there is none."""
    goal: str
    """The stated goal; empty where there is none."""
    frontmatter: Mapping[str, Any] = field(hash=False)
    """The YAML keys before the body."""
    sections: tuple[Section, ...]
    """The headings with the lines under them."""
    steps: tuple[Step, ...]
    """What the plan says to do, in order."""
    references: tuple[Reference, ...]
    """Files, symbols, commands and packages that it names, and where."""
    blocks: tuple[CodeBlock, ...]
    """Blocks of code."""
    constraints: tuple[int, ...]
    """The lines that state a constraint."""
    decisions: tuple[int, ...]
    """The lines that state a decision with its reason."""
    notes: tuple[str, ...]
    """What was skipped or could not be read."""
    body: int = 1
    """The first line after the frontmatter."""
    texts: tuple[TextBlock, ...] = field(default=(), repr=False)
    """Headings, paragraphs, items and cells."""
    actions: tuple[int, ...] = ()
    """The line of each thing that the plan says to do."""

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends; a line end at the very end of the text opens no further line."""
        return split_lines(self.text)

    @cached_property
    def created(self) -> frozenset[str]:
        """Files that the plan creates in any of its mentions, by normalised path."""
        return frozenset(normalised(r.name) for r in self.references if r.kind == "file" and r.intent == "create")

    @cached_property
    def files(self) -> frozenset[str]:
        """Every file and folder that the plan names, by normalised path."""
        return frozenset(normalised(reference.name) for reference in self.references if reference.kind == "file")

    def creates(self, name: str) -> bool:
        """Return whether the plan creates a file, in any of its mentions; `name` may leave out leading folders.

        A folder is created where a file in it is.
        """
        path = normalised(name)
        within, ending = f"{path}/", f"/{path}"
        return any(file == path or file.startswith(within) or file.endswith(ending) for file in self.created)

    def line(self, n: int) -> str:
        """Return line `n`, from 1; empty where the plan has no such line."""
        return self.lines[n - 1] if 1 <= n <= len(self.lines) else ""


def split_lines(text: str) -> tuple[str, ...]:
    r"""Return the lines of a text whose line ends are all ``\n``.

    >>> split_lines("a\n\nb\n"), split_lines("")
    (('a', '', 'b'), ())
    """
    lines = text.split("\n")
    return tuple(lines[:-1] if lines[-1] == "" else lines)


def normalised(path: str) -> str:
    r"""Return a path in the form in which paths are compared: POSIX, without a leading ./ or a trailing slash.

    >>> normalised("./src//a.py"), normalised("docs/"), normalised("src\\b.py")
    ('src/a.py', 'docs', 'src/b.py')
    """
    return posixpath.normpath(path.replace("\\", "/"))


class LineNumbers:
    """The line numbers of places in a text that begins on line `first`."""

    def __init__(self, content: str, first: int) -> None:
        self._ends = [matched.start() for matched in re.finditer("\n", content)]
        self._first = first

    def at(self, place: int) -> int:
        """Return the line of a place in the text."""
        return self._first + bisect_left(self._ends, place)


class LineRanges:
    """The lines of any number of ranges, first and last included, with a fast `in`; ranges may overlap.

    >>> lines = LineRanges([(1, 3), (2, 5), (9, 9)])
    >>> [line in lines for line in (1, 5, 6, 9)]
    [True, True, False, True]
    """

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        merged: list[tuple[int, int]] = []
        for first, last in sorted(ranges):
            if merged and first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
            else:
                merged.append((first, last))
        self._firsts = [first for first, _ in merged]
        self._lasts = [last for _, last in merged]

    def __bool__(self) -> bool:
        return bool(self._firsts)

    def __contains__(self, line: int) -> bool:
        at = bisect_right(self._firsts, line) - 1
        return at >= 0 and line <= self._lasts[at]
