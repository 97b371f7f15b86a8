"""Tables saved as Parquet: names as codes, long texts in files of their own that are read on first use (rule E4).

A folder has one file a table, `votes.parquet`; the texts of a table that has long ones are in `votes-texts-X.parquet`,
row by row beside it. The table's file names it, so that a save that is cut short leaves the texts of the table before.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from verifyplan.columns import Column
from verifyplan.errors import Problem, TableError, one_of
from verifyplan.files import replacing
from verifyplan.frames.addresses import SavedTables
from verifyplan.frames.columns import FIRST_TABLES, KEYS, LONG_TEXTS, TABLES, empty, typed
from verifyplan.frames.late_texts import LateTexts, TextFile
from verifyplan.frames.table_limits import refuse_large
from verifyplan.frames.text_codes import first_rows, numbered
from verifyplan.garbage import no_garbage_collection

_CODED = ("run_id", "finding_id", "challenge_id", "worker", "call_id", "origin_worker", "category")
_SAVED, _TEXT_FILE, _ATTRS = "verifyplan-tables", "verifyplan-texts", b"PANDAS_ATTRS"


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables into a folder, each file whole at any time; `runs`, which says that all are there, is last."""
    for name in [*(name for name in tables if name != "runs"), "runs"]:
        frame = tables[name]
        texts = [column for column in LONG_TEXTS.get(name, ()) if column in frame] if len(frame) else []
        rest = frame.drop(columns=texts).astype({column: "category" for column in _CODED if column in frame})
        rest.attrs = {**frame.attrs, **({_SAVED: list(tables)} if name == "runs" else {})}
        if texts:
            rest.attrs[_TEXT_FILE] = f"{name}-texts-{secrets.token_hex(4)}.parquet"
            _write(frame[texts], folder / rest.attrs[_TEXT_FILE])
        _write(rest, folder / f"{name}.parquet")
        for old in folder.glob(f"{name}-texts-*.parquet"):
            if old.name != rest.attrs.get(_TEXT_FILE):
                old.unlink(missing_ok=True)


def _write(frame: pd.DataFrame, path: Path) -> None:
    with replacing(path) as temporary:
        frame.to_parquet(temporary, index=False)


def read_tables(saved: SavedTables) -> dict[str, pd.DataFrame]:
    """Return the tables of a folder; those that its version did not have are empty, long texts are read on first use.

    Raises TableError listing every file that is missing, cannot be read or holds what its columns do not allow,
    and every table with rows of runs that are not in `runs`. Texts that are gone on first use raise it then.
    """
    with no_garbage_collection():
        return _read_tables(saved)


def _read_tables(saved: SavedTables) -> dict[str, pd.DataFrame]:
    problems: list[Problem] = []
    runs = _read_table(saved, "runs", problems)
    declared = runs.attrs.pop(_SAVED, FIRST_TABLES) if runs is not None else FIRST_TABLES
    expected = declared if isinstance(declared, list | tuple) else FIRST_TABLES
    tables: dict[str, pd.DataFrame] = {}
    for name in (name for name in TABLES if name != "runs"):
        absent = name not in expected and not saved.system.exists(saved.path(name))
        table = empty(name) if absent else _read_table(saved, name, problems)
        tables |= {name: table} if table is not None else {}
    if runs is not None and not problems:
        known = set(runs["run_id"].tolist())
        for name, table in tables.items():
            ids = table["run_id"].iloc[first_rows(numbered(table["run_id"]))].tolist()
            strangers = [run_id for run_id in ids if run_id not in known]
            if strangers:
                message = f"has rows of runs that are not in runs.parquet: {one_of(strangers[:3])}"
                fix = "save all tables of one RunSet into one folder, and nothing else"
                problems.append(Problem(saved.path(name), message, fix))
    if problems or runs is None:
        raise TableError(problems)
    return {"runs": runs, **tables}


def _read_table(saved: SavedTables, name: str, problems: list[Problem]) -> pd.DataFrame | None:
    path = saved.path(name)
    try:
        with saved.system.open(path, "rb") as stream:
            file = pq.ParquetFile(stream)
            refuse_large(file.metadata, path)
            table = file.read() if file.metadata.num_rows else file.schema_arrow.empty_table()
        attrs = json.loads((table.schema.metadata or {}).get(_ATTRS, b"{}"))
        frame = _frame(table, name)
        if text_file := attrs.pop(_TEXT_FILE, None):
            frame = frame.assign(**_late_texts(saved, name, str(text_file), len(table)))
        typed_table = typed(name, frame, path, keys_checked=_has_keys(table, KEYS[name]))
    except (OSError, pa.ArrowException, ValueError) as error:
        columns = error.problems if isinstance(error, TableError) else ()
        problems += columns or [Problem(path, f"cannot be read ({error})", "save the runs again")]
        return None
    typed_table.attrs = attrs
    return typed_table


def _frame(table: pa.Table, name: str) -> pd.DataFrame:
    """Return a table of Arrow for pandas: codes of names as names, lists as lists."""
    declared = {column.name: column for column in TABLES[name]}
    if not len(table) and declared.keys() >= set(table.column_names):
        return empty(name)
    ours = {of: series for of in table.column_names if (series := _column(table[of], declared.get(of))) is not None}
    rest = table.drop_columns(list(ours)).to_pandas()
    return pd.DataFrame({of: ours[of] if of in ours else rest[of] for of in table.column_names}, copy=False)


def _column(values: pa.ChunkedArray, column: Column | None) -> pd.Series[Any] | None:
    """Return a column of names or of lists of names; None for one of any other kind."""
    if column is None:
        return None
    if column.kind == "text" and pa.types.is_dictionary(values.type):
        coded = values.unify_dictionaries().combine_chunks()
        names = coded.dictionary.cast(pa.large_string())
        return pd.Series(names.take(coded.indices), dtype="str")
    if column.kind == "names" and pa.types.is_list(values.type) and not values.null_count:
        lists = values.combine_chunks()
        return pd.Series(_lists(_names(lists.values), lists.offsets.to_numpy()))
    return None


def _lists(names: npt.NDArray[Any], ends: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the names between some ends as lists; those of one length are made at once."""
    lists, lengths = np.empty(len(ends) - 1, dtype="object"), np.diff(ends)
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        rows = np.flatnonzero(lengths == length)
        made = names[ends[rows][:, None] + np.arange(length)].tolist()
        lists[rows] = np.fromiter(made, dtype="object", count=len(rows))
    return lists


def _names(values: pa.Array) -> npt.NDArray[Any]:
    """Return names as an array; each is one object however often it occurs."""
    coded = values.dictionary_encode()
    distinct = np.array([*coded.dictionary.to_pylist(), None], dtype="object")
    return np.asarray(distinct[coded.indices.fill_null(-1).to_numpy()])


def _late_texts(saved: SavedTables, name: str, file: str, rows: int) -> dict[str, LateTexts]:
    path = f"{saved.folder}/{file}"
    if not saved.system.exists(path):
        raise TableError(Problem(path, "is missing: it holds the texts of the table", "save the runs again"))
    return {
        column: LateTexts.of(TextFile(partial(_texts, saved, path, column, rows), rows)) for column in LONG_TEXTS[name]
    }


def _texts(saved: SavedTables, path: str, column: str, rows: int) -> pa.ChunkedArray:
    """Return the texts of a column; TableError where they are gone, or not those of the table's rows."""
    try:
        with saved.system.open(path, "rb") as stream:
            file = pq.ParquetFile(stream)
            refuse_large(file.metadata, path)
            texts = file.read([column])[column].cast(pa.large_string())
    except (OSError, pa.ArrowException, KeyError) as error:
        message = f"cannot be read any more ({error})"
        raise TableError(Problem(path, message, "load the folder again: it was saved anew, or removed")) from None
    if len(texts) != rows:
        message = f"has {len(texts)} texts for {rows} rows"
        raise TableError(Problem(path, message, "save the runs again"))
    return texts


def _has_keys(table: pa.Table, key: list[str]) -> bool:
    """Return whether each row certainly has a key of its own; for other rows `typed` says what is wrong."""
    together = np.zeros(len(table), dtype=np.int64)
    size = 1
    for name in key:
        column = table[name] if name in table.column_names else None
        if column is None or column.null_count:
            return False
        codes = _codes(column)
        if codes is None:
            return False
        width = int(codes.max(initial=0)) + 1
        size *= width
        together = together * width + codes
    if size >= 2**62:
        return False
    return bool((together[1:] > together[:-1]).all()) or len(pd.unique(together)) == len(together)


def _codes(column: pa.ChunkedArray) -> Any:
    """Return whole numbers or codes of names from 0 on; None for a column of anything else."""
    if pa.types.is_dictionary(column.type):
        return column.unify_dictionaries().combine_chunks().indices.to_numpy().astype(np.int64)
    if not pa.types.is_integer(column.type):
        return None
    numbers = column.to_numpy().astype(np.int64)
    return numbers if numbers.min(initial=0) >= 0 else None
