"""Every rule of verifications: a document that breaks it alone, at its line, and one that does not."""

from __future__ import annotations

import pytest

from tests.documents.checks.test_changes import CASES as CHANGES
from verifyplan.documents.checks.catalogue import RULES
from verifyplan.documents.checks.check import check_document
from verifyplan.documents.kinds.verification import VerificationDocument
from verifyplan.documents.reading.source import read_source

VALID = """\
---
status: gaps_found
attempt: 1
must_haves_total: 3
must_haves_passed: 2
gaps: ["Tokens never expire"]
overrides: ["Logs are kept"]
---
# Verification

## Must-Have Verification

| # | Must-Have | Status | Evidence |
|---|-----------|--------|----------|
| 1 | Users can log in | PASSED | `src/auth.py:10` |
| 2 | Tokens expire | FAILED | no `exp` in `src/token.py` |
| 3 | Logs are kept | FAILED | no log file |

## Gaps

### Tokens never expire

- **Evidence:** `src/token.py` sets no `exp`
- **Suggested fix:** set `exp` when a token is made
"""
PASSED = (
    VALID.replace("status: gaps_found", "status: passed")
    .replace("must_haves_passed: 2", "must_haves_passed: 3")
    .replace('["Tokens never expire"]', "[]")
    .replace("Tokens expire | FAILED", "Tokens expire | PASSED")
    .partition("### Tokens")[0]
    + "None\n"
)
GAP = VALID[VALID.index("### Tokens") :]

CASES = [
    ("field-missing", 1, VALID, "attempt: 1\n", ""),
    ("field-type", 3, VALID, "attempt: 1", 'attempt: "1"'),
    ("field-type", 2, VALID, "gaps_found", "gaps"),
    ("field-type", 7, VALID, '["Logs are kept"]', '["Logs are kept", 3]'),
    ("section-missing", 1, PASSED, "## Gaps\n", "## What is missing\n"),
    ("section-missing", 1, PASSED, "## Must-Have Verification", "## Table"),
    ("table-columns", 13, VALID, "| Evidence |", "| Proof |"),
    ("table-columns", 13, VALID, "| # | Must-Have", "| No | Must-Have"),
    ("attempt", 3, VALID, "attempt: 1", "attempt: 0"),
    ("passed-above-total", 5, VALID, "must_haves_passed: 2", "must_haves_passed: 4"),
    ("total-wrong", 4, VALID, "must_haves_total: 3", "must_haves_total: 4"),
    ("passed-wrong", 5, VALID, "must_haves_passed: 2", "must_haves_passed: 1"),
    ("result-status", 15, VALID, "log in | PASSED", "log in | blue"),
    ("evidence-missing", 16, VALID, "no `exp` in `src/token.py` |", " |"),
    ("evidence-missing", 15, VALID, "`src/auth.py:10`", "\N{EM DASH}"),
    ("passed-with-gaps", 2, VALID, "gaps_found", "passed"),
    ("passed-with-failures", 2, PASSED.replace("d: 3", "d: 2"), "expire | PASSED", "expire | FAILED"),
    ("gaps-found-without-gaps", 2, PASSED, "status: passed", "status: gaps_found"),
    ("gaps-count", 6, VALID, '["Tokens never expire"]', '["Tokens never expire", "Logs are lost"]'),
    ("gaps-count", 6, VALID, GAP, "None\n"),
    ("gap-evidence-missing", 21, VALID, "- **Evidence:** `src/token.py` sets no `exp`\n", ""),
    ("gap-fix-missing", 21, VALID, "set `exp` when a token is made", ""),
    (
        "override-unknown",
        7,
        VALID.replace("kept | FAILED", "kept | OVERRIDE"),
        '["Logs are kept"]',
        '["Mails are sent"]',
    ),
    ("form", 1, PASSED, PASSED[: PASSED.index("# Ver")], "---\nphase: 1\nstatus: passed\n---\n"),
]


def found(text: str) -> list[tuple[str, int]]:
    document = VerificationDocument.read(read_source(text, "02-auth/VERIFICATION.md"))
    return [(violation.rule, violation.line) for violation in check_document(document)]


@pytest.mark.parametrize("text", [VALID, PASSED])
def test_a_valid_verification_breaks_no_rule(text: str):
    assert found(text) == []


@pytest.mark.parametrize(("rule", "line", "text", "old", "new"), CASES)
def test_a_verification_that_breaks_one_rule(rule: str, line: int, text: str, old: str, new: str):
    assert text.count(old) == 1
    assert set(found(text.replace(old, new))) == {(f"verification/{rule}", line)}


def test_what_waits_for_a_person_or_was_let_pass_needs_no_evidence():
    assert found(VALID.replace("| no log file |", "| |")) == []
    text = PASSED.replace("expire | PASSED | no `exp` in `src/token.py`", "expire | NEEDS HUMAN | ")
    assert found(text.replace("passed: 3", "passed: 2").replace("status: passed", "status: human_needed")) == []


def told(text: str) -> str:
    document = VerificationDocument.read(read_source(text, "02-auth/VERIFICATION.md"))
    return " / ".join(violation.fix for violation in check_document(document))


def test_a_section_that_is_a_table_is_not_to_say_none_and_a_gap_is_a_heading():
    assert "with a table of the columns #, Must-Have" in told(PASSED.replace("## Must-Have Ver", "## Ver"))
    assert "write None" in told(PASSED.replace("## Gaps", "## What is missing"))
    assert '"### " and the gap\'s text' in told(VALID.replace(GAP, "None\n"))


def test_every_rule_has_a_case():
    single = {rule for rule in RULES if rule.startswith("verification/")} - {rule for rule, *_ in CHANGES}
    assert {f"verification/{rule}" for rule, *_ in CASES} == single


@pytest.mark.parametrize("override", ["Logs are kept", "logs are kept.", "#3", "3", "Logs are kept (agreed with Ana)"])
def test_an_override_counts_as_passed_however_it_names_the_must_have(override: str):
    assert found(VALID.replace('Logs are kept"]', f'{override}"]')) == []


def test_a_must_have_that_waits_for_a_person_did_not_pass_and_is_no_gap():
    text = PASSED.replace("expire | PASSED", "expire | NEEDS HUMAN").replace("passed: 3", "passed: 2")
    assert found(text.replace("status: passed", "status: human_needed")) == []


def test_the_score_of_an_older_form_is_held_against_its_table():
    text = "---\nphase: 16-x\nstatus: passed\nscore: 2/2 must-haves verified\n---\n# V\n\n## Goal Achievement\n\n"
    text += "### Observable Truths\n\n| # | Truth | Status | Evidence |\n|---|---|---|---|\n"
    text += "| 1 | it runs | \u2713 VERIFIED | a |\n| 2 | it stops | ? UNCERTAIN | b |\n"
    assert found(text) == [("verification/form", 1), ("verification/passed-wrong", 4)]
    assert found(text.replace("? UNCERTAIN", "VERIFIED (git history)")) == [("verification/form", 1)]


def test_gaps_as_a_list_are_read_too():
    listed = "- Tokens never expire. Evidence: no exp. Suggested fix: set it\n"
    assert found(VALID.replace(GAP, listed)) == []
    nested = "- Tokens never expire\n  - Evidence: no exp\n  - Fix: set it\n"
    assert found(VALID.replace(GAP, nested)) == []
    assert found(VALID.replace(GAP, "- Tokens never expire\n  - Evidence: no exp\n")) == [
        ("verification/gap-fix-missing", 21)
    ]


@pytest.mark.parametrize("override", ["**Logs** are `kept`", "`Logs are kept`: agreed", "3. Logs are kept."])
def test_an_override_names_its_must_have_however_that_is_formatted(override: str):
    text = VALID.replace('"Logs are kept"', f'"{override}"')
    document = VerificationDocument.read(read_source(text, "VERIFICATION.md"))
    assert sum(map(document.counts_as_passed, document.results)) == 2
    assert list(check_document(document)) == []
