"""Runs at once in one folder leave each other alone, and the same run twice leaves the same log (rules E1, E3)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import environment
from tests.runs.plan import planning
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run

TIMES = ("at", "duration_ms", "digest")

RUNS = """
import sys
from tests.runs import crossing
from tests.runs.plan import planning
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.plan.verify import verify

kind, place, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
found = [crossing.finding("F-1", "window", evidence="store.py:1"), crossing.finding("F-2", "search")]
print("ready", flush=True)
sys.stdin.readline()
for _ in range(times):
    if kind == "scripted":
        run = planning.run_of(planning.script(), log_dir=place)
    elif kind == "static":
        run = verify("plan.md", ".", log_dir=place, progress=False)
    else:
        run = crossverify(found, ["window", "search", "syntax-tree"], log_dir=place)
    print(run.log_path, flush=True)
"""


@pytest.fixture
def repository(tmp_path) -> Path:
    """A small repository with a plan that names more than it holds."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "plan.md").write_text(planning.PLAN + "\n5. Delete `cache.py` and `orders.py`; call `read_orders`.\n")
    (folder / "store.py").write_text("import sqlite3\n\n\ndef read_rows():\n    return []\n")
    (folder / "orders.py").write_text("from store import read_rows\n\nORDERS = read_rows()\n")
    (folder / "CLAUDE.md").write_text("- Never delete a file without a backup.\n")
    return folder


def begun(kind: str, place: Path, repository: Path, times: int = 1, seed: str = "random") -> subprocess.Popen[str]:
    """A process that waits for a line and then makes so many runs."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", RUNS, kind, str(place), str(times)],
        env=environment(PYTHONHASHSEED=seed),
        cwd=repository,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def ended(*processes: subprocess.Popen[str]) -> list[list[Path]]:
    """Let processes go, all at once; the logs of each."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), told
    return [[Path(line) for line in out.splitlines()] for out, _ in told]


def timeless(log: Path) -> list[str]:
    """The lines of a log without what differs from run to run."""
    return [json.dumps(without_times(json.loads(line))) for line in log.read_bytes().splitlines()]


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key not in TIMES}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("kind", ["scripted", "cross"])
def test_two_processes_at_once_in_one_folder_get_logs_of_their_own(tmp_path, repository, kind):
    place = tmp_path / "runs"
    logs = ended(*(begun(kind, place, repository, times=6) for _ in range(2)))
    every = [log for its_own in logs for log in its_own]
    assert len(set(every)) == 12
    assert {log.name[-9:-6] for log in every} == {f"{number:03d}" for number in range(1, 13)}
    first = timeless(every[0])
    assert len(first) > 10
    assert [log.name for log in every if timeless(log) != first] == []
    left = {path for path in place.rglob("*") if path.is_file()} - set(every)
    artifacts = {log.with_suffix(".json") for log in every} if kind == "cross" else set()
    assert left == artifacts


@pytest.mark.parametrize("kind", ["scripted", "static", "cross"])
def test_two_processes_that_hash_otherwise_write_the_same_log(tmp_path, repository, kind):
    processes = [begun(kind, tmp_path / f"runs-{seed}", repository, seed=seed) for seed in ("0", "1", "2")]
    [[first], *others] = ended(*processes)
    assert len(timeless(first)) > 10
    for [log] in others:
        assert timeless(log) == timeless(first)
    assert replay_run(first).same


def test_the_offline_agents_find_something_here(tmp_path, repository):
    [[log]] = ended(begun("static", tmp_path / "runs", repository))
    kinds = {event.type for event in read_run(log).events}
    assert {"challenge-raised", "vote-cast", "status-changed", "score-given"} <= kinds
