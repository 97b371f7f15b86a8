"""The XML elements of PLAN documents (tasks, their files and checks), found line by line."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from verifyplan.plans.wordlists import words

_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-z][a-z0-9_-]{0,40})(?P<attributes>(?:\s[^<>]{0,500})?)>")
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_SIGNS = ("<task", "<objective")
_DEEPEST = 50


class Element(NamedTuple):
    """An element: its attributes, its lines with its tags, its text, how deep it stands, and whether it ever closes."""

    name: str
    attributes: dict[str, str]
    first: int
    last: int
    text: str
    depth: int
    closed: bool = True


class _Open(NamedTuple):
    name: str
    attributes: dict[str, str]
    line: int  # from 0
    column: int  # where its text begins


def elements(lines: Sequence[str]) -> tuple[list[Element], list[str]]:
    """The elements of a PLAN document in the order in which they open, and notes on those that never close.

    A document without a task or an objective has none. An opening tag counts at the beginning of a line (or
    right behind another one), a closing tag anywhere. `lines` come with code blocks and comments blanked.

    >>> elements(["<task>", "<name>Do it</name>", "</task>"])[0][1].text
    'Do it'
    """
    if not any(line.lstrip().startswith(_SIGNS) for line in lines):
        return [], []
    stack: list[_Open] = []
    found: list[Element] = []
    notes: list[str] = []
    for number, line in enumerate(lines):
        for tag in _tags(line):
            if not tag["end"]:
                if len(stack) < _DEEPEST:
                    attributes = {name: one or other for name, one, other in _ATTRIBUTE.findall(tag["attributes"])}
                    stack.append(_Open(tag["name"], attributes, number, tag.end()))
            elif any(opened.name == tag["name"] for opened in stack):
                while (opened := stack.pop()).name != tag["name"]:
                    notes.append(_unclosed(opened))
                found.append(_element(opened, lines, number, tag.start(), len(stack)))
    notes += [_unclosed(opened) for opened in stack if opened.name == "task"]
    found += [
        _element(opened, lines, len(lines) - 1, None, at) for at, opened in enumerate(stack) if opened.name == "task"
    ]
    return sorted(found, key=lambda element: (element.first, element.depth)), notes


def first_within(outer: Element, candidates: Sequence[Element]) -> Element | None:
    """The first of some elements, in their order, that stands within `outer`; None if none does."""
    at = bisect_left(candidates, outer.first, key=lambda element: element.first)
    inner = next((e for e in candidates[at : at + 2] if e.first > outer.first or e.depth > outer.depth), None)
    return inner if inner is not None and inner.last <= outer.last else None


def without_tags(line: str) -> str:
    """A line of a PLAN document without its tags; what is left begins at the margin, so that it is no list's."""
    tags = list(_tags(line))
    if not tags:
        return line
    pieces, at = [], 0
    for tag in tags:
        pieces.append(line[at : tag.start()])
        at = tag.end()
    return " ".join([*pieces, line[at:]]).strip()


def _tags(line: str) -> list[re.Match[str]]:
    """The tags of a line: opening ones at its beginning, one behind another, and closing ones; none in inline code."""
    if "<" not in line:
        return []
    begin = len(line) - len(line.lstrip())
    ticks = [matched.start() for matched in re.finditer("`", line)]
    tags = []
    for tag in _TAG.finditer(line):
        if tag["name"] in words("elements", "html") or bisect_left(ticks, tag.start()) % 2:
            continue
        if tag["end"] or tag.start() == begin:
            tags.append(tag)
            begin = tag.end() if tag.start() == begin else begin
    return tags


def _unclosed(opened: _Open) -> str:
    return f"line {opened.line + 1}: <{opened.name}> never closes"


def _element(opened: _Open, lines: Sequence[str], last: int, column: int | None, depth: int) -> Element:
    inside = [*lines[opened.line : last], lines[last][:column]]
    inside[0] = inside[0][opened.column :]
    return Element(
        opened.name, opened.attributes, opened.line + 1, last + 1, "\n".join(inside), depth, column is not None
    )
