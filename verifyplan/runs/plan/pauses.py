"""Pauses of a plan run that is blocked, and the answers that a person can give (rule A4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, get_args

from verifyplan.errors import InputError, Problem, one_of
from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.event_run import AnswerGiven, AnswerKind
from verifyplan.protocol.records import Challenge
from verifyplan.redaction import redact
from verifyplan.runs.arguments import writable

KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
ABOUT_A_CHALLENGE: tuple[AnswerKind, ...] = ("acknowledge", "override")
"""Answers that name the challenge they are about."""


@with_field_docs
class Answer(NamedTuple):
    """A person's answer: context for the next iteration, a risk acknowledged, an override, or an end."""

    kind: AnswerKind
    """`context`, `acknowledge`, `override` or `abort`."""
    challenge: str | None = None
    """The challenge that is acknowledged or overridden."""
    note: str = ""
    """The reason, or the context for the next iteration."""


@with_field_docs
class Pause(NamedTuple):
    """The question of a plan run that waits, and the challenges that block it."""

    pause_id: str
    """The id that the answer is logged under."""
    iteration: int
    """The iteration that is blocked."""
    question: str
    """The question, as it is shown to a person."""
    challenges: tuple[Challenge, ...]
    """The challenges that block the plan."""
    if_overridden: Mapping[str, str] = MappingProxyType({})
    """The verdict that follows if a challenge is overridden, by its id."""


PauseHandler = Callable[[Pause], Answer | str | None]
"""A function that answers a pause; None leaves the run waiting. A text is read by `read_answer`."""


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
        problems.append(Problem("answer", f"{answer.kind} takes no challenge", f"write {answer.kind!r} alone"))
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
