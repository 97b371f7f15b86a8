"""The prose of a plan, every line in its place: frontmatter, code, comments and tags are read and blanked (rule H3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from verifyplan.plans.commands import begins_like_command
from verifyplan.plans.markup import XmlElement, elements, fences, without_tags
from verifyplan.plans.values import CodeBlock

FENCE = "---"
MAX_FRONTMATTER_CHARACTERS = 100_000  # PyYAML reads some 50,000 a second


@dataclass(frozen=True)
class PreparedText:
    """The prose of a document line by line, and the parts that were taken out of it."""

    prose: tuple[str, ...]
    frontmatter: dict[str, Any]
    body: int
    blocks: tuple[CodeBlock, ...]
    elements: tuple[XmlElement, ...]
    notes: tuple[str, ...]


def prepare(lines: Sequence[str]) -> PreparedText:
    """Take out of a document all that is no prose; never raises."""
    values, head, notes = frontmatter(lines)
    prose = [*[""] * head, *lines[head:]]
    blocks, unclosed_blocks = fences(prose)
    for block in blocks:
        _blank(prose, block)
    prose = without_comments(prose)
    tagged, unclosed_elements = elements(prose)
    for element in tagged:
        commands = element.name in ("verify", "automated") and begins_like_command(element.text)
        if element.name == "files" or commands:  # not prose: these are read from the element
            _blank(prose, element)
    if tagged:
        prose = [without_tags(line) for line in prose]
    all_notes = (*notes, *unclosed_blocks, *unclosed_elements)
    return PreparedText(tuple(prose), values, head + 1, tuple(blocks), tuple(tagged), all_notes)


def _blank(prose: list[str], part: CodeBlock | XmlElement) -> None:
    prose[part.first - 1 : part.last] = [""] * (part.last - part.first + 1)


class PlainLoader(yaml.SafeLoader):
    """A YAML loader without aliases, by which a few lines could expand to gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node; an alias is refused."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it holds an alias")
        return super().compose_node(parent, index)


def frontmatter(lines: Sequence[str]) -> tuple[dict[str, Any], int, list[str]]:
    """Return the values at the head of a document, the number of lines they take, and notes.

    Frontmatter that is damaged, too long, or no mapping is empty, and a note says why; it is still no part of
    the plan's body. Without a closing line there is none. Keys are texts.

    >>> frontmatter(["---", "wave: 1", "---", "# Plan"])
    ({'wave': 1}, 3, [])
    """
    end = frontmatter_end(lines)
    if end is None:
        return {}, 0, []
    values, problem = _yaml_values("\n".join(lines[1:end]))
    return values, end + 1, [f"line 1: the frontmatter is not read: {problem}"] if problem else []


def frontmatter_end(lines: Sequence[str]) -> int | None:
    """Return the line, from 0, that closes the frontmatter; a line `---` far below, or behind prose, is a rule."""
    if not lines or lines[0].rstrip() != FENCE:
        return None
    end = next((number for number in range(1, len(lines)) if lines[number].rstrip() in (FENCE, "...")), None)
    if end is None:
        return None
    first = next((line for line in lines[1:end] if line.strip() and not line.startswith("#")), "")
    return end if ":" in first or not any(line.strip() for line in lines[1:end]) else None


def _yaml_values(text: str) -> tuple[dict[str, Any], str]:
    """The values of a YAML mapping, and why there are none."""
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
    if not isinstance(values, dict | None):
        return {}, "it is no list of names and values"
    return {str(key): value for key, value in (values or {}).items()}, ""


def without_comments(lines: Sequence[str]) -> list[str]:
    """Return the lines with HTML comments blanked; one that never closes, or is within inline code, is text."""
    last_end = max((number for number, line in enumerate(lines) if "-->" in line), default=-1)
    kept, within = [], False
    for number, line in enumerate(lines):
        if within or "<!--" in line:
            line, within = _without_comment(line, within, may_close_later=number < last_end)
        kept.append(line)
    return kept


def _without_comment(line: str, within: bool, *, may_close_later: bool) -> tuple[str, bool]:
    """A line without its comments, and whether one is open at its end."""
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
        if start < 0 or ticks % 2 or not (may_close_later or last > start):
            return "".join([*shown, line[at:]]), False
        shown.append(line[at:start])
        within, at = True, start + 4
