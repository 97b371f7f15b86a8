"""Replay of many runs: one row a run, whatever its kind; a log that cannot be replayed has its reason."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

import verifyplan as vp
from tests.runlog.test_rules_version import aged
from tests.runs.debate_scripts import CONVERGES
from tests.runs.plan.breaking import small_cross
from tests.runs.plan.planning import challenge, run_of, script
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import InputError, SettingsError
from verifyplan.runs.replayed import COLUMNS, Replayed

CHOSEN = ("cross", "debate", "old", "plan-forced", "plan-trivial", "plan-waiting")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with logs of each kind, and one that is damaged."""
    folder, made = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("made")
    speaker = ScriptedBackend(CONVERGES)
    blocked = {"i1/challenger": {"challenges": [challenge("rows", "BLOCKING")]}}
    trivial = "# Fix a typo\n\nCorrect the spelling in `README.md`.\n"
    runs = {
        "cross": small_cross(made),
        "debate": vp.debate("Greet.", speaker, speaker, log_dir=made, repo=made, progress=False),
        "old": run_of(blocked, silent=True, log_dir=made, panel=None),
        "plan-forced": run_of(script(), log_dir=made),
        "plan-trivial": run_of({}, plan=trivial, silent=True, log_dir=made),
        "plan-waiting": run_of(blocked, silent=True, log_dir=made, panel=None, on_blocked="pause"),
    }
    for name, run in runs.items():
        shutil.copy(run.log_path, folder / f"{name}.jsonl")
    aged(folder / "old.jsonl")
    (folder / "damaged.jsonl").write_bytes((folder / "plan-trivial.jsonl").read_bytes().replace(b"trivial", b"Trivial"))
    return folder


def test_a_folder_gives_one_row_a_run_of_each_kind(folder):
    table = vp.replay_run(folder).set_index("run_id")
    assert list(table.reset_index().columns) == list(COLUMNS)
    assert sorted(table.index) == sorted(["damaged", *CHOSEN])
    read = table.drop("damaged")
    assert set(read["kind"]) == {"plan", "cross", "debate"}
    assert read["problem"].isna().all()
    assert read["censored"].isna().all()
    for name in CHOSEN:
        run = vp.read_run(folder / f"{name}.jsonl")
        assert table.at[name, "recorded_status"] == run.status, name
    old = read["note"].str.contains("the rules have changed", na=False)
    assert sorted(read.index[old]) == ["old"]
    assert not read.loc[~old, "differences"].any()
    assert not read.loc[~old, "changed"].any()


def test_rows_say_verdicts_statuses_and_classes(folder):
    table = vp.replay_run(str(folder / "[a-z]*.jsonl")).set_index("run_id")
    assert tuple(table.loc["plan-trivial", ["recorded_verdict", "replayed_verdict"]]) == ("PROCEED", "PROCEED")
    assert table.at["plan-waiting", "replayed_status"] == "BLOCKED"
    assert pd.isna(table.at["plan-waiting", "recorded_verdict"])
    classes = tuple(table.loc["cross", ["recorded_classes", "replayed_classes"]])
    assert classes == ("worker-unique 1", "worker-unique 1")
    assert table.at["debate", "replayed_status"] == "CONVERGED"


def test_a_log_that_cannot_be_replayed_has_its_reason_and_nothing_else(folder):
    row = vp.replay_run([folder / "damaged.jsonl", folder / "plan-trivial.jsonl"]).set_index("run_id").loc["damaged"]
    assert "is damaged" in row["problem"]
    assert row.drop("problem").isna().all()


def test_a_change_has_its_place_in_some_runs_only(folder):
    table = vp.replay_run(folder, max_iterations=1).set_index("run_id")
    assert "cannot be changed in a cross run" in table.at["cross", "problem"]
    assert "cannot be changed in a debate" in table.at["debate", "problem"]
    alone = vp.replay_run(folder / "plan-forced.jsonl", max_iterations=1)
    row = table.loc["plan-forced"]
    assert (row["changed"], row["differences"]) == (bool(alone.changes), len(alone.differences))
    assert (None if pd.isna(row["censored"]) else row["censored"]) == alone.censored


def test_tables_know_the_logs_of_their_runs(folder):
    runs = vp.load([folder / f"{name}.jsonl" for name in CHOSEN])
    assert sorted(vp.replay_run(runs)["run_id"]) == sorted(CHOSEN)
    imported = vp.replay_run("contract")
    assert imported["problem"].str.contains("was not read from a log").all()


def test_runs_and_paths_can_be_mixed_in_a_list(folder):
    path = folder / "plan-trivial.jsonl"
    assert list(vp.replay_run([vp.read_run(path), path, str(path)])["run_id"]) == ["plan-trivial"] * 3
    assert list(vp.replay_run([]).columns) == list(COLUMNS)


def test_one_run_or_log_is_replayed_alone(folder):
    assert isinstance(vp.replay_run(folder / "plan-trivial.jsonl"), Replayed)


def test_a_change_that_no_run_can_have_is_refused_at_once(folder):
    with pytest.raises(SettingsError, match="policy: must be 'protocol' or 'deliberate', got 'strict'"):
        vp.replay_run(folder, policy="strict")
    with pytest.raises(SettingsError, match="max_turns: must be an integer of at least 1, got 0"):
        vp.replay_run(folder, max_turns=0)


def test_a_place_without_logs_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no run"):
        vp.replay_run(tmp_path)
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(InputError, match=r"contains no run log. Fix: name a run log \(.jsonl\)"):
        vp.replay_run(tmp_path)
