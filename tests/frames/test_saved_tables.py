"""Saved tables are read again as they were, and damage of a file is an error that names it (rule E4)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import fsspec
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from verifyplan.errors import InputError, TableError
from verifyplan.frames import parquet_files, saved_tables
from verifyplan.frames.columns import TABLES, typed
from verifyplan.frames.load import load
from verifyplan.frames.runset import TABLE_NAMES, RunSet
from verifyplan.protocol.vote import CLASSIFICATIONS


@pytest.fixture(scope="module")
def runs() -> RunSet:
    """Runs of votes, read from files, with lists, missing values and every class."""
    return vp.datasets.runs("contract")


@pytest.fixture
def saved(runs: RunSet, tmp_path: Path) -> Path:
    """The folder that they were saved in."""
    return runs.save(tmp_path / "saved")


def test_all_tables_are_read_again_as_they_were(runs, saved):
    again = load(saved)
    for name in TABLE_NAMES:
        pd.testing.assert_frame_equal(getattr(again, name), getattr(runs, name), obj=name)
    assert repr(again) == repr(runs)


def test_what_is_noted_of_a_table_is_kept_and_the_tables_that_are_saved_do_not_change(runs, tmp_path):
    votes = runs.votes.copy()
    votes.attrs["source"] = {"year": 2026}
    again = load(RunSet(runs=runs.runs, findings=runs.findings, votes=votes).save(tmp_path))
    assert again.votes.attrs == votes.attrs == {"source": {"year": 2026}}
    assert again.runs.attrs == runs.runs.attrs == {}


TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAMES = st.sampled_from(["ann", "bób", "", "日本"])
NAME_LISTS = st.lists(NAMES, max_size=4) | st.lists(NAMES, min_size=30, max_size=32)


@settings(max_examples=examples(5), deadline=None)  # each writes some twenty files, to the disk
@given(st.data())
def test_any_tables_are_read_again_as_they_were(data):
    n = data.draw(st.integers(0, 20))
    column = partial(st.lists, min_size=n, max_size=n)
    findings = {
        "run_id": ["r"] * n,
        "finding_id": data.draw(column(st.text(max_size=3).filter(str.isprintable), unique=True)),
        "summary": data.draw(column(TEXTS)),
        "category": data.draw(column(TEXTS)),
        "ticket_ids": data.draw(column(st.none() | NAME_LISTS)),
        "discoverers": data.draw(column(st.just(["ann"]))),
        "classification": data.draw(column(st.none() | st.sampled_from(CLASSIFICATIONS))),
        "truth": data.draw(column(st.none() | st.booleans())),
    } | data.draw(st.sampled_from([{}, {"mine": [0.5] * n}]))
    runs = RunSet(runs=typed("runs", {"run_id": ["r", "ß"]}), findings=typed("findings", findings))
    with TemporaryDirectory() as folder:
        again = load(runs.save(folder))
        for name in TABLE_NAMES:
            pd.testing.assert_frame_equal(getattr(again, name), getattr(runs, name), obj=name)


@pytest.mark.parametrize("options", [{"row_group_size": 2}, {"use_dictionary": False}, {"compression": "none"}])
def test_a_table_that_another_program_wrote_anew_is_read(runs, saved, options):
    for name in ("findings", "votes"):
        path = saved / f"{name}.parquet"
        pq.write_table(pq.read_table(path).replace_schema_metadata(None), path, **options)
        pd.testing.assert_frame_equal(getattr(load(saved), name), getattr(runs, name), obj=name)


def test_any_reader_of_parquet_reads_some_columns(runs, saved):
    table = pd.read_parquet(saved / "votes.parquet", columns=["worker", "explanation"])
    assert table.to_dict("list") == runs.votes[["worker", "explanation"]].to_dict("list")
    assert {pq.read_metadata(path).row_group(0).column(0).compression for path in saved.glob("[v]*.parquet")} == {
        "ZSTD"
    }


@pytest.mark.parametrize("name", ["findings", "votes"])
def test_a_changed_bit_changes_no_value(runs, saved, name):
    path, errors = saved / f"{name}.parquet", []
    whole = path.read_bytes()
    end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for place in range(4, end, 149):
        data = bytearray(whole)
        data[place] ^= 1 << place % 8
        path.write_bytes(data)
        try:
            pd.testing.assert_frame_equal(getattr(load(saved), name), getattr(runs, name))
        except TableError as error:
            errors.append(str(error))
    assert len(errors) > (end - 4) / 149 / 2, "most bytes are values"
    assert all(f"{path}: cannot be read (" in error for error in errors)


def test_tables_of_another_version_are_refused_each_by_name(saved, monkeypatch):
    monkeypatch.setattr(saved_tables, "VERSION", 2)
    message = (
        r"runs\.parquet: has version 1 of the saved tables, and this verifyplan reads 2\. Fix: save the runs again"
    )
    with pytest.raises(TableError, match=message) as caught:
        load(saved)
    assert len(caught.value.problems) == len(TABLES)


def test_a_save_that_is_cut_short_leaves_whole_files(runs, saved, monkeypatch):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}

    def fail(_, target):
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saved_tables, "write_frame", fail)
    with pytest.raises(OSError, match="No space left"):
        runs.select([]).save(saved)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before


def test_columns_are_written_with_checksums(tmp_path):
    frame = pd.DataFrame({"a": range(1000)})
    parquet_files.write_frame(frame, tmp_path / "with")
    frame.to_parquet(tmp_path / "without", index=False, compression="zstd")
    assert (tmp_path / "with").stat().st_size > (tmp_path / "without").stat().st_size


def test_a_row_twice_is_refused_however_the_names_are_stored(runs, saved):
    twice = pd.concat([runs.votes, runs.votes.tail(1)])
    for votes in (twice, twice.astype({"run_id": "category", "finding_id": "category", "worker": "category"})):
        votes.to_parquet(saved / "votes.parquet", index=False)
        with pytest.raises(TableError, match="1 rows repeat the key of another"):
            load(saved)


def test_tables_at_an_address_are_read(runs, saved):
    system = fsspec.filesystem("memory")
    for path in saved.iterdir():
        system.pipe_file(f"/saved-tables/{path.name}", path.read_bytes())
    pd.testing.assert_frame_equal(load("memory://saved-tables").votes, runs.votes)
    system.pipe_file("/saved-tables/votes.parquet", b"PAR1 junk PAR1")
    with pytest.raises(TableError, match=r"/saved-tables/votes\.parquet: cannot be read"):
        load("memory://saved-tables")


def test_a_file_name_is_refused_as_the_folder_of_tables(runs, tmp_path):
    with pytest.raises(InputError, match=r"one\.parquet: is the name of a file.*Fix: name it 'one'"):
        runs.save(tmp_path / "one.parquet")
    assert list(tmp_path.iterdir()) == []
    assert len(load(runs.save(tmp_path / "one"))) == len(runs)
