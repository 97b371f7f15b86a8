"""Read frontmatter as plain YAML values, each with its line and its spelling (rules D1, H3)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import yaml

from verifyplan.documents.reading.phrases import LocatedText
from verifyplan.plans.prose import FENCE, frontmatter_end

KeyPath = tuple[str | int, ...]

MAX_DEPTH = 20
MAX_FRONT_CHARACTERS = 40_000
"""Real frontmatter has some 5,000 characters, and YAML is read slowly."""
MAX_INTEGER_BITS = 63

_ERRORS = (ValueError, TypeError, OverflowError, RecursionError, IndexError, AttributeError, KeyError)
_ITEM_NAMES = ("truth", "must_have", "must-have", "gap", "title", "name", "description")
"""The keys that may hold the name of a list item that is a mapping."""


@dataclass(frozen=True)
class Front:
    """The frontmatter of a document: its values, the lines of its two fences, and what is wrong with it.

    `values` is empty without frontmatter and where it is damaged; `first` and `last` are 0 without it. `problems` are
    lines and what is wrong in each: not YAML, an anchor, alias or tag, a repeated key (the first one counts).
    """

    values: dict[str, Any] = field(default_factory=dict, hash=False)
    first: int = 0
    last: int = 0
    problems: tuple[tuple[int, str], ...] = ()
    lines: dict[KeyPath, int] = field(default_factory=dict, hash=False, repr=False)
    written: dict[KeyPath, str] = field(default_factory=dict, hash=False, repr=False)
    flow: bool = False  # whether the whole frontmatter is one {...}

    def line(self, *path: str | int) -> int:
        """Return the line of a key or item; without it that of its nearest parent, at last the first line.

        >>> front = read_front(["---", "wave: 1", "gaps:", "  - a", "  - b", "---"])
        >>> front.line("gaps", 1), front.line("gaps", 7), front.line("plan")
        (5, 3, 1)
        """
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return self.first or 1

    def raw(self, *path: str | int) -> str | None:
        """Return a single value as it is written, without quotation marks; None for a collection and without a value.

        >>> read_front(["---", "plan: 01", "---"]).raw("plan")
        '01'
        """
        return self.written.get(path)


def read_front(lines: Sequence[str]) -> Front:
    """Read the frontmatter at the head of a document's lines; none without a closing fence. Never raises.

    >>> read_front(["---", "wave: 1", "wave: 2", "---"]).problems
    ((3, "the key 'wave' is given twice; the first one counts"),)
    """
    end = frontmatter_end(lines)
    if end is None:
        opened = bool(lines) and lines[0].rstrip() == FENCE and any(":" in line for line in lines[1:2])
        return Front(problems=((1, "the frontmatter never closes"),)) if opened else Front()
    text = "".join(f"{line}\n" for line in lines[1:end])
    if len(text) > MAX_FRONT_CHARACTERS:
        problem = f"it is longer than {MAX_FRONT_CHARACTERS:,} characters"
        return Front(first=1, last=end + 1, problems=((1, problem),))
    read = _FrontReader(text)
    return Front(read.values, 1, end + 1, tuple(read.problems), read.lines, read.written, read.flow)


class _FrontReader:
    """The values of a YAML text, their lines and spellings, and what is wrong with it."""

    def __init__(self, text: str) -> None:
        self.breaks = [at for at, letter in enumerate(text) if letter == "\n"]
        self.values: dict[str, Any] = {}
        self.problems: list[tuple[int, str]] = []
        self.lines: dict[KeyPath, int] = {}
        self.written: dict[KeyPath, str] = {}
        self.flow = False
        try:
            self._read(text)
        except _NotPlainError as error:
            self._damaged(self._line(error.at), str(error))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._damaged(self._line(mark.index) if mark else 1, f"it is not YAML ({error.problem})")
        except yaml.reader.ReaderError as error:
            self._damaged(self._line(error.position), "it is not YAML (a character that is not allowed)")
        except _ERRORS as error:
            self._damaged(1, f"it is not YAML ({type(error).__name__})")

    def _read(self, text: str) -> None:
        self.loader = _PlainLoader(text)
        node = self.loader.get_single_node()
        if isinstance(node, yaml.MappingNode):
            self.flow = bool(node.flow_style)
            self.values = self._mapping(node, ())
        elif node is not None:
            self._damaged(2, "it is no list of names and values")

    def _damaged(self, line: int, problem: str) -> None:
        self.values, self.lines, self.written = {}, {}, {}
        self.problems.append((line, problem))

    def _line(self, index: int) -> int:
        """Return the document's line at a place of the text; YAML's own numbers count more kinds of line end."""
        return min(bisect_left(self.breaks, index), len(self.breaks) - 1) + 2  # the end is in the last line

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in node.value:
            line = self._line(key.start_mark.index)
            if not isinstance(key, yaml.ScalarNode):
                self.problems.append((line, "a key is no single value"))
                continue
            name = str(key.value)
            if name in values:
                self.problems.append((line, f"the key {name[:80]!r} is given twice; the first one counts"))
            else:
                self.lines[(*path, name)] = line
                values[name] = self._value(value, (*path, name))
        return values

    def _value(self, node: yaml.Node, path: KeyPath) -> Any:
        """Return a value; one that YAML cannot construct (a day 99) or no table can hold (10**30) stays a text."""
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            items = []
            for at, item in enumerate(node.value):
                self.lines[(*path, at)] = self._line(item.start_mark.index)
                items.append(self._value(item, (*path, at)))
            return items
        self.written[path] = str(node.value)
        try:
            value = self.loader.construct_object(node)
        except (yaml.YAMLError, *_ERRORS):
            return str(node.value)
        return str(node.value) if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS else value


class _NotPlainError(yaml.YAMLError):
    """Something that YAML allows and frontmatter does not; `at` is its place in the text."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at


class _PlainLoader(yaml.SafeLoader):
    """Refuses anchors, aliases, tags, and what is nested deeper than anyone writes by hand."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node, if it is plain."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) is not None:
            kind = "an alias" if isinstance(event, yaml.AliasEvent) else "an anchor"
            raise _NotPlainError(event.start_mark.index, f"it holds {kind}")
        if getattr(event, "tag", None) is not None:
            raise _NotPlainError(event.start_mark.index, "it holds a tag")
        if self.depth >= MAX_DEPTH:
            raise _NotPlainError(event.start_mark.index, f"it is nested deeper than {MAX_DEPTH}")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def value_of(front: Front, *path: str | int) -> Any:
    """Return the value at a path; None without one."""
    value: Any = front.values
    for step in path:
        in_list = isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)
        if not in_list and not (isinstance(value, dict) and step in value):
            return None
        value = value[step]
    return value


def text_of(front: Front, *path: str | int) -> str | None:
    """Return a single value as it is written, numbers and dates too ("01" stays "01"); None for null and without it."""
    return front.raw(*path) if value_of(front, *path) is not None else None


def count_of(front: Front, *path: str | int) -> int | None:
    """Return a whole number; None for any other value. True and false are not numbers."""
    value = value_of(front, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def flag_of(front: Front, *path: str | int) -> bool | None:
    """Return true or false; None for any other value."""
    value = value_of(front, *path)
    return value if isinstance(value, bool) else None


def texts_of(front: Front, *path: str | int) -> tuple[str, ...]:
    """Return the single values of a list as they are written, without its collections.

    A single value that should be a list is a list of one; null is an empty one.
    """
    value = value_of(front, *path)
    if not isinstance(value, list):
        single = text_of(front, *path)
        return (single,) if single is not None else ()
    items = (text_of(front, *path, at) for at in range(len(value)))
    return tuple(item for item in items if item is not None)


def entries_of(front: Front, key: str) -> tuple[LocatedText, ...]:
    """Return the items of a list as texts, each with its line; () without a list.

    An item `a: DONE` that lacks its quotation marks is a mapping to YAML, and read as the text that was meant; of
    another mapping its name is read. Items without text are left out.

    >>> entries_of(read_front(["---", "must_haves:", "  - logs are kept: DONE", "---"]), "must_haves")
    (LocatedText(text='logs are kept: DONE', line=3),)
    """
    value = front.values.get(key)
    items = value if isinstance(value, list) else []
    entries = (LocatedText(_item_text(front, key, at, item), front.line(key, at)) for at, item in enumerate(items))
    return tuple(entry for entry in entries if entry.text)


def _item_text(front: Front, key: str, at: int, item: Any) -> str:
    if not isinstance(item, Mapping):
        return text_of(front, key, at) or ""
    names = (text_of(front, key, at, name) for name in _ITEM_NAMES if name in item)
    first = next((name for name in names if name), "")
    if first or len(item) != 1:
        return first
    (name,) = item
    return f"{name}: {text_of(front, key, at, name) or ''}".strip()


def entry_texts(front: Front, key: str) -> tuple[str, ...]:
    """Return the items of a list as texts."""
    return tuple(entry.text for entry in entries_of(front, key))


def moment_of(front: Front, key: str) -> datetime | None:
    """Return an ISO 8601 date or time; None without one."""
    return moment(text_of(front, key) or "")


def moment(text: str) -> datetime | None:
    """Parse an ISO 8601 date or time, as UTC where it names no zone; None for any other text.

    >>> moment("2026-03-02T09:29:18Z").isoformat(), moment("02.03.2026")
    ('2026-03-02T09:29:18+00:00', None)
    """
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)
