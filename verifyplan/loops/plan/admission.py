"""New challenges: refused, recognised as said before, numbered, admitted or sent to overflow (SPEC A5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifyplan.loops.plan.hub import Hub
from verifyplan.protocol.challenge import SEVERITIES, Challenge, Origin
from verifyplan.protocol.event_plan import (
    ChallengeAdmitted,
    ChallengeOverflowed,
    ChallengeRaised,
    ChallengeRefused,
    Restated,
)
from verifyplan.protocol.plan_call import RaisedChallenge
from verifyplan.protocol.research import Probability
from verifyplan.rules.citations import cites_location
from verifyplan.rules.guards import MAX_ACTIVE, OVERFLOW_TAG, Arrival, admit, cap, raising_refusal


@dataclass(frozen=True)
class Proposal:
    """A challenge on its way into the pool, and what raised it."""

    challenge: RaisedChallenge
    origin: Origin
    raised_by: str | None = None
    probability: Probability | None = None
    owed: bool = False


def next_id(hub: Hub) -> str:
    """The id that the next challenge gets; ids count up over all iterations."""
    return f"C{len(hub.state.raised) + 1}"


def take_in(hub: Hub, proposals: Sequence[Proposal]) -> list[str | None]:
    """Raise and admit the challenges of one source; the id of each, its earlier one's if restated, None if refused."""
    names = [raise_one(hub, proposal) for proposal in proposals]
    admit_all(hub, [name for name, new in names if name is not None and new])
    return [name for name, _ in names]


def raise_one(hub: Hub, proposal: Proposal) -> tuple[str | None, bool]:
    """Give a challenge its id, unless it is refused or was said before; its id, and whether it is new."""
    raised, origin, iteration = proposal.challenge, proposal.origin, hub.state.iteration
    reason = raising_refusal(origin, raised.severity, raised.confidence)
    if reason:
        hub.emit(ChallengeRefused(iteration=iteration, origin=origin, claim=raised.claim, reason=reason))
        return None, False
    earlier = said_before(hub, raised)
    if earlier is not None:
        text = _text(raised)
        hub.emit(Restated(iteration=iteration, what="challenge", role=origin, text=text, into=earlier))
        return earlier, False
    name = next_id(hub)
    hub.said["challenge"].add(name, _text(raised), raised.evidence)
    hub.emit(
        ChallengeRaised(
            iteration=iteration,
            challenge=Challenge(
                id=name,
                origin=origin,
                iteration_introduced=iteration,
                **raised.model_dump(exclude={"evidence"}),
            ),
            evidence=raised.evidence,
            uncited=not cites_location(raised.evidence),
            probability=proposal.probability,
            raised_by=proposal.raised_by,
            owed=proposal.owed,
        )
    )
    return name, True


def said_before(hub: Hub, raised: RaisedChallenge) -> str | None:
    """The id of the challenge that says the same, those in overflow included; None if it is new.

    What was said as something milder before is new: a BLOCKING challenge is never merged into a MINOR one.
    """
    worst = SEVERITIES[: SEVERITIES.index(raised.severity) + 1]
    same = hub.said["challenge"].every(_text(raised), raised.evidence)
    return next((name for name in same if hub.state.raised[name].challenge.severity in worst), None)


def admit_all(hub: Hub, names: Sequence[str]) -> None:
    """Admit the new challenges of one source under its cap, and send the rest to overflow."""
    if not names:
        return
    raised = [hub.state.raised[name] for name in names]
    origin, iteration = raised[0].challenge.origin, hub.state.iteration
    limit = cap(origin, iteration, degraded=hub.state.tightened)
    active = hub.state.active
    arrivals = [Arrival(one.challenge.severity, one.probability) for one in raised]
    admission = admit(arrivals, active, limit)
    for position, name in enumerate(names):
        if position in admission.kept:
            hub.emit(ChallengeAdmitted(iteration=iteration, id=name))
            continue
        tag = OVERFLOW_TAG[raised[position].challenge.origin]
        reason = f"{len(admission.kept)} of {len(names)} fit: at most {limit} new here, {active} of {MAX_ACTIVE} active"
        hub.emit(ChallengeOverflowed(iteration=iteration, id=name, tag=tag, reason=reason))


def _text(raised: RaisedChallenge) -> str:
    return f"{raised.claim} {raised.concern}"
