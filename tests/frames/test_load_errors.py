"""What cannot be loaded is told in full: where, what, and what to do; the rest is there if wanted (rule H3)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.frames.artifacts import as_bytes, sound
from verifyplan import datasets
from verifyplan.analysis.replay import replay
from verifyplan.errors import ArtifactError, InputError, LogError, TableError
from verifyplan.frames import run_files
from verifyplan.frames.load import load
from verifyplan.frames.runset import TABLE_NAMES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One sound run and three that are not."""
    (tmp_path / "ok.json").write_bytes(as_bytes(sound()))
    (tmp_path / "cut.json").write_bytes(as_bytes(sound())[:99])
    (tmp_path / "two.json").write_bytes(as_bytes({**sound(), "finalState": "over", "totalRounds": -1}))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "list.json").write_text("[]")
    return tmp_path


@pytest.fixture(scope="module")
def saved_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Saved tables of a run named `ok`, to copy."""
    (path := tmp_path_factory.mktemp("once") / "ok.json").write_bytes(as_bytes(sound()))
    return load(path).save(path.parent / "saved")


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone", r"gone: is not there\. Fix: name a file, a folder, a glob or an fsspec address"),
        ("gone.json", r"gone\.json: is not there"),
        ("gone/*.json", r"gone/\*\.json: holds no run\. Fix: name a folder or glob that holds state artifacts"),
        ("empty", r"empty: holds no run\. Fix"),
        ("folder.json", r"folder\.json: holds no run"),
        ("notes", r"notes: holds no run"),
        ("loop", r"loop: is not there"),
        ("long" * 2000, r"longlong.*: is not there|cannot be opened"),
    ],
)
def test_an_address_without_runs_is_an_input_error(tmp_path, path, message, strict):
    for name in ("empty", "folder.json", "notes"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes" / "notes.txt").write_text("no run")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(InputError, match=message) as caught:
        load(tmp_path / path, strict=strict)
    assert len(caught.value.problems) == 1
    assert str(caught.value).count("Fix: ") == 1


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([], "paths: names nothing. Fix: name at least one path"),
        ("", "paths: holds an empty name"),
        ("nope://x", "nope://x: cannot be opened .Protocol not known: nope"),
        ("~nobody-has-this-name/x", "~nobody-has-this-name/x: cannot be opened"),
    ],
)
def test_a_name_that_cannot_be_looked_up_is_an_input_error(paths, message):
    with pytest.raises(InputError, match=message):
        load(paths)


def test_every_address_that_is_wrong_is_listed(folder):
    with pytest.raises(InputError, match="gone1: is not there") as caught:
        load([folder / "gone1", folder, folder / "gone2", "nope://x"])
    assert [Path(problem.place).name for problem in caught.value.problems] == ["gone1", "gone2", "x"]


@pytest.mark.parametrize("name", ["votes.csv", "runs.parquet", "run", "run.JSON", "run.json.bak"])
def test_a_file_that_is_no_json_is_told_what_to_do(tmp_path, name):
    (tmp_path / name).write_bytes(as_bytes(sound()))
    with pytest.raises(InputError, match=rf"{name}: a .* is not a run\. Fix: load a \.json artifact or .* from_votes"):
        load(tmp_path / name)


def test_strict_lists_the_problems_of_all_files(folder):
    with pytest.raises(ArtifactError, match="Fix: ") as caught:
        load(folder)
    told = [problem.place.removeprefix(f"{folder}/") for problem in caught.value.problems]
    assert told == [
        "cut.json: line 6, column 18",
        "two.json: /finalState",
        "two.json: /totalRounds",
    ]


def test_lenient_gives_what_could_be_read_and_says_what_could_not(folder):
    loaded = load(folder, strict=False)
    assert loaded.runs["run_id"].tolist() == ["ok"]
    assert list(loaded.errors) == ["source", "place", "message", "fix"]
    assert loaded.errors["source"].map(lambda path: Path(path).name).tolist() == ["cut.json"] + ["two.json"] * 2 + [
        "list.json"
    ]
    assert loaded.errors["place"].iloc[1] == f"{folder}/two.json: /finalState"
    assert loaded.errors["message"].iloc[1] == "'over' is not allowed"
    assert loaded.errors["fix"].str.len().gt(0).all()
    assert "4 errors" in repr(loaded)


def test_lenient_with_nothing_readable_gives_empty_tables_and_the_errors(folder):
    loaded = load(folder / "cut.json", strict=False)
    assert (len(loaded), len(loaded.votes), len(loaded.errors)) == (0, 0, 1)


FOREIGN = {
    "package.json": '{"name": "shop", "version": "1.0.0"}',
    "tsconfig.json": "{ // comments are no JSON\n}",
    "events.jsonl": '{"event": "login"}\n',
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("address", ["", "/*.json*"])
def test_files_of_other_programs_in_a_folder_or_glob_are_passed_over_and_named(tmp_path, address, strict):
    (tmp_path / "ok.json").write_bytes(as_bytes(sound()))
    for name, text in FOREIGN.items():
        (tmp_path / name).write_text(text)
    loaded = load(f"{tmp_path}{address}", strict=strict)
    assert loaded.runs["run_id"].tolist() == ["ok"]
    assert [Path(source).name for source in loaded.errors["source"]] == sorted(FOREIGN)
    assert loaded.errors["message"].tolist() == [
        "is not a run, as it has no run-started event: passed over",
        *["is not a run, as it has no schemaVersion: passed over"] * 2,
    ]


@pytest.mark.parametrize("text", ["{", '{"a":', '{"schemaVer', '{"a": [1, 2', "{\n  "])
def test_a_json_object_in_a_folder_that_ends_too_early_may_be_a_run_and_is_damage(tmp_path, text):
    (tmp_path / "ok.json").write_bytes(as_bytes(sound()))
    (tmp_path / "cut.json").write_text(text)
    with pytest.raises(ArtifactError, match=r"cut\.json.*is not JSON"):
        load(tmp_path)
    loaded = load(tmp_path, strict=False)
    assert (loaded.runs["run_id"].tolist(), len(loaded.errors)) == (["ok"], 1)


def test_a_log_in_a_folder_that_was_cut_within_its_first_line_is_damage(tmp_path):
    (tmp_path / "ok.json").write_bytes(as_bytes(sound()))
    log = next(Path(datasets.path("live-example")).rglob("*.jsonl")).read_bytes()
    for n in [*range(1, 80), log.index(b"\n") - 1]:
        (tmp_path / "cut.jsonl").write_bytes(log[:n])
        with pytest.raises(LogError, match=r"cut\.jsonl: contains no run: it has no complete run-started line"):
            load(tmp_path)
    loaded = load(tmp_path, strict=False)
    assert (loaded.runs["run_id"].tolist(), len(loaded.errors)) == (["ok"], 1)


@pytest.mark.parametrize(
    "text",
    ['{"event":"lo', '{"seq":2,"at":"', '{"seq":1,"at":"noon","event":"login"}', '{"seq":1,"at":"1"}\n{"seq":2,'],
)
def test_a_log_of_another_program_is_passed_over_also_where_it_is_cut(tmp_path, text):
    (tmp_path / "ok.json").write_bytes(as_bytes(sound()))
    (tmp_path / "other.jsonl").write_text(text)
    assert load(tmp_path).errors["message"].str.endswith("passed over").all()


@pytest.mark.parametrize("text", ['{"a": 1}\n{"a":', '/* a */ {"a":', "{'a':", "[1, 2", '"a'])
def test_what_is_no_object_that_ends_too_early_is_of_another_program(tmp_path, text):
    (tmp_path / "ok.json").write_bytes(as_bytes(sound()))
    (tmp_path / "other.json").write_text(text)
    assert load(tmp_path).errors["message"].str.endswith("passed over").all()


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_another_program_is_an_error_where_it_is_named(tmp_path, name):
    (tmp_path / "ok.json").write_bytes(as_bytes(sound()))
    (tmp_path / name).write_text(FOREIGN[name])
    for paths in (tmp_path / name, [tmp_path, tmp_path / name], [tmp_path / name, tmp_path]):
        with pytest.raises(InputError, match=name):
            load(paths)


def test_a_folder_of_nothing_but_files_of_other_programs_holds_no_run(tmp_path):
    (tmp_path / "package.json").write_text("{}")
    with pytest.raises(InputError, match=r"package\.json: is not a run, as it has no schemaVersion: passed over"):
        load(tmp_path)


def test_a_sound_folder_has_no_errors(folder):
    for strict in (True, False):
        errors = load(folder / "ok.json", strict=strict).errors
        assert list(errors) == ["source", "place", "message", "fix"]
        assert errors.empty


def test_a_dead_link_and_a_pipe_are_errors_and_nothing_waits(folder):
    for name in ("cut.json", "two.json", "sub/list.json"):
        (folder / name).unlink()
    (folder / "dead.json").symlink_to(folder / "nowhere.json")
    (folder / "self.json").symlink_to(folder / "self.json")
    os.mkfifo(folder / "pipe.json")
    loaded = load(folder, strict=False)
    assert loaded.runs["run_id"].tolist() == ["ok"]
    assert loaded.errors["source"].map(lambda path: Path(path).stem).tolist() == ["dead", "pipe", "self"]
    with pytest.raises(InputError, match=r"dead\.json: is not a readable file\. Fix: "):
        load(f"{folder}/*.json")


def test_a_file_without_the_right_to_read_is_an_error(folder, monkeypatch):
    def refuse(file):
        raise PermissionError(13, "Permission denied", file.path)

    monkeypatch.setattr(run_files, "bytes_of", refuse)  # root may read every file, whatever its mode
    with pytest.raises(InputError, match=r"ok\.json: cannot be read \(Permission denied\)\. Fix: check the file"):
        load(folder / "ok.json")
    assert len(load(folder, strict=False).errors) == 4


def damage_table(saved: Path, table: str, damage: str) -> None:
    path = saved / f"{table}.parquet"
    data = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "gone":
        path.write_bytes({"junk": b"PAR1 junk PAR1", "empty": b"", "cut": data[: len(data) // 2]}[damage])


@pytest.mark.parametrize(
    ("damage", "tables"),
    [("junk", TABLE_NAMES), ("gone", TABLE_NAMES[1:])],  # a folder without runs.parquet holds no saved tables
)
def test_of_damaged_saved_tables_each_file_is_named(saved_once, tmp_path, damage, tables):
    saved = shutil.copytree(saved_once, tmp_path / "saved")
    for table in tables:
        damage_table(saved, table, damage)
    with pytest.raises(TableError) as caught:
        load(saved)
    assert [Path(problem.place).stem for problem in caught.value.problems] == list(tables)
    assert all(problem.message.startswith("cannot be read (") for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("table", "damage"),
    [("runs", "junk"), ("messages", "gone"), *(("votes", each) for each in ("junk", "gone", "empty", "cut", "folder"))],
)
def test_damaged_saved_tables_name_the_file(folder, saved_once, table, damage):
    shutil.copytree(saved_once, folder / "saved")
    damage_table(folder / "saved", table, damage)
    with pytest.raises(TableError, match=rf"{table}\.parquet: cannot be read \(.*\)\. Fix: save the runs again"):
        load(folder / "saved")
    lenient = load([folder / "saved", folder], strict=False)
    assert lenient.runs["run_id"].tolist() == ["ok"]
    assert lenient.errors["source"].iloc[0] == str(folder / "saved")


def test_saved_tables_with_foreign_values_name_file_and_column(folder):
    saved = load(folder / "ok.json")
    saved.votes.assign(verdict="maybe").to_parquet(saved.save(folder / "saved") / "votes.parquet")
    with pytest.raises(TableError, match=r"votes\.parquet: column verdict: holds 'maybe'\. Fix: use 'agree'"):
        load(folder / "saved")


def test_runs_of_one_id_from_two_places_are_refused(folder):
    load(folder / "ok.json").save(folder / "saved")
    with pytest.raises(TableError, match="1 rows repeat the key of another, the first at run_id ok"):
        load([folder / "saved", folder / "ok.json"])


def test_an_artifact_that_breaks_a_rule_is_refused_and_leniently_read_and_listed(folder):
    for name in ("cut.json", "two.json", "sub/list.json"):
        (folder / name).unlink()
    broken = {**sound(), "finalState": "converged", "round2SkippedReason": "not-skipped"}
    (folder / "broken.json").write_bytes(as_bytes(broken))
    with pytest.raises(ArtifactError, match=r"broken\.json: /finalState: 'converged', but 1 finding stayed") as caught:
        load(folder)
    assert len(caught.value.problems) == 2
    lenient = load(folder, strict=False)
    assert lenient.runs["run_id"].tolist() == ["broken", "ok"]
    assert [Path(place).name for place in lenient.errors["place"].str.replace(": /", "-")] == [
        "broken.json-finalState",
        "broken.json-round2SkippedReason",
    ]
    votes = lenient.votes.set_index("run_id")
    assert votes.loc["broken", "verdict"].tolist() == votes.loc["ok", "verdict"].tolist()


def test_an_artifact_whose_ids_repeat_is_left_out_leniently(folder):
    content = sound()
    content["findings"][1]["findingId"] = "F-2"
    (folder / "twice.json").write_bytes(as_bytes(content))
    lenient = load([folder / "twice.json", folder / "ok.json"], strict=False)
    assert lenient.runs["run_id"].tolist() == ["ok"]
    assert lenient.errors["message"].tolist() == ["'F-2' is the id of /findings/0 already"]


def test_a_missing_basis_is_listed_leniently_and_filled_by_the_reading(folder):
    content = sound()
    content["findings"][0]["rounds"][0]["votes"]["cy"]["disagreeBasis"] = None
    (folder / "ok.json").write_bytes(as_bytes(content))
    with pytest.raises(ArtifactError, match="null on a disagree of an adversarial run"):
        load(folder / "ok.json")
    table = replay(load(folder / "ok.json", strict=False), "recorded").set_index("finding_id")
    assert table.loc["F-2", ["classification", "rule", "filled_bases"]].tolist() == ["contested", "hard-refute", 1]


def test_a_file_that_is_nested_without_end_is_an_error(tmp_path):
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000
    (tmp_path / "deep.json").write_bytes(as_bytes(sound())[:-1] + b', "x": ' + deep + b"}")
    with pytest.raises(ArtifactError, match=r"deep.json: is nested without end"):
        load(tmp_path)


def test_a_name_that_is_not_utf_8_is_an_error_and_costs_no_other_file(tmp_path):
    (tmp_path / "ok.json").write_bytes(as_bytes(sound()))
    with open(os.fsencode(tmp_path) + b"/\xff.json", "wb") as file:  # noqa: PTH123
        file.write(as_bytes(sound()))
    with pytest.raises(InputError, match=r"\\xff.json: has a name that is not UTF-8. Fix: rename it"):
        load(tmp_path)
    assert len(load(tmp_path, strict=False)) == 1


def test_a_number_of_rounds_beyond_all_measure_is_an_error(tmp_path):
    (tmp_path / "votes.csv").write_text("a,b,c\n1,x,agree\n")
    columns = {"item": "a", "worker": "b", "verdict": "c", "max_rounds": "9" * 5000}
    (tmp_path / "votes.csv.columns.json").write_bytes(as_bytes({"columns": columns}))
    with pytest.raises(InputError, match=r"max_rounds must be an integer of at least 1, got '9999"):
        load(tmp_path / "votes.csv")
