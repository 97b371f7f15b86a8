"""Let a checker look at what a finding cites, or at what it quotes, until one look decides."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.evidence import CitedEvidence, CitedPlace, read_evidence
from verifyplan.agents.static.claims import Claim, read_claim
from verifyplan.agents.static.outcome import Case, Check, Look, Outcome, judge
from verifyplan.protocol.call import Item
from verifyplan.repository.reading import MissingError, UnreadableError
from verifyplan.repository.sources import Source, Sources


def look(check: Check, item: Item, sources: Sources | None) -> Outcome:
    """Return the outcome of one finding for one checker: undecided, with the reason, where it cannot tell.

    Without `sources` only the quoted text is looked at (lightweight), else the files that the evidence
    cites, in their order, until one decides. Never raises, whatever the texts hold. Source: rule B4.
    """
    claim, evidence = read_claim(item.summary), read_evidence(item.evidence)
    if claim is None:
        return Outcome("undecided", "The claim is not one that this checker can read.", looked=False)
    looks = _quoted(check, claim, evidence)
    nothing = "No file is opened, and the evidence quotes no text to look at."
    if sources is not None:
        places = [place for place in evidence.places if claim.kind != "file" or place.path == claim.subject]
        looks = (_opened(check, claim, item.summary, place, evidence, sources) for place in places)
        nothing = f"The evidence cites no place {'in that file' if claim.kind == 'file' else 'to look at'}."
    outcome = Outcome("undecided", nothing, looked=False)
    for seen in looks:
        after = judge(claim, seen)
        outcome = after if after.looked or not outcome.looked else outcome  # a place that is not there hides no look
        if outcome.kind != "undecided":
            break
    return outcome


def _quoted(check: Check, claim: Claim, evidence: CitedEvidence) -> Iterator[Look]:
    """Look at the quoted lines, taken to begin at the first cited line."""
    if evidence.quotes and claim.kind != "file":
        place = evidence.places[0] if evidence.places else CitedPlace("", 1, 1)
        source = Source(place.path, evidence.quotes, first=place.line, whole=False)
        yield check(Case(claim, source, place.line, place.last, evidence.quotes))


def _opened(
    check: Check, claim: Claim, text: str, place: CitedPlace, evidence: CitedEvidence, sources: Sources
) -> Look:
    """Look at one cited place; whether a file, or a name in a file that the claim names, is there, is judged alike."""
    placed = claim.kind == "location" and f"`{place.path}`" in text
    try:
        source = sources.open(place.path)
    except MissingError as error:
        if placed or claim.kind == "file":
            return Look("no", f"{place} cannot be looked at: there is no such file.")
        return Look("unknown", f"{error}.", looked=False)
    except UnreadableError as error:
        return Look("unknown", f"{error}.", looked=False)
    if claim.kind == "file":
        return Look("yes", f"{place.path}:1 exists, with {len(source.lines)} lines.")
    name = claim.subject.rpartition(".")[2]
    if placed and not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", "\n".join(source.lines)):
        return Look("no", f"{place} was looked at: no line of {place.path} holds the name {name}.")
    return check(Case(claim, source, place.line, place.last, evidence.quotes))
