"""What a run of a batch is known by, and which logs of a folder are those of the batch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runs.plan.planning import PLAN, run_of
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.plans.plan import parse_plan
from verifyplan.runs.batch.jobs import run_identity, runs_in
from verifyplan.runs.plan.settings import make_settings
from verifyplan.runs.plan.verify import first_event, verify
from verifyplan.runs.resume import read_run


def started(tmp_path, text: str = PLAN, name: str = "a.md", repetition: int = 1, settings: Any = None, **agent: Any):
    agents = {"model": "m", "base_url": "http://127.0.0.1:9", "api_key": "the-key-of-these-tests"} | agent
    chosen = settings or make_settings(timeout=None)
    return first_event(parse_plan(text, name), tmp_path, chosen, Anthropic(**agents), repetition=repetition)


def test_the_same_is_known_by_the_same_whenever_it_is_driven(tmp_path):
    first = started(tmp_path)
    (tmp_path / "new.py").write_text("x = 1\n")  # another state of the repository
    later = started(tmp_path, max_concurrency=3, max_retries=9, timeout=5.0, prices={})
    assert run_identity(first) == run_identity(later)
    assert run_identity(later.model_copy(update={"versions": {}, "synthetic": True})) == run_identity(first)


def test_whatever_makes_another_run_is_known_by_something_else(tmp_path):
    (tmp_path / "other").mkdir()
    others = [
        started(tmp_path),
        started(tmp_path, PLAN + "\n"),
        started(tmp_path, name="b.md"),
        started(tmp_path / "other"),
        started(tmp_path, repetition=2),
        started(tmp_path, settings=make_settings(timeout=None, rules={"policy": "deliberate"})),
        started(tmp_path, model="n"),
        started(tmp_path, effort="low"),
        started(tmp_path, models={"challenger": "n"}),
        started(tmp_path, workers={"panel-1": {"model": "m", "temperature": 1}}),
        started(tmp_path, base_url="http://127.0.0.1:8"),
        started(tmp_path, web=True),
    ]
    assert len({run_identity(one) for one in others}) == len(others)


def test_a_larger_limit_makes_no_other_run(tmp_path):
    limited = started(tmp_path, settings=make_settings(timeout=None, max_cost="2", max_tokens=9))
    assert run_identity(limited) == run_identity(started(tmp_path))


def test_a_log_is_known_by_what_its_run_was(tmp_path):
    runs = tmp_path / "runs"
    settings = {"timeout": None, "team": "scaled", "max_cost": None, "weights": None}
    agents = ScriptedBackend({}, silent=True)
    run = verify(parse_plan(PLAN, "a.md"), tmp_path, backend=agents, log_dir=runs, repetition=2, **settings)
    given = first_event(parse_plan(PLAN, "a.md"), tmp_path, make_settings(**settings), agents, repetition=2)
    assert list(runs_in(runs)) == [run_identity(given)] == [run_identity(run.started)]


def test_of_logs_that_are_the_same_one_that_ended_counts(tmp_path):
    whole = run_of({}, silent=True, log_dir=tmp_path).log_path
    lines = whole.read_bytes().splitlines(keepends=True)
    whole.rename(tmp_path / "plan-002.jsonl")
    (tmp_path / "plan-001.jsonl").write_bytes(b"".join(lines[:5]))
    (tmp_path / "plan-003.jsonl").write_bytes(b"".join(lines[:6]))
    [found] = runs_in(tmp_path).values()
    assert (found.log_path.name, found.has_ended) == ("plan-002.jsonl", True)
    assert not read_run(tmp_path / "plan-001.jsonl").has_ended


@pytest.mark.parametrize("content", [b"", b'{"seq":1,"at":"2026'])
def test_logs_of_runs_that_died_at_once_and_what_is_no_file_are_passed_over(tmp_path, content):
    (tmp_path / "plan-001.jsonl").write_bytes(content)
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    assert runs_in(tmp_path) == {}
    assert runs_in(tmp_path / "none") == {}
