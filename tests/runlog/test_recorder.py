"""External events are known by their ids; derived ones must come again as they were recorded (rule E2)."""

from __future__ import annotations

import pytest

from verifyplan.errors import LogError
from verifyplan.protocol.call import Usage
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_plan import IterationStarted
from verifyplan.protocol.event_run import (
    AnswerGiven,
    CallFailed,
    CallReplied,
    CallRequested,
    Checkpoint,
    RunResumed,
    TurnReplied,
    TurnSent,
)
from verifyplan.runlog.chain import Record
from verifyplan.runlog.reader import read_log
from verifyplan.runlog.recorder import Past, Recorder
from verifyplan.runlog.writer import LogWriter

FIRST, SECOND = IterationStarted(iteration=1, tightened=False), IterationStarted(iteration=2, tightened=True)
PAUSE = Checkpoint(iteration=1, kind="blocked", message="Well?", items=("C1",), pause_id="i1/pause-1")
ANSWER = AnswerGiven(pause_id="i1/pause-1", answer="abort")
RESUMED = RunResumed(dropped_bytes=0, repeated=("a",), versions={})


def asked(name: str, digest: str = "0") -> CallRequested:
    return CallRequested(call_id=name, worker=name, request_sha256=digest)


def replied(name: str, value: object = 1) -> CallReplied:
    return CallReplied(call_id=name, value=value, usage=Usage(), duration_ms=1, source="live")


def failed(name: str) -> CallFailed:
    return CallFailed(call_id=name, status="error", reason="none", duration_ms=1)


def sent(name: str) -> TurnSent:
    return TurnSent(call_id=name, model="m", request_sha256="0")


def came(name: str) -> TurnReplied:
    return TurnReplied(call_id=name, message={"content": []}, usage=Usage(output_tokens=1), duration_ms=1)


def past_of(*events: Event) -> Past:
    return Past([Record(number, "t", event) for number, event in enumerate(events, start=1)])


@pytest.fixture
def writer(tmp_path):
    with LogWriter.create(tmp_path, "run") as writer:
        yield writer


def types(recorder: Recorder) -> list[str]:
    return [record.event.type for record in recorder.records]


def test_a_past_knows_external_events_by_their_ids():
    past = past_of(asked("a"), asked("b"), FIRST, replied("b"), asked("c"), failed("c"), PAUSE, ANSWER, RESUMED)
    assert past.in_flight == ("a",)
    assert [past.result(name) for name in ("a", "b", "c", "d")] == [None, replied("b"), failed("c"), None]
    assert past.answer("i1/pause-1") == ANSWER
    assert past.answer("i2/pause-1") is None
    assert [record.event for record in past.derived] == [FIRST, PAUSE]


def test_an_empty_past_knows_nothing():
    assert (Past().in_flight, Past().derived, Past().result("a")) == ((), (), None)
    assert (Past().sent("a/t1"), Past().turn("a/t1"), Past().turns("a")) == (None, None, ())


def test_a_past_knows_turns_by_their_ids_and_those_of_a_call_in_order():
    first = (sent("a/t1"), came("a/t1"), sent("a/t1/w1"), came("a/t1/w1"), sent("a/t2"))
    other = (sent("b/t1"), came("b/t1"))
    past = past_of(asked("a"), asked("b"), *first[:2], *other, *first[2:], replied("b"))
    assert past.turns("a") == first
    assert past.turns("b") == other
    assert (past.sent("a/t2"), past.turn("a/t2"), past.turn("a/t1/w1")) == (first[4], None, first[3])
    assert (past.sent("a"), past.turn("a"), past.result("a/t1")) == (None,) * 3
    assert past.derived == ()


def test_a_call_that_is_asked_otherwise_is_noted_by_the_recorder_and_answered_as_recorded():
    past = past_of(asked("a"), replied("a"), asked("b"), replied("b"))
    recorder = Recorder(past=past)
    for event in (asked("a"), asked("b", digest="1"), replied("a"), replied("b"), asked("c", digest="1")):
        recorder.emit(event)
    assert recorder.asked_otherwise == ["b"]
    assert [record.event for record in recorder.records][:2] == [asked("a"), asked("b")]


def test_only_a_replay_under_other_rules_goes_without_scores_that_were_never_asked_for():
    records = [Record(1, "t", replied("i1/score"))]
    assert [Past(records).goes_unscored(name) for name in ("i1/score", "i2/score")] == [False, False]
    other_rules = Past(records, may_go_unscored=True)
    assert [other_rules.goes_unscored(name) for name in ("i1/score", "i2/score")] == [False, True]


@pytest.mark.parametrize(
    ("events", "in_flight"),
    [
        ((asked("a"), sent("a/t1")), ("a/t1",)),
        ((asked("a"), sent("a/t1"), came("a/t1")), ()),
        ((asked("a"), sent("a/t1"), came("a/t1"), sent("a/t2")), ("a/t2",)),
        ((asked("a"), asked("b"), sent("b/t1"), sent("a/t1"), came("a/t1"), asked("c")), ("b/t1",)),
        ((asked("a"), sent("a/t1"), failed("a")), ()),
        ((asked("a"), asked("b")), ("a", "b")),
    ],
)
def test_what_was_in_flight_is_the_turn_and_not_its_call(events, in_flight):
    assert past_of(*events).in_flight == in_flight


def test_turns_on_disk_are_neither_written_nor_told_again(writer):
    told: list[Event] = []
    recorder = Recorder(writer, past_of(asked("a"), sent("a/t1"), came("a/t1")), RESUMED, told.append)
    for event in (asked("a"), sent("a/t1"), came("a/t1"), sent("a/t2"), came("a/t2")):
        recorder.emit(event)
    assert told == [RESUMED, sent("a/t2"), came("a/t2")]
    assert types(recorder) == [
        "call-requested", "turn-sent", "turn-replied", "run-resumed", "turn-sent", "turn-replied",
    ]  # fmt: skip


def test_cost_is_counted_of_every_event_before_the_state_takes_it_those_on_disk_included(writer):
    order: list[str] = []
    recorder = Recorder(writer, past_of(asked("a"), sent("a/t1"), came("a/t1")), RESUMED)
    folds = (lambda event: order.append(f"count {event.type}"), lambda event: order.append(f"take {event.type}"))
    for event in (asked("a"), came("a/t1"), replied("a")):
        recorder.emit(event, *folds)
    kinds = ("call-requested", "turn-replied", "call-replied")
    assert order == [f"{who} {kind}" for kind in kinds for who in ("count", "take")]


def test_without_a_writer_events_are_numbered_and_kept():
    recorder = Recorder()
    for event in (asked("a"), replied("a"), FIRST):
        recorder.emit(event)
    assert [(record.seq, record.event) for record in recorder.records] == [
        (1, asked("a")),
        (2, replied("a")),
        (3, FIRST),
    ]


def test_an_event_is_on_disk_before_the_state_takes_it_and_in_the_state_before_the_sink_hears_of_it(writer):
    order: list[str] = []

    def seen(name: str) -> None:
        order.append(f"{name} with {writer.path.read_bytes().count(10)} on disk")

    recorder = Recorder(writer, sink=lambda _: seen("sink"))
    recorder.emit(asked("a"), lambda _: seen("state"))
    recorder.emit(FIRST, lambda _: seen("state"))
    assert order == ["state with 1 on disk", "sink with 1 on disk", "state with 2 on disk", "sink with 2 on disk"]


def test_what_is_on_disk_is_folded_again_but_neither_written_nor_told(writer):
    folded: list[Event] = []
    told: list[Event] = []
    recorder = Recorder(writer, past_of(asked("a"), replied("a"), FIRST), RESUMED, told.append)
    for event in (asked("a"), replied("a"), FIRST):
        recorder.emit(event, folded.append)
    assert folded == [asked("a"), replied("a"), FIRST]
    assert told == []
    assert writer.path.read_bytes() == b""
    assert [record.at for record in recorder.records] == ["t"] * 3


def test_the_first_new_event_is_preceded_by_the_resumption_and_later_ones_are_not(writer):
    told: list[Event] = []
    recorder = Recorder(writer, past_of(asked("a")), RESUMED, told.append)
    for event in (asked("a"), replied("a"), FIRST):
        recorder.emit(event)
    assert told == [RESUMED, replied("a"), FIRST]
    assert types(recorder) == ["call-requested", "run-resumed", "call-replied", "iteration-started"]
    assert writer.path.read_bytes().count(b"run-resumed") == 1


def test_a_resumption_is_announced_once(writer):
    recorder = Recorder(writer, past_of(asked("a")), RESUMED)
    recorder.emit(asked("a"))
    recorder.write_resumption()
    recorder.write_resumption()
    recorder.emit(replied("a"))
    assert types(recorder) == ["call-requested", "run-resumed", "call-replied"]


def test_a_run_that_is_new_announces_nothing(writer):
    recorder = Recorder(writer)
    recorder.write_resumption()
    assert (recorder.records, writer.path.read_bytes()) == ([], b"")


def test_a_resumption_that_could_not_be_written_is_still_to_be_written(writer, monkeypatch):
    recorder = Recorder(writer, past_of(asked("a")), RESUMED)
    recorder.emit(asked("a"))
    with monkeypatch.context() as patch:
        patch.setattr(writer, "append", lambda *_, **__: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError, match="full"):
            recorder.emit(replied("a"))
    recorder.emit(replied("a"))
    assert types(recorder) == ["call-requested", "run-resumed", "call-replied"]


def test_external_events_may_come_again_in_another_order(writer):
    recorder = Recorder(writer, past_of(asked("a"), asked("b"), replied("b"), replied("a"), FIRST), RESUMED)
    for event in (asked("a"), asked("b"), replied("a"), replied("b"), FIRST):
        recorder.emit(event)
    assert writer.path.read_bytes() == b""


def test_a_derived_event_that_is_another_is_refused_with_its_line_and_writes_nothing(writer):
    recorder = Recorder(writer, past_of(asked("a"), replied("a"), FIRST), RESUMED)
    recorder.emit(asked("a"))
    recorder.emit(replied("a"))
    with pytest.raises(LogError, match=r"run-001\.jsonl: line 3: the recorded iteration-.* tightened=True"):
        recorder.emit(SECOND)
    assert writer.path.read_bytes() == b""


def test_a_call_that_is_new_while_recorded_events_are_left_is_refused(writer):
    recorder = Recorder(writer, past_of(asked("a"), FIRST), RESUMED)
    recorder.emit(asked("a"))
    for new in (recorder.write_resumption, lambda: recorder.emit(asked("b"))):
        with pytest.raises(LogError, match=r"line 2: the recorded iteration-started does not follow .*no reply here"):
            new()
    assert writer.path.read_bytes() == b""


def test_what_a_sink_raises_comes_out_and_the_event_stays_on_disk(writer):
    def sink(_: Event) -> None:
        raise RuntimeError("no more")

    recorder = Recorder(writer, sink=sink)
    with pytest.raises(RuntimeError, match="no more"):
        recorder.emit(asked("a"))
    assert writer.path.read_bytes().count(b"call-requested") == 1
    with pytest.raises(LogError, match="contains no run"):
        read_log(writer.path)
