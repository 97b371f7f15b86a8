"""Runs that go on where they were broken off or wait, without asking again what was answered (SPEC E2, A4)."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from crossing import AGREE, COUNTER, finding
from planning import PLAN, REPO, challenge, change, script, told, votes
from planning import run_of as plan_run

from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import InputError, LogError, SettingsError
from verifyplan.loops.cross import crossverify
from verifyplan.loops.plan.pauses import Answer
from verifyplan.loops.plan.run import PlanRun
from verifyplan.loops.resume import read_run, resume
from verifyplan.protocol.call import Reply
from verifyplan.protocol.event_run import AnswerGiven, RunResumed
from verifyplan.rules.grouping import PlaceAndText
from verifyplan.runlog.chain import START, encode
from verifyplan.runlog.writer import LogWriter


class Heard:
    """Answers from a script and keeps the ids of the calls that were made."""

    def __init__(self, answers: dict[Any, Any], delays: dict[str, float] | None = None) -> None:
        self.inner, self.delays, self.calls = ScriptedBackend(answers, silent=True), delays or {}, list[str]()

    def describe(self) -> dict[str, Any]:
        return self.inner.describe()

    def check_worker(self, worker: str) -> str | None:
        return self.inner.check_worker(worker)

    async def answer(self, request: Any) -> Reply:
        self.calls.append(request.call_id)
        await asyncio.sleep(self.delays.get(request.call_id, 0))
        return await self.inner.answer(request)


class Stop(Exception):
    """What a sink raises to break a run off."""


def stopping(after: str, count: int = 1):
    """A sink that breaks the run off when an event of this type has come so often."""
    left = [count]

    def sink(event):
        left[0] -= event.type == after
        if not left[0]:
            raise Stop

    return sink


def broken_off(folder, answers, after: str, count: int = 1, **more: Any):
    """The log of a plan run that was broken off after an event of this type."""
    with pytest.raises(Stop):
        plan_run(answers, log_dir=folder, sink=stopping(after, count), **more)
    [path] = folder.glob("*.jsonl")
    return path


def course(run) -> list[str]:
    """The events, durations and resumptions aside."""
    return [str(e.model_dump(exclude={"duration_ms"})) for e in run.events if not isinstance(e, RunResumed)]


def resumptions(run) -> list[RunResumed]:
    return [event for event in run.events if isinstance(event, RunResumed)]


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
    kinds = [event.type for event in run.events]
    assert kinds.index("run-resumed") == len(kinds) - len(run.events) + len(read_until(run, panel[1]))
    derived = [line for line in course(run) if "'call-re" not in line]
    assert derived == [line for line in course(plan_run(script())) if "'call-re" not in line]


def read_until(run, call_id: str) -> list[Any]:
    """The events up to the reply of a call."""
    position = next(i for i, e in enumerate(run.events) if e.type == "call-replied" and e.call_id == call_id)
    return list(run.events[: position + 1])


def test_a_repeated_call_that_never_comes_back_is_told_all_the_same(tmp_path):
    path = broken_off(tmp_path, script(), "call-requested")
    with pytest.raises(Stop):
        resume(path, backend=Heard(script()), sink=stopping("run-resumed"))
    first = read_run(path)
    assert [event.repeated for event in resumptions(first)] == [("i1/challenger",)]
    assert first.events[-1].type == "run-resumed"
    run = resume(path, backend=Heard(script()))
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


def small_cross(folder, sink=None):
    answers = {1: {"bob": {"F-1": COUNTER}}, 2: {"bob": {"F-1": AGREE}}}
    return crossverify(
        [finding()], ["ann", "bob"], out=folder, backend=Heard(answers), matcher=None, sink=sink, root=REPO
    )


def test_a_cross_run_cut_at_any_byte_is_resumed_to_the_same_events_and_artifact(tmp_path):
    run = small_cross(tmp_path)
    assert run.log_path is not None
    assert run.path is not None
    whole, artifact = run.log_path.read_bytes(), without_durations(run.path.read_text())
    first = whole.index(b"\n")
    path = tmp_path / "cut.jsonl"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        path.with_suffix(".json").unlink(missing_ok=True)
        if length < first:
            with pytest.raises(LogError, match="holds no run"):
                resume(path, backend=run_again())
            continue
        resumed = resume(path, backend=run_again())
        assert course(resumed) == course(run)
        assert without_durations(path.with_suffix(".json").read_text()) == artifact
        dropped = [event.dropped_bytes for event in resumptions(resumed)]
        begun = length - whole.rindex(b"\n", 0, length) - 1 if length > first else 0
        assert dropped in ([begun], [0], []), length
        assert dropped != [0] or begun == 0 or whole[length : length + 1] == b"\n"
        assert dropped or length == len(whole) - 1


def run_again() -> Heard:
    return Heard({1: {"bob": {"F-1": COUNTER}}, 2: {"bob": {"F-1": AGREE}}})


def without_durations(text: str) -> str:
    return re.sub(r'"durationMs": \d+', "", text)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_plan_run_cut_in_any_line_is_resumed_to_the_same_events(tmp_path, share):
    run = plan_run(script(), log_dir=tmp_path)
    assert run.log_path is not None
    lines = run.log_path.read_bytes().splitlines(keepends=True)
    for number in range(1, len(lines), 3):
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
    with pytest.raises(Stop):
        resume(waiting.log_path, "acknowledge:C2", backend=Heard(script()), sink=stopping("answer-given"))
    broken = read_run(waiting.log_path)
    assert isinstance(broken, PlanRun)
    assert isinstance(broken.events[-1], AnswerGiven)
    assert broken.waiting is None
    run = resume(waiting.log_path, backend=Heard(script()), on_blocked=lambda _: pytest.fail("asked again"))
    assert isinstance(run, PlanRun)
    assert run.state.challenges["C2"].status == "RESOLVED"


@pytest.mark.parametrize(
    ("answer", "note", "words"),
    [
        ("acknowledge:C3", "", "'C3' does not block this plan"),
        ("acknowledge", "", "None does not block this plan"),
        ("override:C99", "", "'C99' does not block this plan"),
        ("context", " ", "note: is blank"),
        ("abort:C2", "", "abort names no challenge"),
        ("perhaps", "", "'perhaps' is no answer"),
        ("", "", "'' is no answer"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_and_changes_nothing(waiting, answer, note, words):
    whole, files = waiting.log_path.read_bytes(), sorted(waiting.log_path.parent.iterdir())
    with pytest.raises(InputError, match=re.escape(words)):
        resume(waiting.log_path, answer, note=note, backend=Heard({}))
    assert waiting.log_path.read_bytes() == whole
    assert sorted(waiting.log_path.parent.iterdir()) == files


def test_an_answer_where_nothing_waits_is_refused_and_changes_nothing(tmp_path):
    ended = plan_run(script(), log_dir=tmp_path)
    cross = small_cross(tmp_path)
    broken = broken_off(tmp_path / "b", script(), "iteration-closed")
    for path in (ended.log_path, cross.log_path, broken):
        whole = path.read_bytes()
        with pytest.raises(LogError, match="waits for no answer"):
            resume(path, "abort", backend=Heard({}))
        assert path.read_bytes() == whole


# What cannot go on


def test_a_backend_that_is_not_made_by_name_must_be_passed(tmp_path):
    path = broken_off(tmp_path, script(), "iteration-closed")
    whole = path.read_bytes()
    with pytest.raises(SettingsError, match=r"the log was written with 'scripted', .* Fix: pass backend="):
        resume(path)
    assert path.read_bytes() == whole


def test_a_matcher_that_is_not_the_run_s_is_refused(tmp_path):
    with pytest.raises(Stop):
        crossverify([finding()], ["ann", "bob"], out=tmp_path, backend=Heard({}), sink=stopping("round-closed"))
    [path] = tmp_path.rglob("*.jsonl")
    with pytest.raises(SettingsError, match="the findings were grouped by 'PlaceAndText'"):
        resume(path, backend=Heard({}), matcher=None)
    assert resume(path, backend=Heard({}), matcher=PlaceAndText()).events[-1].type == "run-ended"


def rewritten(path, change_one) -> None:
    """The log with its records changed by somebody who can compute digests."""
    records, digest, lines = read_run(path).records, START, []
    for number, record in enumerate(filter(None, map(change_one, records)), start=1):
        line, digest = encode(record._replace(seq=number), digest)
        lines.append(line)
    path.write_bytes(b"".join(lines))


def test_a_log_whose_events_do_not_follow_from_its_replies_is_refused_before_a_call_is_paid_for(tmp_path):
    path = broken_off(tmp_path, script(), "iteration-closed")

    def other_class(record):
        if record.event.type != "convergence-evaluated":
            return record
        return record._replace(event=record.event.model_copy(update={"blocking_open": 9}))

    rewritten(path, other_class)
    backend = Heard(script())
    with pytest.raises(LogError, match=r"line \d+: a convergence-evaluated does not follow from the replies") as caught:
        resume(path, backend=backend)
    assert backend.calls == []
    assert len(str(caught.value)) < 1000


def test_a_log_that_lost_a_reply_is_refused_before_a_call_is_paid_for(tmp_path):
    path = broken_off(tmp_path, script(), "iteration-closed")
    rewritten(path, lambda record: None if getattr(record.event, "call_id", "") == "i1/probe" else record)
    whole = path.read_bytes()
    backend = Heard(script())
    with pytest.raises(LogError, match="does not follow from the replies before it"):
        resume(path, backend=backend)
    assert (backend.calls, path.read_bytes()) == ([], whole)


def test_what_is_no_log_is_refused_in_words_and_leaves_nothing_behind(tmp_path):
    text = tmp_path / "notes.jsonl"
    text.write_text("hello\n")
    for path, words in [
        (text, "line 1: is damaged"),
        (tmp_path / "none.jsonl", "is no file"),
        (tmp_path / "nowhere" / "none.jsonl", "is no file"),
        (tmp_path, "is no file"),
    ]:
        with pytest.raises(LogError, match=words):
            resume(path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.jsonl"]


# Cross runs


@pytest.mark.parametrize("after", ["finding-grouped", "call-requested", "vote-cast", "round-closed", "run-ended"])
def test_a_cross_run_that_is_resumed_writes_the_artifact_it_would_have_written(tmp_path, after):
    whole = small_cross(tmp_path / "whole")
    with pytest.raises(Stop):
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


def test_a_plan_that_was_changed_or_removed_since_is_read_from_the_log(tmp_path):
    plan = tmp_path / "plan.md"
    plan.write_text(PLAN)
    answers = {
        "i1/challenger": {"challenges": [challenge()]},
        "i1/synthesizer": {"changes": [change("C1", "RESOLVED")]},
    }
    answers |= {f"i1/panel/r1/panel-{number}": votes(AGREE) for number in (1, 2, 3)}
    path = broken_off(tmp_path, answers, "round-closed", silent=True)
    plan.unlink()
    run = resume(path, backend=Heard(answers))
    assert isinstance(run, PlanRun)
    assert run.verdict == "PROCEED"
    assert run.started.plan.plan_text == PLAN


def test_a_log_that_is_reached_by_a_link_is_not_written_twice_at_once(tmp_path, waiting):
    link = tmp_path / "elsewhere.jsonl"
    link.symlink_to(waiting.log_path)
    writer, _ = LogWriter.resume(waiting.log_path)
    with writer, pytest.raises(LogError, match="is being written by another run"):
        resume(link, "abort", backend=Heard({}))
    run = resume(link, "abort", backend=Heard({}))
    assert read_run(waiting.log_path).events == run.events
