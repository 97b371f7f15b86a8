"""A process that begins a run, or goes on with it, with something wrong: what `process_faults.py` starts and ends.

It is forked from one that has imported everything (`tests/fork_server.py`).
"""

from __future__ import annotations

import os
import resource
import signal
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from benchmarks.fault_subjects import SUBJECTS
from tests.live.live_runs import speaking_to
from verifyplan.runlog import writer
from verifyplan.runlog.chain import now
from verifyplan.runs.resume import resume


class Address:
    """Where a server is that another process has."""

    def __init__(self, url: str) -> None:
        self.url = url


def main(folder: str, kind: str, url: str, fault: str = "", number: str = "0") -> None:
    """Begin the run of this kind, or go on with it; `limit N`: no file longer; `clock N`: set back at the Nth event;
    `retry`: its failed calls are asked again.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.alarm(120)
    logs, backend = Path(folder, "logs"), speaking_to(Address(url), max_concurrency=2, max_retries=1)
    if fault == "limit":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(number), -1))
    elif fault == "clock":
        _set_back(int(number))
    (Path(folder) / "pid").write_text(str(os.getpid()))
    log = log_in(Path(folder))
    try:
        if log is None:
            SUBJECTS[kind].begin(backend, logs, None)
        else:
            resume(log, backend=backend, retry_failed=fault == "retry", progress=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))  # the error is written to a file, too


def log_in(folder: Path) -> Path | None:
    """Return the log of a run, once it holds a whole line; what holds less is removed, as nobody could resume it."""
    for path in folder.glob("logs/**/*.jsonl"):
        if b"\n" in path.read_bytes():
            return path
        path.unlink()
    return None


def _set_back(after: int) -> None:
    """Let the clock of the log go back by a day after so many events, and by an hour at each from then on."""
    numbers = count()

    def earlier() -> str:
        hours = next(numbers) - after
        if hours < 0:
            return now()
        back = datetime.now(UTC) - timedelta(days=1, hours=hours)
        return back.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    writer.now = earlier
