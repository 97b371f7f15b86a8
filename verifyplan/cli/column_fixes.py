"""Say in an error which options read a table of votes: what its columns and words are, as far as can be guessed."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from verifyplan.errors import Problem, one_of
from verifyplan.frames.own_words import TRUTHS, plain_word, unread_truths
from verifyplan.frames.table_shape import worker_columns
from verifyplan.frames.ties import TIE
from verifyplan.frames.vote_files import NEEDED_COLUMNS, VoteNames, unread_words, words_beside_verdicts
from verifyplan.protocol.vote import VERDICTS
from verifyplan.rules.answers import read_verdict, spelling

MAX_WORDS = 12
"""A column with more different words that are not verdicts is not a column of verdicts."""
UNKNOWN = "COLUMN"
"""Shown in an option for a column that nothing suggests."""

MAX_GUESSED_ROUND = 20
"""A column with a higher number is not guessed to be the round."""

_USUAL_WORDS: Mapping[str, tuple[str, ...]] = {
    "verdict": ("verdict", "vote", "answer", "says", "said", "judgement", "judgment", "decision", "response", "label"),
    "worker": ("worker", "judge", "annotator", "rater", "reviewer", "model", "agent", "who", "voter", "user", "name"),
    "item": ("item", "claim", "finding", "question", "q", "task", "prompt", "statement", "case", "problem", "id"),
    "round": ("round", "turn", "iteration"),
    "truth": ("truth", "gold", "correct", "right", "expected", "reference", "true", "label"),
}
"""Words in names of columns, the best first; a verdict is looked for first and truth last, as both may be labels."""

_VERDICT_OF_WORD = {
    **dict.fromkeys(("yes", "y", "true", "1", "correct", "right", "valid", "supported", "pass", "accept"), "agree"),
    **dict.fromkeys(("no", "n", "false", "0", "incorrect", "wrong", "invalid", "fail", "reject"), "disagree"),
    "": "verification-error",
}


def command_fix(table: pd.DataFrame, named: Mapping[str, str], *, words_named: bool, truths_named: bool) -> str:
    """Return the command of this process with the options that would read a table, filled with the best guesses.

    `named` are the columns that say themselves what they are.
    """
    columns = guessed_columns(table, named)
    workers = worker_columns(table, named.values()) if "worker" not in columns else []
    shown = {name: columns.get(name, UNKNOWN) for name in NEEDED_COLUMNS} | columns
    words, notes = ["--columns", pairs_text(shown)], list[str]()
    unread = unread_words(table[columns["verdict"]]) if "verdict" in columns and not words_named else {}
    if unread:
        every = words_beside_verdicts(table[columns["verdict"]])  # those that are known, too, to be checked
        pairs = {word: read_verdict(word) or _VERDICT_OF_WORD.get(plain_word(word), "VERDICT") for word in every}
        words += ["--verdicts", pairs_text(pairs)]
        notes += [f"each VERDICT is {_any_of((*VERDICTS, TIE))}"] if "VERDICT" in pairs.values() else []
    unsure = unread_truths(table[columns["truth"]]) if "truth" in columns and not truths_named else {}
    if unsure:
        words += ["--truths", pairs_text(dict.fromkeys(unsure, "TRUTH"))]
        notes += [f"each TRUTH is {_any_of(TRUTHS)}"]
    notes += [f"the columns are {one_of(list(table))}"]
    command = shlex.join(["verifyplan", *sys.argv[1:], *words])
    wide = f"; if {one_of(workers[:4])} are workers, write a row for each vote (item, worker, verdict)"
    return f"name them; these are guesses, so check them: {command} ({'; '.join(notes)}){wide if workers else ''}"


def guessed_columns(table: pd.DataFrame, named: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that seem to be the item, worker, verdict, round and truth, with those that are `named`."""
    found = dict(named)
    for name in _USUAL_WORDS:
        if name not in found:
            candidates = _candidates(table, name, found)
            if name == "round":
                candidates += _round_columns(table, found)
            found |= {name: candidates[0]} if candidates else {}
    return {name: found[name] for name in (*NEEDED_COLUMNS, *found) if name in found}


def _candidates(table: pd.DataFrame, name: str, found: Mapping[str, str]) -> list[str]:
    """Return the free columns with a usual word in their names and values that may have the meaning, best first."""
    parts = {
        column: {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", column)}
        for column in table
        if isinstance(column, str) and column not in found.values()
    }
    usual = (column for word in _USUAL_WORDS[name] for column, words in parts.items() if word in words)
    return [column for column in usual if _may_be(table, name, column, found.get("item"))]


def _may_be(table: pd.DataFrame, name: str, column: str, item: str | None) -> bool:
    """Return whether the values of a column may have a meaning: verdicts are few words, truth is one for each item."""
    values = table[column]
    if name == "verdict":
        return len(unread_words(values)) <= MAX_WORDS
    if name == "truth":
        return values.nunique() <= MAX_WORDS and (item is None or values.groupby(table[item]).nunique().max() <= 1)
    return True


def _round_columns(table: pd.DataFrame, found: Mapping[str, str]) -> list[str]:
    """Return the free columns of small integers that tell repeated votes of a worker on an item apart.

    >>> votes = pd.DataFrame({"claim": ["c1", "c1"], "judge": ["a", "a"], "pass": [1, 2], "score": [3, 3]})
    >>> _round_columns(votes, {"item": "claim", "worker": "judge"})
    ['pass']
    """
    key = [found[name] for name in ("item", "worker", "run") if name in found]
    if not {"item", "worker"} <= found.keys() or not table.duplicated(key).any():
        return []
    free = (column for column in table if isinstance(column, str) and column not in found.values())
    return [column for column in free if _are_rounds(table[column]) and not table.duplicated([*key, column]).any()]


def _are_rounds(values: pd.Series[Any]) -> bool:
    numbers = pd.to_numeric(values, errors="coerce")
    return bool(numbers.isin(range(1, MAX_GUESSED_ROUND + 1)).all())


def shell_fix(problem: Problem, names: VoteNames, table: pd.DataFrame) -> Problem:
    """Return a problem of a table of votes; where its fix is a call of Python, the fix is an option of a command."""
    if problem.place == "votes: column verdict" and (unread := _unread(names, table)):
        return replace(problem, fix=f"say what your words mean: {_words_fix(unread, names.verdicts)}")
    if problem.place == "votes: ties" and "nothing says" in problem.message:
        return replace(
            problem, fix="say it by --ties against, for, share or lost, and name the reading with your figures"
        )
    if problem.place == "votes: column truth" and problem.message.startswith("holds "):
        return replace(problem, fix=_truths_fix(list(unread_truths(table[names.columns["truth"]]))))
    if problem.place == "votes: column mode" and names.columns.get("mode"):
        fix = "use collaborative or adversarial, or leave it empty; if they are conditions, write a file for each"
        return replace(problem, fix=f"{fix}, and name another column, or none, as mode=")
    if problem.place == "votes: worker" and "the key of another" in problem.message:
        free = [name for name in ("round", "run") if name not in names.columns]
        option = shlex.quote(pairs_text({**names.columns, free[0]: UNKNOWN})) if free else ""
        fixes = [f"name the column of the {' or the '.join(free)}, as --columns {option}"] if free else []
        fixes += ["if the table holds several conditions (modes, prompts), write a file for each"]
        return replace(problem, fix="; ".join([*fixes, "only if a vote really is there twice, drop one"]))
    return problem


def _unread(names: VoteNames, table: pd.DataFrame) -> list[str]:
    """Return the words of the verdict column that neither are verdicts nor have a named meaning."""
    column, named = names.columns.get("verdict", ""), set(map(spelling, names.verdicts))
    return [word for word in unread_words(table[column]) if spelling(word) not in named] if column in table else []


def _words_fix(unread: Collection[str], named: Mapping[str, str]) -> str:
    """Return the option that says what words mean; each meaning is left open, as a guess could invert votes."""
    if len(unread) > MAX_WORDS:
        return "--verdicts yes=agree,no=disagree (your words on the left)"
    pairs = dict(named) | {word: "VERDICT" if word else "verification-error" for word in unread}
    open_ones = f", each VERDICT {_any_of((*VERDICTS, TIE))}" if any(unread) else ""
    blank = ", if every empty cell is a lost vote" if "" in unread else ""
    return f"--verdicts {shlex.quote(pairs_text(pairs))}{open_ones}{blank}"


def _truths_fix(words: Collection[str]) -> str:
    """Return the option that says what words for truth mean; which of them is true is left open."""
    pairs = pairs_text(dict.fromkeys(words, "TRUTH")) if 0 < len(words) <= MAX_WORDS else "correct=true,wrong=false"
    known = "true/false, yes/no, 1/0, correct/incorrect, right/wrong and valid/invalid are known"
    return f"say what your words mean: --truths {shlex.quote(pairs)}, each TRUTH {_any_of(TRUTHS)}; {known}"


def pairs_text(named: Mapping[str, str]) -> str:
    """Return pairs as an option has them.

    >>> pairs_text({"item": "claim", "worker": "judge"})
    'item=claim,worker=judge'
    """
    return ",".join(f"{name}={value}" for name, value in named.items())


def _any_of(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}"
