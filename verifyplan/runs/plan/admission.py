"""Admit new challenges: refuse, recognise what was said before, number, admit or send to overflow (rule A5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
from verifyplan.rules.guards import OVERFLOW_TAG, Arrival, admit, cap, displace, raising_refusal, ranked
from verifyplan.rules.lifecycle import claim_of
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


class ChallengeNumber(NamedTuple):
    """The id of a raised challenge: a new one, or that of the earlier challenge that it repeats."""

    id: str
    new: bool
    disputes: str | None = None
    """The settled challenge that a new one disputes, if it does."""


def take_in(run: ActiveRun, proposals: Sequence[Proposal]) -> list[str | None]:
    """Raise and admit the challenges of one source; return each id, the earlier one if restated, None if refused."""
    ids: list[str | None] = []
    new: list[str] = []
    for proposal in proposals:
        raised, origin = proposal.challenge, proposal.origin
        if reason := raising_refusal(origin, raised.severity, raised.confidence, run.rules):
            run.record(ChallengeRefused, origin=origin, claim=raised.claim, reason=reason)
            ids.append(None)
            continue
        number = number_of(run, raised)
        record_raised(run, proposal, number)
        ids.append(number.id)
        new += [number.id] if number.new else []
    admit_all(run, new)
    return ids


def number_of(run: ActiveRun, raised: RaisedChallenge) -> ChallengeNumber:
    """Return the number that a challenge gets; new ids count up over all iterations."""
    earlier, disputes = _recognise(run, raised)
    if earlier is not None:
        return ChallengeNumber(earlier, new=False)
    return ChallengeNumber(f"C{len(run.state.raised) + 1}", new=True, disputes=disputes)


def record_raised(run: ActiveRun, proposal: Proposal, number: ChallengeNumber) -> str | None:
    """Record a challenge under its number, or that it repeats an earlier one; return its id if it is new."""
    raised, origin, iteration = proposal.challenge, proposal.origin, run.state.iteration
    if not number.new:
        text = f"{raised.claim} {raised.concern}"
        # the event's `role` holds the origin of a challenge ("surfaced"); of other statements, the role ("surface")
        run.record(Restated, what="challenge", role=origin, text=text, into=number.id)
        return None
    run.record(
        ChallengeRaised,
        challenge=Challenge(
            id=number.id, origin=origin, iteration_introduced=iteration, **raised.model_dump(exclude={"evidence"})
        ),
        evidence=raised.evidence,
        uncited=not cites_location(raised.evidence),
        probability=proposal.probability,
        raised_by=proposal.raised_by,
        owed=proposal.owed,
        disputes=number.disputes,
    )
    return number.id


def _recognise(run: ActiveRun, raised: RaisedChallenge) -> tuple[str | None, str | None]:
    """Return the challenge that a new one is merged into, and the settled one that it disputes; at most one of them.

    Challenges in overflow are among those that can be repeated.
    A repeated challenge of a higher severity is new: a BLOCKING one is never merged into a MINOR one. One that was
    RESOLVED or WITHDRAWN since is disputed by a repetition that cites a place that it did not, unless the rules merge
    disputes.
    """
    state, worst = run.state, SEVERITIES[: SEVERITIES.index(raised.severity) + 1]
    earlier, text = state.statements["challenge"], claim_of(raised)
    as_bad = [name for name in earlier.every(text, raised.evidence) if _severity(run, name) in worst]
    mergeable = next((name for name in as_bad if state.challenges[name].status not in DISPUTABLE), None)
    if mergeable is not None:
        return mergeable, None
    settled = [name for name in earlier.worded(text) if state.challenges[name].status in DISPUTABLE]
    if not settled:
        return None, None
    milder = all(_severity(run, name) not in worst for name in settled)
    disputable = run.rules.disputes == "admit"
    if milder or (disputable and brings_new_place(raised.evidence, (state.raised[name].evidence for name in settled))):
        return None, settled[-1]
    return next(name for name in settled if _severity(run, name) in worst), None


def _severity(run: ActiveRun, name: str) -> Severity:
    return run.state.raised[name].challenge.severity


def admit_all(run: ActiveRun, names: Sequence[str]) -> None:
    """Admit the new challenges of one source under its cap, and send the rest to overflow.

    Where no more may be active, one of higher severity takes the place of one that came in this iteration and that
    nobody has looked at yet (rule A5).
    """
    if not names:
        return
    state, origin = run.state, run.state.raised[names[0]].challenge.origin
    limit, active, displaceable = run.room_under_cap(origin), state.active, run.displaceable()
    admission = admit([_arrival(run, name) for name in names], active, limit, run.rules)
    waiting = [names[position] for position in admission.overflow]
    pairs = displace(
        [_arrival(run, name) for name in displaceable],
        [_arrival(run, name) for name in waiting],
        limit - len(admission.kept),
    )
    giving_way = {waiting[pair.enters]: displaceable[pair.leaves] for pair in pairs}
    fit = len(admission.kept) + len(giving_way)
    reason = f"{fit} of {len(names)} fit: at most {limit} new here, {active} of {run.rules.max_active} active"
    for position, name in enumerate(names):
        if name in giving_way:
            _overflow(run, giving_way[name], f"{name} is of higher severity and took its place", by=name)
        if position in admission.kept or name in giving_way:
            run.record(ChallengeAdmitted, id=name)
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
    if run.room_under_cap(origin) <= 0:
        limit = cap(origin, state.iteration, tightened=state.tightened, rules=run.rules)
        return f"{run.admitted_now(origin)} of at most {limit} new challenges of its source are in already"
    full = state.active >= run.rules.max_active
    return f"{state.active} challenges are active, and no more may be" if full else ""


def promote_blocking(run: ActiveRun) -> None:
    """Take BLOCKING challenges in from overflow before anything new is raised, as far as rules and caps let (A3)."""
    if not run.rules.promote_blocking:
        return
    blocking = [name for name in run.state.overflow if _severity(run, name) == "BLOCKING"]
    for name in ranked(blocking, [_arrival(run, name) for name in blocking], run.rules.admission):
        if not promotion_refusal(run, name):
            run.record(ChallengeAdmitted, id=name, promoted=True, by_rule=True)


def _overflow(run: ActiveRun, name: str, reason: str, by: str | None = None) -> None:
    tag = OVERFLOW_TAG[run.state.raised[name].challenge.origin]
    run.record(ChallengeOverflowed, id=name, tag=tag, reason=reason, displaced_by=by)


def _arrival(run: ActiveRun, name: str) -> Arrival:
    raised = run.state.raised[name]
    return Arrival(raised.challenge.severity, raised.probability)
