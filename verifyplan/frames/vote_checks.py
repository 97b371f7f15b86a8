"""Check a table of votes, and read from it what is the same in all rows of a finding or a run (rules B7, E4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from verifyplan.errors import Problem, TableError, one_of
from verifyplan.frames.codes import first_rows
from verifyplan.frames.own_words import as_truth
from verifyplan.frames.table_files import IS_CSV
from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.vote import BASES, MODES, VERDICT_OF_LABEL, VERDICTS, Mode
from verifyplan.rules.answers import read_mode
from verifyplan.rules.citations import CITATION, cites_location
from verifyplan.text import counted, did_you_mean

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.integer[Any]]

NEEDED = ("run_id", "finding_id", "round", "worker", "verdict", "disagree_basis")
"""The columns that an analysis of votes cannot do without."""

FINDING = ["run_id", "finding_id"]
"""The columns that name a finding."""

"""The category of plan items, which have rules of their own (rule B10)."""

BLANK_VERDICTS = (
    " (in from_votes by verdicts={'': 'verification-error'}, in a shell by --verdicts =verification-error, "
    "if every blank cell is a lost vote)"
)
MAX_SHOWN_WORDS = 20
FIRST_LINE = 2
"""The line of a CSV under its header."""


class VoteNumbers(NamedTuple):
    """Numbers that the findings and workers of a table of votes have got already; arrays have one entry a vote."""

    finding: npt.NDArray[np.int64]
    """The number of the finding, from 0 in order of appearance."""
    worker: npt.NDArray[np.int64]
    """The position in `workers`."""
    workers: Sequence[str]
    """The names of the workers, in order of appearance."""
    findings: pd.DataFrame | None = None
    """The key of each finding, where it has been made."""


def check_votes(votes: pd.DataFrame) -> None:
    """Raise TableError, listing all problems, unless `votes` can be classified (rule B7).

    Needed columns: `run_id, finding_id, round, worker, verdict, disagree_basis`. Rounds are whole numbers from 1.
    Whether they have gaps, and whether a worker votes twice on a finding in a round, is checked as votes are
    tallied; where votes carry an `iteration`, in each iteration by itself.
    """
    problems = vote_problems(votes)
    if problems:
        raise TableError(problems)


def vote_problems(votes: pd.DataFrame, name_row: Callable[[int], str] | None = None) -> list[Problem]:
    """Return everything for which `check_votes` refuses a table; none for one that can be classified.

    `name_row` says how people know a row, by its position; by default as `row_name` does.
    """
    name_row = name_row or partial(row_name, votes)
    missing = [name for name in NEEDED if name not in votes]
    if missing:
        have = one_of(votes.columns[:12])
        fix = f"add it, empty where nothing is known; the table has {have}; or use from_votes to rename columns"
        return [Problem(f"votes: column {name}", "is missing", fix) for name in missing]
    problems = [
        *_empty(
            votes, name_row, ["verdict"], f"write 'verification-error' for a vote that gave no result{BLANK_VERDICTS}"
        ),
        *_unknown(votes, name_row, "verdict", VERDICTS),
        *_unknown(votes, name_row, "disagree_basis", BASES),
        *_empty(votes, name_row, ["run_id", "iteration", "finding_id", "worker"], "fill it, or drop the row"),
    ]
    bad = _are_no_rounds(votes["round"])
    if bad.any():
        row = int(bad.argmax())
        message = f"{votes['round'].iloc[row]} in {name_row(row)} is not a round ({int(bad.sum())} such)"
        problems.append(Problem("votes: column round", message, "number the rounds 1, 2, 3"))
    return problems


def _are_no_rounds(rounds: pd.Series[Any]) -> Bools:
    """Return whether each value is something else than a whole number from 1."""
    if pd.api.types.is_integer_dtype(rounds.dtype) and not rounds.hasnans:
        whole = rounds.to_numpy()
        return np.asarray((whole < 1) | (whole >= 2**31), dtype=bool)
    numbers = pd.to_numeric(rounds, errors="coerce").to_numpy(dtype="float64", na_value=np.nan)
    return np.asarray(~((numbers >= 1) & (numbers < 2**31) & (numbers == np.floor(numbers))), dtype=bool)


def _empty(votes: pd.DataFrame, name_row: Callable[[int], str], names: list[str], fix: str) -> list[Problem]:
    return [
        Problem(f"votes: column {name}", f"is empty in {_rows(votes, name_row, votes[name].isna())}", fix)
        for name in names
        if name in votes and votes[name].isna().any()
    ]


def _unknown(votes: pd.DataFrame, name_row: Callable[[int], str], name: str, allowed: tuple[str, ...]) -> list[Problem]:
    if isinstance(votes[name].dtype, pd.CategoricalDtype) and set(votes[name].cat.categories) <= set(allowed):
        return []
    unknown = sorted(str(value) for value in votes[name].drop_duplicates().dropna() if value not in allowed)
    if not unknown:
        return []
    fix, known = f"use {one_of(allowed)}, or leave it empty", list(allowed)
    if name == "verdict":  # the verdict of a word is left open: a guess could turn votes round
        words = ", ".join(f"{word!r}: <agree, disagree or supplement>" for word in unknown[:MAX_SHOWN_WORDS])
        more = ", ..." if len(unknown) > MAX_SHOWN_WORDS else ""
        labels = f"SURVIVES, SURVIVES-WITH-CAVEAT, REFUTED, and verdicts={{{words}{more}}}"
        fix, known = f"use {one_of(allowed)} (or, in from_votes, {labels})", [*allowed, *VERDICT_OF_LABEL]
    message = f"holds {one_of(unknown[:5])}{did_you_mean(unknown[0], known)}"
    return [Problem(f"votes: column {name}", f"{message} in {_rows(votes, name_row, votes[name].isin(unknown))}", fix)]


def _rows(votes: pd.DataFrame, name_row: Callable[[int], str], wrong: pd.Series[Any]) -> str:
    """Return how many rows are wrong, and which vote the first of them is."""
    mask = wrong.to_numpy(dtype=bool)
    first = votes.iloc[int(mask.argmax())]
    vote = f"{first['worker']} on {first['finding_id']}"
    return f"{counted(int(mask.sum()), 'row')}, the first is {name_row(int(mask.argmax()))} ({vote})"


def row_name(table: pd.DataFrame, row: int) -> str:
    """Return how people know a row of a table by its position: the line of the CSV that it is from, or its index.

    >>> row_name(pd.DataFrame({"q": [1, 2]}, index=[7, 8]), 1)
    'row 8 (index)'
    """
    if not table.attrs.get(IS_CSV, False):
        return f"row {table.index[row]} (index)"
    texts = table.iloc[:row].select_dtypes(["str", "object"])
    breaks = sum(int(texts[name].astype("str").str.count("\n").sum()) for name in texts)
    return f"line {FIRST_LINE + row + breaks}"


def finding_facts(
    votes: pd.DataFrame, finding: Ints, n: int, truths: Mapping[str, bool | None]
) -> tuple[dict[str, Any], list[Problem]]:
    """Return truth, summary, category and discoverers, those that the table has, and what does not fit.

    Each is an array of a value for each of the n findings; discoverers are tuples of names. `finding` numbers the
    finding of each vote, -1 where a vote has none; `truths` are words of the caller's for truth.
    """
    facts: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, read in _READERS.items():
        if name not in votes:
            continue
        try:
            codes, values = read(votes[name], truths)
        except TableError as error:
            problems += error.problems
            continue
        of_finding, fact_problems = _code_of_each(votes, FINDING, name, finding, n, codes, values)
        problems += fact_problems
        facts[name] = pd.api.extensions.take(values, of_finding, allow_fill=True)
    if "category" in votes and PLAN_BODY in votes["category"].cat.categories:
        message = f"{PLAN_BODY!r} is the category of plan items, which have rules of their own"
        problems.append(Problem("votes: column category", message, "give another category, or none"))
    return facts, problems


def cite_places(explanations: pd.Series[Any]) -> Bools:
    """Return whether each explanation cites a place; one that is missing cites none (rule B4).

    >>> cite_places(pd.Series(["a.py:3", "файл.py:3", None, "the check is missing"], dtype="str")).tolist()
    [True, True, False, False]
    """
    if explanations.dtype != "str":
        return np.array([isinstance(text, str) and cites_location(text) for text in explanations], dtype=bool)
    texts = pa.array(explanations)
    cites = pc.match_substring_regex(texts, CITATION.pattern)  # letters and figures are those of ASCII here
    others = np.flatnonzero(pc.invert(pc.string_is_ascii(texts)).fill_null(False).to_numpy(zero_copy_only=False))
    found = np.array(cites.fill_null(False).to_numpy(zero_copy_only=False), dtype=bool)
    found[others] = [cites_location(text) for text in texts.take(pa.array(others)).to_pylist()]
    return found


def _truth_codes(values: pd.Series[Any], truths: Mapping[str, bool | None]) -> tuple[Codes, Any]:
    truth = as_truth(values, "votes: column truth", truths)
    return truth.to_numpy(np.int8, na_value=-1), pd.array([False, True], dtype="boolean")


def _text_codes(values: pd.Series[Any], _: object) -> tuple[Codes, Any]:
    return values.cat.codes.to_numpy(), values.cat.categories.array


def _name_codes(values: pd.Series[Any], _: object) -> tuple[Codes, Any]:
    """Return the code of each value, -1 for a missing one, and what the codes mean: tuples of names.

    Names are in lists or in texts with semicolons or commas; a text among lists is kept as it is. Each different text
    and each list, which is often one object in many rows, is read once.
    """
    listed = values.dtype == "object" and bool(values.map(pd.api.types.is_list_like).any())
    keys = np.fromiter(map(id, values.to_numpy()), np.int64, len(values)) if listed else values
    numbers = np.asarray(pd.factorize(keys)[0])
    names = [
        tuple(map(str, value)) or None
        if pd.api.types.is_list_like(value)
        else value
        if listed
        else tuple(name.strip() for name in re.split("[;,]", str(value)) if name.strip()) or None
        for value in values.iloc[first_rows(numbers)]
    ]
    codes, different = pd.factorize(pd.Series(names, dtype="object").to_numpy())
    return np.append(codes, -1)[numbers], different


_READERS: Mapping[str, Callable[..., tuple[Codes, Any]]] = {
    "truth": _truth_codes,
    "summary": _text_codes,
    "category": _text_codes,
    "discoverers": _name_codes,
}
"""The readers of the columns of facts about findings: each returns a code a vote, -1 for none, and their values."""


def run_modes(votes: pd.DataFrame, whole_table: Mode | None, own: object) -> tuple[pd.Series[Any], list[Problem]]:
    """Return the mode of each run, by run id, from the column `mode` or for the whole table, and what does not fit.

    `own` is the name that the column has in the caller's table.
    """
    runs = votes["run_id"].cat
    if "mode" not in votes:
        return pd.Series(whole_table, index=runs.categories, dtype="object"), []
    words = votes["mode"].cat
    modes = [read_mode(word) for word in words.categories]
    unknown = [word for word, mode in zip(words.categories, modes, strict=True) if mode is None]
    if unknown:
        message = f"holds {one_of(unknown[:5])}" + (f" (your column {own!r})" if own != "mode" else "")
        fix = (
            f"use {one_of(MODES)}, or leave it empty; if they are conditions of your own, leave mode= out, make runs "
            "of each, and compare these: "
            f"compare({{name: from_votes(rows, ...) for name, rows in table.groupby({own!r})}})"
        )
        return pd.Series(dtype="object"), [Problem("votes: column mode", message, fix)]
    codes, values = pd.factorize(np.array([*modes, None], dtype="object"))  # code -1 is the last
    of_run, problems = _code_of_each(
        votes, ["run_id"], "mode", runs.codes.to_numpy(), len(runs.categories), codes[words.codes], values
    )
    of_runs = pd.api.extensions.take(values, of_run, allow_fill=True)
    return pd.Series(of_runs, index=runs.categories, dtype="object"), problems


def _code_of_each(
    votes: pd.DataFrame, key: list[str], name: str, group: Codes, n: int, codes: Codes, values: Any
) -> tuple[Ints, list[Problem]]:
    """Return the first code of each of n findings or runs, -1 for none, and a problem where one has several."""
    known = np.flatnonzero((codes >= 0) & (group >= 0))
    codes, group = codes[known], group[known]
    of_each = np.full(n, -1, dtype=np.int64)
    of_each[group[::-1]] = codes[::-1]  # of equal places the last one stays
    if np.array_equal(of_each[group], codes):
        return of_each, []
    table = votes[key].iloc[known].assign(**{name: values.take(codes)})
    return of_each, _contradictions(table.drop_duplicates(), key, name)


def _contradictions(table: pd.DataFrame, key: list[str], name: str) -> list[Problem]:
    """Return a problem for the first finding or run of which the rows of a table say different things."""
    again = table[table.duplicated(key)]
    if again.empty:
        return []
    first, kind = again.iloc[0], "finding" if "finding_id" in key else "run"
    what = f"{kind} {first[key[-1]]!r}"
    if name == "truth":
        return [Problem("votes: column truth", f"{what} is both true and false", "give each finding one truth")]
    values = one_of(table.loc[(table[key] == first[key]).all(axis=1), name].head(3))
    others = f" ({len(again)} more rows differ so)" if len(again) > 1 else ""
    fix = f"give each {kind} one {name}, or name the column of its run"
    return [Problem(f"votes: column {name}", f"{what} has several: {values}{others}", fix)]
