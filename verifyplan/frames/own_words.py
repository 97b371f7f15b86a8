"""Read the words of a table for verdicts and for truth: those that mean it anyway, and the caller's own (rule E4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from verifyplan.errors import Problem, TableError, one_of
from verifyplan.frames.columns import as_text
from verifyplan.frames.ties import TIE
from verifyplan.protocol.vote import VERDICTS
from verifyplan.rules.answers import read_verdict
from verifyplan.text import did_you_mean

_PAIRS = (
    ("true", "false"),
    ("yes", "no"),
    ("1", "0"),
    ("correct", "incorrect"),
    ("right", "wrong"),
    ("valid", "invalid"),
)
_TRUTH = {word: word == pair[0] for pair in _PAIRS for word in pair}
TRUTHS: Mapping[str, bool | None] = {"true": True, "false": False, "unknown": None}
"""What a word for truth may mean; unknown is as an empty cell."""


def plain_word(word: object) -> str:
    """Return a word of a table as it is looked up: 1 and 1.0, Yes and yes are the same.

    >>> plain_word(1.0), plain_word(" Yes")
    ('1', 'yes')
    """
    text = str(word).strip().lower()
    return text[:-2] if text.endswith(".0") and text[:-2].lstrip("-").isdigit() else text


def own_verdicts(verdicts: Mapping[Any, str] | None) -> tuple[dict[str, str], list[Problem]]:
    """Return the verdict of each of the caller's words, or `tie`, and what is wrong with them."""
    words: dict[str, str] = {}
    problems: list[Problem] = []
    if verdicts is not None and not isinstance(verdicts, Mapping):
        message = f"is a {type(verdicts).__name__}, not a mapping"
        return words, [Problem("votes: verdicts", message, "write each word and its verdict, as {'yes': 'agree'}")]
    for word, name in (verdicts or {}).items():
        place = f"votes: verdicts[{word!r}]"
        verdict = TIE if plain_word(name) == TIE else read_verdict(name)
        if verdict is None:
            near = did_you_mean(name, VERDICTS)
            problems.append(Problem(place, f"{name!r} is not a verdict{near}", f"use {one_of([*VERDICTS, TIE])}"))
        elif words.setdefault(plain_word(word), verdict) != verdict:
            message = f"means {verdict!r} and, in another spelling, {words[plain_word(word)]!r}"
            problems.append(Problem(place, message, "give each word one verdict; case and spaces do not matter"))
    return words, problems


_READ_AS_MISSING = frozenset({"#n/a", "<na>", "n/a", "na", "nan", "none", "null"})
"""Words that pandas.read_csv takes for empty cells, unless it is told not to."""


def told_of_pandas(problem: Problem, verdicts: Mapping[Any, str] | None) -> Problem:
    """Return a problem of empty verdicts with a further fix where one of the caller's words is lost by pandas."""
    lost = [word for word in verdicts or () if plain_word(word) in _READ_AS_MISSING]
    if not lost or problem.place != "votes: column verdict" or not problem.message.startswith("is empty in "):
        return problem
    fix = (
        f"pandas.read_csv reads {one_of(lost)} as an empty cell, so read the file with keep_default_na=False, or give "
        f"'' a verdict in place of it; else {problem.fix}"
    )
    return replace(problem, fix=fix)


def own_truths(truths: Mapping[Any, Any] | None, place: str = "truths") -> tuple[dict[str, bool | None], list[Problem]]:
    """Return what each of the caller's words says of a finding, and what is wrong with them.

    >>> own_truths({"correct": True, "Wrong": "false", "unclear": None})[0]
    {'correct': True, 'wrong': False, 'unclear': None}
    """
    words: dict[str, bool | None] = {}
    if truths is not None and not isinstance(truths, Mapping):
        message = f"is a {type(truths).__name__}, not a mapping"
        return words, [Problem(place, message, "write each word and its truth, as {'correct': True, 'wrong': False}")]
    problems: list[Problem] = []
    for word, value in (truths or {}).items():
        name = "unknown" if value is None else plain_word(value)
        if name not in TRUTHS:
            fix = "use True, False, or None where a word leaves it open"
            problems.append(Problem(f"{place}[{word!r}]", f"{value!r} is neither true nor false", fix))
        elif words.setdefault(plain_word(word), TRUTHS[name]) is not TRUTHS[name]:
            fix = "give each word one truth; case and spaces do not matter"
            problems.append(Problem(f"{place}[{word!r}]", f"means {name} and, in another spelling, the opposite", fix))
    return words, problems


def as_truth(values: pd.Series[Any], place: str, truths: Mapping[Any, Any] | None = None) -> pd.Series[Any]:
    """Return truth from booleans, 0 and 1, or words: the usual pairs in any case, or those that `truths` names.

    The usual pairs: true/false, yes/no, correct/incorrect or wrong, right/wrong, valid/invalid. Where `truths` names
    words, it goes before these. TableError at `place` for anything else.

    >>> as_truth(pd.Series([1, "False", None]), "column truth").tolist()
    [True, False, <NA>]
    >>> as_truth(pd.Series(["holds", "Broken"]), "column truth", {"holds": True, "broken": False}).tolist()
    [True, False]
    """
    own, problems = own_truths(truths)
    if problems:
        raise TableError(problems)
    column = as_text(values) if values.dtype == "object" else values  # 1, True and "1" are different words
    codes, different = pd.factorize(column)
    words = [plain_word(text) for text in as_text(pd.Series(different))]  # each is read once
    known: dict[str, bool | None] = {**_TRUTH, **own, "": None}
    unknown = [*dict.fromkeys(word for word in words if word not in known)]
    if unknown:
        usual = ", ".join("/".join(pair) for pair in _PAIRS)
        pairs = ", ".join(f"{word!r}: <True or False>" for word in unknown[:5])
        fix = f"say what your words mean, as truths={{{pairs}}}, or use one of {usual}, or leave it empty"
        raise TableError(Problem(place, f"holds {one_of(unknown[:5])}", fix))
    truths_read = pd.array([*(known[word] for word in words), None], dtype="boolean")  # code -1 is the last
    return pd.Series(truths_read[codes], index=values.index, name=values.name)


def unread_truths(values: pd.Series[Any]) -> dict[str, int]:
    """Return the words of a column of truth and in how many rows each is, where some are none of the usual ones.

    None where the usual ones are all that is in it, empty cells aside.

    >>> unread_truths(pd.Series(["holds", "broken", "holds", None])), unread_truths(pd.Series(["Right", "wrong"]))
    ({'holds': 2, 'broken': 1}, {})
    """
    counts = as_text(values).str.strip().replace("", None).value_counts(sort=False)
    words = {str(word): int(n) for word, n in counts.items()}
    return {} if all(plain_word(word) in _TRUTH for word in words) else words
