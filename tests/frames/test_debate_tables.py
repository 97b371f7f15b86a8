"""Debates as tables: the run, its messages, its calls; from logs, saved and loaded again (rules C1, C3, E4)."""

from __future__ import annotations

import hashlib

import pandas as pd
import pytest

import verifyplan as vp
from tests.runs.debate_scripts import CONVERGES, STAGNATES, debate_of, diff, says
from verifyplan.analysis.run_steps import RunSteps
from verifyplan.frames.columns import KEYS


@pytest.fixture
def runs(tmp_path):
    debate_of(CONVERGES, tokens=10, log_dir=tmp_path)
    debate_of(STAGNATES, log_dir=tmp_path)
    debate_of(CONVERGES | {"t2/implement": says("no diff")}, log_dir=tmp_path)
    debate_of(CONVERGES, tokens=10, log_dir=tmp_path, max_tokens=40)
    return vp.load(tmp_path)


def test_how_debates_ended(runs):
    columns = ["kind", "debate_status", "debate_reason", "debate_turns", "max_turns", "finished"]
    assert runs.runs[columns].astype("object").where(runs.runs[columns].notna(), None).to_numpy().tolist() == [
        ["debate", "CONVERGED", "VERIFIED", 2, 3, True],
        ["debate", "FAILED", "NO_IMPROVEMENT", 2, 3, True],
        ["debate", None, "AGENT_FAILED", 2, 3, True],
        ["debate", None, "BUDGET", 1, 3, True],
    ]
    told = runs.runs["exit_reason"]
    assert told[:2].isna().all()
    assert told[2].startswith('t2/implement: MESSAGE_SCHEMA_VALIDATION_FAILED::{"errors":[{"keyword":"required",')
    assert told[3].startswith("max_tokens: 50 tokens of 40")


def test_every_message_is_a_row(runs):
    assert KEYS["messages"] == ["run_id", "position"]
    one = runs.select("debate-001").messages
    assert one["position"].tolist() == [1, 2, 3, 4, 5, 6]
    assert one["turn"].tolist() == [1, 1, 1, 2, 2, 2]
    assert one["type"].tolist() == ["propose", "implement", "verify", "critique", "implement", "verify"]
    assert one["role"].tolist() == ["architect", "builder", "architect"] * 2
    assert one.loc[0, "content"] == "Write a greeting."
    assert one["reasons"].tolist()[0] == ["it is asked for"]
    assert one["n_reasons"].tolist() == [1, 0, 0, 1, 0, 0]
    assert one["n_evidence"].tolist() == [0, 1, 0, 0, 1, 0]
    assert one["n_risks"].tolist() == [0, 0, 1, 0, 0, 0]
    assert (one["input_tokens"].eq(20) & one["output_tokens"].eq(5)).all()
    assert one["at"].is_monotonic_increasing


def test_the_diff_stands_from_the_message_that_gave_it(runs):
    one = runs.select("debate-001").messages
    first, second = (hashlib.sha256(diff(word).encode()).hexdigest() for word in ("hullo", "hello"))
    assert one["diff_sha256"].astype("object").where(one["diff_sha256"].notna(), None).tolist() == [
        None,
        first,
        first,
        first,
        second,
        second,
    ]
    assert one["diff_lines"].fillna(0).tolist() == [0, 4, 4, 4, 4, 4]


def test_where_no_model_was_called_no_tokens_are_told(runs):
    one = runs.select("debate-002").messages
    assert one[["input_tokens", "output_tokens"]].isna().all(axis=None)
    assert one["content"].iloc[-1] == "Failed: NO_IMPROVEMENT"


def test_calls_have_the_role_that_was_asked_and_what_was_wrong_with_an_answer(runs):
    calls = runs.calls.set_index(["run_id", "call_id"])
    roles = calls.loc["debate-001", "role"]
    assert roles.to_dict() == {
        name: "builder" if name.endswith("implement") else "architect"
        for name in ("t1/propose", "t1/implement", "t1/verify", "t2/critique", "t2/implement", "t2/verify")
    }
    assert calls["iteration"].eq(0).all()
    assert (calls["worker"] == calls["role"].astype("str")).all()
    faulty = calls["reason"].dropna()
    assert faulty.index.tolist() == [("debate-003", "t2/implement")]
    assert faulty.iloc[0].startswith("MESSAGE_SCHEMA_VALIDATION_FAILED::")


def test_a_debate_that_was_broken_off_has_the_rows_there_are(tmp_path):
    run = debate_of(CONVERGES, log_dir=tmp_path)
    lines = run.log_path.read_bytes().splitlines(keepends=True)
    run.log_path.write_bytes(b"".join(lines[:8]))
    loaded = vp.load(tmp_path)
    row = loaded.runs.iloc[0]
    assert (row["debate_turns"], row["finished"], len(loaded.messages)) == (1, False, 2)
    assert pd.isna(row["debate_status"])
    assert pd.isna(row["debate_reason"])


def test_saved_and_loaded_again_the_messages_are_the_same(runs, tmp_path):
    again = vp.load(runs.save(tmp_path / "saved"))
    pd.testing.assert_frame_equal(again.messages, runs.messages)
    pd.testing.assert_frame_equal(again.runs, runs.runs)


def test_a_run_and_its_log_give_the_same_tables(tmp_path):
    run = debate_of(CONVERGES, tokens=10, log_dir=tmp_path)
    pd.testing.assert_frame_equal(run.frames.messages, vp.load(tmp_path).messages)


def test_a_debate_is_looked_at_turn_by_turn(runs):
    course = RunSteps(runs.select("debate-001"))
    assert course.steps["title"].tolist() == ["turn 1", "turn 2"]
    assert course.changes(1)["item"].tolist() == ["message 4", "message 5", "message 6"]
    assert [course.calls(step)["worker"].tolist() for step in (0, 1)] == [["architect", "builder", "architect"]] * 2
