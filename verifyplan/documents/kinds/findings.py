"""Findings of a research note: their source levels, confidence and whether they are speculation (rule D1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, cast, get_args

from verifyplan.documents.reading.body import Part, bullets, tables
from verifyplan.documents.reading.source import Source

Confidence = Literal["high", "medium", "low"]
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)
"""From the highest to the lowest."""

_LEVEL = re.compile(r"\[S(\d{1,2})\]")
_GRADE = r"(high|medium|low)"
_CONFIDENCE = re.compile(
    rf"[\[(](?:confidence[:= ]+)?{_GRADE}(?: confidence)?[\])]"
    rf"|\bconfidence\W{{1,6}}{_GRADE}\b|\b{_GRADE}[ -]confidence\b",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"\b(HIGH|MEDIUM|LOW)\b")
SPECULATIVE = "[SPECULATIVE]"
_LONGEST = 4_000

_VERSION = re.compile(
    r"\bv\d{1,4}(?:\.\d{1,6}){0,3}\b|(?<![\w.$])\d{1,4}\.\d{1,6}\.\d{1,6}(?![\w.])|(?:[<>=~^]=?|@) ?v?\d{1,4}\.\d{1,6}"
    r"|\b(?:version|release)s? \d"
    r"|\b[A-Z][\w.+#-]{1,40} \d{1,4}\.\d{1,4}(?![\w%]|\.\d| ?(?:%|seconds?|ms|[KMGT]i?B|x)\b)",
)
_SIGNATURE = re.compile(r"`[A-Za-z_][\w.]{0,80}\([^`]{0,200}\)[^`]{0,80}`")
_CONFIG = re.compile(r"`(?:--[a-z][\w-]{1,60}[^`]{0,80}|[A-Za-z_][\w.-]{0,60} ?[=:] ?[^`\s][^`]{0,80})`")


class ResearchFinding(NamedTuple):
    """A finding as it is written; `source_level` is the best of its tags, "S1" above "S6".

    `confidence` is None where it states none, `source_level` where it has no tag.
    """

    text: str
    source_level: str | None
    confidence: Confidence | None
    speculative: bool
    line: int

    @property
    def version_sensitive(self) -> str:
        """The version, signature or setting that the finding rests on; empty where it names none."""
        return version_sensitive(self.text)


class Statement(NamedTuple):
    """Something that a document says in one item, and its line."""

    text: str
    line: int


def confidence_in(text: str) -> Confidence | None:
    """The first confidence that a text states, in brackets, in capitals, or beside the word; None without any.

    >>> confidence_in("[S2] (medium) Uses pools"), confidence_in("HIGH - read it"), confidence_in("high load")
    ('medium', 'high', None)
    """
    text = text[:_LONGEST]
    found = _CONFIDENCE.search(text)
    if found is None:
        found = _CAPITALS.search(text)
    return cast(Confidence, next(group for group in found.groups() if group).lower()) if found else None


def levels_in(text: str) -> tuple[str, ...]:
    """The source levels that a text is tagged with, in their order, known or not.

    >>> levels_in("[S1] and [S4]"), levels_in("[S9]")
    (('S1', 'S4'), ('S9',))
    """
    return tuple(f"S{found}" for found in _LEVEL.findall(text[:_LONGEST]))


def version_sensitive(text: str) -> str:
    """The first version number, API signature or setting that a text names; empty where there is none.

    A number alone ("takes 2.5 seconds") is no version. Source: rule D2.

    >>> version_sensitive("needs Express 5.1"), version_sensitive("call `open(path)`"), version_sensitive("2.5 seconds")
    ('Express 5.1', '`open(path)`', '')
    """
    text = text[:_LONGEST]
    found = _VERSION.search(text) or _SIGNATURE.search(text) or _CONFIG.search(text)
    return found.group().strip() if found else ""


def findings(source: Source, part: Part | None) -> tuple[ResearchFinding, ...]:
    """The findings under a heading: what it says, each with its level and confidence; () without a heading."""
    return tuple(_read_finding(statement) for statement in said(source, part))


def _read_finding(statement: Statement) -> ResearchFinding:
    levels = sorted(levels_in(statement.text), key=lambda level: int(level[1:]))
    speculative = SPECULATIVE in statement.text.upper()
    line, text = statement.line, statement.text
    return ResearchFinding(text, levels[0] if levels else None, confidence_in(text), speculative, line)


def said(source: Source, part: Part | None) -> tuple[Statement, ...]:
    """What a section says: its outermost list items and its tables' rows, else its paragraphs; () without a section."""
    if part is None:
        return ()
    lines = source.prose_of(part)
    rows = [Statement(" | ".join(row.cells), row.line) for table in tables(lines) for row in table.rows]
    return tuple(sorted([*outermost(lines), *rows], key=lambda item: item.line)) or tuple(paragraphs(lines))


def outermost(lines: list[tuple[int, str]]) -> list[Statement]:
    """The outermost list items among numbered lines, each with the items below it."""
    found: list[tuple[int, list[str]]] = []
    for bullet in bullets(lines):
        if bullet.depth == 0 or not found:
            found.append((bullet.line, [bullet.text]))
        else:
            found[-1][1].append(bullet.text)
    return [Statement(" ".join(texts), line) for line, texts in found]


def paragraphs(lines: list[tuple[int, str]]) -> Iterator[Statement]:
    """The paragraphs among numbered lines, without headings."""
    texts: list[str] = []
    begun = 0
    for number, line in [*lines, (0, "")]:
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            begun = begun if texts else number
            texts.append(stripped)
        elif texts:
            yield Statement(" ".join(texts), begun)
            texts = []
