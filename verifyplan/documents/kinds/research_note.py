"""Research note: what one researcher found, with the source and confidence of each finding (rules D1, D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, cast, get_args

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import check_labelled_confidence, check_layout
from verifyplan.documents.reading.body import DocumentSection, NumberedLine, find_bullets, find_tables
from verifyplan.documents.reading.document import Document, DocumentKind, Form, RequiredField, other_form
from verifyplan.documents.reading.front import text_of
from verifyplan.documents.reading.phrases import LocatedText
from verifyplan.documents.reading.source import Source
from verifyplan.text import counted

ResearchConfidence = Literal["high", "medium", "low"]
CONFIDENCES: tuple[ResearchConfidence, ...] = get_args(ResearchConfidence)
"""From the highest to the lowest."""
SPECULATIVE = "[SPECULATIVE]"
COVERAGES = ("complete", "partial", "minimal")
LEVELS = ("S1", "S2", "S3", "S4", "S5", "S6")
"""The source levels of a researcher's own findings, from the best; S0 is a codebase map."""
KNOWN_LEVELS = ("S0", *LEVELS)
PRIMARY_LEVELS = ("S0", "S1", "S2", "S3")
"""The levels from which versions, signatures and settings may come (rule D2)."""

_MAX_CHARACTERS = 4_000  # of a finding that are searched for tags, confidence and versions
_LEVEL = re.compile(r"\[S(\d{1,2})\]")
_GRADE = r"(high|medium|low)"
_CONFIDENCE = re.compile(
    rf"[\[(](?:confidence[:= ]+)?{_GRADE}(?: confidence)?[\])]"
    rf"|\bconfidence\W{{1,6}}{_GRADE}\b|\b{_GRADE}[ -]confidence\b",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"\b(HIGH|MEDIUM|LOW)\b")

_VERSION = re.compile(
    r"\bv\d{1,4}(?:\.\d{1,6}){0,3}\b|(?<![\w.$])\d{1,4}\.\d{1,6}\.\d{1,6}(?![\w.])|(?:[<>=~^]=?|@) ?v?\d{1,4}\.\d{1,6}"
    r"|\b(?:version|release)s? \d"
    r"|\b[A-Z][\w.+#-]{1,40} \d{1,4}\.\d{1,4}(?![\w%]|\.\d| ?(?:%|seconds?|ms|[KMGT]i?B|x)\b)"
)
_SIGNATURE = re.compile(r"`[A-Za-z_][\w.]{0,80}\([^`]{0,200}\)[^`]{0,80}`")
_CONFIG = re.compile(r"`(?:--[a-z][\w-]{1,60}[^`]{0,80}|[A-Za-z_][\w.-]{0,60} ?[=:] ?[^`\s][^`]{0,80})`")
_TAG = re.compile(r"\[S\d{1,2}\]")
_LINK = re.compile(r"\[[^\]]{0,300}\]\([^)]{0,500}\)|https?://\S{1,500}")


class ResearchFinding(NamedTuple):
    """A finding as it is written; `source_level` is the best of its tags, "S1" above "S6".

    `confidence` is None where it states none, `source_level` where it has no tag.
    """

    text: str
    source_level: str | None
    confidence: ResearchConfidence | None
    speculative: bool
    line: int


class ListedSource(NamedTuple):
    """A source that a note lists; `levels` are the tags beside it."""

    text: str
    levels: tuple[str, ...]
    line: int


class ResearchNote(Document):
    """The findings of a researcher about a topic or phase, with gaps and sources."""

    FORMS = (
        Form(
            "labelled",
            "a note without frontmatter: **Confidence:** in its head, sources by rank, and advice under its own"
            " headings",
            seen_by=("label:Confidence", "label:Overall confidence", "label:Researched"),
            aliases={"confidence": ("Confidence", "Overall confidence"), "Gaps": ("Open Questions", "Gaps to Address")},
        ),
        other_form("front:sources_checked", "front:coverage", *(f"text:[S{level}]" for level in range(7))),
    )
    FIELDS = (
        RequiredField("confidence", "word", CONFIDENCES),
        RequiredField("sources_checked", "number"),
        RequiredField("coverage", "word", COVERAGES),
    )
    SECTIONS = ("Key Findings", "Gaps", "Sources")

    kind: DocumentKind = "research-note"
    confidence: ResearchConfidence | None = None
    sources_checked: int | None = None
    coverage: str | None = None
    findings: tuple[ResearchFinding, ...] = ()
    gaps: tuple[LocatedText, ...] = ()
    sources: tuple[ListedSource, ...] = ()

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:
        """Return the typed fields of a research note."""
        findings, gaps, sources = (statements(source, form.section(source, title)) for title in cls.SECTIONS)
        return {
            "confidence": stated_confidence(source, form),
            "findings": tuple(map(_finding, findings)),
            "gaps": gaps,
            "sources": tuple(ListedSource(text, levels_in(text), line) for text, line in sources),
        }


def _finding(statement: LocatedText) -> ResearchFinding:
    text, line = statement
    best = min(levels_in(text), key=lambda level: int(level[1:]), default=None)
    return ResearchFinding(text, best, confidence_in(text), SPECULATIVE in text.upper(), line)


def stated_confidence(source: Source, form: Form) -> ResearchConfidence | None:
    """Return the confidence of a whole document: its frontmatter's, in a labelled form its label's."""
    stated = text_of(source.front, "confidence")
    if stated is not None:
        return next((known for known in CONFIDENCES if known == stated.strip().casefold()), None)
    label = form.label(source, "confidence")
    first = label[1].split(maxsplit=1)[:1] if label else []
    return confidence_in(f"({first[0].strip('*.,;')})") if first else None


def confidence_in(text: str) -> ResearchConfidence | None:
    """Return the first confidence that a text states, in brackets, in capitals, or beside the word; None without any.

    >>> confidence_in("[S2] (medium) Uses pools"), confidence_in("HIGH - read it"), confidence_in("high load")
    ('medium', 'high', None)
    """
    text = text[:_MAX_CHARACTERS]
    match = _CONFIDENCE.search(text) or _CAPITALS.search(text)
    return cast(ResearchConfidence, next(group for group in match.groups() if group).lower()) if match else None


def levels_in(text: str) -> tuple[str, ...]:
    """Return the source levels that a text is tagged with, in their order, known or not.

    >>> levels_in("[S1] and [S4]"), levels_in("[S9]")
    (('S1', 'S4'), ('S9',))
    """
    return tuple(f"S{level}" for level in _LEVEL.findall(text[:_MAX_CHARACTERS]))


def version_sensitive(text: str) -> str:
    """Return the first version number, API signature or setting that a text names; empty without one (rule D2).

    A number alone ("takes 2.5 seconds") is not a version.

    >>> version_sensitive("needs Express 5.1"), version_sensitive("call `open(path)`"), version_sensitive("2.5 seconds")
    ('Express 5.1', '`open(path)`', '')
    """
    text = text[:_MAX_CHARACTERS]
    match = _VERSION.search(text) or _SIGNATURE.search(text) or _CONFIG.search(text)
    return match.group().strip() if match else ""


def statements(source: Source, section: DocumentSection | None) -> tuple[LocatedText, ...]:
    """Return a section's outermost list items and table rows, without any its paragraphs; () without a section."""
    if section is None:
        return ()
    lines = source.prose_of(section)
    rows = [LocatedText(" | ".join(row.cells), row.line) for table in find_tables(lines) for row in table.rows]
    return tuple(sorted([*outermost(lines), *rows], key=lambda item: item.line)) or tuple(_paragraphs(lines))


def outermost(lines: list[NumberedLine]) -> list[LocatedText]:
    """Return the outermost list items among lines, each with the items below it."""
    items: list[tuple[int, list[str]]] = []
    for bullet in find_bullets(lines):
        if bullet.depth == 0 or not items:
            items.append((bullet.line, [bullet.text]))
        else:
            items[-1][1].append(bullet.text)
    return [LocatedText(" ".join(texts), line) for line, texts in items]


def _paragraphs(lines: list[NumberedLine]) -> Iterator[LocatedText]:
    texts: list[str] = []
    begun = 0
    for number, line in [*lines, (0, "")]:
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            begun = begun if texts else number
            texts.append(stripped)
        elif texts:
            yield LocatedText(" ".join(texts), begun)
            texts = []


def check_research_note(document: ResearchNote) -> Iterator[Violation]:
    """Yield the violations of one research note (rule D2)."""
    yield from check_layout(document)
    yield from check_labelled_confidence(document, document.confidence)
    section = document.section("Key Findings")
    if section is not None and not document.findings:
        yield violation("research-note/no-findings", document.path, section.first)
    for finding in document.findings:
        yield from _check_finding(document, finding)
    if document.held_to_contract:
        yield from _check_sources(document)


def _check_finding(document: ResearchNote, finding: ResearchFinding) -> Iterator[Violation]:
    path, line, text, levels = document.path, finding.line, finding.text, levels_in(finding.text)
    held = document.held_to_contract
    if not levels and held:
        yield violation("research-note/source-level-missing", path, line, finding=text)
    for level in dict.fromkeys(level for level in levels if level not in KNOWN_LEVELS):
        yield violation("research-note/source-level", path, line, level=level)
    if finding.confidence is None and held:
        yield violation("research-note/confidence-missing", path, line, finding=text)
    if finding.speculative and finding.confidence == "high":
        yield violation("research-note/speculative", path, line, finding=text)
    known, sensitive = [level for level in levels if level in KNOWN_LEVELS], version_sensitive(text)
    if known and sensitive and not set(known) & set(PRIMARY_LEVELS) and held:
        yield violation("research-note/version-source", path, line, sensitive=sensitive[:60], level=known[0])


def _check_sources(document: ResearchNote) -> Iterator[Violation]:
    """Check that sources have the levels of the findings, the first finding of each level, and what they provide."""
    listed = {level for source in document.sources for level in source.levels}
    for finding in document.findings:
        for level in levels_in(finding.text):
            if level in KNOWN_LEVELS and level not in listed:
                listed.add(level)
                yield violation("research-note/source-unlisted", document.path, finding.line, level=level)
    for source in document.sources:
        if not _says_what_it_provided(source.text):
            yield violation("research-note/source-silent", document.path, source.line, source=source.text)
    checked, n = document.sources_checked, len(document.sources)
    if checked is not None and n > checked:
        line, values = document.source.front.line("sources_checked"), {"listed": counted(n, "source"), "n": n}
        yield violation("research-note/sources-counted", document.path, line, checked=checked, **values)


def _says_what_it_provided(text: str) -> bool:
    """Whether a listed source is more than its name or address: words behind a dash or colon, or another column."""
    if "http" not in text and "](" not in text:
        return any(mark in text for mark in (" - ", " -- ", "—", "–", ": ", " | "))  # noqa: RUF001
    rest = _LINK.sub(" ", _TAG.sub(" ", text))
    return sum(letter.isalpha() for letter in rest) >= 3
