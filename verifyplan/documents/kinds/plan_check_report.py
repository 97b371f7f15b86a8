"""Plan-check report: whether plans may be executed, and the issues with fixes, as document 003 writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from verifyplan.documents.reading.base import Document, Kind
from verifyplan.documents.reading.body import Bullet, plain
from verifyplan.documents.reading.form import Form
from verifyplan.documents.reading.sections import items
from verifyplan.documents.reading.source import Source
from verifyplan.documents.reading.written import flat
from verifyplan.errors import expect_lists

IssueSeverity = Literal["blocker", "warning", "info"]
SECTIONS: dict[str, IssueSeverity] = {"Blockers": "blocker", "Warnings": "warning", "Info": "info"}
"""The section of each severity; each is there if it has issues."""

PASSED, FOUND = "VERIFICATION PASSED", "ISSUES FOUND"

_ISSUE = re.compile(
    r"\[(?P<plan>[^\[\]]{1,300})\][ ]+(?P<dimension>[\w.]{1,20})[ ]+(?P<severity>\w{1,30}):[ ]*(?P<told>.*)"
)
_FIX = re.compile(r"\s*(?:->|→)\s*fix:\s*", re.IGNORECASE)
_COUNT = re.compile(r"(?P<name>plans|tasks|blockers|warnings|info)\s*:\s*(?P<n>\d{1,9})(?!\d)", re.IGNORECASE)


class Counts(NamedTuple):
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
    counts: Counts = Counts()
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


def _read_counts(source: Source) -> tuple[Counts, int]:
    """The first line that counts at least two of the five things."""
    for number, line in source.prose_of():
        found = {m["name"].casefold(): int(m["n"]) for m in _COUNT.finditer(line)} if ":" in line else {}
        if len(found) >= 2:
            return Counts(**found), number
    return Counts(), 0


def _bullets(source: Source) -> Iterator[Bullet]:
    titles = {plain(title) for title in SECTIONS}
    for part in source.parts:
        if part.level == 2 and plain(part.title) in titles:
            yield from items(source, part)


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
