"""Fenced code found line by line, also where a fence of Markdown holds fences of its own."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from verifyplan.plans.values import CodeBlock
from verifyplan.plans.word_lists import words

_MARK = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<run>`{3,}|~{3,})(?P<info>[^\n]*)")
_INDENT = re.compile(r"[ \t>]*")
_TASK_TAG = re.compile(
    r"[ \t]*<(?P<end>/?)(?P<name>task|action|verify|done|behavior|implementation|instructions|how-to-verify|what-built"
    r"|acceptance_criteria)(?:\s[^<>]{0,500})?>"
)
_MARKDOWN = frozenset({"markdown", "md", "mdx"})


class _Mark(NamedTuple):
    line: int  # from 0
    letter: str
    length: int
    info: str


class _Tag(NamedTuple):
    line: int  # from 0
    name: str
    opens: bool


def fences(lines: Sequence[str]) -> tuple[list[CodeBlock], list[str]]:
    """The fenced blocks of some lines, in order, and notes on those that never close.

    A block that never closes reaches to the end, as in CommonMark. Unlike there, a fence marked as Markdown
    that holds fences of the same length ends where its author meant it to end, if that can be told; and within an
    element of a task no block reaches beyond the line that closes the element, however its fences are nested.

    >>> fences(["```sh", "make", "```"])[0]
    [CodeBlock(language='sh', first=1, last=3, text='make')]
    """
    marks = [mark for number, line in enumerate(lines) if (mark := _mark(number, line)) is not None]
    tags = [tag for number, line in enumerate(lines) if (tag := _tag(number, line)) is not None]
    found, notes, at, seen = [], [], 0, 0
    around: Counter[str] = Counter()
    while at < len(marks):
        opening = marks[at]
        while seen < len(tags) and tags[seen].line < opening.line:
            around[tags[seen].name] += 1 if tags[seen].opens else -min(1, around[tags[seen].name])
            seen += 1
        end, cut = _end(marks, at, tags, seen, around)
        last = cut if cut is not None else marks[end].line + 1 if end is not None else len(lines)
        if end is None and cut is None:
            notes.append(f"line {opening.line + 1}: the code block never ends")
        inside = lines[opening.line + 1 : last if end is None else last - 1]
        text = "\n".join(_dedented(lines[opening.line], inside))
        found.append(CodeBlock(_language(opening.info), opening.line + 1, last, text))
        while seen < len(tags) and tags[seen].line < last:
            seen += 1  # tags in a block are code
        while at < len(marks) and marks[at].line < last:
            at += 1
    return found, notes


def _end(
    marks: Sequence[_Mark], at: int, tags: Sequence[_Tag], seen: int, around: Counter[str]
) -> tuple[int | None, int | None]:
    """The mark that closes a block, or the line that closes the element around it, whichever comes first.

    A tag that the block itself opens is closed within it, and one closing tag alone before the mark is code, too: it
    takes a second tag for the element to be over. Both are None for a block that never ends.
    """
    nested, closed = _nested_end(marks, at), None
    within: Counter[str] = Counter()
    for index in range(at + 1, len(marks) + 1):
        line = marks[index].line if index < len(marks) else None
        while seen < len(tags) and (line is None or tags[seen].line < line):
            tag = tags[seen]
            if closed is not None:
                return None, closed
            if not tag.opens and not within[tag.name] and around[tag.name]:
                closed = tag.line
            within[tag.name] += 1 if tag.opens else -min(1, within[tag.name])
            seen += 1
        if line is not None and (index == nested if nested is not None else _closes(marks[index], marks[at])):
            return index, None
    return None, closed


def _tag(number: int, line: str) -> _Tag | None:
    """The tag of a task's element that a line begins with, or is; None for an element of one line."""
    matched = _TASK_TAG.match(line) if "<" in line else None
    if matched is None or (not matched["end"] and f"</{matched['name']}>" in line):
        return None
    return (
        None if matched["end"] and line[matched.end() :].strip() else _Tag(number, matched["name"], not matched["end"])
    )


def _mark(number: int, line: str) -> _Mark | None:
    """The fence that a line is; a run of backticks with more of them behind it is code within a line."""
    matched = _MARK.match(line) if "```" in line or "~~~" in line else None
    if matched is None or (matched["run"][0] == "`" and "`" in matched["info"]):
        return None
    return _Mark(number, matched["run"][0], len(matched["run"]), matched["info"].strip())


def _closes(mark: _Mark, opening: _Mark) -> bool:
    return mark.letter == opening.letter and mark.length >= opening.length and not mark.info


def _nested_end(marks: Sequence[_Mark], at: int) -> int | None:
    """Where a Markdown fence ends that holds whole fences; None unless it holds one that has a language."""
    opening = marks[at]
    if _language(opening.info) not in _MARKDOWN:
        return None
    within, held = False, False
    for index, mark in _following(marks, at):
        if within:
            within = not _closes(mark, opening)
        elif mark.info:
            within = held = True
        elif _closes(mark, opening):
            return index if held else None
    return None


def _following(marks: Sequence[_Mark], at: int) -> Iterator[tuple[int, _Mark]]:
    """The next marks like the one at `at`, so many that a plan can need them and a hostile text stays cheap."""
    for index in range(at + 1, min(at + 101, len(marks))):
        if marks[index].letter == marks[at].letter and marks[index].length >= marks[at].length:
            yield index, marks[index]


def _language(info: str) -> str:
    return info.split()[0].strip("{}.").lower() if info.strip() else ""


def _dedented(opening: str, lines: Sequence[str]) -> list[str]:
    """Lines without the indent that their block has as a whole."""
    matched = _INDENT.match(opening)
    indent = matched.group() if matched else ""
    return [line[len(indent) :] if line.startswith(indent) else line.lstrip(" \t") for line in lines]


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
