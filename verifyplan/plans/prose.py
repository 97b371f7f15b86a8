"""A document made ready for reading: frontmatter, code, comments and tags taken out, every line kept in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from verifyplan.plans.commands import begins_like_command
from verifyplan.plans.markup import Element, elements, fences, without_tags
from verifyplan.plans.values import CodeBlock

MAX_FRONTMATTER_CHARACTERS = 100_000  # characters; PyYAML reads some 50,000 a second
FENCE = "---"


class PlainLoader(yaml.SafeLoader):
    """Plain values alone: no aliases, by which a few lines could stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The next node; an alias is refused."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it holds an alias")
        return super().compose_node(parent, index)


def frontmatter(lines: Sequence[str]) -> tuple[dict[str, Any], int, list[str]]:
    """The values at the head of a document, the number of lines they take, and notes.

    Frontmatter that is damaged, too long, or no mapping is empty, and a note says why; it is still no part of
    the plan's body. Without a closing line there is none. Keys are texts.

    >>> frontmatter(["---", "wave: 1", "---", "# Plan"])
    ({'wave': 1}, 3, [])
    """
    end = frontmatter_end(lines)
    if end is None:
        return {}, 0, []
    values, problem = _values("\n".join(lines[1:end]))
    notes = [f"line 1: the frontmatter is not read: {problem}"] if problem else []
    return values, end + 1, notes


def frontmatter_end(lines: Sequence[str]) -> int | None:
    """The line, from 0, that closes the frontmatter; a line `---` far below, or behind prose, is a rule of the text."""
    if not lines or lines[0].rstrip() != FENCE:
        return None
    end = next((number for number in range(1, len(lines)) if lines[number].rstrip() in (FENCE, "...")), None)
    return end if end is not None and _looks_like_yaml(lines[1:end]) else None


def _looks_like_yaml(lines: Sequence[str]) -> bool:
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return ":" in first or not any(line.strip() for line in lines)


def _values(text: str) -> tuple[dict[str, Any], str]:
    if len(text) > MAX_FRONTMATTER_CHARACTERS:
        return {}, f"it is longer than {MAX_FRONTMATTER_CHARACTERS:,} characters"
    try:
        values = yaml.load(text, Loader=PlainLoader)  # noqa: S506  (a SafeLoader, made stricter)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        return {}, f"it is not YAML at line {line} ({error.problem})"
    except yaml.YAMLError as error:
        return {}, " ".join(str(error).split())[:200]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:  # numbers, dates, keys, nesting
        return {}, f"it holds a value that is none ({type(error).__name__})"
    if values is None:
        return {}, ""
    if not isinstance(values, dict):
        return {}, "it is no list of names and values"
    return {str(key): value for key, value in values.items()}, ""


_LISTS = frozenset({"files"})
_CHECKS = frozenset({"verify", "automated"})


@dataclass(frozen=True)
class PreparedText:
    """Prose alone, line by line where it stood, and what was taken out of it."""

    prose: tuple[str, ...]
    frontmatter: dict[str, Any]
    body: int
    blocks: tuple[CodeBlock, ...]
    elements: tuple[Element, ...]
    notes: tuple[str, ...]


def prepare(lines: Sequence[str]) -> PreparedText:
    """Take out of a document what is no prose; never raises."""
    values, head, notes = frontmatter(lines)
    prose = [*[""] * head, *lines[head:]]
    blocks, unclosed = fences(prose)
    for block in blocks:
        prose[block.first - 1 : block.last] = [""] * (block.last - block.first + 1)
    prose = without_comments(prose)
    found, torn = elements(prose)
    if found:
        prose = [without_tags(line) for line in _without_lists(prose, found)]
    return PreparedText(tuple(prose), values, head + 1, tuple(blocks), tuple(found), (*notes, *unclosed, *torn))


def _without_lists(prose: Sequence[str], found: Sequence[Element]) -> list[str]:
    """The lines with lists and commands in elements blanked: no prose, and taken by their readers from the element."""
    kept = list(prose)
    for element in found:
        if element.name in _LISTS or (element.name in _CHECKS and begins_like_command(element.text)):
            kept[element.first - 1 : element.last] = [""] * (element.last - element.first + 1)
    return kept


def without_comments(lines: Sequence[str]) -> list[str]:
    """The lines with HTML comments blanked; one that never closes, or stands in inline code, is text."""
    closing = max((number for number, line in enumerate(lines) if "-->" in line), default=-1)
    kept, within = [], False
    for number, line in enumerate(lines):
        if within or "<!--" in line:
            line, within = _without_comment(line, within, later=number < closing)
        kept.append(line)
    return kept


def _without_comment(line: str, within: bool, *, later: bool) -> tuple[str, bool]:
    """A line without its comments, and whether one is open at its end; `later` if one can close on a later line."""
    shown: list[str] = []
    at, ticks, last = 0, 0, line.rfind("-->")
    while True:
        if within:
            end = line.find("-->", at)
            if end < 0:
                return "".join(shown), True
            within, at = False, end + 3
        start = line.find("<!--", at)
        ticks += line.count("`", at, max(start, at))
        if start < 0 or ticks % 2 or not (later or last > start):
            return "".join([*shown, line[at:]]), False
        shown.append(line[at:start])
        within, at = True, start + 4
