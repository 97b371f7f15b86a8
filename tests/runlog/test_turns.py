"""A run of agents that speak in turns, broken off anywhere, goes on within a call: no reply on disk is bought again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.runlog.conversing import FIRST, MODEL, SECOND, TalkingBackend
from tests.runs.crossing import AGREE, finding
from tests.runs.plan.breaking import StopError, resumptions, rewritten, stopping
from tests.runs.plan.planning import REPO
from verifyplan.protocol.call import Usage
from verifyplan.protocol.event_run import (
    Attempt,
    CallFailed,
    CallReplied,
    CallRequested,
    RunReopened,
    RunResumed,
    TurnReplied,
    TurnSent,
    call_of,
)
from verifyplan.reports.log import log_text
from verifyplan.runlog.chain import Record
from verifyplan.runlog.recorder import Past
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run, resume

SCRIPT = {1: {"ann": {"F-2": AGREE}, "bob": "timeout"}}
ALL = ["r1/ann/t1", "r1/ann/t2", "r1/bob/t1", "r1/bob/t2"]


def run(folder: Path | None, backend: TalkingBackend, sink: Any = None) -> CrossRun:
    """A round of two calls, of which the second fails behind its turns."""
    found = [finding("F-1", "ann"), finding("F-2", "bob")]
    return crossverify(
        found,
        ["ann", "bob"],
        backend=backend,
        settings={"maxRounds": 1},
        log_dir=folder,
        matcher=None,
        repo=REPO,
        sink=sink,
    )


def broken_off(folder: Path, after: str, count: int) -> tuple[Path, list[str]]:
    """The log of the run that was broken off by this event, and the exchanges that had been sent."""
    backend = TalkingBackend(SCRIPT)
    with pytest.raises(StopError):
        run(folder, backend, stopping(after, count))
    [path] = folder.rglob("*.jsonl")
    return path, backend.asked


def outline(one: Any) -> list[tuple[Any, ...]]:
    """The events by type and what they hold, but for durations, sources, resumptions, and the order of calls."""
    left_out = {"duration_ms", "message", "source"}
    told = (event for event in one.events if not isinstance(event, RunResumed))
    return sorted((event.type, str(event.model_dump(exclude=left_out))) for event in told)


def test_a_whole_run_has_its_turns_before_how_its_calls_ended(tmp_path):
    backend = TalkingBackend(SCRIPT)
    whole = run(tmp_path, backend)
    assert sorted(backend.asked) == ALL
    for call in ("r1/ann", "r1/bob"):
        own = [event for event in whole.events if isinstance(event, TurnSent | TurnReplied) and event.of_call == call]
        assert [(event.type, event.call_id[-2:]) for event in own] == [
            ("turn-sent", "t1"), ("turn-replied", "t1"), ("turn-sent", "t2"), ("turn-replied", "t2"),
        ]  # fmt: skip
        assert Past(whole.records).turns(call) == tuple(own)
        [end] = [e for e in whole.events if isinstance(e, CallReplied | CallFailed) and e.call_id == call]
        assert whole.events.index(end) > whole.events.index(own[-1])
        assert end.usage == FIRST + SECOND
        assert [use.tool for use in end.tools] == ["Read"]
    assert read_run(whole.log_path).events == whole.events


def test_a_run_with_turns_is_replayed_from_its_log_with_all_of_them(tmp_path):
    whole = run(tmp_path, TalkingBackend(SCRIPT))
    again = replay_run(whole.log_path)
    assert again.same
    assert outline(again.run) == outline(whole)
    replies = [event for event in again.run.events if isinstance(event, CallReplied | TurnReplied)]
    assert {event.source for event in replies} == {"replay"}
    assert len(replies) == 5


@pytest.mark.parametrize("count", range(1, 5))
def test_a_turn_that_was_sent_and_not_replied_is_repeated_and_the_log_says_so(tmp_path, count):
    path, before = broken_off(tmp_path, "turn-sent", count)
    open_turns = Past(read_run(path).records).in_flight
    assert open_turns
    after = TalkingBackend(SCRIPT)
    resumed = resume(path, backend=after, matcher=None)
    [told] = resumptions(resumed)
    assert told.repeated == open_turns
    assert set(told.repeated) <= set(after.asked)
    assert Counter(before + after.asked) <= Counter(ALL) + Counter(told.repeated)
    assert outline(resumed) == outline(run(None, TalkingBackend(SCRIPT)))
    assert f"asked again: {', '.join(told.repeated)}" in "\n".join(log_text(resumed.records))


@pytest.mark.parametrize("after", ["turn-replied", "call-replied", "call-failed"])
def test_where_every_turn_is_replied_nothing_is_repeated(tmp_path, after):
    whole = run(tmp_path / "whole", TalkingBackend(SCRIPT))
    count = 2 if after == "turn-replied" else 1
    seen = [0]

    def cut(record: Any) -> Any:
        """What stands before and at the event, and of later turns and calls nothing."""
        keep = seen[0] < count
        seen[0] += record.event.type == after
        return record if keep else None

    rewritten(whole.log_path, cut)
    kept = read_run(whole.log_path)
    replied = [event.call_id for event in kept.events if isinstance(event, TurnReplied)]
    sent = [event.call_id for event in kept.events if isinstance(event, TurnSent)]
    backend = TalkingBackend(SCRIPT)
    resumed = resume(whole.log_path, backend=backend, matcher=None)
    [told] = resumptions(resumed)
    assert told.repeated == tuple(name for name in sent if name not in replied)
    assert sorted(backend.asked) == sorted(set(ALL) - set(replied))
    assert outline(resumed) == outline(run(None, TalkingBackend(SCRIPT)))


def test_a_call_that_died_between_two_turns_goes_on_with_the_second(tmp_path):
    whole = run(tmp_path, TalkingBackend(SCRIPT))
    dropped = ("r1/ann/t2", "r1/ann")

    def cut(record: Any) -> Any:
        derived = record.seq > 8 and not hasattr(record.event, "usage") and not isinstance(record.event, TurnSent)
        return None if derived or (record.seq > 8 and getattr(record.event, "call_id", "") in dropped) else record

    requested = max(record.seq for record in whole.records if record.event.type == "call-requested")
    assert requested == 7, "what is cut above stands behind the requests"
    rewritten(whole.log_path, cut)
    assert Past(read_run(whole.log_path).records).in_flight == ()
    backend = TalkingBackend(SCRIPT)
    resumed = resume(whole.log_path, backend=backend, matcher=None)
    assert backend.asked == ["r1/ann/t2"]
    assert [event.repeated for event in resumptions(resumed)] == [()]
    assert outline(resumed) == outline(whole)


def test_turns_are_named_by_their_call():
    assert [call_of(name) for name in ALL] == ["r1/ann", "r1/ann", "r1/bob", "r1/bob"]
    turn = TurnReplied(call_id="i1/resolver/t2/w1", message={}, usage=Usage(), duration_ms=0)
    assert turn.of_call == TurnSent(call_id="i1/resolver/t9", model=MODEL, request_sha256="").of_call == "i1/resolver"


TURN = "r1/ann/t1"
REQUEST = CallRequested(call_id="r1/ann", worker="ann", request_sha256="x")
SENT = TurnSent(call_id=TURN, model="m", request_sha256="y")
AGAIN, LAST = (
    Attempt(
        call_id=TURN, number=1, error="500", started="", duration_ms=1, sent_bytes=1, received_bytes=1, retry_in_s=s
    )
    for s in (0.5, None)
)
FAILED = CallFailed(call_id="r1/ann", status="error", reason="500", duration_ms=1, usage=Usage())
RESUMED = RunResumed(dropped_bytes=0, repeated=(TURN,), versions={})
REOPENED = RunReopened(retried=("r1/ann",), superseded_from=9, versions={})


@pytest.mark.parametrize(
    ("events", "was_cut_off"),
    [
        ([REQUEST], False),
        ([REQUEST, SENT], True),
        ([REQUEST, SENT, AGAIN], True),
        ([REQUEST, SENT, LAST], False),
        ([REQUEST, SENT, LAST, RESUMED], True),  # the process that resumed died, too
        ([REQUEST, SENT, LAST, RESUMED, LAST], False),
        ([REQUEST, SENT, LAST, RESUMED, LAST, RESUMED], True),
        ([REQUEST, SENT, LAST, FAILED], False),
        ([REQUEST, SENT, LAST, FAILED, REOPENED], False),
        ([REQUEST, SENT, LAST, FAILED, REOPENED, REQUEST], True),  # the process that asked it again died
        ([REQUEST, SENT, LAST, FAILED, REOPENED, REQUEST, AGAIN], True),
        ([REQUEST, SENT, LAST, FAILED, REOPENED, REQUEST, LAST], False),
        ([REQUEST, SENT, LAST, FAILED, REOPENED, REQUEST, LAST, RESUMED], True),
    ],
)
def test_a_request_that_a_process_died_with_is_known_however_often_one_died(events, was_cut_off):
    begun = RunResumed(dropped_bytes=0, repeated=(), versions={})
    records = [Record(number, "", event) for number, event in enumerate([begun, *events], 1)]
    assert Past(records).was_cut_off(TURN) is was_cut_off
