"""From the evidence of a finding to a vote: looks of a checker, the claim's own form, the run's mode (rule B4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from verifyplan.agents.evidence import CitedEvidence, CitedPlace, read_evidence
from verifyplan.agents.static.claims import CodeClaim, read_claim
from verifyplan.protocol.call import Item
from verifyplan.protocol.vote import NOTHING_LOOKED_AT, Basis, Mode
from verifyplan.repository.reading import MissingError, UnreadableError
from verifyplan.repository.sources import SourceFiles, SourceLines


@dataclass(frozen=True)
class ClaimCase:
    """The input of a checker: the claim, the lines it may look at, the cited lines, and the quotation."""

    claim: CodeClaim
    source: SourceLines
    line: int
    last: int
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Observation:
    """The result of a checker's look: whether the fact holds, negation aside, in a sentence that cites a place.

    `misquoted` says that the evidence itself is wrong, which refutes a claim whatever it states. `note` is a
    limit that holds beside it, such as a cited line that is off; as a sentence, too. `looked` is false where there
    was nothing to look at.
    """

    says: Literal["yes", "partly", "no", "unknown", "misquoted"]
    why: str
    note: str = ""
    looked: bool = True


Checker = Callable[[ClaimCase], Observation]


@dataclass(frozen=True)
class ClaimJudgement:
    """Whether the claim holds, holds with a caveat, is refuted, or stays undecided; and why."""

    kind: Literal["holds", "caveat", "refuted", "undecided"]
    why: str
    looked: bool = True
    """Whether anything was looked at; only an undecided judgement may be without a look."""


def look(check: Checker, item: Item, sources: SourceFiles | None) -> ClaimJudgement:
    """Return the judgement on one finding by one checker: undecided, with the reason, where it cannot tell.

    Without `sources` only the quoted text is looked at (lightweight), else the files that the evidence
    cites, in their order, until one decides. Never raises, whatever the texts hold. Source: rule B4.
    """
    claim, evidence = read_claim(item.summary), read_evidence(item.evidence)
    if claim is None:
        return ClaimJudgement("undecided", "The claim is not one that this checker can read.", looked=False)
    if sources is None:
        seen = _look_at_quotes(check, claim, evidence)
        nothing = "No file is opened, and the evidence quotes no text to look at."
    else:
        places = [place for place in evidence.places if claim.kind != "file" or place.path == claim.subject]
        seen = (_look_at_place(check, claim, item.summary, place, evidence, sources) for place in places)
        nothing = f"The evidence cites no place {'in that file' if claim.kind == 'file' else 'to look at'}."
    judgement = ClaimJudgement("undecided", nothing, looked=False)
    for observation in seen:
        after = judge(claim, observation)
        if after.looked or not judgement.looked:  # a place that is not there hides no look
            judgement = after
        if judgement.kind != "undecided":
            break
    return judgement


def _look_at_quotes(check: Checker, claim: CodeClaim, evidence: CitedEvidence) -> Iterator[Observation]:
    """Look at the quoted lines, taken to begin at the first cited line."""
    if evidence.quotes and claim.kind != "file":
        place = evidence.places[0] if evidence.places else CitedPlace("", 1, 1)
        source = SourceLines(place.path, evidence.quotes, first=place.line, whole=False)
        yield check(ClaimCase(claim, source, place.line, place.last, evidence.quotes))


def _look_at_place(
    check: Checker, claim: CodeClaim, text: str, place: CitedPlace, evidence: CitedEvidence, sources: SourceFiles
) -> Observation:
    """Look at one cited place; whether a file, or a name in a file that the claim names, is there, is judged alike."""
    placed = claim.kind == "location" and f"`{place.path}`" in text
    try:
        source = sources.open(place.path)
    except MissingError as error:
        if placed or claim.kind == "file":
            return Observation("no", f"{place} cannot be looked at: there is no such file.")
        return Observation("unknown", f"{error}.", looked=False)
    except UnreadableError as error:
        return Observation("unknown", f"{error}.", looked=False)
    if claim.kind == "file":
        return Observation("yes", f"{place.path}:1 exists, with {len(source.lines)} lines.")
    name = claim.subject.rpartition(".")[2]
    if placed and not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", "\n".join(source.lines)):
        return Observation("no", f"{place} was looked at: no line of {place.path} holds the name {name}.")
    return check(ClaimCase(claim, source, place.line, place.last, evidence.quotes))


def judge(claim: CodeClaim, seen: Observation) -> ClaimJudgement:
    """Return the judgement on the claim, from an observation of its plain form.

    A negated claim holds where the fact does not. What holds in part, or with a note, or leaves a part of the
    sentence unread, holds with a caveat; a denied fact that has an unread condition cannot be refuted.

    >>> judge(CodeClaim("calls", "f", "g", negated=True), Observation("yes", "a.py:3 calls g.")).kind
    'refuted'
    """
    if seen.says == "unknown":
        return ClaimJudgement("undecided", seen.why, seen.looked)
    if seen.says == "partly":
        return ClaimJudgement("caveat", seen.why)
    unread = f"What {claim.unread!r} adds to the claim was not checked." if claim.unread else ""
    if seen.says == "misquoted" or (seen.says == "yes") == claim.negated:
        conditional = claim.negated and unread and seen.says == "yes"
        return (
            ClaimJudgement("undecided", f"{seen.why} {unread}") if conditional else ClaimJudgement("refuted", seen.why)
        )
    note = seen.note or unread
    return ClaimJudgement("caveat", f"{seen.why} {note}") if note else ClaimJudgement("holds", seen.why)


def vote(judgement: ClaimJudgement, mode: Mode) -> dict[str, str | None]:
    """Return the judgement as an answer on one finding; undecided is a doubt in one mode and consent in the other.

    Only an adversarial disagreement has a basis: counter-evidence where the claim is refuted, burden-not-met
    where nothing was decided. A vote without a look says so first, and why it is this vote. Source: rules B4, G2.

    >>> vote(ClaimJudgement("undecided", "No text is quoted.", looked=False), "adversarial")["disagree_basis"]
    'burden-not-met'
    >>> vote(ClaimJudgement("undecided", "No text is quoted.", looked=False), "collaborative")["explanation"]
    'nothing looked at, so nothing speaks against the claim: No text is quoted.'
    """
    adversarial = mode == "adversarial"
    disagrees = judgement.kind == "refuted" or (judgement.kind == "undecided" and adversarial)
    basis: Basis = "counter-evidence" if judgement.kind == "refuted" else "burden-not-met"
    follows = "the burden of proof is not met" if adversarial else "nothing speaks against the claim"
    undecided = "Undecided" if judgement.looked else f"{NOTHING_LOOKED_AT}, so {follows}"
    return {
        "verdict": "disagree" if disagrees else "supplement" if judgement.kind == "caveat" else "agree",
        "disagree_basis": basis if disagrees and adversarial else None,
        "explanation": f"{undecided}: {judgement.why}" if judgement.kind == "undecided" else judgement.why,
    }
