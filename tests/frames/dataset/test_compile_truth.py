"""Truth beside runs goes into the dataset; a compile of nothing says so and leaves nothing behind."""

from __future__ import annotations

import json
import shutil

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.errors import InputError


@pytest.fixture
def runs(tmp_path):
    """Two runs of a bundled set, in a folder of their own."""
    (tmp_path / "runs").mkdir()
    for name in ("part-01.json", "part-02.json"):
        shutil.copy(vp.datasets.path("stdlib-claims/adversarial") / name, tmp_path / "runs")
    return tmp_path / "runs"


def test_a_bundled_set_keeps_its_truth():
    compiled = vp.compile_dataset(vp.datasets.path("stdlib-claims"), "memory://with-truth")
    assert "truth of findings: claims.csv" in str(compiled)
    expected = vp.datasets.runs("stdlib-claims")
    keys = ["run_id", "finding_id"]
    dataset = vp.load("memory://with-truth").findings.set_index(keys)["truth"].sort_index()
    pd.testing.assert_series_equal(dataset, expected.findings.set_index(keys)["truth"].sort_index())


def test_truth_that_changes_is_filled_anew_and_truth_that_goes_is_gone(runs, tmp_path):
    ids = vp.load(runs).findings["finding_id"].tolist()
    pd.DataFrame({"finding_id": ids[:3], "truth": ["yes", "no", ""]}).to_csv(runs / "truth.csv", index=False)
    vp.compile_dataset(runs, tmp_path / "set")
    assert vp.load(tmp_path / "set").findings["truth"].tolist()[:4] == [True, False, pd.NA, pd.NA]
    again = vp.compile_dataset(runs, tmp_path / "set")
    assert (again.added, again.written) == (0, 0)
    pd.DataFrame({"finding_id": ids[:1], "truth": [False]}).to_csv(runs / "truth.csv", index=False)
    again = vp.compile_dataset(runs, tmp_path / "set")
    assert (again.n_runs, again.n_parts) == (2, 1)
    assert str(again).splitlines()[1] == "run files: 0 added, 0 changed, 0 removed, 2 read again; 1 part written"
    assert vp.load(tmp_path / "set").findings["truth"].tolist()[:2] == [False, pd.NA]
    (runs / "truth.csv").unlink()
    assert vp.compile_dataset(runs, tmp_path / "set").truth == ""
    assert vp.load(tmp_path / "set").findings["truth"].isna().all()
    assert len(list((tmp_path / "set/parts").iterdir())) == 1


def test_claims_without_truth_are_passed_over_and_a_file_of_truth_without_truth_is_refused(runs, tmp_path):
    (runs / "claims.csv").write_text("finding_id,summary\nF-0001,a\n")
    assert vp.compile_dataset(runs, tmp_path / "set").truth == ""
    (runs / "truth.csv").write_text("finding,truth\nF-0001,yes\n")
    with pytest.raises(InputError, match=r"truth\.csv: there is no column 'finding_id'\. Fix: give it finding_id"):
        vp.compile_dataset(runs, tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("suffix", ["csv", "json", "rows.json", "parquet"])
def test_with_truth_takes_a_path(runs, tmp_path, suffix):
    loaded = vp.load(runs)
    ids = loaded.findings["finding_id"].tolist()
    table = pd.DataFrame({"finding_id": ids, "truth": [n % 2 == 0 for n in range(len(ids))]}).drop_duplicates(
        "finding_id"
    )
    path = tmp_path / f"answers.{suffix}"
    match suffix:
        case "csv":
            table.to_csv(path, index=False)
        case "json":
            path.write_text(json.dumps(dict(zip(table["finding_id"], table["truth"].tolist(), strict=True))))
        case "rows.json":
            table.to_json(path, orient="records")
        case _:
            table.to_parquet(path)
    expected = loaded.with_truth(table).findings["truth"].tolist()
    assert loaded.with_truth(path).findings["truth"].tolist() == expected
    vp.compile_dataset(runs, tmp_path / "set")
    assert vp.load(tmp_path / "set").with_truth(str(path)).findings["truth"].tolist() == expected


def test_a_path_that_holds_no_truth_is_refused(runs, tmp_path):
    loaded = vp.load(runs)
    with pytest.raises(InputError, match="cannot be read"):
        loaded.with_truth(tmp_path / "nowhere.csv")
    (tmp_path / "bad.json").write_text("[1, 2")
    with pytest.raises(InputError, match="is not a table"):
        loaded.with_truth(tmp_path / "bad.json")
    with pytest.raises(InputError, match="truth: must be a mapping, a table or a path, got a int"):
        loaded.with_truth(3)


def test_a_compile_of_no_runs_says_what_was_passed_over_and_leaves_no_folder(cli, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/package.json").write_text('{"name": "x"}')
    done = cli("compile", tmp_path / "notes", "--out", tmp_path / "set")
    assert done.code == 2
    assert "notes: holds no run; 1 file passed over, the first (" in done.err
    assert "is not a run, as it has no schemaVersion. Fix: name a folder of run logs (.jsonl) or state" in done.err
    assert not (tmp_path / "set").exists()
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes/package.json").write_text('{"schemaVersion": ')
    assert cli("compile", tmp_path / "notes", "--out", tmp_path / "empty").code == 2
    assert (tmp_path / "empty").exists(), "a folder that was there before stays"


def test_files_without_a_run_are_counted_apart_from_those_that_are_added(cli, runs, tmp_path):
    (runs / "package.json").write_text('{"name": "x"}')
    (runs / "cut.json").write_text('{"name":')
    assert cli("compile", runs, "--out", tmp_path / "set").code == 2
    done = cli("compile", runs, "--out", tmp_path / "set", "--lenient")
    assert "run files: 2 added, 0 changed, 0 removed, 2 left out; 1 part written" in done.out
    (runs / "part-02.json").write_text('{"schemaVersion": ')
    again = cli("compile", runs, "--out", tmp_path / "set", "--lenient")
    assert "run files: 0 added, 0 changed, 0 removed, 3 left out" in again.out


def test_a_file_is_either_left_out_or_read_all_the_same(cli, runs, tmp_path):
    (runs / "broken.json").write_text('{"schemaVersion": ')
    artifact = json.loads((runs / "part-02.json").read_text())
    artifact["totalRounds"] = 7
    (runs / "part-02.json").write_text(json.dumps(artifact))
    for _ in range(2):  # also where nothing is new
        done = cli("compile", runs, "--out", tmp_path / "set", "--lenient")
        lines = done.err.splitlines()
        assert done.code == 1
        assert [line.partition(":")[0] for line in lines if "broken" in line] == ["left out"]
        assert {line.partition(":")[0] for line in lines if "part-02" in line} == {"read all the same"}
    assert set(vp.load(tmp_path / "set").runs["run_id"]) == {"part-01", "part-02"}
