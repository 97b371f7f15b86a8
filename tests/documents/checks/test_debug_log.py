"""Every rule of debug logs by themselves: a log that breaks it alone, at its line, and one that does not."""

from __future__ import annotations

import pytest

from tests.documents.checks.test_changes import CASES as CHANGES
from verifyplan.documents.checks.catalogue import RULES
from verifyplan.documents.checks.check import check_document
from verifyplan.documents.kinds.debug_log import DebugLog
from verifyplan.documents.reading.source import read_source

VALID = """\
---
slug: "login-loop"
status: "resolved"
created: "2026-03-01T09:00:00Z"
updated: "2026-03-01T12:30:00Z"
mode: "find_and_fix"
---
# Login loop

## Current Focus

**Hypothesis:** the cookie is dropped
**Test:** log in over http
**Expecting:** no cookie
**Disconfirm:** a cookie comes back
**Next action:** none

## Symptoms

- Users are sent back to the login page.

## Hypotheses

### Active

- [ ] the cookie is dropped over http

### Eliminated

- [x] the token expires at once: it lasts an hour

## Evidence Log

- 2026-03-01T09:10:00Z the token lasts an hour
- [2026-03-01 10:00] no Set-Cookie over http

## Resolution

- **Root cause:** the cookie is Secure
- **Mechanism:** browsers drop it over http
- **Fix:** redirect to https
- **Commit:** `1a2b3c4` fix(auth): redirect to https
"""

CASES = [
    ("field-missing", 1, 'mode: "find_and_fix"\n', ""),
    ("field-missing", 1, 'updated: "2026-03-01T12:30:00Z"\n', ""),
    ("field-type", 2, '"login-loop"', "[login-loop]"),
    ("field-type", 3, '"resolved"', '"closed"'),
    ("field-type", 6, "find_and_fix", "find_out"),
    ("section-missing", 1, "## Symptoms", "## What happens"),
    ("section-missing", 1, "## Evidence Log", "## Evidence"),
    ("slug", 2, '"login-loop"', '"login"'),
    ("date", 4, "2026-03-01T09:00:00Z", "01.03.2026"),
    ("updated-before-created", 5, "2026-03-01T12:30:00Z", "2026-02-28"),
    ("focus-missing", 10, "**Disconfirm:** a cookie comes back\n", ""),
    ("focus-missing", 13, "log in over http\n", "\n"),
    ("symptoms-empty", 18, "- Users are sent back to the login page.\n", ""),
    ("symptoms-empty", 18, "- Users are sent back to the login page.", "None"),
    ("form", 1, VALID, "---\nstatus: resolved\ntrigger: users loop\n---\n## Evidence\n\n- seen\n"),
    ("eliminated-unchecked", 30, "- [x]", "- [ ]"),
    ("eliminated-unchecked", 30, "- [x]", "-"),
    ("active-checked", 26, "- [ ]", "- [x]"),
    ("evidence-time", 35, "[2026-03-01 10:00] no", "later: no"),
    ("evidence-order", 35, "2026-03-01 10:00", "2026-03-01 08:00"),
    ("resolution-incomplete", 37, "- **Mechanism:** browsers drop it over http\n", ""),
    ("resolution-incomplete", 41, "redirect to https\n- **Commit", "\n- **Commit"),
    ("fix-commit", 42, "fix(auth): redirect", "Redirect"),
    ("fix-commit", 42, "`1a2b3c4` fix", "fix"),
]


def found(text: str) -> list[tuple[str, int]]:
    document = DebugLog.read(read_source(text, ".planning/debug/login-loop.md"))
    return [(violation.rule, violation.line) for violation in check_document(document)]


def test_a_valid_log_breaks_no_rule():
    assert found(VALID) == []


@pytest.mark.parametrize(("rule", "line", "old", "new"), CASES)
def test_a_log_that_breaks_one_rule(rule: str, line: int, old: str, new: str):
    assert VALID.count(old) == 1
    assert set(found(VALID.replace(old, new))) == {(f"debug-log/{rule}", line)}


def test_every_rule_has_a_case():
    single = {rule for rule in RULES if rule.startswith("debug-log/")} - {rule for rule, *_ in CHANGES}
    assert {f"debug-log/{rule}" for rule, *_ in CASES} == single


def test_a_log_that_is_not_resolved_needs_no_resolution():
    text = VALID.partition("- **Root")[0].replace("resolved", "investigating")
    assert found(text) == []


def test_who_seeks_the_root_cause_alone_fixes_nothing():
    text = VALID.replace("find_and_fix", "find_root_cause_only")
    assert found(text[: text.index("- **Fix")]) == []


def test_dates_may_stand_without_quotation_marks():
    assert (
        found(VALID.replace('"2026-03-01T09:00:00Z"', "2026-03-01").replace('"2026-03-01T12:30:00Z"', "2026-03-02"))
        == []
    )


@pytest.mark.parametrize("commit", ["1a2b3c4", "`1a2b3c4d5e6f`", "1a2b3c4 - fix(auth): x", "1a2b3c4 (fix(auth): x)"])
def test_a_commit_is_its_hash_and_maybe_its_message(commit: str):
    assert found(VALID.replace("`1a2b3c4` fix(auth): redirect to https", commit)) == []
