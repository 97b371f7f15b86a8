"""Child processes of tests: where they find the package of this checkout, how long they live, what they found."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def environment(**more: str) -> dict[str, str]:
    """This process's environment, with the checkout on the path and whatever else is wanted."""
    return os.environ | {"PYTHONPATH": str(ROOT)} | more


@contextmanager
def process(command: list[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a process that ends with the block at the latest: a test that gives up waits for nothing."""
    with subprocess.Popen(command, **options) as started:
        try:
            yield started
        finally:
            started.kill()


def killed(program: str, folder: Path, *words: object) -> dict[str, Any]:
    """What a program of killings found, in a process of its own that has one thread; nothing may be wrong."""
    module = ".".join(Path(program).relative_to(ROOT).with_suffix("").parts)
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place) / "out", Path(place) / "err"
        code = _FORK_SERVER.run(module, out, err, [str(folder), *map(str, words)])
        assert code == 0, err.read_text()
        found: dict[str, Any] = json.loads(out.read_text())
    assert found["wrong"] == []
    return found


class _ForkServer:
    """The process of `tests/fork_server.py`, started by the first request; it ends with this process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, module: str, out: Path, err: Path, words: list[str]) -> int:
        """Run a program there; return its exit code."""
        request = {"module": module, "out": str(out), "err": str(err), "words": words}
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{json.dumps(request)}\n")
            process.stdin.flush()
            return int(process.stdout.readline())
        except BaseException:  # a test whose time is over: nothing that it started lives on
            self._process = None
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise

    def _started(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.fork_server"], cwd=ROOT, env=environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, text=True,
        )  # fmt: skip
        atexit.register(process.communicate)  # closes its standard input, at which it ends
        return process


_FORK_SERVER = _ForkServer()
