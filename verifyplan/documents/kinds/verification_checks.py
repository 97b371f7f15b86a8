"""Check a verification: its form, its counts against its table, its status against its gaps (rules D2, D3)."""

from __future__ import annotations

from collections.abc import Iterator

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import check_layout
from verifyplan.documents.kinds.verification import VerificationDocument, override_names
from verifyplan.documents.reading.comparing import wording
from verifyplan.documents.reading.front import entries_of
from verifyplan.text import counted

COLUMNS = ("#", "Must-Have", "Status", "Evidence")


def check_verification(document: VerificationDocument) -> Iterator[Violation]:
    """Yield the violations of a verification by itself (rules D2, D3)."""
    yield from check_layout(document, {"Must-Have Verification": (COLUMNS, document.table)})
    if document.attempt == 0:
        yield violation("verification/attempt", document.path, document.source.front.line("attempt"))
    yield from _check_counts(document)
    yield from _check_results(document)
    yield from _check_status(document)
    yield from _check_gaps(document)


def _check_counts(document: VerificationDocument) -> Iterator[Violation]:
    """Check the counts against each other and the table; in a form that has a score, they are in the score's line."""
    total, passed, rows = document.must_haves_total, document.must_haves_passed, len(document.results)
    front, keys = document.source.front, ("must_haves_total", "must_haves_passed")
    line_total, line_passed = (front.line(key if key in front.values else "score") for key in keys)
    if total is not None and passed is not None and passed > total:
        values = {"passed": counted(passed, "must-have"), "total": total}
        yield violation("verification/passed-above-total", document.path, line_passed, **values)
    elif total is not None and rows not in (0, total):
        values = {"total": counted(total, "must-have"), "rows": rows}
        yield violation("verification/total-wrong", document.path, line_total, **values)
    elif passed is not None and rows and all(result.outcome for result in document.results):
        n_passed = sum(map(document.counts_as_passed, document.results))
        if n_passed != passed:
            yield violation("verification/passed-wrong", document.path, line_passed, passed=passed, counted=n_passed)


def _check_results(document: VerificationDocument) -> Iterator[Violation]:
    known = {wording(name) for result in document.results for name in (result.text, result.number)}
    has_evidence = document.table is not None and document.table.column("Evidence") is not None
    for result in document.results:
        if result.outcome is None:
            yield violation("verification/result-status", document.path, result.line, status=result.status)
        elif has_evidence and result.unproven and not document.overridden(result):
            values = {"must_have": result.text, "status": result.status}
            yield violation("verification/evidence-missing", document.path, result.line, **values)
    for override in entries_of(document.source.front, "overrides") if document.results else ():
        if not override_names([override.text]) & known:
            yield violation("verification/override-unknown", document.path, override.line, override=override.text)


def _check_status(document: VerificationDocument) -> Iterator[Violation]:
    line = document.source.front.line("status")
    gaps = max(len(document.gaps), len(document.gap_details))
    total, passed = document.must_haves_total, document.must_haves_passed
    if document.status == "passed" and gaps:
        yield violation("verification/passed-with-gaps", document.path, line, gaps=counted(gaps, "gap"))
    elif document.status == "passed" and total is not None and passed is not None and passed < total:
        values = {"failed": total - passed, "total": counted(total, "must-have")}
        yield violation("verification/passed-with-failures", document.path, line, **values)
    elif document.status == "gaps_found" and not gaps:
        yield violation("verification/gaps-found-without-gaps", document.path, line)


def _check_gaps(document: VerificationDocument) -> Iterator[Violation]:
    front, listed, described = document.source.front, len(document.gaps), len(document.gap_details)
    if "gaps" in front.values and document.source.section("Gaps") and listed != described:
        values = {"listed": counted(listed, "gap"), "described": described}
        yield violation("verification/gaps-count", document.path, front.line("gaps"), **values)
    for gap in document.gap_details:
        if not gap.evidence:
            yield violation("verification/gap-evidence-missing", document.path, gap.line, gap=gap.title)
        if not gap.fix:
            yield violation("verification/gap-fix-missing", document.path, gap.line, gap=gap.title)
