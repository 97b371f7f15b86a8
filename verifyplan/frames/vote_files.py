"""Read a file of votes by the names of its columns: those in a file beside it, or those that say it themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from verifyplan.errors import InputError, Problem, TableError
from verifyplan.files import read_json
from verifyplan.frames.columns import as_text
from verifyplan.frames.own_words import own_truths
from verifyplan.frames.runset import RunSet
from verifyplan.frames.table_files import read_table
from verifyplan.frames.ties import TIE, Ties, ties_problems
from verifyplan.frames.votes import from_votes
from verifyplan.protocol.vote import VERDICTS
from verifyplan.rules.answers import read_verdict, spelling
from verifyplan.text import did_you_mean, short_repr

_SUFFIXES = (".csv", ".tsv", ".parquet")
SIDECAR_SUFFIX = ".columns.json"
MAX_SIDECAR_BYTES = 1_000_000
MAX_ROUNDS_DIGITS = 10
_RUN_OF_FILE = "run: that of the file"

NEEDED_COLUMNS = ("item", "worker", "verdict")
VOTE_COLUMNS = (
    *(*NEEDED_COLUMNS, "basis", "round", "run", "truth", "explanation"),
    *("summary", "category", "discoverers", "mode", "max_rounds"),
)
"""What a table of votes may say; all but `max_rounds`, a number, are names of columns; `mode` may be a mode."""

_OWN_NAMES: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "finding_id", "finding", "claim"),
    "worker": ("worker", "judge", "annotator", "rater"),
    "verdict": ("verdict", "vote"),
    "basis": ("basis", "disagree_basis"),
    "run": ("run", "run_id"),
    **{name: (name,) for name in ("round", "truth", "explanation", "summary", "category", "discoverers", "mode")},
}
"""The names by which a column says itself what it is, the first that is there."""


@dataclass(frozen=True)
class VoteNames:
    """Which column of a table of votes is what, and what its words for verdicts and truth mean."""

    columns: Mapping[str, str]
    """Columns by the arguments of `from_votes`."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Words of the table and their verdicts; a blank word is an empty cell."""
    truths: Mapping[str, bool | None] = field(default_factory=dict)
    """Words of the table for truth and what each says; None leaves it open."""
    synthetic: bool = False
    """Whether the votes were made up."""
    ties: Ties | None = None
    """How ties among the votes count."""


def sidecar_of(path: str | os.PathLike[str]) -> Path:
    """Return the file beside a file of votes that says which column is what.

    >>> sidecar_of("study/votes.csv").name
    'votes.csv.columns.json'
    """
    return Path(path).with_name(f"{Path(path).name}{SIDECAR_SUFFIX}")


def is_vote_file(address: str | os.PathLike[str]) -> bool:
    """Return whether an address names a file that may hold a table of votes, by its suffix in any case.

    >>> is_vote_file("study/VOTES.CSV"), is_vote_file("study/votes.json")
    (True, False)
    """
    return Path(address).suffix.lower() in _SUFFIXES


def has_sidecar(address: str | os.PathLike[str]) -> bool:
    """Return whether an address is a local file of votes with such a file beside it."""
    path = Path(address)
    return is_vote_file(path) and path.is_file() and sidecar_of(path).is_file()


def read_sidecar(path: Path) -> VoteNames:
    """Return the names in the file beside a file of votes; InputError listing all that does not fit."""
    sidecar = sidecar_of(path)
    place = str(sidecar)
    fix = "write {'columns': {'item': ..., 'worker': ..., 'verdict': ...}, 'verdicts': {'yes': 'agree'}}, or delete it"
    if sidecar.stat().st_size > MAX_SIDECAR_BYTES:
        raise InputError(Problem(place, f"has more than {MAX_SIDECAR_BYTES:,} bytes", fix))
    content = read_json(sidecar, fix)
    table: dict[str, Any] = content if isinstance(content, dict) else {"columns": None}
    columns: Any = table.get("columns")
    verdicts, synthetic = table.get("verdicts", {}), table.get("synthetic", False)
    truths, problems = own_truths(table.get("truths"), f"{place}: truths")
    problems += ties_problems(table.get("ties"), place=f"{place}: ties")
    problems += [
        Problem(place, f"{name!r} is not a part of it", fix)
        for name in table
        if name not in ("columns", "verdicts", "truths", "synthetic", "ties")
    ]
    problems += [
        Problem(place, f"{name} must be texts by name, got {value!r}", fix)
        for name, value in (("columns", columns), ("verdicts", verdicts))
        if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values())
    ]
    if not isinstance(synthetic, bool):
        problems.append(Problem(place, f"synthetic must be true or false, got {synthetic!r}", fix))
    if not problems:
        problems = [*column_problems(columns, place)]
    if problems:
        raise InputError(problems)
    return VoteNames(columns, verdicts, truths, synthetic, table.get("ties"))


def column_problems(named: Mapping[str, str], place: str) -> Iterator[Problem]:
    """Yield what is wrong with the names of columns: what no table of votes has, what is missing, no number."""
    known = f"{', '.join(VOTE_COLUMNS)}; item, worker and verdict are needed"
    for name in named:
        if name not in VOTE_COLUMNS:
            message = f"{name!r} is not the name of a column{did_you_mean(name, VOTE_COLUMNS)}"
            scores = "; for scores, use Python: vp.from_votes(..., score=, threshold=)" if name == "score" else ""
            yield Problem(place, message, f"use some of {known}{scores}")
    for name in NEEDED_COLUMNS:
        if name not in named:
            yield Problem(place, f"does not say which column is the {name}", f"write {name}=, with some of {known}")
    rounds = named.get("max_rounds", "1")
    if not (rounds.isdecimal() and len(rounds) < MAX_ROUNDS_DIGITS):
        message = f"max_rounds must be an integer of at least 1, got {short_repr(rounds)}"
        yield Problem(place, message, "write a number, as max_rounds=3")


def votes_as_named(table: pd.DataFrame, names: VoteNames, sidecar: Path | None = None) -> RunSet:
    """Return a table of votes as runs, read by the names of its columns (see `column_problems`).

    Problems of the table end in one that says from which file the names are, if they are from one.
    """
    named: dict[str, Any] = dict(names.columns)
    named |= {"max_rounds": int(named["max_rounds"])} if "max_rounds" in named else {}
    if names.synthetic:
        table = table.copy(deep=False)
        table.attrs["synthetic"] = True
    try:
        verdicts = dict(names.verdicts) or None
        return from_votes(table, **named, verdicts=verdicts, truths=names.truths or None, ties=names.ties)
    except TableError as error:
        if sidecar is None:
            raise
        fix = "change it, or delete it to name them anew"
        raise TableError([*error.problems, Problem(str(sidecar), "names these columns and words", fix)]) from None


def read_by_sidecar(address: str | os.PathLike[str], run: str | None = None) -> RunSet:
    """Return a file of votes as runs, by the names in the file beside it; InputError as `read_sidecar`.

    `run` is the id of its run where the file has no column of runs; by default that of `from_votes`.
    """
    path = Path(address)
    table, names = read_table(path), read_sidecar(path)
    if run is not None and "run" not in names.columns:
        table = table.assign(**{_RUN_OF_FILE: run})
        names = replace(names, columns={**names.columns, "run": _RUN_OF_FILE})
    return votes_as_named(table, names, sidecar_of(path))


def runs_of_files(addresses: Iterable[str | os.PathLike[str]]) -> dict[Path, str | None]:
    """Return files of votes, once each, and the id of the run of each that has no column of runs.

    Of several it is the path under the folder that they have in common, without suffix where that tells them apart.

    >>> runs_of_files(["a/votes.csv", "b/votes.csv"]).values()
    dict_values(['a/votes', 'b/votes'])
    """
    paths = {Path(address).absolute(): Path(address) for address in addresses}
    return dict(zip(paths.values(), names_of_files([*paths]) if len(paths) > 1 else [None], strict=False))


def names_of_files(paths: Sequence[PurePath]) -> list[str]:
    """Return full paths from the folder on that they have in common, without suffix where that tells them apart.

    >>> from pathlib import PureWindowsPath
    >>> names_of_files([PureWindowsPath("C:/a/votes.csv"), PureWindowsPath("D:/votes.csv")])  # which have none
    ['C:/a/votes', 'D:/votes']
    """
    levels = zip(*(path.parent.parts for path in paths), strict=False)
    shared = sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, levels))  # commonpath refuses several drives
    names = [type(path)(*path.parts[shared:]).as_posix() for path in paths]
    short = [name.removesuffix(path.suffix) for name, path in zip(names, paths, strict=True)]
    return short if len(set(short)) == len(short) else names


def columns_by_own_names(columns: Sequence[object]) -> dict[str, str]:
    """Return the columns that say themselves what they are, in any case, by the arguments of `from_votes`.

    >>> columns_by_own_names(["Claim", "judge", "says", "run_id"])
    {'item': 'Claim', 'worker': 'judge', 'run': 'run_id'}
    """
    spelt = {spelling(str(column)): str(column) for column in reversed(columns)}
    found = {name: [spelt[own] for own in map(spelling, owns) if own in spelt] for name, owns in _OWN_NAMES.items()}
    return {name: named[0] for name, named in found.items() if named}


def unread_words(verdicts: pd.Series[Any]) -> dict[str, int]:
    """Return the words of a column that are no verdicts and no ties, in order of appearance, and their rows.

    A blank word is an empty cell.

    >>> unread_words(pd.Series(["agree", "yes", None, "yes"]))
    {'yes': 2, '': 1}
    """
    words = words_beside_verdicts(verdicts)
    return {word: n for word, n in words.items() if read_verdict(word) is None and spelling(word) != TIE}


def words_beside_verdicts(verdicts: pd.Series[Any]) -> dict[str, int]:
    """Return the same with the labels of verdicts, which mean one unless the table means another.

    >>> words_beside_verdicts(pd.Series(["agree", "yes", "refuted"]))
    {'yes': 1, 'refuted': 1}
    """
    counts = as_text(verdicts).fillna("").str.strip().value_counts(sort=False)
    plain = {spelling(verdict) for verdict in VERDICTS}
    return {str(word): int(n) for word, n in counts.items() if spelling(str(word)) not in plain}
