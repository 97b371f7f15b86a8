"""Check a verification: its form, its counts against its table, its status against its gaps (rules D2, D3)."""

from __future__ import annotations

from collections.abc import Iterator

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import RequiredField, check_layout
from verifyplan.documents.kinds.verification import VerificationDocument, override_names
from verifyplan.documents.reading.comparing import wording
from verifyplan.documents.reading.front import entries_of
from verifyplan.text import counted

FIELDS = (
    RequiredField("status", "word", ("passed", "gaps_found", "human_needed")),
    RequiredField("attempt", "number"),
    RequiredField("must_haves_total", "number"),
    RequiredField("must_haves_passed", "number"),
    RequiredField("gaps", "texts"),
    RequiredField("overrides", "texts"),
)
COLUMNS = ("#", "Must-Have", "Status", "Evidence")


def check_verification(document: VerificationDocument) -> Iterator[Violation]:
    """Yield the violations of a verification by itself (rules D2, D3)."""
    tables = {"Must-Have Verification": (COLUMNS, document.table)}
    yield from check_layout(document, FIELDS, ("Must-Have Verification", "Gaps"), tables)
    if document.attempt == 0:
        line, fix = document.source.front.line("attempt"), "write 1 for the first verification"
        yield violation("verification/attempt", document.path, line, "the attempt is 0", fix)
    yield from _check_counts(document)
    yield from _check_results(document)
    yield from _check_status(document)
    yield from _check_gaps(document)


def _check_counts(document: VerificationDocument) -> Iterator[Violation]:
    total, passed, rows = document.must_haves_total, document.must_haves_passed, len(document.results)
    line_total, line_passed = _line(document, "must_haves_total"), _line(document, "must_haves_passed")
    if total is not None and passed is not None and passed > total:
        message, fix = f"{counted(passed, 'must-have')} passed of {total}", "count the must-haves that passed again"
        yield violation("verification/passed-above-total", document.path, line_passed, message, fix)
    elif total is not None and rows not in (0, total):
        message = f"there are said to be {counted(total, 'must-have')}, the table has {rows}"
        fix = f"write must_haves_total: {rows}, or add the rows that are missing"
        yield violation("verification/total-wrong", document.path, line_total, message, fix)
    elif passed is not None and rows and all(result.outcome for result in document.results):
        n_passed = document.counted_as_passed
        if n_passed != passed:
            message = f"{passed} are said to have passed, in the table it is {n_passed}, overrides included"
            yield violation("verification/passed-wrong", document.path, line_passed, message, f"write {n_passed}")


def _line(document: VerificationDocument, key: str) -> int:
    """Return the line of a count; in a form that has a score, the score's."""
    front = document.source.front
    return front.line(key if key in front.values else "score")


def _check_results(document: VerificationDocument) -> Iterator[Violation]:
    known = {wording(name) for result in document.results for name in (result.text, result.number)}
    has_evidence = document.table is not None and document.table.column("Evidence") is not None
    for result in document.results:
        if result.outcome is None:
            message = f"the status {result.status[:80]!r} does not say whether the must-have passed"
            fix = "begin it with PASSED, FAILED, HUMAN or OVERRIDE"
            yield violation("verification/result-status", document.path, result.line, message, fix)
        elif has_evidence and result.unproven and not document.overridden(result):
            message = f"the must-have {result.text[:80]!r} is {result.status[:80]}, and no evidence is given"
            fix = "say under Evidence what was seen where"
            yield violation("verification/evidence-missing", document.path, result.line, message, fix)
    for override in entries_of(document.source.front, "overrides") if document.results else ():
        if not override_names([override.text]) & known:
            message = f"the override {override.text[:80]!r} names no must-have of the table"
            fix = "write the must-have's text"
            yield violation("verification/override-unknown", document.path, override.line, message, fix)


def _check_status(document: VerificationDocument) -> Iterator[Violation]:
    line = document.source.front.line("status")
    gaps = max(len(document.gaps), len(document.gap_details))
    total, passed = document.must_haves_total, document.must_haves_passed
    if document.status == "passed" and gaps:
        message = f"the status is passed, though there is {counted(gaps, 'gap')}"
        yield violation("verification/passed-with-gaps", document.path, line, message, "write gaps_found")
    elif document.status == "passed" and total is not None and passed is not None and passed < total:
        message = f"the status is passed, though {total - passed} of {counted(total, 'must-have')} did not pass"
        fix = "write gaps_found or human_needed"
        yield violation("verification/passed-with-failures", document.path, line, message, fix)
    elif document.status == "gaps_found" and not gaps:
        message = "the status is gaps_found, and no gap is named: nothing can be planned from it"
        fix = 'list the gaps in the frontmatter, and each under ## Gaps: "### " and its text, evidence and fix'
        yield violation("verification/gaps-found-without-gaps", document.path, line, message, fix)


def _check_gaps(document: VerificationDocument) -> Iterator[Violation]:
    front, listed, described = document.source.front, len(document.gaps), len(document.gap_details)
    if "gaps" in front.values and document.source.section("Gaps") and listed != described:
        message = f"the frontmatter lists {counted(listed, 'gap')}, the section 'Gaps' describes {described}"
        fix = 'list each gap, and describe each under a heading of its own, "### " and the gap\'s text'
        yield violation("verification/gaps-count", document.path, front.line("gaps"), message, fix)
    for gap in document.gap_details:
        name = gap.title[:80]
        if not gap.evidence:
            message, fix = f"the gap {name!r} has no evidence", "add **Evidence:** with what was seen where"
            yield violation("verification/gap-evidence-missing", document.path, gap.line, message, fix)
        if not gap.fix:
            message, fix = f"the gap {name!r} has no suggested fix", "add **Suggested fix:** with what would close it"
            yield violation("verification/gap-fix-missing", document.path, gap.line, message, fix)
