"""What the counts say of an iteration, and what a person says where it is blocked (rules A3, A4, A6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from verifyplan.runs.plan.active_run import ActiveRun, RunOverError

KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
ABOUT_ONE: tuple[AnswerKind, ...] = ("acknowledge", "override")
"""Answers that name the challenge they are about."""


class Answer(NamedTuple):
    """What a person answers: context for the next iteration, a risk acknowledged, an override, or an end."""

    kind: AnswerKind
    challenge: str | None = None
    note: str = ""


class Pause(NamedTuple):
    """A plan run that waits: what it asks, and which challenges block it."""

    pause_id: str
    iteration: int
    question: str
    challenges: tuple[Challenge, ...]
    if_overridden: Mapping[str, str] = MappingProxyType({})
    """The verdict that follows if a challenge is overridden, by its id."""


Ask = Callable[[Pause], "Answer | str | None"]
"""Answers a pause; None leaves the run waiting. A text is read by `read_answer`."""


def writable(text: str) -> bool:
    r"""Whether a text can be written down: it holds no half of a surrogate pair, as undecodable bytes become.

    >>> writable("Übergang"), writable("\udcff")
    (True, False)
    """
    return text.encode(errors="replace").decode() == text


def read_answer(text: str, note: str = "") -> Answer:
    """An answer as it is written in a shell: `acknowledge:C3`, `override:C3`, `context`, `abort`.

    Raises InputError for any other word.

    >>> read_answer("acknowledge:C3", "we accept the downtime")
    Answer(kind='acknowledge', challenge='C3', note='we accept the downtime')
    """
    kind, _, name = text.strip().partition(":")
    known = {word: word for word in KINDS}.get(kind)  # type: ignore[call-overload]
    if known is None:
        fix = f"use {one_of(KINDS)}; acknowledge and override name a challenge: acknowledge:C3"
        raise InputError(Problem("answer", f"{text!r} is no answer", fix))
    return Answer(known, name.strip() or None, note)


def checked_answer(given: Answer | str, pause: Pause) -> AnswerGiven:
    """The answer as the log holds it, without keys; InputError listing what does not fit the pause."""
    answer = read_answer(given) if isinstance(given, str) else given
    names = [challenge.id for challenge in pause.challenges]
    if not isinstance(answer, Answer) or answer.kind not in KINDS:
        fix = f"give an Answer, or a text: {one_of(KINDS)}"
        raise InputError(Problem("answer", f"{given!r} is no answer", fix))
    problems = []
    if answer.kind in ABOUT_ONE and answer.challenge not in names:
        fix = f"name one of {one_of(names)}, as in {answer.kind}:{names[0]}"
        problems.append(Problem("answer", f"{answer.challenge!r} does not block this plan", fix))
    if answer.kind not in ABOUT_ONE and answer.challenge is not None:
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


def judge(hub: ActiveRun, answer: SynthesizerAnswer | None = None) -> Ruling:
    """Judge the iteration by its counts, and record where the synthesizer's own word, if there is one, differs."""
    answer = answer or SynthesizerAnswer()
    settings, overflow = hub.settings, _overflow(hub)
    ruling = evaluate(hub.state.pool, hub.state.iteration, settings.max_iterations, settings.policy, overflow)
    differs = answer.status not in (None, ruling.status) or answer.verdict not in (None, ruling.verdict)
    hub.emit(
        ConvergenceEvaluated(
            iteration=hub.state.iteration,
            **ruling._asdict(),
            stated_status=answer.status,
            stated_verdict=answer.verdict,
            differs=differs,
        )
    )
    return ruling


def settle_block(
    hub: ActiveRun, ruling: Ruling, answer: SynthesizerAnswer, ask: Ask | None
) -> tuple[Ruling, str | None]:
    """Where the plan is blocked, do as the settings say; the ruling that then holds, and what was overridden.

    WaitingError if the run is to wait and nobody answers; RunOverError if a person aborts it.
    """
    number = 0
    while ruling.status == "BLOCKED":
        waits = hub.settings.on_blocked != "continue"
        pause = _pause(hub, answer, number := number + 1, waits)
        hub.emit(_checkpoint(pause, waits))
        if not waits:
            break
        given = _answer(hub, pause, ask)
        if given.answer == "context":
            break
        if given.answer == "abort":
            reason = f"aborted by the user: {given.note}" if given.note.strip() else "aborted by the user"
            raise RunOverError(PlanOutcome(ended_by="user", status="FORCED_EXIT", verdict=None, exit_reason=reason))
        if given.answer == "override":
            left = _without(hub, given.challenge)
            still = left._replace(blocking_open=ruling.blocking_open, significant_open=ruling.significant_open)
            return still, given.challenge  # overridden, it is open all the same, and counted
        _acknowledge(hub, given)
        ruling = judge(hub)  # what the synthesizer said was said before the answer
    return ruling, None


def _overflow(hub: ActiveRun) -> list[Severity]:
    return [hub.state.challenges[name].severity for name in hub.state.overflow]


def _without(hub: ActiveRun, overridden: str | None) -> Ruling:
    """Judge the run as it ends with a challenge left out."""
    rest = [challenge for challenge in hub.state.pool if challenge.id != overridden]
    return evaluate(rest, hub.settings.max_iterations, hub.settings.max_iterations, hub.settings.policy)


def _pause(hub: ActiveRun, answer: SynthesizerAnswer, number: int, waits: bool) -> Pause:
    """The question; where a person can answer it, with what an override of each blocking challenge leads to."""
    blocking = [challenge for challenge in hub.state.unsettled if challenge.severity == "BLOCKING"]
    asked = answer.question.strip() if number == 1 else ""  # after an answer, it is about what is still open
    follows = {challenge.id: _if_overridden(hub, challenge.id) for challenge in blocking} if waits else {}
    question = f"{asked or _question(blocking)} {override_words(follows)}".strip()
    pause_id = f"i{hub.state.iteration}/pause-{number}"
    return Pause(pause_id, hub.state.iteration, question, tuple(blocking), follows)


def _if_overridden(hub: ActiveRun, name: str) -> str:
    if not hub.state.challenged:
        return verdict_words(None, strong=False)
    left = _without(hub, name)
    return verdict_words(capped_verdict(left.verdict, _overflow(hub)), left.strong)


def _question(blocking: Sequence[Challenge]) -> str:
    told = "; ".join(f"{challenge.id}: {challenge.concern or challenge.claim}" for challenge in blocking)
    return f"How is this to be met before the plan is executed? {told}"


def _checkpoint(pause: Pause, waits: bool) -> Checkpoint:
    return Checkpoint(
        iteration=pause.iteration,
        kind="blocked",
        message=pause.question,
        items=tuple(challenge.id for challenge in pause.challenges),
        pause_id=pause.pause_id if waits else None,
        if_overridden=dict(pause.if_overridden),
    )


def _answer(hub: ActiveRun, pause: Pause, ask: Ask | None) -> AnswerGiven:
    """The answer that is on disk, else what a person says now, which is on disk before it does anything."""
    given = hub.caller.past.answer(pause.pause_id)
    if given is None:
        told: Answer | str | None = ask(pause) if ask is not None else None
        if told is None:
            raise WaitingError(pause.pause_id)
        given = checked_answer(told, pause)
    hub.emit(given)
    return given


def _acknowledge(hub: ActiveRun, given: AnswerGiven) -> None:
    challenge = hub.state.challenges[str(given.challenge)]
    note = given.note.strip() or "the risk is accepted"
    hub.emit(
        StatusChanged(
            iteration=hub.state.iteration,
            id=challenge.id,
            old=challenge.status,
            new="RESOLVED",
            resolution=f"user decision: {note}",
            uncited=False,
            by="user",
        )
    )


def look_back(hub: ActiveRun, ruling: Ruling) -> bool:
    """Tell of a stall and of degradation at the end of an iteration; whether the next one is tightened."""
    state, iteration = hub.state, hub.state.iteration
    created = [name for name, admitted in state.admitted.items() if admitted == iteration]
    now = {challenge.id: challenge.status for challenge in state.challenges.values()}
    before = {one.id: one.status for one in state.iterations[-1].challenges} if state.iterations else {}
    if state.pool and not created and now == before:
        message = f"no challenge has moved since iteration {iteration - 1}"
        hub.emit(Checkpoint(iteration=iteration, kind="stall", message=message, items=tuple(state.admitted)))
    moves = [move for move in state.moves if move.iteration == iteration]
    resolved = {move.id for move in moves if move.new == "RESOLVED" or move.new in INACTIVE}
    if not degraded(iteration, len(created), len(resolved)):
        return False
    message = f"{len(created)} challenges came and {len(resolved)} were settled"
    message += ": the next iteration is tightened" if ruling.verdict is None else ""
    hub.emit(Checkpoint(iteration=iteration, kind="degradation", message=message, items=tuple(created)))
    return True


def check_challenged(hub: ActiveRun, overridden: str | None) -> None:
    """RunOverError where no challenger gave a usable answer in the whole run: silence is never a verdict (rule A3)."""
    if hub.state.challenged:
        return
    failed = {one.call_id: one.reason for one in hub.state.failures if one.agent == "challenger"}
    blank = "it named no challenges, nor said by an empty list that there are none"
    told = "; ".join(
        f"iteration {number}: {failed.get(f'i{number}/challenger', blank)}"
        for number in range(1, hub.state.iteration + 1)
    )
    reason = f"nobody challenged the plan: the challenger gave no usable answer ({told})"
    raise RunOverError(
        PlanOutcome(ended_by="failures", status="FORCED_EXIT", verdict=None, overridden=overridden, exit_reason=reason)
    )


def outcome(hub: ActiveRun, ruling: Ruling, overridden: str | None, score: int | None) -> PlanOutcome:
    """How a run ends whose ruling has a verdict; a BLOCKING challenge in overflow allows at best REVISE (rule A5)."""
    waiting = [hub.state.challenges[name] for name in hub.state.overflow]
    verdict = capped_verdict(ruling.verdict, [challenge.severity for challenge in waiting])
    reasons = []
    if verdict != ruling.verdict:
        named = ", ".join(challenge.id for challenge in waiting if challenge.severity == "BLOCKING")
        reasons.append(f"REVISE, not {ruling.verdict}: BLOCKING in overflow: {named}")
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
