"""Run a plan run, iteration by iteration, from the assessment to the verdict (rules A3-A11)."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from verifyplan.agents.base import Backend
from verifyplan.documents.bridges.blocker_challenges import challenges
from verifyplan.documents.dimensions.plan_check import plan_check
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.source import read_source
from verifyplan.engine.calls import Caller
from verifyplan.engine.drive import Step, drive_loop, no_step
from verifyplan.engine.queue import QueueItem, QueueLoop
from verifyplan.plans.assessment import Assessment, assess
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import RoundClosed
from verifyplan.protocol.event_plan import IterationClosed, IterationStarted, PlanAssessed, SectionRead, SignFound
from verifyplan.protocol.event_run import PlanOutcome, RunEnded, RunStarted
from verifyplan.protocol.records import ChallengeState, ContextState, IterationState, RiskState, TeamMode, UnknownState
from verifyplan.protocol.role_call import ChallengerAnswer, ChallengesAnswer, Role, SynthesizerAnswer
from verifyplan.protocol.settings import PlanSettings
from verifyplan.protocol.vote import VERIFICATION_MODE_OF
from verifyplan.rules.convergence import Ruling, evaluate
from verifyplan.rules.lifecycle import claim_of
from verifyplan.rules.sizing import complexity, team, trivial
from verifyplan.runlog.plan_state import PlanState
from verifyplan.runlog.recorder import Recorder
from verifyplan.runs.plan import research, ruling, synthesis
from verifyplan.runs.plan.active_run import ORIGIN_OF_ROLE, ActiveRun, RunOverError
from verifyplan.runs.plan.admission import Proposal, promote_blocking, take_in
from verifyplan.runs.plan.pauses import PauseHandler, WaitingError

SCALED_ROLES: tuple[Role, ...] = ("domain-expert", "devils-advocate")


def drive_plan(
    started: RunStarted,
    backend: Backend | None,
    recorder: Recorder,
    pause_handler: PauseHandler | None = None,
    progress: bool | None = None,
) -> None:
    """Drive a plan run, from its start or from what `recorder` holds, until it ends or waits for a person.

    CensoredError where there is no backend and a reply is missing.
    """
    loop = partial(run_plan_loop, started, backend, recorder, pause_handler)
    drive_loop(loop, backend, recorder, "verifying the plan", progress=progress)


async def run_plan_loop(
    started: RunStarted,
    backend: Backend | None,
    recorder: Recorder,
    pause_handler: PauseHandler | None = None,
    step: Step = no_step,
) -> None:
    """Run the iterations of a plan run; its events go to `recorder`. It runs within `drive_plan`, or in a batch."""
    settings, state = started.plan.settings, PlanState()
    caller = Caller(backend, recorder, settings, settings.timeout, state.add)
    caller.emit(started)
    run = ActiveRun(state, caller, step, pause_handler)
    assess_plan(run)
    with suppress(WaitingError):
        await run_iterations(run)


async def run_iterations(run: ActiveRun) -> None:
    """Drive the run to its end; WaitingError where it waits for a person."""
    if run.state.assessed is not None and run.state.assessed.team is None:
        outcome = PlanOutcome(
            ended_by="sizing", status="CONVERGED", verdict="PROCEED", exit_reason="trivial: nothing to challenge"
        )
        run.emit(RunEnded(outcome=outcome))
        return
    degraded = False
    while run.state.ended is None:
        run.emit(IterationStarted(iteration=run.state.iteration + 1, tightened=degraded))
        promote_blocking(run)
        try:
            degraded = await iterate(run)
        except RunOverError as over:
            close_iteration(run, None, None)
            run.emit(RunEnded(outcome=over.outcome))


def assess_plan(run: ActiveRun) -> None:
    """Record how the plan was read and sized; a plan with a plan check is not skipped as trivial."""
    settings, inputs = run.settings, run.state.inputs
    plan = parse_plan(inputs.plan_text, inputs.plan_path)
    assessment = assess(plan)
    signs, sized = assessment.signs, size_of(assessment, settings)
    run.emit(
        PlanAssessed(
            title=plan.title,
            sections=tuple(
                SectionRead(title=s.title, level=s.level, first=s.first, last=s.last) for s in plan.sections
            ),
            steps=signs.steps,
            quality=assessment.quality,
            trivial=sized is None,
            traits={name: int(value) for name, value in assessment.traits._asdict().items()},
            signs={name: int(value) for name, value in signs._asdict().items()},
            complexity=complexity(signs),
            threshold=settings.threshold,
            team=sized,
            domains=assessment.domains,
            found={
                sign: tuple(SignFound(word=match.word, line=match.line) for match in matches)
                for sign, matches in assessment.found.items()
            },
            notes=plan.notes,
        )
    )


def size_of(assessment: Assessment, settings: PlanSettings) -> TeamMode | None:
    """Return the team that settings give a plan; None for a trivial plan without a plan check."""
    small = trivial(assessment.signs, assessment.traits, settings.rules)
    skipped = small and settings.team is None and not settings.plan_check
    return team(assessment.signs, assessment.quality, trivial=skipped, team=settings.team, rules=settings.rules)


async def iterate(run: ActiveRun) -> bool:
    """Run one iteration; return whether it was degraded (rule A6). The run has ended if the ruling has a verdict."""
    await challenge(run)
    await research.resolve(run)
    await research.surface_and_probe(run)
    await vote(run)
    [answer] = await run.call("synthesizer")
    if not isinstance(answer, SynthesizerAnswer):  # it failed, and the rules carry on without it
        answer = SynthesizerAnswer()
    synthesis.settle(run, answer)
    ruled, overridden = ruling.settle_block(run, ruling.record_ruling(run, answer), answer)
    degraded = ruling.record_progress(run, ruled)
    if ruled.verdict is None:
        close_iteration(run, ruled, None)
        return degraded
    ruling.check_challenged(run, overridden)
    final = await synthesis.score(run)
    close_iteration(run, ruled, final)
    run.emit(RunEnded(outcome=ruling.outcome(run, ruled, overridden, final)))
    return degraded


async def challenge(run: ActiveRun) -> None:
    """Ask the challenger, then expert and advocate together: at first where the team is scaled, later as rules say.

    The blockers of a plan check are admitted with the challenger's, before them and under one cap (rules A5, D5).
    """
    [answer] = await run.call("challenger")
    blockers = plan_check_blockers(run)
    raised = answer.challenges if isinstance(answer, ChallengerAnswer) else ()
    ids = take_in(run, [*blockers, *(Proposal(challenge, "challenger") for challenge in raised)])
    if isinstance(answer, ChallengerAnswer):
        named = ids[len(blockers) :]
        for position in run.refused_positions(f"i{run.state.iteration}/challenger", "challenges"):
            named.insert(position - 1, None)  # so that #3 is the third that it wrote
        research.list_unknowns(run, answer.unknowns, named)
    speaks = run.state.iteration == 1 or run.rules.later_consults == "always"
    scaled = speaks and run.state.assessed is not None and run.state.assessed.team == "scaled"
    consulted = {d.role for d in run.directives() if d.kind == "CONSULT"}
    roles = [role for role in SCALED_ROLES if scaled or role in consulted]
    for role, answer_of_role in zip(roles, await run.call(*roles) if roles else [], strict=True):
        if isinstance(answer_of_role, ChallengesAnswer):
            take_in(run, [Proposal(challenge, ORIGIN_OF_ROLE[role]) for challenge in answer_of_role.challenges])


def plan_check_blockers(run: ActiveRun) -> list[Proposal]:
    """Return the challenges that a plan check raises in the first iteration, where the settings ask for one (rule D4).

    They rest on the plan's text in the log alone, so that resume and replay raise the same. They count as the
    challenger's, whose cap they share: rule A5 knows no other origin for what is wrong with a plan itself.
    """
    inputs = run.state.inputs
    if not run.settings.plan_check or run.state.iteration != 1:
        return []
    document = PlanDocument.read(read_source(inputs.plan_text, inputs.plan_path))
    raised = challenges(plan_check(document), inputs.plan_name)
    return [Proposal(blocker, "challenger", raised_by="the plan check") for blocker in raised]


async def vote(run: ActiveRun) -> None:
    """Let the panel vote on what is OPEN or UNRESOLVED, by the loop of cross-verification (rule A9).

    Nothing happens without a panel or a challenge. No panel worker is the discoverer of a challenge.
    """
    panel, state = run.settings.panel, run.state
    if panel is None or not state.unsettled:
        return
    run.check_usage(run.call_id("panel/r1/"), "the panel")

    def emit_and_check_usage(event: Event) -> None:
        """Emit; after a round with a next one, RunOverError if a limit of the run is reached."""
        run.emit(event)
        if isinstance(event, RoundClosed) and event.carried_forward_count and event.round < panel.max_rounds:
            later = event.round + 1
            run.check_usage(run.call_id(f"panel/r{later}/"), f"round {later} of the panel")

    loop = QueueLoop(
        part="challenges",
        iteration=state.iteration,
        roster=panel.workers,
        mode=panel.mode,
        verification_mode=VERIFICATION_MODE_OF[panel.mode],
        max_rounds=panel.max_rounds,
        caller=run.caller,
        emit=emit_and_check_usage,
        documents={state.inputs.plan_name: state.inputs.plan_text},
        items_per_call=panel.items_per_call,
        rules=panel.rules,
        step=run.step,
    )
    items = [
        QueueItem(challenge.id, claim_of(challenge), state.raised[challenge.id].evidence)
        for challenge in state.unsettled
    ]
    await loop.run(items)
    run.check_overrun()


def close_iteration(run: ActiveRun, ruled: Ruling | None, score: int | None) -> None:
    """Record how the iteration ended; one that was broken off is judged by its counts, and forced to exit."""
    state, inputs = run.state, run.state.inputs
    assert state.assessed is not None  # noqa: S101  (iterations begin after the assessment)
    last = run.settings.max_iterations
    record = (ruled or evaluate(state.pool, last, rules=run.rules)._replace(status="FORCED_EXIT")).record()
    answers = [answer for name, answer in state.answers.items() if state.answered_in[name] == state.iteration]
    now = [name for name, iteration in state.last_changed_in.items() if iteration == state.iteration]
    run.emit(
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
                    for answer in answers
                ),
                synthesizer_directives=tuple(str(directive) for directive in state.directives.get(state.iteration, ())),
                quality_score=score,
            )
        )
    )
