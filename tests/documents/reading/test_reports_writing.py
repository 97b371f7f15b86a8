"""What is written is read back equal and passes its own check, whatever the texts; no text raises or is slow."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.documents.checks.changes import check_change
from verifyplan.documents.checks.check import check_document
from verifyplan.documents.kinds.plan_check_report import PlanCheckReport, PlanIssue, write_plan_check
from verifyplan.documents.kinds.verification import Gap, MustHaveResult, VerificationDocument, write_verification
from verifyplan.documents.loading import load_text
from verifyplan.documents.reading.document import Document, DocumentKind
from verifyplan.documents.reading.source import read_source
from verifyplan.documents.reading.writing import flat
from verifyplan.errors import InputError

KINDS: list[DocumentKind] = ["plan-check", "summary", "verification", "integration", "debug-log"]

hostile = st.sampled_from(
    ["`", "``", "|", "\\|", "<!--", "-->", "<task>", "</task>", "[x]", "->", "Fix:", "#", "```", "|a|b|"]
)
texts = st.lists(st.one_of(st.text(max_size=8), hostile), max_size=5).map(" ".join)
words = texts.map(
    lambda text: f"a{text.replace('`', '')}z"
)  # what is compared letter by letter: no open code, no edges
statuses = st.sampled_from(["PASSED", "\u2713 VERIFIED", "FAILED", "NEEDS HUMAN", "OVERRIDE"])


def clean(text: str) -> str:
    """A text as it can stand in a table's cell."""
    return flat(text).replace("\\|", "|")


def rules(document: Document) -> list[str]:
    return [str(violation) for violation in check_document(document)]


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(words, statuses, words), max_size=4), st.integers(1, 9))
def test_a_verification_is_read_back_and_passes_its_check(rows: list[tuple[str, str, str]], attempt: int):
    results = [MustHaveResult("", *row) for row in rows]
    text = write_verification(results, attempt=attempt)
    document = VerificationDocument.read(read_source(text, "VERIFICATION.md"))
    assert rules(document) == []
    assert [(r.number, r.text, r.status, r.evidence) for r in document.results] == [
        (str(at), clean(r.text), r.status, clean(r.evidence)) for at, r in enumerate(results, 1)
    ]
    failed = [r for r in results if r.outcome == "failed"]
    assert list(document.gaps) == [gap.title for gap in document.gap_details] == [flat(r.text) for r in failed]
    assert document.attempt == attempt
    assert document.must_haves_passed == sum(r.outcome in ("passed", "override") for r in results)


@settings(max_examples=examples(100), deadline=None)
@given(texts, texts, texts)
def test_no_text_breaks_a_verification(text: str, evidence: str, fix: str):
    result = MustHaveResult("", f"a {text}", "FAILED", f"e {evidence}")
    document = VerificationDocument.read(
        read_source(write_verification([result], [Gap(f"g {text}", f"e {evidence}", f"f {fix}")]), "VERIFICATION.md")
    )
    assert rules(document) == []
    assert document.status == "gaps_found"


def test_an_override_is_no_gap_and_counts_as_passed():
    results = [MustHaveResult("", "Logs are kept", "FAILED", "no file"), MustHaveResult("", "It runs", "PASSED", "x")]
    document = VerificationDocument.read(
        read_source(write_verification(results, overrides=["Logs are kept"]), "VERIFICATION.md")
    )
    assert (document.status, document.must_haves_passed, document.gaps) == ("passed", 2, ())
    assert rules(document) == []


def test_what_no_verification_may_hold_is_told_at_once():
    results = [MustHaveResult("", "Logs are kept", "blue", "no file"), MustHaveResult("", "It runs", "FAILED", "")]
    with pytest.raises(InputError, match="does not say whether the must-have passed") as raised:
        write_verification(results, [Gap("It runs", "", "run it")], attempt=0, overrides=["Mails are sent"])
    assert len(raised.value.problems) == 5
    assert any("is FAILED, without evidence" in str(problem) for problem in raised.value.problems)
    with pytest.raises(InputError, match="gaps: is empty, though a must-have failed"):
        write_verification(results[1:], [])


issues = st.builds(
    PlanIssue,
    st.sampled_from(["01-01", "auth-02"]),
    st.sampled_from(["D1", "D9"]),
    st.sampled_from(["blocker", "warning", "info"]),
    words,
    words,
)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(issues, max_size=5))
def test_a_plan_check_is_read_back_and_passes_its_check(given_issues: list[PlanIssue]):
    text = write_plan_check(given_issues, plans=2, tasks=7, notes=["D5 needs judgment: scope"])
    document = PlanCheckReport.read(read_source(text, "PLAN-CHECK.md"))
    assert rules(document) == []
    order = ["blocker", "warning", "info"]
    wanted = sorted(given_issues, key=lambda issue: order.index(issue.severity))
    plain = [(i.plan_id, i.dimension, i.severity) for i in wanted]
    assert [(i.plan_id, i.dimension, i.severity) for i in document.issues] == plain
    for issue, told in zip(wanted, document.issues, strict=True):
        if "Fix:" not in issue.description + issue.fix:
            assert (told.description, told.fix) == (flat(issue.description), flat(issue.fix))
    assert document.counts == (2, 7, *(sum(i.severity == severity for i in wanted) for severity in order))
    assert document.passed is not any(i.severity == "blocker" for i in wanted)
    assert load_text(text, "report.md", "plan-check") == document.model_copy(
        update={"source": read_source(text, "report.md")}
    )


pieces = st.sampled_from(
    [
        "---\n", "status: passed\n", "attempt: 1\n", "must_haves: [a]\n", "gaps:\n  - {a: b}\n", "overrides: [x, 3]\n",
        "slug: a\n", "created: 2026-99-99\n", "updated: 0001-01-01T00:00:00+14:00\n", "must_haves_total: 9\n",
        "score: 1/2\n", "## Gaps\n", "### x\n", "## Hypotheses\n", "### Eliminated\n", "- [x] a\n", "- [ ] b\n",
        "## Evidence Log\n", "- 2026-03-01 a\n", "- 9999-12-31T23:59:59-12:00 a\n", "## Resolution\n", "Fix:\n",
        "**Commit:** abc\n", "## Current Focus\n", "Test: x\n", "## Must-Have Verification\n",
        "| # | Must-Have | Status |\n",
        "|---|---|---|\n", "| 1 | a | PASSED |\n", "ISSUES FOUND\n", "Plans: 1 | Tasks: 2\n", "## Blockers\n",
        "- [1] D1 blocker: x -> Fix: y\n", "## Integration Checks\n", "## E2E Flows\n", "## Critical Issues\n",
        "\r\n", "\r",
    ]
)  # fmt: skip
any_text = st.one_of(st.text(max_size=60), st.lists(st.one_of(pieces, st.text(max_size=12)), max_size=25).map("".join))


@settings(max_examples=examples(250), deadline=None)
@given(any_text, any_text, st.sampled_from(KINDS))
def test_no_text_raises(before: str, after: str, kind: DocumentKind):
    documents = [load_text(text, "debug/a.md", kind) for text in (before, after)]
    for document, text in zip(documents, (before, after), strict=True):
        assert document is not None
        assert document.write() == text
        for violation in check_document(document):
            assert 1 <= violation.line <= max(1, len(document.source.lines))
        list(check_document(document.as_contract()))
    assert check_change(documents[0], documents[1]) == sorted(check_change(documents[0], documents[1]))  # type: ignore[arg-type]


LONG = "word " * 12
ROW = f"| 1 | a | PASSED | {LONG} |\n"
HUGE = {
    "rows": "## Must-Have Verification\n\n| # | Must-Have | Status | Evidence |\n|---|---|---|---|\n" + ROW * 65_000,
    "wide": "## Must-Have Verification\n\n|" + " a |" * 20_000 + "\n|" + "---|" * 20_000 + "\n" + "| b |\n" * 20_000,
    "gaps": "---\nstatus: gaps_found\n---\n## Gaps\n\n" + f"### {LONG}\n\nEvidence: {LONG}\n\n" * 37_000,
    "hypotheses": "## Hypotheses\n\n" + f"### Active\n- [x] {LONG}\n" * 60_000,
    "one line": "## Gaps\n\n- " + "evidence: suggested fix: " * 200_000,
    "spaces": "## Resolution\n\nFix:" + " " * 5_000_000 + "x",
    "colons": "## Current Focus\n\n" + "test:" * 1_000_000,
    "hex": "## Task Commits\n\n" + "abcdef0" * 700_000,
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("rows", "verification"),
        ("wide", "verification"),
        ("gaps", "verification"),
        ("one line", "verification"),
        ("hypotheses", "debug-log"),
        ("spaces", "debug-log"),
        ("colons", "debug-log"),
        ("hex", "summary"),
    ],
)
def test_a_huge_document_is_read_and_checked_in_seconds(name: str, kind: DocumentKind):
    begun = process_time()
    document = load_text(HUGE[name], "debug/a.md", kind)
    assert document is not None
    for _ in check_document(document):
        pass
    assert process_time() - begun < 4  # seconds of one core; half of it where nothing else runs
