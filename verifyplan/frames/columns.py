"""The columns of every table, as data: name, type, meaning; to add one, add a line (SPEC E4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from verifyplan.errors import InputError, Problem, TableError, one_of
from verifyplan.protocol.artifact import DISPATCH_STATUSES, FINAL_STATES, ROUND2_REASONS, SCHEMA_VERSIONS
from verifyplan.protocol.vote import BASES, CLASSIFICATIONS, MODES, VERDICTS, VERIFICATION_MODES
from verifyplan.words import did_you_mean

Kind = Literal["text", "whole", "number", "yesno", "names"]
_DTYPE: dict[Kind, str] = {
    "text": "str",
    "whole": "Int64",
    "number": "float64",
    "yesno": "boolean",
    "names": "object",  # lists of worker names or tickets
}


@dataclass(frozen=True)
class Column:
    """One column: a kind of value or a closed, ordered set of them; missing values unless it is a `key`."""

    name: str
    kind: Kind | tuple[str, ...]
    meaning: str
    key: bool = False

    @property
    def dtype(self) -> Any:
        """The pandas dtype; a closed set is a categorical with all its categories, in order."""
        return pd.CategoricalDtype(list(self.kind), ordered=True) if isinstance(self.kind, tuple) else _DTYPE[self.kind]


_RUN = Column("run_id", "text", "the run: an artifact's path under the loaded folder, without suffix", key=True)
_FINDING = Column("finding_id", "text", "the finding, unique in its run", key=True)
_ROUND = Column("round", "whole", "the round, from 1", key=True)
_WORKER = Column("worker", "text", "the worker, as the roster names it", key=True)

TABLES: dict[str, tuple[Column, ...]] = {
    "runs": (
        _RUN,
        Column("kind", ("cross", "votes"), "a cross run, or a table of votes that was imported"),
        Column("task_key", "text", "what the run is about"),
        Column("mode", MODES, "how the votes were asked for; missing where an import does not tell"),
        Column("verification_mode", VERIFICATION_MODES, "whether workers opened the cited evidence"),
        Column("schema_version", SCHEMA_VERSIONS, "the artifact's schema"),
        Column("enabled", "yesno", "whether findings were voted on at all"),
        Column("max_rounds", "whole", "rounds allowed by the settings"),
        Column("effective_max_rounds", "whole", "rounds allowed in fact; of an import, the highest recorded"),
        Column("total_rounds", "whole", "rounds executed"),
        Column("final_state", FINAL_STATES, "how the loop ended"),
        Column("round2_skipped_reason", ROUND2_REASONS, "why round 2 did not run"),
        Column("n_findings", "whole", "findings of the run, plan items left out"),
        Column("synthetic", "yesno", "whether findings or votes were generated, not observed"),
        Column("source", "text", "the file that the run was read from"),
    ),
    "findings": (
        _RUN,
        _FINDING,
        Column("summary", "text", "the claim"),
        Column("category", "text", "kind of finding; `plan-body` for the items of a plan (SPEC B10)"),
        Column("evidence", "text", "cited places and quoted text, as the discoverer gave them"),
        Column("ticket_ids", "names", "tickets that the finding belongs to"),
        Column("origin_worker", "text", "the first discoverer in roster order"),
        Column("discoverers", "names", "everyone who found it; they do not vote on it"),
        Column("classification", CLASSIFICATIONS, "the class that the run gave; missing in an import"),
        Column("consensus_workers", "names", "who stands for it at the end"),
        Column("dissenting_workers", "names", "who stands against it at the end"),
        Column("n_rounds", "whole", "rounds in which it was voted on; 0 if it was settled before"),
        Column("truth", "yesno", "whether it is true, where that is known; no worker sees it"),
    ),
    "votes": (
        _RUN,
        Column("iteration", "whole", "the iteration of a plan run; 0 in cross runs", key=True),
        _FINDING,
        _ROUND,
        _WORKER,
        Column("verdict", VERDICTS, "what the worker said, as it counts"),
        Column("disagree_basis", BASES, "what an adversarial disagree rests on"),
        Column("explanation", "text", "the worker's words"),
        Column("is_origin", "yesno", "whether the worker is a discoverer, whose vote is not tallied"),
        Column("uncited", "yesno", "a counter-evidence whose explanation cites no place (SPEC B4)"),
    ),
    "rounds": (
        _RUN,
        _ROUND,
        Column("input_queue_size", "whole", "findings waiting when the round began"),
        Column("resolved_count", "whole", "findings that the round's votes gave a class"),
        Column("carried_forward_count", "whole", "findings still waiting when the round ended"),
    ),
    "dispatches": (
        _RUN,
        _ROUND,
        _WORKER,
        Column("status", DISPATCH_STATUSES, "how the call ended; missing where the worker was not called"),
        Column("duration_ms", "number", "wall time of the call in milliseconds"),
        Column("skipped_reason", "text", "why the worker gave no votes, if it gave none"),
    ),
}
"""Every table of a RunSet, by name."""

KEYS: dict[str, list[str]] = {
    "runs": ["run_id"],
    "findings": ["run_id", "finding_id"],
    "votes": ["run_id", "iteration", "finding_id", "round", "worker"],
    "rounds": ["run_id", "round"],
    "dispatches": ["run_id", "round", "worker"],
}
"""The columns that name one row of each table."""


def typed(table: str, values: Mapping[str, Iterable[Any]] | pd.DataFrame, place: str = "") -> pd.DataFrame:
    """The values of a table as a DataFrame with its declared columns and types; the input is not changed.

    A declared column that is not given is all missing; other columns are kept behind the declared ones.
    Raises TableError listing every column whose values do not fit, and every key that is missing or repeated.
    """
    where = place or f"table {table}"
    given = values if isinstance(values, pd.DataFrame) else pd.DataFrame(values)
    twice = given.columns[given.columns.duplicated()]
    if len(twice):
        raise TableError(Problem(where, f"has two columns {twice[0]!r}", "keep one of them, or rename one"))
    problems: list[Problem] = []
    columns: dict[str, pd.Series[Any]] = {}
    for column in TABLES[table]:
        series = given[column.name] if column.name in given else pd.Series(pd.NA, given.index, dtype="object")
        columns[column.name] = _cast(series, column, where, problems)
    frame = pd.DataFrame(columns, index=given.index)
    if not problems:
        problems += _repeated(frame, table, where)
    if problems:
        raise TableError(problems)
    extra = [name for name in given.columns if name not in columns]
    return pd.concat([frame, given[extra]], axis=1) if extra else frame


def _cast(series: pd.Series[Any], column: Column, where: str, problems: list[Problem]) -> pd.Series[Any]:
    place, kind = f"{where}: column {column.name}", column.kind
    if isinstance(kind, tuple):
        unknown = {str(value) for value in series.drop_duplicates().dropna()} - set(kind)
        if unknown:
            message = f"holds {one_of(sorted(unknown)[:5])}"
            problems.append(Problem(place, message, f"use {one_of(kind)} or leave the cell empty"))
            return series
    if column.key and series.isna().any():
        message = f"is missing in {int(series.isna().sum())} of {len(series)} rows"
        problems.append(Problem(place, message, f"fill it: {column.meaning}"))
        return series
    try:
        if kind == "names":  # Parquet gives arrays where we gave lists
            series = series.map(_names, na_action="ignore")
        if kind == "text" and series.dtype == "object":
            series = series.where(series.notna(), None)
        return series.astype(column.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        problems.append(Problem(place, f"does not fit its type ({error})", f"give {_WORDS[kind]}"))
        return series


_WORDS: dict[object, str] = {
    "text": "text",
    "whole": "whole numbers below 2**63",
    "number": "numbers",
    "yesno": "true and false",
    "names": "lists of names",
}


def _names(value: Any) -> list[Any]:
    if isinstance(value, str):
        raise TypeError(f"{value!r} is a text")
    return list(value)


def as_text(values: pd.Series[Any]) -> pd.Series[Any]:
    """Any values as text; missing ones stay missing."""
    return values.astype("str").where(values.notna(), None)


def as_truth(values: pd.Series[Any], place: str) -> pd.Series[Any]:
    """Truth from booleans, 0 and 1, or the words true and false; TableError at `place` for anything else.

    >>> as_truth(pd.Series([1, "False", None]), "column truth").tolist()
    [True, False, <NA>]
    """
    words = as_text(values).str.strip().str.lower()
    told = words.map(_TRUTH)
    odd = words[words.notna() & told.isna()].drop_duplicates()
    if len(odd):
        message = f"holds {one_of(odd[:5])}"
        raise TableError(Problem(place, message, "use true and false, or leave it empty"))
    return told.astype("boolean")


_TRUTH = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


def _repeated(frame: pd.DataFrame, table: str, where: str) -> list[Problem]:
    twice = frame.duplicated(KEYS[table])
    if not twice.any():
        return []
    first = ", ".join(f"{name} {frame.loc[twice, name].iloc[0]}" for name in KEYS[table])
    message = f"{int(twice.sum())} rows repeat the key of another, the first at {first}"
    return [Problem(where, message, f"keep one row for each {', '.join(KEYS[table])}")]


def documentation(table: str) -> pd.DataFrame:
    """The columns of a table with their types and meanings, to look up in a notebook.

    Raises InputError for a table that there is not.

    >>> documentation("rounds").loc["resolved_count", "meaning"]
    "findings that the round's votes gave a class"
    """
    if table not in TABLES:
        message = f"{table!r} is no table{did_you_mean(table, TABLES)}"
        raise InputError(Problem("table", message, f"use {one_of(TABLES)}"))
    rows = [
        {
            "column": column.name,
            "type": " | ".join(column.kind) if isinstance(column.kind, tuple) else column.kind,
            "meaning": column.meaning,
            "key": column.name in KEYS[table],
        }
        for column in TABLES[table]
    ]
    return pd.DataFrame(rows).set_index("column")
