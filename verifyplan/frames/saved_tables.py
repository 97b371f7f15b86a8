"""Tables saved as Parquet, each read on first use: names as codes, long texts in files of their own (rule E4).

A folder has one file a table, `votes.parquet`; the texts of a table that has long ones are in `votes-texts-X.parquet`,
row by row beside it. The table's file names it, so that a save that is cut short leaves the texts of the table before.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from verifyplan.columns import Column
from verifyplan.errors import Problem, TableError, one_of
from verifyplan.files import replacing
from verifyplan.frames.addresses import SavedTables
from verifyplan.frames.columns import FIRST_TABLES, KEYS, LONG_TEXTS, TABLES, empty, typed
from verifyplan.frames.late_tables import LateTable
from verifyplan.frames.late_texts import LateTexts, TextFile
from verifyplan.frames.table_limits import refuse_large
from verifyplan.frames.text_codes import first_rows
from verifyplan.garbage import no_garbage_collection

_CODED = ("run_id", "finding_id", "challenge_id", "worker", "call_id", "origin_worker", "category")
_SAVED, _SAVE, _TEXT_FILE = "verifyplan-tables", "verifyplan-save", "verifyplan-texts"
_ATTRS = b"PANDAS_ATTRS"


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables into a folder, each file whole at any time; `runs`, which says that all are there, is last."""
    save = secrets.token_hex(8)
    for name in [*(name for name in tables if name != "runs"), "runs"]:
        frame = tables[name]
        texts = [column for column in LONG_TEXTS.get(name, ()) if column in frame] if len(frame) else []
        rest = frame.drop(columns=texts).astype({column: "category" for column in _CODED if column in frame})
        rest.attrs = {**frame.attrs, _SAVE: save, **({_SAVED: list(tables)} if name == "runs" else {})}
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


def read_tables(saved: SavedTables) -> dict[str, LateTable]:
    """Return the tables of a folder, each read when first asked for; those that its version did not have are empty.

    Of files that the save of `runs.parquet` wrote the ends are read, which say what is in them; any other file is
    read at once. Raises TableError listing every file that is missing, cannot be read or, as far as it is read, holds
    what its columns do not allow or rows of runs that are not in `runs`. What is read later raises it then, also where
    the folder was saved anew, or removed, since.
    """
    problems: list[Problem] = []
    runs = _attempt(partial(_saved_file, saved, "runs"), problems)
    declared = runs.attrs.get(_SAVED) if runs else None
    expected = declared if isinstance(declared, list | tuple) else FIRST_TABLES
    tables: dict[str, LateTable] = {}
    for name in TABLES:
        if name != "runs" and name not in expected and not saved.system.exists(saved.path(name)):
            tables[name] = LateTable(partial(empty, name), 0)
            continue
        file = runs if name == "runs" else _attempt(partial(_saved_file, saved, name), problems)
        if file is None:
            continue
        tables[name] = LateTable(partial(_read, file, runs), file.rows)
        if runs is None or file.save is None or file.save != runs.save:
            _attempt(partial(getattr, tables[name], "table"), problems)
    if problems:
        raise TableError(dict.fromkeys(problems))
    return tables


class _SavedFile(NamedTuple):
    """The file of a table, as its end says."""

    saved: SavedTables
    name: str
    rows: int
    attrs: dict[str, Any]
    """What was noted of the table, and of its saving."""

    @property
    def path(self) -> str:
        """Its path."""
        return self.saved.path(self.name)

    @property
    def save(self) -> Any:
        """The id that the files of one save have in common; None where no save of this version wrote it."""
        return self.attrs.get(_SAVE)


T = TypeVar("T")


def _attempt(read: Callable[[], T], problems: list[Problem]) -> T | None:
    """Return what `read` returns; None, and its problems, where it raises TableError."""
    try:
        return read()
    except TableError as error:
        problems += error.problems
        return None


@contextmanager
def _opened(saved: SavedTables, path: str, fix: str = "save the runs again") -> Iterator[pq.ParquetFile]:
    """Open a file of a folder; TableError where it is gone, damaged or too large."""
    try:
        is_local = isinstance(saved.system, LocalFileSystem)
        with pa.OSFile(path, "rb") if is_local else saved.system.open(path, "rb") as stream:
            file = pq.ParquetFile(stream)
            if file.metadata.num_rows:
                refuse_large(file.metadata, path)
            yield file
    except TableError:
        raise
    except (OSError, pa.ArrowException, ValueError) as error:
        raise TableError(Problem(path, f"cannot be read ({error})", fix)) from None


def _saved_file(saved: SavedTables, name: str) -> _SavedFile:
    """Return what the end of a table's file says; TableError where it, or the file of its texts, is gone or damaged."""
    path = saved.path(name)
    with _opened(saved, path) as file:
        attrs = json.loads((file.schema_arrow.metadata or {}).get(_ATTRS, b"{}"))
        rows = file.metadata.num_rows
    texts = attrs.get(_TEXT_FILE)
    if texts and not saved.system.exists(f"{saved.folder}/{texts}"):
        message = "is missing: it holds the texts of the table"
        raise TableError(Problem(f"{saved.folder}/{texts}", message, "save the runs again"))
    return _SavedFile(saved, name, rows, attrs)


def _read(file: _SavedFile, runs: _SavedFile | None) -> pd.DataFrame:
    """Return a table with its declared columns and types; TableError as `read_tables` says."""
    table = _arrow(file)
    with no_garbage_collection():
        frame = _frame(table, file.name)
        if file.attrs.get(_TEXT_FILE):
            frame = frame.assign(**_late_texts(file))
        frame = typed(file.name, frame, file.path, keys_checked=_has_keys(table, KEYS[file.name]))
    frame.attrs = {key: value for key, value in file.attrs.items() if key not in (_SAVED, _SAVE, _TEXT_FILE)}
    if runs is not None and file.name != "runs" and len(table):
        _expect_known(file, _names(table["run_id"]), _names(_arrow(runs, ["run_id"])["run_id"]))
    return frame


def _arrow(file: _SavedFile, columns: list[str] | None = None) -> pa.Table:
    """Return what a file holds; TableError where it is no longer what it was."""
    with _opened(file.saved, file.path, "load the folder again; if it is damaged, save the runs again") as now:
        attrs = json.loads((now.schema_arrow.metadata or {}).get(_ATTRS, b"{}"))
        if attrs != file.attrs or now.metadata.num_rows != file.rows:
            raise TableError(Problem(file.path, "was saved anew since it was loaded", "load the folder again"))
        return now.read(columns) if file.rows else now.schema_arrow.empty_table()


def _expect_known(file: _SavedFile, ids: pa.Array, known: pa.Array) -> None:
    """Raise TableError for run ids that are not those of `runs`."""
    strangers = ids.filter(pc.invert(pc.is_in(ids, value_set=known))).to_pylist()
    if strangers:
        message = f"has rows of runs that are not in runs.parquet: {one_of(strangers[:3])}"
        fix = "save all tables of one RunSet into one folder, and nothing else"
        raise TableError(Problem(file.path, message, fix))


def _names(column: pa.ChunkedArray) -> pa.Array:
    """Return the different texts of a column, in order of appearance."""
    return column.unique().cast(pa.large_string())


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
        return pd.Series(_lists(values.combine_chunks()))
    return None


def _lists(values: pa.ListArray) -> npt.NDArray[Any]:
    """Return lists of names as objects; rows whose lists are equal share one, as a table has few different ones."""
    coded = values.values.dictionary_encode()
    names = np.array([*coded.dictionary.to_pylist(), None], dtype="object")
    codes = coded.indices.fill_null(len(names) - 1).to_numpy()
    ends = values.offsets.to_numpy()
    lists, lengths = np.empty(len(values), dtype="object"), np.diff(ends)
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        rows = np.flatnonzero(lengths == length)
        of_rows = codes[ends[rows][:, None] + np.arange(length, dtype=ends.dtype)]
        number, first = _numbered(of_rows, len(names))
        made = names[of_rows[first]].tolist()
        lists[rows] = np.fromiter(made, dtype="object", count=len(made))[number]
    return lists


def _numbered(codes: npt.NDArray[Any], size: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return a number by row of some codes below `size`, which equal rows share, and the first row of each number."""
    if size ** codes.shape[1] >= 2**62:
        return np.arange(len(codes)), np.arange(len(codes))
    together = codes.astype(np.int64) @ (size ** np.arange(codes.shape[1], dtype=np.int64))
    number = np.asarray(pd.factorize(together)[0])
    return number, first_rows(number)


def _late_texts(file: _SavedFile) -> dict[str, LateTexts]:
    path = f"{file.saved.folder}/{file.attrs[_TEXT_FILE]}"
    return {
        column: LateTexts.of(TextFile(partial(_texts, file.saved, path, column, file.rows), file.rows))
        for column in LONG_TEXTS[file.name]
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
