"""The check of a research summary: its decisions, their sources, and open questions (document 003; rule D2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

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
from verifyplan.documents.kinds.findings import CONFIDENCES, SPECULATIVE
from verifyplan.documents.kinds.research_summary import (
    DECISION_COLUMNS,
    Decision,
    ResearchSummary,
    decision_table,
)
from verifyplan.documents.reading.labelled import says_nothing
from verifyplan.errors import one_of

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
    part = document.source.part("Resolved Decisions")
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
