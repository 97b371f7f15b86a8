"""Tables saved as Parquet, each read on first use: names as codes, long texts in files of their own (rule E4).

A folder has one file a table, `votes.parquet`; the texts of a table that has long ones are in `votes-texts-X.parquet`,
row by row beside it: who sorts one sorts both. The table's file names it, so that a save that is cut short leaves the
texts of the table before. A table with its declared columns, and a key of its own in each row, is in its file twice:
packed, which is what is read here, and as the columns of Parquet, for other programs, and for a file that another
program wrote anew. Checksums tell damage from values: of what is packed, of each page of a column, and of the end of
the file.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from glob import escape
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from verifyplan.errors import InputError, Problem, TableError, one_of
from verifyplan.files import replacing
from verifyplan.frames.addresses import RunFile, SavedTables, size_of
from verifyplan.frames.arrow_columns import exact_array, has_keys, strangers
from verifyplan.frames.columns import FIRST_TABLES, KEYS, LONG_TEXTS, TABLES, empty, typed
from verifyplan.frames.constant_columns import repeated
from verifyplan.frames.late_tables import LateTable
from verifyplan.frames.late_texts import LateTexts, TextFile
from verifyplan.frames.packed_tables import NOTE, note_of, pack, read_packed
from verifyplan.frames.parquet_end import add_checksum, expect_whole_end
from verifyplan.frames.table_limits import refuse_large

_CODED = ("run_id", "finding_id", "challenge_id", "worker", "call_id", "origin_worker", "category")
SAVED_TEXTS: Mapping[str, Sequence[str]] = {**LONG_TEXTS, "findings": ["summary", "evidence"]}
"""The columns of long texts that a saved table has in a file of their own."""
_SAVED, _SAVE, _EMPTY = "verifyplan-tables", "verifyplan-save", "verifyplan-empty"
_TEXT_FILE, _TEXT_COLUMNS = "verifyplan-texts", "verifyplan-text-columns"
_ATTRS = b"PANDAS_ATTRS"
_MAX_NAMES_BYTES, _MAX_TEXTS_BYTES = 2**27, 2**17
"""Names are written once each, whatever they take; long texts only as long as that saves much."""


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables into a folder, each file whole at any time; `runs`, which says that all are there, is last."""
    if folder.suffix.lower() == ".parquet" and not folder.is_dir():
        fix = f"name it {folder.stem!r}, say; .votes.to_parquet(path) and the like write one table"
        raise InputError(Problem(str(folder), "is the name of a file, and the tables go into a folder", fix))
    save = secrets.token_hex(8)
    empties: dict[str, int] = {}
    for name in [*(name for name in tables if name != "runs"), "runs"]:
        frame = tables[name]
        texts = [column for column in SAVED_TEXTS.get(name, ()) if column in frame] if len(frame) else []
        rest = frame.drop(columns=texts).astype({column: "category" for column in _CODED if column in frame})
        rest.attrs = {**frame.attrs, _SAVE: save}
        if name == "runs":
            rest.attrs |= {_SAVED: list(tables), _EMPTY: empties}
        if texts:
            rest.attrs |= {_TEXT_FILE: f"{name}-texts-{secrets.token_hex(4)}.parquet", _TEXT_COLUMNS: texts}
            _write(_arrow_of(frame[texts]), folder / rest.attrs[_TEXT_FILE], _MAX_TEXTS_BYTES)
        table = _arrow_of(rest)
        is_whole = len(rest) and {*rest, *texts} == {column.name for column in TABLES[name]}
        packed = pack(table) if is_whole and _has_keys(table, rest, name) else b""
        _write(table, folder / f"{name}.parquet", _MAX_NAMES_BYTES, packed)
        if not (len(frame) or frame.attrs or set(frame).difference(empty(name))):
            empties[name] = (folder / f"{name}.parquet").stat().st_size
        for old in folder.glob(f"{name}-texts-*.parquet"):
            if old.name != rest.attrs.get(_TEXT_FILE):
                old.unlink(missing_ok=True)


def _has_keys(table: pa.Table, frame: pd.DataFrame, name: str) -> bool:
    """Return whether each row of a table has a key of its own."""
    key = frame[KEYS[name]]
    return has_keys(table, KEYS[name]) or not (key.isna().any(axis=None) or key.duplicated().any())


def _arrow_of(frame: pd.DataFrame) -> pa.Table:
    """Return a table for Arrow, with what was noted of it, in the types that are read fastest."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    notes = {**(table.schema.metadata or {}), **({_ATTRS: json.dumps(frame.attrs)} if frame.attrs else {})}
    if len(frame):
        table = table.cast(pa.schema([_exact_field(table.field(name), table[name]) for name in table.column_names]))
    return table.replace_schema_metadata(notes)


def _write(table: pa.Table, path: Path, max_dictionary_bytes: int, packed: bytes = b"") -> None:
    """Write a table as Parquet, in which it may also be packed."""
    schema = table.schema.with_metadata({**(table.schema.metadata or {}), **note_of(packed)})
    options = {"compression": "lz4", "dictionary_pagesize_limit": max_dictionary_bytes, "write_page_checksum": True}
    with replacing(path) as temporary:
        with pa.OSFile(str(temporary), "wb") as sink, pq.ParquetWriter(sink, schema, **options) as writer:
            sink.write(packed)
            writer.write_table(table)
        add_checksum(temporary)


def _exact_field(field: pa.Field, values: pa.ChunkedArray) -> pa.Field:
    """Return the field of a column that says where no value is missing, which halves the time of reading it."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        kind = pa.dictionary(pa.int32(), kind.value_type, kind.ordered)  # as Arrow reads codes
    elif pa.types.is_list(kind):
        kind = pa.list_(_exact_field(kind.value_field, pc.list_flatten(values)))
    return field.with_type(kind).with_nullable(values.null_count > 0 or pa.types.is_null(kind))


def read_tables(saved: SavedTables) -> dict[str, LateTable]:
    """Return the tables of a folder, each read when first asked for; those that its version did not have are empty.

    Of files that the save of `runs.parquet` wrote, the ends are read, which say what is in them; those of empty tables
    are not opened as long as they have the size that this save noted. Any other file is read at once.
    Raises TableError listing every file that is missing, cannot be read or, as far as it is read, holds what its
    columns do not allow or rows of runs that are not in `runs`. What is read later raises it then, also where the
    folder was saved anew, or removed, since.
    """
    problems: list[Problem] = []
    runs = _attempt(partial(_saved_file, saved, "runs"), problems)
    declared = runs.attrs.get(_SAVED) if runs else None
    expected = declared if isinstance(declared, list | tuple) else FIRST_TABLES
    noted = runs.attrs.get(_EMPTY) if runs else None
    empties = noted if isinstance(noted, dict) else {}
    tables: dict[str, LateTable] = {}
    run_ids = _RunIds(runs)
    for name in TABLES:
        is_absent = name != "runs" and name not in expected and not saved.system.exists(saved.path(name))
        if is_absent or (name in empties and size_of(saved.file(name)) == empties[name]):
            tables[name] = LateTable(partial(empty, name), 0)
            continue
        file = runs if name == "runs" else _attempt(partial(_saved_file, saved, name), problems)
        if file is None:
            continue
        tables[name] = LateTable(partial(_read, file, run_ids), file.rows)
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
    columns: list[str]
    """The names of its columns."""
    packed: bytes | None
    """What was noted of the packed table."""

    @property
    def path(self) -> str:
        """Its path."""
        return self.saved.path(self.name)

    @property
    def file(self) -> RunFile:
        """Itself, to be read."""
        return self.saved.file(self.name)

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
def _opened(
    saved: SavedTables, path: str, fix: str = "save the runs again", lists: Collection[str] = ()
) -> Iterator[pq.ParquetFile]:
    """Open a file of a folder, the names in some lists as codes; TableError where it is gone, damaged or too large."""
    try:
        is_local = isinstance(saved.system, LocalFileSystem)
        with pa.OSFile(path, "rb") if is_local else saved.system.open(path, "rb") as stream:
            expect_whole_end(stream)
            file = pq.ParquetFile(stream, page_checksum_verification=True)
            if file.metadata.num_rows:
                refuse_large(file.metadata, path)
            paths = (file.schema.column(number).path for number in range(len(file.schema))) if lists else ()
            coded = [of for of in paths if of.partition(".")[0] in lists]
            if coded and file.metadata.num_row_groups == 1:  # Arrow has no lists of codes of several row groups
                options = {"read_dictionary": coded, "page_checksum_verification": True}
                file = pq.ParquetFile(stream, metadata=file.metadata, **options)
            yield file
    except TableError:
        raise
    except (OSError, pa.ArrowException, ValueError) as error:
        raise TableError(Problem(path, f"cannot be read ({error})", fix)) from None


def _saved_file(saved: SavedTables, name: str) -> _SavedFile:
    """Return what the end of a table's file says; TableError where it, or the file of its texts, is gone or damaged."""
    path = saved.path(name)
    with _opened(saved, path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
    attrs = json.loads((schema.metadata or {}).get(_ATTRS, b"{}"))
    texts = attrs.get(_TEXT_FILE)
    if texts and not saved.system.exists(f"{saved.folder}/{texts}"):
        message = "is missing: it holds the texts of the table"
        raise TableError(Problem(f"{saved.folder}/{texts}", message, "save the runs again"))
    if not texts and rows and set(SAVED_TEXTS.get(name, ())).difference(schema.names):
        _refuse_lost_texts(saved, name)
    return _SavedFile(saved, name, rows, attrs, schema.names, (schema.metadata or {}).get(NOTE))


def _refuse_lost_texts(saved: SavedTables, name: str) -> None:
    """Raise TableError where a table without its long texts, and no note of them, has a file of them beside it."""
    if saved.system.glob(f"{escape(saved.folder)}/{name}-texts-*.parquet"):
        message = "does not say which file has its texts: another program wrote it, and left out its metadata"
        fix = f"keep the metadata, or remove {name}-texts-*.parquet to load the table without its texts"
        raise TableError(Problem(saved.path(name), message, fix))


class _RunIds:
    """The ids of the runs of a folder, read once; none are known where the file of runs is damaged."""

    def __init__(self, runs: _SavedFile | None) -> None:
        self._runs = runs

    @cached_property
    def known(self) -> pa.Array | None:
        """The ids; TableError where the file is no longer what it was."""
        if self._runs is None:
            return None
        packed = read_packed(self._runs.file, self._runs.packed, ["run_id"])
        ids = (_arrow(self._runs, ["run_id"]) if packed is None else packed.table)["run_id"]
        return ids.unique().cast(pa.large_string())

    def expect(self, file: _SavedFile, values: pa.ChunkedArray) -> None:
        """Raise TableError for run ids of a table that are not those of `runs`."""
        unknown = [] if self.known is None else strangers(values, self.known)
        if unknown:
            message = f"has rows of runs that are not in runs.parquet: {one_of(unknown[:3])}"
            fix = "save all tables of one RunSet into one folder, and nothing else"
            raise TableError(Problem(file.path, message, fix))


def _read(file: _SavedFile, run_ids: _RunIds) -> pd.DataFrame:
    """Return a table with its declared columns and types; TableError as `read_tables` says."""
    if not file.rows and {column.name for column in TABLES[file.name]}.issuperset(file.columns):
        frame = empty(file.name)
    else:
        unpacked = _unpacked(file, run_ids)
        frame = _frame(_arrow(file), file, run_ids) if unpacked is None else unpacked
    own = (_SAVED, _SAVE, _EMPTY, _TEXT_FILE, _TEXT_COLUMNS)
    frame.attrs = {key: value for key, value in file.attrs.items() if key not in own}
    return frame


def _arrow(file: _SavedFile, columns: list[str] | None = None) -> pa.Table:
    """Return what a file holds; TableError where it is no longer what it was."""
    lists = {column.name for column in TABLES[file.name] if column.kind == "names"}
    fix = "load the folder again; if it is damaged, save the runs again"
    with _opened(file.saved, file.path, fix, lists) as now:
        attrs = json.loads((now.schema_arrow.metadata or {}).get(_ATTRS, b"{}"))
        if attrs != file.attrs or now.metadata.num_rows != file.rows:
            raise TableError(Problem(file.path, "was saved anew since it was loaded", "load the folder again"))
        if not file.rows:
            return now.schema_arrow.empty_table()
        return now.read(columns)


def _unpacked(file: _SavedFile, run_ids: _RunIds) -> pd.DataFrame | None:
    """Return the table that is packed in a file, whose keys were checked when it was; None where there is none.

    There is none either where its columns are no longer those that are declared.
    """
    packed = read_packed(file.file, file.packed)
    if packed is None or len(packed.table) != file.rows:
        return None
    declared = {column.name: column for column in TABLES[file.name]}
    same = {of: repeated(value, file.rows, declared[of]) for of, value in packed.constants.items() if of in declared}
    arrays = _exact_arrays(packed.table, file.name) | same | _late_texts(file)
    if declared.keys() != arrays.keys():
        return None
    if file.name != "runs":
        run_ids.expect(file, packed.table["run_id"])
    return pd.DataFrame({of: arrays[of] for of in declared}, copy=False)


def _frame(table: pa.Table, file: _SavedFile, run_ids: _RunIds) -> pd.DataFrame:
    """Return a table of Arrow for pandas, its columns, keys and run ids checked."""
    frame, is_exact = _columns(table, file.name, _late_texts(file))
    has_own_keys = has_keys(table, KEYS[file.name])
    if not (is_exact and has_own_keys):
        frame = typed(file.name, frame, file.path, keys_checked=has_own_keys)
    if file.name != "runs" and file.rows:
        run_ids.expect(file, table["run_id"])
    return frame


def _exact_arrays(table: pa.Table, name: str) -> dict[str, Any]:
    """Return those columns that certainly have the types that are declared."""
    declared = {column.name: column for column in TABLES[name]}
    arrays = {of: exact_array(table[of], declared[of]) for of in table.column_names if of in declared}
    return {of: array for of, array in arrays.items() if array is not None}


def _columns(table: pa.Table, name: str, late: dict[str, LateTexts]) -> tuple[pd.DataFrame, bool]:
    """Return the columns of a table for pandas, and whether it certainly has its declared columns and types."""
    declared = [column.name for column in TABLES[name]]
    exact = _exact_arrays(table, name) | late
    if exact.keys() == set(declared) and len(exact) == len(table.column_names) + len(late):
        return pd.DataFrame({of: exact[of] for of in declared}, copy=False), True
    rest = table.drop_columns([of for of in exact if of not in late]).to_pandas()
    order = dict.fromkeys([*table.column_names, *late])
    return pd.DataFrame({of: exact[of] if of in exact else rest[of] for of in order}, copy=False), False


def _late_texts(file: _SavedFile) -> dict[str, LateTexts]:
    if not file.attrs.get(_TEXT_FILE):
        return {}
    path = f"{file.saved.folder}/{file.attrs[_TEXT_FILE]}"
    return {
        column: LateTexts.of(TextFile(partial(_texts, file.saved, path, column, file.rows), file.rows))
        for column in file.attrs.get(_TEXT_COLUMNS, LONG_TEXTS.get(file.name, ()))
    }


def _texts(saved: SavedTables, path: str, column: str, rows: int) -> pa.ChunkedArray:
    """Return the texts of a column; TableError where they are gone, or not those of the table's rows."""
    try:
        with saved.system.open(path, "rb") as stream:
            expect_whole_end(stream)
            file = pq.ParquetFile(stream, page_checksum_verification=True)
            refuse_large(file.metadata, path)
            texts = file.read([column])[column].cast(pa.large_string())
    except (OSError, pa.ArrowException, ValueError, KeyError) as error:
        message = f"cannot be read any more ({error})"
        raise TableError(Problem(path, message, "load the folder again: it was saved anew, or removed")) from None
    if len(texts) != rows:
        message = f"has {len(texts)} texts for {rows} rows"
        raise TableError(Problem(path, message, "save the runs again"))
    return texts
