"""The iterations of a plan run, from the assessment to the verdict (rules A3-A11)."""

from __future__ import annotations

from verifyplan.engine.queue import QueueLoop
from verifyplan.plans.assessment import Assessment
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import FindingGrouped, RoundClosed
from verifyplan.protocol.event_plan import IterationClosed, IterationStarted, PlanAssessed, SectionRead, SignFound
from verifyplan.protocol.event_run import PlanOutcome, RunEnded
from verifyplan.protocol.records import Challenge, ChallengeState, ContextState, IterationState, RiskState, UnknownState
from verifyplan.protocol.role_call import ChallengerAnswer, ChallengesAnswer, Role, SynthesizerAnswer
from verifyplan.rules.convergence import Ruling, evaluate
from verifyplan.rules.lifecycle import claim_of
from verifyplan.rules.sizing import complexity, team
from verifyplan.runs.plan import checking, research, ruling
from verifyplan.runs.plan import synthesis as scores
from verifyplan.runs.plan.active_run import ORIGIN_OF_ROLE, ActiveRun, RunOverError
from verifyplan.runs.plan.admission import Proposal, promote_blocking, take_in
from verifyplan.runs.plan.ruling import Ask
from verifyplan.runs.plan.synthesis import settle

SCALED_ROLES: tuple[Role, ...] = ("domain-expert", "devils-advocate")


async def run(hub: ActiveRun, assessment: Assessment, ask: Ask | None) -> None:
    """Drive the run to its end; WaitingError where it waits for a person."""
    assess(hub, assessment)
    if hub.state.assessed is not None and hub.state.assessed.team is None:
        outcome = PlanOutcome(
            ended_by="sizing", status="CONVERGED", verdict="PROCEED", exit_reason="trivial: nothing to challenge"
        )
        hub.emit(RunEnded(outcome=outcome))
        return
    tightened = False
    while hub.state.ended is None:
        hub.emit(IterationStarted(iteration=hub.state.iteration + 1, tightened=tightened))
        promote_blocking(hub)
        try:
            tightened = await iterate(hub, ask)
        except RunOverError as over:
            _close(hub, None, None)
            hub.emit(RunEnded(outcome=over.outcome))


def assess(hub: ActiveRun, assessment: Assessment) -> None:
    """Tell how the plan was read and sized; one whose plan check was asked for is not skipped as trivial."""
    settings, plan = hub.settings, hub.plan
    trivial = assessment.trivial and settings.team is None and not settings.plan_check
    hub.emit(
        PlanAssessed(
            title=plan.title,
            sections=tuple(
                SectionRead(title=s.title, level=s.level, first=s.first, last=s.last) for s in plan.sections
            ),
            steps=assessment.signs.steps,
            quality=assessment.quality,
            trivial=trivial,
            traits={name: int(value) for name, value in assessment.traits._asdict().items()},
            signs={name: int(value) for name, value in assessment.signs._asdict().items()},
            complexity=complexity(assessment.signs),
            threshold=settings.threshold,
            team=team(
                assessment.signs,
                assessment.quality,
                trivial=trivial,
                team=settings.team,
                threshold=settings.threshold,
            ),
            domains=assessment.domains,
            found={
                sign: tuple(SignFound(word=found.word, line=found.line) for found in words)
                for sign, words in assessment.found.items()
            },
            notes=plan.notes,
        )
    )


async def iterate(hub: ActiveRun, ask: Ask | None) -> bool:
    """One iteration; whether the next is tightened. The run has ended if the ruling has a verdict."""
    await challenge(hub)
    await research.resolve(hub)
    await research.surface_and_probe(hub)
    await vote(hub)
    [answer] = await hub.ask("synthesizer")
    assert isinstance(answer, SynthesizerAnswer)  # noqa: S101  (a synthesizer that fails ends the run)
    settle(hub, answer)
    ruled, overridden = ruling.settle_block(hub, ruling.judge(hub, answer), answer, ask)
    tightened = ruling.look_back(hub, ruled)
    if ruled.verdict is None:
        _close(hub, ruled, None)
        return tightened
    ruling.check_challenged(hub, overridden)
    final = await scores.score(hub)
    _close(hub, ruled, final)
    hub.emit(RunEnded(outcome=ruling.outcome(hub, ruled, overridden, final)))
    return tightened


async def challenge(hub: ActiveRun) -> None:
    """The challenger, then expert and advocate together: at first where the team is scaled, later if consulted.

    The blockers of a plan check are admitted with the challenger's, before them and under one cap (rules A5, D5).
    """
    [answer] = await hub.ask("challenger")
    blockers = checking.blockers(hub)
    raised = answer.challenges if isinstance(answer, ChallengerAnswer) else ()
    named = take_in(hub, [*blockers, *(Proposal(one, "challenger") for one in raised)])
    if isinstance(answer, ChallengerAnswer):
        names = named[len(blockers) :]
        for position in hub.refused_positions(f"i{hub.state.iteration}/challenger", "challenges"):
            names.insert(position - 1, None)  # so that #3 is the third that it wrote
        research.list_unknowns(hub, answer.unknowns, names)
    roles = [role for role in SCALED_ROLES if _consulted(hub, role)]
    for role, given in zip(roles, await hub.ask(*roles) if roles else [], strict=True):
        if isinstance(given, ChallengesAnswer):
            take_in(hub, [Proposal(one, ORIGIN_OF_ROLE[role]) for one in given.challenges])


def _consulted(hub: ActiveRun, role: Role) -> bool:
    assessed = hub.state.assessed
    if hub.state.iteration == 1:
        return assessed is not None and assessed.team == "scaled"
    return any(directive.kind == "CONSULT" and directive.role == role for directive in hub.directives())


def _close(hub: ActiveRun, ruled: Ruling | None, score: int | None) -> None:
    """Write down what the iteration ended with; one that was broken off is judged by its counts, and forced to exit."""
    state, inputs = hub.state, hub.state.inputs
    assert state.assessed is not None  # noqa: S101  (iterations begin after the assessment)
    last = hub.settings.max_iterations
    record = (ruled or evaluate(state.pool, last, last)._replace(status="FORCED_EXIT")).record()
    told = [answer for name, answer in state.answers.items() if state.answered_in[name] == state.iteration]
    now = [name for name, came in state.surfaced_in.items() if came == state.iteration]
    hub.emit(
        IterationClosed(
            state=IterationState(
                iteration=state.iteration,
                plan_path=inputs.plan_path,
                plan_quality=state.assessed.quality,
                team_mode=state.assessed.team or "base",
                challenges=tuple(
                    ChallengeState(id=c.id, status=c.status, severity=c.severity)
                    for c in (*state.pool, *(state.challenges[name] for name in state.overflow))
                ),
                unknowns=tuple(
                    UnknownState(id=u.id, resolution=u.resolution) for u in state.unknowns.values() if u.id in now
                ),
                surfaced_contexts=tuple(
                    ContextState(id=s.id, impact=s.impact, generates_challenge=s.generates_challenge)
                    for s in state.contexts.values()
                    if s.id in now
                ),
                probed_risks=tuple(
                    RiskState(id=p.id, generates_challenge=p.generates_challenge)
                    for p in state.risks.values()
                    if p.id in now
                ),
                convergence=record,
                user_responses=tuple(
                    ": ".join(part for part in (answer.answer, answer.challenge, answer.note) if part)
                    for answer in told
                ),
                synthesizer_directives=tuple(str(one) for one in state.directives.get(state.iteration, ())),
                quality_score=score,
            )
        )
    )


async def vote(hub: ActiveRun) -> None:
    """Let the panel vote on what is OPEN or UNRESOLVED; nothing happens without a panel or a challenge."""
    panel, unsettled = hub.settings.panel, hub.state.unsettled
    if panel is None or not unsettled:
        return
    hub.check_budget("the panel")

    def emit(event: Event) -> None:
        hub.emit(event)
        if isinstance(event, RoundClosed) and event.carried_forward_count and event.round < panel.max_rounds:
            hub.check_budget(f"round {event.round + 1} of the panel")

    loop = QueueLoop(
        part="challenges",
        iteration=hub.state.iteration,
        roster=panel.workers,
        mode=panel.mode,
        verification_mode=panel.verification_mode,
        max_rounds=panel.max_rounds,
        caller=hub.caller,
        emit=emit,
        documents={hub.state.inputs.plan_name: hub.state.inputs.plan_text},
        items_per_call=panel.items_per_call,
        closed=hub.step,
    )
    await loop.run([as_finding(challenge, hub.state.raised[challenge.id].evidence) for challenge in unsettled])
    hub.check_overrun()


def as_finding(challenge: Challenge, evidence: str) -> FindingGrouped:
    """A challenge as the panel votes on it; no panel worker is its discoverer."""
    return FindingGrouped(
        part="challenges",
        finding_id=challenge.id,
        summary=claim_of(challenge),
        evidence=evidence,
        category="challenge",
        discoverers=(),
    )
