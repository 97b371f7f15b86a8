"""A run of models that is killed with SIGKILL asks again for what was in flight, and for nothing else (SPEC E2)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import crossing
import live_killing
import live_runs
import planning
import pytest

pytestmark = pytest.mark.skipif(
    not (hasattr(os, "fork") and hasattr(signal, "SIGKILL")), reason="processes are forked and killed as on POSIX"
)


def killed(kind, folder, events, *turns):
    """What `live_killing.py` found, in a process of its own that has one thread."""
    paths = [str(Path(module.__file__).parent) for module in (live_runs, planning, crossing)]
    done = subprocess.run(
        [sys.executable, "-W", "error", live_killing.__file__, kind, str(folder), ",".join(map(str, events)), *turns],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    return found


@pytest.mark.parametrize(("kind", "step"), [("plan", 29), ("cross", 17)])
def test_killed_after_an_event_a_run_comes_to_the_same_end(tmp_path, kind, step):
    found = killed(kind, tmp_path, range(2, 999, step))
    assert found["kills"] >= 4


@pytest.mark.parametrize(
    ("kind", "turns"),
    [
        ("plan", ["i1/challenger/t3", "i1/resolver/t1/w1", "i1/resolver/t1/w3", "i1/panel/r1/panel-2/t2"]),
        ("cross", ["r1/bob/t2", "r1/cy/t1", "r2/bob/t1"]),
    ],
)
def test_killed_with_a_request_on_its_way_a_run_comes_to_the_same_end(tmp_path, kind, turns):
    assert killed(kind, tmp_path, [0], *turns)["kills"] == len(turns)


@pytest.mark.parametrize("kind", ["plan", "cross"])
def test_a_run_of_which_every_process_is_killed_by_its_first_new_request_comes_to_the_same_end(tmp_path, kind):
    found = killed(kind, tmp_path, [0], "*")
    assert found["kills"] >= len(set(found["turns"])) / 2
    alone = [turn for turn in found["turns"] if "panel" not in turn and turn[0] == "i"]
    assert {turn: found["last"][turn] for turn in alone if "i1/domain" not in turn and "i1/devils" not in turn} == {
        turn: 2 for turn in alone if "i1/domain" not in turn and "i1/devils" not in turn
    }
    assert Counter(found["turns"]).most_common(1)[0][1] == 1
