"""See that a table is no table of votes by its shape: all in one column, or a column a worker."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from verifyplan.errors import Problem, one_of
from verifyplan.frames.columns import as_text

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
"""What can part cells in place of commas."""
MAX_SAMPLE_ROWS = 1_000
MAX_LABELS = 10
"""A column with more different texts in these rows holds no labels."""


def one_column_problem(frame: pd.DataFrame) -> Problem | None:
    """Return the problem of a table without columns, or read by the wrong separator; None for any other.

    >>> print(one_column_problem(pd.DataFrame({"claim;judge": ["c1;ann"]})).fix)
    read it by pandas.read_csv(path, sep=';')
    """
    if not len(frame.columns):
        return Problem("votes", "the table has no columns", "give one with a row a vote: item, worker, verdict")
    name = str(frame.columns[0]) if len(frame.columns) == 1 else ""
    mark = next((mark for mark in SEPARATORS if mark in name), None)
    if mark is None:
        return None
    message = f"has one column, {name!r:.80}: its cells are parted by {SEPARATORS[mark]}, not by commas"
    return Problem("votes", message, f"read it by pandas.read_csv(path, sep={mark!r})")


def worker_columns(frame: pd.DataFrame, named: Collection[object] = ()) -> list[str]:
    """Return the columns, but for those that are `named`, that seem to be workers: several hold the same few labels.

    >>> worker_columns(pd.DataFrame({"claim": ["c1", "c2"], "gpt": ["yes", "no"], "claude": ["no", "no"]}))
    ['gpt', 'claude']
    """
    sample = frame.head(MAX_SAMPLE_ROWS)
    labels: dict[str, set[str]] = {}
    for name in sample.columns[~sample.columns.duplicated(keep=False)]:
        if isinstance(name, str) and name not in named:
            texts = set(as_text(sample[name]).dropna().str.strip().str.lower())
            labels |= {name: texts} if 0 < len(texts) <= MAX_LABELS else {}
    return [
        name for name, own in labels.items() if any(own & texts for other, texts in labels.items() if other != name)
    ]


def how_to_make_long(frame: pd.DataFrame, named: Collection[object], value: str) -> str:
    """Return how a table with a column a worker becomes one with a row a vote; blank where it seems to be none."""
    workers = worker_columns(frame, named)
    if not workers:
        return ""
    return f"; if {one_of(workers[:4])} are workers, first make it a row a vote: {_melt(frame, workers, value)}"


def how_to_join(frame: pd.DataFrame, workers: object, value: str) -> str:
    """Return the same for a list of columns that was given as workers; blank for anything else."""
    if not isinstance(workers, list) or len(workers) < 2 or not all(name in frame for name in workers):
        return ""
    return f"; of a column a worker make a row a vote first: {_melt(frame, workers, value)}"


def _melt(frame: pd.DataFrame, workers: Collection[object], value: str) -> str:
    keys = [name for name in frame.columns if name not in workers]
    return f"table.melt(id_vars={keys!r:.200}, var_name='worker', value_name={value!r})"
