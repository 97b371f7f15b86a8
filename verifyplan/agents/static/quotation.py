"""The checker that holds the quotation against the cited line, and judges the claim by the quotation alone.

Its limits: a quotation that does not decide leaves it undecided, or, found elsewhere, content with the right
line; a quotation that was copied carelessly counts against the claim.
"""

from __future__ import annotations

import re

from verifyplan.agents.static import patterns
from verifyplan.agents.static.outcome import Case, Look
from verifyplan.agents.static.signature import by_header

_RAISES = re.compile(r"^\s*raise\s+([A-Za-z_][\w.]*)")


def check(case: Case) -> Look:
    """Whether the quotation stands where it is said to stand, and what it says of the claim.

    Where no file is opened, the place is believed and only the quotation is judged.
    """
    if not case.quotes:
        return Look("unknown", f"The evidence quotes nothing of {case.source.at(case.line)}.")
    if not case.source.whole:
        return _by_quotation(case, case.line)
    found = _places(case)
    if not found:
        line = min(case.line, len(case.source.lines))
        reads = f"{case.source.at(line)} reads: {case.source.line(line).strip()[:80] or 'nothing'}"
        return Look("misquoted", f"The quoted text stands nowhere in the file; {reads}")
    if any(case.line <= number <= case.last for number in found):
        return _by_quotation(case, next(number for number in found if case.line <= number <= case.last))
    return _elsewhere(case, patterns.nearest(found, case.line))


def _places(case: Case) -> list[int]:
    """The lines at which the whole quotation begins; its blank lines and its indentation do not matter."""
    lines = [(number, line.strip()) for number, line in case.source.numbered() if line.strip()]
    size = len(case.quotes)
    starts = (at for at, (_, line) in enumerate(lines) if _is(case.quotes[0], line))
    texts = ((at, [line for _, line in lines[at : at + size]]) for at in starts)
    return [lines[at][0] for at, text in texts if len(text) == size and all(map(_is, case.quotes, text))]


def _is(quote: str, line: str) -> bool:
    """Whether a quoted line is a line of the file; one that ends in "..." may be its beginning."""
    quote = quote.strip()
    start = quote.removesuffix("...").rstrip()
    return quote == line or (quote.endswith("...") and len(start) > 3 and line.startswith(start))


def _elsewhere(case: Case, number: int) -> Look:
    """A quotation at another line: refuted or held by what it says, and else held with the right line."""
    look = _by_quotation(case, number)
    note = f"The quoted text stands at {case.source.at(number)}, not at the cited line {case.line}."
    if look.says == "unknown":
        return Look("partly", f"{note} It does not speak against the claim.")
    return Look(look.says, look.why, note)


def _by_quotation(case: Case, number: int) -> Look:
    claim, place, quoted = case.claim, case.source.at(number), list(enumerate(case.quotes))
    if claim.kind in {"raises", "calls", "imports"}:
        return _mention(case, place)
    if not patterns.hits(patterns.defines(claim.subject), quoted[:1]):
        return Look("unknown", f"The text quoted from {place} does not define {claim.subject}.")
    return by_header(case, number, list(case.quotes))


def _mention(case: Case, place: str) -> Look:
    """Whether the quotation raises, calls or imports it; one that raises something else speaks against it."""
    claim = case.claim
    if patterns.hits(patterns.shows(claim.kind, claim.detail), list(enumerate(case.quotes))):
        return Look("yes", f"The text quoted from {place} {claim.kind} {claim.detail}.")
    other = next((match[1] for line in case.quotes if (match := _RAISES.match(line))), "")
    if claim.kind == "raises" and other:
        return Look("no", f"The text quoted from {place} raises {other}, not {claim.detail}.")
    return Look("unknown", f"The text quoted from {place} shows nothing that {claim.kind} {claim.detail}.")
