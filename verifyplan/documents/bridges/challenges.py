"""A plan check's blockers as challenges: what the plan assumes, why that fails, and what to do instead (rule D5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from verifyplan.documents.dimensions.check import PlanCheck
from verifyplan.documents.dimensions.check_context import Issue
from verifyplan.protocol.role_call import RaisedChallenge


class Stake(NamedTuple):
    """What a plan assumes in one dimension, and what breaks where it is not so."""

    claim: str
    breaks: str


STAKES: Mapping[int, Stake] = {
    1: Stake("The plan meets the requirements of its phase", "the phase is called done without them"),
    2: Stake("The plan's tasks can be executed as they are written", "whoever executes it guesses, or stops"),
    3: Stake("The plan can begin once its dependencies are done", "it begins too early, or never"),
    4: Stake("What the plan makes is joined to what uses it", "parts are made that nothing calls"),
    5: Stake("The plan can be executed well in one go", "the last tasks are done badly, or not at all"),
    6: Stake("The plan's tasks bring its must-haves about", "the plan is executed and its goal is not reached"),
    7: Stake("The plan keeps to what was decided", "work is done that nobody wants"),
    8: Stake("The plan's checks tell whether a task is done", "a task that failed counts as done"),
    9: Stake("What the plan takes from others is there when it begins", "it builds on what does not exist yet"),
}
"""By dimension of document 003."""

LONGEST = 300
"""Letters of the plan's line that are quoted as evidence."""


def challenges(check: PlanCheck, plan_name: str = "") -> tuple[RaisedChallenge, ...]:
    r"""The blockers of a plan check as challenges, BLOCKING and of HIGH confidence, in the order of the check.

    `plan_name` is the name under which places in the plan are cited; by default that of its file. Warnings and what
    is left to judge raise nothing: the first are advisory, the second is what the run is for. Source: rule D5.

    >>> from verifyplan.documents.kinds.plan import PlanDocument
    >>> from verifyplan.documents.reading.source import read_source
    >>> from verifyplan.documents.dimensions.check import plan_check
    >>> plan = PlanDocument.read(read_source('---\nplan: "01-01"\n---\n', "PLAN-01.md"))
    >>> first = challenges(plan_check(plan))[0]
    >>> first.concern, first.evidence
    ('01-01: the plan has no tasks.', 'PLAN-01.md:1\n> ---')
    """
    lines = {plan.path: plan.source.lines for plan in check.plans}
    return tuple(_challenge(issue, plan_name, lines.get(issue.path, ())) for issue in check.blockers)


def _challenge(issue: Issue, plan_name: str, lines: tuple[str, ...]) -> RaisedChallenge:
    stake = STAKES[issue.dimension]
    name = plan_name or PurePosixPath(issue.path.replace("\\", "/")).name
    quoted = _cut(lines[issue.line - 1]) if 0 < issue.line <= len(lines) else ""
    place = f"{name}:{issue.line}"
    return RaisedChallenge(
        claim=f"{stake.claim}.",
        concern=f"{issue.plan_id}: {issue.description}.",
        failure_scenario=f"If it is executed so, {stake.breaks}.",
        alternative=f"{issue.fix[:1].upper()}{issue.fix[1:]}.",
        severity="BLOCKING",
        confidence="HIGH",
        evidence=f"{place}\n> {quoted}" if quoted else place,
    )


def _cut(line: str) -> str:
    line = line.strip()
    return line if len(line) <= LONGEST else f"{line[:LONGEST].rstrip()} ..."
