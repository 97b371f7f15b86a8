"""A document made ready for reading: frontmatter, code, comments and tags taken out, every line kept in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from verifyplan.plans.commands import begins_like_command
from verifyplan.plans.elements import Element, elements, without_tags
from verifyplan.plans.fences import fences
from verifyplan.plans.frontmatter import frontmatter
from verifyplan.plans.values import CodeBlock

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
