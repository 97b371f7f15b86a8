"""The check of a plan-check report: heading, counts, and the form of every issue (rule D2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.kinds.plan_check_report import SECTIONS, PlanCheckReport, PlanIssue
from verifyplan.documents.reading.body import plain
from verifyplan.errors import one_of
from verifyplan.text import counted

DIMENSIONS = tuple(f"D{number}" for number in range(1, 10))

_HEADINGS = {plain(title): severity for title, severity in SECTIONS.items()}
_FORM = "write - [plan id] D1-D9 severity: description -> Fix: hint"


def check_plan_check(report: PlanCheckReport, root: Path | None = None) -> Iterator[Violation]:  # noqa: ARG001
    """The violations of a plan-check report. Source: document 003, Planner -> Plan-Checker; rule D2."""
    yield from _check_heading(report)
    yield from _check_counts(report)
    for line, text in report.unread:
        yield violation("plan-check/issue-form", report.path, line, f"{text[:80]!r} is no issue", _FORM)
    sections = _sections(report)
    for issue in report.issues:
        yield from _check_issue(report, issue, sections.get(issue.line, ""))


def _check_heading(report: PlanCheckReport) -> Iterator[Violation]:
    if report.passed is None:
        message = "the report does not begin with its result"
        fix = "write VERIFICATION PASSED or ISSUES FOUND on the first line"
        yield violation("plan-check/heading-missing", report.path, report.heading_line, message, fix)
        return
    blockers = sum(issue.severity == "blocker" for issue in report.issues)
    if report.passed and blockers:
        message = f"the check passed, though there is {counted(blockers, 'blocker')}"
        yield violation("plan-check/heading-wrong", report.path, report.heading_line, message, "write ISSUES FOUND")
    if not report.passed and not report.issues and not report.unread:
        message = "issues were found, and none is listed"
        fix = "list them, or write VERIFICATION PASSED"
        yield violation("plan-check/heading-wrong", report.path, report.heading_line, message, fix)


def _check_counts(report: PlanCheckReport) -> Iterator[Violation]:
    missing = [name for name, number in report.counts._asdict().items() if number is None]
    if missing:
        message = f"the report does not count {', '.join(missing)}"
        fix = "write Plans: N | Tasks: N | Blockers: N | Warnings: N | Info: N below the heading"
        line = report.counts_line or report.heading_line
        yield violation("plan-check/counts-missing", report.path, line, message, fix)
    listed = {name: sum(i.severity == severity for i in report.issues) for name, severity in SECTIONS.items()}
    countable = not report.unread and all(issue.severity in SECTIONS.values() for issue in report.issues)
    for title, number in listed.items():
        told = getattr(report.counts, title.lower())
        if told is not None and told != number and countable:
            message = f"{title}: {told}, but {number} of them {'is' if number == 1 else 'are'} listed"
            fix = f"write {title}: {number}, or list the others"
            yield violation("plan-check/counts-wrong", report.path, report.counts_line, message, fix)


def _sections(report: PlanCheckReport) -> dict[int, str]:
    """The severity of the section that each line of an issue stands in."""
    parts = [(p, _HEADINGS[plain(p.title)]) for p in report.source.parts if plain(p.title) in _HEADINGS]
    lines = [issue.line for issue in report.issues]
    return {line: severity for part, severity in parts for line in lines if part.first < line <= part.last}


def _check_issue(report: PlanCheckReport, issue: PlanIssue, section: str) -> Iterator[Violation]:
    if issue.dimension not in DIMENSIONS:
        message = f"{issue.dimension!r} is no dimension"
        yield violation("plan-check/dimension", report.path, issue.line, message, "write one of D1 to D9")
    if issue.severity not in SECTIONS.values():
        message = f"{issue.severity!r} is no severity"
        fix = f"write one of {one_of(SECTIONS.values())}"
        yield violation("plan-check/severity", report.path, issue.line, message, fix)
    elif issue.severity != section:
        message = f"{issue.severity} is listed where the severity is {section}"
        fix = "move it below the heading of its severity"
        yield violation("plan-check/severity", report.path, issue.line, message, fix)
    if issue.severity == "blocker" and not issue.fix:
        message = "the blocker says nothing of how to fix it"
        yield violation("plan-check/fix-missing", report.path, issue.line, message, "add -> Fix: and a hint")
