"""A run that was broken off says after which event, and how it goes on: by a command, or in Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import verifyplan as vp
from tests.fork_client import KILLED as KILLED_CODE
from tests.processes import forked

KILLED = """
import os, signal, time
import verifyplan as vp
def judge(finding):
    if finding.finding_id == "F-2":
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGKILL)
    return "agree"
claims = [{"finding_id": f"F-{i}", "summary": f"claim {i}", "evidence": "m.py:1"} for i in (1, 2, 3)]
backend = vp.agents.from_function(judge)
vp.crossverify(claims, ["ann"] + ["bob"], backend=backend, log_dir="my runs", max_rounds=1, items_per_call=1)
"""
LOG = Path("my runs/ad-hoc/state/convergence-ad-hoc-001.jsonl")


def command(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the command in its own process."""
    return forked("everything", "tests.fork_server", "command", *words, folder=Path.cwd())


@pytest.fixture
def killed(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    done = forked("everything", "tests.fork_server", "python", KILLED, folder=tmp_path)
    assert done.returncode == KILLED_CODE, done.stderr
    return tmp_path / LOG


def test_a_killed_run_of_functions_says_how_it_goes_on_in_python(killed):
    run, loaded = vp.read_run(LOG), vp.load(LOG)
    last, call = run.records[-1], f"vp.resume({str(LOG)!r}, backend=vp.agents.from_function(...))"
    assert str(run) == f"broken off after {last.seq} events (the last: {last.event.type}); to get an outcome: {call}"
    found = f"vp.resume({str(killed)!r}, backend=vp.agents.from_function(...))"
    note = f"was broken off (unless it is still running) after event {last.seq} ({last.event.type}): {found}"
    assert note in str(loaded)
    replied = [event.type for event in run.events].count("call-replied")
    assert f"has the replies of {replied} calls on disk: a resumption uses them." in str(loaded)
    assert call in run.report().replace("\\", "")
    asked = []

    def judge(finding):
        asked.append(finding.finding_id)
        return "agree"

    resumed = vp.resume(LOG, backend=vp.agents.from_function(judge))
    assert resumed.status == "converged"
    assert "broken off" not in str(resumed)
    assert vp.load(LOG).runs["broken_off"].isna().all()
    assert len(asked) == 6 - replied < 6  # the answers on disk are not asked for again


def test_a_shell_says_that_functions_are_not_in_the_log(killed):  # noqa: ARG001  (it leaves its log)
    done = command("resume", LOG)
    assert done.returncode == 2
    assert "functions are not in the log" in done.stderr
    assert f"vp.resume({str(LOG)!r}, backend=vp.agents.from_function(...))" in done.stderr
    assert "verifyplan resume" not in done.stderr


def test_a_killed_run_of_static_agents_gives_its_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = vp.crossverify(
        [{"finding_id": "F-1", "summary": "x", "evidence": "m.py:1"}], ["search", "window"], log_dir="my runs"
    )
    lines = run.log_path.read_bytes().splitlines(keepends=True)
    run.log_path.write_bytes(b"".join(lines[:-1]))
    command = f"verifyplan resume '{run.log_path}'"
    assert str(vp.read_run(run.log_path)).endswith(f"; to get an outcome: {command}")
    assert f": verifyplan resume '{tmp_path / run.log_path}'" in str(vp.load(run.log_path))


def test_a_plan_run_that_lost_its_endpoint_gives_its_path_and_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("plan.md").write_text("# Move it\n\n1. Change `src/store.py`\n2. Delete `src/old.py`\n3. Deploy it\n")
    Path("a.json").write_text('{"model": "qwen3", "max_retries": 0}')
    words = ["verify", "plan.md", "--agents", "a.json", "--base-url", "http://127.0.0.1:9"]
    done = command(*words)
    resume = "verifyplan resume runs/plan-001.jsonl --retry-failed --base-url http://127.0.0.1:9"
    assert done.returncode == 3
    assert done.stdout.count(resume) == 2
    assert f"{resume} (if the endpoint has moved, give its new address by --base-url)" in done.stdout
    assert "RUN" not in done.stdout
