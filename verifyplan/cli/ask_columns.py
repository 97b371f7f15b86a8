"""Ask at a terminal which column of a table of votes is which, and what its words mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from verifyplan.errors import InputError, Problem
from verifyplan.frames.own_words import TRUTHS, unread_truths
from verifyplan.frames.vote_files import NEEDED_COLUMNS, VOTE_COLUMNS, VoteNames, unread_words, words_beside_verdicts
from verifyplan.protocol.vote import VERDICTS
from verifyplan.reports.visible import one_line
from verifyplan.rules.answers import read_verdict
from verifyplan.text import counted

MAX_WORDS = 12
"""A column with more different words that are not verdicts is not a column of verdicts."""
SHOWN_CHARACTERS = 60

_MEANINGS = {"item": "what is voted on", "worker": "who votes", "verdict": "the vote"}
_OPTIONAL = tuple(name for name in VOTE_COLUMNS if name not in (*NEEDED_COLUMNS, "max_rounds"))


def ask_names(
    path: Path,
    table: pd.DataFrame,
    named: Mapping[str, str],
    guesses: Mapping[str, str],
    *,
    words_named: bool,
    truths_named: bool = False,
) -> VoteNames:
    """Return which column is which: those that are `named`, and those that the user names now, with their words.

    Enter accepts one of the `guesses`. Words are asked for unless an option names them. InputError if a `named` column
    of verdicts has too many words; for any other column, the user is asked again. Ctrl-C and the end of the input end
    the command.
    """
    columns = [str(column) for column in table]
    _say(f"{one_line(path, SHOWN_CHARACTERS)}: {counted(len(table), 'row')}. Its columns:")
    for number, column in enumerate(columns, 1):
        examples = ", ".join(table[column].dropna().astype("str").drop_duplicates().head(3))
        _say(f"  {number}  {one_line(column, SHOWN_CHARACTERS)}: {one_line(examples, SHOWN_CHARACTERS)}")
    answers = dict(named)
    for name in NEEDED_COLUMNS:
        if name not in named:
            guess = "" if guesses.get(name) in answers.values() else guesses.get(name, "")
            answers[name] = _ask_column(f"Which column is the {name}, {_MEANINGS[name]}", columns, guess)
    words = {} if words_named else _words_to_ask(table[answers["verdict"]])
    while len(words) > MAX_WORDS:
        message = f"column {answers['verdict']!r} has {len(words):,} words that are not verdicts"
        fix = "name the column of the votes; scores and long texts are read in Python, by from_votes(score=...)"
        if "verdict" in named:
            raise InputError(Problem(str(path), message, fix))
        _say(f"  {message}: {fix}.")
        answers["verdict"] = _ask_column(f"Which column is the verdict, {_MEANINGS['verdict']}", columns)
        words = _words_to_ask(table[answers["verdict"]])
    if set(columns) - set(answers.values()):
        answers |= _ask_more(columns, answers)
    if words:
        shown = ", ".join(f"{_shown(word)} ({counted(n, 'row')})" for word, n in words.items())
        _say(f"Words of column {one_line(answers['verdict'], SHOWN_CHARACTERS)!r}: {shown}.")
    verdicts = {word: _ask_verdict(word, n) for word, n in words.items()}
    truths = {} if truths_named or "truth" not in answers else _ask_truths(table[answers["truth"]], answers["truth"])
    return VoteNames(answers, verdicts, truths)


def _words_to_ask(verdicts: pd.Series[Any]) -> dict[str, int]:
    """Return the words to ask for: none if all are verdicts or labels, else all but the names of verdicts."""
    return words_beside_verdicts(verdicts) if unread_words(verdicts) else {}


def _ask_truths(values: pd.Series[Any], column: str) -> dict[str, bool | None]:
    """Return what the words of a column of truth mean; nothing for the usual words.

    For two words, asks which one means true; for more, what each means. Too many are left to the error of the reader,
    which names them.
    """
    words = unread_truths(values)
    if len(words) > MAX_WORDS:
        return {}
    shown = [f"{_shown(word)} ({counted(n, 'row')})" for word, n in words.items()]
    if len(words) != 2:
        return {word: TRUTHS[_ask_of(f"{text} means", TRUTHS)] for word, text in zip(words, shown, strict=True)}
    question = (
        f"Column {one_line(column, SHOWN_CHARACTERS)!r} holds {' and '.join(shown)}: which means that the claim is true"
    )
    true = _ask_of(question, words, listed=False)
    return {word: word == true for word in words}


def _ask_column(question: str, columns: Sequence[str], guess: str = "") -> str:
    """Return the column that the user gives by its name or number, or by Enter if there is a guess; else asks again."""
    offered = f"{question} (Enter: {one_line(guess, SHOWN_CHARACTERS)})" if guess else question
    while True:
        column = _column(_prompt(offered, guess), columns)
        if column is not None:
            return column
        _say("  There is no such column: type its name or its number.")


def _ask_more(columns: Sequence[str], named: Mapping[str, str]) -> dict[str, str]:
    """Return the further columns that the user names, as `truth=label,round=n`; a blank answer names none."""
    free = [name for name in _OPTIONAL if name not in named]
    example = ",".join(f"{name}=COLUMN" for name in free[:2])
    question = f"Others, as {example}, of {', '.join(free)} (Enter: none)"
    while free:
        parts = [part.partition("=") for part in _prompt(question).split(",") if part.strip()]
        found = dict[str, str | None]()
        for name, sign, column in parts:
            bare = None if sign else _column(name, columns)
            meaning = _ask_of(f"Column {one_line(bare, SHOWN_CHARACTERS)!r} is", free) if bare else name.strip()
            found[meaning] = bare or _column(column, columns)
        if all(name in free and column is not None for name, column in found.items()):
            return {name: column for name, column in found.items() if column is not None}
        _say("  Write name=column, or the name or number of a column, with commas between several, or press Enter.")
    return {}


def _ask_of(question: str, choices: Collection[str], *, listed: bool = True) -> str:
    """Return the choice that the user names; its first letters are enough."""
    while True:
        answer = _prompt(f"{question} {', '.join(choices)}" if listed else question).strip().strip("'").lower()
        exact = [choice for choice in choices if choice.lower() == answer]
        fitting = exact or [choice for choice in choices if answer and choice.lower().startswith(answer)]
        if len(fitting) == 1:
            return fitting[0]
        _say(f"  Type one of {', '.join(choices)}, or its first letters.")


def _ask_verdict(word: str, n: int) -> str:
    """Return the verdict that the user gives for a word; its first letters are enough, Enter accepts a label."""
    label = read_verdict(word)
    question = f"{_shown(word)} ({counted(n, 'row')}) means {', '.join(VERDICTS)}"
    while True:
        answer = _prompt(f"{question} [{label}]" if label else question, label or "").strip().lower()
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


def _shown(word: str) -> str:
    return f"{one_line(word, SHOWN_CHARACTERS)!r}" if word else "An empty cell"


def _prompt(question: str, default: str = "") -> str:
    """Return the answer, and `default` for Enter alone: without one, typer would ask again without a word."""
    return str(typer.prompt(question, err=True, default=default, show_default=False))


def _say(text: str) -> None:
    typer.echo(text, err=True)
