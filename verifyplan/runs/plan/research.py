"""Unknowns listed and resolved, contexts surfaced, risks probed, and the challenges they must raise (rules A5, A7)."""

from __future__ import annotations

from collections.abc import Sequence

from verifyplan.protocol.event_plan import ContextSurfaced, Restated, RiskProbed, UnknownListed, UnknownResolved
from verifyplan.protocol.event_run import Checkpoint
from verifyplan.protocol.records import SEVERITIES, ProbedRisk, Severity, SurfacedContext, Unknown
from verifyplan.protocol.role_call import (
    ProbeAnswer,
    RaisedChallenge,
    RaisedContext,
    RaisedRisk,
    RaisedUnknown,
    ResolverAnswer,
    Role,
    SurfaceAnswer,
    UnknownAnswer,
)
from verifyplan.runs.plan.active_run import ActiveRun, RunOverError
from verifyplan.runs.plan.admission import Proposal, admit_all, next_id, raise_one, said_before

SETTLED = ("CONFIRMED", "REFUTED")
"""Answers after which an unknown is not asked again."""


def list_unknowns(hub: ActiveRun, raised: Sequence[RaisedUnknown], challenges: Sequence[str | None]) -> None:
    """Number the challenger's unknowns; #1, #2 ... are the `challenges` of the same answer, by their ids."""
    for one in raised:
        earlier = hub.said["unknown"].again(one.description)
        if earlier is not None:
            hub.emit(_restated(hub, "unknown", "challenger", one.description, earlier))
            continue
        name = f"U{len(hub.state.unknowns) + 1}"
        unknown = Unknown(
            id=name,
            description=one.description,
            type=one.type,
            affects_challenge=_affected(hub, one.affects, challenges),
            suggested_query=one.suggested_query,
        )
        hub.said["unknown"].add(name, one.description)
        hub.emit(UnknownListed(iteration=hub.state.iteration, unknown=unknown))


def _affected(hub: ActiveRun, affects: str | None, challenges: Sequence[str | None]) -> str | None:
    """The id that a reference means; None where it means nothing that exists."""
    numbered = {f"#{position}": name for position, name in enumerate(challenges, start=1)}
    name = numbered.get(affects, affects) if affects is not None else None
    return name if name in hub.state.raised else None


async def resolve(hub: ActiveRun) -> None:
    """Ask the resolver what is not settled yet; without its answer, all of it is UNRESOLVABLE (rule A11)."""
    asked = [unknown for unknown in hub.state.unknowns.values() if unknown.resolution not in SETTLED]
    if not asked:
        return
    [answer] = await hub.ask("resolver")
    given = answer.answers if isinstance(answer, ResolverAnswer) else ()
    for unknown in tuple(hub.state.unknowns.values()):
        mine = [one for one in given if one.id == unknown.id]
        if {unknown.resolution, *(one.resolution for one in mine)} >= set(SETTLED):
            message = f"the resolver both confirmed and refuted {unknown.id}; its first answer stands"
            hub.emit(
                Checkpoint(iteration=hub.state.iteration, kind="contradiction", message=message, items=(unknown.id,))
            )
        if unknown in asked:
            _answer(hub, unknown, mine[0] if mine else UnknownAnswer(id=unknown.id, resolution="UNRESOLVABLE"))


def _answer(hub: ActiveRun, unknown: Unknown, first: UnknownAnswer) -> None:
    """Record what an unknown's answer is now; nothing is told where it is what it was."""
    if (first.resolution, first.finding) == (unknown.resolution, unknown.finding):
        return
    hub.emit(
        UnknownResolved(
            iteration=hub.state.iteration, id=unknown.id, resolution=first.resolution, finding=first.finding
        )
    )


async def surface_and_probe(hub: ActiveRun) -> None:
    """Run research modes 2 and 3 where they are due; their challenges are ranked together, as they share a cap.

    What mode 2 raised is admitted, or goes to overflow, even if the run is over before mode 3 has answered.
    """
    new: list[str] = []
    roles: list[Role] = ["surface", "probe"]
    for role in roles:
        if not _due(hub, role):
            continue
        try:
            [answer] = await hub.ask(role)
        except RunOverError:
            admit_all(hub, new)
            raise
        if isinstance(answer, SurfaceAnswer):
            new += [name for one in answer.contexts if (name := _surfaced(hub, one))]
        elif isinstance(answer, ProbeAnswer):
            new += [name for one in answer.risks if (name := _probed(hub, one))]
    admit_all(hub, new)


def _due(hub: ActiveRun, role: Role) -> bool:
    """Modes 2 and 3 run in iteration 1, later only on a directive (rule A7)."""
    kind = "RE-SWEEP" if role == "surface" else "RE-PROBE"
    return hub.state.iteration == 1 or any(directive.kind == kind for directive in hub.directives())


def _surfaced(hub: ActiveRun, found: RaisedContext) -> str | None:
    """Record a context; the id of the challenge that is new with it, if one is.

    One that was surfaced before is recorded again only where it brings a challenge that is new.
    """
    earlier = hub.said["context"].again(found.relevance, found.location)
    met = earlier is not None and _met(hub, hub.state.contexts[earlier].generates_challenge, "SIGNIFICANT")
    owed = found.challenge is None and found.impact == "contradicts_plan" and not met
    challenge = _owed_by_context(found) if owed else found.challenge
    known = said_before(hub, challenge) if challenge else None
    if earlier is not None and (challenge is None or known is not None):
        hub.emit(_restated(hub, "context", "surface", found.relevance, earlier))
        return None
    name = f"S{len(hub.state.contexts) + 1}"
    spawned = known or next_id(hub) if challenge else None
    context = SurfacedContext(
        id=name,
        source=found.source,
        location=found.location,
        relevance=found.relevance,
        impact=found.impact,
        generates_challenge=spawned,
    )
    hub.said["context"].add(name, found.relevance, found.location)
    hub.emit(ContextSurfaced(iteration=hub.state.iteration, context=context))
    return _new(hub, Proposal(challenge, "surfaced", raised_by=name, owed=owed)) if challenge else None


def _probed(hub: ActiveRun, found: RaisedRisk) -> str | None:
    """Record a risk; the id of the challenge that is new with it, if one is.

    One that was probed before is recorded again only where it brings a challenge that is new.
    """
    earlier = hub.said["risk"].again(f"{found.risk} {found.trigger}", found.evidence)
    met = earlier is not None and _met(hub, hub.state.risks[earlier].generates_challenge, found.severity)
    owed = found.challenge is None and found.severity != "MINOR" and not met
    challenge = _owed_by_risk(found) if owed else found.challenge
    known = said_before(hub, challenge) if challenge else None
    if earlier is not None and (challenge is None or known is not None):
        hub.emit(_restated(hub, "risk", "probe", found.risk, earlier))
        return None
    name = f"P{len(hub.state.risks) + 1}"
    spawned = known or next_id(hub) if challenge else None
    fields = found.model_dump(exclude={"evidence", "challenge"})
    risk = ProbedRisk(id=name, generates_challenge=spawned, **fields)
    hub.said["risk"].add(name, f"{found.risk} {found.trigger}", found.evidence)
    hub.emit(RiskProbed(iteration=hub.state.iteration, risk=risk, evidence=found.evidence))
    if challenge is None:
        return None
    return _new(hub, Proposal(challenge, "probed", raised_by=name, probability=found.probability, owed=owed))


def _met(hub: ActiveRun, challenge: str | None, severity: Severity) -> bool:
    """Whether what was said before raised a challenge already, and none that is milder than is owed now."""
    if challenge is None:
        return False
    return SEVERITIES.index(hub.state.raised[challenge].challenge.severity) <= SEVERITIES.index(severity)


def _new(hub: ActiveRun, proposal: Proposal) -> str | None:
    name, new = raise_one(hub, proposal)
    return name if new else None


def _owed_by_context(found: RaisedContext) -> RaisedChallenge:
    """What contradicts the plan must be challenged; the agent did not, so the rules do (rule A5)."""
    return RaisedChallenge(
        claim="The plan holds beside what the repository already says.",
        concern=found.relevance,
        severity="SIGNIFICANT",
        confidence="MED",
        evidence=found.location,
    )


def _owed_by_risk(found: RaisedRisk) -> RaisedChallenge:
    """A risk of SIGNIFICANT or more must be challenged; the agent did not, so the rules do (rule A5)."""
    return RaisedChallenge(
        claim=f"The plan does not meet this: {found.trigger}",
        concern=found.risk,
        failure_scenario=found.cascade,
        severity=found.severity,
        confidence=found.probability,
        evidence=found.evidence,
    )


def _restated(hub: ActiveRun, what: str, role: str, text: str, into: str) -> Restated:
    return Restated.model_validate(
        {"iteration": hub.state.iteration, "what": what, "role": role, "text": text, "into": into}
    )
