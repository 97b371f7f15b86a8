"""Where artifacts are written, by one process or several, and what an interrupt leaves behind (rules B9, H3)."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.processes import python
from tests.runs.crossing import Playing, finding, run_of
from verifyplan.frames.artifact import read_artifact
from verifyplan.frames.load import load
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.resume import read_run, resume


@pytest.mark.parametrize("task_type", [None, "error-analysis", "mine_2.0"])
def test_the_path_names_task_type_and_number(tmp_path, task_type):
    name = task_type or "ad-hoc"
    for number in ("001", "002", "003"):
        run = run_of({}, log_dir=tmp_path / "runs", task_type=task_type)
        assert run.path == tmp_path / "runs" / name / "state" / f"convergence-{name}-{number}.json"
        assert run.run_id == f"{name}/state/convergence-{name}-{number}"
        assert read_artifact(run.path) == run.artifact
    assert run.artifact.taskKey == name
    assert list(load(tmp_path / "runs").runs["run_id"])[-1] == run.run_id == run.frames.runs.loc[0, "run_id"]
    assert run.frames.runs.loc[0, "source"] == str(run.log_path)
    assert run.log_path == run.path.with_suffix(".jsonl")


def test_the_next_free_number_is_taken_and_nothing_is_overwritten(tmp_path):
    state = tmp_path / "ad-hoc" / "state"
    state.mkdir(parents=True)
    for number in (1, 2, 4):
        (state / f"convergence-ad-hoc-{number:03d}.json").write_text("mine")
    paths = [run_of({}, log_dir=tmp_path).path for _ in range(2)]
    assert [path.name[-8:-5] for path in paths if path] == ["003", "005"]
    assert (state / "convergence-ad-hoc-004.json").read_text() == "mine"


def test_runs_is_the_default_folder_and_none_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = crossverify([finding()], ["ann", "bob"], backend=Playing(), log_dir=None)
    assert (run.path, run.run_id, list(tmp_path.iterdir())) == (None, "run", [])
    run = crossverify([finding()], ["ann", "bob"], backend=Playing())
    assert run.path == Path("runs/ad-hoc/state/convergence-ad-hoc-001.json")
    assert run.path.is_file()


def test_a_task_key_of_ones_own(tmp_path):
    run = run_of({}, log_dir=tmp_path, task_key="TICKET-7: <b>")
    assert read_artifact(run.path).taskKey == "TICKET-7: <b>"
    assert "<b>" not in run_of({}, [finding(summary="<b>")])._repr_html_()


PROGRAM = """
import asyncio, sys
from pathlib import Path
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.protocol.call import Reply
seconds, out, go = float(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])

class Slow:
    def describe(self): return {"name": "slow"}
    def check_worker(self, worker): return None
    async def answer(self, request):
        go.touch()
        await asyncio.sleep(seconds)
        return Reply(value={"votes": {item.finding_id: {"verdict": "agree"} for item in request.items}})

row = {"finding_id": "F-1", "summary": "claim", "worker": "ann"}
for _ in range(5):
    print(crossverify([row], ["ann", "bob"], backend=Slow(), log_dir=out).path, flush=True)
"""


def started(seconds: float, out: Path, go: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        python(PROGRAM, seconds, out, go), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_two_processes_at_once_get_numbers_of_their_own(tmp_path):
    both = [started(0.0, tmp_path / "out", tmp_path / name) for name in ("a", "b")]
    told = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    paths = [line for out, _ in told for line in out.splitlines()]
    assert len(set(paths)) == 10
    assert sorted(path[-8:-5] for path in paths) == [f"{n:03d}" for n in range(1, 11)]
    assert len(list((tmp_path / "out").rglob("*"))) == 10 + 10 + 2  # a log each; no temporary files are left


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_ctrl_c_ends_promptly_and_leaves_nothing_half_written(tmp_path):
    process = started(600.0, tmp_path / "out", tmp_path / "go")
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "go").exists():
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode != 0
    assert "\nKeyboardInterrupt\nThe run goes on in Python, which makes its backend: vp.resume(" in errors
    assert "ExceptionGroup" not in errors
    assert list(tmp_path.rglob("*.json")) == []
    [log] = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert read_run(log).events[-1].type == "call-requested"
    ended = resume(log, backend=Playing())
    assert ended.events[-1].type == "run-ended"
    assert read_artifact(log.with_suffix(".json")) == ended.artifact
