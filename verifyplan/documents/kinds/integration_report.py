"""Integration report: whether phases fit together, check by check and flow by flow (document 003)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from pydantic import Field, InstanceOf

from verifyplan.documents.kinds.outcome import Outcome, outcome
from verifyplan.documents.reading.base import Document, Kind
from verifyplan.documents.reading.body import Part, Table
from verifyplan.documents.reading.form import Form, other_form
from verifyplan.documents.reading.labelled import is_blank
from verifyplan.documents.reading.sections import items, rows_of, subparts, table_with
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.typed import count_of, text_of
from verifyplan.documents.reading.written import document, item, table
from verifyplan.errors import InputError, Problem, expect_lists

CATEGORIES: dict[str, tuple[str, ...]] = {
    "Export/Import Wiring": ("export/import", "import/export", "export", "wiring"),
    "API Route Coverage": ("api route", "api coverage", "route coverage"),
    "Auth Protection": ("auth",),
    "E2E Flows": ("e2e", "end-to-end", "end to end"),
    "Cross-Phase Dependencies": ("cross-phase", "cross phase", "phase dependenc"),
}
"""The five categories of checks, and the words by which a check is known to be one of each."""

_HOLDS = ("passed", "override")


INTEGRATION_FORMS = (other_form("part:Integration Checks", "part:E2E Flows"),)


class IntegrationCheck(NamedTuple):
    """A row of the table of checks; the text begins with its category."""

    check: str
    status: str
    evidence: str
    line: int = 0

    @property
    def outcome(self) -> Outcome | None:
        """Whether the check passed, by its status."""
        return outcome(self.status)


class Flow(NamedTuple):
    """A row of the table of flows from end to end; `broken_link` says where one that fails breaks."""

    flow: str
    status: str
    broken_link: str
    line: int = 0

    @property
    def outcome(self) -> Outcome | None:
        """Whether the flow works, by its status."""
        return outcome(self.status)


class CriticalIssue(NamedTuple):
    """A critical issue: its heading or the first words of its list item, and its line."""

    title: str
    line: int = 0


class IntegrationReport(Document):
    """What a checker found across phases. Source: document 003, Integration-Checker -> Planner; rule D1."""

    FORMS: ClassVar[tuple[Form, ...]] = INTEGRATION_FORMS

    kind: Kind = "integration"
    status: str | None = None
    checks_total: int | None = None
    checks_passed: int | None = None
    critical_issues: int | None = None
    checks: tuple[IntegrationCheck, ...] = ()
    flows: tuple[Flow, ...] = ()
    issues: tuple[CriticalIssue, ...] = ()
    checks_table: InstanceOf[Table] | None = Field(None, repr=False)
    flows_table: InstanceOf[Table] | None = Field(None, repr=False)

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:  # noqa: ARG003  (there is one form)
        """The typed fields of a report."""
        front = source.front
        checks, flows = _table(source, "Integration Checks", "Check"), _table(source, "E2E Flows", "Flow")
        return {
            "status": text_of(front, "status"),
            "checks_total": count_of(front, "checks_total"),
            "checks_passed": count_of(front, "checks_passed"),
            "critical_issues": count_of(front, "critical_issues"),
            "checks": tuple(
                IntegrationCheck(check, status, evidence, line)
                for (check, status, evidence), line in rows_of(checks, ["Check"], ["Status"], ["Evidence"])
            ),
            "flows": tuple(
                Flow(flow, status, broken, line)
                for (flow, status, broken), line in rows_of(flows, ["Flow"], ["Status"], ["Broken Link"])
            ),
            "checks_table": checks,
            "flows_table": flows,
            "issues": _issues(source, source.part("Critical Issues")),
        }


def _table(source: Source, title: str, column: str) -> Table | None:
    part = source.part(title)
    return table_with(source, part, column) if part else None


def _issues(source: Source, part: Part | None) -> tuple[CriticalIssue, ...]:
    """The issues of a section: its headings, or without headings its list items; none where it says so."""
    if part is None:
        return ()
    under = subparts(source, part)
    if under:
        return tuple(CriticalIssue(inner.title, inner.first) for inner in under)
    return tuple(CriticalIssue(bullet.text, bullet.line) for bullet in items(source, part))


def category_of(text: str) -> str | None:
    """The category that a check's text begins with or names; None where it names none of the five.

    >>> category_of("Auth Protection: /admin"), category_of("the menu is blue")
    ('Auth Protection', None)
    """
    told = text.casefold()
    return next((name for name, words in CATEGORIES.items() if any(word in told for word in words)), None)


def write_integration(
    checks: Sequence[IntegrationCheck], flows: Sequence[Flow] = (), critical: Sequence[str] = ()
) -> str:
    """A new report in document 003's form; its status and counts follow from the checks, flows and issues.

    Texts are written on one line each. Raises InputError for a category without a check (flows are one of the five),
    a status that does not say whether it passed, a check without evidence, and a failed flow without a broken link.
    """
    expect_lists(critical=critical)
    _check(checks, flows)
    passed = sum(check.outcome in _HOLDS for check in checks)
    well = passed == len(checks) and not critical and all(flow.outcome in _HOLDS for flow in flows)
    front = {
        "status": "passed" if well else "issues_found",
        "checks_total": len(checks),
        "checks_passed": passed,
        "critical_issues": len(critical),
    }
    body = ["# Integration report", "", "## Integration Checks", ""]
    body += [*table(("Check", "Status", "Evidence"), [check[:3] for check in checks]), "", "## E2E Flows", ""]
    body += [*table(("Flow", "Status", "Broken Link"), [flow[:3] for flow in flows]), "", "## Critical Issues", ""]
    return document(front, [*body, *([item(text) for text in critical] or ["None"])])


def _check(checks: Sequence[IntegrationCheck], flows: Sequence[Flow]) -> None:
    """Raise InputError for what no report may hold."""
    there = {category_of(check.check) for check in checks} | ({"E2E Flows"} if flows else set())
    problems = [
        Problem("checks", f"none is of the category {name}", f"add one whose text begins with {name}:")
        for name in CATEGORIES
        if name not in there
    ]
    rows: tuple[IntegrationCheck | Flow, ...] = (*checks, *flows)
    problems += [
        Problem(f"status {row.status!r}", "does not say whether it passed", "write PASSED or FAILED")
        for row in rows
        if row.outcome is None
    ]
    problems += [
        Problem(f"check {check.check[:80]!r}", f"is {check.status}, without evidence", "say what was seen where")
        for check in checks
        if check.outcome in ("passed", "failed") and is_blank(check.evidence)
    ]
    problems += [
        Problem(f"flow {flow.flow[:80]!r}", "fails and names no broken link", "say where it breaks")
        for flow in flows
        if flow.outcome == "failed" and is_blank(flow.broken_link)
    ]
    if problems:
        raise InputError(problems)
