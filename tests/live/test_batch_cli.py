"""`verifyplan batch`: what it takes, what it says, its exit codes, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.live.batch_served import QUICK, Posted, items
from tests.live.live_runs import KEY, MODEL, Played
from tests.live.scripted_server import ScriptedServer
from tests.processes import process
from tests.runs.crossing import AGREE
from tests.runs.plan.planning import PLAN, scores
from verifyplan.cli.batch import batch as app
from verifyplan.errors import InputError, SettingsError
from verifyplan.runs.batch import drive as driving
from verifyplan.runs.batch.request_queue import BatchQueue

CALM = {"i1/score": scores(7), "i1/audit": scores(7)}
VOTES: dict[Any, Any] = {1: {"ann": {"F-2": AGREE}, "bob": {"F-1": AGREE}}}
ROWS = "finding_id,summary,evidence,worker\nF-1,f is not checked,m.py:3,ann\nF-2,g is not checked,m.py:9,bob\n"


def said(server: ScriptedServer, *words: Any) -> Any:
    """What a command says on this server, waiting less than others for what belongs together; errors come out."""
    options = ["--model", MODEL, "--base-url", server.url, "--poll", "0.02"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", KEY)
        patch.setattr(driving, "BatchQueue", lambda *given, **_: BatchQueue(*given, settle=QUICK["settle"]))
        told = CliRunner().invoke(app, [str(word) for word in (*words, *options)], catch_exceptions=False)
    assert KEY not in told.output
    return told


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "plans").mkdir()
    for name in ("one", "two"):
        (tmp_path / "plans" / f"{name}.md").write_text(PLAN.replace("orders", f"{name}s"))
    return tmp_path / "plans"


def test_plans(tmp_path, plan):
    given = ("plans", plan, "--repo", tmp_path, "--log-dir", tmp_path / "runs", "--no-panel", "--repetitions", 2)
    with ScriptedServer(Posted(Played(CALM, silent=True), tmp_path)) as server:
        first, again = said(server, *given), said(server, *given)
    assert first.exit_code == again.exit_code == 0
    assert first.stdout == again.stdout
    lines = first.stdout.splitlines()
    assert [line.split(": ")[0] for line in lines[:4]] == [
        str(tmp_path / "runs" / f"{name}-00{number}.jsonl") for name in ("one", "two") for number in (1, 2)
    ]
    assert lines[4:] == ["4 runs: 4 PROCEED", f"logs: {tmp_path / 'runs'}"]
    sent = items(server, tmp_path)
    assert len(sent) == len(set(sent))


def test_findings(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(ROWS)
    files = (tmp_path / "a.csv", tmp_path / "b.csv")
    with ScriptedServer(Posted(Played(VOTES), tmp_path)) as server:
        (tmp_path / "b.csv").write_text(ROWS.replace("f is", "f was"))
        told = said(server, "findings", *files, "--workers", "ann,bob", "--log-dir", tmp_path, "--max-rounds", 1)
    assert told.exit_code == 0
    assert "2 runs: 2 converged" in told.stdout
    assert len(server.batches) == 1


def test_the_exit_code_is_that_of_the_worst_run(tmp_path, plan):
    failing = {
        "one-001": Played({"i1/challenger": "error", "i1/resolver": "error"}),
        "two-001": Played({}, silent=True),
    }
    given = ("plans", plan, "--repo", tmp_path, "--no-panel", "--max-iterations", 1)
    with ScriptedServer(Posted(failing, tmp_path / "a")) as server:
        told = said(server, *given, "--log-dir", tmp_path / "a")
    assert told.exit_code == 3
    assert "1 ended by failures" in told.stdout
    with ScriptedServer(Posted(Played(CALM, silent=True), tmp_path / "b")) as server:
        told = said(server, *given, "--log-dir", tmp_path / "b", "--max-tokens", 1)
        assert told.exit_code == 4
        assert "2 ended by budget" in told.stdout
        told = said(server, *given, "--log-dir", tmp_path / "b", "--max-tokens", 9_000_000, "--retry-failed")
    assert told.exit_code == 0
    assert "2 runs: 2 PROCEED" in told.stdout
    assert len(list((tmp_path / "b").glob("*.jsonl"))) == 2


def test_bad_input_is_told_before_anything_is_sent(tmp_path, plan):
    with ScriptedServer([]) as server:
        with pytest.raises(InputError, match=r"none\.md: cannot be read"):
            said(server, "plans", tmp_path / "none.md", "--log-dir", tmp_path / "runs")
        with pytest.raises(SettingsError, match="--workers: no workers are named"):
            said(server, "findings", tmp_path / "a.csv")
        with pytest.raises(SettingsError, match="--model: is for agents that are models"):
            said(server, "plans", plan, "--backend", "static")
        assert server.count("*", "GET") == server.count("*") == 0


def test_a_model_is_needed(plan, monkeypatch):
    monkeypatch.delenv("VERIFYPLAN_MODEL", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with pytest.raises(SettingsError, match="--model: no model is named"):
        CliRunner().invoke(app, ["plans", str(plan)], catch_exceptions=False)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as on POSIX")
def test_ctrl_c_leaves_whole_logs_and_says_how_to_go_on(tmp_path, plan):
    given = ["plans", str(plan), "--repo", str(tmp_path), "--log-dir", str(tmp_path / "runs"), "--no-panel"]
    command = [sys.executable, "-c", "from verifyplan.cli import main; main()", "batch", *given]
    with ScriptedServer(Posted(Played(CALM, silent=True), tmp_path), polls=10_000) as server:
        command += ["--model", MODEL, "--base-url", server.url, "--poll", "0.02"]
        environment = os.environ | {"ANTHROPIC_API_KEY": KEY}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with process(command, env=environment, **pipes) as running:
            until = time.monotonic() + 60
            while not (server.batches and server.batches[0].looks) and time.monotonic() < until:
                time.sleep(0.02)
            running.send_signal(signal.SIGINT)
            _, words = running.communicate(timeout=60)
        assert running.returncode == 130
        assert words.splitlines()[:2] == [
            "Interrupted; nothing is half-written.",
            "The runs go on by the same command; what is in message batches is not sent again.",
        ]
        server._batches._polls = 0
        told = said(server, *given)
    assert told.exit_code == 0
    assert "2 runs: 2 PROCEED" in told.stdout
    sent = items(server, tmp_path)
    assert len(sent) == len(set(sent))
