"""A run that is killed with SIGKILL, whenever, comes to the end that it would have come to (rule E2)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import environment
from tests.runs.plan import killing

pytestmark = pytest.mark.skipif(
    not (hasattr(os, "fork") and hasattr(signal, "SIGKILL")), reason="processes are forked and killed as on POSIX"
)


def killed(folder: Path, *how: str) -> dict[str, Any]:
    """What `killing.py` found, in a process of its own that has one thread."""
    kind, *numbers = how[1:]
    done = subprocess.run(
        [sys.executable, "-W", "error", str(killing.__file__), how[0], kind, str(folder), *numbers],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["wrong"] == []
    return found


@pytest.mark.parametrize("kind", ["plan", "cross"])
def test_killed_after_any_event_a_run_comes_to_the_same_end(tmp_path, kind):
    found = killed(tmp_path, "boundaries", kind)
    assert found["kills"] == found["events"] > 40


@pytest.mark.parametrize("kind", ["asked", "cross"])
def test_a_run_of_which_every_process_dies_after_one_new_event_comes_to_the_same_end(tmp_path, kind):
    found = killed(tmp_path, "one-by-one", kind)
    assert found["kills"] >= found["events"] - 1 > 38


@pytest.mark.parametrize(("kind", "runs"), [("plan", "20"), ("cross", "10")])
def test_killed_at_any_instant_again_and_again_a_run_comes_to_the_same_end(tmp_path, kind, runs):
    found = killed(tmp_path, "instants", kind, "2026", runs)
    assert found["kills"] >= 5 * int(runs)
    assert found["torn"], "no kill came in the middle of a line, which this test is for"


def test_killed_while_its_artifact_is_written_a_run_writes_it_when_it_is_resumed(tmp_path):
    assert killed(tmp_path, "artifact", "cross")["kills"] == 1
