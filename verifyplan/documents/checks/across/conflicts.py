"""Contradictions between research notes: documented by their summary and counted, never dropped (rule D3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.research_summary import ResearchSummary
from verifyplan.documents.reading.base import Document
from verifyplan.documents.reading.body import plain
from verifyplan.documents.reading.labelled import says_nothing
from verifyplan.documents.reading.source import Source
from verifyplan.documents.tree import Tree
from verifyplan.plans.values import LineRanges
from verifyplan.text import counted

_CONFLICT_TAG = re.compile(r"\[(?:CONFLICT|CONFLICTING|CONTRADICTION)\b[^\]\n]{0,80}\]", re.IGNORECASE)
_TITLE = re.compile(
    r"(?:(?:resolved|unresolved|documented|known|open|remaining|noted|source) )?"
    r"(?:contradictions?|conflicts?|conflicting (?:findings|evidence|sources|claims))"
    r"(?: (?:found|resolved|documented|(?:and|between|among|in|of) .{1,80}))?"
)
_WORD = re.compile(r"\b(?:conflict|contradict|disagree)", re.IGNORECASE)


def check_conflicts(tree: Tree) -> Iterator[Violation]:
    """The `conflicts` of each research summary against its body, and its body against the notes it was made from.

    A contradiction is documented by an item or row under a heading that speaks of conflicts or contradictions, or by
    the tag [CONFLICT]; where there is neither, by any item or row that says that something conflicts, contradicts or
    disagrees.
    Source: document 003, Synthesizer -> Planner; rule D3.
    """
    for summary, notes in tree.research:
        told = _told(summary.source)
        told_in_words = told or _in_words(summary.source)
        conflicts = summary.conflicts
        if conflicts is not None and (told_in_words < conflicts or told > conflicts):
            yield _miscounted(summary, told_in_words)
        dropped = [note for note in notes if _told(note.source)] if not told_in_words else []
        for note in dropped:
            yield _dropped(summary, note)


def _miscounted(summary: ResearchSummary, told: int) -> Violation:
    message = f"conflicts is {summary.conflicts}, but the body documents {counted(told, 'contradiction')}"
    fix = f"document each in a list or table under ## Contradictions, or write conflicts: {told}"
    line = summary.source.front.line("conflicts")
    return violation("tree/conflicts-count", summary.path, line, message, fix)


def _dropped(summary: ResearchSummary, note: Document) -> Violation:
    there = f"{PurePath(note.path).name} documents {counted(_told(note.source), 'contradiction')}"
    message = f"documents no contradiction, but {there}"
    line = summary.source.front.line("conflicts")
    return violation("tree/conflict-dropped", summary.path, line, message, "document it under ## Contradictions")


def _told(source: Source) -> int:
    """How many contradictions a document tells under their heading or by their tag."""
    headed = LineRanges((part.first, part.last) for part in source.parts if _TITLE.fullmatch(plain(part.title)))
    return sum(
        bool(_CONFLICT_TAG.search(text)) or (line in headed and not says_nothing(text)) for line, text in _items(source)
    )


def _in_words(source: Source) -> int:
    return sum(bool(_WORD.search(text)) for _, text in _items(source))


def _items(source: Source) -> Iterator[tuple[int, str]]:
    """The list items of the first depth, and the rows of tables."""
    yield from ((bullet.line, bullet.text) for bullet in source.bullets() if bullet.depth == 0)
    for table in source.tables():
        yield from ((row.line, " | ".join(row.cells)) for row in table.rows)
