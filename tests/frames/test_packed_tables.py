"""A packed table is the table that it was made of, is read in place of its columns, and hides no change of its file."""

from __future__ import annotations

import zlib
from datetime import UTC
from io import BytesIO
from pathlib import Path

import fsspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verifyplan as vp
from verifyplan.columns import Column
from verifyplan.errors import TableError
from verifyplan.frames.addresses import RunFile
from verifyplan.frames.columns import TABLES
from verifyplan.frames.constant_columns import repeated
from verifyplan.frames.load import load
from verifyplan.frames.packed_tables import MAX_PACKED_BYTES, NOTE, START, note_of, pack, read_packed, unpack
from verifyplan.frames.runset import RunSet
from verifyplan.frames.saved_tables import _write

NAMES = st.sampled_from(["a", "b", "", "ß"])
VALUES = {
    "whole": (pa.int64(), st.integers(-(2**63), 2**63 - 1) | st.integers(-130, 130)),
    "flag": (pa.bool_(), st.booleans()),
    "fraction": (pa.float64(), st.floats(allow_nan=False)),
    "time": (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(UTC))),
    "text": (pa.large_string(), st.text(st.characters(exclude_categories=["Cs"]), max_size=2)),
    "coded": (pa.dictionary(pa.int32(), pa.large_string()), NAMES),
    "names": (pa.list_(pa.string()), st.lists(NAMES | st.none(), max_size=3)),
}
KINDS = {column.kind: column for columns in TABLES.values() for column in columns}


def tables(n: int) -> st.SearchStrategy[pa.Table]:
    """Return tables of `n` rows, of whose columns many are constant, or hold nothing."""
    made = {"run_id": st.just(pa.array([f"r{row}" for row in range(n)]))}
    for name, (kind, values) in VALUES.items():
        same = (values | st.none()).map(lambda value: [value] * n)
        lists = same | st.lists(values | st.none(), min_size=n, max_size=n)
        made[name] = lists.map(lambda each, kind=kind: pa.array(each, kind))
    return st.fixed_dictionaries(made).map(pa.table)


@given(data=st.data())
def test_a_table_is_unpacked_as_it_was(data):
    table = data.draw(tables(data.draw(st.integers(1, 5))))
    packed = unpack(pack(table))
    same = {name: [value] * len(table) for name, value in packed.constants.items()}
    assert table.to_pydict() == packed.table.to_pydict() | same
    assert not set(same).intersection(packed.table.column_names)
    assert unpack(pack(table), ["run_id"]).table.column_names == ["run_id"]


@pytest.mark.parametrize("n", [127, 128, 129, 2**15 + 1])
def test_codes_and_numbers_of_every_size_are_unpacked_as_they_were(n):
    values = list(range(n))
    lists = [[str(value)] for value in values]
    table = pa.table({"names": lists, "coded": pa.array(map(str, values)).dictionary_encode(), "whole": values})
    assert unpack(pack(table)).table.to_pydict() == table.to_pydict()


@pytest.mark.parametrize("column", KINDS.values(), ids=lambda column: str(column.kind)[:20])
def test_a_repeated_value_is_a_column_of_its_type(column: Column):
    for value in {"whole": [None, -3], "yesno": [None, True, False]}.get(str(column.kind), [None]):
        made = pd.Series(repeated(value, 3, column))
        expected = pd.Series([value] * 3, dtype=column.dtype)
        pd.testing.assert_series_equal(made, expected)


@pytest.fixture
def runs() -> RunSet:
    """Runs with lists, missing values and every class."""
    return vp.datasets.runs("contract")


@pytest.fixture
def path(runs: RunSet, tmp_path: Path) -> Path:
    """Return the file of their findings."""
    return runs.save(tmp_path / "saved") / "findings.parquet"


def packed_bytes(path: Path) -> int:
    """Return how many bytes are packed in a file."""
    return int(pq.read_schema(path).metadata[NOTE].split()[0])


def zeroed(path: Path, start: int, end: int) -> None:
    """Damage the bytes of a file between two places."""
    data = path.read_bytes()
    path.write_bytes(data[:start] + bytes(len(data[start:end])) + data[end:])


def columns_end(path: Path) -> int:
    """Return the place at which the columns of a file end."""
    return path.stat().st_size - 8 - int.from_bytes(path.read_bytes()[-8:-4], "little")


def test_a_table_is_read_as_it_was_where_either_what_is_packed_or_its_columns_are_damaged(runs, path):
    data = path.read_bytes()
    for start, end in ((START, START + packed_bytes(path)), (START + packed_bytes(path), columns_end(path))):
        path.write_bytes(data)
        zeroed(path, start, end)
        pd.testing.assert_frame_equal(load(path.parent).findings, runs.findings)
    zeroed(path, START, columns_end(path))
    with pytest.raises(TableError, match="cannot be read"):
        load(path.parent).findings  # noqa: B018


def test_any_other_byte_is_noticed(path):
    file, note = RunFile(fsspec.filesystem("file"), str(path), ""), pq.read_schema(path).metadata[NOTE]
    assert read_packed(file, note) is not None
    data = bytearray(path.read_bytes())
    for place in range(START, START + packed_bytes(path), 97):
        data[place] ^= 1
        path.write_bytes(data)
        assert read_packed(file, note) is None
        data[place] ^= 1


def test_a_table_that_another_program_wrote_anew_is_read_as_it_wrote_it(runs, path):
    table = pq.read_table(path)
    assert NOTE in table.schema.metadata, "it keeps what was noted"
    pq.write_table(table.slice(3), path)
    texts = next(path.parent.glob("findings-texts-*.parquet"))
    pq.write_table(pq.read_table(texts).slice(3), texts)
    again = load(path.parent)
    pd.testing.assert_frame_equal(again.findings, runs.findings.tail(-3).reset_index(drop=True))


def test_columns_count_where_what_is_packed_has_other_rows_or_lacks_a_declared_column(runs, path):
    table = pq.read_table(path)
    _write(table, path, 2**20, pack(table.slice(1)))
    pd.testing.assert_frame_equal(load(path.parent).findings, runs.findings)
    of_before = table.drop_columns("lost_votes")
    _write(of_before, path, 2**20, pack(of_before))
    expected = runs.findings.assign(lost_votes=pd.Series(pd.NA, runs.findings.index, dtype="Int64"))
    pd.testing.assert_frame_equal(load(path.parent).findings, expected)


def test_a_table_with_other_columns_or_a_key_twice_is_not_packed(runs, tmp_path):
    for findings in (runs.findings.assign(mine=1), pd.concat([runs.findings, runs.findings]).reset_index(drop=True)):
        path = RunSet(runs=runs.runs, findings=findings).save(tmp_path) / "findings.parquet"
        assert NOTE not in pq.read_schema(path).metadata


def streamed(table: pa.Table) -> bytes:
    """Return a table as Arrow writes it, its codes unseen."""
    sink = BytesIO()
    with pa.ipc.new_stream(sink, table.schema.with_metadata({b"verifyplan-constants": b"{}"})) as writer:
        writer.write_table(table)
    return sink.getvalue()


def test_codes_without_names_are_refused(tmp_path):
    for code in (2, -1):
        column = pa.DictionaryArray.from_arrays(pa.array([0, code], pa.int8()), pa.array(["a", "b"]), safe=False)
        data = streamed(pa.table({"run_id": column}))
        with pytest.raises(ValueError, match="a code has no name"):
            unpack(data)
        path = tmp_path / "any"
        path.write_bytes(bytes(START) + data)
        assert read_packed(RunFile(fsspec.filesystem("file"), str(path), ""), note_of(data)[NOTE]) is None


@pytest.mark.parametrize("note", [None, b"", b"x y", b"0 0", b"-1 0", f"{MAX_PACKED_BYTES + 1} 0".encode()])
def test_nothing_is_read_by_a_note_that_is_none(path, note):
    assert read_packed(RunFile(fsspec.filesystem("file"), str(path), ""), note) is None


def test_what_is_no_table_is_not_read(tmp_path):
    path = tmp_path / "any"
    for data in (b"", b"no table", streamed(pa.table({"a": [1]}))[:-20]):
        path.write_bytes(bytes(START) + data)
        assert (
            read_packed(RunFile(fsspec.filesystem("file"), str(path), ""), f"{len(data)} {zlib.crc32(data)}".encode())
            is None
        )
