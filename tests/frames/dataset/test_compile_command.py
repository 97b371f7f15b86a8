"""`verifyplan compile` compiles, says what it did, and its dataset is taken where runs are (rule H2)."""

from __future__ import annotations

import shutil

import pytest

import verifyplan as vp


@pytest.fixture
def runs(tmp_path):
    shutil.copytree(vp.datasets.path("contract"), tmp_path / "runs")
    return tmp_path / "runs"


def test_a_dataset_is_compiled_and_replayed(cli, runs, tmp_path):
    done = cli("compile", runs, "--out", tmp_path / "set")
    assert (done.code, done.out.splitlines()[1]) == (0, "run files: 15 added, 0 changed, 0 removed; 1 part written")
    assert cli("replay", tmp_path / "set").out == cli("replay", runs).out
    assert cli("compare", tmp_path / "set").out == cli("compare", runs).out


def test_a_damaged_file_is_refused_or_left_out(cli, runs, tmp_path):
    (runs / "bad.json").write_text('{"schemaVersion": 1')
    refused = cli("compile", runs, "--out", tmp_path / "set")
    assert (refused.code, (tmp_path / "set/verifyplan-dataset").exists()) == (2, False)
    assert "bad.json" in refused.err
    lenient = cli("compile", runs, "--out", tmp_path / "set", "--lenient")
    assert lenient.code == 1
    assert lenient.err.startswith("left out: ")
    assert len(vp.load(tmp_path / "set")) == 15
