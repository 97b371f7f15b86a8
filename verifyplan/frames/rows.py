"""Rows of any number of runs, table by table, on their way into one RunSet (rule E4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from verifyplan.frames.columns import TABLES, typed
from verifyplan.frames.lost import with_losses
from verifyplan.frames.runset import RunSet

Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]
"""The rows of one run, by table; a table that is not named has none. Rows of a table have the same keys."""


def assemble(parts: Iterable[Rows]) -> RunSet:
    """The rows of several runs as one RunSet, in the order given; raises TableError if two share a run id."""
    gathered: dict[str, list[Sequence[Row]]] = defaultdict(list)
    for part in parts:
        for name, rows in part.items():
            gathered[name].append(rows)
    runs = RunSet(**{name: typed(name, _columns(name, chain.from_iterable(rows))) for name, rows in gathered.items()})
    return replace(runs, findings=with_losses(runs.runs, runs.findings, runs.votes))


def _columns(table: str, rows: Iterable[Row]) -> dict[str, list[Any]]:
    every = list(rows)
    named = set().union(*every) if table == "runs" else set(every[0]) if every else set()
    return {column.name: [row.get(column.name) for row in every] for column in TABLES[table] if column.name in named}
