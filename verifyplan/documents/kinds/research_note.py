"""Research note: what one researcher found, with the source and confidence of each finding (document 003)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, cast, get_args

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import (
    RequiredField,
    check_fields,
    check_form,
    check_labelled_confidence,
    check_sections,
    held_to_contract,
)
from verifyplan.documents.reading.body import DocumentSection, find_bullets, find_tables
from verifyplan.documents.reading.document import Document, Form, Kind, other_form
from verifyplan.documents.reading.front import count_of, text_of
from verifyplan.documents.reading.source import Source
from verifyplan.text import counted

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
    r"|\b[A-Z][\w.+#-]{1,40} \d{1,4}\.\d{1,4}(?![\w%]|\.\d| ?(?:%|seconds?|ms|[KMGT]i?B|x)\b)"
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


def findings(source: Source, part: DocumentSection | None) -> tuple[ResearchFinding, ...]:
    """The findings under a heading: what it says, each with its level and confidence; () without a heading."""
    return tuple(_read_finding(statement) for statement in said(source, part))


def _read_finding(statement: Statement) -> ResearchFinding:
    levels = sorted(levels_in(statement.text), key=lambda level: int(level[1:]))
    speculative = SPECULATIVE in statement.text.upper()
    line, text = statement.line, statement.text
    return ResearchFinding(text, levels[0] if levels else None, confidence_in(text), speculative, line)


def said(source: Source, part: DocumentSection | None) -> tuple[Statement, ...]:
    """What a section says: its outermost list items and its tables' rows, else its paragraphs; () without a section."""
    if part is None:
        return ()
    lines = source.prose_of(part)
    rows = [Statement(" | ".join(row.cells), row.line) for table in find_tables(lines) for row in table.rows]
    return tuple(sorted([*outermost(lines), *rows], key=lambda item: item.line)) or tuple(paragraphs(lines))


def outermost(lines: list[tuple[int, str]]) -> list[Statement]:
    """The outermost list items among numbered lines, each with the items below it."""
    found: list[tuple[int, list[str]]] = []
    for bullet in find_bullets(lines):
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


COVERAGES = ("complete", "partial", "minimal")
LEVELS = ("S1", "S2", "S3", "S4", "S5", "S6")
"""The source levels of a researcher's own findings, from the best; S0 is a codebase map. Source: document 003."""


RESEARCH_NOTE_FORMS = (
    Form(
        "labelled",
        "a note without frontmatter: **Confidence:** in its head, sources by rank, and advice under its own headings",
        seen_by=("label:Confidence", "label:Overall confidence", "label:Researched"),
        aliases={"confidence": ("Confidence", "Overall confidence"), "Gaps": ("Open Questions", "Gaps to Address")},
    ),
    other_form("front:sources_checked", "front:coverage", *(f"text:[S{level}]" for level in range(7))),
)


class ListedSource(NamedTuple):
    """A source that a note lists; `levels` are the tags beside it."""

    text: str
    levels: tuple[str, ...]
    line: int


class ResearchNote(Document):
    """What a researcher found about one topic or phase. Source: document 003, Researcher -> Synthesizer; rule D1."""

    FORMS: ClassVar[tuple[Form, ...]] = RESEARCH_NOTE_FORMS

    kind: Kind = "research-note"
    confidence: Confidence | None = None
    sources_checked: int | None = None
    coverage: str | None = None
    findings: tuple[ResearchFinding, ...] = ()
    gaps: tuple[Statement, ...] = ()
    sources: tuple[ListedSource, ...] = ()

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:
        """The typed fields of a research note."""
        key_findings = form.section(source, "Key Findings")
        return {
            "confidence": stated_confidence(source, form),
            "sources_checked": count_of(source.front, "sources_checked"),
            "coverage": text_of(source.front, "coverage"),
            "findings": findings(source, key_findings),
            "gaps": said(source, form.section(source, "Gaps")),
            "sources": tuple(
                ListedSource(item.text, levels_in(item.text), item.line)
                for item in said(source, form.section(source, "Sources"))
            ),
        }


def stated_confidence(source: Source, form: Form) -> Confidence | None:
    """The confidence of a whole document: its frontmatter's, in a labelled form its label's."""
    stated = text_of(source.front, "confidence")
    if stated is not None:
        return next((known for known in CONFIDENCES if known == stated.strip().casefold()), None)
    labelled = form.label(source, "confidence")
    first = labelled[1].split(maxsplit=1)[:1] if labelled else []
    return confidence_in(f"({first[0].strip('*.,;')})") if first else None


FIELDS = (
    RequiredField("confidence", "word", CONFIDENCES),
    RequiredField("sources_checked", "number"),
    RequiredField("coverage", "word", COVERAGES),
)
SECTIONS = ("Key Findings", "Gaps", "Sources")

KNOWN = ("S0", *LEVELS)
PRIMARY = ("S0", "S1", "S2", "S3")
"""The levels from which versions, signatures and settings may come. Source: rule D2."""

_TAG = re.compile(r"\[S\d{1,2}\]")
_LINK = re.compile(r"\[[^\]]{0,300}\]\([^)]{0,500}\)|https?://\S{1,500}")


def check_research_note(document: ResearchNote, root: Path | None = None) -> Iterator[Violation]:  # noqa: ARG001
    """The violations of one research note. Source: document 003, Researcher -> Synthesizer; rule D2."""
    return chain(
        check_form(document),
        check_fields(document, FIELDS),
        check_labelled_confidence(document, document.confidence),
        check_sections(document, SECTIONS),
        _check_no_findings(document),
        chain.from_iterable(_check_finding(document, finding) for finding in document.findings),
        _check_sources(document),
    )


def _check_no_findings(document: ResearchNote) -> Iterator[Violation]:
    part = document.the_form.section(document.source, "Key Findings")
    if part is not None and not document.findings:
        message, fix = (
            "Key Findings holds no finding",
            "write each as a list item, with its source level and confidence",
        )
        yield violation("research-note/no-findings", document.path, part.first, message, fix)


def _check_finding(document: ResearchNote, finding: ResearchFinding) -> Iterator[Violation]:
    place, told = finding.line, repr(finding.text[:80])
    levels = levels_in(finding.text)
    if not levels and held_to_contract(document):
        message, fix = f"the finding {told} has no source level", "tag it with [S1] to [S6], or [S0] for a codebase map"
        yield violation("research-note/source-level-missing", document.path, place, message, fix)
    for level in dict.fromkeys(level for level in levels if level not in KNOWN):
        message = f"[{level}] is no source level"
        yield violation("research-note/source-level", document.path, place, message, "write [S0] to [S6]")
    if finding.confidence is None and held_to_contract(document):
        message, fix = f"the finding {told} states no confidence", "add (high), (medium) or (low)"
        yield violation("research-note/confidence-missing", document.path, place, message, fix)
    if finding.speculative and finding.confidence == "high":
        message, fix = f"the finding {told} is [SPECULATIVE] and of high confidence", "write (low), or find a source"
        yield violation("research-note/speculative", document.path, place, message, fix)
    yield from _check_version(document, finding, levels)


def _check_version(document: ResearchNote, finding: ResearchFinding, levels: tuple[str, ...]) -> Iterator[Violation]:
    known = [level for level in levels if level in KNOWN]
    named = finding.version_sensitive
    if known and named and not set(known) & set(PRIMARY) and held_to_contract(document):
        message = f"{named[:60]!r} may change with a version and comes from [{known[0]}] alone"
        fix = "look it up in a source of level S1 to S3"
        yield violation("research-note/version-source", document.path, finding.line, message, fix)


def _check_sources(document: ResearchNote) -> Iterator[Violation]:
    listed = {level for source in document.sources for level in source.levels}
    if held_to_contract(document):
        yield from _check_unlisted(document, listed)
        for source in document.sources:
            if not _says(source.text):
                message = f"the source {source.text[:80]!r} does not say what it provided"
                fix = "write behind it what was found there"
                yield violation("research-note/source-silent", document.path, source.line, message, fix)
    checked = document.sources_checked
    if checked is not None and len(document.sources) > checked and held_to_contract(document):
        message = f"{counted(len(document.sources), 'source')} listed, sources_checked is {checked}"
        line = document.source.front.line("sources_checked")
        fix = f"write sources_checked: {len(document.sources)}, or list no others"
        yield violation("research-note/sources-counted", document.path, line, message, fix)


def _check_unlisted(document: ResearchNote, listed: set[str]) -> Iterator[Violation]:
    """The first finding of each level that no listed source has."""
    told: set[str] = set()
    for finding in document.findings:
        for level in levels_in(finding.text):
            if level in KNOWN and level not in listed and level not in told:
                told.add(level)
                message, fix = f"no listed source has the level [{level}]", f"list it under Sources, tagged [{level}]"
                yield violation("research-note/source-unlisted", document.path, finding.line, message, fix)


def _says(text: str) -> bool:
    """Whether a listed source says more than its name or address: words behind a dash or colon, or another column."""
    if "http" not in text and "](" not in text:
        return any(mark in text for mark in (" - ", " -- ", "—", "–", ": ", " | "))  # noqa: RUF001
    rest = _LINK.sub(" ", _TAG.sub(" ", text))
    return sum(letter.isalpha() for letter in rest) >= 3
