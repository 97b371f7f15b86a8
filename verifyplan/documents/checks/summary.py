"""The check of an execution summary: its form, its must-haves' states, commits and deviations (rule D2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import (
    RequiredField,
    check_columns,
    check_fields,
    check_form,
    check_sections,
    find_section,
)
from verifyplan.documents.kinds.execution_summary import CLAIM_STATES, ExecutionSummary
from verifyplan.documents.reading.entries import entries_of
from verifyplan.documents.reading.plan_ids import id_in_name, plan_key
from verifyplan.documents.reading.sections import empty
from verifyplan.documents.reading.typed import text_of
from verifyplan.errors import one_of
from verifyplan.text import counted

FIELDS = (
    RequiredField("plan", "text"),
    RequiredField("status", "word", ("complete", "partial", "checkpoint")),
    RequiredField("commits", "texts"),
    RequiredField("provides", "texts"),
    RequiredField("must_haves", "texts", shape='["the must-have: DONE", ...], each of DONE, PARTIAL or SKIPPED'),
)
COLUMNS = ("Task", "Status", "Notes")

_SHA = re.compile(r"[0-9a-fA-F]{7,40}")


def check_summary(summary: ExecutionSummary, root: Path | None = None) -> Iterator[Violation]:  # noqa: ARG001
    """The violations of an execution summary by itself. Source: document 003, Executor -> Verifier; rule D2."""
    yield from check_form(summary)
    yield from check_fields(summary, FIELDS)
    yield from find_section(summary, "Task Results", COLUMNS)[1]
    yield from check_sections(summary, ("Deviations",))
    results = summary.source.part("Task Results")
    if results:
        yield from check_columns(summary, results, summary.table, COLUMNS)
    yield from _check_must_haves(summary)
    for commit in entries_of(summary.source.front, "commits"):
        if not _SHA.fullmatch(commit.text):
            message = f"{commit.text[:80]!r} is no commit"
            fix = "write its hash, 7 to 40 hexadecimal digits in quotation marks"
            yield violation("summary/commit-form", summary.path, commit.line, message, fix)
    deviations = summary.the_form.part(summary.source, "Deviations")
    if deviations and empty(summary.source, deviations):
        message = "the section 'Deviations' is empty"
        yield violation("summary/deviations-empty", summary.path, deviations.first, message, "list them, or write None")
    yield from _check_name(summary)


def _check_must_haves(summary: ExecutionSummary) -> Iterator[Violation]:
    for claim in summary.must_haves:
        if claim.state is None:
            message = f"the must-have {claim.text[:80]!r} does not say how far it got"
            fix = f"end it with a colon and one of {one_of(CLAIM_STATES)}"
            yield violation("summary/must-have-state", summary.path, claim.line, message, fix)
    open_ones = [claim for claim in summary.must_haves if claim.state in ("PARTIAL", "SKIPPED")]
    if summary.status == "complete" and open_ones:
        are = "is" if len(open_ones) == 1 else "are"
        message = f"the status is complete, but {counted(len(open_ones), 'must-have')} {are} not DONE"
        fix = "write partial, or finish what is left"
        line = summary.source.front.line("status")
        yield violation("summary/status-above-results", summary.path, line, message, fix)


def _check_name(summary: ExecutionSummary) -> Iterator[Violation]:
    """Whether the file's name holds the plan's id; a file of another name than SUMMARY is not asked."""
    path = PurePath(summary.path)
    if summary.plan is None or "summary" not in path.stem.lower():
        return
    phase = text_of(summary.source.front, "phase") or path.parent.name
    named = id_in_name(summary.path)
    if plan_key(named, phase) != plan_key(summary.plan, phase):
        message = f"the plan is {summary.plan[:80]!r}, the file's name says {named[:80]!r}"
        line = summary.source.front.line("plan")
        yield violation("summary/file-name", summary.path, line, message, f"name it SUMMARY-{summary.plan[:80]}.md")
