"""rule E4: analyses take tables, runs, paths and bundled names alike, and refuse anything else in words."""

from __future__ import annotations

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.errors import InputError
from verifyplan.frames.bundled import path
from verifyplan.frames.load import as_runs

ROWS = [{"finding_id": "F", "summary": "F", "evidence": "", "worker": "a"}]


@pytest.fixture
def run(tmp_path):
    """A cross run that wrote its log and artifact."""
    script = {1: {"b": {"F": {"verdict": "agree"}}}}
    return vp.crossverify(ROWS, ["a", "b"], backend=vp.agents.ScriptedBackend(script), matcher=None, log_dir=tmp_path)


def test_tables_a_run_and_its_paths_are_the_same_runs(run, tmp_path):
    frames = run.frames
    assert as_runs(frames) is frames
    assert as_runs(run) is frames
    for value in (run.log_path, str(run.log_path), run.path, tmp_path, f"{tmp_path}/**/*.jsonl"):
        assert as_runs(value).findings["classification"].tolist() == frames.findings["classification"].tolist()


def test_a_bundled_name_brings_its_truth_and_a_folder_of_that_name_comes_first(run, tmp_path, monkeypatch):
    assert as_runs("stdlib-claims/adversarial").findings["truth"].notna().all()
    monkeypatch.chdir(tmp_path)
    frames = run.frames
    frames.save(tmp_path / "contract")
    assert len(as_runs("contract")) == 1


@pytest.mark.parametrize(
    "analysis", ["compare", "agreement", "cost", "queue", "vote_matrix", "challenge_pool", "coverage", "usage"]
)
def test_an_analysis_takes_a_run_and_a_path(analysis, run):
    pd.testing.assert_frame_equal(*(_table(getattr(vp.analysis, analysis)(value)) for value in (run.frames, run)))
    assert len(_table(getattr(vp.analysis, analysis)(run.log_path))) == len(_table(getattr(vp.analysis, analysis)(run)))


def _table(result):
    return result if isinstance(result, pd.DataFrame) else result.findings


@pytest.mark.parametrize("wrong", [None, 3, pd.DataFrame(), ["runs"]])
def test_anything_else_is_refused_with_what_is_allowed(wrong):
    message = (
        rf"other: must be a RunSet, a run, a path or the name of a bundled set, got a {type(wrong).__name__}\. Fix:"
    )
    with pytest.raises(InputError, match=message):
        as_runs(wrong, "other")


def test_a_path_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"nowhere: is not there\. Fix: name a file, a folder, a glob"):
        vp.agreement("nowhere")


def test_what_is_written_into_a_bundled_set_is_in_no_other():
    mine = as_runs("contract")
    mine.votes["worker"] = "me"
    mine.findings.loc[0, "summary"] = "mine"
    mine.findings.loc[0, "discoverers"].append("me")
    again = as_runs("contract")
    assert "me" not in set(again.votes["worker"])
    assert "mine" not in set(again.findings["summary"])
    assert "me" not in again.findings.loc[0, "discoverers"]
    pd.testing.assert_frame_equal(again.findings, vp.load(path("contract")).findings)
