"""A dataset equals the runs that it was compiled from, and a compile reads only what is new or changed (rule E5)."""

from __future__ import annotations

import os
import shutil
from zipfile import ZipFile

import pytest
from filelock import FileLock

import verifyplan as vp
from tests.frames.dataset.folders import expect_equal, write_run
from verifyplan.errors import ArtifactError, InputError
from verifyplan.frames.dataset import compile as compiling
from verifyplan.frames.dataset.compile import compile_dataset
from verifyplan.frames.dataset.manifest import MANIFEST

DAY = 86_400


@pytest.fixture
def runs(tmp_path):
    """Five runs that were written a day ago."""
    for name in ("a", "b", "c/d", "c/e", "f"):
        write_run(tmp_path / "runs", name)
    age(tmp_path / "runs")
    return tmp_path / "runs"


def age(folder):
    for path in folder.rglob("*.json*"):
        os.utime(path, (path.stat().st_atime - DAY, path.stat().st_mtime - DAY))


def files_of(dataset):
    return {path.relative_to(dataset).as_posix() for path in dataset.rglob("*") if path.is_file()}


@pytest.mark.parametrize("part_votes", [1, 5, 500])
def test_a_dataset_equals_its_runs(runs, tmp_path, part_votes, monkeypatch):
    monkeypatch.setattr(compiling, "_BATCH_BYTES", 1)
    done = compile_dataset(runs, tmp_path / "set", part_votes=part_votes)
    assert (done.n_runs, done.added, done.n_parts) == (5, 5, {1: 5, 5: 2, 500: 1}[part_votes])
    assert "run files: 5 added, 0 changed, 0 removed" in repr(done), "a console and a notebook show the words"
    expect_equal(vp.load(tmp_path / "set"), vp.load(runs))


def test_logs_of_every_kind_compile(tmp_path):
    shutil.copytree(vp.datasets.path("contract"), tmp_path / "runs/contract")
    shutil.copytree(vp.datasets.path("live-example"), tmp_path / "runs/logs")
    compile_dataset(tmp_path / "runs", tmp_path / "set")
    dataset = vp.load(tmp_path / "set")
    assert {"cross", "plan"} <= set(dataset.runs["kind"])
    expect_equal(dataset, vp.load(tmp_path / "runs"))


def test_what_did_not_change_is_not_read_again(runs, tmp_path, monkeypatch):
    compile_dataset(runs, tmp_path / "set")
    before = files_of(tmp_path / "set")
    monkeypatch.setattr(compiling, "read_files", None)
    done = compile_dataset(runs, tmp_path / "set")
    assert (done.added, done.changed, done.removed, done.written) == (0, 0, 0, 0)
    assert files_of(tmp_path / "set") == before


def test_a_file_that_was_only_touched_is_digested_and_kept(runs, tmp_path, monkeypatch):
    compile_dataset(runs, tmp_path / "set")
    (runs / "a.json").touch()
    monkeypatch.setattr(compiling, "read_files", None)
    assert compile_dataset(runs, tmp_path / "set").changed == 0


def test_new_changed_and_removed_runs(runs, tmp_path):
    compile_dataset(runs, tmp_path / "set", part_votes=1)
    write_run(runs, "new")
    write_run(runs, "b", explanation="holds, as a test shows")
    (runs / "f.json").unlink()
    done = compile_dataset(runs, tmp_path / "set", part_votes=1)
    assert (done.added, done.changed, done.removed) == (1, 1, 1)
    assert str(done).split("\n")[1] == "run files: 1 added, 1 changed, 1 removed; 2 parts written"
    expect_equal(vp.load(tmp_path / "set"), vp.load(runs))
    named = {f"parts/{part.name}/votes.parquet" for part in vp.load(tmp_path / "set").statistics}
    assert {name for name in files_of(tmp_path / "set") if name.endswith("votes.parquet")} == named


def test_a_change_of_the_same_size_within_a_clock_tick_is_found(tmp_path):
    write_run(tmp_path / "runs", "a", explanation="one")
    compile_dataset(tmp_path / "runs", tmp_path / "set")
    path = tmp_path / "runs/a.json"
    times = path.stat()
    write_run(tmp_path / "runs", "a", explanation="two")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert compile_dataset(tmp_path / "runs", tmp_path / "set").changed == 1


def test_a_log_takes_the_place_of_its_artifact(tmp_path):
    source = min(vp.datasets.path("live-example").rglob("*.jsonl"))
    write_run(tmp_path / "runs", "a")
    compile_dataset(tmp_path / "runs", tmp_path / "set")
    shutil.copy(source, tmp_path / "runs/a.jsonl")
    compile_dataset(tmp_path / "runs", tmp_path / "set")
    assert vp.load(tmp_path / "set").runs["log"].tolist() == [True]


def test_many_small_parts_are_joined(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "MAX_SMALL_PARTS", 3)
    for number in range(5):
        write_run(tmp_path / "runs", str(number))
        done = compile_dataset(tmp_path / "runs", tmp_path / "set")
    assert done.n_parts == 2
    expect_equal(vp.load(tmp_path / "set"), vp.load(tmp_path / "runs"))


def test_a_damaged_file_refuses_the_compile_and_the_old_dataset_stays(runs, tmp_path):
    compile_dataset(runs, tmp_path / "set")
    before = files_of(tmp_path / "set")
    write_run(runs, "new")
    (runs / "bad.json").write_text('{"schemaVersion": 1')
    with pytest.raises(ArtifactError, match=r"bad\.json"):
        compile_dataset(runs, tmp_path / "set")
    assert files_of(tmp_path / "set") == before
    assert len(vp.load(tmp_path / "set")) == 5


def test_leniently_a_damaged_file_is_left_out_and_named_until_it_is_mended(runs, tmp_path):
    (runs / "bad.json").write_text('{"schemaVersion": 1')
    (runs / "package.json").write_text("{}")
    for _ in range(2):
        done = compile_dataset(runs, tmp_path / "set", strict=False)
        assert done.n_runs == 5
        assert sorted(error["source"].rpartition("/")[2] for error in done.errors) == ["bad.json", "package.json"]
    assert len(vp.load(tmp_path / "set").errors) == 2
    write_run(runs, "bad")
    assert compile_dataset(runs, tmp_path / "set").n_runs == 6


def test_another_process_is_refused(runs, tmp_path):
    compile_dataset(runs, tmp_path / "set")
    with (
        FileLock(tmp_path / "set/.verifyplan-dataset.lock"),
        pytest.raises(InputError, match="is being compiled by another process"),
    ):
        compile_dataset(runs, tmp_path / "set")


def test_a_folder_of_other_files_is_refused(runs, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/mine").touch()
    with pytest.raises(InputError, match="holds files that are not a dataset"):
        compile_dataset(runs, tmp_path)
    assert (tmp_path / "parts/mine").exists()


def test_a_dataset_of_other_runs_is_refused(runs, tmp_path):
    compile_dataset(runs, tmp_path / "set")
    with pytest.raises(InputError, match=r"was compiled from .*runs, and not from .*/c"):
        compile_dataset(runs / "c", tmp_path / "set")


def test_saved_tables_are_refused(runs, tmp_path):
    vp.load(runs).save(tmp_path / "tables")
    with pytest.raises(InputError, match="a dataset is compiled from run files"):
        compile_dataset(tmp_path / "tables", tmp_path / "set")


def test_runs_that_are_all_gone_leave_the_dataset(runs, tmp_path):
    compile_dataset(runs, tmp_path / "set")
    shutil.rmtree(runs)
    with pytest.raises(InputError, match="is not there"):
        compile_dataset(runs, tmp_path / "set")
    assert len(vp.load(tmp_path / "set")) == 5


def test_a_dataset_of_another_version_is_compiled_anew(runs, tmp_path):
    compile_dataset(runs, tmp_path / "set")
    manifest = tmp_path / "set" / MANIFEST
    manifest.write_text(manifest.read_text().replace('"schema": "2-', '"schema": "0-'))
    with pytest.raises(InputError, match="was compiled by another version"):
        vp.load(tmp_path / "set")
    assert compile_dataset(runs, tmp_path / "set").added == 5
    expect_equal(vp.load(tmp_path / "set"), vp.load(runs))


def test_a_damaged_manifest_is_named(runs, tmp_path):
    compile_dataset(runs, tmp_path / "set")
    (tmp_path / "set" / MANIFEST).write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        vp.load(tmp_path / "set")


def test_any_file_system_holds_a_dataset(runs):
    compile_dataset(runs, "memory://compiled/set")
    write_run(runs, "new")
    assert compile_dataset(runs, "memory://compiled/set").added == 1
    expect_equal(vp.load("memory://compiled/set"), vp.load(runs))


def test_runs_are_compiled_from_any_file_system(runs, tmp_path):
    with ZipFile(tmp_path / "runs.zip", "w") as packed:
        for path in runs.rglob("*.json"):
            packed.write(path, path.relative_to(runs))
    address = f"zip://::{tmp_path / 'runs.zip'}"
    assert compile_dataset(address, tmp_path / "set").added == 5
    expect_equal(vp.load(tmp_path / "set"), vp.load(runs))
    again = compile_dataset(address, tmp_path / "set")  # the system tells no times: contents are compared
    assert (again.added, again.changed, again.written) == (0, 0, 0)


def test_parts_that_were_ended_by_their_bytes_are_not_joined_again(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "MAX_SMALL_PARTS", 2)
    monkeypatch.setattr(compiling, "PART_BYTES", 1)
    for number in range(4):
        write_run(tmp_path / "runs", str(number))
        assert compile_dataset(tmp_path / "runs", tmp_path / "set").written == 1


def test_a_list_of_run_files_that_is_gone_is_named(runs, tmp_path):
    compile_dataset(runs, tmp_path / "set")
    shutil.rmtree(tmp_path / "set/sources")
    with pytest.raises(InputError, match=r"sources/.*cannot be read .*remove the dataset and compile it again"):
        compile_dataset(runs, tmp_path / "set")
