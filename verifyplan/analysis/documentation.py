"""Explain the columns of every table: of a RunSet, of what analyses return, of bundled votes (rule E4)."""

from __future__ import annotations

import pandas as pd

from verifyplan.analysis.result_columns import RESULT_TABLES
from verifyplan.columns import described
from verifyplan.errors import InputError, Problem, one_of
from verifyplan.frames.columns import TABLES
from verifyplan.frames.vote_tables import VOTE_TABLES
from verifyplan.text import did_you_mean


def documentation(table: str) -> pd.DataFrame:
    """Return the columns of a table with their types and meanings, to look up in a notebook.

    `table` is a table of a RunSet, one that an analysis returns, or a bundled table of votes, such as `llmbar`.
    Raises InputError for an unknown table.

    >>> documentation("rounds").loc["resolved_count", "meaning"]
    "findings that the round's votes gave a class"
    """
    known = {**TABLES, **RESULT_TABLES, **{name: votes.columns for name, votes in VOTE_TABLES.items()}}
    if table not in known:
        message = f"there is no table {table!r}{did_you_mean(table, known)}"
        raise InputError(Problem("table", message, f"use {one_of(known)}"))
    return described(known[table])
