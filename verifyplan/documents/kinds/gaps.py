"""The gaps of a verification: what is missing, the evidence, and the suggested fix."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from verifyplan.documents.reading.body import Numbered, Part
from verifyplan.documents.reading.entries import entries_of
from verifyplan.documents.reading.front import Front
from verifyplan.documents.reading.labelled import Labelled, labelled
from verifyplan.documents.reading.sections import items, subparts
from verifyplan.documents.reading.source import Source

_NAMES = {"evidence": "evidence", "suggested fix": "fix", "fix": "fix", "status": "status"}
_CLOSED = ("resolved", "closed", "fixed", "done")
_LABEL = re.compile(r"(?i)\b(evidence|suggested fix):")


class Gap(NamedTuple):
    """A gap in detail; evidence and fix are empty where the document does not tell them."""

    title: str
    evidence: str
    fix: str
    line: int = 0


def open_gaps(front: Front) -> tuple[Labelled, ...]:
    """The gaps that frontmatter lists, with their lines, but those whose own status says that they are closed."""
    value = front.values.get("gaps")
    closed = {
        front.line("gaps", at)
        for at, item in enumerate(value if isinstance(value, list) else ())
        if isinstance(item, dict) and _is_closed(str(item.get("status", "")))
    }
    return tuple(entry for entry in entries_of(front, "gaps") if entry.line not in closed)


def _is_closed(status: str) -> bool:
    return status.casefold().strip("*_` ").startswith(_CLOSED)


def gaps_in(source: Source, part: Part | None) -> tuple[Gap, ...]:
    """The gaps that a section tells: one under each heading, or without headings one in each list item.

    Evidence and fix stand behind their labels, on lines of their own or within the item. A section that says None has
    none, and a gap whose status says that it is closed is none. Source: document 003, Verifier -> Planner.
    """
    if part is None:
        return ()
    under = subparts(source, part)
    if under:
        lines = [source.lines_of(inner) for inner in under]
        return tuple(
            _gap(inner.title, inner.first, told)
            for inner, told in zip(under, lines, strict=True)
            if not _is_closed(labelled(told, _NAMES).get("status", Labelled("", 0)).text)
        )
    return tuple(_listed(source, part))


def _listed(source: Source, part: Part) -> Iterator[Gap]:
    tops = items(source, part)
    for at, bullet in enumerate(tops):
        end = tops[at + 1].line - 1 if at + 1 < len(tops) else part.last
        below = list(enumerate(source.lines[bullet.line : end], bullet.line + 1))
        title, *told = _LABEL.split(source.lines[bullet.line - 1].strip().lstrip("-*+ "))
        inline = {
            _NAMES[label.casefold()]: text.strip("*_ ;") for label, text in zip(told[::2], told[1::2], strict=True)
        }
        yield _gap(title.strip("*_ .;"), bullet.line, below, inline)


def _gap(title: str, line: int, lines: Sequence[Numbered], inline: Mapping[str, str] = MappingProxyType({})) -> Gap:
    found = {**inline, **{name: told.text for name, told in labelled(lines, _NAMES).items()}}
    return Gap(title, found.get("evidence", ""), found.get("fix", ""), line)
