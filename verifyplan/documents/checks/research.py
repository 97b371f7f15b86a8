"""The check of a research note: its findings, their sources and how sure they are (document 003; rule D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import (
    RequiredField,
    check_fields,
    check_form,
    check_labelled_confidence,
    check_sections,
    held_to_contract,
)
from verifyplan.documents.kinds.findings import CONFIDENCES, ResearchFinding, levels_in
from verifyplan.documents.kinds.research_note import COVERAGES, LEVELS, ResearchNote
from verifyplan.text import counted

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
    part = document.the_form.part(document.source, "Key Findings")
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
