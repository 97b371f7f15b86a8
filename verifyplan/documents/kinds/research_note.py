"""Research note: what one researcher found, with the source and confidence of each finding (document 003)."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from verifyplan.documents.kinds.findings import (
    CONFIDENCES,
    Confidence,
    ResearchFinding,
    Statement,
    confidence_in,
    findings,
    levels_in,
    said,
)
from verifyplan.documents.reading.base import Document, Kind
from verifyplan.documents.reading.form import Form, other_form
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.typed import count_of, text_of

COVERAGES = ("complete", "partial", "minimal")
LEVELS = ("S1", "S2", "S3", "S4", "S5", "S6")
"""The source levels of a researcher's own findings, from the best; S0 is a codebase map. Source: document 003."""


RESEARCH_NOTE_FORMS = (
    Form(
        "labelled",
        "a note without frontmatter: **Confidence:** in its head, sources by rank, and advice under its own headings",
        seen_by=("label:Confidence", "label:Overall confidence", "label:Researched"),
        aliases={
            "confidence": ("Confidence", "Overall confidence"),
            "Gaps": ("Open Questions", "Gaps to Address"),
        },
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
        key_findings = form.part(source, "Key Findings")
        return {
            "confidence": stated_confidence(source, form),
            "sources_checked": count_of(source.front, "sources_checked"),
            "coverage": text_of(source.front, "coverage"),
            "findings": findings(source, key_findings),
            "gaps": said(source, form.part(source, "Gaps")),
            "sources": tuple(
                ListedSource(item.text, levels_in(item.text), item.line)
                for item in said(source, form.part(source, "Sources"))
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
