"""From what a checker saw to a vote: the answer to the plain claim, the claim's own form, the run's mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from verifyplan.agents.static.claims import Claim
from verifyplan.protocol.vote import NOTHING_LOOKED_AT, Basis, Mode
from verifyplan.repository.sources import Source

Says = Literal["yes", "partly", "no", "unknown", "misquoted"]


@dataclass(frozen=True)
class Case:
    """What a checker is given: the claim, the lines it may look at, the cited lines, and the quotation."""

    claim: Claim
    source: Source
    line: int
    last: int
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Look:
    """What a checker saw: whether the fact holds, negation aside, in a sentence that cites a place.

    `misquoted` says that the evidence itself is wrong, which refutes a claim whatever it states. `note` is a
    limit that holds beside it, such as a cited line that is off; as a sentence, too. `looked` is false where there
    was nothing to look at.
    """

    says: Says
    why: str
    note: str = ""
    looked: bool = True


Check = Callable[[Case], Look]


@dataclass(frozen=True)
class Outcome:
    """What becomes of the claim: it holds, holds with a caveat, is refuted, or stays undecided; and why."""

    kind: Literal["holds", "caveat", "refuted", "undecided"]
    why: str
    looked: bool = True
    """Whether anything was looked at; only what is undecided rests on nothing."""


def judge(claim: Claim, look: Look) -> Outcome:
    """Return the claim's outcome, from what was seen of its plain form.

    A negated claim holds where the fact does not. What holds in part, or with a note, or leaves a part of the
    sentence unread, holds with a caveat; a denied fact that has an unread condition cannot be refuted.

    >>> judge(Claim("calls", "f", "g", negated=True), Look("yes", "a.py:3 calls g.")).kind
    'refuted'
    """
    if look.says == "unknown":
        return Outcome("undecided", look.why, look.looked)
    if look.says == "partly":
        return Outcome("caveat", look.why)
    unread = f"What {claim.unread!r} adds to the claim was not checked." if claim.unread else ""
    if look.says == "misquoted" or (look.says == "yes") == claim.negated:
        conditional = claim.negated and unread and look.says == "yes"
        return Outcome("undecided", f"{look.why} {unread}") if conditional else Outcome("refuted", look.why)
    note = look.note or unread
    return Outcome("caveat", f"{look.why} {note}") if note else Outcome("holds", look.why)


def vote(outcome: Outcome, mode: Mode) -> dict[str, str | None]:
    """Return the outcome as an answer on one finding; undecided is a doubt in one mode and consent in the other.

    Only an adversarial disagreement has a basis: counter-evidence where the claim is refuted, burden-not-met
    where nothing was decided. What rests on no look says so first, and why it is this vote. Source: rules B4, G2.

    >>> vote(Outcome("undecided", "No text is quoted.", looked=False), "adversarial")["disagree_basis"]
    'burden-not-met'
    >>> vote(Outcome("undecided", "No text is quoted.", looked=False), "collaborative")["explanation"]
    'nothing looked at, so nothing speaks against the claim: No text is quoted.'
    """
    adversarial = mode == "adversarial"
    disagrees = outcome.kind == "refuted" or (outcome.kind == "undecided" and adversarial)
    basis: Basis = "counter-evidence" if outcome.kind == "refuted" else "burden-not-met"
    follows = "the burden of proof is not met" if adversarial else "nothing speaks against the claim"
    undecided = "Undecided" if outcome.looked else f"{NOTHING_LOOKED_AT}, so {follows}"
    return {
        "verdict": "disagree" if disagrees else "supplement" if outcome.kind == "caveat" else "agree",
        "disagree_basis": basis if disagrees and adversarial else None,
        "explanation": f"{undecided}: {outcome.why}" if outcome.kind == "undecided" else outcome.why,
    }
