"""Judge an iteration by its counts, and ask a person where the plan is blocked (rules A3, A4, A6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, get_args

from verifyplan.errors import InputError, Problem, one_of
from verifyplan.protocol.event_plan import ConvergenceEvaluated, StatusChanged
from verifyplan.protocol.event_run import AnswerGiven, AnswerKind, Checkpoint, PlanOutcome
from verifyplan.protocol.records import INACTIVE, Challenge, Severity
from verifyplan.protocol.role_call import SynthesizerAnswer
from verifyplan.redaction import redact
from verifyplan.rules.convergence import Ruling, evaluate, override_words, verdict_words
from verifyplan.rules.guards import capped_verdict, degraded
from verifyplan.runs.arguments import writable
from verifyplan.runs.plan.active_run import ActiveRun, RunOverError

KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
ABOUT_A_CHALLENGE: tuple[AnswerKind, ...] = ("acknowledge", "override")
"""Answers that name the challenge they are about."""


class Answer(NamedTuple):
    """A person's answer: context for the next iteration, a risk acknowledged, an override, or an end."""

    kind: AnswerKind
    challenge: str | None = None
    note: str = ""


class Pause(NamedTuple):
    """The question of a plan run that waits, and the challenges that block it."""

    pause_id: str
    iteration: int
    question: str
    challenges: tuple[Challenge, ...]
    if_overridden: Mapping[str, str] = MappingProxyType({})
    """The verdict that follows if a challenge is overridden, by its id."""


Ask = Callable[[Pause], "Answer | str | None"]
"""Answers a pause; None leaves the run waiting. A text is read by `read_answer`."""


def read_answer(text: str, note: str = "") -> Answer:
    """Read an answer as it is written in a shell: `acknowledge:C3`, `override:C3`, `context`, `abort`.

    Raises InputError for any other word.

    >>> read_answer("acknowledge:C3", "we accept the downtime")
    Answer(kind='acknowledge', challenge='C3', note='we accept the downtime')
    """
    kind, _, name = text.strip().partition(":")
    known = {word: word for word in KINDS}.get(kind)  # type: ignore[call-overload]
    if known is None:
        fix = f"use {one_of(KINDS)}; acknowledge and override name a challenge: acknowledge:C3"
        raise InputError(Problem("answer", f"{text!r} is not an answer", fix))
    return Answer(known, name.strip() or None, note)


def answer_event(reply: Answer | str, pause: Pause) -> AnswerGiven:
    """Return the answer as the log holds it, without keys; InputError listing what does not fit the pause."""
    answer = read_answer(reply) if isinstance(reply, str) else reply
    names = [challenge.id for challenge in pause.challenges]
    if not isinstance(answer, Answer) or answer.kind not in KINDS:
        fix = f"give an Answer, or a text: {one_of(KINDS)}"
        raise InputError(Problem("answer", f"{reply!r} is not an answer", fix))
    problems = []
    if answer.kind in ABOUT_A_CHALLENGE and answer.challenge not in names:
        fix = f"name one of {one_of(names)}, as in {answer.kind}:{names[0]}"
        problems.append(Problem("answer", f"{answer.challenge!r} does not block this plan", fix))
    if answer.kind not in ABOUT_A_CHALLENGE and answer.challenge is not None:
        problems.append(Problem("answer", f"{answer.kind} names no challenge", f"write {answer.kind!r} alone"))
    if not isinstance(answer.note, str) or not writable(answer.note):
        problems.append(Problem("note", f"{answer.note!r} cannot be written down", "write it as text"))
    elif answer.kind == "context" and not answer.note.strip():
        problems.append(Problem("note", "is blank", "write the context that the next iteration needs"))
    if problems:
        raise InputError(problems)
    note = redact(answer.note)
    return AnswerGiven(pause_id=pause.pause_id, answer=answer.kind, challenge=answer.challenge, note=note)


class WaitingError(Exception):
    """The run waits for a person's answer, and there is none."""


def record_ruling(run: ActiveRun, answer: SynthesizerAnswer | None = None) -> Ruling:
    """Judge the iteration by its counts, and record where the synthesizer's own word, if there is one, differs."""
    answer = answer or SynthesizerAnswer()
    state, settings = run.state, run.settings
    ruling = evaluate(state.pool, state.iteration, settings.max_iterations, settings.policy, _overflow(run))
    differs = answer.status not in (None, ruling.status) or answer.verdict not in (None, ruling.verdict)
    run.emit(
        ConvergenceEvaluated(
            iteration=state.iteration,
            **ruling._asdict(),
            stated_status=answer.status,
            stated_verdict=answer.verdict,
            differs=differs,
        )
    )
    return ruling


def settle_block(
    run: ActiveRun, ruling: Ruling, answer: SynthesizerAnswer, ask: Ask | None
) -> tuple[Ruling, str | None]:
    """Where the plan is blocked, do as the settings say; return the ruling that then holds, and what was overridden.

    WaitingError if the run is to wait and nobody answers; RunOverError if a person aborts it.
    """
    number, waits = 0, run.settings.on_blocked != "continue"
    while ruling.status == "BLOCKED":
        number += 1
        # the synthesizer's question is the first; after an answer, the next is about what is still open
        pause = _pause(run, number, answer.question.strip() if number == 1 else "", waits=waits)
        if not waits:
            break
        reply = _person_answer(run, pause, ask)
        if reply.answer == "context":
            break
        if reply.answer == "abort":
            reason = f"aborted by the user: {reply.note}" if reply.note.strip() else "aborted by the user"
            raise RunOverError(PlanOutcome(ended_by="user", status="FORCED_EXIT", verdict=None, exit_reason=reason))
        if reply.answer == "override":  # what is overridden is open all the same, and counted
            without = _ruling_without(run, reply.challenge)
            blocking, significant = ruling.blocking_open, ruling.significant_open
            return without._replace(blocking_open=blocking, significant_open=significant), reply.challenge
        challenge = run.state.challenges[str(reply.challenge)]
        run.emit(
            StatusChanged(
                iteration=run.state.iteration,
                id=challenge.id,
                old=challenge.status,
                new="RESOLVED",
                resolution=f"user decision: {reply.note.strip() or 'the risk is accepted'}",
                uncited=False,
                by="user",
            )
        )
        ruling = record_ruling(run)  # the synthesizer judged before the answer
    return ruling, None


def _overflow(run: ActiveRun) -> list[Severity]:
    return [run.state.challenges[name].severity for name in run.state.overflow]


def _ruling_without(run: ActiveRun, overridden: str | None) -> Ruling:
    """Judge the run as it ends with a challenge left out."""
    rest = [challenge for challenge in run.state.pool if challenge.id != overridden]
    return evaluate(rest, run.settings.max_iterations, run.settings.max_iterations, run.settings.policy)


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
    run.emit(
        Checkpoint(
            iteration=iteration,
            kind="blocked",
            message=question,
            items=tuple(challenge.id for challenge in blocking),
            pause_id=pause.pause_id if waits else None,
            if_overridden=verdicts,
        )
    )
    return pause


def _verdict_if_overridden(run: ActiveRun, name: str) -> str:
    if not run.state.challenged:
        return verdict_words(None, strong=False)
    without = _ruling_without(run, name)
    return verdict_words(capped_verdict(without.verdict, _overflow(run)), without.strong)


def _person_answer(run: ActiveRun, pause: Pause, ask: Ask | None) -> AnswerGiven:
    """Return the answer that is on disk, else a person's now, which is on disk before it does anything."""
    answer = run.caller.past.answer(pause.pause_id)
    if answer is None:
        reply = ask(pause) if ask is not None else None
        if reply is None:
            raise WaitingError(pause.pause_id)
        answer = answer_event(reply, pause)
    run.emit(answer)
    return answer


def record_progress(run: ActiveRun, ruling: Ruling) -> bool:
    """Record a stall and degradation at the end of an iteration; return whether the next one is tightened."""
    state, iteration = run.state, run.state.iteration
    created = [name for name, admitted in state.admitted.items() if admitted == iteration]
    now = {challenge.id: challenge.status for challenge in state.challenges.values()}
    before = {c.id: c.status for c in state.iterations[-1].challenges} if state.iterations else {}
    if state.pool and not created and now == before:
        message = f"no challenge has moved since iteration {iteration - 1}"
        run.emit(Checkpoint(iteration=iteration, kind="stall", message=message, items=tuple(state.admitted)))
    moves = [move for move in state.moves if move.iteration == iteration]
    resolved = {move.id for move in moves if move.new == "RESOLVED" or move.new in INACTIVE}
    if not degraded(iteration, len(created), len(resolved)):
        return False
    message = f"{len(created)} challenges came and {len(resolved)} were settled"
    message += ": the next iteration is tightened" if ruling.verdict is None else ""
    run.emit(Checkpoint(iteration=iteration, kind="degradation", message=message, items=tuple(created)))
    return True


def check_challenged(run: ActiveRun, overridden: str | None) -> None:
    """Raise RunOverError where no challenger gave a usable answer in the whole run: silence is never a verdict (A3)."""
    if run.state.challenged:
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
    """Return how a run ends whose ruling has a verdict; a BLOCKING challenge in overflow allows at best REVISE (A5)."""
    overflow = [run.state.challenges[name] for name in run.state.overflow]
    verdict = capped_verdict(ruling.verdict, _overflow(run))
    reasons = []
    if verdict != ruling.verdict:
        names = ", ".join(challenge.id for challenge in overflow if challenge.severity == "BLOCKING")
        reasons.append(f"REVISE, not {ruling.verdict}: BLOCKING in overflow: {names}")
    if overridden:
        reasons.append(f"{overridden} was left out by a person's override")
    return PlanOutcome(
        ended_by="user" if overridden else "ruling",
        status=ruling.status,
        verdict=verdict,
        strong=ruling.strong,
        overridden=overridden,
        exit_reason="; ".join(reasons),
        score=score,
    )
