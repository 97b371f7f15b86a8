"""Research summary: the decisions of several research notes, and what is still open (document 003)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import (
    RequiredField,
    check_columns,
    check_fields,
    check_form,
    check_labelled_confidence,
    check_sections,
    held_to_contract,
)
from verifyplan.documents.kinds.research_note import (
    CONFIDENCES,
    SPECULATIVE,
    Confidence,
    Statement,
    said,
    stated_confidence,
)
from verifyplan.documents.reading.body import MarkdownTable, rows_of
from verifyplan.documents.reading.document import Document, Form, Kind, other_form
from verifyplan.documents.reading.front import count_of
from verifyplan.documents.reading.phrases import says_nothing
from verifyplan.documents.reading.source import Source
from verifyplan.errors import one_of

DECISION_COLUMNS = ("Topic", "Decision", "Confidence", "Sources")
NEEDS_DECISION = "[NEEDS DECISION]"


RESEARCH_SUMMARY_FORMS = (
    Form(
        "labelled",
        "a summary without frontmatter: **Confidence:** in its head, findings as prose, a table of confidence by area",
        seen_by=("label:Confidence", "label:Overall confidence", "label:Researched"),
        aliases={"confidence": ("Confidence", "Overall confidence"), "Open Questions": ("Gaps to Address",)},
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
        questions = said(source, form.section(source, "Open Questions"))
        return {
            "confidence": stated_confidence(source, form),
            "sources": count_of(source.front, "sources"),
            "conflicts": count_of(source.front, "conflicts"),
            "decisions": _read_decisions(table) if table else (),
            "open_questions": tuple(
                OpenQuestion(item.text, NEEDS_DECISION in item.text.upper(), item.line) for item in questions
            ),
            "deferred": said(source, form.section(source, "Deferred Ideas")),
        }


def decision_table(source: Source) -> MarkdownTable | None:
    """The first table under Resolved Decisions; None without one."""
    part = source.section("Resolved Decisions")
    return next(iter(source.tables(part)), None) if part else None


def _read_decisions(table: MarkdownTable) -> tuple[Decision, ...]:
    found = []
    for (topic, decision, stated, sources), line in rows_of(table, *([name] for name in DECISION_COLUMNS)):
        grade = stated.strip("*_`[]() ").casefold()
        confidence = next((known for known in CONFIDENCES if known == grade), None)
        found.append(Decision(topic, decision, confidence, sources, line))
    return tuple(found)


FIELDS = (
    RequiredField("confidence", "word", CONFIDENCES),
    RequiredField("sources", "number"),
    RequiredField("conflicts", "number"),
)
SECTIONS = ("Resolved Decisions", "Open Questions", "Deferred Ideas")


def check_research_summary(document: ResearchSummary, root: Path | None = None) -> Iterator[Violation]:  # noqa: ARG001
    """The violations of one research summary; what it takes from its inputs is checked across documents.

    Source: document 003, Synthesizer -> Planner; rule D2.
    """
    return chain(
        check_form(document),
        check_fields(document, FIELDS),
        check_labelled_confidence(document, document.confidence),
        check_sections(document, SECTIONS),
        _check_decisions(document),
        _check_questions(document),
    )


def _check_decisions(document: ResearchSummary) -> Iterator[Violation]:
    part = document.source.section("Resolved Decisions")
    if part is None:
        return
    table = decision_table(document.source)
    if table is None and says_nothing(" ".join(line for _, line in document.source.prose_of(part))):
        return
    yield from check_columns(document, part, table, DECISION_COLUMNS)
    for decision in document.decisions:
        yield from _check_decision(
            document, decision, [name for name in DECISION_COLUMNS if table and table.column(name) is not None]
        )


def _check_decision(document: ResearchSummary, decision: Decision, held: list[str]) -> Iterator[Violation]:
    place, told = decision.line, repr(decision.topic[:60])
    for name, text in (("Topic", decision.topic), ("Decision", decision.decision)):
        if name in held and not text.strip():
            message = f"the decision {told} has an empty {name}"
            yield violation("research-summary/decision-empty", document.path, place, message, f"fill in the {name}")
    if "Confidence" in held and decision.confidence is None:
        message = f"the decision {told} has no confidence of the three"
        fix = f"write one of {one_of(CONFIDENCES)}"
        yield violation("research-summary/decision-confidence", document.path, place, message, fix)
    if SPECULATIVE in " ".join(decision[:2]).upper() and decision.confidence != "low":
        message = f"the decision {told} is tagged {SPECULATIVE} and of {decision.confidence or 'no'} confidence"
        fix = "write low, or leave it open as [NEEDS DECISION]"
        yield violation("research-summary/decision-speculative", document.path, place, message, fix)
    if "Sources" in held and says_nothing(decision.sources):
        message, fix = f"the decision {told} names no source", "name the notes that it rests on"
        yield violation("research-summary/decision-sources", document.path, place, message, fix)


def _check_questions(document: ResearchSummary) -> Iterator[Violation]:
    if not held_to_contract(document):
        return
    for question in document.open_questions:
        if not question.needs_decision and not says_nothing(question.text):
            message = f"the open question {question.text[:80]!r} is not marked"
            fix = "mark it [NEEDS DECISION], or move it to the decisions or the deferred ideas"
            yield violation("research-summary/question-unmarked", document.path, question.line, message, fix)
