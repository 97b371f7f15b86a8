"""What a batch is given: checked whole, before anything is sent or written."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.runs.plan.planning import PLAN
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import InputError, LogError, SettingsError
from verifyplan.plans.plan import parse_plan
from verifyplan.runs.batch.batch import batch_crossverify, batch_verify
from verifyplan.runs.batch.journal import open_journal

FOUND = [{"finding_id": "F-1", "summary": "f has no check", "evidence": "m.py:3", "worker": "ann"}]


@pytest.fixture
def backend():
    """A backend that nobody answers: whatever is sent fails."""
    return Anthropic("claude-haiku-5-5", base_url="http://127.0.0.1:9", api_key="the-key-of-these-tests")


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.md"
    path.write_text(PLAN)
    return path


@pytest.mark.parametrize("other", ["static", ScriptedBackend({}), Anthropic])
def test_backends_without_batches_are_refused(other, plan, tmp_path):
    with pytest.raises(SettingsError, match=r"must be a backend with message batches, got .*\. Fix: give agents"):
        batch_verify(plan, tmp_path, backend=other, log_dir=tmp_path)
    with pytest.raises(SettingsError, match="must be a backend with message batches"):
        batch_crossverify(FOUND, ["ann", "bob"], backend=other, log_dir=tmp_path)


def test_settings_that_are_unknown_or_set_by_the_batch_are_told_together(backend, plan, tmp_path):
    with pytest.raises(SettingsError) as told:
        batch_verify(plan, tmp_path, backend=backend, log_dir=tmp_path, pannel=None, timeout=3.0, repetition=2)
    words = str(told.value)
    assert "pannel: is not a setting of verify (did you mean 'panel'?)" in words
    assert "timeout: is set by the batch itself" in words
    assert "repetition: is set by the batch itself" in words
    with pytest.raises(SettingsError, match="adversarial: is not a setting of crossverify"):
        batch_crossverify(FOUND, ["ann", "bob"], backend=backend, log_dir=tmp_path, adversarial=True)


def test_all_plans_are_read_before_any_is_verified(backend, plan, tmp_path):
    (tmp_path / "empty.md").write_text(" ")
    with pytest.raises(InputError) as told:
        batch_verify([tmp_path / "none.md", plan, tmp_path / "empty.md"], tmp_path, backend=backend, log_dir=tmp_path)
    assert "none.md: cannot be read" in str(told.value)
    assert "holds no text" in str(told.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.md", "plan.md"]


def test_what_is_wrong_for_all_plans_is_told_once(backend, plan, tmp_path):
    (tmp_path / "b.md").write_text("# B\n")
    with pytest.raises(InputError) as told:
        batch_verify([plan, tmp_path / "b.md"], tmp_path, backend=backend, log_dir=tmp_path, policy="hasty")
    assert str(told.value).count("policy") == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"repetitions": 0}, "repetitions: must be an integer of at least 1, got 0"),
        ({"poll": 0}, "poll: must be a number of seconds, got 0"),
        ({"poll": float("nan")}, "poll: must be a number of seconds, got nan"),
        ({"settle": -1}, "settle: must be a number of seconds, got -1"),
        ({"poll": True, "settle": "1"}, "poll: .*, got True.*\n.*settle: .*, got '1'"),
        ({"log_dir": None}, "log_dir: must be the name of a folder, got None"),
        ({"log_dir": "a\0b"}, "log_dir"),
        ({"max_cost": 1.5, "policy": 3}, "policy"),
    ],
)
def test_numbers_and_folders(backend, plan, tmp_path, given, words):
    with pytest.raises(InputError, match=words):
        batch_verify(plan, tmp_path, **{"backend": backend, "log_dir": tmp_path / "runs"} | given)
    assert not (tmp_path / "runs").exists() or list((tmp_path / "runs").iterdir()) == []


def test_a_cost_that_cannot_be_kept(plan, tmp_path):
    backend = Anthropic("a-model-of-mine", base_url="http://127.0.0.1:9", api_key="the-key-of-these-tests")
    with pytest.raises(InputError, match="max_cost: cannot be kept: no price is known for a-model-of-mine"):
        batch_verify(plan, tmp_path, backend=backend, log_dir=tmp_path, max_cost="1")


def test_a_plan_that_is_given_twice(backend, plan, tmp_path):
    with pytest.raises(InputError, match=r"plan: is given twice, with the same settings.*repetitions="):
        batch_verify([plan, plan], tmp_path, backend=backend, log_dir=tmp_path)
    (tmp_path / "f.json").write_text(json.dumps(FOUND))
    with pytest.raises(InputError, match="convergence-ad-hoc: is given twice"):
        batch_crossverify([tmp_path / "f.json"] * 2, ["ann", "bob"], backend=backend, log_dir=tmp_path)


def test_folders_without_plans_and_no_plans_at_all(backend, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="folder: contains no plans"):
        batch_verify(tmp_path / "folder", tmp_path, backend=backend, log_dir=tmp_path)
    with pytest.raises(InputError, match="plans: must name a plan, got none"):
        batch_verify([], tmp_path, backend=backend, log_dir=tmp_path)


def test_the_problems_of_all_tables_are_told(backend, tmp_path):
    for name, worker in (("a", "zoe"), ("b", "ann"), ("c", "joe")):
        (tmp_path / f"{name}.json").write_text(json.dumps([FOUND[0] | {"worker": worker}]))
    files = [tmp_path / f"{name}.json" for name in "abc"]
    with pytest.raises(InputError) as told:
        batch_crossverify(files, ["ann", "bob"], backend=backend, log_dir=tmp_path)
    assert "'zoe' is not a worker" in str(told.value)
    assert "'joe' is not a worker" in str(told.value)
    with pytest.raises(InputError, match=r"log_dir: .* is a file, not a folder"):
        batch_crossverify(FOUND, ["ann", "bob"], backend=backend, log_dir=files[0])


def test_the_sdk_is_not_loaded_before_something_is_asked():
    code = "import sys, verifyplan.cli.batch, verifyplan.runs.batch.batch; assert 'anthropic' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_is_sent_where_there_is_nothing_to_ask(backend, tmp_path):
    trivial = parse_plan("# Fix a typo\n\nCorrect the spelling in `README.md`.", "typo.md")
    batch = batch_verify(trivial, tmp_path, backend=backend, log_dir=tmp_path / "runs", repetitions=2, settle=0)
    assert [run.verdict for run in batch] == ["PROCEED", "PROCEED"]
    assert [run.started.repetition for run in batch] == [1, 2]
    assert [run.run_id for run in batch] == ["typo-001", "typo-002"]
    assert str(batch) == "2 runs: 2 PROCEED"
    assert batch.failures == {}
    assert len(batch.frames) == 2
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["typo-001.jsonl", "typo-002.jsonl"]


def test_a_damaged_log_in_the_folder_is_told_before_anything_is_sent(backend, plan, tmp_path):
    runs = tmp_path / "runs"
    trivial = parse_plan("# Fix a typo\n\nCorrect the spelling in `README.md`.", "typo.md")
    batch_verify(trivial, tmp_path, backend=backend, log_dir=runs, settle=0)
    log = runs / "typo-001.jsonl"
    log.write_bytes(log.read_bytes().replace(b"typo", b"tipo", 1))
    with pytest.raises(LogError, match=r"typo-001\.jsonl: line 1: is damaged"):
        batch_verify(plan, tmp_path, backend=backend, log_dir=runs)


def test_a_second_command_in_the_same_folder_is_refused(backend, plan, tmp_path):
    with open_journal(tmp_path), pytest.raises(LogError, match="is being written by another command"):
        batch_verify(plan, tmp_path, backend=backend, log_dir=tmp_path)
