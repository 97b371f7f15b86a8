"""The checker that searches the whole cited file for the claim's names, line by line.

Its limits: a line convinces it whichever function it belongs to, and whether it is code or a comment; what is
written otherwise than the claim writes it is not found.
"""

from __future__ import annotations

from verifyplan.agents.static.lines import MENTIONS, defining, nearest, showing
from verifyplan.agents.static.outcome import Case, Look


def check(case: Case) -> Look:
    """Judge by what a search of the cited file, or of the quoted lines, finds."""
    claim, source = case.claim, case.source
    searched = source.path if source.whole else "the quoted text"
    lines = source.numbered()
    defined = defining(claim.subject, lines) if claim.subject else []
    if claim.kind in MENTIONS:
        if at := showing(claim, lines):
            return Look("yes", f"{source.at(nearest(at, case.line))} {claim.kind} {claim.detail}.")
        start = source.at(defined[0] if defined else source.first)
        known = source.whole and (defined or claim.kind == "imports")
        why = f"No line of {searched}, in which {start} was looked at, too, {claim.kind} {claim.detail}."
        return Look("no" if known else "unknown", why)
    if not defined:
        return Look("unknown", f"No line of {searched} defines {claim.subject}.")
    if claim.kind == "location":
        number = nearest(defined, int(claim.detail or defined[0]))
        return Look(
            "yes" if claim.detail in {"", str(number)} else "no", f"{source.at(number)} defines {claim.subject}."
        )
    return _definition(case, defined)


def _definition(case: Case, defined: list[int]) -> Look:
    """Whether a line that defines the name shows the detail; for a header of several lines, any line does."""
    claim, source = case.claim, case.source
    headers = [(number, source.line(number)) for number in defined]
    short = all(line.rstrip().endswith(":") for _, line in headers)
    found = showing(claim, headers) or ([] if short else showing(claim, source.numbered()))
    if found:
        place = source.at(nearest(found, case.line))
        return Look("yes", f"{place} shows it, in a file that defines {claim.subject}.")
    place = source.at(nearest(defined, case.line))
    detail = f"{claim.detail}={claim.value}" if claim.value else claim.detail
    why = f"{place} defines {claim.subject}, and no line searched shows {detail}."
    return Look("no" if short or source.whole else "unknown", why)
