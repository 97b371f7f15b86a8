"""Research summary: the decisions of several research notes, and the open questions (rules D1, D2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import check_columns, check_labelled_confidence, check_layout
from verifyplan.documents.kinds.research_note import (
    CONFIDENCES,
    SPECULATIVE,
    ResearchConfidence,
    stated_confidence,
    statements,
)
from verifyplan.documents.reading.body import MarkdownTable, rows_of
from verifyplan.documents.reading.document import Document, DocumentKind, Form, RequiredField, other_form
from verifyplan.documents.reading.phrases import LocatedText, says_nothing
from verifyplan.documents.reading.source import Source
from verifyplan.errors import one_of

DECISION_COLUMNS = ("Topic", "Decision", "Confidence", "Sources")
NEEDS_DECISION = "[NEEDS DECISION]"


class ResearchDecision(NamedTuple):
    """A row of the resolved decisions; `confidence` is None where the cell holds none of the three."""

    topic: str
    decision: str
    confidence: ResearchConfidence | None
    sources: str
    line: int


class OpenQuestion(NamedTuple):
    """A question that the research leaves open, and whether it is marked [NEEDS DECISION]."""

    text: str
    needs_decision: bool
    line: int


class ResearchSummary(Document):
    """The decisions from several research notes, the open questions and the deferred ideas."""

    FORMS = (
        Form(
            "labelled",
            "a summary without frontmatter: **Confidence:** in its head, findings as prose, a table of confidence by"
            " area",
            seen_by=("label:Confidence", "label:Overall confidence", "label:Researched"),
            aliases={"confidence": ("Confidence", "Overall confidence"), "Open Questions": ("Gaps to Address",)},
        ),
        other_form("front:confidence", "front:sources", "front:conflicts", "part:Resolved Decisions"),
    )
    FIELDS = (
        RequiredField("confidence", "word", CONFIDENCES),
        RequiredField("sources", "number"),
        RequiredField("conflicts", "number"),
    )
    SECTIONS = ("Resolved Decisions", "Open Questions", "Deferred Ideas")

    kind: DocumentKind = "research-summary"
    confidence: ResearchConfidence | None = None
    sources: int | None = None
    conflicts: int | None = None
    decisions: tuple[ResearchDecision, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    deferred: tuple[LocatedText, ...] = ()

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:
        """Return the typed fields of a research summary."""
        questions = statements(source, form.section(source, "Open Questions"))
        rows = rows_of(_decision_table(source), *DECISION_COLUMNS)
        return {
            "confidence": stated_confidence(source, form),
            "decisions": tuple(
                ResearchDecision(topic, decision, _confidence(cell), sources, line)
                for topic, decision, cell, sources, line in rows
            ),
            "open_questions": tuple(
                OpenQuestion(text, NEEDS_DECISION in text.upper(), line) for text, line in questions
            ),
            "deferred": statements(source, form.section(source, "Deferred Ideas")),
        }


def _decision_table(source: Source) -> MarkdownTable | None:
    section = source.section("Resolved Decisions")
    return next(iter(source.tables(section)), None) if section else None


def _confidence(cell: str) -> ResearchConfidence | None:
    grade = cell.strip("*_`[]() ").casefold()
    return next((known for known in CONFIDENCES if known == grade), None)


def check_research_summary(document: ResearchSummary) -> Iterator[Violation]:
    """Yield the violations of one research summary by itself (rule D2)."""
    yield from check_layout(document)
    yield from check_labelled_confidence(document, document.confidence)
    yield from _check_decisions(document)
    for question in document.open_questions if document.held_to_contract else ():
        if not question.needs_decision and not says_nothing(question.text):
            rule = "research-summary/question-unmarked"
            yield violation(rule, document.path, question.line, question=question.text)


def _check_decisions(document: ResearchSummary) -> Iterator[Violation]:
    section = document.source.section("Resolved Decisions")
    if section is None:
        return
    table = _decision_table(document.source)
    if table is None and says_nothing(" ".join(line for _, line in document.source.prose_of(section))):
        return
    yield from check_columns(document, section, table, DECISION_COLUMNS)
    columns = [name for name in DECISION_COLUMNS if table and table.column(name) is not None]
    for decision in document.decisions:
        yield from _check_decision(document.path, decision, columns)


def _check_decision(path: str, decision: ResearchDecision, columns: list[str]) -> Iterator[Violation]:
    line, name, confidence = decision.line, repr(decision.topic[:60]), decision.confidence
    for column, text in (("Topic", decision.topic), ("Decision", decision.decision)):
        if column in columns and not text.strip():
            yield violation("research-summary/decision-empty", path, line, decision=name, column=column)
    if "Confidence" in columns and confidence is None:
        allowed = one_of(CONFIDENCES)
        yield violation("research-summary/decision-confidence", path, line, decision=name, allowed=allowed)
    if SPECULATIVE in " ".join(decision[:2]).upper() and confidence != "low":
        rule = "research-summary/decision-speculative"
        yield violation(rule, path, line, decision=name, confidence=confidence or "no")
    if "Sources" in columns and says_nothing(decision.sources):
        yield violation("research-summary/decision-sources", path, line, decision=name)
