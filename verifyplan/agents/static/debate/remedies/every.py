"""Every remedy, by the kind of statement that it settles."""

from __future__ import annotations

import re

from verifyplan.agents.static.debate.page import Lines
from verifyplan.agents.static.debate.remedies import adding, calling, demands, naming, ordering, reusing
from verifyplan.agents.static.debate.remedies.case import Case, Remedy
from verifyplan.agents.static.roles.phrases import Kind

REMEDIES: dict[Kind, Remedy] = {
    "file-missing": naming.rename,
    "symbol-missing": naming.rename,
    "symbol-elsewhere": naming.rename,
    "command-missing": naming.command,
    "package-missing": adding.package,
    "rule-left-out": adding.rule,
    "unchecked": adding.check,
    "dependents": adding.dependents,
    "wrong-call": calling.form,
    "similar-exists": reusing.reuse,
    "exists-already": reusing.extend,
    "stale-claim": reusing.correct,
    "used-before-created": ordering.bring_forward,
    "demand": demands.meet,
    "combined": demands.combined,
}
"""Kinds that are not here (two values, a broken rule, a step that contradicts another) ask for a decision."""

_LONGEST = 600
_OPEN = re.compile(r"\b(?:either|or|consider|decide|clarify|choose|maybe|perhaps|e\.g\.)(?![\w-])|\?", re.IGNORECASE)
"""Words of an alternative that leaves something to be decided: nobody may put it down as settled."""


def remedy(case: Case) -> Lines | None:
    """The plan's lines with a finding settled, None where nobody but a person can.

    A challenge in free words is settled by its alternative, put down as what the plan now does, if that leaves nothing
    to be decided.
    """
    statement = case.finding.statement
    if statement is not None:
        settle = REMEDIES.get(statement.kind)
        return settle(case) if settle is not None and case.finding.line else None
    return _taken_over(case)


def _taken_over(case: Case) -> Lines | None:
    says = " ".join(re.sub(r"[\x00-\x1f]", " ", case.finding.alternative).split())
    if not says or len(says) > _LONGEST or _OPEN.search(says) or says in " ".join(" ".join(case.lines).split()):
        return None
    heading = "## Settled in review"
    there = [at for at, line in enumerate(case.lines) if line.strip() == heading]
    if there:
        return (*_trimmed(case.lines), f"- {says}", "")
    return (*_trimmed(case.lines), "", heading, "", f"- {says}", "")


def _trimmed(lines: Lines) -> Lines:
    last = len(lines)
    while last and not lines[last - 1].strip():
        last -= 1
    return lines[:last]
