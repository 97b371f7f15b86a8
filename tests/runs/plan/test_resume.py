"""Runs that go on where they were broken off or wait, without asking again what was answered (rules E2, A4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.longer import part
from tests.runs.plan.breaking import (
    Heard,
    StopError,
    broken_off,
    course,
    resumptions,
    run_again,
    small_cross,
    stopping,
    without_durations,
)
from tests.runs.plan.planning import PLAN, REPO, script, told
from tests.runs.plan.planning import run_of as plan_run
from verifyplan.errors import InputError, LogError
from verifyplan.protocol.event_run import AnswerGiven
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.plan.pauses import Answer
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.resume import read_run, resume


@pytest.fixture(autouse=True)
def fast_disk(monkeypatch):
    """No process dies here, so nothing need be forced to the disk; `test_writer` holds that it is."""
    monkeypatch.setattr("verifyplan.runlog.writer.os.fsync", lambda _: None)


@pytest.fixture
def waiting(tmp_path) -> PlanRun:
    """A run that waits for a person after its first iteration."""
    run = plan_run(script(), log_dir=tmp_path, on_blocked="pause")
    assert run.waiting is not None
    return run


# What was broken off


@pytest.mark.parametrize("count", [1, 2, 7, 14])
def test_only_calls_without_a_reply_are_made(tmp_path, count):
    path = broken_off(tmp_path, script(), "call-replied", count)
    answered = {event.call_id for event in read_run(path).events if event.type in ("call-replied", "call-failed")}
    backend = Heard(script())
    run = resume(path, backend=backend)
    everything = {event.call_id for event in told(run, "call-requested")}
    assert len(backend.calls) == len(set(backend.calls))
    assert set(backend.calls) == everything - answered
    assert course(run) == course(plan_run(script()))


def test_replies_of_one_round_that_were_in_flight_are_named_and_made_again(tmp_path):
    panel = [f"i1/panel/r1/panel-{number}" for number in (1, 2, 3)]
    slow = Heard(script(), {panel[0]: 0.06, panel[1]: 0.0, panel[2]: 0.03})
    replies_before_panel = 5
    path = broken_off(tmp_path, {}, "call-replied", replies_before_panel + 1, backend=slow)
    assert slow.calls[-3:] == panel
    again = Heard(script())
    run = resume(path, backend=again)
    [resumed] = resumptions(run)
    assert resumed.repeated == (panel[0], panel[2])
    assert again.calls[:2] == [panel[0], panel[2]]
    told_at = run.events.index(resumed)
    assert run.events[told_at - 1].call_id == panel[1]  # the one reply that was on disk
    assert [event.call_id for event in run.events[told_at + 1 : told_at + 3]] == [panel[0], panel[2]]
    derived = [line for line in course(run) if "'call-re" not in line]
    assert derived == [line for line in course(plan_run(script())) if "'call-re" not in line]


def test_a_call_is_told_as_repeated_before_it_is_repeated_as_it_may_never_come_back(tmp_path):
    path = broken_off(tmp_path, script(), "call-requested")
    on_disk: list[int] = []

    class Looking(Heard):
        async def answer(self, request):
            on_disk.append(path.read_bytes().count(b'"type":"run-resumed"'))
            return await super().answer(request)

    with pytest.raises(StopError):
        resume(path, backend=Looking(script()), sink=stopping("run-resumed"))
    assert read_run(path).events[-1].type == "run-resumed"
    run = resume(path, backend=Looking(script()))
    assert on_disk[0] == 2
    assert [event.repeated for event in resumptions(run)] == [("i1/challenger",)] * 2
    assert course(run) == course(plan_run(script()))


def test_a_sink_is_told_what_is_new_and_nothing_else(tmp_path):
    path = broken_off(tmp_path, script(), "iteration-closed")
    before = len(read_run(path).events)
    heard: list[Any] = []
    run = resume(path, backend=Heard(script()), sink=heard.append)
    assert tuple(heard) == run.events[before:]
    assert heard[0].type == "run-resumed"


def test_a_log_of_a_run_whose_replies_are_all_there_is_finished_without_a_call(tmp_path):
    path = broken_off(tmp_path, script(), "score-disputed")
    backend = Heard({})
    run = resume(path, backend=backend)
    assert isinstance(run, PlanRun)
    assert (backend.calls, run.verdict, run.score) == ([], "RETHINK", 7)


def test_resumed_twice_a_run_that_ended_stays_byte_for_byte(tmp_path):
    path = broken_off(tmp_path, script(), "round-closed", 2)
    first = resume(path, backend=Heard(script()))
    whole, files = path.read_bytes(), sorted(tmp_path.iterdir())
    backend = Heard({})
    assert course(resume(path, backend=backend)) == course(resume(path)) == course(first)
    assert (path.read_bytes(), sorted(tmp_path.iterdir()), backend.calls) == (whole, files, [])


# Cut anywhere


def test_a_cross_run_cut_at_any_byte_is_resumed_to_the_same_events_and_artifact(tmp_path):
    run = small_cross(tmp_path)
    assert run.log_path is not None
    assert run.path is not None
    whole, artifact = run.log_path.read_bytes(), without_durations(run.path.read_text())
    first = whole.index(b"\n")
    path = tmp_path / "cut.jsonl"
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    near = {length for end in ends for length in range(end - 1, end + 3) if length < len(whole)}
    for length in sorted(near.union(part(range(len(whole)), 29))):
        path.write_bytes(whole[:length])
        path.with_suffix(".json").unlink(missing_ok=True)
        if length < first:
            with pytest.raises(LogError, match="contains no run"):
                resume(path, backend=run_again())
            continue
        resumed = resume(path, backend=run_again())
        assert course(resumed) == course(run)
        assert without_durations(path.with_suffix(".json").read_text()) == artifact
        dropped = [event.dropped_bytes for event in resumptions(resumed)]
        if length == len(whole) - 1:  # all but the last line feed
            assert dropped == []
        elif whole[length : length + 1] == b"\n":
            assert dropped == [0]
        else:
            assert dropped == [len(whole[:length].rpartition(b"\n")[2])]


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_plan_run_cut_in_any_line_is_resumed_to_the_same_events(tmp_path, share):
    run = plan_run(script(), log_dir=tmp_path)
    assert run.log_path is not None
    lines = run.log_path.read_bytes().splitlines(keepends=True)
    for number in part(range(1, len(lines)), 9, offset=int(share * 6)):
        torn = lines[number][: int(len(lines[number]) * share)]
        run.log_path.write_bytes(b"".join(lines[:number]) + torn)
        resumed = resume(run.log_path, backend=Heard(script()))
        assert course(resumed) == course(run)
        assert [event.dropped_bytes for event in resumptions(resumed)] == [len(torn)]


def test_a_torn_line_that_leads_to_no_new_event_stays_and_is_told_when_the_run_goes_on(waiting):
    path = waiting.log_path
    path.write_bytes(path.read_bytes() + b'{"seq":9')
    before = path.read_bytes()
    assert resume(path, backend=Heard(script())).events == waiting.events
    with pytest.raises(InputError, match="'C9' does not block this plan"):
        resume(path, "acknowledge:C9", backend=Heard(script()))
    assert path.read_bytes() == before
    run = resume(path, "abort", backend=Heard(script()))
    assert [event.dropped_bytes for event in resumptions(run)] == [len(b'{"seq":9')]


# What waits


def test_a_run_that_waits_stays_as_it_is_without_an_answer(waiting):
    whole = waiting.log_path.read_bytes()
    backend = Heard({})
    run = resume(waiting.log_path, backend=backend)
    assert isinstance(run, PlanRun)
    assert (run.waiting, run.status) == (waiting.waiting, "BLOCKED")
    assert (waiting.log_path.read_bytes(), backend.calls) == (whole, [])
    assert resume(waiting.log_path).events == waiting.events  # whom nothing is asked of need not be there


def test_nobody_who_answers_leaves_the_run_as_it_is(waiting):
    whole = waiting.log_path.read_bytes()
    asked: list[Any] = []
    run = resume(waiting.log_path, backend=Heard({}), on_blocked=asked.append)
    assert isinstance(run, PlanRun)
    assert asked == [waiting.waiting] == [run.waiting]
    assert waiting.log_path.read_bytes() == whole


def test_context_leads_to_the_next_iteration_which_is_told_of_it(waiting):
    heard: list[Any] = []

    class Keeping(Heard):
        async def answer(self, request):
            heard.append(request)
            return await super().answer(request)

    run = resume(waiting.log_path, "context", note="rows are locked at night", backend=Keeping(script()))
    assert isinstance(run, PlanRun)
    assert heard[0].call_id == "i2/challenger"
    assert heard[0].user_context == ("rows are locked at night",)
    assert run.waiting is not None
    assert run.waiting.pause_id == "i2/pause-1"
    assert [event.answer for event in told(run, "answer-given")] == ["context"]


def test_one_answer_answers_one_pause_and_the_function_answers_the_rest(waiting):
    run = resume(
        waiting.log_path,
        Answer("context", note="go on"),
        backend=Heard(script()),
        on_blocked=lambda pause: f"override:{pause.challenges[0].id}",
    )
    assert isinstance(run, PlanRun)
    given = [(event.pause_id, event.answer) for event in told(run, "answer-given")]
    assert given == [("i1/pause-1", "context"), ("i2/pause-1", "override")]
    assert run.outcome is not None
    assert (run.outcome.ended_by, run.outcome.overridden) == ("user", "C2")


def test_an_answer_that_is_on_disk_is_not_asked_for_again(waiting):
    with pytest.raises(StopError):
        resume(waiting.log_path, "acknowledge:C2", backend=Heard(script()), sink=stopping("answer-given"))
    broken = read_run(waiting.log_path)
    assert isinstance(broken, PlanRun)
    assert isinstance(broken.events[-1], AnswerGiven)
    assert broken.waiting is None
    run = resume(waiting.log_path, backend=Heard(script()), on_blocked=lambda _: pytest.fail("asked again"))
    assert isinstance(run, PlanRun)
    assert run.state.challenges["C2"].status == "RESOLVED"


# Cross runs


@pytest.mark.parametrize("after", ["finding-grouped", "call-requested", "vote-cast", "round-closed", "run-ended"])
def test_a_cross_run_that_is_resumed_writes_the_artifact_it_would_have_written(tmp_path, after):
    whole = small_cross(tmp_path / "whole")
    with pytest.raises(StopError):
        small_cross(tmp_path / "broken", stopping(after))
    [path] = (tmp_path / "broken").rglob("*.jsonl")
    assert not list((tmp_path / "broken").rglob("*.json"))
    run: Any = resume(path, backend=run_again())
    assert run.path == path.with_suffix(".json")
    assert without_durations(run.path.read_text()) == without_durations(whole.path.read_text())
    assert course(run) == course(whole)
    run.path.unlink()
    resume(path, backend=run_again())
    assert run.path.exists()


def test_a_plan_that_was_removed_since_is_read_from_the_log(tmp_path):
    plan = tmp_path / "plan.md"
    plan.write_text(PLAN)
    backend = Heard(script())
    with pytest.raises(StopError):
        verify(plan, REPO, backend=backend, log_dir=tmp_path, team="scaled", sink=stopping("challenge-admitted"))
    plan.unlink()
    run = resume(tmp_path / "plan-001.jsonl", backend=Heard(script()))
    assert isinstance(run, PlanRun)
    assert (run.verdict, run.started.plan.plan_text) == ("RETHINK", PLAN)


def test_a_log_that_is_reached_by_a_link_is_not_written_twice_at_once(tmp_path, waiting):
    link = tmp_path / "elsewhere.jsonl"
    link.symlink_to(waiting.log_path)
    writer, _ = LogWriter.resume(waiting.log_path)
    with writer, pytest.raises(LogError, match="is being written by another run"):
        resume(link, "abort", backend=Heard({}))
    run = resume(link, "abort", backend=Heard({}))
    assert read_run(waiting.log_path).events == run.events
