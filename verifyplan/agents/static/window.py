"""The checker that reads a few lines around the cited line, and no more.

Its limits: what stands beyond the window is not seen, and what a neighbour in the window does is taken for
the definition's own.
"""

from __future__ import annotations

from verifyplan.agents.static.lines import MENTIONS, Lines, by_header, defining, nearest, showing
from verifyplan.agents.static.outcome import Case, Look

LINES_BEFORE, LINES_AFTER, MAX_LINES = 6, 18, 80
"""Lines read above and below the cited lines, and the most that are read."""


def check(case: Case) -> Look:
    """Judge by the lines around the cited one, or by the quoted lines; unknown where they show too little."""
    claim, source = case.claim, case.source
    lines = _window(case)
    if not lines:
        return Look("unknown", f"{source.path} has no line {case.line}.", looked=False)
    shown = f"lines {lines[0][0]}-{lines[-1][0]} around {source.at(case.line)}"
    defined = defining(claim.subject, lines)
    if claim.kind in MENTIONS:
        if at := showing(claim, lines):
            return Look("yes", f"{source.at(at[0])} {claim.kind} {claim.detail}, near the cited line.")
        if claim.kind == "imports" or not defined or not _ends(defined[0], lines):
            return Look("unknown", f"The {shown} show no {claim.detail}, but may not show everything.")
        return Look("no", f"The {shown} show all of {claim.subject}, and nothing that {claim.kind} {claim.detail}.")
    if not defined:
        return Look("unknown", f"The {shown} do not define {claim.subject}.")
    start = nearest(defined, case.line)
    return by_header(case, start, [line for number, line in lines if number >= start])


def _window(case: Case) -> Lines:
    if not case.source.whole:
        return case.source.numbered()
    first = max(case.line - LINES_BEFORE, 1)
    last = min(case.last + LINES_AFTER, first + MAX_LINES)
    return case.source.numbered(first, last) if case.source.numbered(case.line, case.line) else []


def _ends(start: int, lines: Lines) -> bool:
    """Whether the definition that begins at `start` seems to end in these lines: a later one is indented no deeper."""
    first, *later = [line for number, line in lines if number >= start and line.strip()]
    return any(_depth(line) <= _depth(first) and line.strip()[0] not in ")]}#" for line in later)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
