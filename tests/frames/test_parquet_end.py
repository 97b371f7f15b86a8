"""Damage at any place of a saved table, its texts among them, gives the values that were saved or an error."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import verifyplan as vp
from verifyplan.errors import TableError
from verifyplan.frames.load import load
from verifyplan.frames.parquet_end import add_checksum, expect_whole_end

BITS = (0, 3, 6)


def end_of(data: bytes | bytearray) -> int:
    """Return the place at which the end of a Parquet file starts."""
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


@pytest.mark.parametrize(
    ("pattern", "table", "column", "step"),
    [("votes-texts-*.parquet", "votes", "explanation", 41), ("dispatches.parquet", "dispatches", "worker", 211)],
)
def test_no_changed_bit_changes_a_value(tmp_path: Path, pattern, table, column, step):
    saved = vp.datasets.runs("contract").save(tmp_path)
    path = next(saved.glob(pattern))
    whole, expected = path.read_bytes(), getattr(load(saved), table)[column].tolist()
    errors = []
    for place in range(0, len(whole), step):
        for bit in BITS:
            data = bytearray(whole)
            data[place] ^= 1 << bit
            path.write_bytes(data)
            try:
                assert pd.Series(getattr(load(saved), table)[column].tolist()).equals(pd.Series(expected)), place
            except TableError as error:
                errors.append(str(error))
            else:
                assert place < end_of(whole), "the end is checked"
    assert errors
    assert all(str(path) in error for error in errors)


def test_an_end_that_would_end_the_process_is_refused(tmp_path: Path):
    """Arrow aborts where the kind of a column is another at its first mention than at its second."""
    saved = vp.datasets.runs("contract").save(tmp_path)
    path = next(saved.glob("votes-texts-*.parquet"))
    whole = path.read_bytes()
    for place in range(end_of(whole), end_of(whole) + 60):
        data = bytearray(whole)
        data[place] ^= 8
        path.write_bytes(data)
        with pytest.raises(TableError, match="its end is damaged"):
            load(saved).votes["explanation"].tolist()


def test_other_programs_read_the_file_and_what_they_write_is_loaded(tmp_path: Path):
    saved = vp.datasets.runs("contract").save(tmp_path)
    expected = load(saved).votes["explanation"].tolist()
    path = next(saved.glob("votes-texts-*.parquet"))
    pq.write_table(pq.read_table(path), path)
    assert pd.Series(load(saved).votes["explanation"].tolist()).equals(pd.Series(expected))


@pytest.mark.parametrize("n_columns", [1, 2000])
def test_ends_of_every_size_are_checked(tmp_path: Path, n_columns):
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({f"c{number}": [number] for number in range(n_columns)}), path)
    add_checksum(path)
    data = bytearray(path.read_bytes())
    expect_whole_end(BytesIO(data))
    assert pq.read_table(path).num_columns == n_columns
    data[end_of(data)] ^= 1
    with pytest.raises(ValueError, match="its end is damaged"):
        expect_whole_end(BytesIO(data))


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1PAR1", b"PAR1" + b"\xff" * 8, bytes(200_000)])
def test_what_has_no_checksum_is_left_to_arrow(data):
    stream = BytesIO(data)
    expect_whole_end(stream)
    assert stream.tell() == 0
