"""Ask at a terminal which column of a table of votes is what, and what its words for verdicts mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from verifyplan.errors import InputError, Problem
from verifyplan.frames.vote_files import NEEDED_COLUMNS, VOTE_COLUMNS, VoteNames, unread_words
from verifyplan.protocol.vote import VERDICTS
from verifyplan.reports.visible import one_line
from verifyplan.text import counted

MAX_WORDS = 12
"""A column with more different words that are no verdicts is no column of verdicts."""
SHOWN_CHARACTERS = 60

_MEANINGS = {"item": "what is voted on", "worker": "who votes", "verdict": "the vote"}
_OPTIONAL = tuple(name for name in VOTE_COLUMNS if name not in (*NEEDED_COLUMNS, "max_rounds"))


def ask_names(path: Path, table: pd.DataFrame, named: Mapping[str, str], *, words_named: bool) -> VoteNames:
    """Return which column is what: those that are `named`, and those that somebody names now, with their words.

    Words are asked for unless an option names them. InputError where the verdicts are no few words. Ctrl-C and the end
    of the input end the command.
    """
    columns = [str(column) for column in table]
    _say(f"{one_line(path, SHOWN_CHARACTERS)}: {counted(len(table), 'row')}. Its columns:")
    for number, column in enumerate(columns, 1):
        examples = ", ".join(table[column].dropna().astype("str").drop_duplicates().head(3))
        _say(f"  {number}  {one_line(column, SHOWN_CHARACTERS)}: {one_line(examples, SHOWN_CHARACTERS)}")
    answers = dict(named)
    for name in NEEDED_COLUMNS:
        if name not in named:
            answers[name] = _ask_column(f"Which column is the {name}, {_MEANINGS[name]}", columns)
    if set(columns) - set(answers.values()):
        answers |= _ask_more(columns, answers)
    words = {} if words_named else unread_words(table[answers["verdict"]])
    if len(words) > MAX_WORDS:
        message = f"column {answers['verdict']!r} has {len(words):,} words that are no verdicts"
        fix = "name the column of the votes; scores and long texts are read in Python, by from_votes(score=...)"
        raise InputError(Problem(str(path), message, fix))
    return VoteNames(answers, {word: _ask_verdict(word, n) for word, n in words.items()})


def _ask_column(question: str, columns: Sequence[str]) -> str:
    """Return the column that somebody names, by its name or its number; other answers are asked for again."""
    while True:
        column = _column(_prompt(question), columns)
        if column is not None:
            return column
        _say("  That is no column: type its name or its number.")


def _ask_more(columns: Sequence[str], named: Mapping[str, str]) -> dict[str, str]:
    """Return the further columns that somebody names, as `truth=label,round=n`; blank for none."""
    free = [name for name in _OPTIONAL if name not in named]
    example = ",".join(f"{name}=COLUMN" for name in free[:2])
    question = f"Others, as {example}, of {', '.join(free)} (Enter: none)"
    while free:
        parts = [part.partition("=") for part in _prompt(question, "").split(",") if part.strip()]
        found = {name.strip(): _column(column, columns) for name, _, column in parts}
        if all(name in free and column is not None for name, column in found.items()):
            return {name: column for name, column in found.items() if column is not None}
        _say("  Write name=column, with commas between several, or press Enter.")
    return {}


def _ask_verdict(word: str, n: int) -> str:
    """Return the verdict of a word, of which the first letters suffice."""
    shown = f"{one_line(word, SHOWN_CHARACTERS)!r}" if word else "An empty cell"
    while True:
        answer = _prompt(f"{shown} ({counted(n, 'row')}) means {', '.join(VERDICTS)}").strip().lower()
        fitting = [verdict for verdict in VERDICTS if answer and verdict.startswith(answer)]
        if len(fitting) == 1:
            return fitting[0]
        _say("  Type one of the four, or its first letter.")


def _column(answer: str, columns: Sequence[str]) -> str | None:
    """Return the column of this name, in any case, or of this number; None if there is none."""
    answer = answer.strip()
    if answer in columns:
        return answer
    if answer.isdecimal() and 1 <= int(answer) <= len(columns):
        return columns[int(answer) - 1]
    return next((column for column in columns if column.strip().lower() == answer.lower()), None)


def _prompt(question: str, default: str | None = None) -> str:
    options: dict[str, Any] = {} if default is None else {"default": default, "show_default": False}
    return str(typer.prompt(question, err=True, **options))


def _say(text: str) -> None:
    typer.echo(text, err=True)
