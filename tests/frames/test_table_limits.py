"""Small files of huge tables are refused before they fill the memory, with what to do (rule H3)."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import verifyplan as vp
from verifyplan.errors import InputError, TableError
from verifyplan.frames import table_limits
from verifyplan.frames.load import load
from verifyplan.frames.table_files import read_table
from verifyplan.frames.table_limits import LARGE_TABLES_VARIABLE, MAX_TABLE_ROWS

ADVICE = "if you trust the file and have the memory, set VERIFYPLAN_LARGE_TABLES=1, or read it in parts"


def many_rows(path: Path, rows: int) -> Path:
    """Write a file of as many rows, all alike, which takes a hundredth of a byte each."""
    part = 1_000_000
    codes = pa.DictionaryArray.from_arrays(pa.array(np.zeros(part, np.int8)), ["agree"])
    table = pa.table({"verdict": codes})
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(rows // part):
            writer.write_table(table)
    return path


def test_forty_million_rows_in_a_small_file_are_refused_by_its_metadata(tmp_path, monkeypatch, cli):
    path = many_rows(tmp_path / "votes.parquet", 40_000_000)
    assert path.stat().st_size < 400_000
    monkeypatch.setattr(pd, "read_parquet", None)  # it is not read
    message = f"votes.parquet: has 40,000,000 rows .*, and 20,000,000 are read at once. Fix: {ADVICE}"
    with pytest.raises(TableError, match=message):
        read_table(path)
    done = cli("replay", path, "--columns", "item=item,worker=worker,verdict=verdict")
    assert done.code == 2
    assert "has 40,000,000 rows" in done.err
    with pytest.raises(InputError, match="has 40,000,000 rows"):
        vp.datasets.runs("contract").with_truth(path)


def test_what_is_allowed_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(table_limits, "MAX_TABLE_ROWS", 999_999)
    path = many_rows(tmp_path / "votes.parquet", 1_000_000)
    with pytest.raises(TableError, match="has 1,000,000 rows"):
        read_table(path)
    monkeypatch.setenv(LARGE_TABLES_VARIABLE, "1")
    assert len(read_table(path)) == 1_000_000
    monkeypatch.setenv(LARGE_TABLES_VARIABLE, "0")
    with pytest.raises(TableError, match="has 1,000,000 rows"):
        read_table(path)


def test_columns_without_end_and_long_lists_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(table_limits, "MAX_TABLE_BYTES", 1_000_000)
    pq.write_table(pa.table({f"c{n}": pa.nulls(1000, pa.int64()) for n in range(200)}), tmp_path / "wide.parquet")
    with pytest.raises(TableError, match=r"wide.parquet: has 0\.0 GB in memory, and 0 GB are read at once"):
        read_table(tmp_path / "wide.parquet")
    monkeypatch.undo()
    monkeypatch.setattr(table_limits, "MAX_TABLE_ROWS", 100)
    pq.write_table(pa.table({"c": [[1] * 101]}), tmp_path / "list.parquet")
    with pytest.raises(TableError, match=r"has 101 rows .or values in lists., and 100 are read"):
        read_table(tmp_path / "list.parquet")


@pytest.mark.parametrize("as_names", [True, False])
def test_a_long_text_that_is_kept_once_and_meant_often_is_refused(tmp_path, as_names):
    path = tmp_path / "votes.parquet"
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100_000, np.int32)), pa.array(["x" * 100_000]))
    pq.write_table(pa.table({"item": texts.cast(pa.dictionary(pa.int32(), pa.string()))}), path, store_schema=as_names)
    assert path.stat().st_size < 200_000
    with pytest.raises(TableError, match=r"has 9\.3 GB in memory, and 4 GB are read at once"):
        read_table(path)


@pytest.mark.parametrize("coded", [True, False])
def test_ordinary_texts_are_not_refused(tmp_path, coded):
    frame = pd.DataFrame({"item": [f"F-{n % 7000}" for n in range(200_000)], "words": ["a few words", None] * 100_000})
    frame.attrs["synthetic"] = True
    frame.to_parquet(tmp_path / "votes.parquet", use_dictionary=coded)
    again = read_table(tmp_path / "votes.parquet")
    pd.testing.assert_frame_equal(again, frame)
    assert again.attrs == frame.attrs


def test_saved_tables_and_datasets_are_refused_likewise(tmp_path, monkeypatch):
    runs = vp.datasets.runs("contract")
    runs.save(tmp_path / "saved")
    vp.compile_dataset(vp.datasets.path("contract"), tmp_path / "compiled")
    monkeypatch.setattr(table_limits, "MAX_TABLE_ROWS", 50)
    with pytest.raises(TableError, match=rf"votes.parquet: has 84 rows .*, and 50 are read at once. Fix: {ADVICE}"):
        load(tmp_path / "saved")
    dataset = load(tmp_path / "compiled")
    with pytest.raises(TableError, match=rf"votes.parquet: has 84 rows .*, and 50 are read at once. Fix: {ADVICE}"):
        dataset.votes  # noqa: B018
    with pytest.raises(TableError, match=r"parquet: has \d+ rows"):
        vp.replay(dataset)


CSV = b"finding_id,truth\nF-1,yes\n"
OPEN = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def zipped(path: Path, *contents: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, content in enumerate(contents):
            archive.writestr(f"{number}.csv", content)
    return path


@pytest.mark.parametrize("suffix", [*OPEN, ".zip"])
def test_compressed_tables_are_read_and_bombs_refused(tmp_path, monkeypatch, suffix):
    def write(name: str, content: bytes) -> Path:
        path = tmp_path / name
        if suffix == ".zip":
            return zipped(path, content)
        with OPEN[suffix](path, "wb") as file:
            file.write(content)
        return path

    assert read_table(write(f"truth.csv{suffix}", CSV)).to_dict("list") == {"finding_id": ["F-1"], "truth": ["yes"]}
    assert read_table(write(f"truth.json{suffix}", b'{"F-1": true}')).to_dict("list") == {
        "finding_id": ["F-1"],
        "truth": [True],
    }
    bomb = write(f"bomb.csv{suffix}", CSV + b"F-2,yes\n" * 300_000)
    monkeypatch.setattr(table_limits, "MAX_TEXT_TABLE_BYTES", 2**21)
    assert bomb.stat().st_size < 2**16
    with pytest.raises(TableError, match=f"bomb.csv{suffix}: has more than 2 MB of text, .* Fix: {ADVICE}"):
        read_table(bomb)
    damaged = tmp_path / f"damaged.csv{suffix}"
    damaged.write_bytes(bomb.read_bytes()[:-20])
    monkeypatch.undo()
    with pytest.raises(
        InputError, match=f"damaged.csv{suffix}: (cannot be decompressed|cannot be read|is not a table)"
    ):
        read_table(damaged)


def test_long_text_tables_are_refused_by_their_size(tmp_path, monkeypatch):
    monkeypatch.setattr(table_limits, "MAX_TEXT_TABLE_BYTES", 10)
    for name in ("truth.csv", "truth.tsv", "truth.json"):
        (tmp_path / name).write_bytes(CSV)
        with pytest.raises(TableError, match=f"{name}: has more than 0 MB of text"):
            read_table(tmp_path / name)


def test_an_archive_of_several_files_is_no_table(tmp_path):
    with pytest.raises(TableError, match=r"a.zip: holds 2 files. Fix: give an archive of one file"):
        read_table(zipped(tmp_path / "a.zip", CSV, CSV))


def test_the_limit_of_rows_is_above_what_is_promised():
    assert MAX_TABLE_ROWS > 10_000_000


@pytest.mark.parametrize("nest", ["list", "struct", "map"])
def test_a_text_that_is_kept_once_and_meant_often_is_found_in_lists_and_structs(tmp_path, nest):
    n = 100_000
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array(["x" * 100_000]))
    ends = pa.array(range(0, n + 1, 10), pa.int32())
    made = {
        "list": lambda: pa.ListArray.from_arrays(ends, texts),
        "struct": lambda: pa.StructArray.from_arrays([texts], ["a"]),
        "map": lambda: pa.MapArray.from_arrays(ends, pa.array([f"k{i}" for i in range(n)]), texts),
    }[nest]()
    pq.write_table(pa.table({"item": made}), tmp_path / "votes.parquet", store_schema=False)
    assert (tmp_path / "votes.parquet").stat().st_size < 2_000_000
    with pytest.raises(TableError, match=r"has 9\.3 GB in memory, and 4 GB are read at once"):
        read_table(tmp_path / "votes.parquet")


def test_tables_of_columns_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(table_limits, "MAX_TABLE_COLUMNS", 100)
    frame = pd.DataFrame({f"c{n}": ["1"] for n in range(101)})
    frame.to_csv(tmp_path / "wide.csv", index=False)
    frame.to_parquet(tmp_path / "wide.parquet")
    for name in ("wide.csv", "wide.parquet"):
        with pytest.raises(TableError, match=f"{name}: has 101 columns, and 100 are read. Fix: keep the columns"):
            read_table(tmp_path / name)


def test_a_pipe_is_no_table_and_nothing_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zero.json"):
        with pytest.raises(TableError, match=f"{name}: is not a readable file. Fix: name a file."):
            read_table(tmp_path / name)


def test_json_that_is_nested_without_end_is_no_table(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match=r"deep.json: is not a table .maximum recursion depth"):
        read_table(tmp_path / "deep.json")
