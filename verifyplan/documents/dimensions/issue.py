"""What a plan check finds: issues, and for each dimension whether it was checked or somebody must judge it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from verifyplan.documents.kinds.plan_check_report import IssueSeverity as IssueSeverity
from verifyplan.documents.kinds.plan_check_report import PlanIssue, issue_line

DimensionState = Literal["checked", "needs-judgement", "not-applicable"]

NAMES: dict[int, str] = {
    1: "requirement coverage",
    2: "task completeness",
    3: "dependency correctness",
    4: "key links",
    5: "scope",
    6: "must-haves",
    7: "context compliance",
    8: "verifiability",
    9: "contracts across plans",
}
"""The nine dimensions of document 003; their numbers are written D1-D9 in its report, and only there."""

MAX_QUOTED_CHARACTERS = 100
"""Letters of a plan's own words within a description: a report is read line by line."""


class Issue(NamedTuple):
    """One thing that is wrong with a plan: how badly, where, and what to do."""

    severity: IssueSeverity
    dimension: int
    plan_id: str  # or the name of the phase, where no single plan is at fault
    description: str
    fix: str
    path: str
    line: int
    rule: str  # what was held against it, such as "dependency-unknown"
    task: str = ""  # the name of the task, where one is at fault

    def in_report(self) -> PlanIssue:
        """The issue as document 003's report has it."""
        return PlanIssue(self.plan_id, f"D{self.dimension}", self.severity, self.description, self.fix, line=self.line)

    def __str__(self) -> str:
        """The issue as its line in the report."""
        return issue_line(self.in_report()).removeprefix("- ")


class Dimension(NamedTuple):
    """One dimension: what was found, and what of it is left to a person or a model, or why it does not apply."""

    number: int
    state: DimensionState
    issues: tuple[Issue, ...] = ()
    judge: tuple[str, ...] = ()  # what must be judged
    why_not: str = ""

    @property
    def name(self) -> str:
        """The dimension in words."""
        return NAMES[self.number]


def quoted(text: str) -> str:
    """A plan's own words on one line, in quotation marks, cut where they are long.

    >>> quoted("the  login works")
    '"the login works"'
    """
    line = " ".join(text.split())
    return f'"{line if len(line) <= MAX_QUOTED_CHARACTERS else line[: MAX_QUOTED_CHARACTERS - 1].rstrip() + "…"}"'
