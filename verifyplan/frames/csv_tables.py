"""Write tables as CSV and TSV files whose texts are safe to open, and undo that where such files are read (rule H3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from verifyplan.csv_cells import RISKY, plain_cell, safe_cell
from verifyplan.files import replacing


def write_csv(table: pd.DataFrame, path: str | Path, *, raw: bool = False) -> Path:
    """Write a table as CSV, or as TSV where the path ends so, without its index; return the path.

    Texts that a spreadsheet would run as formulas, and escape codes, are made harmless (see `verifyplan.csv_cells`)
    unless `raw`.
    """
    with replacing(path) as temporary:
        shown = table if raw else safe_table(table)
        shown.to_csv(temporary, index=False, sep="\t" if Path(path).suffix.lower() == ".tsv" else ",")
    return Path(path)


def safe_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose texts and column names are safe as cells; numbers stay numbers.

    >>> safe_table(pd.DataFrame({"claim": ["=1+1", "fine"], "n": [-1, 2]})).to_dict("list")
    {'claim': ["'=1+1", 'fine'], 'n': [-1, 2]}
    """
    return _mapped(table, safe_cell, RISKY)


def plain_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table that was read from a file of `write_csv` with the texts that it was written from."""
    return _mapped(table, plain_cell, "^'")


def _mapped(table: pd.DataFrame, change: Callable[[str], str], risky: str) -> pd.DataFrame:
    """Return a table with all texts changed; in columns of texts only those are looked at that a pattern finds."""
    columns = [_column(table.iloc[:, place], change, risky) for place in range(table.shape[1])]
    changed = pd.concat(columns, axis=1) if columns else table.copy()
    changed.columns = pd.Index([_changed(name, change) for name in table.columns], name=table.columns.name)
    return changed


def _column(values: pd.Series[Any], change: Callable[[str], str], risky: str) -> pd.Series[Any]:
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype)
    if pd.api.types.is_object_dtype(values.dtype):
        return values.map(lambda value: _changed(value, change))
    if not isinstance(values.dtype, pd.StringDtype):
        return values
    found = values.str.contains(risky, na=False).to_numpy(dtype=bool)
    if not found.any():
        return values
    changed = values.copy()
    changed[found] = [change(text) for text in values[found]]
    return changed


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    return change(value) if isinstance(value, str) else value
