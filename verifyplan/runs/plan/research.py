"""Resolve unknowns, surface contexts, probe risks, and raise the challenges they must raise (rules A5, A7)."""

from __future__ import annotations

from collections.abc import Sequence

from verifyplan.protocol.event_plan import ContextSurfaced, Restated, RiskProbed, UnknownListed, UnknownResolved
from verifyplan.protocol.event_run import Checkpoint
from verifyplan.protocol.records import FINAL_RESOLUTIONS, SEVERITIES, ProbedRisk, Severity, SurfacedContext, Unknown
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
from verifyplan.runs.plan.admission import Proposal, admit_all, number_of, record_raised


def list_unknowns(run: ActiveRun, raised: Sequence[RaisedUnknown], challenges: Sequence[str | None]) -> None:
    """Number the challenger's unknowns; #1, #2 ... are the `challenges` of the same answer, by their ids."""
    numbered = {f"#{position}": name for position, name in enumerate(challenges, start=1)}
    for entry in raised:
        earlier = run.state.statements["unknown"].again(entry.description)
        if earlier is not None:
            run.record(Restated, what="unknown", role="challenger", text=entry.description, into=earlier)
            continue
        name = f"U{len(run.state.unknowns) + 1}"
        affects = numbered.get(entry.affects, entry.affects) if entry.affects is not None else None
        unknown = Unknown(
            id=name,
            description=entry.description,
            type=entry.type,
            affects_challenge=affects if affects in run.state.raised else None,
            suggested_query=entry.suggested_query,
        )
        run.record(UnknownListed, unknown=unknown)


async def resolve(run: ActiveRun) -> None:
    """Ask the resolver the unknowns that are open; without its answer, all of them are UNRESOLVABLE (rule A11)."""
    open_unknowns = [unknown for unknown in run.state.unknowns.values() if unknown.resolution not in FINAL_RESOLUTIONS]
    if not open_unknowns:
        return
    [answer] = await run.call("resolver")
    answers = answer.answers if isinstance(answer, ResolverAnswer) else ()
    for unknown in tuple(run.state.unknowns.values()):
        own = [a for a in answers if a.id == unknown.id]
        if {unknown.resolution, *(a.resolution for a in own)} >= set(FINAL_RESOLUTIONS):
            message = f"the resolver both confirmed and refuted {unknown.id}; its first answer stands"
            run.record(Checkpoint, kind="contradiction", message=message, items=(unknown.id,))
        first = own[0] if own else UnknownAnswer(id=unknown.id, resolution="UNRESOLVABLE")
        changed = (first.resolution, first.finding) != (unknown.resolution, unknown.finding)
        if unknown in open_unknowns and changed:
            run.record(UnknownResolved, id=unknown.id, resolution=first.resolution, finding=first.finding)


async def surface_and_probe(run: ActiveRun) -> None:
    """Run research modes 2 and 3 in iteration 1, later only on a directive, or as the rules say (rule A7).

    Their challenges are ranked together, as they share a cap. The challenges of mode 2 are admitted, or go to
    overflow, even if the run is over before mode 3 has answered.
    """
    new: list[str] = []
    directives = {directive.kind for directive in run.directives()}
    roles: dict[Role, str] = {"surface": "RE-SWEEP", "probe": "RE-PROBE"}
    for role, directive in roles.items():
        wanted = run.rules.later_research == "always" or directive in directives
        if run.state.iteration > 1 and not wanted:
            continue
        try:
            [answer] = await run.call(role)
        except RunOverError:
            admit_all(run, new)
            raise
        if isinstance(answer, SurfaceAnswer):
            new += [name for context in answer.contexts if (name := _surface(run, context))]
        elif isinstance(answer, ProbeAnswer):
            new += [name for risk in answer.risks if (name := _probe(run, risk))]
    admit_all(run, new)


def _surface(run: ActiveRun, raised: RaisedContext) -> str | None:
    """Record a context; return the id of the challenge that is new with it, if one is.

    A context that was surfaced before is recorded again only where it brings a challenge that is new.
    """
    state = run.state
    earlier = state.statements["context"].again(raised.relevance, raised.location)
    met = earlier is not None and _met(run, state.contexts[earlier].generates_challenge, "SIGNIFICANT")
    owed = raised.challenge is None and raised.impact == "contradicts_plan" and not met
    challenge = _owed_by_context(raised) if owed else raised.challenge
    number = number_of(run, challenge) if challenge else None
    if earlier is not None and not (number and number.new):
        run.record(Restated, what="context", role="surface", text=raised.relevance, into=earlier)
        return None
    name = f"S{len(state.contexts) + 1}"
    generated = number.id if number else None
    context = SurfacedContext(id=name, generates_challenge=generated, **raised.model_dump(exclude={"challenge"}))
    run.record(ContextSurfaced, context=context)
    if challenge is None or number is None:
        return None
    return record_raised(run, Proposal(challenge, "surfaced", raised_by=name, owed=owed), number)


def _probe(run: ActiveRun, raised: RaisedRisk) -> str | None:
    """Record a risk; return the id of the challenge that is new with it, if one is.

    A risk that was probed before is recorded again only where it brings a challenge that is new.
    """
    state, text = run.state, f"{raised.risk} {raised.trigger}"
    earlier = state.statements["risk"].again(text, raised.evidence)
    met = earlier is not None and _met(run, state.risks[earlier].generates_challenge, raised.severity)
    owed = raised.challenge is None and raised.severity != "MINOR" and not met
    challenge = _owed_by_risk(raised) if owed else raised.challenge
    number = number_of(run, challenge) if challenge else None
    if earlier is not None and not (number and number.new):
        run.record(Restated, what="risk", role="probe", text=raised.risk, into=earlier)
        return None
    name = f"P{len(state.risks) + 1}"
    generated = number.id if number else None
    risk = ProbedRisk(id=name, generates_challenge=generated, **raised.model_dump(exclude={"evidence", "challenge"}))
    run.record(RiskProbed, risk=risk, evidence=raised.evidence)
    if challenge is None or number is None:
        return None
    proposal = Proposal(challenge, "probed", raised_by=name, probability=raised.probability, owed=owed)
    return record_raised(run, proposal, number)


def _met(run: ActiveRun, challenge: str | None, severity: Severity) -> bool:
    """Return whether the earlier statement raised a challenge already, and none that is milder than is owed now."""
    if challenge is None:
        return False
    return SEVERITIES.index(run.state.raised[challenge].challenge.severity) <= SEVERITIES.index(severity)


def _owed_by_context(context: RaisedContext) -> RaisedChallenge:
    """Return the challenge to a plan that the repository contradicts, which the agent did not raise (rule A5)."""
    return RaisedChallenge(
        claim="The plan holds beside what the repository already says.",
        concern=context.relevance,
        severity="SIGNIFICANT",
        confidence="MED",
        evidence=context.location,
    )


def _owed_by_risk(risk: RaisedRisk) -> RaisedChallenge:
    """Return the challenge by a risk of SIGNIFICANT or more, which the agent did not raise (rule A5)."""
    return RaisedChallenge(
        claim=f"The plan does not meet this: {risk.trigger}",
        concern=risk.risk,
        failure_scenario=risk.cascade,
        severity=risk.severity,
        confidence=risk.probability,
        evidence=risk.evidence,
    )
