"""Logs load beside artifacts and saved tables; what is damaged, too large or does not fit is told (E1, E4, H3)."""

from __future__ import annotations

import gc
from pathlib import Path

import fsspec
import pytest

from tests.frames.artifacts import as_bytes, sound
from tests.frames.plan_events import log_bytes, raised, records, started, whole
from verifyplan.errors import InputError, LogError, TableError
from verifyplan.frames import run_files as loading
from verifyplan.frames.addresses import find_all, joined
from verifyplan.frames.load import load
from verifyplan.frames.run_tables import tables_of
from verifyplan.protocol.event_cross import VoteCast


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plan's log, an artifact, a log with an artifact of the same name, and what is no run."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "plan.jsonl").write_bytes(log_bytes(whole()))
    (tmp_path / "cross.json").write_bytes(as_bytes(sound()))
    (tmp_path / "sub" / "both.jsonl").write_bytes(log_bytes(whole()))
    (tmp_path / "sub" / "both.json").write_bytes(as_bytes(sound()))
    (tmp_path / ".plan.jsonl.lock").write_text("")
    (tmp_path / "notes.md").write_text("no run")
    return tmp_path


def test_a_load_that_is_interrupted_leaves_nothing_behind(folder):
    def interrupt() -> None:
        raise KeyboardInterrupt

    before = sorted(folder.rglob("*"))
    files, _ = joined(find_all([str(folder)]))
    with pytest.raises(KeyboardInterrupt):
        loading.read_files(files, interrupt)
    assert gc.isenabled()
    assert sorted(folder.rglob("*")) == before
    assert len(load(folder)) == 3


def kinds(*paths: object) -> dict[str, str]:
    runs = load(paths[0] if len(paths) == 1 else paths).runs
    return dict(zip(runs["run_id"], runs["kind"].astype("str"), strict=True))


def test_logs_and_artifacts_load_together(folder):
    assert kinds(folder) == {"cross": "cross", "plan": "plan", "sub/both": "plan"}
    assert kinds(folder / "plan.jsonl") == {"plan": "plan"}
    assert kinds(f"{folder}/*.jsonl") == {"plan": "plan"}
    assert kinds(f"{folder}/sub/*") == {"both": "plan"}
    assert kinds(folder / "sub", folder / "cross.json") == {"sub/both": "plan", "cross": "cross"}
    assert kinds(f"file://{folder}") == kinds(folder)


def test_an_artifact_loads_when_it_is_named_alone(folder):
    assert kinds(folder / "sub" / "both.json") == {"both": "cross"}


def test_logs_load_from_any_file_system(folder):
    system = fsspec.filesystem("memory")
    system.pipe("/verifyplan-logs/a.jsonl", (folder / "plan.jsonl").read_bytes())
    try:
        assert kinds("memory://verifyplan-logs") == {"a": "plan"}
    finally:
        system.rm("/verifyplan-logs", recursive=True)


def test_damaged_logs_are_listed_with_their_line(folder):
    whole_log = (folder / "plan.jsonl").read_bytes()
    (folder / "sub" / "both.jsonl").write_bytes(whole_log.replace(b"claim 3", b"claim 4", 1))
    (folder / "empty.jsonl").write_bytes(b"")
    with pytest.raises(LogError, match=r"empty\.jsonl: contains no run") as caught:
        load(folder)
    assert any("both.jsonl: line" in problem.place for problem in caught.value.problems)
    lenient = load(folder, strict=False)
    assert lenient.runs["run_id"].tolist() == ["cross", "plan"]
    assert [Path(source).name for source in lenient.errors["source"]] == ["empty.jsonl", "both.jsonl"]
    assert lenient.errors["message"].str.contains("is damaged: its digest").any()


def test_a_torn_last_line_is_a_run_that_has_not_ended(folder):
    data = (folder / "plan.jsonl").read_bytes()
    (folder / "plan.jsonl").write_bytes(data[:-30])
    assert load(folder / "plan.jsonl").runs["finished"].tolist() == [False]


def test_a_log_that_fits_no_table_is_told_by_name_and_does_not_lose_the_others(folder):
    vote = {"verdict": "agree", "disagree_basis": None, "explanation": ""}
    seat = {"part": "challenges", "iteration": 1, "finding_id": "C1", "worker": "ann"}
    huge = VoteCast.model_validate({**seat, **vote, "round": 10**30})
    (folder / "huge.jsonl").write_bytes(log_bytes([started(), raised(1, "MINOR", ""), huge]))
    with pytest.raises(TableError, match=r"huge\.jsonl: table votes: column round: does not fit its type"):
        load(folder)
    lenient = load(folder, strict=False)
    assert lenient.runs["run_id"].tolist() == ["cross", "plan", "sub/both"]
    assert lenient.errors["source"].tolist() == [str(folder / "huge.jsonl")]


def test_a_file_that_is_too_large_is_refused_before_it_is_read(folder, monkeypatch):
    monkeypatch.setattr(loading, "MAX_FILE_BYTES", 4000)
    with pytest.raises(
        InputError, match=r"plan\.jsonl: is too large for a run: .* MB are allowed\. Fix: name"
    ) as caught:
        load(folder)
    assert len(caught.value.problems) == 2  # both logs; the artifact is small
    assert load(folder, strict=False).runs["run_id"].tolist() == ["cross"]


def test_a_folder_of_saved_tables_does_not_hide_what_lies_beside_them(folder):
    load(folder / "cross.json").save(folder)
    (folder / "cross.json").unlink()
    assert kinds(folder) == {"cross": "cross", "plan": "plan", "sub/both": "plan"}


def test_tables_of_runs_that_are_not_in_runs_are_refused(folder):
    saved = load(folder / "plan.jsonl").save(folder / "saved")
    other = tables_of(records(whole()), "another")
    other.votes.to_parquet(saved / "votes.parquet")
    message = r"votes\.parquet: has rows of runs that are not in runs\.parquet: 'another'\. Fix: save all tables"
    with pytest.raises(TableError, match=message):
        load(saved)
    assert len(load([saved, folder / "cross.json"], strict=False)) == 1


def test_a_table_without_its_file_is_missed(folder):
    saved = load(folder / "plan.jsonl").save(folder / "saved")
    (saved / "challenges.parquet").unlink()
    with pytest.raises(TableError, match=r"challenges\.parquet: cannot be read"):
        load(saved)
