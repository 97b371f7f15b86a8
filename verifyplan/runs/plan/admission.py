"""New challenges: refused, recognised as said before, numbered, admitted or sent to overflow (rule A5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifyplan.protocol.event_plan import (
    ChallengeAdmitted,
    ChallengeOverflowed,
    ChallengeRaised,
    ChallengeRefused,
    Restated,
)
from verifyplan.protocol.records import SEVERITIES, Challenge, Origin, Probability, Severity, Status
from verifyplan.protocol.role_call import RaisedChallenge
from verifyplan.rules.citations import cites_location
from verifyplan.rules.guards import MAX_ACTIVE, OVERFLOW_TAG, Arrival, admit, cap, displace, raising_refusal, ranked
from verifyplan.rules.restatement import brings_new_place
from verifyplan.runs.plan.active_run import ActiveRun

DISPUTABLE: tuple[Status, ...] = ("RESOLVED", "WITHDRAWN")
"""The settled statuses that saying a challenge again can dispute."""


@dataclass(frozen=True)
class Proposal:
    """A challenge on its way into the pool, and what raised it."""

    challenge: RaisedChallenge
    origin: Origin
    raised_by: str | None = None
    probability: Probability | None = None
    owed: bool = False


def next_id(hub: ActiveRun) -> str:
    """The id that the next challenge gets; ids count up over all iterations."""
    return f"C{len(hub.state.raised) + 1}"


def take_in(hub: ActiveRun, proposals: Sequence[Proposal]) -> list[str | None]:
    """Raise and admit the challenges of one source; the id of each, its earlier one's if restated, None if refused."""
    names = [raise_one(hub, proposal) for proposal in proposals]
    admit_all(hub, [name for name, new in names if name is not None and new])
    return [name for name, _ in names]


def raise_one(hub: ActiveRun, proposal: Proposal) -> tuple[str | None, bool]:
    """Give a challenge its id, unless it is refused or was said before; its id, and whether it is new."""
    raised, origin, iteration = proposal.challenge, proposal.origin, hub.state.iteration
    reason = raising_refusal(origin, raised.severity, raised.confidence)
    if reason:
        hub.emit(ChallengeRefused(iteration=iteration, origin=origin, claim=raised.claim, reason=reason))
        return None, False
    earlier, disputes = _recognise(hub, raised)
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
            disputes=disputes,
        )
    )
    return name, True


def said_before(hub: ActiveRun, raised: RaisedChallenge) -> str | None:
    """The id of the challenge that says the same, those in overflow included; None if it is new."""
    return _recognise(hub, raised)[0]


def _recognise(hub: ActiveRun, raised: RaisedChallenge) -> tuple[str | None, str | None]:
    """The challenge that a new one is merged into, and the settled one that it disputes; at most one of them.

    What was said as something milder before is new: a BLOCKING challenge is never merged into a MINOR one. What was
    RESOLVED or WITHDRAWN since is disputed by whoever says it again and cites a place that it did not.
    """
    state, worst = hub.state, SEVERITIES[: SEVERITIES.index(raised.severity) + 1]
    as_bad = [
        name for name in hub.said["challenge"].every(_text(raised), raised.evidence) if _severity(hub, name) in worst
    ]
    standing = next((name for name in as_bad if state.challenges[name].status not in DISPUTABLE), None)
    if standing is not None:
        return standing, None
    settled = [n for n in hub.said["challenge"].worded(_text(raised)) if state.challenges[n].status in DISPUTABLE]
    if not settled:
        return None, None
    milder = all(_severity(hub, name) not in worst for name in settled)
    if milder or brings_new_place(raised.evidence, (state.raised[name].evidence for name in settled)):
        return None, settled[-1]
    return next(name for name in settled if _severity(hub, name) in worst), None


def _severity(hub: ActiveRun, name: str) -> Severity:
    return hub.state.raised[name].challenge.severity


def admit_all(hub: ActiveRun, names: Sequence[str]) -> None:
    """Admit the new challenges of one source under its cap, and send the rest to overflow.

    Where 8 are active, one of higher severity takes the place of one that came in this iteration and that nobody has
    looked at yet (rule A5).
    """
    if not names:
        return
    state, origin = hub.state, hub.state.raised[names[0]].challenge.origin
    limit, active, standing = hub.left(origin), state.active, hub.displaceable()
    admission = admit([_arrival(hub, name) for name in names], active, limit)
    waiting = [names[position] for position in admission.overflow]
    pairs = displace(
        [_arrival(hub, name) for name in standing],
        [_arrival(hub, name) for name in waiting],
        limit - len(admission.kept),
    )
    giving_way = {waiting[pair.enters]: standing[pair.leaves] for pair in pairs}
    fit = len(admission.kept) + len(giving_way)
    reason = f"{fit} of {len(names)} fit: at most {limit} new here, {active} of {MAX_ACTIVE} active"
    for position, name in enumerate(names):
        if name in giving_way:
            _overflow(hub, giving_way[name], f"{name} is of higher severity and took its place", by=name)
        if position in admission.kept or name in giving_way:
            hub.emit(ChallengeAdmitted(iteration=state.iteration, id=name))
        else:
            _overflow(hub, name, reason)


def promotion_refusal(hub: ActiveRun, name: str) -> str:
    """Say why a challenge cannot come out of overflow now; return an empty text if it can.

    It came there in an earlier iteration, and this one's caps have room.
    """
    state = hub.state
    if name not in state.overflow:
        return "there is no such challenge in overflow"
    origin = state.challenges[name].origin
    if state.overflow[name].iteration == state.iteration:
        return "it came into overflow in this iteration"
    if hub.left(origin) <= 0:
        limit = cap(origin, state.iteration, degraded=state.tightened)
        return f"{hub.taken(origin)} of at most {limit} new challenges of its source are in already"
    return f"{state.active} challenges are active, and no more may be" if state.active >= MAX_ACTIVE else ""


def promote_blocking(hub: ActiveRun) -> None:
    """Take BLOCKING challenges in from overflow before anything new is raised, as far as the caps let (rule A3)."""
    blocking = [name for name in hub.state.overflow if _severity(hub, name) == "BLOCKING"]
    for name in ranked(blocking, [_arrival(hub, name) for name in blocking]):
        if not promotion_refusal(hub, name):
            hub.emit(ChallengeAdmitted(iteration=hub.state.iteration, id=name, promoted=True, by_rule=True))


def _overflow(hub: ActiveRun, name: str, reason: str, by: str | None = None) -> None:
    tag = OVERFLOW_TAG[hub.state.raised[name].challenge.origin]
    hub.emit(ChallengeOverflowed(iteration=hub.state.iteration, id=name, tag=tag, reason=reason, displaced_by=by))


def _arrival(hub: ActiveRun, name: str) -> Arrival:
    raised = hub.state.raised[name]
    return Arrival(raised.challenge.severity, raised.probability)


def _text(raised: RaisedChallenge) -> str:
    return f"{raised.claim} {raised.concern}"
