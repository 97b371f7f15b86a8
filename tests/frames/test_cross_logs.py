"""A cross run's log gives the tables of its artifact, and what the artifact leaves out (rules B9, B10, E4)."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifyplan as vp
from tests.longer import examples
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.frames.artifact_tables import artifact_columns
from verifyplan.frames.columns import FIRST_TABLES
from verifyplan.frames.load import load
from verifyplan.frames.run_tables import log_columns, tables_of
from verifyplan.frames.runset import TABLE_NAMES, assemble

LOG_ALONE = [
    *("source", "backend", "prompts", "repetition", "rules_version", "roster", "started_at", "ended_at", "log"),
    *("n_reopened", "cost", "cost_perhaps"),
]
"""The columns of `runs` that an artifact does not tell."""
VOTES = [
    {"verdict": "agree"},
    {"verdict": "supplement", "explanation": "but"},
    {"verdict": "disagree", "disagree_basis": "counter-evidence", "explanation": "m.py:4"},
    {"verdict": "disagree", "disagree_basis": "burden-not-met", "explanation": "no"},
    {"verdict": "disagree"},
]
WORKERS = ["ann", "bob", "cy"]
CLAIMS = ["F-1", "F-2", "F-3"]

answers = st.dictionaries(st.sampled_from(CLAIMS), st.sampled_from(VOTES), max_size=3) | st.sampled_from(
    ["timeout", "error"]
)
scripts = st.fixed_dictionaries({n: st.fixed_dictionaries(dict.fromkeys(WORKERS, answers)) for n in (1, 2, 3)})


def run_of(script, log_dir=None, **more):
    rows = [
        {"finding_id": name, "summary": f"claim {name}", "evidence": "m.py:3", "worker": worker, "truth": name == "F-1"}
        for name, found in zip(CLAIMS, (["ann"], ["ann", "bob"], WORKERS), strict=True)
        for worker in found
    ]
    backend = ScriptedBackend(script, silent=True)
    return vp.crossverify(rows, WORKERS, backend=backend, matcher=None, log_dir=log_dir, progress=False, **more)


@settings(max_examples=examples(25))
@given(scripts, st.sampled_from(["collaborative", "adversarial"]), st.integers(1, 3), st.booleans())
def test_a_log_and_its_artifact_give_equal_tables(script, mode, max_rounds, synthetic):
    chosen = {"adversarial": mode == "adversarial", "maxRounds": max_rounds}
    run = run_of(script, settings=chosen, synthetic=synthetic)
    log, artifact = tables_of(run.records, "r"), assemble([artifact_columns(run.artifact, "r")])
    shared = [column for column in artifact.runs if column not in LOG_ALONE]
    pd.testing.assert_frame_equal(log.runs[shared], artifact.runs[shared])
    told = log.findings.drop(columns="truth")
    pd.testing.assert_frame_equal(told, artifact.findings.drop(columns="truth"))
    assert log.findings["truth"].tolist() == [True, False, False]
    pd.testing.assert_frame_equal(log.votes.drop(columns="basis_filled"), artifact.votes.drop(columns="basis_filled"))
    assert artifact.votes["basis_filled"].isna().all()  # an artifact does not tell
    for name in FIRST_TABLES[3:]:
        pd.testing.assert_frame_equal(getattr(log, name), getattr(artifact, name))


def test_from_disk_the_log_counts_and_its_export_is_not_loaded_again(tmp_path):
    run = run_of({1: {"bob": {"F-1": VOTES[0]}, "cy": {"F-1": VOTES[2], "F-2": VOTES[0]}}}, log_dir=tmp_path)
    assert run.path is not None
    assert run.path.is_file()
    loaded = load(tmp_path)
    for name in TABLE_NAMES:
        pd.testing.assert_frame_equal(getattr(loaded, name), getattr(run.frames, name))
    assert loaded.runs["log"].tolist() == [True]
    assert load(run.path).runs["log"].tolist() == [False]
    assert load([run.path, run.log_path]).runs["source"].tolist() == [str(run.log_path)]
    assert len(load(f"{tmp_path}/**/*.json")) == 1


def test_items_of_a_plan_body_are_findings_of_their_own_category():
    votes = {1: {worker: {"P-1": VOTES[0], "F-1": VOTES[0], "F-2": VOTES[0]} for worker in WORKERS}}
    items = [{"finding_id": "P-1", "summary": "a step", "truth": True}]
    run = run_of(votes, task_type="implementation-planning", plan_items=items)
    tables = run.frames
    body = tables.findings[tables.findings["category"].eq("plan-body").fillna(False).to_numpy(dtype=bool)]
    assert body[["finding_id", "classification", "truth"]].to_numpy().tolist() == [["P-1", "full-consensus", True]]
    assert tables.votes.groupby("finding_id").size().to_dict() == {"F-1": 2, "F-2": 1, "P-1": 3}
    assert tables.runs["n_findings"].tolist() == [3]
    assert tables.rounds["input_queue_size"].tolist() == [2]  # the findings' own, as in the artifact
    assert tables.calls["call_id"].tolist()[-3:] == ["p1/ann", "p1/bob", "p1/cy"]


def test_calls_are_told_with_what_they_were_asked():
    calls = run_of({1: {"bob": "timeout", "cy": {"F-1": VOTES[0]}}}, settings={"maxRounds": 1}).frames.calls
    told = calls.set_index("call_id")
    assert told["status"].to_dict() == {"r1/bob": "timeout", "r1/cy": "completed"}
    assert told.loc["r1/cy", "items"] == ["F-1", "F-2"]
    assert (told["role"] == "worker").all()
    assert (told["iteration"] == 0).all()
    assert "scripted timeout" in told.loc["r1/bob", "reason"]


def test_a_run_that_was_cut_off_gives_the_rows_there_are():
    run = run_of({1: {"bob": {"F-1": VOTES[0]}, "cy": {"F-1": VOTES[3], "F-2": VOTES[2]}}})
    lengths = range(1, len(run.records))
    cut = assemble(log_columns(run.records[:length], f"cut at {length}") for length in lengths)
    assert not cut.runs["finished"].any()
    assert cut.runs["final_state"].isna().all()
    last = cut.select([f"cut at {lengths[-1]}"])
    assert last.votes["verdict"].tolist() == run.frames.votes["verdict"].tolist()
    vp.replay(cut, "adversarial")  # what is half there can be studied, too


@pytest.mark.parametrize("records", [(), None])
def test_no_records_are_no_run(records):
    given = run_of({}).records[1:] if records is None else records
    with pytest.raises(ValueError, match="a run begins with run-started"):
        tables_of(given, "r")


class Prompted(ScriptedBackend):
    """A backend that says which prompts it gives, as one that asks models does."""

    def describe(self):
        prompts = {"worker": {"version": 2, "sha256": "b" * 64}, "base": {"version": 1, "sha256": "a" * 64}}
        return {"name": "prompted", "prompts": prompts}


def test_prompts_of_a_run_are_told_by_name_version_and_digest():
    row = [{"finding_id": "F-1", "summary": "s", "evidence": "m.py:3", "worker": "ann"}]
    told = [
        vp.crossverify(row, WORKERS, backend=backend, log_dir=None).frames.runs["prompts"].iloc[0]
        for backend in (Prompted({}, silent=True), ScriptedBackend({}, silent=True))
    ]
    assert told[0] == "base 1 aaaaaaaa; worker 2 bbbbbbbb"
    assert pd.isna(told[1])
