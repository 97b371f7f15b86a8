"""Integration report: whether phases fit together, check by check and flow by flow (rules D1, D2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import Field, InstanceOf

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import check_layout
from verifyplan.documents.reading.body import MarkdownTable, rows_of
from verifyplan.documents.reading.document import Document, DocumentKind, Form, RequiredField, other_form
from verifyplan.documents.reading.phrases import LocatedText, StatusMeaning, is_blank, outcome
from verifyplan.documents.reading.source import Source
from verifyplan.text import counted

CATEGORIES: dict[str, tuple[str, ...]] = {
    "Export/Import Wiring": ("export/import", "import/export", "export", "wiring"),
    "API Route Coverage": ("api route", "api coverage", "route coverage"),
    "Auth Protection": ("auth",),
    "E2E Flows": ("e2e", "end-to-end", "end to end"),
    "Cross-Phase Dependencies": ("cross-phase", "cross phase", "phase dependenc"),
}
"""The five categories of checks, and the words by which a check is known to be one of each."""

CHECK_COLUMNS, FLOW_COLUMNS = ("Check", "Status", "Evidence"), ("Flow", "Status", "Broken Link")

_HOLDS = ("passed", "override")


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

    FORMS = (other_form("part:Integration Checks", "part:E2E Flows"),)
    FIELDS = (
        RequiredField("status", "word", ("passed", "issues_found")),
        RequiredField("checks_total", "number"),
        RequiredField("checks_passed", "number"),
        RequiredField("critical_issues", "number"),
    )
    SECTIONS = ("Integration Checks", "E2E Flows", "Critical Issues")

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
        checks = source.table_with(source.section("Integration Checks"), "Check")
        flows = source.table_with(source.section("E2E Flows"), "Flow")
        return {
            "checks": tuple(map(IntegrationCheck._make, rows_of(checks, *CHECK_COLUMNS))),
            "flows": tuple(map(Flow._make, rows_of(flows, *FLOW_COLUMNS))),
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
    checks, flows = (CHECK_COLUMNS, report.checks_table), (FLOW_COLUMNS, report.flows_table)
    yield from check_layout(report, {"Integration Checks": checks, "E2E Flows": flows})
    yield from _check_categories(report)
    yield from _check_counts(report)
    yield from _check_status(report)
    yield from _check_evidence(report)
    rows: tuple[IntegrationCheck | Flow, ...] = (*report.checks, *report.flows)
    for row in rows:
        if row.outcome is None:
            yield violation("integration/check-status", report.path, row.line, status=row.status)


def _check_evidence(report: IntegrationReport) -> Iterator[Violation]:
    """Yield checks with a blank cell of evidence, and failed flows without a broken link; not for a missing column."""
    rule = "integration/evidence-missing"
    if report.checks_table is not None and report.checks_table.column("Evidence") is not None:
        for check in report.checks:
            if check.outcome in ("passed", "failed") and is_blank(check.evidence):
                yield violation(rule, report.path, check.line, check=check.check)
    if report.flows_table is not None and report.flows_table.column("Broken Link") is not None:
        for flow in report.flows:
            if flow.outcome == "failed" and is_blank(flow.broken_link):
                message, fix = f"the flow {flow.flow[:80]!r} fails and names no broken link", "say where it breaks"
                yield violation(rule, report.path, flow.line, message=message, fix=fix)


def _check_categories(report: IntegrationReport) -> Iterator[Violation]:
    """Yield the categories without a check; the table of flows is the check of its category."""
    section = report.source.section("Integration Checks")
    if section is None:
        return
    inner = [p.title for p in report.source.sections if section.first < p.first <= section.last]
    known = {category_of(text) for text in [*(check.check for check in report.checks), *inner]}
    for category in CATEGORIES:
        if category not in known and not (category == "E2E Flows" and report.flows):
            yield violation("integration/category-missing", report.path, section.first, category=category)


def _check_counts(report: IntegrationReport) -> Iterator[Violation]:
    front, listed, critical = report.source.front, len(report.issues), report.critical_issues
    yield from _check_passed(report)
    if critical is not None and report.source.section("Critical Issues") and critical != listed:
        line = front.line("critical_issues")
        yield violation("integration/critical-wrong", report.path, line, critical=critical, listed=listed)


def _check_passed(report: IntegrationReport) -> Iterator[Violation]:
    """Yield counts that are neither those of the table of checks nor, as flows are checks, of both tables."""
    total, passed, n_checks = report.checks_total, report.checks_passed, len(report.checks)
    line_total, line_passed = map(report.source.front.line, ("checks_total", "checks_passed"))
    with_flows: tuple[IntegrationCheck | Flow, ...] = (*report.checks, *report.flows)
    rows = with_flows[:n_checks] if total == n_checks else with_flows
    if total is not None and passed is not None and passed > total:
        values = {"passed": counted(passed, "check"), "total": total}
        yield violation("integration/passed-above-total", report.path, line_passed, **values)
    elif total is not None and n_checks and total not in (n_checks, len(with_flows)):
        values = {"total": counted(total, "check"), "rows": n_checks}
        yield violation("integration/total-wrong", report.path, line_total, **values)
    elif passed is not None and total is not None and n_checks and all(row.outcome for row in rows):
        n_passed = sum(row.outcome in _HOLDS for row in rows)
        if n_passed != passed:
            yield violation("integration/passed-wrong", report.path, line_passed, passed=passed, counted=n_passed)


def _check_status(report: IntegrationReport) -> Iterator[Violation]:
    total, passed = report.checks_total, report.checks_passed
    short = total is not None and passed is not None and passed < total
    broken = any(flow.outcome in ("failed", "human") for flow in report.flows)
    wrong = bool(report.critical_issues or report.issues or short or broken)
    line = report.source.front.line("status")
    if report.status == "passed" and wrong:
        yield violation("integration/passed-with-issues", report.path, line)
    if report.status == "issues_found" and not wrong:
        yield violation("integration/issues-found-without", report.path, line)
