"""The question of a blocked plan run, asked in the terminal (rule A4)."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, Literal

import typer

from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.reports.visible import lines, one_line
from verifyplan.runs.plan.ruling import Answer, Ask, Pause, checked_answer, read_answer

CLAIM_CHARACTERS = 200
"""Characters that are shown of a blocking challenge's claim and concern."""


class Blocked(StrEnum):
    """What to do where a BLOCKING challenge stands."""

    ask = "ask"
    pause = "pause"
    carry_on = "continue"


OnBlocked = Annotated[
    Blocked | None,
    typer.Option(
        help="ask asks here, the default in a terminal; pause stops and waits for `verifyplan resume --answer`; "
        "continue goes on, the default elsewhere."
    ),
]


def has_terminal() -> bool:
    """Whether somebody can read a question and type an answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def on_blocked_of(asked: Blocked | None) -> Literal["pause", "continue"] | Ask:
    """Return what `--on-blocked` means; without it, ask where there is a terminal, else continue.

    SettingsError for `ask` where nobody can answer.
    """
    if asked is None:
        asked = Blocked.ask if has_terminal() else Blocked.carry_on
    if asked is Blocked.ask and not has_terminal():
        fix = "use pause, and answer with `verifyplan resume RUN --answer ...`; or continue"
        raise SettingsError(Problem("--on-blocked", "ask needs a terminal, and this is none", fix))
    if asked is Blocked.ask:
        return ask
    return "pause" if asked is Blocked.pause else "continue"


def ask(pause: Pause) -> Answer | None:
    """Ask until an answer fits the pause; None, by a blank line or Ctrl-C, leaves the run waiting."""
    _say(f"\nThe run is blocked ({pause.pause_id}).", *lines(pause.question))
    for challenge in pause.challenges:
        _say(f"  {challenge.id}: {one_line(f'{challenge.claim} {challenge.concern}', CLAIM_CHARACTERS)}")
    first = pause.challenges[0].id
    _say(
        f"Answers: acknowledge:{first} (accept the risk), override:{first} (end the run without it), context (tell the",
        "agents something), abort. A blank line leaves the run waiting, for `verifyplan resume`.",
    )
    while True:
        try:
            said = typer.prompt("Answer", default="", show_default=False, err=True).strip()
            note = typer.prompt("Note", default="", show_default=False, err=True) if said else ""
        except typer.Abort:
            return None
        if not said:
            return None
        try:
            answer = read_answer(said, note)
            checked_answer(answer, pause)
        except InputError as error:
            _say(str(error))
        else:
            return answer


def _say(*texts: str) -> None:
    for text in texts:
        typer.echo(text, err=True)
