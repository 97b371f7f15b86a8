"""CONTEXT.md: the decisions that are locked, and the ideas that are deferred (rule D4, dimension D7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from verifyplan.documents.reading.body import Part, plain
from verifyplan.documents.reading.source import Source, read_source

_STATED = re.compile(r"\s{0,3}(?:[-*]\s+)?\*\*decision\**\s{0,3}:\**\s*(?P<text>.+)", re.IGNORECASE)
_FREE = ("discretion", "rationale", "reason", "background", "options")
_NOTHING = ("none", "n/a", "nothing")


class ContextItem(NamedTuple):
    """A decision or an idea, and its line in CONTEXT.md."""

    text: str
    line: int


class PhaseContext(NamedTuple):
    """What a person decided before the plans were made."""

    path: str
    decisions: tuple[ContextItem, ...]
    deferred: tuple[ContextItem, ...]


def read_context(text: str, path: str = "CONTEXT.md") -> PhaseContext:
    r"""The decisions and deferred ideas of a CONTEXT.md; what is left to the planner's discretion is neither.

    A decision is a line `**Decision:** ...` of a subsection, else each bullet of the section. Never raises.

    >>> read_context("## Locked Decisions\n- Use Express\n\n## Deferred Ideas\n- A mobile app\n").deferred
    (Said(text='A mobile app', line=5),)
    """
    source = read_source(text, path)
    return PhaseContext(path, tuple(_said(source, "decision")), tuple(_said(source, "deferred")))


def _said(source: Source, wanted: str) -> Iterator[ContextItem]:
    """What stands under the headings that hold a word, each line counted once."""
    seen: set[int] = set()
    for part in _parts(source, wanted):
        for said in _items(source, part):
            if said.line not in seen and not plain(said.text).startswith(_NOTHING):
                seen.add(said.line)
                yield said


def _parts(source: Source, wanted: str) -> Iterator[Part]:
    """The smallest sections under headings that hold the word; sections that leave something open are none."""
    within = 0
    for place, part in enumerate(source.parts):
        title = plain(part.title)
        if wanted in title:
            within = max(within, part.last)
        if part.first > within or any(word in title for word in _FREE):
            continue
        if wanted != "deferred" and "deferred" in title:
            continue
        following = source.parts[place + 1] if place + 1 < len(source.parts) else None
        last = min(part.last, following.first - 1) if following else part.last
        yield Part(part.title, part.level, part.first, last)


def _items(source: Source, part: Part) -> Iterator[ContextItem]:
    stated = [(number, _STATED.match(line)) for number, line in source.prose_of(part)]
    found = [ContextItem(matched["text"].strip(), number) for number, matched in stated if matched]
    if found:
        yield from found
    else:
        yield from (ContextItem(bullet.text, bullet.line) for bullet in source.bullets(part) if bullet.depth == 0)
