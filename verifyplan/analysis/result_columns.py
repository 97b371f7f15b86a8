"""The columns of the tables that analyses return, with their meanings: what `documentation` shows of them (rule E4)."""

from __future__ import annotations

from verifyplan.columns import Columns

RESULT_TABLES: dict[str, Columns] = {}
"""Each table by the name of the attribute or function that gives it."""
