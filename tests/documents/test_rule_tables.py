"""The tables of rules: every row can be used, and every rule that the code names is a row."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

import verifyplan.documents
from verifyplan.documents.checks.catalogue import RULES, ViolationSeverity, rule_rows, violation
from verifyplan.documents.dimensions.check_context import ISSUE_RULES, NAMES
from verifyplan.documents.kinds.plan_check_report import IssueSeverity

SOURCES = "\n".join(path.read_text() for path in Path(verifyplan.documents.__file__).parent.rglob("*.py"))
TABLES = {
    "rules.csv": ("verifyplan.documents.checks", RULES),
    "issues.csv": ("verifyplan.documents.dimensions", ISSUE_RULES),
}


@pytest.mark.parametrize("name", TABLES)
def test_no_rule_is_in_a_table_twice_and_every_text_can_be_filled_in(name):
    package, rules = TABLES[name]
    rows = rule_rows(package, name)
    assert len(rows) == len(rules)
    for row in rows:
        fields = [*Formatter().parse(row["message"]), *Formatter().parse(row["fix"])]
        assert all(conversion in (None, "", "r", "q", "w") for *_, conversion in fields), row["id"]
        assert row["fix"], row["id"]


def test_severities_scopes_and_dimensions_are_known():
    assert {rule.severity for rule in RULES.values()} == set(get_args(ViolationSeverity))
    assert {rule.protocol_rule for rule in RULES.values()} == {"D2", "D3", "H3"}
    assert all(rule.meaning.endswith(".") for rule in RULES.values())
    assert {rule.severity for rule in ISSUE_RULES.values()} == set(get_args(IssueSeverity))
    assert {rule.dimension for rule in ISSUE_RULES.values()} == set(NAMES)


def test_the_code_names_every_rule_of_the_tables_and_no_other():
    common = ("form", "field-missing", "field-type", "section-missing", "table-columns")  # named for the kind at hand
    named = set(re.findall(r'"([a-z-]+/[a-z-]+)"', SOURCES)) & {
        *RULES,
        *re.findall(r'violation\(\s*"([^"]+)"', SOURCES),
    }
    own = {rule for rule in RULES if rule.split("/")[1] not in common and not rule.startswith("document/")}
    assert own <= named <= set(RULES)
    issues = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', SOURCES))
    assert set(ISSUE_RULES) <= issues


def test_a_text_of_the_caller_replaces_the_one_of_the_rule_and_values_are_quoted_and_truncated():
    own = violation("plan/task-tdd", "PLAN-01.md", 3, message="the task is of another form", fix="write it again")
    assert (own.message, own.fix) == ("the task is of another form", "write it again")
    long = violation("plan/task-name", "PLAN-01.md", 3, name="x{y}" * 100)
    assert long.message == f"the name {('x{y}' * 20)!r} does not say what to do"


def test_a_rule_whose_values_are_missing_is_an_error_at_once():
    with pytest.raises(KeyError, match="plan"):
        violation("plan/plan-id", "PLAN-01.md", 3)
