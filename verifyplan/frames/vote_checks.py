"""Whether a table of votes can be classified, with everything listed for which it cannot (rule B7)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from verifyplan.errors import Problem, TableError, one_of
from verifyplan.protocol.vote import BASES, VERDICT_OF_LABEL, VERDICTS
from verifyplan.text import counted, did_you_mean

NEEDED = ("run_id", "finding_id", "round", "worker", "verdict", "disagree_basis")
"""The columns that an analysis of votes cannot do without."""


def check_votes(votes: pd.DataFrame) -> None:
    """Raise TableError, listing all problems, unless `votes` can be classified (rule B7).

    Needed columns: `run_id, finding_id, round, worker, verdict, disagree_basis`. Rounds are whole numbers from 1.
    Whether they have gaps, and whether a worker votes twice on a finding in a round, is checked as votes are
    tallied; where votes carry an `iteration`, in each iteration by itself.
    """
    problems = vote_problems(votes)
    if problems:
        raise TableError(problems)


def vote_problems(votes: pd.DataFrame) -> list[Problem]:
    """Return everything for which `check_votes` refuses a table; none for one that can be classified."""
    missing = [name for name in NEEDED if name not in votes]
    if missing:
        have = one_of(votes.columns[:12])
        fix = f"add it, empty where nothing is known; the table has {have}; or use from_votes to rename columns"
        return [Problem(f"votes: column {name}", "is missing", fix) for name in missing]
    problems = [
        *_outside(votes, "verdict", VERDICTS, empty_allowed=False),
        *_outside(votes, "disagree_basis", BASES, empty_allowed=True),
        *_empty(votes, [name for name in ("run_id", "iteration", "finding_id", "worker") if name in votes]),
    ]
    rounds = pd.to_numeric(votes["round"], errors="coerce").to_numpy(dtype="float64", na_value=np.nan)
    bad = ~((rounds >= 1) & (rounds < 2**31) & (rounds == np.floor(rounds)))
    if bad.any():
        row = int(bad.argmax())
        message = f"{votes['round'].iloc[row]} in row {row} is no round ({int(bad.sum())} such)"
        problems.append(Problem("votes: column round", message, "number the rounds 1, 2, 3"))
    return problems


def _outside(votes: pd.DataFrame, name: str, allowed: tuple[str, ...], *, empty_allowed: bool) -> list[Problem]:
    values = votes[name].drop_duplicates()
    problems = []
    if not empty_allowed and values.isna().any():
        message = f"is empty in {_rows(votes, votes[name].isna())}"
        fix = "write 'verification-error' for a vote that gave no result" + (
            BLANK_VERDICTS if name == "verdict" else ""
        )
        problems.append(Problem(f"votes: column {name}", message, fix))
    unknown = sorted(str(value) for value in values.dropna() if value not in allowed)
    if unknown:
        near = did_you_mean(unknown[0], [*allowed, *VERDICT_OF_LABEL] if name == "verdict" else allowed)
        message = f"holds {one_of(unknown[:5])}{near} in {_rows(votes, votes[name].isin(unknown))}"
        labels = _own_words(unknown) if name == "verdict" else ""
        fix = f"use {one_of(allowed)}{labels}{', or leave it empty' if empty_allowed else ''}"
        problems.append(Problem(f"votes: column {name}", message, fix))
    return problems


BLANK_VERDICTS = (
    " (in from_votes by verdicts={'': 'verification-error'}, in a shell by --verdicts =verification-error, "
    "if every blank cell is a lost vote)"
)
MAX_SHOWN_WORDS = 20


def _own_words(words: list[str]) -> str:
    """How to say what a table's own words stand for; which verdict is left open, as a guess could turn votes round."""
    meaning = "<agree, disagree or supplement>"
    each = ", ".join(f"{word!r}: {meaning}" for word in words[:MAX_SHOWN_WORDS])
    more = ", ..." if len(words) > MAX_SHOWN_WORDS else ""
    return f" (or, in from_votes, SURVIVES, SURVIVES-WITH-CAVEAT, REFUTED, and verdicts={{{each}{more}}})"


def _rows(votes: pd.DataFrame, wrong: pd.Series[Any]) -> str:
    """How many rows are wrong, and which vote the first of them is."""
    mask = wrong.to_numpy(dtype=bool)
    first = votes.iloc[int(mask.argmax())]
    vote = f"{first['worker']} on {first['finding_id']}"
    return f"{counted(int(mask.sum()), 'row')}, the first is row {int(mask.argmax())} ({vote})"


def _empty(votes: pd.DataFrame, names: list[str]) -> list[Problem]:
    return [
        Problem(f"votes: column {name}", f"is empty in {_rows(votes, votes[name].isna())}", "fill it, or drop the row")
        for name in names
        if votes[name].isna().any()
    ]
