"""All tables with their columns, and values made to fit them (rule E4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import pandas as pd

from verifyplan.columns import Columns, fitted, keys
from verifyplan.frames.columns_plan import PLAN_TABLES
from verifyplan.frames.columns_run import CALL_TABLES, CROSS_TABLES, DEBATE_TABLES

TABLES: dict[str, Columns] = {**CROSS_TABLES, **PLAN_TABLES, **CALL_TABLES, **DEBATE_TABLES}
"""Every table of a RunSet, by name."""

FIRST_TABLES = tuple(CROSS_TABLES)
"""The tables that runs of every kind fill."""

KEYS: dict[str, list[str]] = {name: keys(columns) for name, columns in TABLES.items()}
"""The columns that name one row of each table."""

LONG_TEXTS = {"votes": ["explanation"], "messages": ["content"]}
"""The columns of long texts, by table: most of its bytes, seldom read."""


def typed(
    table: str, values: Mapping[str, Iterable[Any]] | pd.DataFrame, place: str = "", *, keys_checked: bool = False
) -> pd.DataFrame:
    """Return the values of a table as a DataFrame with its declared columns and types; the input is not changed.

    A declared column that is absent is all missing (an `iteration` that is a key: 0); other columns are kept
    behind the declared ones.
    Raises TableError listing every column whose values do not fit and, unless `keys_checked` says that there is none,
    every key that is missing or repeated.
    """
    if not len(values) and not set(values).difference(column.name for column in TABLES[table]):
        return empty(table)
    return fitted(TABLES[table], values, place or f"table {table}", keys_checked=keys_checked)


@cache
def _empty(table: str) -> pd.DataFrame:
    return fitted(TABLES[table], {}, f"table {table}")


def empty(table: str) -> pd.DataFrame:
    """Return a table without rows, with all its columns."""
    return _empty(table).copy(deep=False)


def as_text(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return any values as text; missing ones stay missing."""
    return values.astype("str").where(values.notna(), None)
