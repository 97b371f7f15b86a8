"""The checker that holds the quotation against the cited line, and judges the claim by the quotation alone.

Its limits: a quotation that does not decide leaves it undecided, or, found elsewhere, content with the right
line; a quotation that was copied carelessly counts against the claim.
"""

from __future__ import annotations

import re

from verifyplan.agents.static.lines import MENTIONS, by_header, defining, nearest, showing
from verifyplan.agents.static.outcome import Case, Look

_RAISES = re.compile(r"^\s*raise\s+([A-Za-z_][\w.]*)")


def check(case: Case) -> Look:
    """Judge by whether the quotation stands where it is said to stand, and by what it says.

    Where no file is opened, the place is believed and only the quotation is judged.
    """
    if not case.quotes:
        return Look("unknown", f"The evidence quotes nothing of {case.source.at(case.line)}.", looked=False)
    if not case.source.whole:
        return _by_quotation(case, case.line)
    found = _places(case)
    if not found:
        line = min(case.line, len(case.source.lines))
        reads = f"{case.source.at(line)} reads: {case.source.line(line).strip()[:80] or 'nothing'}"
        return Look("misquoted", f"The quoted text stands nowhere in the file; {reads}")
    cited = [number for number in found if case.line <= number <= case.last]
    if cited:
        return _by_quotation(case, cited[0])
    number = nearest(found, case.line)
    look = _by_quotation(case, number)
    note = f"The quoted text stands at {case.source.at(number)}, not at the cited line {case.line}."
    if look.says == "unknown":
        return Look("partly", f"{note} It does not speak against the claim.")
    return Look(look.says, look.why, note)


def _places(case: Case) -> list[int]:
    """The lines at which the whole quotation begins; its blank lines and its indentation do not matter."""
    lines = [(number, line.strip()) for number, line in case.source.numbered() if line.strip()]
    starts = [at for at, (_, line) in enumerate(lines) if is_line(case.quotes[0], line)]
    size = len(case.quotes)
    texts = ((lines[at][0], [line for _, line in lines[at : at + size]]) for at in starts if at + size <= len(lines))
    return [number for number, text in texts if all(map(is_line, case.quotes, text))]


def is_line(quote: str, line: str) -> bool:
    """Whether a quoted line is a line, spaces around it aside; one that ends in "..." may be its beginning."""
    quote, line = quote.strip(), line.strip()
    start = quote.removesuffix("...").rstrip()
    return quote == line or (quote.endswith("...") and len(start) > 3 and line.startswith(start))


def _by_quotation(case: Case, number: int) -> Look:
    """Judge by the quoted lines; a quotation that raises something else speaks against the claim."""
    claim, place, quoted = case.claim, case.source.at(number), list(enumerate(case.quotes))
    if claim.kind not in MENTIONS:
        if defining(claim.subject, quoted[:1]):
            return by_header(case, number, list(case.quotes))
        return Look("unknown", f"The text quoted from {place} does not define {claim.subject}.")
    if showing(claim, quoted):
        return Look("yes", f"The text quoted from {place} {claim.kind} {claim.detail}.")
    other = next((match[1] for line in case.quotes if (match := _RAISES.match(line))), "")
    if claim.kind == "raises" and other:
        return Look("no", f"The text quoted from {place} raises {other}, not {claim.detail}.")
    return Look("unknown", f"The text quoted from {place} shows nothing that {claim.kind} {claim.detail}.")
