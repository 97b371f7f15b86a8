"""The repository that calls of models see: listed once a run, and anew for each call outside of one."""

from __future__ import annotations

from typing import Any

from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.protocol.call import Item, WorkerRequest


def request(worker: str) -> WorkerRequest:
    item = Item(finding_id="F-1", summary="two is odd", evidence="m.py:1")
    how: dict[str, Any] = {"round": 1, "mode": "adversarial", "verification_mode": "full-reanalysis"}
    return WorkerRequest(call_id=f"r1/{worker}/p1", worker=worker, items=(item,), **how)


def shown(backend: Any, worker: str) -> str:
    return str(backend.first_request(request(worker))["messages"])


def test_a_run_lists_the_files_at_its_first_call_however_many_calls_follow(tmp_path):
    (tmp_path / "other.py").write_text("one = 1\n")
    outside = Anthropic.keyless(model="claude-haiku-4-5")
    run = outside.at(tmp_path)
    assert "two = 2" not in shown(run, "ann")
    (tmp_path / "m.py").write_text("two = 2\n")
    assert "two = 2" not in shown(run, "bob"), "all workers of a run see the same files"
    assert "two = 2" in shown(outside.at(tmp_path), "ann"), "the next run sees what is there then"


def test_outside_of_a_run_every_first_call_sees_the_files_of_now(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    backend = Anthropic.keyless(model="claude-haiku-4-5")
    assert "two = 2" not in shown(backend, "ann")
    (tmp_path / "m.py").write_text("two = 2\n")
    assert "two = 2" in shown(backend, "ann")
