"""The checker that searches the whole cited file for the claim's names, line by line.

Its limits: a line convinces it whichever function it belongs to, and whether it is code or a comment; what is
written otherwise than the claim writes it is not found.
"""

from __future__ import annotations

import re

from verifyplan.agents.static import patterns
from verifyplan.agents.static.outcome import Case, Look, Says


def check(case: Case) -> Look:
    """What a search of the cited file, or of the quoted lines, finds of the claim."""
    if case.claim.kind in {"raises", "calls", "imports"}:
        return _line(case)
    lines = case.source.numbered()
    at = patterns.hits(patterns.defines(case.claim.subject), lines)
    if not at:
        return Look("unknown", f"No line of {_searched(case)} defines {case.claim.subject}.")
    return _location(case, at) if case.claim.kind == "location" else _definition(case, at)


def _searched(case: Case) -> str:
    return case.source.path if case.source.whole else "the quoted text"


def _line(case: Case) -> Look:
    """Whether any line raises, calls or imports it."""
    claim = case.claim
    at = patterns.hits(patterns.shows(claim.kind, claim.detail), case.source.numbered())
    if at:
        number = patterns.nearest(at, case.line)
        return Look("yes", f"{case.source.at(number)} {claim.kind} {claim.detail}.")
    defined = patterns.hits(patterns.defines(claim.subject), case.source.numbered()) if claim.subject else []
    start = case.source.at(defined[0] if defined else case.source.first)
    why = f"No line of {_searched(case)}, in which {start} was looked at, too, {claim.kind} {claim.detail}."
    known = case.source.whole and (defined or claim.kind == "imports")
    return Look("no" if known else "unknown", why)


def _location(case: Case, at: list[int]) -> Look:
    """Whether one of the lines that define the name is the claimed one."""
    claimed = int(case.claim.detail or at[0])
    number = patterns.nearest(at, claimed)
    return Look("yes" if claimed in at else "no", f"{case.source.at(number)} defines {case.claim.subject}.")


def _definition(case: Case, at: list[int]) -> Look:
    """Whether a line that defines the name shows the detail; for a header of several lines, any line does."""
    found = patterns.hits(_wanted(case), [(number, case.source.line(number)) for number in at])
    short = all(case.source.line(number).rstrip().endswith(":") for number in at)
    if not found and not short:
        found = patterns.hits(_wanted(case), case.source.numbered())
    if found:
        place = case.source.at(patterns.nearest(found, case.line))
        return Look("yes", f"{place} shows it, in a file that defines {case.claim.subject}.")
    place = case.source.at(patterns.nearest(at, case.line))
    says: Says = "no" if short or case.source.whole else "unknown"
    return Look(says, f"{place} defines {case.claim.subject}, and no line searched shows {_text(case)}.")


def _wanted(case: Case) -> re.Pattern[str]:
    claim = case.claim
    if claim.kind == "default":
        return patterns.gives(claim.detail, claim.value)
    return patterns.shows(claim.kind, claim.detail)


def _text(case: Case) -> str:
    return f"{case.claim.detail}={case.claim.value}" if case.claim.value else case.claim.detail
