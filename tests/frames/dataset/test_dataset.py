"""A dataset is opened without being read, and its parts are read when they are needed (rule E5)."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

import verifyplan as vp
from tests.frames.dataset.folders import expect_equal, write_run
from verifyplan.errors import InputError
from verifyplan.frames.dataset import dataset as opening
from verifyplan.frames.dataset import part_files
from verifyplan.frames.dataset.compile import compile_dataset
from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.load import as_runs
from verifyplan.frames.runset import RunSet, concat


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four runs, compiled into parts of two."""
    root = tmp_path_factory.mktemp("dataset")
    for names in (("a", "b"), ("x", "y")):
        for name in names:
            write_run(root / "runs", name)
        compile_dataset(root / "runs", root / "set")
    return root


@pytest.fixture
def runs(folder):
    return vp.load(folder / "runs")


@pytest.fixture
def dataset(folder):
    return vp.load(folder / "set")


@pytest.fixture
def read(monkeypatch):
    """The names of the files that are read."""
    names = []
    whole = part_files.read_frame
    monkeypatch.setattr(part_files, "read_frame", lambda s, name, *a: names.append(name) or whole(s, name, *a))
    return names


def test_opening_and_showing_it_reads_nothing(folder, read):
    dataset = vp.load(folder / "set")
    assert isinstance(dataset, RunSet)
    assert repr(dataset).startswith("Dataset(4 runs, 8 findings, 8 votes, 4 rounds, 12 dispatches in 2 parts of ")
    assert dataset._repr_html_() == f"<p>{repr(dataset).replace(chr(39), '&#x27;')}</p>"
    assert (len(dataset), str(dataset), read) == (4, repr(dataset), [])


def test_a_table_is_read_once_when_it_is_needed(dataset, runs, read):
    pd.testing.assert_frame_equal(dataset.findings, runs.findings)
    assert dataset.findings is dataset.findings
    assert [name.rpartition("/")[2] for name in read] == ["findings.parquet"] * 2


def test_functions_take_it_as_they_take_runs(dataset, runs, folder):
    assert as_runs(dataset) is dataset
    pd.testing.assert_frame_equal(vp.analysis.cost(dataset), vp.analysis.cost(runs))
    assert str(vp.compare(folder / "set")) == str(vp.compare(runs))


def test_few_runs_are_read_from_their_parts(dataset, runs, read):
    few = dataset.select("y")
    assert len(few.parts) == 1
    assert repr(few).startswith("Dataset(1 selected run in 1 part of ")
    read.clear()
    pd.testing.assert_frame_equal(few.votes, runs.select("y").votes)
    assert len(read) == 1
    expect_equal(dataset.select(lambda r: r["run_id"] > "a"), runs.select(["b", "x", "y"]))


def test_a_run_that_is_not_there_is_named(dataset):
    with pytest.raises(InputError, match="'z' is not in this set"):
        dataset.select(["a", "z"])


@pytest.mark.parametrize(
    "truth",
    [
        {"F-1": True, "F-2": False},
        pd.DataFrame({"run_id": ["a", "y"], "finding_id": ["F-1", "F-1"], "truth": [True, False]}),
    ],
)
def test_truth_is_put_beside_findings(dataset, runs, truth):
    expect_equal(dataset.with_truth(truth), runs.with_truth(truth))


def test_truth_about_nothing_is_refused(dataset):
    with pytest.raises(InputError, match="no id of its 1 finding is in these runs"):
        dataset.with_truth({"F-9": True})


def test_it_goes_to_another_process_without_its_tables(dataset):
    size = len(pickle.dumps(dataset))
    _ = dataset.votes
    again = pickle.loads(pickle.dumps(dataset))
    assert len(pickle.dumps(dataset)) == size
    expect_equal(again, dataset)
    expect_equal(pickle.loads(pickle.dumps(dataset.in_memory())), dataset)


def test_without_texts_all_else_is_the_same(dataset):
    votes = dataset.without_texts().votes
    assert votes["explanation"].isna().all()
    pd.testing.assert_frame_equal(votes.drop(columns="explanation"), dataset.votes.drop(columns="explanation"))


def test_a_table_that_does_not_fit_is_refused(dataset, monkeypatch):
    monkeypatch.setattr(opening, "MAX_TABLE_BYTES", 100)
    with pytest.raises(InputError, match=r"table votes: has 0\.0 GB in memory, .*select fewer runs"):
        _ = dataset.votes


def test_a_dataset_that_was_compiled_anew_says_so(tmp_path):
    write_run(tmp_path / "runs", "a")
    compile_dataset(tmp_path / "runs", tmp_path / "set")
    before = vp.load(tmp_path / "set")
    write_run(tmp_path / "runs", "a", explanation="other")
    compile_dataset(tmp_path / "runs", tmp_path / "set")
    with pytest.raises(InputError, match="open it again: it was compiled anew since"):
        _ = before.votes


def test_a_damaged_part_is_named(tmp_path):
    write_run(tmp_path / "runs", "a")
    compile_dataset(tmp_path / "runs", tmp_path / "set")
    dataset = vp.load(tmp_path / "set")
    path = next((tmp_path / "set").rglob("rounds.parquet"))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"rounds\.parquet: cannot be read"):
        _ = dataset.rounds


def test_it_is_joined_with_other_runs(folder, runs, tmp_path):
    write_run(tmp_path, "other")
    joined = vp.load([folder / "set", tmp_path])
    expect_equal(joined, concat([runs, vp.load(tmp_path)]))


def test_other_programs_find_the_files(dataset):
    assert sum(len(pd.read_parquet(path)) for path in dataset.paths("votes")) == 8
    assert dataset.paths("messages") == []


def test_a_folder_that_is_no_dataset(tmp_path):
    with pytest.raises(InputError, match="is not a dataset"):
        Dataset.open(tmp_path)


def test_unknown_attributes_are_no_tables(dataset):
    with pytest.raises(AttributeError, match="no attribute 'ballots'"):
        _ = dataset.ballots
