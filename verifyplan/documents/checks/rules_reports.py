"""The rules of plan-check reports, summaries, verifications, integration reports and debug logs (rules D2, D3)."""

from __future__ import annotations

from collections.abc import Iterator

from verifyplan.documents.checks.violation import Rule

_SHAPE = (
    ("form", "info", "A document that has another form than the contract's is named once."),
    ("field-missing", "error", "{Kind} has every key of frontmatter that the contract asks for."),
    (
        "field-type",
        "error",
        "Keys hold what the contract asks: texts, lists of texts, whole numbers, one of few words.",
    ),
    ("section-missing", "error", "{Kind} has every section that the contract asks for."),
    ("table-columns", "error", "A section that is a table has every column of the contract."),
)


def _shape(kind: str, name: str, leaves_out: tuple[str, ...] = ()) -> Iterator[Rule]:
    """The rules of form that hold for each kind of report."""
    for rule, severity, meaning in _SHAPE:
        if rule not in leaves_out:
            yield Rule(f"{kind}/{rule}", severity, "D2", meaning.format(Kind=name))  # type: ignore[arg-type]


_PLAN_CHECK = (
    Rule("plan-check/heading-missing", "error", "D2", "A report begins with VERIFICATION PASSED or ISSUES FOUND."),
    Rule("plan-check/heading-wrong", "error", "D2", "It says PASSED without a blocker, ISSUES FOUND with an issue."),
    Rule("plan-check/counts-missing", "error", "D2", "It counts plans, tasks, blockers, warnings and info in a line."),
    Rule("plan-check/counts-wrong", "error", "D2", "The numbers of issues are those of the lists."),
    Rule("plan-check/issue-form", "error", "D2", "An issue is [plan] D1-D9 severity: description -> Fix: hint."),
    Rule("plan-check/dimension", "error", "D2", "An issue belongs to one of the nine dimensions, D1 to D9."),
    Rule("plan-check/severity", "error", "D2", "An issue is a blocker, a warning or info, and stands under that head."),
    Rule("plan-check/fix-missing", "error", "D2", "A blocker says how to fix it, behind -> Fix:."),
)

_SUMMARY = (
    Rule("summary/must-have-state", "error", "D2", "Each must-have ends with DONE, PARTIAL or SKIPPED."),
    Rule("summary/commit-form", "error", "D2", "Each commit is a hash of 7 to 40 hexadecimal digits."),
    Rule("summary/deviations-empty", "error", "D2", "The deviations from the plan are listed, or said to be None."),
    Rule("summary/status-above-results", "warning", "D2", "A complete summary has no must-have that is not DONE."),
    Rule("summary/file-name", "warning", "D2", "The file is named by its plan."),
)

_VERIFICATION = (
    Rule("verification/attempt", "error", "D2", "Attempts are counted from 1."),
    Rule("verification/passed-above-total", "error", "D3", "No more must-haves passed than there are."),
    Rule("verification/total-wrong", "error", "D3", "The number of must-haves is that of the table's rows."),
    Rule("verification/passed-wrong", "error", "D3", "What passed is counted as the table has it, overrides included."),
    Rule("verification/result-status", "warning", "D2", "A must-have's status says whether it passed."),
    Rule("verification/evidence-missing", "error", "D2", "A must-have that passed or failed has evidence."),
    Rule("verification/passed-with-gaps", "error", "D2", "A verification that passed has no gap."),
    Rule("verification/passed-with-failures", "error", "D2", "A verification passed only if all must-haves did."),
    Rule("verification/gaps-found-without-gaps", "error", "D2", "A verification that found gaps names them."),
    Rule("verification/gaps-count", "error", "D2", "Each gap of the frontmatter is told under Gaps, and none besides."),
    Rule("verification/gap-evidence-missing", "error", "D2", "Each gap has evidence."),
    Rule("verification/gap-fix-missing", "error", "D2", "Each gap has a suggested fix."),
    Rule("verification/override-unknown", "warning", "D3", "Each override names a must-have of the table."),
)

_INTEGRATION = (
    Rule("integration/category-missing", "error", "D2", "Each of the five categories has a check."),
    Rule("integration/check-status", "warning", "D2", "A check's status says whether it passed."),
    Rule("integration/evidence-missing", "error", "D2", "A check has evidence; a flow that fails has a broken link."),
    Rule("integration/passed-above-total", "error", "D2", "No more checks passed than there are."),
    Rule("integration/total-wrong", "error", "D2", "The number of checks is that of the table, with or without flows."),
    Rule("integration/passed-wrong", "error", "D2", "The checks that passed are counted as the table has them."),
    Rule("integration/critical-wrong", "error", "D2", "The number of critical issues is that of the issues told."),
    Rule("integration/passed-with-issues", "error", "D2", "A report that passed has no issue and no failed check."),
    Rule("integration/issues-found-without", "error", "D2", "A report that found issues shows one."),
)

_DEBUG_LOG = (
    Rule("debug-log/slug", "error", "D2", "The slug is the file's name."),
    Rule("debug-log/date", "error", "D2", "created and updated are dates or times as ISO 8601 writes them."),
    Rule("debug-log/updated-before-created", "error", "D2", "A log is not updated before it is created."),
    Rule(
        "debug-log/focus-missing", "error", "D2", "The focus has hypothesis, test, expecting, disconfirm, next action."
    ),
    Rule("debug-log/symptoms-empty", "error", "D2", "Symptoms say something once the status left gathering."),
    Rule("debug-log/eliminated-unchecked", "error", "D2", "An eliminated hypothesis is checked."),
    Rule("debug-log/active-checked", "error", "D2", "An active hypothesis is not checked."),
    Rule("debug-log/evidence-time", "error", "D2", "Each entry of the evidence log begins with its ISO 8601 time."),
    Rule("debug-log/evidence-order", "error", "D2", "The entries of the evidence log are in the order of their times."),
    Rule("debug-log/resolution-incomplete", "error", "D2", "A resolved log has root cause, mechanism, fix and commit."),
    Rule("debug-log/fix-commit", "error", "D2", "The fix commit is a hash, and its message fix(scope): description."),
)

CHANGES = (
    Rule("debug-log/symptoms-changed", "error", "D3", "Symptoms do not change once the status left gathering."),
    Rule("debug-log/evidence-changed", "error", "D3", "The evidence log only grows at its end."),
    Rule("debug-log/eliminated-changed", "error", "D3", "The eliminated hypotheses only grow."),
    Rule("debug-log/status-backward", "error", "D3", "A debug log's status moves forward only."),
    Rule("debug-log/status-jumped", "warning", "D3", "A debug log's status goes on step by step."),
    Rule("verification/attempt-not-grown", "error", "D3", "A verification that was made again has a higher attempt."),
    Rule("verification/regression-untold", "error", "D3", "What passed and fails now is told as a regression."),
    Rule("verification/must-have-dropped", "error", "D3", "What passed once is verified again."),
)
"""The rules of what may change from one version of a document to the next."""

RULES_REPORTS: tuple[Rule, ...] = (
    *_PLAN_CHECK,
    *_shape("summary", "An execution summary"),
    *_SUMMARY,
    *_shape("verification", "A verification"),
    *_VERIFICATION,
    *_shape("integration", "An integration report"),
    *_INTEGRATION,
    *_shape("debug-log", "A debug log", leaves_out=("table-columns",)),
    *_DEBUG_LOG,
    *CHANGES,
)
"""Every rule of the five kinds of report, kind by kind."""
