"""What is read from summaries, verifications, plan checks, integration reports and debug logs, whatever their form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from verifyplan.documents.kinds.debug_log import DebugLog, Hypothesis
from verifyplan.documents.kinds.execution_summary import Claimed, ExecutionSummary, TaskResult
from verifyplan.documents.kinds.integration_report import Flow, IntegrationCheck, IntegrationReport
from verifyplan.documents.kinds.plan_check_report import IssueCounts, PlanCheckReport, PlanIssue
from verifyplan.documents.kinds.verification import Gap, MustHaveResult, VerificationDocument
from verifyplan.documents.reading.document import Document
from verifyplan.documents.reading.phrases import LocatedText
from verifyplan.documents.reading.source import read_source
from verifyplan.documents.tree import Tree

MODELS: list[type[Document]] = [
    ExecutionSummary,
    VerificationDocument,
    PlanCheckReport,
    IntegrationReport,
    DebugLog,
]


def test_a_summary_of_the_contract():
    text = "---\nplan: 01-01\nstatus: partial\ncommits: [1234567]\nprovides: [a]\nmust_haves:\n"
    text += (
        '  - "It runs: DONE"\n  - it stops: SKIPPED\n---\n## Task Results\n\n| Task | Status | Notes |\n|---|---|---|\n'
    )
    text += "| T1 | done | a \\| b |\n\n## Deviations\n\n- One more file.\n"
    summary = ExecutionSummary.read(read_source(text, "SUMMARY-01-01.md"))
    assert (summary.plan, summary.status, summary.commits, summary.provides) == (
        "01-01",
        "partial",
        ("1234567",),
        ("a",),
    )
    assert summary.must_haves == (Claimed("It runs", "DONE", 7), Claimed("it stops", "SKIPPED", 8))
    assert summary.task_results == (TaskResult("T1", "done", "a | b", 14),)
    assert summary.deviations == ("One more file.",)
    assert summary.form == "contract"


def test_a_summary_of_an_older_form_tells_commits_and_deviations_in_prose():
    text = "---\nplan: 01\nrequirements-completed: [A-1]\n---\n## Accomplishments\n- It runs\n\n## Task Commits\n\n"
    text += (
        "1. **Task 1: `abc` deadbee** - `5bc28e4` (feat)\n2. **Fix** - `5930a9e` (fix)\n\n## Deviations from Plan\n\n"
    )
    text += "**1. [Rule 1 - Bug] Fixed lint**\n- **Found during:** Task 1\n- **Fix:** sorted\n"
    summary = ExecutionSummary.read(read_source(text, "01-01-SUMMARY.md"))
    assert (summary.form, summary.plan, summary.requirements_completed) == ("get-shit-done", "01", ("A-1",))
    assert summary.commits == ("deadbee", "5bc28e4", "5930a9e")
    assert summary.deviations == ("[Rule 1 - Bug] Fixed lint",)
    assert [(told.text, told.line) for told in summary.accomplishments] == [("It runs", 6)]


def test_a_verification_of_an_older_form():
    text = "---\nphase: 4-x\nstatus: passed\nscore: 2/3 must-haves verified\nre_verification: false\n---\n"
    text += (
        "## Goal Achievement\n\n### Observable Truths\n\n| # | Truth | Status | Evidence |\n|---|---|---|---|\n"
        "| 1 | all | VERIFIED | x |\n"
    )
    verification = VerificationDocument.read(read_source(text, "04-VERIFICATION.md"))
    assert (verification.must_haves_passed, verification.must_haves_total, verification.attempt) == (2, 3, 1)
    assert verification.results == (MustHaveResult("1", "all", "VERIFIED", "x", 13),)
    text += "\n### Must-Have Truths (from the plans)\n\n| # | Truth | Status | Evidence |\n|---|---|---|---|\n"
    text += "| 1 | one | FAILED | y |\n"
    verification = VerificationDocument.read(read_source(text, "04-VERIFICATION.md"))
    assert verification.results == (MustHaveResult("1", "one", "FAILED", "y", 19),)
    assert verification.results[0].outcome == "failed"


@pytest.mark.parametrize(
    "told",
    [
        "### It stops\n\n- **Evidence:** no handler\n- **Suggested fix:** add one\n",
        "### It stops\n**Evidence**: no\nhandler\n\n**Fix:** add one\n",
        "- **It stops**\n  - Evidence: no handler\n  - Suggested fix: add one\n",
        "- It stops. Evidence: no handler; Suggested fix: add one\n",
    ],
)
def test_gaps_are_read_however_they_are_written(told: str):
    verification = VerificationDocument.read(read_source(f"## Gaps\n\n{told}", "VERIFICATION.md"))
    assert verification.gap_details == (Gap("It stops", "no handler", "add one", 3),)


def test_a_plan_check_report():
    text = "## ISSUES FOUND\n**Plans:** 2 | **Tasks:** 3\n\n## Blockers\n- [01-02] D3 blocker: a -> b -> Fix: c\n"
    report = PlanCheckReport.read(read_source(text + "- no issue\n", "PLAN-CHECK.md"))
    assert (report.passed, report.heading_line, report.counts_line) == (False, 1, 0)  # emphasis is no part of the form
    assert report.issues == (PlanIssue("01-02", "D3", "blocker", "a -> b", "c", 5),)
    assert report.unread == ((6, "no issue"),)
    counted = PlanCheckReport.read(read_source(text.replace("**", ""), "PLAN-CHECK.md"))
    assert (counted.counts, counted.counts_line) == (IssueCounts(2, 3), 2)


def test_an_integration_report():
    text = "---\nstatus: passed\nchecks_total: 1\nchecks_passed: 1\ncritical_issues: 0\n---\n## Integration Checks\n\n"
    text += "| Check | Status | Evidence |\n|---|---|---|\n| Auth Protection: x | ok | y |\n\n## E2E Flows\n\n"
    text += "| Flow | Status | Broken Link |\n|---|---|---|\n| a | broken | b |\n"
    text += "\n## Critical Issues\n\n- Open door\n- None\n"
    report = IntegrationReport.read(read_source(text, "INTEGRATION-REPORT.md"))
    assert report.checks == (IntegrationCheck("Auth Protection: x", "ok", "y", 11),)
    assert report.flows == (Flow("a", "broken", "b", 17),)
    assert report.issues == (LocatedText("Open door", 21),)
    assert (report.flows[0].outcome, report.checks[0].outcome) == ("failed", "passed")


def test_a_debug_log_whose_hypotheses_have_no_headings():
    text = "## Hypotheses\n\n**Eliminated:**\n- [x] a\n\n**Active:**\n- [ ] b\n\n## Evidence Log\n\n"
    text += "| Time | What |\n|---|---|\n| 2026-03-01T10:00Z | c |\n"
    log = DebugLog.read(read_source(text, "debug/a.md"))
    assert log.hypotheses == (Hypothesis("a", True, True, 4), Hypothesis("b", False, False, 7))
    assert [(entry.at.isoformat(), entry.line) for entry in log.evidence if entry.at] == [
        ("2026-03-01T10:00:00+00:00", 13)
    ]


@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_read_from_nothing_and_it_is_written_back(model: type[Document]):
    for text in ("", "\ufeff", "---\n---\n", "---\nstatus: [a\n---\n## Gaps\n", "no report\r\nat all"):
        document = model.read(read_source(text, "a.md"))
        assert document.write() == text
        assert document.form == ("other" if "no report" in text and model.FORMS else "contract")


def test_every_real_report_is_read_and_written_back(real_tree: Callable[[str], Tree]):
    known: dict[tuple[str, str], int] = {}
    for document in (*real_tree("ferry"), *real_tree("fake-project")):
        if isinstance(document, ExecutionSummary | VerificationDocument):
            assert document.write().encode() == Path(document.path).read_bytes()
            known[document.kind, document.form] = known.get((document.kind, document.form), 0) + 1
            assert not isinstance(document, VerificationDocument) or document.form == "short" or document.results
    assert known == {
        ("summary", "get-shit-done"): 40,
        ("summary", "get-shit-done-metrics"): 6,
        ("summary", "outcome"): 8,
        ("summary", "headed"): 3,
        ("summary", "key-files"): 4,
        ("verification", "get-shit-done"): 19,
        ("verification", "short"): 2,
    }
