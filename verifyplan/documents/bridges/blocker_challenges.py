"""The blockers of a plan check as challenges: the assumption, why it fails, and the alternative (rule D5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from verifyplan.documents.dimensions.check_context import Issue
from verifyplan.documents.dimensions.plan_check import PlanCheck
from verifyplan.protocol.role_call import RaisedChallenge


class Assumption(NamedTuple):
    """An assumption of a plan in one dimension, and the consequence where it does not hold."""

    claim: str
    consequence: str


ASSUMPTIONS: Mapping[int, Assumption] = {
    1: Assumption("The plan meets the requirements of its phase", "the phase is called done without them"),
    2: Assumption("The plan's tasks can be executed as they are written", "whoever executes it guesses, or stops"),
    3: Assumption("The plan can begin once its dependencies are done", "it begins too early, or never"),
    4: Assumption("What the plan makes is joined to what uses it", "parts are made that nothing calls"),
    5: Assumption("The plan can be executed well in one go", "the last tasks are done badly, or not at all"),
    6: Assumption("The plan's tasks bring its must-haves about", "the plan is executed and its goal is not reached"),
    7: Assumption("The plan keeps to what was decided", "work is done that nobody wants"),
    8: Assumption("The plan's checks tell whether a task is done", "a task that failed counts as done"),
    9: Assumption("What the plan takes from others is there when it begins", "it builds on what does not exist yet"),
}
"""By the number of the dimension."""

MAX_EVIDENCE_CHARACTERS = 300
"""Characters of the plan's line that are quoted as evidence."""


def challenges(check: PlanCheck, plan_name: str = "") -> tuple[RaisedChallenge, ...]:
    r"""Return the blockers of a plan check as challenges, BLOCKING and of HIGH confidence, in their order.

    `plan_name` is the name under which places in the plan are cited; by default that of its file. Warnings and what
    is left to judge raise nothing: the first are advisory, the second is the task of the run. Source: rule D5.

    >>> from verifyplan.documents.kinds.plan import PlanDocument
    >>> from verifyplan.documents.reading.source import read_source
    >>> from verifyplan.documents.dimensions.plan_check import plan_check
    >>> plan = PlanDocument.read(read_source('---\nplan: "01-01"\n---\n', "PLAN-01.md"))
    >>> first = challenges(plan_check(plan))[0]
    >>> first.concern, first.evidence
    ('01-01: the plan has no tasks.', 'PLAN-01.md:1\n> ---')
    """
    lines = {plan.path: plan.source.lines for plan in check.plans}
    return tuple(_challenge(issue, plan_name, lines.get(issue.path, ())) for issue in check.blockers)


def _challenge(issue: Issue, plan_name: str, lines: tuple[str, ...]) -> RaisedChallenge:
    assumption = ASSUMPTIONS[issue.dimension]
    name = plan_name or PurePosixPath(issue.path.replace("\\", "/")).name
    line = lines[issue.line - 1].strip() if 0 < issue.line <= len(lines) else ""
    if len(line) > MAX_EVIDENCE_CHARACTERS:
        line = f"{line[:MAX_EVIDENCE_CHARACTERS].rstrip()} ..."
    place = f"{name}:{issue.line}"
    return RaisedChallenge(
        claim=f"{assumption.claim}.",
        concern=f"{issue.plan_id}: {issue.description}.",
        failure_scenario=f"If it is executed so, {assumption.consequence}.",
        alternative=f"{issue.fix[:1].upper()}{issue.fix[1:]}.",
        severity="BLOCKING",
        confidence="HIGH",
        evidence=f"{place}\n> {line}" if line else place,
    )
