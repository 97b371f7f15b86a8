"""Frontmatter of handed-over documents: plain YAML values, each with its line and as it is written (rules D1, H3)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from verifyplan.documents.reading.phrases import LocatedText
from verifyplan.plans.prose import FENCE, PlainLoader, frontmatter_end

try:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]
except ImportError:  # PyYAML was built without libyaml: everything is read by its own parser, some four times slower
    CParser = None  # type: ignore[assignment, misc]

MAX_DEPTH = 20

_ALIKE = re.compile(r"[\n ->@-~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe]*")
_APART = re.compile(r"[|>][0-9+-]*#")
"""Texts that both parsers read alike: no tab, question mark, mark of byte order, or second kind of line end; and what
they read apart all the same: a block whose head runs into a comment."""


class Refused(yaml.YAMLError):
    """Something that YAML allows and frontmatter does not; `at` is its place in the text."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at


class _Plain(Composer):
    """Refuses anchors, aliases and tags, and what is nested deeper than anyone writes by hand."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The next node, if it is plain."""
        event: Any = self.peek_event()  # type: ignore[attr-defined]
        for name in ("anchor", "tag"):
            if getattr(event, name, None) is not None:
                alias = isinstance(event, yaml.AliasEvent)
                raise Refused(event.start_mark.index, f"it holds {'an alias' if alias else _ARTICLE[name]}")
        if self.depth >= MAX_DEPTH:
            raise Refused(event.start_mark.index, f"it is nested deeper than {MAX_DEPTH}")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_ARTICLE = {"anchor": "an anchor", "tag": "a tag"}


class _Slow(_Plain, PlainLoader):
    """PyYAML's own parser, whose errors are told."""


if CParser is not None:

    class _Fast(_Plain, CParser, SafeConstructor, Resolver):
        """The events of libyaml, composed and constructed as by the other one."""

        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            Resolver.__init__(self)


def root_node(text: str) -> tuple[SafeConstructor, yaml.Node | None]:
    """The root of a YAML text, None if it is empty, and what makes values of its nodes.

    Raises a YAMLError for what is no YAML, or no plain one.
    """
    if CParser is not None and _ALIKE.fullmatch(text) and not _APART.search(text):
        try:
            fast = _Fast(text)
            return fast, fast.get_single_node()
        except (yaml.YAMLError, ValueError):
            pass  # the other parser tells what is wrong
    slow = _Slow(text)
    return slow, slow.get_single_node()


Path = tuple[str | int, ...]

MAX_FRONT_CHARACTERS = 40_000
"""So many characters of frontmatter are read: real ones have some 5,000, and YAML is read slowly."""

_MOST_BITS = 63
_FAULTS = (ValueError, TypeError, OverflowError, RecursionError, IndexError, AttributeError, KeyError)


@dataclass(frozen=True)
class Front:
    """The frontmatter of a document: its values, the lines of its two fences, and what is wrong with it.

    `values` is empty where there is none or it is damaged. `first` and `last` are 0 where there is none. `problems`
    are lines and what is wrong in each: no YAML, an anchor, alias or tag, a key given twice (the first one stands).
    """

    values: dict[str, Any] = field(default_factory=dict, hash=False)
    first: int = 0
    last: int = 0
    problems: tuple[tuple[int, str], ...] = ()
    lines: dict[Path, int] = field(default_factory=dict, hash=False, repr=False)
    written: dict[Path, str] = field(default_factory=dict, hash=False, repr=False)
    flow: bool = False  # whether the whole frontmatter is one {...}

    def line(self, *path: str | int) -> int:
        """The line of a key or item; where there is none, of the nearest above it, at last the first line.

        >>> front = read_front(["---", "wave: 1", "gaps:", "  - a", "  - b", "---"])
        >>> front.line("gaps", 1), front.line("gaps", 7), front.line("plan")
        (5, 3, 1)
        """
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return self.first or 1

    def raw(self, *path: str | int) -> str | None:
        """A single value as it is written, without quotation marks; None where there is none, or it is a collection.

        >>> read_front(["---", "plan: 01", "---"]).raw("plan")
        '01'
        """
        return self.written.get(path)


def read_front(lines: Sequence[str]) -> Front:
    """The frontmatter at the head of a document's lines; never raises, and no value stands for more than it shows.

    Without a closing fence there is none. Source: rules D1, H3.

    >>> read_front(["---", "wave: 1", "wave: 2", "---"]).problems
    ((3, "the key 'wave' is given twice; the first one stands"),)
    """
    end = frontmatter_end(lines)
    if end is None:
        opened = bool(lines) and lines[0].rstrip() == FENCE and any(":" in line for line in lines[1:2])
        return Front(problems=((1, "the frontmatter never closes"),)) if opened else Front()
    text = "".join(f"{line}\n" for line in lines[1:end])
    if len(text) > MAX_FRONT_CHARACTERS:
        return Front(first=1, last=end + 1, problems=((1, f"it is longer than {MAX_FRONT_CHARACTERS:,} characters"),))
    reading = _Reading(text)
    reading.read()
    return Front(reading.values, 1, end + 1, tuple(reading.problems), reading.lines, reading.written, reading.flow)


class _Reading:
    """One reading of YAML text: values, lines, and what is wrong."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.breaks = [at for at, letter in enumerate(text) if letter == "\n"]
        self.values: dict[str, Any] = {}
        self.problems: list[tuple[int, str]] = []
        self.lines: dict[Path, int] = {}
        self.written: dict[Path, str] = {}
        self.flow = False

    def read(self) -> None:
        """Read the text; what raises is a problem at its line."""
        try:
            self._root()
        except Refused as error:
            self._spoiled(self._line(error.at), str(error))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._spoiled(self._line(mark.index) if mark else 1, f"it is not YAML ({error.problem})")
        except yaml.reader.ReaderError as error:
            self._spoiled(self._line(error.position), "it is not YAML (a character that is not allowed)")
        except _FAULTS as error:
            self._spoiled(1, f"it is not YAML ({type(error).__name__})")

    def _root(self) -> None:
        self.maker, node = root_node(self.text)
        if node is None:
            return
        if not isinstance(node, yaml.MappingNode):
            self._spoiled(2, "it is no list of names and values")
            return
        self.flow = bool(node.flow_style)
        self.values = self._mapping(node, ())

    def _spoiled(self, line: int, problem: str) -> None:
        self.values, self.lines, self.written = {}, {}, {}
        self.problems.append((line, problem))

    def _line(self, index: int) -> int:
        """The document's line at a place of the text; not YAML's own, which has more kinds of line end."""
        return min(bisect_left(self.breaks, index), len(self.breaks) - 1) + 2  # the end is in the last line

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, name, value in self._pairs(node):
            line = self._line(key.start_mark.index)
            if name in found:
                self.problems.append((line, f"the key {name[:80]!r} is given twice; the first one stands"))
                continue
            self.lines[(*path, name)] = line
            found[name] = self._value(value, (*path, name))
        return found

    def _pairs(self, node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, str, yaml.Node]]:
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield key, str(key.value), value
            else:
                self.problems.append((self._line(key.start_mark.index), "a key is no single value"))

    def _value(self, node: yaml.Node, path: Path) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            items = []
            for at, item in enumerate(node.value):
                self.lines[(*path, at)] = self._line(item.start_mark.index)
                items.append(self._value(item, (*path, at)))
            return items
        self.written[path] = str(node.value)
        return self._scalar(node)

    def _scalar(self, node: yaml.Node) -> Any:
        """A single value; one that YAML cannot make (a day 99), or a number that no table holds, stays a text."""
        try:
            value = self.maker.construct_object(node)
        except (yaml.YAMLError, *_FAULTS):
            return str(node.value)
        return str(node.value) if isinstance(value, int) and value.bit_length() > _MOST_BITS else value


def value_of(front: Front, *path: str | int) -> Any:
    """The value at a path; None where there is none."""
    found: Any = front.values
    for step in path:
        in_list = isinstance(found, list) and isinstance(step, int) and 0 <= step < len(found)
        if not in_list and not (isinstance(found, dict) and step in found):
            return None
        found = found[step]
    return found


def text_of(front: Front, *path: str | int) -> str | None:
    """A single value as it is written, a number or date as well ("01" stays "01"); None where it is null or none."""
    return front.raw(*path) if value_of(front, *path) is not None else None


def count_of(front: Front, *path: str | int) -> int | None:
    """A whole number; None where the value is no such number. True and false are none."""
    found = value_of(front, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def flag_of(front: Front, *path: str | int) -> bool | None:
    """True or false; None where the value is neither."""
    found = value_of(front, *path)
    return found if isinstance(found, bool) else None


def texts_of(front: Front, *path: str | int) -> tuple[str, ...]:
    """The single values of a list, as they are written; what is no single value is left out.

    A single value that should be a list is a list of one; null is an empty one.
    """
    found = value_of(front, *path)
    if not isinstance(found, list):
        one = text_of(front, *path)
        return (one,) if one is not None else ()
    items = (text_of(front, *path, at) for at in range(len(found)))
    return tuple(item for item in items if item is not None)


_NAMES = ("truth", "must_have", "must-have", "gap", "title", "name", "description")
"""Where an item of a list is a mapping, the keys that may hold what it is called."""


def entries_of(front: Front, key: str) -> tuple[LocatedText, ...]:
    """The items of a list as texts, each with its line; () where there is no list.

    An item `a: DONE` that lacks its quotation marks is a mapping to YAML and read as the text that was meant; of
    another mapping its name is read, and what holds no text is left out.

    >>> from verifyplan.documents.reading.front import read_front
    >>> entries_of(read_front(["---", "must_haves:", "  - logs are kept: DONE", "---"]), "must_haves")
    (Labelled(text='logs are kept: DONE', line=3),)
    """
    value = front.values.get(key)
    if not isinstance(value, list):
        return ()
    items = (LocatedText(_item(front, key, at, item), front.line(key, at)) for at, item in enumerate(value))
    return tuple(item for item in items if item.text)


def entry_texts(front: Front, key: str) -> tuple[str, ...]:
    """The items of a list as texts."""
    return tuple(entry.text for entry in entries_of(front, key))


def moment_of(front: Front, key: str) -> datetime | None:
    """An ISO 8601 date or time; None where there is none."""
    return moment(text_of(front, key) or "")


def moment(text: str) -> datetime | None:
    """An ISO 8601 date or time, taken as UTC where it names no zone; None where it is none.

    >>> moment("2026-03-02T09:29:18Z").isoformat(), moment("02.03.2026")
    ('2026-03-02T09:29:18+00:00', None)
    """
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _item(front: Front, key: str, at: int, item: Any) -> str:
    if not isinstance(item, Mapping):
        return text_of(front, key, at) or ""
    named = (text_of(front, key, at, name) for name in _NAMES if name in item)
    first = next((name for name in named if name), "")
    if first or len(item) != 1:
        return first
    (name,) = item
    return f"{name}: {text_of(front, key, at, name) or ''}".strip()
