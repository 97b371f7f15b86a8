"""Explain the columns of every table: those of a RunSet, and those that analyses return (rule E4)."""

from __future__ import annotations

import pandas as pd

from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.columns import described
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.frames.columns import TABLES
from verifyplan.text import did_you_mean


def documentation(table: str) -> pd.DataFrame:
    """Return the columns of a table with their types and meanings, to look up in a notebook.

    Raises InputError for an unknown table.

    >>> documentation("rounds").loc["resolved_count", "meaning"]
    "findings that the round's votes gave a class"
    """
    known = {**TABLES, **RESULT_TABLES}
    if table not in known:
        message = f"{table!r} is no table{did_you_mean(table, known)}"
        raise InputError(Problem("table", message, f"use {one_of(known)}"))
    return described(known[table])
