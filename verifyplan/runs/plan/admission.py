"""Admit new challenges: refuse, recognise what was said before, number, admit or send to overflow (rule A5)."""

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
from verifyplan.rules.likeness import brings_new_place
from verifyplan.runs.plan.active_run import ActiveRun

DISPUTABLE: tuple[Status, ...] = ("RESOLVED", "WITHDRAWN")
"""The settled statuses that a repeated challenge can dispute."""


@dataclass(frozen=True)
class Proposal:
    """A challenge on its way into the pool, and what raised it."""

    challenge: RaisedChallenge
    origin: Origin
    raised_by: str | None = None
    probability: Probability | None = None
    owed: bool = False


def next_id(run: ActiveRun) -> str:
    """Return the id of the next challenge; ids count up over all iterations."""
    return f"C{len(run.state.raised) + 1}"


def take_in(run: ActiveRun, proposals: Sequence[Proposal]) -> list[str | None]:
    """Raise and admit the challenges of one source; return each id, the earlier one if restated, None if refused."""
    raised = [_raise(run, proposal) for proposal in proposals]
    admit_all(run, [name for name, new in raised if name is not None and new])
    return [name for name, _ in raised]


def raise_new(run: ActiveRun, proposal: Proposal) -> str | None:
    """Raise a challenge, and return its id if it is new."""
    name, new = _raise(run, proposal)
    return name if new else None


def _raise(run: ActiveRun, proposal: Proposal) -> tuple[str | None, bool]:
    """Give a challenge its id, unless it is refused or was said before; return its id, and whether it is new."""
    raised, origin, iteration = proposal.challenge, proposal.origin, run.state.iteration
    reason = raising_refusal(origin, raised.severity, raised.confidence)
    if reason:
        run.emit(ChallengeRefused(iteration=iteration, origin=origin, claim=raised.claim, reason=reason))
        return None, False
    earlier, disputes = _recognise(run, raised)
    if earlier is not None:
        text = _text(raised)
        run.emit(Restated(iteration=iteration, what="challenge", role=origin, text=text, into=earlier))
        return earlier, False
    name = next_id(run)
    run.said["challenge"].add(name, _text(raised), raised.evidence)
    run.emit(
        ChallengeRaised(
            iteration=iteration,
            challenge=Challenge(
                id=name, origin=origin, iteration_introduced=iteration, **raised.model_dump(exclude={"evidence"})
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


def said_before(run: ActiveRun, raised: RaisedChallenge) -> str | None:
    """Return the id of the challenge that says the same, those in overflow included; None if it is new."""
    return _recognise(run, raised)[0]


def _recognise(run: ActiveRun, raised: RaisedChallenge) -> tuple[str | None, str | None]:
    """Return the challenge that a new one is merged into, and the settled one that it disputes; at most one of them.

    A repeated challenge of a higher severity is new: a BLOCKING one is never merged into a MINOR one. One that was
    RESOLVED or WITHDRAWN since is disputed by a repetition that cites a place that it did not.
    """
    state, worst = run.state, SEVERITIES[: SEVERITIES.index(raised.severity) + 1]
    as_bad = [
        name for name in run.said["challenge"].every(_text(raised), raised.evidence) if _severity(run, name) in worst
    ]
    mergeable = next((name for name in as_bad if state.challenges[name].status not in DISPUTABLE), None)
    if mergeable is not None:
        return mergeable, None
    settled = [n for n in run.said["challenge"].worded(_text(raised)) if state.challenges[n].status in DISPUTABLE]
    if not settled:
        return None, None
    milder = all(_severity(run, name) not in worst for name in settled)
    if milder or brings_new_place(raised.evidence, (state.raised[name].evidence for name in settled)):
        return None, settled[-1]
    return next(name for name in settled if _severity(run, name) in worst), None


def _severity(run: ActiveRun, name: str) -> Severity:
    return run.state.raised[name].challenge.severity


def admit_all(run: ActiveRun, names: Sequence[str]) -> None:
    """Admit the new challenges of one source under its cap, and send the rest to overflow.

    Where 8 are active, one of higher severity takes the place of one that came in this iteration and that nobody has
    looked at yet (rule A5).
    """
    if not names:
        return
    state, origin = run.state, run.state.raised[names[0]].challenge.origin
    limit, active, displaceable = run.left(origin), state.active, run.displaceable()
    admission = admit([_arrival(run, name) for name in names], active, limit)
    waiting = [names[position] for position in admission.overflow]
    pairs = displace(
        [_arrival(run, name) for name in displaceable],
        [_arrival(run, name) for name in waiting],
        limit - len(admission.kept),
    )
    giving_way = {waiting[pair.enters]: displaceable[pair.leaves] for pair in pairs}
    fit = len(admission.kept) + len(giving_way)
    reason = f"{fit} of {len(names)} fit: at most {limit} new here, {active} of {MAX_ACTIVE} active"
    for position, name in enumerate(names):
        if name in giving_way:
            _overflow(run, giving_way[name], f"{name} is of higher severity and took its place", by=name)
        if position in admission.kept or name in giving_way:
            run.emit(ChallengeAdmitted(iteration=state.iteration, id=name))
        else:
            _overflow(run, name, reason)


def promotion_refusal(run: ActiveRun, name: str) -> str:
    """Return why a challenge cannot come out of overflow now; empty if it can.

    It can if it came there in an earlier iteration, and this one's caps have room.
    """
    state = run.state
    if name not in state.overflow:
        return "there is no such challenge in overflow"
    origin = state.challenges[name].origin
    if state.overflow[name].iteration == state.iteration:
        return "it came into overflow in this iteration"
    if run.left(origin) <= 0:
        limit = cap(origin, state.iteration, degraded=state.tightened)
        return f"{run.admitted_now(origin)} of at most {limit} new challenges of its source are in already"
    return f"{state.active} challenges are active, and no more may be" if state.active >= MAX_ACTIVE else ""


def promote_blocking(run: ActiveRun) -> None:
    """Take BLOCKING challenges in from overflow before anything new is raised, as far as the caps let (rule A3)."""
    blocking = [name for name in run.state.overflow if _severity(run, name) == "BLOCKING"]
    for name in ranked(blocking, [_arrival(run, name) for name in blocking]):
        if not promotion_refusal(run, name):
            run.emit(ChallengeAdmitted(iteration=run.state.iteration, id=name, promoted=True, by_rule=True))


def _overflow(run: ActiveRun, name: str, reason: str, by: str | None = None) -> None:
    tag = OVERFLOW_TAG[run.state.raised[name].challenge.origin]
    run.emit(ChallengeOverflowed(iteration=run.state.iteration, id=name, tag=tag, reason=reason, displaced_by=by))


def _arrival(run: ActiveRun, name: str) -> Arrival:
    raised = run.state.raised[name]
    return Arrival(raised.challenge.severity, raised.probability)


def _text(raised: RaisedChallenge) -> str:
    return f"{raised.claim} {raised.concern}"
