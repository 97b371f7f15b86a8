"""Plan-check report: whether plans may be executed, and the issues with their fixes (rules D1, D2, D4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.reading.body import Bullet, plain
from verifyplan.documents.reading.document import Document, DocumentKind, Form
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.writing import flat
from verifyplan.errors import expect_lists, one_of
from verifyplan.text import counted

IssueSeverity = Literal["blocker", "warning", "info"]
SECTIONS: dict[str, IssueSeverity] = {"Blockers": "blocker", "Warnings": "warning", "Info": "info"}
"""The section of each severity; it is there if it has issues."""
DIMENSIONS = tuple(f"D{number}" for number in range(1, 10))

PASSED, FOUND = "VERIFICATION PASSED", "ISSUES FOUND"

_SEVERITY_OF_TITLE = {plain(title): severity for title, severity in SECTIONS.items()}
_ISSUE = re.compile(
    r"\[(?P<plan>[^\[\]]{1,300})\][ ]+(?P<dimension>[\w.]{1,20})[ ]+(?P<severity>\w{1,30}):[ ]*(?P<text>.*)"
)
_FIX = re.compile(r"\s*(?:->|→)\s*fix:\s*", re.IGNORECASE)
_COUNT = re.compile(r"(?P<name>plans|tasks|blockers|warnings|info)\s*:\s*(?P<n>\d{1,9})(?!\d)", re.IGNORECASE)


class IssueCounts(NamedTuple):
    """The numbers of a report's second line; None for those it lacks."""

    plans: int | None = None
    tasks: int | None = None
    blockers: int | None = None
    warnings: int | None = None
    info: int | None = None


class PlanIssue(NamedTuple):
    """One issue; dimension and severity are as written (`D4`, `blocker`), `fix` is empty without one."""

    plan_id: str
    dimension: str
    severity: str
    description: str
    fix: str
    line: int = 0


class PlanCheckReport(Document):
    """The report of a plan check.

    `passed` is None without a heading that says it; `counts_line` and `heading_line` are 0 without these lines.
    `unread` are items of the issue lists that do not have the form of an issue.
    """

    kind: DocumentKind = "plan-check"
    passed: bool | None = None
    heading_line: int = 0
    counts: IssueCounts = IssueCounts()
    counts_line: int = 0
    issues: tuple[PlanIssue, ...] = ()
    unread: tuple[tuple[int, str], ...] = ()

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:  # noqa: ARG003  (there is one form)
        """Return the typed fields of a report."""
        passed, heading_line = _read_heading(source)
        counts, counts_line = _read_counts(source)
        sections = [s for s in source.sections if s.level == 2 and plain(s.title) in _SEVERITY_OF_TITLE]
        bullets = [bullet for section in sections for bullet in source.top_bullets(section)]
        issues = [(bullet, _read_issue(bullet)) for bullet in bullets]
        return {
            "passed": passed,
            "heading_line": heading_line,
            "counts": counts,
            "counts_line": counts_line,
            "issues": tuple(issue for _, issue in issues if issue),
            "unread": tuple((bullet.line, bullet.text) for bullet, issue in issues if not issue),
        }


def _read_heading(source: Source) -> tuple[bool | None, int]:
    """Return what the first line of words says; it may be emphasised, or a Markdown heading."""
    for number, line in source.prose_of():
        words = line.strip("#*_` \t.:")
        if words:
            return {PASSED: True, FOUND: False}.get(words), number
    return None, 0


def _read_counts(source: Source) -> tuple[IssueCounts, int]:
    """Return the counts of the first line that counts at least two of the five things."""
    for number, line in source.prose_of():
        counts = {m["name"].casefold(): int(m["n"]) for m in _COUNT.finditer(line)} if ":" in line else {}
        if len(counts) >= 2:
            return IssueCounts(**counts), number
    return IssueCounts(), 0


def _read_issue(bullet: Bullet) -> PlanIssue | None:
    issue = _ISSUE.fullmatch(bullet.text)
    if issue is None:
        return None
    description, *fixes = _FIX.split(issue["text"], maxsplit=1)
    fix = fixes[0].strip() if fixes else ""
    return PlanIssue(
        issue["plan"].strip(), issue["dimension"], issue["severity"], description.strip(), fix, bullet.line
    )


def check_plan_check(report: PlanCheckReport) -> Iterator[Violation]:
    """Yield the violations of a plan-check report (rule D2)."""
    yield from _check_heading(report)
    yield from _check_counts(report)
    for line, text in report.unread:
        yield violation("plan-check/issue-form", report.path, line, issue=text)
    sections = [s for s in report.source.sections if plain(s.title) in _SEVERITY_OF_TITLE]
    for issue in report.issues:
        titles = [plain(section.title) for section in sections if section.first < issue.line <= section.last]
        yield from _check_issue(report.path, issue, _SEVERITY_OF_TITLE[titles[-1]] if titles else "")


def _check_heading(report: PlanCheckReport) -> Iterator[Violation]:
    line = report.heading_line
    if report.passed is None:
        yield violation("plan-check/heading-missing", report.path, line)
        return
    blockers = sum(issue.severity == "blocker" for issue in report.issues)
    if report.passed and blockers:
        yield violation("plan-check/heading-wrong", report.path, line, blockers=counted(blockers, "blocker"))
    if not report.passed and not report.issues and not report.unread:
        message, fix = "issues were found, and none is listed", "list them, or write VERIFICATION PASSED"
        yield violation("plan-check/heading-wrong", report.path, line, message=message, fix=fix)


def _check_counts(report: PlanCheckReport) -> Iterator[Violation]:
    missing = [name for name, number in report.counts._asdict().items() if number is None]
    if missing:
        line = report.counts_line or report.heading_line
        yield violation("plan-check/counts-missing", report.path, line, missing=", ".join(missing))
    if report.unread or any(issue.severity not in SECTIONS.values() for issue in report.issues):
        return
    for title, severity in SECTIONS.items():
        number, count = sum(i.severity == severity for i in report.issues), getattr(report.counts, title.lower())
        if count is not None and count != number:
            values = {"title": title, "count": count, "number": number, "verb": "is" if number == 1 else "are"}
            yield violation("plan-check/counts-wrong", report.path, report.counts_line, **values)


def _check_issue(path: str, issue: PlanIssue, section: str) -> Iterator[Violation]:
    if issue.dimension not in DIMENSIONS:
        yield violation("plan-check/dimension", path, issue.line, dimension=issue.dimension)
    if issue.severity not in SECTIONS.values():
        allowed = one_of(SECTIONS.values())
        yield violation("plan-check/severity", path, issue.line, severity=issue.severity, allowed=allowed)
    elif issue.severity != section:
        message = f"{issue.severity} is listed where the severity is {section}"
        fix = "move it below the heading of its severity"
        yield violation("plan-check/severity", path, issue.line, message=message, fix=fix)
    if issue.severity == "blocker" and not issue.fix:
        yield violation("plan-check/fix-missing", path, issue.line)


def write_plan_check(issues: Sequence[PlanIssue], *, plans: int, tasks: int, notes: Sequence[str] = ()) -> str:
    """Write a report in the contract's form: PASSED without a blocker, the counts, and the issues by severity.

    Issues keep their order within a severity; texts are written on one line each. `notes` are paragraphs behind the
    counts, for what was left to judgment.
    """
    expect_lists(notes=notes)
    listed = {title: [i for i in issues if i.severity == severity] for title, severity in SECTIONS.items()}
    counts = " | ".join(f"{title}: {len(of_severity)}" for title, of_severity in listed.items())
    lines = [FOUND if listed["Blockers"] else PASSED, f"Plans: {plans} | Tasks: {tasks} | {counts}", ""]
    for note in notes:
        lines += [flat(note), ""]
    for title, of_severity in listed.items():
        lines += [f"## {title}", "", *map(issue_line, of_severity), ""] if of_severity else []
    return "\n".join(lines)


def issue_line(issue: PlanIssue) -> str:
    """Return an issue as a line of the report; `-> Fix:` and brackets in its texts are changed, since they divide it.

    >>> issue_line(PlanIssue("01-02", "D3", "blocker", "waits for itself", "take it out"))
    '- [01-02] D3 blocker: waits for itself -> Fix: take it out'
    """
    plan_id = flat(issue.plan_id).replace("[", "(").replace("]", ")")
    description, fix = (_FIX.sub(" - ", flat(text)) for text in (issue.description, issue.fix))
    line = f"- [{plan_id}] {issue.dimension} {issue.severity}: {description}"
    return f"{line} -> Fix: {fix}" if fix else line
