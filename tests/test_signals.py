"""Tests do not depend on how they are started, and none waits for ever."""

from __future__ import annotations

import signal
import subprocess
import sys
import tomllib
from typing import Any

import pytest

from tests.processes import ROOT, environment, process

WAITING = """
import time
print("ready", flush=True)
for _ in range(6000):
    time.sleep(0.05)  # a signal between Python's last look and a sleep is seen after it: one in 2,000 came there
"""
IN_THE_BACKGROUND = ["sh", "-c", "trap '' INT TERM; exec \"$@\"", "sh"]
"""Starts a command as a shell starts a job in the background: it ignores these signals."""

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals as on POSIX")


def inner_pytest(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [*IN_THE_BACKGROUND, sys.executable, "-m", "pytest", "-q", "-pno:cacheprovider", "-pno:nbval", *words]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300, **options)


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_under_test_ends_by_its_signal(number):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with process([sys.executable, "-c", WAITING], **pipes) as running:
        assert running.stdout.readline() == "ready\n"
        running.send_signal(number)
        running.communicate(timeout=60)
    assert running.returncode == -number


@posix
def test_so_it_does_where_the_tests_ignore_the_signals_as_jobs_in_the_background_do():
    ignoring = [*IN_THE_BACKGROUND, sys.executable, "-c", "import signal; print(signal.getsignal(signal.SIGINT) == 1)"]
    assert subprocess.run(ignoring, capture_output=True, text=True, check=True, timeout=60).stdout == "True\n"
    done = inner_pytest(f"{__file__}::test_a_process_under_test_ends_by_its_signal", cwd=ROOT)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


@posix
def test_a_test_that_waits_for_ever_fails(tmp_path):
    (tmp_path / "test_waiting.py").write_text("import time\n\ndef test_waits():\n    time.sleep(300)\n")
    done = inner_pytest("-c", str(ROOT / "pyproject.toml"), "-o", "timeout=1", str(tmp_path), cwd=tmp_path)
    assert "Timeout (>1.0s)" in done.stdout, done.stdout + done.stderr


def test_every_test_has_a_limit_which_its_dependencies_bring():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert 0 < project["tool"]["pytest"]["ini_options"]["timeout"] <= 600
    assert any(one.startswith("pytest-timeout") for one in project["project"]["optional-dependencies"]["dev"])
    for name in ("environment.yml", "constraints.txt"):
        assert "pytest-timeout" in (ROOT / name).read_text(), name
