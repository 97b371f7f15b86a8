"""What may change in debug logs and verifications: each rule broken alone, and changes that are allowed."""

from __future__ import annotations

import pytest

from verifyplan.documents.checks.catalogue import RULES
from verifyplan.documents.checks.changes import check_change
from verifyplan.documents.kinds.debug_log import DebugLog
from verifyplan.documents.kinds.verification import MustHaveResult, VerificationDocument, write_verification
from verifyplan.documents.reading.document import Document
from verifyplan.documents.reading.source import read_source
from verifyplan.errors import InputError

LOG = """\
---
slug: loop
status: investigating
created: 2026-03-01
updated: 2026-03-01
mode: find_and_fix
---
## Symptoms

It loops.

## Hypotheses

### Active
- [ ] the cookie
- [ ] the cache

### Eliminated
- [x] the token

## Evidence Log

- 2026-03-01T09:00:00Z the token lasts
- 2026-03-01T10:00:00Z no cookie
"""
VERIFIED = """\
---
status: gaps_found
attempt: 1
must_haves_total: 3
must_haves_passed: 2
gaps: ["Tokens expire"]
overrides: ["Logs are kept"]
---
## Must-Have Verification

| # | Must-Have | Status | Evidence |
|---|---|---|---|
| 1 | Users can log in | PASSED | a |
| 2 | Tokens expire | FAILED | b |
| 3 | Logs are kept | FAILED | c |
"""
AGAIN = VERIFIED.replace("attempt: 1", "attempt: 2")

CASES = [
    ("debug-log/symptoms-changed", 8, LOG, LOG, "It loops.", "It loops at night."),
    ("debug-log/symptoms-changed", 8, LOG, LOG, "It loops.\n", ""),
    ("debug-log/evidence-changed", 23, LOG, LOG, "the token lasts", "the token expires"),
    ("debug-log/evidence-changed", 21, LOG, LOG, "- 2026-03-01T10:00:00Z no cookie\n", ""),
    ("debug-log/evidence-changed", 23, LOG, LOG, "- 2026-03-01T09", "- 2026-03-01T08:00:00Z new\n- 2026-03-01T09"),
    ("debug-log/eliminated-changed", 19, LOG, LOG, "[x] the token", "[x] the clock"),
    ("debug-log/eliminated-changed", 12, LOG, LOG, "- [x] the token\n", ""),
    ("debug-log/status-backward", 3, LOG, LOG, "investigating", "gathering"),
    ("debug-log/status-jumped", 3, LOG, LOG, "investigating", "verifying"),
    ("verification/attempt-not-grown", 3, VERIFIED, AGAIN, "attempt: 2", "attempt: 1\nnew: true"),
    ("verification/regression-untold", 13, VERIFIED, AGAIN, "log in | PASSED", "log in | FAILED"),
    ("verification/regression-untold", 15, VERIFIED, AGAIN, '["Logs are kept"]', "[]"),
    ("verification/must-have-dropped", 13, VERIFIED, AGAIN, "| 1 | Users can log in | PASSED | a |\n", ""),
]


def read(text: str) -> Document:
    model: type[Document] = DebugLog if "slug:" in text else VerificationDocument
    return model.read(read_source(text, "a.md"))


def found(before: str, after: str) -> list[tuple[str, int]]:
    return [(violation.rule, violation.line) for violation in check_change(read(before), read(after))]


@pytest.mark.parametrize(("rule", "line", "before", "after", "old", "new"), CASES)
def test_a_change_that_breaks_one_rule(rule: str, line: int, before: str, after: str, old: str, new: str):
    assert after.count(old) == 1
    assert found(before, after.replace(old, new)) == [(rule, line)]


def test_every_rule_has_a_case():
    logs = {rule for rule in RULES if rule.startswith("debug-log/") and RULES[rule].protocol_rule == "D3"}
    again = {f"verification/{name}" for name in ("attempt-not-grown", "regression-untold", "must-have-dropped")}
    assert {rule for rule, *_ in CASES} == logs | again


def test_a_log_may_go_forward_and_grow():
    after = LOG.replace("investigating", "fixing").replace("- [ ] the cache\n", "")
    after = after.replace("[x] the token", "[x] the token\n- [x] the cache") + "- 2026-03-01T11:00:00Z a redirect\n"
    assert found(LOG, after) == []


def test_symptoms_may_change_while_they_are_gathered():
    before = LOG.replace("investigating", "gathering")
    assert found(before, LOG.replace("It loops.", "It loops at night.")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("log in | PASSED | a", "log in | FAILED (regression) | a"),
        ("log in | PASSED | a", "log in | FAILED | REGRESSED since attempt 1"),
        ("log in | PASSED | a", "log in | OVERRIDE | a"),
        ("log in | PASSED | a", "log in | \u2713 VERIFIED | new evidence"),
    ],
)
def test_a_regression_that_is_told_is_allowed(old: str, new: str):
    assert found(VERIFIED, AGAIN.replace(old, new)) == []


def test_a_gap_may_tell_the_regression():
    after = AGAIN.replace("log in | PASSED", "log in | FAILED")
    assert found(VERIFIED, after.replace('["Tokens', '["Regression: users can log in", "Tokens')) == []


def test_what_failed_may_go_and_what_is_new_may_come():
    after = AGAIN.replace("| 2 | Tokens expire | FAILED | b |", "| 2 | Mails are sent | FAILED | b |")
    assert found(VERIFIED, after) == []


def test_a_version_that_is_unchanged_breaks_nothing():
    assert found(LOG, LOG) == []
    assert found(VERIFIED, VERIFIED) == []


def test_two_kinds_are_no_two_versions():
    with pytest.raises(InputError, match=r"a\.md: is a verification, but the earlier version is a debug-log"):
        check_change(read(LOG), read(VERIFIED))


def test_what_is_written_for_a_later_attempt_is_a_change_that_is_allowed():
    results = [MustHaveResult("", "Users can log in", "FAILED", "regression: the route is gone")]
    before = write_verification([results[0]._replace(status="PASSED", evidence="a")])
    assert found(before, write_verification(results, attempt=2)) == []
