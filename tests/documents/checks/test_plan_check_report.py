"""Every rule of plan-check reports: a report that breaks it alone, at its line, and one that does not."""

from __future__ import annotations

import pytest

from verifyplan.documents.checks.catalogue import RULES
from verifyplan.documents.checks.check import check_document
from verifyplan.documents.kinds.plan_check_report import PlanCheckReport
from verifyplan.documents.reading.source import read_source

VALID = """\
ISSUES FOUND
Plans: 2 | Tasks: 5 | Blockers: 1 | Warnings: 1 | Info: 1

## Blockers
- [02-01] D3 blocker: it waits for itself -> Fix: take 02-01 out of depends_on

## Warnings
- [02-02] D5 warning: six tasks -> Fix: split it

## Info
- [02-02] D8 info: one check is manual
"""
PASSED = "VERIFICATION PASSED\nPlans: 2 | Tasks: 5 | Blockers: 0 | Warnings: 0 | Info: 0\n"

CASES = [
    ("heading-missing", 1, VALID, "ISSUES FOUND", "Issues"),
    ("heading-wrong", 1, VALID, "ISSUES FOUND", "VERIFICATION PASSED"),
    ("heading-wrong", 1, PASSED, "VERIFICATION PASSED", "ISSUES FOUND"),
    ("counts-missing", 2, VALID, " | Info: 1", ""),
    ("counts-missing", 1, VALID, "Plans: 2 | Tasks: 5 | Blockers: 1 | Warnings: 1 | Info: 1\n", ""),
    ("counts-wrong", 2, VALID, "Warnings: 1", "Warnings: 2"),
    ("counts-wrong", 2, PASSED, "Blockers: 0", "Blockers: 1"),
    ("issue-form", 8, VALID, "[02-02] D5 warning: six tasks", "six tasks"),
    ("dimension", 5, VALID, "D3 blocker", "D10 blocker"),
    ("dimension", 5, VALID, "D3 blocker", "scope blocker"),
    ("severity", 11, VALID.replace("Info: 1", "Info: 0"), "D8 info", "D8 minor"),
    ("severity", 8, VALID.replace("s: 1 | Info: 1", "s: 0 | Info: 2"), "D5 warning", "D5 info"),
    ("fix-missing", 5, VALID, " -> Fix: take 02-01 out of depends_on", ""),
]


def found(text: str) -> list[tuple[str, int]]:
    document = PlanCheckReport.read(read_source(text, "PLAN-CHECK.md"))
    return [(violation.rule, violation.line) for violation in check_document(document)]


@pytest.mark.parametrize("text", [VALID, PASSED, f"# {PASSED}", VALID.replace("ISSUES FOUND", "**ISSUES FOUND**")])
def test_a_valid_report_breaks_no_rule(text: str):
    assert found(text) == []


@pytest.mark.parametrize(("rule", "line", "text", "old", "new"), CASES)
def test_a_report_that_breaks_one_rule(rule: str, line: int, text: str, old: str, new: str):
    assert text.count(old) == 1
    assert set(found(text.replace(old, new))) == {(f"plan-check/{rule}", line)}


def test_every_rule_has_a_case():
    known = {rule for rule in RULES if rule.startswith("plan-check/")}
    assert {f"plan-check/{rule}" for rule, *_ in CASES} == known


def test_warnings_alone_may_pass():
    text = VALID.replace("ISSUES FOUND", "VERIFICATION PASSED").replace("Blockers: 1", "Blockers: 0")
    assert found(text.replace(text[text.index("## Blockers") : text.index("## Warnings")], "")) == []


def test_a_section_that_says_none_holds_no_issue():
    assert found(PASSED + "\n## Blockers\n\n- None\n") == []
