"""Every rule of integration reports: a report that breaks it alone, at its line, and one that does not."""

from __future__ import annotations

import pytest

from verifyplan.documents.checks.catalogue import RULES
from verifyplan.documents.checks.check import check_document
from verifyplan.documents.kinds.integration_report import IntegrationReport
from verifyplan.documents.reading.source import read_source

VALID = """\
---
status: issues_found
checks_total: 4
checks_passed: 3
critical_issues: 1
---
# Integration

## Integration Checks

| Check | Status | Evidence |
|-------|--------|----------|
| Export/Import Wiring: login | PASSED | `src/app.py:3` |
| API Route Coverage: /login | PASSED | `src/routes.py:9` |
| Auth Protection: /admin | FAILED | no guard |
| Cross-Phase Dependencies: 01 to 02 | PASSED | `src/db.py` |

## E2E Flows

| Flow | Status | Broken Link |
|------|--------|-------------|
| log in | PASSED | - |

## Critical Issues

### /admin is open

Nobody checks the token.
"""
PASSED = (
    VALID.replace("issues_found", "passed")
    .replace("checks_passed: 3", "checks_passed: 4")
    .replace("critical_issues: 1", "critical_issues: 0")
    .replace("/admin | FAILED", "/admin | PASSED")
    .partition("### /admin")[0]
    + "None\n"
)

CASES = [
    ("field-missing", 1, VALID, "critical_issues: 1\n", ""),
    ("field-type", 3, VALID, "checks_total: 4", "checks_total: four"),
    ("field-type", 2, VALID, "issues_found", "failed"),
    ("section-missing", 1, VALID, "## E2E Flows\n", "## Routes\n"),
    ("section-missing", 1, VALID, "## Critical Issues", "## Worst"),
    ("table-columns", 11, VALID, "| Evidence |", "| Proof |"),
    ("table-columns", 20, VALID, "Broken Link", "Break"),
    ("category-missing", 9, VALID, "API Route Coverage: /login", "Log in"),
    ("check-status", 22, VALID, "| log in | PASSED |", "| log in | blue |"),
    ("form", 1, VALID, VALID, "---\nphase: 3\n---\n# Report\n\n## 1. Wiring\n\nAll is well.\n"),
    ("evidence-missing", 22, VALID, "| log in | PASSED | - |", "| log in | FAILED | - |"),
    ("passed-above-total", 4, VALID, "checks_passed: 3", "checks_passed: 5"),
    ("total-wrong", 3, VALID, "checks_total: 4", "checks_total: 7"),
    ("passed-wrong", 4, VALID, "checks_passed: 3", "checks_passed: 2"),
    ("critical-wrong", 5, VALID, "critical_issues: 1", "critical_issues: 2"),
    ("passed-with-issues", 2, VALID, "issues_found", "passed"),
    ("passed-with-issues", 2, PASSED, "| log in | PASSED | - |", "| log in | FAILED | route |"),
    ("issues-found-without", 2, PASSED, "status: passed", "status: issues_found"),
]


def found(text: str) -> list[tuple[str, int]]:
    document = IntegrationReport.read(read_source(text, "02-auth/INTEGRATION-REPORT.md"))
    return [(violation.rule, violation.line) for violation in check_document(document)]


@pytest.mark.parametrize("text", [VALID, PASSED])
def test_a_valid_report_breaks_no_rule(text: str):
    assert found(text) == []


@pytest.mark.parametrize(("rule", "line", "text", "old", "new"), CASES)
def test_a_report_that_breaks_one_rule(rule: str, line: int, text: str, old: str, new: str):
    assert text.count(old) == 1
    told = set(found(text.replace(old, new)))
    extra = {("integration/category-missing", 9)} if old.startswith("## E2E") else set()  # the flows went with it
    assert told == {(f"integration/{rule}", line)} | extra


def test_every_rule_has_a_case():
    known = {rule for rule in RULES if rule.startswith("integration/")}
    assert {f"integration/{rule}" for rule, *_ in CASES} == known


def test_flows_may_be_counted_as_checks():
    assert found(VALID.replace("checks_total: 4", "checks_total: 5").replace("passed: 3", "passed: 4")) == []


def test_categories_may_be_headings():
    text = VALID.replace("| Auth Protection: /admin", "| /admin").replace("## E2E", "### Auth Protection\n\n## E2E")
    assert found(text) == []
