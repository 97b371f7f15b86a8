"""Runs at once in one folder leave each other alone, and the same run twice leaves the same log (rules E1, E3)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.longer import LONG
from tests.processes import environment, python
from tests.runs.plan import planning
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run

Process = subprocess.Popen[str]
TIMES = ("at", "duration_ms", "digest")

RUNS = """
import os, sys
from tests.runs import crossing
from tests.runs.plan import planning
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.plan.verify import verify

place, times, kinds = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
found = [crossing.finding("F-1", "window", evidence="store.py:1"), crossing.finding("F-2", "search")]
print("ready", flush=True)
sys.stdin.readline()
for kind in kinds:
    folder = os.path.join(place, kind)
    for _ in range(times):
        if kind == "scripted":
            run = planning.run_of(planning.script(), log_dir=folder)
        elif kind == "static":
            run = verify("plan.md", ".", log_dir=folder, progress=False)
        else:
            run = crossverify(found, ["window", "search", "syntax-tree"], log_dir=folder)
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


def begun(kinds: Sequence[str], place: Path, repository: Path, times: int = 1, seed: str = "") -> Process:
    """A process that waits for a line and then makes so many runs of each kind; one with a seed hashes by it."""
    start = [sys.executable, "-W", "error", "-c", RUNS] if seed else python(RUNS)
    process = subprocess.Popen(
        [*start, str(place), str(times), *kinds],
        env=environment(PYTHONHASHSEED=seed) if seed else None,
        cwd=repository,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def ended(*processes: Process) -> list[list[Path]]:
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


def test_two_processes_at_once_in_one_folder_get_logs_of_their_own(tmp_path, repository):
    kinds = ("scripted", "cross")
    logs = ended(*(begun(kinds, tmp_path, repository, times=6) for _ in range(2)))
    for kind in kinds:
        place = tmp_path / kind
        every = [log for its_own in logs for log in its_own if log.is_relative_to(place)]
        assert len(set(every)) == 12
        assert {log.name[-9:-6] for log in every} == {f"{number:03d}" for number in range(1, 13)}
        first = timeless(every[0])
        assert len(first) > 10
        assert [log.name for log in every if timeless(log) != first] == []
        left = {path for path in place.rglob("*") if path.is_file()} - set(every)
        artifacts = {log.with_suffix(".json") for log in every} if kind == "cross" else set()
        assert left == artifacts


def test_processes_that_hash_otherwise_write_the_same_logs(tmp_path, repository):
    kinds = ("scripted", "static", "cross")
    seeds = ("0", "1", "2") if LONG else ("0", "1")
    processes = [begun(kinds, tmp_path / f"runs-{seed}", repository, seed=seed) for seed in seeds]
    for first, *others in zip(*ended(*processes), strict=True):
        assert len(timeless(first)) > 10
        for log in others:
            assert timeless(log) == timeless(first)
        assert replay_run(first).same
        if first.parent.name == "static":
            found = {event.type for event in read_run(first).events}
            assert {"challenge-raised", "vote-cast", "status-changed", "score-given"} <= found
