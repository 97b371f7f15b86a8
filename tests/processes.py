"""Child processes of tests: where they find the package of this checkout, how long they live, what they found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
    done = subprocess.run(
        [sys.executable, "-W", "error", program, str(folder), *map(str, words)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["wrong"] == []
    return found
