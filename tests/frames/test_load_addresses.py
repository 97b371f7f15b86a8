"""Runs load from every kind of address, and their ids are paths under what was loaded (rules E4, B9)."""

from __future__ import annotations

import zipfile
from pathlib import Path

import fsspec
import pytest

from tests.frames.artifacts import as_bytes, sound
from verifyplan.errors import TableError
from verifyplan.frames.load import load


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Folders `a` (with a subfolder, hidden files, a note) and `b`."""
    for name in ("a/one.json", "a/sub/two.json", "a/.hidden.json", "a/.git/three.json", "a/.tmp-1.json", "b/one.json"):
        put(tmp_path / name)
    (tmp_path / "a/notes.txt").write_text("no run")
    return tmp_path


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.pipe("/verifyplan-test/a/one.json", as_bytes(sound()))
    system.pipe("/verifyplan-test/two.json", as_bytes(sound()))
    yield "memory://verifyplan-test"
    system.rm("/", recursive=True)


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_bytes(sound()))
    return path


def ids(*paths: object) -> list[str]:
    loaded = load(paths[0] if len(paths) == 1 else paths)
    assert loaded.errors.empty
    assert loaded.findings.groupby("run_id", sort=False).size().to_dict() == dict.fromkeys(loaded.runs["run_id"], 2)
    return loaded.runs["run_id"].tolist()


@pytest.mark.parametrize("kind", [Path, str])
def test_a_file_is_named_by_its_stem(runs, kind):
    assert ids(kind(runs / "a/sub/two.json")) == ["two"]


@pytest.mark.parametrize("end", ["", "/"])
def test_a_folder_gives_its_runs_and_those_below_but_no_hidden_ones(runs, end):
    assert ids(f"{runs}/a{end}") == ["one", "sub/two"]


def test_a_hidden_file_or_folder_loads_when_it_is_named(runs):
    assert ids(runs / "a/.hidden.json") == [".hidden"]
    assert ids(runs / "a/.git") == ["three"]
    assert ids(f"{runs}/a/.h*.json") == [".hidden"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a/*.json", ["one"]),
        ("a/**/*.json", ["one", "sub/two"]),
        ("*/one.json", ["a/one", "b/one"]),
        ("[ab]/on?.json", ["a/one", "b/one"]),
    ],
)
def test_a_glob_gives_ids_under_the_part_before_its_first_wildcard(runs, pattern, expected):
    assert sorted(ids(f"{runs}/{pattern}")) == expected


def test_several_paths_are_named_under_their_common_folder_in_the_order_given(runs):
    assert ids(runs / "b", str(runs / "a")) == ["b/one", "a/one", "a/sub/two"]
    assert ids(runs / "a/one.json", runs / "a/sub/two.json") == ["one", "sub/two"]
    assert load(path for path in (runs / "a", runs / "b")).runs["run_id"].tolist() == ["a/one", "a/sub/two", "b/one"]


def test_a_file_reached_twice_is_one_run(runs, monkeypatch):
    assert ids(runs / "a/one.json", runs / "a/one.json") == ["one"]
    assert ids(runs / "a/sub/two.json", runs / "a") == ["sub/two", "one"]
    assert ids(runs / "a", runs / "b/../a", f"file://{runs}/a", f"{runs}/a/*.json") == ["one", "sub/two"]
    monkeypatch.chdir(runs)
    assert ids("a", runs / "a", "./a/") == ["one", "sub/two"]


def test_relative_paths_are_those_of_the_working_folder(runs, monkeypatch):
    monkeypatch.chdir(runs / "a")
    assert ids(".") == ["one", "sub/two"]
    assert ids("sub") == ["two"]
    assert ids("../b") == ["one"]
    assert ids("*.json") == ["one"]


def test_the_home_folder_may_be_a_tilde(runs, monkeypatch):
    monkeypatch.setenv("HOME", str(runs))
    assert ids("~/a") == ["one", "sub/two"]


def test_the_source_is_the_file(runs):
    assert load(runs / "b").runs["source"].tolist() == [str(runs / "b/one.json")]


@pytest.mark.parametrize(
    "folder", ["with space", "ünï", "v1.2.d", "[brackets]", "[!a]", "what?", "st*r", "a::b", "c:d", "#1", "%20", "~x"]
)
@pytest.mark.parametrize("way", ["folder", "file", "parent"])
def test_any_name_of_a_folder_is_taken_as_it_is(tmp_path, folder, way):
    path = put(tmp_path / "r" / folder / "run.v1.json")
    put(tmp_path / "r" / "a" / "wrong.json")
    put(tmp_path / "r" / "c" / "wrong.json")
    if way == "parent":
        assert f"{folder}/run.v1" in ids(tmp_path / "r")
    else:
        assert ids(path if way == "file" else path.parent) == ["run.v1"]


def test_names_that_differ_in_dots_alone_are_different_runs(tmp_path):
    for name in ("run.json", "run.v1.json", "run.v2.json"):
        put(tmp_path / name)
    assert sorted(ids(tmp_path)) == ["run", "run.v1", "run.v2"]


def test_links_to_files_load_and_a_folder_that_links_to_itself_ends(tmp_path):
    put(tmp_path / "real/one.json")
    (tmp_path / "real/again.json").symlink_to(tmp_path / "real/one.json")
    (tmp_path / "real/self").symlink_to(tmp_path / "real")
    (tmp_path / "latest").symlink_to(tmp_path / "real")
    assert ids(tmp_path / "real") == ["again", "one"]
    assert ids(tmp_path / "latest") == ["again", "one"]


def test_an_fsspec_address_gives_the_same_ids(runs, memory):
    assert ids(f"file://{runs}/a") == ["one", "sub/two"]
    assert sorted(ids(memory)) == ["a/one", "two"]
    assert ids(f"{memory}/a/one.json") == ["one"]
    assert ids(f"{memory}/*.json") == ["two"]
    assert sorted(ids("memory://")) == ["verifyplan-test/a/one", "verifyplan-test/two"]


def test_runs_load_from_inside_a_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        archive.writestr("r/one.json", as_bytes(sound()))
        archive.writestr("two.json", as_bytes(sound()))
    assert sorted(ids(f"zip://::{tmp_path}/runs.zip")) == ["r/one", "two"]


@pytest.mark.usefixtures("memory")
def test_one_path_on_two_systems_is_two_runs(tmp_path):
    twin = put(tmp_path / "two.json")
    fsspec.filesystem("memory").pipe(str(twin), as_bytes(sound()))
    assert ids(f"memory://{twin}") == ["two"]
    with pytest.raises(TableError, match="1 rows repeat the key of another, the first at run_id two"):
        load([twin, f"memory://{twin}"])


def test_saved_tables_load_alone_and_beside_artifacts(runs):
    load(runs / "a").save(runs / "saved")
    assert ids(runs / "saved") == ["one", "sub/two"]
    assert ids(f"file://{runs}/saved") == ["one", "sub/two"]
    assert ids(runs / "saved", runs / "saved") == ["one", "sub/two"]
    put(runs / "c/three.json")
    assert sorted(ids(runs / "saved", runs / "c")) == ["one", "sub/two", "three"]
