"""Read the tables that people write: votes as CSV or Parquet, and which findings are true (rule E4)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path, PurePath
from typing import IO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from verifyplan.errors import InputError, Problem
from verifyplan.frames.csv_tables import plain_table
from verifyplan.frames.table_limits import COMPRESSED, refuse_large, refuse_repeated_texts, refuse_wide, text_table
from verifyplan.frames.table_shape import SEPARATORS

TRUTH_COLUMNS = ["finding_id", "truth"]
_FINDING_NAMES = ("finding_id", "finding", "item", "claim")
IS_CSV = "verifyplan_csv"
"""The entry of `attrs` of a table that is from a CSV, so that messages name its lines."""

TRUTH_FILES = ("truth.csv", "claims.csv")
"""The files in a folder of runs that say which findings are true; the first that is there counts."""

MAX_HEAD_BYTES = 65_536
"""Bytes of the first line of a CSV that say what parts its cells."""
_CELLS_FIX = "give each line as many cells as the first has names, and put a cell with a comma between quotes"
WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")

Truth = Mapping[str, bool] | pd.Series | pd.DataFrame | str | os.PathLike[str]
"""Truth by finding id, a table with `finding_id` and `truth`, or the path of a CSV, Parquet or JSON file of these."""


def read_table(path: Path) -> pd.DataFrame:
    """Read a CSV, Parquet or JSON file; InputError if it is none of these, or damaged.

    JSON holds a list of rows, or truth by finding id. CSV, TSV and JSON may be compressed (.gz, .bz2, .xz, .zip), and
    texts that `save_csv` and the like made safe for spreadsheets are read as they were. A CSV whose first line has no
    comma may have semicolons, tabs or bars in their place, as Excel writes it in many countries. A table that would
    fill the memory is refused by its size, before it is read (see `table_limits`).
    """
    try:
        return table_of(path, str(path))
    except OSError as error:
        message = f"cannot be read ({error.strerror or error})"
        raise InputError(Problem(str(path), message, "name a file that exists")) from None


def table_of(content: Path | bytes, name: str) -> pd.DataFrame:
    """Return the table in a file, or in its bytes, whose `name` says the format; InputError where it is none."""
    path = PurePath(name)
    suffix = (path.with_suffix("") if path.suffix.lower() in COMPRESSED else path).suffix.lower()
    if suffix in WORKBOOKS:
        fix = "save the sheet as CSV (UTF-8), or read it by pandas.read_excel and give the table"
        raise InputError(Problem(name, "is a workbook of a spreadsheet", fix))
    source = BytesIO(content) if isinstance(content, bytes) else content
    try:
        if suffix == ".parquet":
            return _read_parquet(source, name)
        text = text_table(source) if isinstance(source, Path) else source
        if suffix == ".json":
            rows = json.loads(text.read_bytes() if isinstance(text, Path) else text.read())
            return truth_table(rows) if isinstance(rows, dict) else pd.DataFrame(rows)
        # 01 is not 1, NA is a name
        mark = _separator(text, suffix)
        table = pd.read_csv(text, sep=mark, dtype="str", keep_default_na=False, na_values=[""])
        if not isinstance(table.index, pd.RangeIndex):  # pandas takes the first cells as names of rows
            raise InputError(Problem(name, "has more cells in a line than names in the first", _CELLS_FIX))
        refuse_wide(table.shape[1], name)
        table = plain_table(table)
        table.attrs[IS_CSV] = True
        return table
    except InputError:
        raise
    except pd.errors.EmptyDataError:
        fix = "give a CSV whose first line names the columns, or a Parquet file"
        raise InputError(Problem(name, "is empty", fix)) from None
    except UnicodeDecodeError as error:
        fix = "save it as UTF-8 (in Excel as `CSV UTF-8`), or read it by pandas.read_csv(path, encoding=...)"
        raise InputError(Problem(name, f"is not text in UTF-8 ({error.reason} at byte {error.start})", fix)) from None
    except pd.errors.ParserError as error:
        message = f"is not a table ({str(error).partition('error: ')[2].strip() or error})"
        raise InputError(Problem(name, message, _CELLS_FIX)) from None
    except (ValueError, TypeError, RecursionError, pa.ArrowException) as error:
        raise InputError(Problem(name, f"is not a table ({error})", "give a CSV or Parquet file")) from None


def _separator(text: Path | IO[bytes], suffix: str) -> str:
    """Return what parts the cells: tabs in a TSV; else a comma, or what parts the first lines where they have none."""
    if suffix == ".tsv":
        return "\t"
    with text.open("rb") if isinstance(text, Path) else nullcontext(text) as stream:
        head, row = (stream.readline(MAX_HEAD_BYTES).decode("utf-8", "replace") for _ in range(2))
        if not isinstance(text, Path):
            stream.seek(0)
    found = next((mark for mark in SEPARATORS if mark in head), ",") if "," not in head else ","
    return found if not row or row.count(found) >= head.count(found) else ","  # one column may have it in its name


def _read_parquet(source: Path | BytesIO, name: str) -> pd.DataFrame:
    with source.open("rb") if isinstance(source, Path) else nullcontext(source) as stream:
        refuse_large(pq.read_metadata(stream), name)
        refuse_repeated_texts(stream, name)
        return pd.read_parquet(stream)


def truth_table(truth: Truth) -> pd.DataFrame:
    """Return truth as a table, read from its file where it is a path; InputError as `read_table`.

    Of a table without them, `finding_id` is the column finding, item or claim; in one of two columns, what is neither
    of the two is the other, or the first column holds the ids.

    >>> truth_table({"F-1": True}).to_dict("records")
    [{'finding_id': 'F-1', 'truth': True}]
    >>> list(truth_table(pd.DataFrame({"statement": ["F-1"], "gold": ["right"]})))
    ['finding_id', 'truth']
    """
    if isinstance(truth, pd.DataFrame):
        return _with_standard_names(truth)
    if isinstance(truth, Mapping | pd.Series):
        return pd.DataFrame(list(truth.items()), columns=TRUTH_COLUMNS)
    if isinstance(truth, str | os.PathLike):
        return _with_standard_names(read_table(Path(truth)))
    message = f"must be a mapping, a table or a path, got a {type(truth).__name__}"
    raise InputError(Problem("truth", message, "give {finding id: True or False}, or the path of a CSV or JSON file"))


def _with_standard_names(table: pd.DataFrame) -> pd.DataFrame:
    lower = {str(name).strip().lower(): name for name in reversed(list(table))}
    own = {"finding_id": next((lower[name] for name in _FINDING_NAMES if name in lower), None)}
    own |= {"truth": lower.get("truth")}
    free = [name for name in table if name not in own.values()]
    if table.shape[1] == len(TRUTH_COLUMNS):
        own = {name: free.pop(0) if column is None else column for name, column in own.items()}
    return table.rename(columns={column: name for name, column in own.items() if column is not None})
