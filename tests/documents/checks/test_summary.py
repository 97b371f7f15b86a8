"""Every rule of execution summaries: a document that breaks it alone, at its line, and one that does not."""

from __future__ import annotations

import pytest

from verifyplan.documents.checks.catalogue import RULES
from verifyplan.documents.checks.check import check_document
from verifyplan.documents.kinds.execution_summary import ExecutionSummary
from verifyplan.documents.reading.source import read_source

PATH = ".planning/phases/02-auth/SUMMARY-02-01.md"
VALID = """\
---
plan: "02-01"
status: complete
commits: ["1a2b3c4", "deadbeef0"]
provides: ["src/auth.py: login"]
must_haves:
  - "Users can log in: DONE"
  - "Tokens expire: DONE"
---
# Summary

## Task Results

| Task | Status | Notes |
|------|--------|-------|
| 02-01-T1 | done | |

## Deviations

None
"""

CASES = [
    ("summary/field-missing", 1, "status: complete\n", ""),
    ("summary/field-missing", 1, VALID.partition("# Summary")[0], ""),
    ("summary/field-type", 5, 'provides: ["src/auth.py: login"]', "provides: login"),
    ("summary/field-type", 2, '"02-01"', "[a]"),
    ("summary/field-type", 4, '"deadbeef0"', "1234567"),
    ("summary/field-type", 3, "complete", "finished"),
    ("summary/section-missing", 1, "## Task Results", "## Tasks"),
    ("summary/section-missing", 1, "## Deviations", "## Differences"),
    ("summary/table-columns", 14, "Notes", "Comment"),
    ("summary/table-columns", 12, VALID[VALID.index("| Task ") : VALID.index("## Deviations")], "All done.\n\n"),
    ("summary/must-have-state", 8, "expire: DONE", "expire: nearly"),
    ("summary/must-have-state", 7, "log in: DONE", "log in"),
    ("summary/commit-form", 4, "deadbeef0", "main"),
    ("summary/deviations-empty", 18, "\nNone\n", "\n"),
    ("summary/status-above-results", 3, "expire: DONE", "expire: PARTIAL"),
    ("summary/file-name", 2, '"02-01"', '"02-02"'),
    (
        "summary/form",
        1,
        VALID.partition("# Summary")[0],
        "---\nplan: 02-01\nstatus: complete\nkey_files: []\nprovides: []\n---\n",
    ),
]


def found(text: str, path: str = PATH) -> list[tuple[str, int]]:
    document = ExecutionSummary.read(read_source(text, path))
    return [(violation.rule, violation.line) for violation in check_document(document)]


def test_the_valid_summary_breaks_no_rule():
    assert found(VALID) == []


@pytest.mark.parametrize(("rule", "line", "old", "new"), CASES)
def test_a_summary_that_breaks_one_rule(rule: str, line: int, old: str, new: str):
    assert VALID.count(old) == 1
    assert set(found(VALID.replace(old, new))) == {(rule, line)}


def test_every_rule_has_a_case():
    assert {rule for rule, *_ in CASES} == {rule for rule in RULES if rule.startswith("summary/")}


def test_a_partial_summary_may_have_open_must_haves():
    text = VALID.replace("expire: DONE", "expire: SKIPPED").replace("status: complete", "status: partial")
    assert found(text) == []


def test_an_older_form_is_named_and_not_held_to_the_contract_unless_it_is_to_be():
    text = "---\nphase: 13-backend\nplan: 01\nsubsystem: api\nrequirements-completed: []\nprovides: []\n---\n# S\n\n"
    text += "## Task Commits\n\n1. **Task 1** - `1c5991d` (feat)\n\n## Deviations from Plan\n\nNone - as written.\n"
    assert found(text, "13-backend/13-01-SUMMARY.md") == [("summary/form", 1)]
    document = ExecutionSummary.read(read_source(text, "13-backend/13-01-SUMMARY.md")).as_contract()
    rules = {violation.rule for violation in check_document(document)}
    assert rules == {"summary/field-missing", "summary/field-type", "summary/section-missing"}


def test_damaged_frontmatter_is_told_once_and_not_as_missing_keys():
    text = VALID.replace('provides: ["src/auth.py: login"]', "provides: [")
    assert [rule for rule, _ in found(text)] == ["document/frontmatter"]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_lines_are_the_same_with_other_line_ends(end: str):
    assert found(VALID.replace("expire: DONE", "expire").replace("\n", end)) == [("summary/must-have-state", 8)]
