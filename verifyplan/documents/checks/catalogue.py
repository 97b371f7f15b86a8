"""The rules of the check as data, and what breaks one: a violation (rules D2, D3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from verifyplan.redaction import redact

ViolationSeverity = Literal["error", "warning", "info"]

MAX_MESSAGE_CHARACTERS = 500


@dataclass(frozen=True)
class Rule:
    """One rule: its id, its severity, the rule of docs/protocol.md behind it, and what it requires, in one sentence."""

    id: str
    severity: ViolationSeverity
    spec: str
    meaning: str


@dataclass(frozen=True, order=True)
class Violation:
    """A rule that a document breaks: where, what is wrong, and what to do.

    `lines` are all lines of a rule that is broken so often that it is reported once; empty for a single line.

    >>> print(Violation("PLAN-01.md", 7, "plan/task-id", "error", "the task has no id", 'write id="01-01-T1"'))
    PLAN-01.md:7: error: the task has no id [plan/task-id]. Fix: write id="01-01-T1".
    """

    path: str
    line: int
    rule: str
    severity: ViolationSeverity
    message: str
    fix: str
    lines: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.severity}: {self.message} [{self.rule}]. Fix: {self.fix}."


def violation(rule: str, path: str, line: int, message: str, fix: str) -> Violation:
    """Return a violation of a rule of the catalogue, with the rule's severity.

    Long texts are truncated to 500 characters, and keys and passwords are redacted.
    """
    return Violation(path, max(line, 1), rule, RULES[rule].severity, _one_line(message), _one_line(fix))


def _one_line(text: str) -> str:
    line = redact(" ".join(text[:4_000].split()))
    return line if len(line) <= MAX_MESSAGE_CHARACTERS else f"{line[:MAX_MESSAGE_CHARACTERS].rstrip()}..."


_RULES_BY_KIND: dict[str, tuple[tuple[str, ViolationSeverity, str, str], ...]] = {
    "document": (
        ("unreadable", "error", "H3", "A document is text in UTF-8, no larger than 20 MB."),
        ("not-followed", "info", "H3", "Links, and names that cannot be shown, are neither followed nor read."),
        ("no-repository", "info", "D2", "Paths are looked up where the repository is beside .planning."),
        ("too-long", "error", "H3", "A document has no more than 20,000 lines and a million characters."),
        ("frontmatter", "error", "D2", "Frontmatter is plain YAML: no anchor, alias, tag, and no key twice."),
    ),
    "research-note": (
        ("form", "info", "D2", "A form other than the contract's is reported once."),
        ("field-missing", "error", "D2", "Frontmatter has confidence, sources_checked and coverage."),
        ("field-type", "error", "D2", "confidence and coverage are words of their lists, the rest counts."),
        ("section-missing", "error", "D2", "There are Key Findings, Gaps and Sources."),
        ("no-findings", "error", "D2", "Key Findings holds findings."),
        ("source-level-missing", "error", "D2", "Each finding has a source level, [S1] to [S6] or [S0]."),
        ("source-level", "error", "D2", "Source levels are [S0] (codebase maps) to [S6]."),
        ("confidence-missing", "error", "D2", "Each finding states its confidence."),
        ("speculative", "error", "D2", "What is [SPECULATIVE] is no finding of high confidence."),
        ("version-source", "error", "D2", "Versions, signatures and settings come from S1-S3 or the codebase (S0)."),
        ("source-unlisted", "error", "D2", "Each source level of a finding is in the list of sources."),
        ("source-silent", "warning", "D2", "Each listed source says what it provided."),
        ("sources-counted", "warning", "D2", "No more sources are listed than were checked."),
    ),
    "research-summary": (
        ("form", "info", "D2", "A form other than the contract's is reported once."),
        ("field-missing", "error", "D2", "Frontmatter has confidence, sources and conflicts."),
        ("field-type", "error", "D2", "confidence is high, medium or low, the others are counts."),
        ("section-missing", "error", "D2", "There are Resolved Decisions, Open Questions, Deferred Ideas."),
        ("table-columns", "error", "D2", "Decisions have Topic, Decision, Confidence and Sources."),
        ("decision-empty", "error", "D2", "Each decision names its topic and what was decided."),
        ("decision-confidence", "error", "D2", "Each decision has a confidence: high, medium or low."),
        ("decision-speculative", "error", "D2", "A decision tagged [SPECULATIVE] is of low confidence."),
        ("decision-sources", "error", "D2", "Each decision names its sources."),
        ("question-unmarked", "error", "D2", "Each open question is marked [NEEDS DECISION]."),
    ),
    "plan": (
        ("form", "info", "D2", "A form other than the contract's is reported once."),
        ("seven-elements", "info", "D2", "Tasks of the newer form, with seven elements, are reported once."),
        ("field-missing", "error", "D2", "Frontmatter has every key of the contract."),
        ("field-type", "error", "D2", "Keys hold texts, lists of texts or whole numbers, as required."),
        ("plan-id", "error", "D2", "The plan's id is the phase's number and the plan's own, as 02-01."),
        ("wave", "error", "D2", "Waves are counted from 1."),
        ("must-haves-missing", "error", "D2", "must_haves has truths, artifacts and key_links, each a list."),
        ("must-have-form", "error", "D2", "A must-have is a text; an artifact begins with its file and a colon."),
        ("name-differs", "warning", "D2", "The file's name has the number that the plan's id ends with."),
        ("no-tasks", "error", "D2", "A plan has at least one <task>."),
        ("task-unclosed", "error", "D2", "Every <task> is closed."),
        ("task-element-missing", "error", "D2", "A task has name, files, action, verify and done."),
        ("task-element-empty", "error", "D2", "The five elements of a task say something."),
        ("task-id-missing", "error", "D2", "Every task has an id."),
        ("task-id", "error", "D2", "A task's id is the plan's, -T, and the number of the task from 1."),
        ("task-id-repeated", "error", "D2", "No two tasks of a plan have one id."),
        ("task-type-missing", "error", "D2", "Every task states its type."),
        ("task-type", "error", "D2", "A task's type is one of the five."),
        ("task-tdd", "error", "D2", "Every task states tdd as true or false; one of type tdd states true."),
        ("task-complexity", "error", "D2", "Every task states its complexity: simple, medium or complex."),
        ("task-model", "error", "D2", "A model that a task names is the one its complexity implies."),
        ("task-file-lines", "warning", "D2", "<files> has one path a line."),
        ("task-verify", "error", "D2", "<verify> is a command that a shell can run, but in checkpoints."),
        ("task-name", "warning", "D2", "A task's name is an order: it begins with a verb."),
        ("task-undecided", "error", "D2", "A task that repeats [NEEDS DECISION] is a checkpoint:decision task."),
        ("task-steps", "warning", "D2", "<action> is numbered steps."),
        ("summary-missing", "error", "D2", "A plan has a section ## Summary."),
        ("summary-last", "error", "D2", "The section ## Summary closes the plan."),
        ("summary-content", "warning", "D2", "## Summary names id, tasks, files, must-haves, provides, consumes."),
    ),
    "plan-check": (
        ("heading-missing", "error", "D2", "A report begins with VERIFICATION PASSED or ISSUES FOUND."),
        ("heading-wrong", "error", "D2", "It says PASSED without a blocker, ISSUES FOUND with an issue."),
        ("counts-missing", "error", "D2", "It counts plans, tasks, blockers, warnings and info in a line."),
        ("counts-wrong", "error", "D2", "The numbers of issues are those of the lists."),
        ("issue-form", "error", "D2", "An issue is [plan] D1-D9 severity: description -> Fix: hint."),
        ("dimension", "error", "D2", "An issue belongs to one of the nine dimensions, D1 to D9."),
        ("severity", "error", "D2", "An issue is a blocker, a warning or info, in the section of that name."),
        ("fix-missing", "error", "D2", "A blocker says how to fix it, behind -> Fix:."),
    ),
    "summary": (
        ("form", "info", "D2", "A form other than the contract's is reported once."),
        ("field-missing", "error", "D2", "An execution summary has every key that the contract requires."),
        ("field-type", "error", "D2", "Keys hold texts, lists of texts, whole numbers or fixed words, as required."),
        ("section-missing", "error", "D2", "An execution summary has every section that the contract requires."),
        ("table-columns", "error", "D2", "A section that is a table has every column of the contract."),
        ("must-have-state", "error", "D2", "Each must-have ends with DONE, PARTIAL or SKIPPED."),
        ("commit-form", "error", "D2", "Each commit is a hash of 7 to 40 hexadecimal digits."),
        ("deviations-empty", "error", "D2", "The deviations from the plan are listed, or said to be None."),
        ("status-above-results", "warning", "D2", "A complete summary has no must-have that is not DONE."),
        ("file-name", "warning", "D2", "The file is named by its plan."),
    ),
    "verification": (
        ("form", "info", "D2", "A form other than the contract's is reported once."),
        ("field-missing", "error", "D2", "A verification has every key that the contract requires."),
        ("field-type", "error", "D2", "Keys hold texts, lists of texts, whole numbers or fixed words, as required."),
        ("section-missing", "error", "D2", "A verification has every section that the contract requires."),
        ("table-columns", "error", "D2", "A section that is a table has every column of the contract."),
        ("attempt", "error", "D2", "Attempts are counted from 1."),
        ("passed-above-total", "error", "D3", "No more must-haves passed than there are."),
        ("total-wrong", "error", "D3", "The number of must-haves is that of the table's rows."),
        ("passed-wrong", "error", "D3", "What passed is counted as the table has it, overrides included."),
        ("result-status", "warning", "D2", "A must-have's status says whether it passed."),
        ("evidence-missing", "error", "D2", "A must-have that passed or failed has evidence."),
        ("passed-with-gaps", "error", "D2", "A verification that passed has no gap."),
        ("passed-with-failures", "error", "D2", "A verification passed only if all must-haves did."),
        ("gaps-found-without-gaps", "error", "D2", "A verification that found gaps names them."),
        ("gaps-count", "error", "D2", "The section Gaps describes each gap of the frontmatter, and no other."),
        ("gap-evidence-missing", "error", "D2", "Each gap has evidence."),
        ("gap-fix-missing", "error", "D2", "Each gap has a suggested fix."),
        ("override-unknown", "warning", "D3", "Each override names a must-have of the table."),
        ("attempt-not-grown", "error", "D3", "A verification that was made again has a higher attempt."),
        ("regression-untold", "error", "D3", "What passed and fails now is called a regression."),
        ("must-have-dropped", "error", "D3", "What passed before is verified again."),
    ),
    "integration": (
        ("form", "info", "D2", "A form other than the contract's is reported once."),
        ("field-missing", "error", "D2", "An integration report has every key that the contract requires."),
        ("field-type", "error", "D2", "Keys hold texts, lists of texts, whole numbers or fixed words, as required."),
        ("section-missing", "error", "D2", "An integration report has every section that the contract requires."),
        ("table-columns", "error", "D2", "A section that is a table has every column of the contract."),
        ("category-missing", "error", "D2", "Each of the five categories has a check."),
        ("check-status", "warning", "D2", "A check's status says whether it passed."),
        ("evidence-missing", "error", "D2", "A check has evidence; a flow that fails has a broken link."),
        ("passed-above-total", "error", "D2", "No more checks passed than there are."),
        ("total-wrong", "error", "D2", "The number of checks is that of the table, with or without flows."),
        ("passed-wrong", "error", "D2", "The checks that passed are counted as the table has them."),
        ("critical-wrong", "error", "D2", "The number of critical issues is that of the section."),
        ("passed-with-issues", "error", "D2", "A report that passed has no issue and no failed check."),
        ("issues-found-without", "error", "D2", "A report that found issues lists one."),
    ),
    "debug-log": (
        ("form", "info", "D2", "A form other than the contract's is reported once."),
        ("field-missing", "error", "D2", "A debug log has every key that the contract requires."),
        ("field-type", "error", "D2", "Keys hold texts, lists of texts, whole numbers or fixed words, as required."),
        ("section-missing", "error", "D2", "A debug log has every section that the contract requires."),
        ("slug", "error", "D2", "The slug is the file's name."),
        ("date", "error", "D2", "created and updated are dates or times as ISO 8601 writes them."),
        ("updated-before-created", "error", "D2", "A log is not updated before it is created."),
        ("focus-missing", "error", "D2", "The focus has hypothesis, test, expecting, disconfirm, next action."),
        ("symptoms-empty", "error", "D2", "Symptoms say something once the status left gathering."),
        ("eliminated-unchecked", "error", "D2", "An eliminated hypothesis is checked."),
        ("active-checked", "error", "D2", "An active hypothesis is not checked."),
        ("evidence-time", "error", "D2", "Each entry of the evidence log begins with its ISO 8601 time."),
        ("evidence-order", "error", "D2", "The entries of the evidence log are in the order of their times."),
        ("resolution-incomplete", "error", "D2", "A resolved log has root cause, mechanism, fix and commit."),
        ("fix-commit", "error", "D2", "The fix commit is a hash, and its message fix(scope): description."),
        ("symptoms-changed", "error", "D3", "Symptoms do not change once the status left gathering."),
        ("evidence-changed", "error", "D3", "The evidence log only grows at its end."),
        ("eliminated-changed", "error", "D3", "The eliminated hypotheses only grow."),
        ("status-backward", "error", "D3", "A debug log's status moves forward only."),
        ("status-jumped", "warning", "D3", "A debug log's status goes on step by step."),
    ),
    "codebase-map": (
        ("form", "info", "D2", "A form other than the contract's is reported once."),
        ("focus", "error", "D2", "A map is one of the seven files of the four focus areas."),
        ("section-missing", "error", "D2", "A map has the sections of its file; any map has at least one."),
        ("table-columns", "error", "D2", "A map's table has the columns of its file."),
        ("claim-without-path", "error", "D2", "Each row and list item names a path, as the contract demands."),
        ("path-missing", "error", "D2", "Paths that a map names exist in the repository."),
        ("path-outside", "error", "D2", "Paths that a map names lie in the repository."),
    ),
    "tree": (
        ("confidence-upgraded", "error", "D3", "A summary and its decisions are no surer than their best note."),
        ("speculation-upgraded", "error", "D2", "What a note marks [SPECULATIVE] is of low confidence, or undecided."),
        ("sources-count", "error", "D3", "`sources` of a research summary is the number of its input documents."),
        ("conflicts-count", "error", "D3", "`conflicts` counts the contradictions that the body documents."),
        ("conflict-dropped", "error", "D3", "A contradiction that a note documents is in its summary, too."),
        ("decision-unmet", "error", "D2", "Where there are plans, one decides each [NEEDS DECISION] item."),
        ("plan-id-repeated", "error", "D3", "No two plans of a phase have the same id."),
        ("dependency-unknown", "error", "D3", "What a plan depends on is a plan, or a phase, of its milestone."),
        (
            "consumed-unprovided",
            "warning",
            "D3",
            "What a plan consumes is provided by a plan, unless it existed before.",
        ),
        ("requirement-unknown", "warning", "D3", "Requirement ids are in REQUIREMENTS or another overview."),
        ("summary-without-plan", "error", "D3", "A summary reports on a plan that lies beside it."),
        ("summary-repeated", "error", "D3", "A plan has one summary."),
        ("task-unknown", "warning", "D3", "A summary's task is one of its plan, by id, name or number."),
        ("task-untold", "error", "D3", "A complete summary has a result for each task of its plan."),
        ("provides-dropped", "warning", "D3", "A complete summary provides all that its plan provides."),
        ("must-have-not-in-summary", "error", "D3", "Each must-have of a plan is in its summary, with its state."),
        ("must-have-not-verified", "error", "D3", "Each must-have of a phase's executed plans is in its verification."),
        ("must-have-unknown", "error", "D3", "Must-haves are the plan's: summary and verification add none."),
        ("must-haves-count", "error", "D3", "`must_haves_total` counts those of the executed plans."),
    ),
}

RULES: dict[str, Rule] = {
    f"{kind}/{name}": Rule(f"{kind}/{name}", severity, spec, meaning)
    for kind, rules in _RULES_BY_KIND.items()
    for name, severity, spec, meaning in rules
}
"""Every rule by its id, kind by kind; "tree" rules hold across documents."""
