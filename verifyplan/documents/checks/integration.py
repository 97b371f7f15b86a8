"""The check of an integration report: its form, the five categories, its counts and its status (rule D2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.checks.layout import (
    RequiredField,
    check_columns,
    check_fields,
    check_form,
    check_sections,
    find_section,
)
from verifyplan.documents.kinds.integration_report import (
    CATEGORIES,
    Flow,
    IntegrationCheck,
    IntegrationReport,
    category_of,
)
from verifyplan.documents.reading.labelled import is_blank
from verifyplan.text import counted

FIELDS = (
    RequiredField("status", "word", ("passed", "issues_found")),
    RequiredField("checks_total", "number"),
    RequiredField("checks_passed", "number"),
    RequiredField("critical_issues", "number"),
)
TABLES = {"Integration Checks": ("Check", "Status", "Evidence"), "E2E Flows": ("Flow", "Status", "Broken Link")}


def check_integration(report: IntegrationReport, root: Path | None = None) -> Iterator[Violation]:  # noqa: ARG001
    """The violations of an integration report. Source: document 003, Integration-Checker -> Planner; rule D2."""
    yield from check_form(report)
    yield from check_fields(report, FIELDS)
    for title, columns in TABLES.items():
        yield from find_section(report, title, columns)[1]
    yield from check_sections(report, ("Critical Issues",))
    tables = (report.checks_table, report.flows_table)
    for (title, columns), table in zip(TABLES.items(), tables, strict=True):
        part = report.source.part(title)
        if part:
            yield from check_columns(report, part, table, columns)
    yield from _check_categories(report)
    yield from _check_counts(report)
    yield from _check_status(report)
    yield from _check_unproven(report)
    rows: tuple[IntegrationCheck | Flow, ...] = (*report.checks, *report.flows)
    for row in rows:
        if row.outcome is None:
            message, fix = f"the status {row.status[:80]!r} does not say whether it passed", "write PASSED or FAILED"
            yield violation("integration/check-status", report.path, row.line, message, fix)


def _check_unproven(report: IntegrationReport) -> Iterator[Violation]:
    """Checks with a blank cell of evidence, and failed flows with no broken link; a missing column is told as such."""
    if report.checks_table is not None and report.checks_table.column("Evidence") is not None:
        for check in report.checks:
            if check.outcome in ("passed", "failed") and is_blank(check.evidence):
                message, fix = f"the check {check.check[:80]!r} has no evidence", "say what was seen where"
                yield violation("integration/evidence-missing", report.path, check.line, message, fix)
    if report.flows_table is not None and report.flows_table.column("Broken Link") is not None:
        for flow in report.flows:
            if flow.outcome == "failed" and is_blank(flow.broken_link):
                message, fix = f"the flow {flow.flow[:80]!r} fails and names no broken link", "say where it breaks"
                yield violation("integration/evidence-missing", report.path, flow.line, message, fix)


def _check_categories(report: IntegrationReport) -> Iterator[Violation]:
    """The categories without a check; the flows have a table of their own, which is their check."""
    part = report.source.part("Integration Checks")
    if part is None:
        return
    inner = [p.title for p in report.source.parts if part.first < p.first <= part.last]
    there = {category_of(text) for text in [*(check.check for check in report.checks), *inner]}
    there |= {"E2E Flows"} if report.flows else set()
    for category in CATEGORIES:
        if category not in there:
            message = f"no check is of the category {category}"
            fix = f"add a row whose check begins with {category}:, also where there is nothing to check"
            yield violation("integration/category-missing", report.path, part.first, message, fix)


def _check_counts(report: IntegrationReport) -> Iterator[Violation]:
    total, passed, front = report.checks_total, report.checks_passed, report.source.front
    if total is not None and passed is not None and passed > total:
        message, fix = f"{counted(passed, 'check')} passed of {total}", "count the checks that passed again"
        yield violation("integration/passed-above-total", report.path, front.line("checks_passed"), message, fix)
    elif report.checks:
        yield from _check_against_tables(report)
    told = len(report.issues)
    if report.critical_issues is not None and report.source.part("Critical Issues") and report.critical_issues != told:
        message = f"critical_issues is {report.critical_issues}, the section tells {told}"
        line = front.line("critical_issues")
        yield violation("integration/critical-wrong", report.path, line, message, f"write {told}, or tell the others")


def _check_against_tables(report: IntegrationReport) -> Iterator[Violation]:
    """The counts against the table of checks, or, since flows are one of the five categories, against both tables."""
    checks, flows = len(report.checks), len(report.flows)
    total, passed, front = report.checks_total, report.checks_passed, report.source.front
    with_flows: tuple[IntegrationCheck | Flow, ...] = (*report.checks, *report.flows)
    rows = with_flows[:checks] if total == checks else with_flows
    if total is not None and total not in (checks, checks + flows):
        message = f"there are said to be {counted(total, 'check')}, the table has {checks}"
        yield violation("integration/total-wrong", report.path, front.line("checks_total"), message, f"write {checks}")
    elif passed is not None and total is not None and all(row.outcome for row in rows):
        held = sum(row.outcome in ("passed", "override") for row in rows)
        if held != passed:
            message, line = f"{passed} are said to have passed, in the table it is {held}", front.line("checks_passed")
            yield violation("integration/passed-wrong", report.path, line, message, f"write {held}")


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
        message = "the status is issues_found, though every check passed and no issue is told"
        yield violation(
            "integration/issues-found-without", report.path, line, message, "write passed, or tell the issue"
        )
