"""The columns of every table, as data: name, type, meaning; to add one, add a line (SPEC E4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import pandas as pd

from verifyplan.errors import InputError, Problem, TableError, one_of
from verifyplan.frames.column import Column, Columns
from verifyplan.frames.columns_calls import CALL_TABLES
from verifyplan.frames.columns_cross import CROSS_TABLES
from verifyplan.frames.columns_plan import PLAN_TABLES
from verifyplan.words import did_you_mean

TABLES: dict[str, Columns] = {**CROSS_TABLES, **PLAN_TABLES, **CALL_TABLES}
"""Every table of a RunSet, by name."""

FIRST_TABLES = tuple(CROSS_TABLES)
"""The tables that every saved RunSet has; folders saved before there were plan runs have no other."""

KEYS: dict[str, list[str]] = {
    name: [column.name for column in columns if column.key] for name, columns in TABLES.items()
}
"""The columns that name one row of each table."""


def typed(table: str, values: Mapping[str, Iterable[Any]] | pd.DataFrame, place: str = "") -> pd.DataFrame:
    """The values of a table as a DataFrame with its declared columns and types; the input is not changed.

    A declared column that is not given is all missing (an `iteration` that is a key: 0); other columns are kept
    behind the declared ones.
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
        series = given[column.name] if column.name in given else pd.Series(column.default, given.index, dtype="object")
        columns[column.name] = _cast(series, column, where, problems)
    frame = pd.DataFrame(columns, index=given.index)
    if not problems:
        problems += _repeated(frame, table, where)
    if problems:
        raise TableError(problems)
    extra = [name for name in given.columns if name not in columns]
    return pd.concat([frame, given[extra]], axis=1) if extra else frame


@cache
def _empty(table: str) -> pd.DataFrame:
    return typed(table, {})


def empty(table: str) -> pd.DataFrame:
    """A table without rows, with all its columns."""
    return _empty(table).copy()


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
        if kind == "time" and series.dtype == "object":
            series = pd.to_datetime(series, utc=True, format="ISO8601")
        if kind in ("text", "number") and series.dtype == "object":
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
    "time": "times such as 2026-01-31T12:00:00Z",
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
