"""A log of another version is refused in words that say which it is and what to do, wherever it is read (rule E1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic_core import from_json, to_json

from tests.runs.plan.breaking import small_cross
from verifyplan.errors import LogError
from verifyplan.frames.load import load
from verifyplan.protocol.event_run import LOG_VERSION
from verifyplan.runlog.chain import START, _digest
from verifyplan.runlog.reader import parse_log
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run

WORDS = rf"run-001\.jsonl: has version 3 of the log, and this verifyplan reads version {LOG_VERSION} alone\. "
FIX = r"Fix: make the run again, or read it with verifyplan 0\.2\.0\."


def changed(data: bytes, **changes: Any) -> bytes:
    """A log whose first event says something else, with the digests that it should have; None takes a field out."""
    made, digest = b"", START
    for number, line in enumerate(data.splitlines()):
        values = {key: value for key, value in from_json(line).items() if key != "digest"}
        values = values if number else {key: value for key, value in (values | changes).items() if value is not None}
        head = to_json(values)[:-1]
        digest = _digest(digest, head)
        made += head + b',"digest":"' + digest.encode() + b'"}\n'
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log that says that verifyplan 0.2.0 wrote it as version 3."""
    log = small_cross(tmp_path / "made").log_path
    assert log is not None
    path = tmp_path / "logs" / "run-001.jsonl"
    path.parent.mkdir()
    path.write_bytes(changed(log.read_bytes(), version=3, versions={"verifyplan": "0.2.0"}))
    return path


def test_it_is_refused_wherever_it_is_read(path):
    for read in (load, read_run, replay_run):
        with pytest.raises(LogError, match=WORDS + FIX):
            read(path)


def test_resuming_it_writes_nothing(path):
    before = path.read_bytes()
    with pytest.raises(LogError, match=WORDS + FIX):
        LogWriter.resume(path)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_it_does_not_lose_the_other_runs_of_its_folder(path):
    small_cross(path.parent)
    loaded = load(path.parent, strict=False)
    assert (len(loaded), loaded.errors["source"].tolist()) == (1, [str(path)])
    assert "has version 3" in loaded.errors["message"].iloc[0]


@pytest.mark.parametrize("version", [0, -1, 1, LOG_VERSION + 1, str(LOG_VERSION), True, None, 5.0, [5], 10**30])
@pytest.mark.parametrize("versions", [{}, {"verifyplan": 3}, ["x"], "x", {"verifyplan": ""}])
def test_whatever_the_version_it_is_refused_in_words(path, version, versions):
    with pytest.raises(LogError, match=r"^log: has version .* alone\. Fix: .*, or read it with the verifyplan that"):
        parse_log(changed(path.read_bytes(), version=version, versions=versions), "log")


def test_the_present_version_is_read(path):
    log = parse_log(changed(path.read_bytes(), version=LOG_VERSION), "log")
    assert len(log.records) == log.lines > 1
