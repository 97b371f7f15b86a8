"""Whether a table of votes can be classified, with everything listed for which it cannot (rule B7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.errors import Problem, TableError, one_of
from verifyplan.frames.columns import as_truth
from verifyplan.protocol.vote import BASES, MODES, VERDICT_OF_LABEL, VERDICTS, Mode, read_mode
from verifyplan.rules.citations import cites_location
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


FINDING = ["run_id", "finding_id"]
PLAN_BODY = "plan-body"
"""The category of plan items, which have rules of their own (rule B10)."""


def finding_facts(votes: pd.DataFrame) -> tuple[pd.DataFrame, list[Problem]]:
    """Return truth, summary, category and discoverers, one row a finding that has any, and what does not fit.

    A column that the table lacks is missing throughout; discoverers are tuples of names.
    """
    keys = votes[FINDING] if any(name in votes for name in _READ) else votes[FINDING].iloc[:0]
    facts = keys.drop_duplicates().dropna().assign(discoverers=None)
    problems: list[Problem] = []
    for name, read in _READ.items():
        if name not in votes:
            continue
        try:
            values = read(votes[name])
        except TableError as error:
            problems += error.problems
            continue
        told = votes[FINDING].assign(**{name: values}).dropna().drop_duplicates()
        problems += _twice(told, FINDING, name)
        facts = facts.drop(columns=name, errors="ignore").merge(told.drop_duplicates(FINDING), on=FINDING, how="left")
    if "category" in votes and votes["category"].eq(PLAN_BODY).any():
        message = f"{PLAN_BODY!r} is the category of plan items, which have rules of their own"
        problems.append(Problem("votes: column category", message, "give another category, or none"))
    return facts, problems


def cite_places(explanations: pd.Series[Any]) -> npt.NDArray[np.bool_]:
    """Return whether each explanation cites a place; one that is missing cites none (rule B4)."""
    texts = explanations.astype("object")
    return texts.map(lambda text: isinstance(text, str) and cites_location(text)).to_numpy(dtype=bool)


def _truth(values: pd.Series[Any]) -> pd.Series[Any]:
    return as_truth(values, "votes: column truth")


def _text(values: pd.Series[Any]) -> pd.Series[Any]:
    return values.where(values.str.strip().ne("").fillna(True).astype(bool), None)


def _names(values: pd.Series[Any]) -> pd.Series[Any]:
    """Tuples of names from lists or from texts with semicolons or commas; None where there is none."""
    if values.map(pd.api.types.is_list_like).any():
        return values.map(lambda names: tuple(map(str, names)) or None if pd.api.types.is_list_like(names) else names)
    texts = values.astype("object").where(values.notna(), None)
    read = {text: _split(text) for text in texts.drop_duplicates().dropna()}
    return texts.map(read).astype("object")


def _split(text: object) -> tuple[str, ...] | None:
    return tuple(name.strip() for name in re.split("[;,]", str(text)) if name.strip()) or None


_READ: Mapping[str, Any] = {"truth": _truth, "summary": _text, "category": _text, "discoverers": _names}


def run_modes(votes: pd.DataFrame, whole_table: Mode | None) -> tuple[pd.Series[Any], list[Problem]]:
    """Return the mode of each run, by run id, from the column `mode` or for the whole table, and what does not fit."""
    if "mode" not in votes:
        runs = votes["run_id"].drop_duplicates().dropna()
        return pd.Series(whole_table, index=runs.to_numpy(), dtype="object"), []
    said = _text(votes["mode"])
    modes = {word: read_mode(word) for word in said.drop_duplicates().dropna()}
    odd = [word for word, mode in modes.items() if mode is None]
    if odd:
        return pd.Series(dtype="object"), [
            Problem("votes: column mode", f"holds {one_of(odd[:5])}", f"use {one_of(MODES)}, or leave it empty")
        ]
    told = votes[["run_id"]].assign(mode=said.map(modes)).dropna().drop_duplicates()
    return told.drop_duplicates("run_id").set_index("run_id")["mode"], _twice(told, ["run_id"], "mode")


def _twice(told: pd.DataFrame, key: list[str], name: str) -> list[Problem]:
    """A problem for the first finding or run of which the rows of a table say different things."""
    again = told[told.duplicated(key)]
    if again.empty:
        return []
    first = again.iloc[0]
    same = (told[key] == first[key]).all(axis=1)
    what = f"finding {first['finding_id']!r}" if "finding_id" in key else f"run {first['run_id']!r}"
    if name == "truth":
        return [Problem("votes: column truth", f"{what} is both true and false", "give each finding one truth")]
    shown = one_of(told.loc[same, name].head(3))
    others = f" ({len(again)} more rows differ so)" if len(again) > 1 else ""
    fix = f"give each {'finding' if 'finding_id' in key else 'run'} one {name}, or name the column of its run"
    return [Problem(f"votes: column {name}", f"{what} has several: {shown}{others}", fix)]
