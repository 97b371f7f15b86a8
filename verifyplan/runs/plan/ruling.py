"""Judge an iteration by its counts, and ask a person where the plan is blocked (rules A3, A4, A6)."""

from __future__ import annotations

from verifyplan.protocol.event_plan import ConvergenceEvaluated, StatusChanged
from verifyplan.protocol.event_run import AnswerGiven, Checkpoint, PlanOutcome
from verifyplan.protocol.records import INACTIVE, Severity
from verifyplan.protocol.role_call import SynthesizerAnswer
from verifyplan.rules.convergence import Ruling, evaluate, override_words, verdict_words
from verifyplan.rules.guards import capped_verdict, degraded
from verifyplan.runs.plan.active_run import ActiveRun, RunOverError
from verifyplan.runs.plan.pauses import Pause, WaitingError, answer_event


def record_ruling(run: ActiveRun, synthesis: SynthesizerAnswer | None = None) -> Ruling:
    """Judge the iteration by its counts, and record where the synthesizer's own word, if there is one, differs."""
    synthesis = synthesis or SynthesizerAnswer()
    state = run.state
    ruling = evaluate(state.pool, state.iteration, overflow=_overflow_severities(run), rules=run.rules)
    differs = synthesis.status not in (None, ruling.status) or synthesis.verdict not in (None, ruling.verdict)
    run.record(
        ConvergenceEvaluated,
        **ruling._asdict(),
        stated_status=synthesis.status,
        stated_verdict=synthesis.verdict,
        differs=differs,
    )
    return ruling


def settle_block(run: ActiveRun, ruling: Ruling, synthesis: SynthesizerAnswer) -> tuple[Ruling, str | None]:
    """Do as the settings say where the plan is blocked; return the ruling that then holds, and what was overridden.

    WaitingError if the run is to wait and nobody answers; RunOverError if a person aborts it.
    """
    number, waits = 0, run.settings.on_blocked != "continue"
    while ruling.status == "BLOCKED":
        number += 1
        # the synthesizer's question is the first; after an answer, the next is about what is still open
        pause = _pause(run, number, synthesis.question.strip() if number == 1 else "", waits=waits)
        if not waits:
            break
        answer = _person_answer(run, pause)
        if answer.answer == "context":
            break
        if answer.answer == "abort":
            reason = f"aborted by the user: {answer.note}" if answer.note.strip() else "aborted by the user"
            raise RunOverError(PlanOutcome(ended_by="user", status="FORCED_EXIT", verdict=None, exit_reason=reason))
        if answer.answer == "override":  # what is overridden is open all the same, and counted
            without = _ruling_without(run, answer.challenge)
            blocking, significant = ruling.blocking_open, ruling.significant_open
            return without._replace(blocking_open=blocking, significant_open=significant), answer.challenge
        challenge = run.state.challenges[str(answer.challenge)]
        run.record(
            StatusChanged,
            id=challenge.id,
            old=challenge.status,
            new="RESOLVED",
            resolution=f"user decision: {answer.note.strip() or 'the risk is accepted'}",
            uncited=False,
            by="user",
        )
        ruling = record_ruling(run)  # the synthesizer judged before the answer
    return ruling, None


def _overflow_severities(run: ActiveRun) -> list[Severity]:
    return [run.state.challenges[name].severity for name in run.state.overflow]


def _ruling_without(run: ActiveRun, overridden: str | None) -> Ruling:
    """Judge the run as it ends with a challenge left out."""
    rest = [challenge for challenge in run.state.pool if challenge.id != overridden]
    return evaluate(rest, run.rules.max_iterations, rules=run.rules)


def _pause(run: ActiveRun, number: int, question: str, *, waits: bool) -> Pause:
    """Record the question; where a person can answer it, with the verdict after an override of each challenge."""
    iteration = run.state.iteration
    blocking = tuple(challenge for challenge in run.state.unsettled if challenge.severity == "BLOCKING")
    verdicts = {challenge.id: _verdict_if_overridden(run, challenge.id) for challenge in blocking} if waits else {}
    if not question:
        concerns = "; ".join(f"{challenge.id}: {challenge.concern or challenge.claim}" for challenge in blocking)
        question = f"How is this to be met before the plan is executed? {concerns}"
    question = f"{question} {override_words(verdicts)}".strip()
    pause = Pause(f"i{iteration}/pause-{number}", iteration, question, blocking, verdicts)
    run.record(
        Checkpoint,
        kind="blocked",
        message=question,
        items=tuple(challenge.id for challenge in blocking),
        pause_id=pause.pause_id if waits else None,
        if_overridden=verdicts,
    )
    return pause


def _verdict_if_overridden(run: ActiveRun, name: str) -> str:
    if not _may_be_judged(run):
        return verdict_words(None, strong=False)
    without = _ruling_without(run, name)
    return verdict_words(capped_verdict(without.verdict, _overflow_severities(run), run.rules), without.strong)


def _may_be_judged(run: ActiveRun) -> bool:
    """Return whether somebody challenged the plan, or the rules judge a run also where nobody did."""
    return run.state.challenged or run.rules.unchallenged == "as-counted"


def _person_answer(run: ActiveRun, pause: Pause) -> AnswerGiven:
    """Return the answer that is on disk, else a person's now, which is on disk before it does anything."""
    answer = run.caller.past.answer(pause.pause_id)
    if answer is None:
        reply = run.pause_handler(pause) if run.pause_handler is not None else None
        if reply is None:
            raise WaitingError(pause.pause_id)
        answer = answer_event(reply, pause)
    run.emit(answer)
    return answer


def record_progress(run: ActiveRun, ruling: Ruling) -> bool:
    """Record a stall and degradation at the end of an iteration; return whether it tightens the next (rule A6)."""
    state, iteration = run.state, run.state.iteration
    created = [name for name, admitted in state.admitted.items() if admitted == iteration]
    now = {challenge.id: challenge.status for challenge in state.challenges.values()}
    before = {c.id: c.status for c in state.iterations[-1].challenges} if state.iterations else {}
    if state.pool and not created and now == before:
        message = f"no challenge has moved since iteration {iteration - 1}"
        run.record(Checkpoint, kind="stall", message=message, items=tuple(state.admitted))
    moves = [move for move in state.moves if move.iteration == iteration]
    resolved = {move.id for move in moves if move.new == "RESOLVED" or move.new in INACTIVE}
    if run.rules.degradation == "off" or not degraded(iteration, len(created), len(resolved)):
        return False
    tightens = run.rules.degradation == "tighten"
    message = f"{len(created)} challenges came and {len(resolved)} were settled"
    message += ": the next iteration is tightened" if ruling.verdict is None and tightens else ""
    run.record(Checkpoint, kind="degradation", message=message, items=tuple(created))
    return tightens


def check_challenged(run: ActiveRun, overridden: str | None) -> None:
    """Raise RunOverError where no challenger gave a usable answer in the whole run: silence is never a verdict (A3)."""
    if _may_be_judged(run):
        return
    reasons = {failure.call_id: failure.reason for failure in run.state.failures if failure.agent == "challenger"}
    blank = "it named no challenges, nor said by an empty list that there are none"
    by_iteration = "; ".join(
        f"iteration {number}: {reasons.get(f'i{number}/challenger', blank)}"
        for number in range(1, run.state.iteration + 1)
    )
    reason = f"nobody challenged the plan: the challenger gave no usable answer ({by_iteration})"
    raise RunOverError(
        PlanOutcome(ended_by="failures", status="FORCED_EXIT", verdict=None, overridden=overridden, exit_reason=reason)
    )


def outcome(run: ActiveRun, ruling: Ruling, overridden: str | None, score: int | None) -> PlanOutcome:
    """Return how a run ends whose ruling has a verdict; a BLOCKING challenge in overflow can lower it (A5)."""
    overflow = [run.state.challenges[name] for name in run.state.overflow]
    verdict = capped_verdict(ruling.verdict, _overflow_severities(run), run.rules)
    reasons = []
    if verdict != ruling.verdict:
        names = ", ".join(challenge.id for challenge in overflow if challenge.severity == "BLOCKING")
        reasons.append(f"{verdict}, not {ruling.verdict}: BLOCKING in overflow: {names}")
    if overridden:
        reasons.append(f"{overridden} was left out by a person's override")
    return PlanOutcome(
        ended_by="user" if overridden else "ruling",
        status=ruling.status,
        verdict=verdict,
        strong=ruling.strong and verdict == ruling.verdict,
        overridden=overridden,
        exit_reason="; ".join(reasons),
        score=score,
    )
