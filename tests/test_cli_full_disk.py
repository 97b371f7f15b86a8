"""On a full disk a command says what was not written, and how the run goes on only where there is a log."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

from tests.runlog.test_writer import FULL_DISK, Full
from verifyplan.runlog.writer import LogWriter


@pytest.fixture
def findings(tmp_path):
    (tmp_path / "m.py").write_text("x = 1\n")
    table = pd.DataFrame({"finding_id": ["F-1"], "summary": ["`x` is 2"], "evidence": ["m.py:1"], "worker": ["ann"]})
    table.to_csv(tmp_path / "findings.csv", index=False)
    return tmp_path / "findings.csv"


def limit_logs(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """Let logs grow by so many bytes."""
    init = LogWriter.__init__

    def limited(self: LogWriter, *arguments: Any) -> None:
        init(self, *arguments)
        self._file = Full(self._file, room)  # type: ignore[assignment]

    monkeypatch.setattr(LogWriter, "__init__", limited)


@pytest.mark.parametrize("room", [0, 300, 3_000])
def test_a_full_disk_gives_a_sentence_and_resume_only_where_there_is_a_log(cli, findings, monkeypatch, room):
    command = ["crossverify", findings, "--repo", findings.parent, "--workers", "ann=window,bob=search"]
    with monkeypatch.context() as patch:
        limit_logs(patch, room)
        done = cli(*command, "--log-dir", findings.parent / "runs")
    assert done.code == 2
    logs = list((findings.parent / "runs").rglob("*.jsonl"))
    assert len(logs) == (room == 3_000)
    message, *hints = done.err.strip().split("\n")
    assert re.fullmatch(rf"Error: .*\.jsonl: {FULL_DISK}", message)
    assert hints == [f"The run goes on by: verifyplan resume {log}" for log in logs]
    for log in logs:
        assert cli("resume", log).code == 0
