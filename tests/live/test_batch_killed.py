"""A command that is killed with SIGKILL, wherever it was, goes on when it is given again, and sends nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.live import batch_killing
from tests.processes import environment

pytestmark = pytest.mark.skipif(
    not (hasattr(os, "fork") and hasattr(signal, "SIGKILL")), reason="processes are forked and killed as on POSIX"
)


def killed(folder: Path, how: str, kind: str, *numbers: int) -> dict[str, Any]:
    """What `batch_killing.py` found, in a process of its own that has one thread."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(batch_killing.__file__), how, kind, str(folder), *map(str, numbers)],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_at_each_request_to_the_endpoint(tmp_path):
    """Before and after an intent, a submit, a look, the results: the server counts what it was sent."""
    found = killed(tmp_path, "requests", "cross", 1)
    assert found["wrong"] == []
    assert found["kills"] == 2 * found["requests"] >= 20


def test_at_requests_of_plan_runs(tmp_path):
    found = killed(tmp_path, "requests", "plans", 7)
    assert found["wrong"] == []
    assert found["kills"] >= 8


@pytest.mark.parametrize(("kind", "every"), [("cross", 8), ("plans", 13)])
def test_after_events_some_replies_of_a_batch_being_on_disk(tmp_path, kind, every):
    found = killed(tmp_path, "events", kind, every)
    assert found["wrong"] == []
    assert found["kills"] >= 6


@pytest.mark.parametrize("kind", ["cross", "plans"])
def test_at_any_moment_again_and_again(tmp_path, kind):
    found = killed(tmp_path, "instants", kind, 7, 2)
    assert found["wrong"] == []
    assert found["kills"] >= 4
