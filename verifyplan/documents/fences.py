"""Fenced code found line by line, also where a fence of Markdown holds fences of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from verifyplan.documents.values import CodeBlock

_MARK = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<run>`{3,}|~{3,})(?P<info>[^\n]*)")
_INDENT = re.compile(r"[ \t>]*")
_MARKDOWN = frozenset({"markdown", "md", "mdx"})


class _Mark(NamedTuple):
    line: int  # from 0
    letter: str
    length: int
    info: str


def fences(lines: Sequence[str]) -> tuple[list[CodeBlock], list[str]]:
    """The fenced blocks of some lines, in order, and notes on those that never close.

    A block that never closes reaches to the end, as in CommonMark. Unlike there, a fence marked as Markdown
    that holds fences of the same length ends where its author meant it to end, if that can be told.

    >>> fences(["```sh", "make", "```"])[0]
    [CodeBlock(language='sh', first=1, last=3, text='make')]
    """
    marks = [mark for number, line in enumerate(lines) if (mark := _mark(number, line)) is not None]
    found, notes, at = [], [], 0
    while at < len(marks):
        opening = marks[at]
        end = _nested_end(marks, at) or _end(marks, at)
        closing = marks[end].line if end is not None else len(lines)
        if end is None:
            notes.append(f"line {opening.line + 1}: the code block never ends")
        last = min(closing + 1, len(lines))
        inside = _dedented(lines[opening.line], lines[opening.line + 1 : closing])
        found.append(CodeBlock(_language(opening.info), opening.line + 1, last, "\n".join(inside)))
        at = len(marks) if end is None else end + 1
    return found, notes


def _mark(number: int, line: str) -> _Mark | None:
    """The fence that a line is; a run of backticks with more of them behind it is code within a line."""
    matched = _MARK.match(line) if "```" in line or "~~~" in line else None
    if matched is None or (matched["run"][0] == "`" and "`" in matched["info"]):
        return None
    return _Mark(number, matched["run"][0], len(matched["run"]), matched["info"].strip())


def _end(marks: Sequence[_Mark], at: int) -> int | None:
    opening = marks[at]
    return next((index for index in range(at + 1, len(marks)) if _closes(marks[index], opening)), None)


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
