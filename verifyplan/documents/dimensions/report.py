"""The plan check's report: document 003's format, and a section on what is left to judge (rule D4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verifyplan.documents.dimensions.issue import Dimension
from verifyplan.documents.kinds.plan_check_report import write_plan_check
from verifyplan.documents.reading.written import flat


def report(dimensions: Sequence[Dimension], plans: int, tasks: int) -> str:
    """The heading, the counts, what they rest on, the issues by severity, and under `## Needs judgment` what is left.

    The heading says whether look-ups found a blocker; the line below the counts says that they are look-ups, and which
    dimensions nobody has judged. A dimension that does not apply is named at the end with the reason, so that nobody
    takes it for checked. Source: rule D4; document 003, "Planner -> Plan-Checker".
    """
    issues = [issue.in_report() for dimension in dimensions for issue in dimension.issues]
    told = write_plan_check(issues, plans=plans, tasks=tasks, notes=[rests_on(dimensions)])
    left = [f"- {flat(line)}" for dimension in dimensions for line in _left(dimension)]
    return "\n".join([told, "## Needs judgment", "", *left, ""]) if left else told


def rests_on(dimensions: Sequence[Dimension]) -> str:
    """Return what a plan check's heading rests on, and the dimensions that are not judged."""
    groups = {
        state: ", ".join(f"D{one.number} {one.name}" for one in dimensions if one.state == state)
        for state in ("needs-judgement", "not-applicable")
    }
    told = ["Looked up in the plans' text, without a judge; a plan without issues is not thereby verified."]
    told += [f"Not judged: {groups['needs-judgement']}."] if groups["needs-judgement"] else []
    told += [f"Not applicable: {groups['not-applicable']}."] if groups["not-applicable"] else []
    return " ".join(told)


def _left(dimension: Dimension) -> Iterator[str]:
    name = f"D{dimension.number} {dimension.name}"
    if dimension.state == "not-applicable":
        yield f"{name}: not applicable ({dimension.why_not})"
    yield from (f"{name}: {what}" for what in dimension.judge)
