"""What a check found, how it is worded and cited as a challenge, and how a panel worker reads that again.

Each kind of claim stands here once. Names are set in backticks; the words of other backends match no kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from verifyplan.agents.static.roles.plan_text import PlanText
from verifyplan.protocol.records import (
    CONFIDENCES,
    SEVERITIES,
    Challenge,
    Confidence,
    Severity,
)
from verifyplan.protocol.role_call import RaisedChallenge
from verifyplan.rules.citations import cites_location

Kind = Literal[
    "file-missing", "command-missing", "package-missing", "symbol-missing", "dependents", "rule-broken", "question"
]

CLAIMS: dict[Kind, str] = {
    "file-missing": "The plan assumes that the file {} exists.",
    "command-missing": "The plan assumes that the command {} exists.",
    "package-missing": "The plan assumes that the package {} is declared.",
    "symbol-missing": "The plan assumes that {} is defined in {}.",
    "dependents": "The plan changes {} and does not mention {}, which uses it.",
    "rule-broken": "The plan does {}, which a rule of the project forbids.",
    "question": "The plan does {}. Does it say <>?",
}
"""What is claimed of the plan, by kind; each pair of braces is a name in backticks, and <> stands for words."""

_MAX_NAME = 300


class Statement(NamedTuple):
    """What a challenge states: the kind, and the names that it states it of."""

    kind: Kind
    names: tuple[str, ...]


def claim(statement: Statement) -> str:
    """The statement as a challenge's claim.

    >>> claim(statement("file-missing", "src/a.py"))
    'The plan assumes that the file `src/a.py` exists.'
    """
    names = iter(statement.names)
    return re.sub(r"{}|<>", lambda gap: f"`{next(names)}`" if gap[0] == "{}" else next(names), CLAIMS[statement.kind])


def statement(kind: Kind, *names: str) -> Statement:
    """A statement with its names on one line each, without backticks, and cut where they are very long."""
    return Statement(
        kind, tuple(" ".join(name.replace("`", "'").split())[:_MAX_NAME].rstrip() or " " for name in names)
    )


_PATTERNS: dict[Kind, re.Pattern[str]] = {
    kind: re.compile(re.escape(template).replace(r"\{\}", r"`([^`\n]+)`").replace("<>", r"([^`\n?]+)"))
    for kind, template in CLAIMS.items()
}


def read_statement(text: str) -> Statement | None:
    """What a text that begins with a claim states; None for words that are not worded here.

    >>> read_statement("The plan assumes that the package `rich` is declared. No manifest has it.")
    Statement(kind='package-missing', names=('rich',))
    >>> read_statement("This will never work.") is None
    True
    """
    for kind, pattern in _PATTERNS.items():
        match = pattern.match(text)
        if match is not None:
            return Statement(kind, match.groups())
    return None


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
    severity: Severity = "SIGNIFICANT"
    confidence: Confidence = "HIGH"
    scenario: str = ""
    alternative: str = ""
    beside: tuple[Place, ...] = ()


def raised(issue: Issue, plan: PlanText, name: str) -> RaisedChallenge:
    """The challenge that an issue makes, with its places and quotations as evidence."""
    places = [Place("", issue.line), *issue.beside]
    return RaisedChallenge(
        claim=claim(issue.statement),
        concern=issue.concern,
        failure_scenario=issue.scenario,
        alternative=issue.alternative,
        severity=issue.severity,
        confidence=issue.confidence,
        evidence=evidence(places, plan, name),
    )


def evidence(places: Iterable[Place], plan: PlanText, name: str) -> str:
    """Places, each with what stands there behind `> `: of the plan, the lines of the whole sentence; none twice."""
    parts = []
    for place in dict.fromkeys(places):
        lines = [place.text] if place.path else plan.quoted(place.line)
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


def new_ones(issues: Iterable[Issue], said: Iterable[Challenge]) -> list[Issue]:
    """The issues that no challenge has stated yet, by severity, confidence and line; each statement once."""
    known = {read_statement(challenge.claim) for challenge in said}
    rank = sorted(issues, key=lambda one: (SEVERITIES.index(one.severity), CONFIDENCES.index(one.confidence), one.line))
    first = {issue.statement: issue for issue in reversed(rank)}
    return [issue for issue in reversed(first.values()) if issue.statement not in known]


_TICKED = re.compile(r"`([^`\n]{1,300})`")
_PLACE = re.compile(r"(?:^|(?<=[\s(\[,;`'\"]))([^\s:`'\"()\[\]]+(?:\.[A-Za-z]\w*)?):(\d{1,8})(?:-(\d{1,8}))?(?![\w:])")
_NAMED = re.compile(r"\blines? (\d{1,8})(?:-(\d{1,8}))? of (.+?)\s*$", re.IGNORECASE)
_LONGEST, _MOST = 100_000, 12


class Cited(NamedTuple):
    """A cited place, and the lines quoted right behind it."""

    path: str
    first: int
    last: int
    quotes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The place as it is cited."""
        return f"{self.path}:{self.first}"


def names_in(text: str) -> tuple[str, ...]:
    """The names in backticks in a text, each once, in their order."""
    return tuple(dict.fromkeys(_TICKED.findall(text[:_LONGEST])))


def place_of(evidence: str) -> str:
    """The first place that an evidence cites, as it is cited; empty if it cites none."""
    places = read_cited(evidence)
    return str(places[0]) if places else ""


def read_cited(evidence: str) -> list[Cited]:
    r"""The places of an evidence in their order, each with the `> ` lines that follow it; at most 12.

    A place is `path:12`, `path:12-14` or `line 12 of NAME`. Quotations in front of any place belong to none and
    are left out. Never raises. Source: rule B4.

    >>> [(str(one), one.last, one.quotes) for one in read_cited("plan.md:12\n> Change `a.py`.\nsrc/a.py:3-4")]
    [('plan.md:12', 12, ('Change `a.py`.',)), ('src/a.py:3', 4, ())]
    """
    found: list[Cited] = []
    for line in evidence[:_LONGEST].replace("\r", "\n").split("\n"):
        if line.startswith(">"):
            text = line[1:].strip()
            if found and text and len(found[-1].quotes) < _MOST:
                found[-1] = found[-1]._replace(quotes=(*found[-1].quotes, text))
        elif len(line) <= 1_000:
            found += _places(line)
    return found[:_MOST]


def _places(line: str) -> list[Cited]:
    named = _NAMED.search(line)
    groups = [(named[3], named[1], named[2])] if named else _PLACE.findall(line)
    places = [Cited(path, int(first), int(last or first)) for path, first, last in groups]
    return [place for place in places if 0 < place.first <= place.last]
