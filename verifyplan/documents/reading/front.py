"""Frontmatter of handed-over documents: plain YAML values, each with its line and as it is written (rules D1, H3)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from verifyplan.documents.reading.plain_yaml import Refused, root_node
from verifyplan.plans.prose import FENCE, frontmatter_end

Path = tuple[str | int, ...]

LONGEST = 40_000
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
    if len(text) > LONGEST:
        return Front(first=1, last=end + 1, problems=((1, f"it is longer than {LONGEST:,} characters"),))
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
