"""One writer per log, numbers of their own for runs at once, and nothing that a full disk or a death can spoil."""

from __future__ import annotations

import errno
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.processes import process, python
from tests.runs.plan import planning
from tests.runs.plan.breaking import Heard, course
from verifyplan.errors import LogError
from verifyplan.protocol.call import Usage
from verifyplan.protocol.event import EXTERNAL_EVENTS
from verifyplan.protocol.event_plan import IterationStarted
from verifyplan.protocol.event_run import CallFailed, CallRequested, RunResumed, TurnReplied, TurnSent
from verifyplan.runlog import writer as writing
from verifyplan.runlog.reader import parse_log, read_log
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.resume import resume

DERIVED = IterationStarted(iteration=1, tightened=False)
FACT = CallFailed(call_id="i1/probe", status="error", reason="none", duration_ms=1)
RESUMED = RunResumed(dropped_bytes=0, repeated=(), versions={})


@pytest.fixture
def started():
    return planning.run_of({}, silent=True).started


@pytest.fixture
def log(tmp_path, started) -> Path:
    """A log that holds one event."""
    with LogWriter.create(tmp_path, "plan") as writer:
        writer.append(started)
    return writer.path


# Names


def test_logs_are_numbered_and_take_the_next_number_that_is_free(tmp_path):
    (tmp_path / "plan-002.jsonl").touch()
    (tmp_path / "plan-003.json").touch()  # an artifact that was written without a log
    names = []
    for _ in range(3):
        with LogWriter.create(tmp_path, "plan") as writer:
            writer.append(IterationStarted(iteration=1, tightened=False))
            names.append(writer.path.name)
    assert names == ["plan-001.jsonl", "plan-004.jsonl", "plan-005.jsonl"]


def test_a_log_that_nothing_was_written_to_leaves_no_folder_that_it_made(tmp_path):
    with LogWriter.create(tmp_path / "a" / "b", "plan"):
        pass
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a").mkdir()
    with LogWriter.create(tmp_path / "a" / "b", "plan"), LogWriter.create(tmp_path / "a" / "b", "plan") as second:
        second.append(IterationStarted(iteration=1, tightened=False))
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["plan-002.jsonl"]
    with LogWriter.create(tmp_path / "a", "plan"):
        pass
    assert (tmp_path / "a").is_dir()


def test_after_number_999_comes_1000(tmp_path):
    for number in range(1, 1000):
        (tmp_path / f"plan-{number:03d}.jsonl").touch()
    with LogWriter.create(tmp_path, "plan") as writer:
        assert writer.path.name == "plan-1000.jsonl"


def test_a_name_of_a_dot_and_a_number_keeps_apart_from_others(tmp_path):
    for name in ("plan.v2", "plan"):
        with LogWriter.create(tmp_path, name) as writer:
            assert writer.path.name == f"{name}-001.jsonl"


@pytest.mark.parametrize("name", ["x" * 255, "\N{SNOWMAN}" * 255, "\N{GRINNING FACE}" * 100])
def test_a_long_name_is_cut_to_what_file_systems_allow(tmp_path, name):
    with LogWriter.create(tmp_path, name) as writer:
        assert name.startswith(writer.path.name.removesuffix("-001.jsonl"))
        assert len(writer.path.name) > 50


def test_a_folder_that_takes_no_log_is_refused_in_words(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "runs"):
        with pytest.raises(LogError, match=r"cannot hold a log \(.*\)\. Fix: name another folder"):
            LogWriter.create(folder, "plan")


def test_runs_of_many_threads_in_one_folder_get_numbers_of_their_own(tmp_path):
    expected = course(planning.run_of(planning.script()))
    barrier = threading.Barrier(6, timeout=60)

    def run(_: int) -> Any:
        barrier.wait()
        return planning.run_of(planning.script(), log_dir=tmp_path)

    with ThreadPoolExecutor(6) as threads:
        runs = list(threads.map(run, range(6)))
    assert sorted(run.log_path.name for run in runs) == [f"plan-00{number}.jsonl" for number in range(1, 7)]
    for run in runs:
        assert course(run) == expected
        assert [record.event for record in read_log(run.log_path).records] == list(run.events)


# One writer


def test_a_second_writer_in_this_process_is_refused_until_the_first_is_closed(log):
    first, _ = LogWriter.resume(log)
    whole = log.read_bytes()
    with first:
        for _ in range(2):
            with pytest.raises(LogError, match=r"is being written by another run\. Fix: wait for the other to end"):
                LogWriter.resume(log)
        assert log.read_bytes() == whole
        first.append(RESUMED)
    second, found = LogWriter.resume(log)
    with second:
        assert found.lines == 2


def test_a_log_is_locked_from_its_first_moment(tmp_path, started):
    with LogWriter.create(tmp_path, "plan") as writer:
        writer.append(started)
        with pytest.raises(LogError, match="is being written by another run"):
            LogWriter.resume(writer.path)


HOLD = """
import sys, time
from verifyplan.runlog.writer import LogWriter
writer, _ = LogWriter.resume(sys.argv[1])
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_writer_is_refused_while_another_process_lives_and_comes_in_when_it_was_killed(log):
    with process([sys.executable, "-c", HOLD, str(log)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == b"held"
        with pytest.raises(LogError, match="is being written by another run"):
            LogWriter.resume(log)
        other.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    writer, _ = LogWriter.resume(log)
    writer.close()
    assert [path.name for path in log.parent.iterdir()] == [log.name]


RACE = """
import sys
from pathlib import Path
from verifyplan.errors import LogError
from verifyplan.protocol.event_run import RunResumed
from verifyplan.runlog.writer import LogWriter
taken = 0
sys.stdin.readline()
while taken < 40:
    try:
        writer, log = LogWriter.resume(sys.argv[1])
    except LogError as error:
        assert "is being written by another run" in str(error), error
        continue
    with writer:
        writer.append(RunResumed(dropped_bytes=0, repeated=(sys.argv[2],), versions={}))
        taken += 1
"""


def test_processes_that_race_for_a_log_write_it_one_after_another(log):
    with ExitStack() as stack:
        others = [
            stack.enter_context(process(python(RACE, log, name), stdin=subprocess.PIPE)) for name in ("a", "b", "c")
        ]
        for other in others:
            assert other.stdin is not None
            other.stdin.write(b"\n")
            other.stdin.close()
        assert [other.wait(60) for other in others] == [0, 0, 0]
    assert read_log(log).lines == 1 + 3 * 40


def test_a_writer_that_is_closed_leaves_only_its_log_and_can_be_closed_again(log):
    writer, _ = LogWriter.resume(log)
    writer.close()
    writer.close()
    assert [path.name for path in log.parent.iterdir()] == [log.name]


def test_a_log_that_is_refused_leaves_no_lock_and_can_be_tried_again(log):
    whole = log.read_bytes()
    log.write_bytes(whole.replace(b'"synthetic":false', b'"synthetic":true'))
    for _ in range(2):
        with pytest.raises(LogError, match="line 1: is damaged"):
            LogWriter.resume(log)
    assert [path.name for path in log.parent.iterdir()] == [log.name]


def test_a_log_that_may_not_be_written_is_refused_in_words(log, monkeypatch):
    def refused(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    for owner, name in ((LogWriter, "__init__"), (writing.FileLock, "acquire")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, refused)
            with pytest.raises(LogError, match=r"cannot be written \(Permission denied\)"):
                LogWriter.resume(log)
    LogWriter.resume(log)[0].close()


# What is on the disk


def test_facts_and_ends_are_forced_to_the_disk_before_append_returns(log, monkeypatch):
    forced: list[bytes] = []
    monkeypatch.setattr(writing.os, "fsync", lambda _: forced.append(log.read_bytes()))
    writer, _ = LogWriter.resume(log)
    with writer:
        writer.append(DERIVED)
        assert forced == []
        writer.append(FACT)
        assert forced == [log.read_bytes()]
        writer.append(DERIVED)
    assert len(forced) == 1


def test_every_kind_of_fact_is_durable():
    names = {kind.model_fields["type"].default for kind in writing.DURABLE}
    assert names == {
        "run-started", "run-resumed", "run-reopened", "call-replied", "call-failed", "turn-replied", "attempt",
        "answer-given", "checkpoint", "run-ended",
    }  # fmt: skip
    assert set(EXTERNAL_EVENTS) - set(writing.DURABLE) == set(writing.ASKED) == {CallRequested, TurnSent}


def test_what_is_asked_is_in_the_file_at_once_and_on_the_disk_with_its_reply(log, monkeypatch):
    forced: list[bytes] = []
    monkeypatch.setattr(writing.os, "fsync", lambda _: forced.append(log.read_bytes()))
    writer, _ = LogWriter.resume(log)
    with writer:
        writer.append(CallRequested(call_id="i1/probe", worker="probe", request_sha256="0"))
        writer.append(TurnSent(call_id="i1/probe/t1", model="m", request_sha256="0"))
        assert forced == []
        assert [record.event.type for record in read_log(log).records][1:] == ["call-requested", "turn-sent"]
        writer.append(TurnReplied(call_id="i1/probe/t1", message={}, usage=Usage(), duration_ms=1))
    assert forced == [log.read_bytes()]


def test_facts_that_wait_together_are_forced_to_the_disk_together(log, monkeypatch):
    forced: list[bytes] = []
    monkeypatch.setattr(writing.os, "fsync", lambda _: forced.append(log.read_bytes()))
    writer, _ = LogWriter.resume(log)
    with writer:
        for _ in range(3):
            writer.append(FACT, sync=False)
        assert forced == []
        assert read_log(log).lines == 4
        writer.sync()
    assert forced == [log.read_bytes()]


def test_what_is_appended_stands_behind_a_line_that_lost_its_line_feed(log):
    log.write_bytes(log.read_bytes()[:-1])
    writer, found = LogWriter.resume(log)
    with writer:
        assert not found.ends_in_line_feed
        writer.append(RESUMED)
    assert [record.event.type for record in read_log(log).records] == ["run-started", "run-resumed"]


def test_a_torn_line_is_cut_off_by_the_first_event_and_not_before(log):
    torn = log.read_bytes() + b'{"seq":2,"at'
    log.write_bytes(torn)
    writer, found = LogWriter.resume(log)
    with writer:
        assert found.torn_bytes == 12
        assert log.read_bytes() == torn
        writer.append(RESUMED)
        writer.append(DERIVED)
    assert read_log(log).lines == 3


FULL_DISK = r"No space left on device \([0-9,]+ bytes are free there\): nothing more was written to it"


class Full:
    """A raw file on a disk that takes so many bytes more."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def write(self, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written: int = self.file.write(bytes(data)[: self.room])
        self.room -= written
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def append_for_ever(writer: LogWriter) -> None:
    while True:
        writer.append(FACT)


@pytest.mark.parametrize("room", [0, 1, 50, 1000])
def test_what_a_full_disk_left_half_written_is_cut_off_when_there_is_room_again(log, room):
    writer, _ = LogWriter.resume(log)
    with writer:
        full = writer._file = Full(writer._file, room)  # type: ignore[assignment]
        with pytest.raises(OSError, match=FULL_DISK) as caught:
            append_for_ever(writer)
        assert caught.value.filename == str(log)
        lines = read_log(log).lines
        full.room = 10**6
        assert writer.append(DERIVED).seq == lines + 1
    found = read_log(log)
    assert (found.lines, found.torn_bytes) == (lines + 1, 0)


def test_an_event_that_did_not_reach_the_disk_is_not_counted(log, monkeypatch):
    writer, _ = LogWriter.resume(log)
    with writer:
        with monkeypatch.context() as patch:
            patch.setattr(
                writing.os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error"))
            )
            with pytest.raises(OSError, match="Input/output error"):
                writer.append(FACT)
        writer.append(RESUMED)
    assert [record.event.type for record in read_log(log).records] == ["run-started", "run-resumed"]


def test_an_event_that_cannot_be_written_as_json_leaves_the_log_as_it_was(log):
    writer, _ = LogWriter.resume(log)
    whole = log.read_bytes()
    with writer:
        with pytest.raises(ValueError, match="surrogates"):
            writer.append(RunResumed(dropped_bytes=0, repeated=("\ud800",), versions={}))
        assert log.read_bytes() == whole
        writer.append(RESUMED)
    assert read_log(log).lines == 2


LIMITS = (6_000, 12_345, 40_000)
LIMITED = f"""
import resource, signal, sys
from tests.runs.plan import planning
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for limit in {LIMITS}:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, -1))
    try:
        planning.run_of(planning.script(), log_dir=sys.argv[1])
    except OSError as error:
        print(error.strerror)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="the system has no limit on the size of files")
def test_a_run_whose_disk_was_full_is_resumed_to_its_end(tmp_path):
    expected = planning.run_of(planning.script())
    done = subprocess.run(python(LIMITED, tmp_path), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["File too large: nothing more was written to it"] * len(LIMITS)
    for number, limit in enumerate(LIMITS, start=1):
        path = tmp_path / f"plan-{number:03d}.jsonl"
        assert path.stat().st_size == limit
        torn = parse_log(path.read_bytes(), "log").torn_bytes
        run = resume(path, backend=Heard(planning.script()))
        assert course(run) == course(expected)
        assert [event.dropped_bytes for event in run.events if isinstance(event, RunResumed)] == [torn]


def test_times_are_utc_to_the_millisecond(log):
    [record] = read_log(log).records
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record.at)


def test_a_run_that_died_before_its_first_event_leaves_no_empty_log(tmp_path):
    with pytest.raises(OSError, match="early"), LogWriter.create(tmp_path, "plan"):
        raise OSError("early")
    assert list(tmp_path.iterdir()) == []
