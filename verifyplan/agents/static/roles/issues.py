"""What a check found, and how it becomes a challenge whose every word cites a place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from verifyplan.agents.static.roles.phrases import Statement, claim, read_statement
from verifyplan.agents.static.roles.reading import Reading
from verifyplan.protocol.challenge import CONFIDENCES, SEVERITIES, Challenge, Confidence, Severity
from verifyplan.protocol.plan_call import RaisedChallenge
from verifyplan.rules.citations import cites_location

LONGEST_QUOTE = 300
"""Characters of a line that are quoted; what is longer ends in three dots."""


class Place(NamedTuple):
    """A line that is cited; an empty `path` is the plan's own. `text` is what stands there, empty if unknown."""

    path: str
    line: int
    text: str = ""


@dataclass(frozen=True)
class Issue:
    """Something wrong with a plan: what is stated, where the plan says it, why it fails, how bad that is."""

    statement: Statement
    line: int
    concern: str
    severity: Severity
    confidence: Confidence
    scenario: str = ""
    alternative: str = ""
    beside: tuple[Place, ...] = ()


def raised(issue: Issue, reading: Reading, name: str) -> RaisedChallenge:
    """The challenge that an issue makes, with its places and quotations as evidence."""
    places = [Place("", issue.line), *issue.beside]
    return RaisedChallenge(
        claim=claim(issue.statement),
        concern=issue.concern,
        failure_scenario=issue.scenario,
        alternative=issue.alternative,
        severity=issue.severity,
        confidence=issue.confidence,
        evidence=evidence(places, reading, name),
    )


def evidence(places: Iterable[Place], reading: Reading, name: str) -> str:
    """Places, each with what stands there behind `> `: of the plan, the lines of the whole sentence; none twice."""
    parts = []
    for place in dict.fromkeys(places):
        lines = [place.text] if place.path else reading.quoted(place.line)
        parts.append(cited(place, name))
        parts += [f"> {quoted(text)}" for text in lines if text.strip()]
    return "\n".join(parts)


def cited(place: Place, name: str) -> str:
    """A place as it is cited; a plan whose name has no suffix is cited by `line 12 of NAME`.

    >>> cited(Place("", 12), "plan.md"), cited(Place("", 12), "PLAN"), cited(Place("src/a.py", 3), "plan.md")
    ('plan.md:12', 'line 12 of PLAN', 'src/a.py:3')
    """
    path = place.path or name
    short = f"{path}:{place.line}"
    return short if cites_location(short) else f"line {place.line} of {path}"


def quoted(text: str) -> str:
    """A line as it is quoted: without the space around it, and cut where it is very long."""
    text = text.strip()
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE].rstrip()} ..."


def ranked(issues: Iterable[Issue]) -> list[Issue]:
    """The issues by severity, then confidence, then line; of two that state the same, the first stays."""
    order = sorted(
        issues, key=lambda one: (SEVERITIES.index(one.severity), CONFIDENCES.index(one.confidence), one.line)
    )
    return list({issue.statement: issue for issue in reversed(order)}.values())[::-1]


def unsaid(issues: Iterable[Issue], said: Iterable[Challenge]) -> list[Issue]:
    """The issues whose statement no challenge has made yet."""
    known = {read_statement(challenge.claim) for challenge in said}
    return [issue for issue in issues if issue.statement not in known]
