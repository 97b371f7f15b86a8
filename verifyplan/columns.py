"""Columns of tables, declared as data, and values made to fit them (rule E4)."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from verifyplan.errors import Problem, TableError, one_of

Kind = Literal["text", "whole", "number", "yesno", "time", "names"]
_DTYPE: dict[Kind, str] = {
    "text": "str",
    "whole": "Int64",
    "number": "float64",
    "yesno": "boolean",
    "time": "datetime64[ms, UTC]",
    "names": "object",  # lists of texts: worker names, tickets, cited lines
}


@dataclass(frozen=True)
class Column:
    """One column: a kind of value or a closed, ordered set of them; missing values unless it is a `key`.

    A table that lacks the column has `default` in every row.
    """

    name: str
    kind: Kind | tuple[str, ...]
    meaning: str
    key: bool = False
    default: Any = pd.NA

    @property
    def dtype(self) -> Any:
        """The pandas dtype; a closed set is a categorical with all its categories, in order."""
        return _dtype(self.kind)


Columns = tuple[Column, ...]

MAX_SHOWN_WIDTH = 120
"""Characters of a line of meanings, on terminals of any width."""


@cache
def _dtype(kind: Kind | tuple[str, ...]) -> Any:
    """Return a dtype that is made once: a table has up to thirty columns, and a run as many tables."""
    if isinstance(kind, tuple):
        return pd.CategoricalDtype(list(kind), ordered=True)
    return pd.Series(dtype=_DTYPE[kind]).dtype


def keys(columns: Columns) -> list[str]:
    """Return the names of the columns that together name one row.

    >>> keys((Column("run_id", "text", "the run", key=True), Column("score", "whole", "its score")))
    ['run_id']
    """
    return [column.name for column in columns if column.key]


def fitted(
    columns: Columns, values: Mapping[str, Iterable[Any]] | pd.DataFrame, where: str, *, keys_checked: bool = False
) -> pd.DataFrame:
    """Return values as a DataFrame with the declared columns and types; the input is not changed.

    A declared column that is absent holds its default in every row, as a rule a missing value; other columns are
    kept behind the declared ones. `where` names the table in errors.
    Raises TableError listing every column whose values do not fit and, unless `keys_checked` says that there is none,
    every key that is missing or repeated.
    """
    table = values if isinstance(values, pd.DataFrame) else pd.DataFrame(_as_given(values))
    if not table.columns.is_unique:
        repeated = table.columns[table.columns.duplicated()][0]
        raise TableError(Problem(where, f"has two columns {repeated!r}", "keep one of them, or rename one"))
    problems: list[Problem] = []
    cast: dict[str, Any] = {}
    for column in columns:
        if column.name in table:
            cast[column.name] = _cast(table[column.name], column, where, problems, keys_checked=keys_checked).array
        else:
            cast[column.name] = _absent(column, table.index, where, problems)
    frame = pd.DataFrame(cast, index=table.index)
    if not problems and not keys_checked:
        problems += _repeated(frame, keys(columns), where)
    if problems:
        raise TableError(problems)
    extra = [name for name in table.columns if name not in cast]
    return pd.concat([frame, table[extra]], axis=1) if extra else frame


def _as_given(values: Mapping[str, Iterable[Any]]) -> dict[str, Any]:
    """Return columns of which lists keep their values: pandas would make numbers with gaps float, and inexact."""
    return {
        name: pd.Series(column, dtype="object") if isinstance(column, list) else column
        for name, column in values.items()
    }


class Meanings(pd.DataFrame):
    """Columns with their types and meanings, which are shown whole: pandas would cut them at its own width."""

    @property
    def _constructor(self) -> type[Meanings]:
        return Meanings

    def __repr__(self) -> str:
        """Return each column with its type on one line, and its meaning wrapped below."""
        if not {"type", "meaning", "key"} <= set(self.columns):
            return str(self.to_string())
        width = min(shutil.get_terminal_size((100, 24)).columns, MAX_SHOWN_WIDTH)
        return "\n".join(
            textwrap.fill(f"{name} ({kind}{', key' * bool(key)})", width, subsequent_indent="  ")
            + "\n"
            + textwrap.fill(meaning, width, initial_indent="    ", subsequent_indent="    ")
            for name, kind, meaning, key in zip(self.index, self["type"], self["meaning"], self["key"], strict=True)
        )

    def _repr_html_(self) -> str:
        """Return a table of all rows for a notebook, whose cells wrap."""
        with pd.option_context("display.max_colwidth", None):
            return str(self.to_html()).replace("<td>", "<td style='text-align:left'>")


def described(columns: Columns) -> pd.DataFrame:
    """Return the columns with their types and meanings, as a table for a notebook; its index is the column.

    >>> described((Column("run_id", "text", "the run", key=True), Column("score", "whole", "its score")))
    run_id (text, key)
        the run
    score (whole)
        its score
    """
    rows = [
        {
            "column": column.name,
            "type": " | ".join(column.kind) if isinstance(column.kind, tuple) else column.kind,
            "meaning": column.meaning,
            "key": column.key,
        }
        for column in columns
    ]
    return Meanings(rows).set_index("column")


def _absent(column: Column, index: pd.Index[Any], where: str, problems: list[Problem]) -> Any:
    """Return the array of a column that has its default in every row."""
    if column.kind == "names" or column.key:
        return _cast(pd.Series(column.default, index, dtype="object"), column, where, problems).array
    if column.kind == "text" and column.default is pd.NA:
        return column.dtype.construct_array_type()(pa.nulls(len(index), pa.large_string()), dtype=column.dtype)
    return _one_default(column).take(np.zeros(len(index), dtype=np.intp))


@cache
def _one_default(column: Column) -> Any:
    """Return the default as an array of one value, made once: to let pandas make each takes five times as long."""
    default = None if column.default is pd.NA else column.default
    return pd.Series([default], dtype=column.dtype).array


def _cast(
    series: pd.Series[Any], column: Column, where: str, problems: list[Problem], *, keys_checked: bool = False
) -> pd.Series[Any]:
    place, kind = f"{where}: column {column.name}", column.kind
    fits = kind != "names" and series.dtype == column.dtype  # lists are looked at one by one
    if isinstance(kind, tuple) and not fits:
        unknown = {str(value) for value in series.drop_duplicates().dropna()} - set(kind)
        if unknown:
            message = f"holds {one_of(sorted(unknown)[:5])}"
            problems.append(Problem(place, message, f"use {one_of(kind)} or leave the cell empty"))
            return series
    if column.key and not keys_checked and series.isna().any():
        message = f"is missing in {int(series.isna().sum()):,} of {len(series):,} rows"
        problems.append(Problem(place, message, f"fill it: {column.meaning}"))
        return series
    if fits:
        return series
    try:
        if kind == "names" and set(map(type, series.tolist())) != {list}:  # Parquet gives arrays where we gave lists
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
    return value if type(value) is list else list(value)


def _repeated(frame: pd.DataFrame, key: list[str], where: str) -> list[Problem]:
    twice = frame.duplicated(key) if key else pd.Series(dtype="bool")
    if not twice.any():
        return []
    first = ", ".join(f"{name} {frame.loc[twice, name].iloc[0]}" for name in key)
    message = f"{int(twice.sum())} rows repeat the key of another, the first at {first}"
    return [Problem(where, message, f"keep one row for each {', '.join(key)}")]
