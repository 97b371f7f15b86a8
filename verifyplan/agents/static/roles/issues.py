"""Issues of the static checks: how they are worded and cited as challenges, and how a panel worker reads them again.

Each kind of claim has its wording here. Names are set in backticks; the words of other backends match no kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from verifyplan.agents.static.roles.plan_text import PlanText
from verifyplan.protocol.records import Confidence, Severity
from verifyplan.rules.citations import cites_location

IssueKind = Literal[
    "file-missing", "command-missing", "package-missing", "symbol-missing", "dependents", "rule-broken", "question"
]

CLAIMS: dict[IssueKind, str] = {
    "file-missing": "The plan assumes that the file {} exists.",
    "command-missing": "The plan assumes that the command {} exists.",
    "package-missing": "The plan assumes that the package {} is declared.",
    "symbol-missing": "The plan assumes that {} is defined in {}.",
    "dependents": "The plan changes {} and does not mention {}, which uses it.",
    "rule-broken": "The plan does {}, which a rule of the project forbids.",
    "question": "The plan does {}. Does it say <>?",
}
"""The claim about the plan, by kind; each pair of braces is a name in backticks, and <> is for words."""

MAX_QUOTE_CHARACTERS = 300
"""Characters of a line that are quoted; a longer quotation ends in three dots."""

_MAX_NAME_CHARACTERS = 300
_MAX_EVIDENCE_CHARACTERS, _MAX_LINE_CHARACTERS, _MAX_CITED = 100_000, 1_000, 12
_PATTERNS: dict[IssueKind, re.Pattern[str]] = {
    kind: re.compile(re.escape(template).replace(r"\{\}", r"`([^`\n]+)`").replace("<>", r"([^`\n?]+)"))
    for kind, template in CLAIMS.items()
}
_TICKED = re.compile(r"`([^`\n]{1,300})`")
_PLACE = re.compile(r"(?:^|(?<=[\s(\[,;`'\"]))([^\s:`'\"()\[\]]+(?:\.[A-Za-z]\w*)?):(\d{1,8})(?:-(\d{1,8}))?(?![\w:])")
_NAMED = re.compile(r"\blines? (\d{1,8})(?:-(\d{1,8}))? of (.+?)\s*$", re.IGNORECASE)


class Assertion(NamedTuple):
    """The assertion of a challenge: its kind, and the names in it."""

    kind: IssueKind
    names: tuple[str, ...]


def assertion(kind: IssueKind, *names: str) -> Assertion:
    """Return an assertion with its names on one line each, without backticks, and cut where they are very long."""
    plain = (" ".join(name.replace("`", "'").split())[:_MAX_NAME_CHARACTERS].rstrip() or " " for name in names)
    return Assertion(kind, tuple(plain))


def claim(asserted: Assertion) -> str:
    """Return the assertion as a challenge's claim.

    >>> claim(assertion("file-missing", "src/a.py"))
    'The plan assumes that the file `src/a.py` exists.'
    """
    names = iter(asserted.names)
    return re.sub(r"{}|<>", lambda gap: f"`{next(names)}`" if gap[0] == "{}" else next(names), CLAIMS[asserted.kind])


def read_assertion(text: str) -> Assertion | None:
    """Return the assertion of a text that begins with a claim; None for words of other backends.

    >>> read_assertion("The plan assumes that the package `rich` is declared. No manifest has it.")
    Assertion(kind='package-missing', names=('rich',))
    >>> read_assertion("This will never work.") is None
    True
    """
    matches = ((kind, pattern.match(text)) for kind, pattern in _PATTERNS.items())
    return next((Assertion(kind, match.groups()) for kind, match in matches if match), None)


class CitedLine(NamedTuple):
    """A line that is cited; an empty `path` is the plan's own. `text` is the text of the line, empty if unknown."""

    path: str
    line: int
    text: str = ""


@dataclass(frozen=True)
class StaticIssue:
    """Something wrong with a plan: the assertion, where the plan makes it, why it fails, how bad that is."""

    assertion: Assertion
    line: int
    concern: str
    severity: Severity = "SIGNIFICANT"
    confidence: Confidence = "HIGH"
    scenario: str = ""
    alternative: str = ""
    beside: tuple[CitedLine, ...] = ()


@dataclass
class CheckResults:
    """The issues of all checks, by check the places of the plan that were looked at, and the checks that failed."""

    issues: list[StaticIssue] = field(default_factory=list)
    looked: dict[str, list[CitedLine]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def evidence(places: Iterable[CitedLine], plan: PlanText, name: str) -> str:
    """Return places, each with its text behind `> `: of the plan, the lines of the whole sentence; none twice."""
    parts = []
    for place in dict.fromkeys(places):
        lines = [place.text] if place.path else plan.quoted(place.line)
        parts.append(cited(place, name))
        parts += [f"> {quoted(text)}" for text in lines if text.strip()]
    return "\n".join(parts)


def cited(place: CitedLine, name: str) -> str:
    """Return a place as a citation; a plan whose name has no suffix is cited by `line 12 of NAME`.

    >>> cited(CitedLine("", 12), "plan.md"), cited(CitedLine("", 12), "PLAN"), cited(CitedLine("a.py", 3), "plan.md")
    ('plan.md:12', 'line 12 of PLAN', 'a.py:3')
    """
    path = place.path or name
    short = f"{path}:{place.line}"
    return short if cites_location(short) else f"line {place.line} of {path}"


def quoted(text: str) -> str:
    """Return a line as a quotation: without the space around it, and cut where it is very long."""
    return shortened(text.strip(), MAX_QUOTE_CHARACTERS)


def shortened(text: str, limit: int) -> str:
    """Return a text, or of a longer one its first characters and three dots.

    >>> shortened("the poller waits", 4), shortened("poller", 6)
    ('the ...', 'poller')
    """
    return text if len(text) <= limit else f"{text[:limit].rstrip()} ..."


class CitedRange(NamedTuple):
    """A cited place, and the lines quoted right behind it."""

    path: str
    first: int
    last: int
    quotes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the place as a citation."""
        return f"{self.path}:{self.first}"


def read_cited(evidence: str) -> list[CitedRange]:
    r"""Return the places of an evidence in their order, each with the `> ` lines that follow it; at most 12.

    A place is `path:12`, `path:12-14` or `line 12 of NAME`. Quotations in front of any place belong to none and
    are left out. Never raises. Source: rule B4.

    >>> [(str(c), c.last, c.quotes) for c in read_cited("plan.md:12\n> Change `a.py`.\nsrc/a.py:3-4")]
    [('plan.md:12', 12, ('Change `a.py`.',)), ('src/a.py:3', 4, ())]
    """
    places: list[CitedRange] = []
    for line in evidence[:_MAX_EVIDENCE_CHARACTERS].replace("\r", "\n").split("\n"):
        if line.startswith(">"):
            text = line[1:].strip()
            if places and text and len(places[-1].quotes) < _MAX_CITED:
                places[-1] = places[-1]._replace(quotes=(*places[-1].quotes, text))
        elif len(line) <= _MAX_LINE_CHARACTERS:
            named = _NAMED.search(line)
            groups = [(named[3], named[1], named[2])] if named else _PLACE.findall(line)
            ranges = (CitedRange(path, int(first), int(last or first)) for path, first, last in groups)
            places += [place for place in ranges if 0 < place.first <= place.last]
    return places[:_MAX_CITED]


def first_cited(evidence: str) -> str:
    """Return the first place that an evidence cites, as a citation; empty if it cites none."""
    return str(next(iter(read_cited(evidence)), ""))


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in backticks in a text, each once, in their order."""
    return tuple(dict.fromkeys(_TICKED.findall(text[:_MAX_EVIDENCE_CHARACTERS])))
