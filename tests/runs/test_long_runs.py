"""A run of more records than are kept in memory: the same run, its records read from the log one by one."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import verifyplan as vp
from tests.runlog.conversing import TalkingBackend
from tests.runs.crossing import finding
from verifyplan.agents.base import ModelReply
from verifyplan.errors import LogError
from verifyplan.frames.artifact import artifact_text
from verifyplan.protocol.call import Reply, Usage
from verifyplan.protocol.event import EXTERNAL_EVENTS
from verifyplan.protocol.event_run import TurnSent
from verifyplan.runlog import reader, recorder
from verifyplan.runlog.reader import StoredRecords, read_log
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run, resume

WORKERS = ["ann", "bob", "cy"]
MAX_CALL_BYTES = 3_000


class Voting(TalkingBackend):
    """Says in one turn why it agrees with what it is asked about, or disagrees, by the number of the finding."""

    def __init__(self) -> None:
        super().__init__({})

    async def converse(self, request: Any, turns: Any) -> Reply:
        votes = {}
        for item in request.items:
            agrees = int(item.finding_id[2:]) % 3 > 0
            because = (
                f"{item.finding_id}: as m.py:{len(item.finding_id)} says to {request.worker}. " + 40 * "and so on "
            )
            votes[item.finding_id] = {"verdict": "agree" if agrees else "disagree", "explanation": because}

        async def send() -> ModelReply:
            self.asked.append(request.call_id)
            return ModelReply(
                {"id": f"msg-{len(self.asked)}", "content": [{"type": "text", "text": str(votes)}]}, Usage()
            )

        await turns.exchange(TurnSent(call_id=f"{request.call_id}/t1", model="m", request_sha256="ab" * 32), send)
        return Reply(value={"votes": votes})


def run(folder: Path | None, count: int = 12) -> CrossRun:
    found = [finding(f"F-{number}") for number in range(count)]
    options: dict[str, Any] = {"mode": "collaborative", "max_rounds": 2, "items_per_call": 1, "matcher": None}
    return crossverify(found, WORKERS, backend=Voting(), log_dir=folder, progress=False, **options)


@pytest.fixture(autouse=True)
def _few_in_memory(monkeypatch):
    for module in (reader, recorder):
        monkeypatch.setattr(module, "MAX_RECORDS_IN_MEMORY", 10)


def derived(records: Any) -> list[Any]:
    """The events that rules derived, without times."""
    events = [record.event for record in records if not isinstance(record.event, EXTERNAL_EVENTS)]
    return [event.model_copy(update={"duration_ms": 0}) if hasattr(event, "duration_ms") else event for event in events]


def test_its_records_are_those_of_its_log(tmp_path):
    long = run(tmp_path)
    records, data = long.records, long.log_path.read_bytes()
    assert isinstance(records, StoredRecords)
    whole = reader.parse_log(data, "log").records
    assert len(records) == len(whole) == data.count(b"\n")
    assert [records[place] for place in range(-len(whole), len(whole))] == [*whole, *whole]
    assert (records[2:7], records[::-5], records[5:2]) == (whole[2:7], whole[::-5], ())
    assert (records == whole, records == whole[1:], records == (*whole[1:], whole[0])) == (True, False, False)
    assert records != "text"
    assert read_run(long.log_path).records == records
    with pytest.raises(IndexError):
        records[len(whole)]


def test_it_is_the_run_that_it_is_in_memory(tmp_path):
    long, short = run(tmp_path), run(None)
    assert isinstance(short.records, tuple)  # without a log there is nowhere else to keep them
    assert derived(long.records) == derived(short.records)
    assert (long.status, long.has_ended, len(long.events)) == (short.status, True, len(short.events))
    assert str(long) == str(short)
    assert long.path.read_text() == artifact_text(long.artifact)
    shown = [["finding_id", "worker", "round", "verdict", "explanation"], ["finding_id", "classification"]]
    for name, columns in zip(("votes", "findings"), shown, strict=True):
        assert getattr(long.frames, name)[columns].equals(getattr(short.frames, name)[columns])
    again = replay_run(long)
    assert (again.same, again.censored, again.run.status) == (True, None, long.status)


def test_its_tables_are_those_of_its_log(tmp_path):
    long = run(tmp_path)
    loaded = vp.load(long.log_path)
    for name in ("votes", "findings", "calls", "turns", "rounds", "dispatches"):
        own, theirs = (getattr(runs, name).drop(columns="run_id") for runs in (long.frames, loaded))
        assert own.equals(theirs), name


@pytest.mark.parametrize("lines", [30, 55, 90, 120])
def test_it_resumes_as_it_does_in_memory(tmp_path, lines):
    whole = run(tmp_path / "whole")
    log = tmp_path / "cut.jsonl"
    log.write_bytes(b"".join(whole.log_path.read_bytes().splitlines(keepends=True)[:lines]) + b'{"torn')
    before = read_log(log)
    assert isinstance(before.records, StoredRecords)
    assert (before.lines, before.torn_bytes) == (lines, 6)
    replied = {record.event.call_id for record in before.records if record.event.type == "turn-replied"}
    backend = Voting()
    resumed = resume(log, backend=backend, matcher=None, progress=False)
    assert {f"{call}/t1" for call in backend.asked}.isdisjoint(replied)
    assert derived(resumed.records) == derived(whole.records)
    assert resumed.records == reader.parse_log(log.read_bytes(), "log").records


def test_a_snapshot_ends_where_it_was_made(tmp_path):
    whole = run(tmp_path / "whole")
    log = tmp_path / "cut.jsonl"
    log.write_bytes(b"".join(whole.log_path.read_bytes().splitlines(keepends=True)[:60]))
    before = read_run(log)
    resume(log, backend=Voting(), matcher=None, progress=False)
    assert (len(before.records), len(list(before.records)), before.records[-1].seq) == (60, 60, 60)
    assert not before.has_ended
    assert before.frames.runs["finished"].tolist() == [False]


def test_without_its_log_it_says_so(tmp_path):
    long = run(tmp_path)
    long.log_path.unlink()
    with pytest.raises(LogError, match=r"cannot be read \(No such file or directory\). Fix: name a run log"):
        list(long.records)


def test_a_call_takes_little_memory(tmp_path):
    """No event, request or reply is kept but what was voted, and then the votes of which the artifact is made."""
    run(tmp_path / "first", 30)  # what is made once
    peaks = []
    for count in (100, 500):
        tracemalloc.start()
        run(tmp_path / str(count), count)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / (400 * len(WORKERS)) < MAX_CALL_BYTES
