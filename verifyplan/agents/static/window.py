"""The checker that reads a few lines around the cited line, and no more.

Its limits: what stands beyond the window is not seen, and what a neighbour in the window does is taken for
the definition's own.
"""

from __future__ import annotations

from verifyplan.agents.static import patterns
from verifyplan.agents.static.outcome import Case, Look
from verifyplan.agents.static.signature import by_header

BEFORE, AFTER, LARGEST = 6, 18, 80
"""Lines read above and below the cited lines, and the most that are read."""

Lines = list[tuple[int, str]]


def check(case: Case) -> Look:
    """What the lines around the cited one show; unknown where they show too little.

    Quoted lines, where no file is opened, are the whole window.
    """
    lines = window(case)
    if not lines:
        return Look("unknown", f"{case.source.path} has no line {case.line}.")
    kind, shown = case.claim.kind, f"lines {lines[0][0]}-{lines[-1][0]} around {case.source.at(case.line)}"
    if kind in {"raises", "calls", "imports"}:
        return _mention(case, lines, shown)
    at = patterns.hits(patterns.defines(case.claim.subject), lines)
    if not at:
        return Look("unknown", f"The {shown} do not define {case.claim.subject}.")
    start = patterns.nearest(at, case.line)
    return by_header(case, start, [line for number, line in lines if number >= start])


def window(case: Case) -> Lines:
    """The numbered lines that this checker reads; empty if the cited line does not exist."""
    if not case.source.whole:
        return case.source.numbered()
    first = max(case.line - BEFORE, 1)
    last = min(case.last + AFTER, first + LARGEST)
    return case.source.numbered(first, last) if case.source.numbered(case.line, case.line) else []


def _mention(case: Case, lines: Lines, shown: str) -> Look:
    """Whether some line of the window raises, calls or imports it, whoever's line it is."""
    claim = case.claim
    at = patterns.hits(patterns.shows(claim.kind, claim.detail), lines)
    if at:
        return Look("yes", f"{case.source.at(at[0])} {claim.kind} {claim.detail}, near the cited line.")
    if claim.kind == "imports" or not _complete(claim.subject, lines):
        return Look("unknown", f"The {shown} show no {claim.detail}, but may not show everything.")
    return Look("no", f"The {shown} show all of {claim.subject}, and nothing that {claim.kind} {claim.detail}.")


def _complete(subject: str, lines: Lines) -> bool:
    """Whether the window seems to hold a definition to its end: a later line is indented no deeper."""
    starts = patterns.hits(patterns.defines(subject), lines)
    if not starts:
        return False
    depth = _depth(next(line for number, line in lines if number == starts[0]))
    later = (line for number, line in lines if number > starts[0])
    return any(line.strip() and _depth(line) <= depth and line.strip()[0] not in ")]}#" for line in later)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
