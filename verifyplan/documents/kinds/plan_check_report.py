"""Plan-check report: whether plans may be executed, and the issues with fixes, as document 003 writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from verifyplan.documents.checks.catalogue import Violation, violation
from verifyplan.documents.reading.body import Bullet, plain
from verifyplan.documents.reading.document import Document, Form, Kind
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.writing import flat
from verifyplan.errors import expect_lists, one_of
from verifyplan.text import counted

IssueSeverity = Literal["blocker", "warning", "info"]
SECTIONS: dict[str, IssueSeverity] = {"Blockers": "blocker", "Warnings": "warning", "Info": "info"}
"""The section of each severity; each is there if it has issues."""

PASSED, FOUND = "VERIFICATION PASSED", "ISSUES FOUND"

_ISSUE = re.compile(
    r"\[(?P<plan>[^\[\]]{1,300})\][ ]+(?P<dimension>[\w.]{1,20})[ ]+(?P<severity>\w{1,30}):[ ]*(?P<told>.*)"
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
    """One issue; dimension and severity are as written (`D4`, `blocker`), `fix` is empty where there is none."""

    plan_id: str
    dimension: str
    severity: str
    description: str
    fix: str
    line: int = 0


class PlanCheckReport(Document):
    """What a plan check found.

    `passed` is None, `counts_line` and `heading_line` 0, where the report lacks what they tell. `unread` are items of
    the issue lists that are no issues by their form. Source: document 003, Planner -> Plan-Checker; rules D1, D4.
    """

    FORMS: ClassVar[tuple[Form, ...]] = ()

    kind: Kind = "plan-check"
    passed: bool | None = None
    heading_line: int = 0
    counts: IssueCounts = IssueCounts()
    counts_line: int = 0
    issues: tuple[PlanIssue, ...] = ()
    unread: tuple[tuple[int, str], ...] = ()

    @classmethod
    def fields(cls, source: Source, form: Form) -> dict[str, Any]:  # noqa: ARG003  (there is one form)
        """The typed fields of a report."""
        passed, heading_line = _read_heading(source)
        counts, counts_line = _read_counts(source)
        read = [(bullet, _read_issue(bullet)) for bullet in _bullets(source)]
        return {
            "passed": passed,
            "heading_line": heading_line,
            "counts": counts,
            "counts_line": counts_line,
            "issues": tuple(issue for _, issue in read if issue),
            "unread": tuple((bullet.line, bullet.text) for bullet, issue in read if not issue),
        }


def _read_heading(source: Source) -> tuple[bool | None, int]:
    """What the first line of words says; a report's heading may be emphasised, or a Markdown heading."""
    for number, line in source.prose_of():
        words = line.strip("#*_` \t.:")
        if words:
            return {PASSED: True, FOUND: False}.get(words), number
    return None, 0


def _read_counts(source: Source) -> tuple[IssueCounts, int]:
    """The first line that counts at least two of the five things."""
    for number, line in source.prose_of():
        found = {m["name"].casefold(): int(m["n"]) for m in _COUNT.finditer(line)} if ":" in line else {}
        if len(found) >= 2:
            return IssueCounts(**found), number
    return IssueCounts(), 0


def _bullets(source: Source) -> Iterator[Bullet]:
    titles = {plain(title) for title in SECTIONS}
    for part in source.sections:
        if part.level == 2 and plain(part.title) in titles:
            yield from source.top_bullets(part)


def _read_issue(bullet: Bullet) -> PlanIssue | None:
    found = _ISSUE.fullmatch(bullet.text)
    if found is None:
        return None
    description, *fix = _FIX.split(found["told"], maxsplit=1)
    return PlanIssue(
        found["plan"].strip(),
        found["dimension"],
        found["severity"],
        description.strip(),
        fix[0].strip() if fix else "",
        bullet.line,
    )


def write_plan_check(issues: Sequence[PlanIssue], *, plans: int, tasks: int, notes: Sequence[str] = ()) -> str:
    """A report in document 003's form: PASSED if no issue is a blocker, the counts, and the issues by severity.

    Issues keep their order within a severity; texts are written on one line each. `notes` are paragraphs behind the
    counts, for what was left to judgment.
    """
    expect_lists(notes=notes)
    listed = {title: [i for i in issues if i.severity == severity] for title, severity in SECTIONS.items()}
    heading = FOUND if listed["Blockers"] else PASSED
    counts = " | ".join(f"{title}: {len(found)}" for title, found in listed.items())
    lines = [heading, f"Plans: {plans} | Tasks: {tasks} | {counts}", ""]
    for note in notes:
        lines += [flat(note), ""]
    for title, found in listed.items():
        lines += [f"## {title}", "", *map(issue_line, found), ""] if found else []
    return "\n".join(lines)


def issue_line(issue: PlanIssue) -> str:
    """An issue as a line of the report; `-> Fix:` and brackets within its texts are changed, since they divide it.

    >>> issue_line(PlanIssue("01-02", "D3", "blocker", "waits for itself", "take it out"))
    '- [01-02] D3 blocker: waits for itself -> Fix: take it out'
    """
    plan_id = flat(issue.plan_id).replace("[", "(").replace("]", ")")
    description, fix = (_FIX.sub(" - ", flat(text)) for text in (issue.description, issue.fix))
    told = f"- [{plan_id}] {issue.dimension} {issue.severity}: {description}"
    return f"{told} -> Fix: {fix}" if fix else told


DIMENSIONS = tuple(f"D{number}" for number in range(1, 10))

_HEADINGS = {plain(title): severity for title, severity in SECTIONS.items()}
_FORM = "write - [plan id] D1-D9 severity: description -> Fix: hint"


def check_plan_check(report: PlanCheckReport, root: Path | None = None) -> Iterator[Violation]:  # noqa: ARG001
    """The violations of a plan-check report. Source: document 003, Planner -> Plan-Checker; rule D2."""
    yield from _check_heading(report)
    yield from _check_counts(report)
    for line, text in report.unread:
        yield violation("plan-check/issue-form", report.path, line, f"{text[:80]!r} is no issue", _FORM)
    sections = _sections(report)
    for issue in report.issues:
        yield from _check_issue(report, issue, sections.get(issue.line, ""))


def _check_heading(report: PlanCheckReport) -> Iterator[Violation]:
    if report.passed is None:
        message = "the report does not begin with its result"
        fix = "write VERIFICATION PASSED or ISSUES FOUND on the first line"
        yield violation("plan-check/heading-missing", report.path, report.heading_line, message, fix)
        return
    blockers = sum(issue.severity == "blocker" for issue in report.issues)
    if report.passed and blockers:
        message = f"the check passed, though there is {counted(blockers, 'blocker')}"
        yield violation("plan-check/heading-wrong", report.path, report.heading_line, message, "write ISSUES FOUND")
    if not report.passed and not report.issues and not report.unread:
        message = "issues were found, and none is listed"
        fix = "list them, or write VERIFICATION PASSED"
        yield violation("plan-check/heading-wrong", report.path, report.heading_line, message, fix)


def _check_counts(report: PlanCheckReport) -> Iterator[Violation]:
    missing = [name for name, number in report.counts._asdict().items() if number is None]
    if missing:
        message = f"the report does not count {', '.join(missing)}"
        fix = "write Plans: N | Tasks: N | Blockers: N | Warnings: N | Info: N below the heading"
        line = report.counts_line or report.heading_line
        yield violation("plan-check/counts-missing", report.path, line, message, fix)
    listed = {name: sum(i.severity == severity for i in report.issues) for name, severity in SECTIONS.items()}
    countable = not report.unread and all(issue.severity in SECTIONS.values() for issue in report.issues)
    for title, number in listed.items():
        told = getattr(report.counts, title.lower())
        if told is not None and told != number and countable:
            message = f"{title}: {told}, but {number} of them {'is' if number == 1 else 'are'} listed"
            fix = f"write {title}: {number}, or list the others"
            yield violation("plan-check/counts-wrong", report.path, report.counts_line, message, fix)


def _sections(report: PlanCheckReport) -> dict[int, str]:
    """The severity of the section that each line of an issue stands in."""
    parts = [(p, _HEADINGS[plain(p.title)]) for p in report.source.sections if plain(p.title) in _HEADINGS]
    lines = [issue.line for issue in report.issues]
    return {line: severity for part, severity in parts for line in lines if part.first < line <= part.last}


def _check_issue(report: PlanCheckReport, issue: PlanIssue, section: str) -> Iterator[Violation]:
    if issue.dimension not in DIMENSIONS:
        message = f"{issue.dimension!r} is no dimension"
        yield violation("plan-check/dimension", report.path, issue.line, message, "write one of D1 to D9")
    if issue.severity not in SECTIONS.values():
        message = f"{issue.severity!r} is no severity"
        fix = f"write one of {one_of(SECTIONS.values())}"
        yield violation("plan-check/severity", report.path, issue.line, message, fix)
    elif issue.severity != section:
        message = f"{issue.severity} is listed where the severity is {section}"
        fix = "move it below the heading of its severity"
        yield violation("plan-check/severity", report.path, issue.line, message, fix)
    if issue.severity == "blocker" and not issue.fix:
        message = "the blocker says nothing of how to fix it"
        yield violation("plan-check/fix-missing", report.path, issue.line, message, "add -> Fix: and a hint")
