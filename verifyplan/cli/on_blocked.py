"""A blocked plan run: what `--on-blocked` does, and the question in the terminal (rule A4)."""

from __future__ import annotations

import sys
from typing import Literal

import typer

from verifyplan.cli.options import OnBlockedName
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.reports.visible import lines, one_line
from verifyplan.runs.plan.ruling import Answer, Ask, Pause, check_answer_fits, read_answer

MAX_CLAIM_CHARACTERS = 200
"""How much is shown of a blocking challenge's claim and concern."""


def has_terminal() -> bool:
    """Return whether somebody can read a question and type an answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def on_blocked_of(option: OnBlockedName | None) -> Literal["pause", "continue"] | Ask:
    """Return what `--on-blocked` means; without it, ask where there is a terminal, else continue.

    SettingsError for `ask` where nobody can answer.
    """
    if option is None:
        option = OnBlockedName.ask if has_terminal() else OnBlockedName.carry_on
    if option is OnBlockedName.ask and not has_terminal():
        fix = "use pause, and answer with `verifyplan resume RUN --answer ...`; or continue"
        raise SettingsError(Problem("--on-blocked", "ask needs a terminal, and there is none", fix))
    if option is OnBlockedName.ask:
        return ask
    return "pause" if option is OnBlockedName.pause else "continue"


def ask(pause: Pause) -> Answer | None:
    """Ask until an answer fits the pause; None, by a blank line or Ctrl-C, leaves the run waiting."""
    first = pause.challenges[0].id
    question = [
        f"\nThe run is blocked ({pause.pause_id}).",
        *lines(pause.question),
        *(
            f"  {each.id}: {one_line(f'{each.claim} {each.concern}', MAX_CLAIM_CHARACTERS)}"
            for each in pause.challenges
        ),
        f"Answers: acknowledge:{first} (accept the risk), override:{first} (end the run without it), context (tell the",
        "agents something), abort. A blank line leaves the run waiting, for `verifyplan resume`.",
    ]
    typer.echo("\n".join(question), err=True)
    while True:
        try:
            words = typer.prompt("Answer", default="", show_default=False, err=True).strip()
            note = typer.prompt("Note", default="", show_default=False, err=True) if words else ""
        except typer.Abort:
            return None
        if not words:
            return None
        try:
            answer = read_answer(words, note)
            check_answer_fits(answer, pause)
        except InputError as error:
            typer.echo(str(error), err=True)
        else:
            return answer
