"""Research summary: the decisions of several research notes, and what is still open (document 003)."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from verifyplan.documents.kinds.findings import (
    CONFIDENCES,
    Confidence,
    Statement,
    said,
)
from verifyplan.documents.kinds.research_note import stated_confidence
from verifyplan.documents.reading.base import Document, Kind
from verifyplan.documents.reading.body import Table
from verifyplan.documents.reading.form import Form, other_form
from verifyplan.documents.reading.sections import rows_of
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.typed import count_of

DECISION_COLUMNS = ("Topic", "Decision", "Confidence", "Sources")
NEEDS_DECISION = "[NEEDS DECISION]"


RESEARCH_SUMMARY_FORMS = (
    Form(
        "labelled",
        "a summary without frontmatter: **Confidence:** in its head, findings as prose, a table of confidence by area",
        seen_by=("label:Confidence", "label:Overall confidence", "label:Researched"),
        aliases={
            "confidence": ("Confidence", "Overall confidence"),
            "Open Questions": ("Gaps to Address",),
        },
    ),
    other_form("front:confidence", "front:sources", "front:conflicts", "part:Resolved Decisions"),
)


class Decision(NamedTuple):
    """A row of the resolved decisions; `confidence` is None where the cell holds none of the three."""

    topic: str
    decision: str
    confidence: Confidence | None
    sources: str
    line: int


class OpenQuestion(NamedTuple):
    """A question that the research leaves open; `needs_decision` tells whether it is marked so."""

    text: str
    needs_decision: bool
    line: int


class ResearchSummary(Document):
    """What several research notes come to. Source: document 003, Synthesizer -> Planner; rule D1."""

    FORMS: ClassVar[tuple[Form, ...]] = RESEARCH_SUMMARY_FORMS

    kind: Kind = "research-summary"
    confidence: Confidence | None = None
    sources: int | None = None
    conflicts: int | None = None
    decisions: tuple[Decision, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    deferred: tuple[Statement, ...] = ()

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:
        """The typed fields of a research summary."""
        table = decision_table(source)
        questions = said(source, form.part(source, "Open Questions"))
        return {
            "confidence": stated_confidence(source, form),
            "sources": count_of(source.front, "sources"),
            "conflicts": count_of(source.front, "conflicts"),
            "decisions": _read_decisions(table) if table else (),
            "open_questions": tuple(
                OpenQuestion(item.text, NEEDS_DECISION in item.text.upper(), item.line) for item in questions
            ),
            "deferred": said(source, form.part(source, "Deferred Ideas")),
        }


def decision_table(source: Source) -> Table | None:
    """The first table under Resolved Decisions; None without one."""
    part = source.part("Resolved Decisions")
    return next(iter(source.tables(part)), None) if part else None


def _read_decisions(table: Table) -> tuple[Decision, ...]:
    found = []
    for (topic, decision, stated, sources), line in rows_of(table, *([name] for name in DECISION_COLUMNS)):
        grade = stated.strip("*_`[]() ").casefold()
        confidence = next((known for known in CONFIDENCES if known == grade), None)
        found.append(Decision(topic, decision, confidence, sources, line))
    return tuple(found)
