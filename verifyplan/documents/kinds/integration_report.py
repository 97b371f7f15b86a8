"""Integration report: whether phases fit together, check by check and flow by flow (rules D1, D2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from pydantic import Field, InstanceOf

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import RequiredField, check_layout
from verifyplan.documents.reading.body import MarkdownTable, rows_of
from verifyplan.documents.reading.document import Document, DocumentKind, Form, other_form
from verifyplan.documents.reading.front import count_of, text_of
from verifyplan.documents.reading.phrases import LocatedText, StatusMeaning, is_blank, outcome
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.writing import document_text, list_item, table_lines
from verifyplan.errors import InputError, Problem, expect_lists
from verifyplan.text import counted

CATEGORIES: dict[str, tuple[str, ...]] = {
    "Export/Import Wiring": ("export/import", "import/export", "export", "wiring"),
    "API Route Coverage": ("api route", "api coverage", "route coverage"),
    "Auth Protection": ("auth",),
    "E2E Flows": ("e2e", "end-to-end", "end to end"),
    "Cross-Phase Dependencies": ("cross-phase", "cross phase", "phase dependenc"),
}
"""The five categories of checks, and the words by which a check is known to be one of each."""

FIELDS = (
    RequiredField("status", "word", ("passed", "issues_found")),
    RequiredField("checks_total", "number"),
    RequiredField("checks_passed", "number"),
    RequiredField("critical_issues", "number"),
)
CHECK_COLUMNS, FLOW_COLUMNS = ("Check", "Status", "Evidence"), ("Flow", "Status", "Broken Link")

_HOLDS = ("passed", "override")

INTEGRATION_FORMS = (other_form("part:Integration Checks", "part:E2E Flows"),)


class IntegrationCheck(NamedTuple):
    """A row of the table of checks; the text begins with its category."""

    check: str
    status: str
    evidence: str
    line: int = 0

    @property
    def outcome(self) -> StatusMeaning | None:
        """Whether the check passed, by its status."""
        return outcome(self.status)


class Flow(NamedTuple):
    """A row of the table of flows from end to end; `broken_link` says where one that fails breaks."""

    flow: str
    status: str
    broken_link: str
    line: int = 0

    @property
    def outcome(self) -> StatusMeaning | None:
        """Whether the flow works, by its status."""
        return outcome(self.status)


class IntegrationReport(Document):
    """A report on how phases fit together; an issue is its heading or its list item."""

    FORMS: ClassVar[tuple[Form, ...]] = INTEGRATION_FORMS

    kind: DocumentKind = "integration"
    status: str | None = None
    checks_total: int | None = None
    checks_passed: int | None = None
    critical_issues: int | None = None
    checks: tuple[IntegrationCheck, ...] = ()
    flows: tuple[Flow, ...] = ()
    issues: tuple[LocatedText, ...] = ()
    checks_table: InstanceOf[MarkdownTable] | None = Field(None, repr=False)
    flows_table: InstanceOf[MarkdownTable] | None = Field(None, repr=False)

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:  # noqa: ARG003  (there is one form)
        """Return the typed fields of a report."""
        front = source.front
        checks = source.table_with(source.section("Integration Checks"), "Check")
        flows = source.table_with(source.section("E2E Flows"), "Flow")
        return {
            "status": text_of(front, "status"),
            "checks_total": count_of(front, "checks_total"),
            "checks_passed": count_of(front, "checks_passed"),
            "critical_issues": count_of(front, "critical_issues"),
            "checks": tuple(
                IntegrationCheck(check, status, evidence, line)
                for (check, status, evidence), line in rows_of(checks, *([name] for name in CHECK_COLUMNS))
            ),
            "flows": tuple(
                Flow(flow, status, broken, line)
                for (flow, status, broken), line in rows_of(flows, *([name] for name in FLOW_COLUMNS))
            ),
            "checks_table": checks,
            "flows_table": flows,
            "issues": _issues(source),
        }


def _issues(source: Source) -> tuple[LocatedText, ...]:
    """Return the critical issues: the headings of their section, or without headings its list items."""
    section = source.section("Critical Issues")
    headings = source.subsections(section) if section else ()
    bullets = [] if headings else source.top_bullets(section)
    return (
        *(LocatedText(inner.title, inner.first) for inner in headings),
        *(LocatedText(bullet.text, bullet.line) for bullet in bullets),
    )


def category_of(text: str) -> str | None:
    """Return the category that a check's text names; None where it names none of the five.

    >>> category_of("Auth Protection: /admin"), category_of("the menu is blue")
    ('Auth Protection', None)
    """
    folded = text.casefold()
    return next((name for name, words in CATEGORIES.items() if any(word in folded for word in words)), None)


def check_integration(report: IntegrationReport) -> Iterator[Violation]:
    """Yield the violations of an integration report (rule D2)."""
    tables = {
        "Integration Checks": (CHECK_COLUMNS, report.checks_table),
        "E2E Flows": (FLOW_COLUMNS, report.flows_table),
    }
    yield from check_layout(report, FIELDS, (*tables, "Critical Issues"), tables)
    yield from _check_categories(report)
    yield from _check_counts(report)
    yield from _check_status(report)
    yield from _check_evidence(report)
    rows: tuple[IntegrationCheck | Flow, ...] = (*report.checks, *report.flows)
    for row in rows:
        if row.outcome is None:
            message, fix = f"the status {row.status[:80]!r} does not say whether it passed", "write PASSED or FAILED"
            yield violation("integration/check-status", report.path, row.line, message, fix)


def _check_evidence(report: IntegrationReport) -> Iterator[Violation]:
    """Yield checks with a blank cell of evidence, and failed flows without a broken link; not for a missing column."""
    rule = "integration/evidence-missing"
    if report.checks_table is not None and report.checks_table.column("Evidence") is not None:
        for check in report.checks:
            if check.outcome in ("passed", "failed") and is_blank(check.evidence):
                message, fix = f"the check {check.check[:80]!r} has no evidence", "say what was seen where"
                yield violation(rule, report.path, check.line, message, fix)
    if report.flows_table is not None and report.flows_table.column("Broken Link") is not None:
        for flow in report.flows:
            if flow.outcome == "failed" and is_blank(flow.broken_link):
                message, fix = f"the flow {flow.flow[:80]!r} fails and names no broken link", "say where it breaks"
                yield violation(rule, report.path, flow.line, message, fix)


def _check_categories(report: IntegrationReport) -> Iterator[Violation]:
    """Yield the categories without a check; the table of flows is the check of its category."""
    section = report.source.section("Integration Checks")
    if section is None:
        return
    inner = [p.title for p in report.source.sections if section.first < p.first <= section.last]
    known = {category_of(text) for text in [*(check.check for check in report.checks), *inner]}
    for category in CATEGORIES:
        if category not in known and not (category == "E2E Flows" and report.flows):
            message = f"no check is of the category {category}"
            fix = f"add a row whose check begins with {category}:, also where there is nothing to check"
            yield violation("integration/category-missing", report.path, section.first, message, fix)


def _check_counts(report: IntegrationReport) -> Iterator[Violation]:
    total, passed, front = report.checks_total, report.checks_passed, report.source.front
    if total is not None and passed is not None and passed > total:
        message, fix = f"{counted(passed, 'check')} passed of {total}", "count the checks that passed again"
        yield violation("integration/passed-above-total", report.path, front.line("checks_passed"), message, fix)
    elif report.checks:
        yield from _check_against_tables(report)
    listed, critical = len(report.issues), report.critical_issues
    if critical is not None and report.source.section("Critical Issues") and critical != listed:
        message, fix = (
            f"critical_issues is {critical}, the section lists {listed}",
            f"write {listed}, or list the others",
        )
        yield violation("integration/critical-wrong", report.path, front.line("critical_issues"), message, fix)


def _check_against_tables(report: IntegrationReport) -> Iterator[Violation]:
    """Yield counts that are neither those of the table of checks nor, as flows are checks, of both tables."""
    checks, flows = len(report.checks), len(report.flows)
    total, passed, front = report.checks_total, report.checks_passed, report.source.front
    with_flows: tuple[IntegrationCheck | Flow, ...] = (*report.checks, *report.flows)
    rows = with_flows[:checks] if total == checks else with_flows
    if total is not None and total not in (checks, checks + flows):
        message = f"there are said to be {counted(total, 'check')}, the table has {checks}"
        yield violation("integration/total-wrong", report.path, front.line("checks_total"), message, f"write {checks}")
    elif passed is not None and total is not None and all(row.outcome for row in rows):
        n_passed = sum(row.outcome in _HOLDS for row in rows)
        if n_passed != passed:
            message = f"{passed} are said to have passed, in the table it is {n_passed}"
            line, fix = front.line("checks_passed"), f"write {n_passed}"
            yield violation("integration/passed-wrong", report.path, line, message, fix)


def _check_status(report: IntegrationReport) -> Iterator[Violation]:
    total, passed = report.checks_total, report.checks_passed
    short = total is not None and passed is not None and passed < total
    broken = any(flow.outcome in ("failed", "human") for flow in report.flows)
    wrong = bool(report.critical_issues or report.issues or short or broken)
    line = report.source.front.line("status")
    if report.status == "passed" and wrong:
        message = "the status is passed, though a check or flow failed or an issue is critical"
        yield violation("integration/passed-with-issues", report.path, line, message, "write issues_found")
    if report.status == "issues_found" and not wrong:
        message = "the status is issues_found, though every check passed and no issue is listed"
        fix = "write passed, or list the issue"
        yield violation("integration/issues-found-without", report.path, line, message, fix)


def write_integration(
    checks: Sequence[IntegrationCheck], flows: Sequence[Flow] = (), critical: Sequence[str] = ()
) -> str:
    """Write a new report in the contract's form; its status and counts follow from the checks, flows and issues.

    Texts are written on one line each. Raises InputError for a category without a check (flows are one of the five),
    a status that does not say whether it passed, a check without evidence, and a failed flow without a broken link.
    """
    expect_lists(critical=critical)
    problems = [*_problems(checks, flows)]
    if problems:
        raise InputError(problems)
    passed = sum(check.outcome in _HOLDS for check in checks)
    all_hold = passed == len(checks) and not critical and all(flow.outcome in _HOLDS for flow in flows)
    front = {
        "status": "passed" if all_hold else "issues_found",
        "checks_total": len(checks),
        "checks_passed": passed,
        "critical_issues": len(critical),
    }
    body = ["# Integration report", "", "## Integration Checks", ""]
    body += [*table_lines(CHECK_COLUMNS, [check[:3] for check in checks]), "", "## E2E Flows", ""]
    body += [*table_lines(FLOW_COLUMNS, [flow[:3] for flow in flows]), "", "## Critical Issues", ""]
    return document_text(front, [*body, *([list_item(text) for text in critical] or ["None"])])


def _problems(checks: Sequence[IntegrationCheck], flows: Sequence[Flow]) -> Iterator[Problem]:
    known = {category_of(check.check) for check in checks} | ({"E2E Flows"} if flows else set())
    for name in CATEGORIES:
        if name not in known:
            yield Problem("checks", f"none is of the category {name}", f"add one whose text begins with {name}:")
    rows: tuple[IntegrationCheck | Flow, ...] = (*checks, *flows)
    for row in rows:
        if row.outcome is None:
            yield Problem(f"status {row.status!r}", "does not say whether it passed", "write PASSED or FAILED")
    for check in checks:
        if check.outcome in ("passed", "failed") and is_blank(check.evidence):
            place = f"check {check.check[:80]!r}"
            yield Problem(place, f"is {check.status}, without evidence", "say what was seen where")
    for flow in flows:
        if flow.outcome == "failed" and is_blank(flow.broken_link):
            yield Problem(f"flow {flow.flow[:80]!r}", "fails and names no broken link", "say where it breaks")
