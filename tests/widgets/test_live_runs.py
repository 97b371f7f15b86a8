"""A live run comes to what the undisturbed run comes to: whole, cancelled at any moment and resumed, or killed."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.longer import part
from tests.runlog.conversing import FIRST, SECOND, TalkingBackend
from tests.runs.crossing import AGREE
from tests.runs.plan.planning import PLAN, REPO, script
from tests.widgets.live_runs import (
    FOUND,
    SECONDS,
    VOTES,
    Gated,
    blocked_run,
    course,
    course_on_disk,
    cross_run,
    plan_run,
    threads,
)
from verifyplan import agents, datasets
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import InputError, LogError
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.call import Usage
from verifyplan.protocol.event_run import Attempt, CallFailed, CallRequested, TurnReplied, TurnSent
from verifyplan.runs.estimate import estimate
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.resume import read_run, resume
from verifyplan.widgets.live import LiveRun
from verifyplan.widgets.live.progress import MAX_SHOWN_CALLS, LiveProgress
from verifyplan.widgets.live.retry import _largest_use, retry_offer
from verifyplan.widgets.repaint import MIN_REPAINT_S

PLAN_LOG = datasets.path("live-example") / "plan" / "purge-hour-001.jsonl"


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    assert threads() == []


def cancelled_after(number, make):
    """A live run that is cancelled as soon as it was told so many events."""
    seen = []

    def sink(event):
        seen.append(event)
        if len(seen) == number:
            live.cancel()

    live = make(sink)
    return live.start()


def counts(live):
    return dict(live._progress.totals())


def test_a_plan_is_verified_by_the_static_agents_as_verify_does_it(tmp_path):
    (tmp_path / "store.py").write_text("def read():\n    return 1\n")
    (tmp_path / "PLAN.md").write_text(PLAN)
    live = LiveRun(tmp_path / "PLAN.md", tmp_path, log_dir=tmp_path / "live")
    assert (live.state, live.run, live.log_path) == ("ready", None, None)
    assert live.form.layout.display == "none", "nothing is asked yet"
    live._view.start.click()
    assert live.wait(SECONDS) in ("ended", "asking")
    while live.state == "asking":
        live.answer("context", "go on")
        live.wait(SECONDS)
    assert live.state == "ended"
    assert live.run.verdict == read_run(live.log_path).verdict is not None
    assert f"Ended: {live.run.verdict}" in live._view.status.text
    assert "it informs and never decides" in live._view.end.value
    assert "<iframe sandbox" in live._view.end.value
    assert "<details open" not in live._view.end.value, "the report is shown on request"
    assert live.form.layout.display == "none"
    assert live._view.start.disabled
    assert live._view.resume.disabled


def test_a_plan_run_without_questions_has_the_events_of_verify(tmp_path):
    live = plan_run(tmp_path / "live", on_blocked="continue", start=True)
    assert live.wait(SECONDS) == "ended"
    backend = ScriptedBackend(script(), silent=True)
    alone = verify(parse_plan(PLAN), REPO, backend=backend, log_dir=tmp_path / "alone", team="scaled")
    assert course(live.run) == course(alone)
    kinds = Counter(event.type for event in alone.events)
    assert counts(live) == {
        "Calls": f"{kinds['call-requested']} asked, {kinds['call-replied']} replied, {kinds['call-failed']} failed",
        "Tokens": "0 in, 0 out",
        "Challenges": "1 BLOCKING (0 settled), 7 SIGNIFICANT (3 settled), 3 MINOR (1 settled)",
        "Votes": f"{kinds['vote-cast']}",
    }


def test_agents_that_speak_in_turns_have_them_counted_and_not_listed(tmp_path):
    live = cross_run(tmp_path, backend=TalkingBackend(VOTES), start=True)
    assert live.wait(SECONDS) == "ended"
    assert [row for row in counts(live).items() if row[0] in ("Calls", "Turns", "Tokens", "Cost")] == [
        ("Calls", "6 asked, 5 replied, 1 failed"),
        ("Turns", "12 sent, 12 replied"),
        ("Tokens", "12,600 in (6,000 cached), 240 out"),
        ("Cost", "$0.0408"),
    ]
    assert not any("/t1" in line or "/t2" in line for line in live._progress.lines())
    assert live._progress.steps < len(live.run.events) - 24


def test_a_call_that_waits_says_its_turn_and_costs_count_while_it_does():
    progress = LiveProgress()
    call, unpriced = "i1/probe", Usage(input_tokens=1, output_tokens=2)
    asked = CallRequested(call_id=call, worker="researcher", request_sha256="")
    progress.take(read_run(PLAN_LOG).started)
    progress.take(asked)
    assert progress.now().endswith("waits for researcher (i1/probe)")
    for number, usage in enumerate((SECOND, FIRST, unpriced), start=1):
        progress.take(TurnSent(call_id=f"{call}/t{number}", model="m", request_sha256=""))
        assert progress.now().endswith(f"waits for researcher (i1/probe, turn {number})")
        progress.take(TurnReplied(call_id=f"{call}/t{number}", message={}, usage=usage, duration_ms=1))
        told = dict(progress.totals())
        assert told["Turns"] == f"{number} sent, {number} replied"
        assert told["Cost"] == ("$0.0016", "$0.0068", "unknown")[number - 1]
    progress.take(CallFailed(call_id=call, status="timeout", reason="", duration_ms=1, usage=FIRST + SECOND + unpriced))
    assert dict(progress.totals())["Tokens"] == "2,101 in (1,000 cached), 42 out"
    assert "waits" not in progress.now()


def test_calls_under_way_tell_who_for_how_long_at_which_attempt_and_what_they_wait_for():
    now = [100.0]
    progress = LiveProgress(lambda: now[0])
    progress.take(read_run(PLAN_LOG).started)
    assert progress.calls_html() == ""
    for worker in ("ann", "<b>bob"):
        progress.take(CallRequested(call_id=f"r1/{worker}", worker=worker, request_sha256=""))
    progress.take(TurnSent(call_id="r1/ann/t1", model="m", request_sha256=""))
    attempt = Attempt(call_id="r1/ann/t1", number=1, started="", duration_ms=1, sent_bytes=1, received_bytes=0)
    now[0] += 7
    progress.take(attempt.model_copy(update={"status": 429, "asked_wait_s": 20.0, "retry_in_s": 20.0}))
    assert cells(progress) == [
        ["ann", "r1/ann, turn 1", "7", "2", "is sent again in 20 s, as the endpoint asks"],
        ["&lt;b&gt;bob", "r1/&lt;b&gt;bob", "7", "1", "waits for the reply"],
    ]
    now[0] += 21
    assert cells(progress)[0][2:] == ["28", "2", "waits for the reply"]
    progress.take(attempt.model_copy(update={"number": 2, "retry_in_s": 3.0}))
    assert cells(progress)[0][3:] == ["3", "is sent again in 3 s, after a failed attempt"]
    progress.take(CallFailed(call_id="r1/ann", status="timeout", reason="", duration_ms=1))
    assert "1 call under way" in progress.calls_html()
    for n in range(MAX_SHOWN_CALLS):
        progress.take(CallRequested(call_id=f"r1/{n}", worker="cy", request_sha256=""))
    assert f"{MAX_SHOWN_CALLS + 1} calls under way; the first {MAX_SHOWN_CALLS} are shown" in progress.calls_html()


def cells(progress):
    """The cells of the calls under way, row by row."""
    body = progress.calls_html().partition("<tbody>")[2]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in body.split("</tr>")[:-1]]


@pytest.mark.parametrize("failed", [1, 2])
def test_a_reopened_run_begins_its_counts_anew_and_keeps_what_it_used(tmp_path, failed):
    answers = VOTES | {2: VOTES[2] | {"cy": {"F-1": AGREE, "F-2": AGREE}}}
    broken = answers | {failed: answers[failed] | {"ann": "timeout"}}
    live = cross_run(tmp_path / "broken", backend=TalkingBackend(broken), start=True)
    assert live.wait(SECONDS) == "ended"
    assert "1 failed" in counts(live)["Calls"]
    used = turns_of(live.run)
    again = LiveRun.resume(live.log_path, backend=TalkingBackend(answers), matcher=None, retry_failed=True, start=True)
    assert again.wait(SECONDS) == "ended"
    whole = cross_run(tmp_path / "whole", backend=TalkingBackend(answers), start=True)
    assert whole.wait(SECONDS) == "ended"
    names = ("Calls", "Turns", "Findings", "Votes")
    assert [counts(again)[name] for name in names] == [counts(whole)[name] for name in names]
    assert again._job.in_flight == 0
    asked = 1_050 * len(set(turns_of(again.run)) - set(used)) + 1_050 * len(used)
    assert counts(again)["Tokens"].startswith(f"{asked:,} in")


def test_failed_calls_are_asked_again_by_a_button_that_only_a_run_with_failed_calls_shows(tmp_path):
    backend = ScriptedBackend(VOTES, silent=True)
    live = cross_run(tmp_path / "broken runs", backend=backend)
    assert live._view.failed.layout.display == "none"
    with pytest.raises(
        InputError, match=r"run: is ready and has no failed call to ask again\. Fix: wait until it ends"
    ):
        live.retry_failed()
    live.start()
    assert live.wait(SECONDS) == "ended"
    assert (live._view.failed.layout.display, live._view.retry.disabled) == ("flex", False)
    words = "1 of 6 calls failed: 1 timeout. Asking again has a cost that is not estimated"
    assert words in live._view.failed.children[1].value
    assert words in live.static()
    answers = VOTES[2] | {"cy": {"F-1": AGREE, "F-2": AGREE}}
    backend.script["2"] = answers
    live._view.retry.click()
    live._view.retry.click()  # the second half of a double click
    assert live.wait(SECONDS) == "ended"
    whole = cross_run(tmp_path / "whole", backend=ScriptedBackend(VOTES | {2: answers}, silent=True), start=True)
    assert whole.wait(SECONDS) == "ended"
    assert live.run.frames.findings["classification"].equals(whole.run.frames.findings["classification"])
    for shown in (live, whole):
        assert shown._view.failed.layout.display == "none"
        assert not shown.failure.value


@pytest.mark.parametrize(("failed", "asked"), [(1, 4), (2, 1)])
def test_what_asking_again_costs_at_most_is_that_of_the_failed_calls_and_of_later_rounds(tmp_path, failed, asked):
    answers = VOTES | {2: VOTES[2] | {"cy": {"F-1": AGREE, "F-2": AGREE}}}
    answers |= {failed: answers[failed] | {"ann": "timeout"}}
    live = cross_run(tmp_path, backend=ScriptedBackend(answers, silent=True), start=True)
    assert live.wait(SECONDS) == "ended"
    models = agents.Anthropic.keyless(model="claude-haiku-4-5")
    offer = retry_offer(live.run, models)
    assert offer.is_possible
    assert re.search(
        rf"Asking again costs at most \$0\.\d+ by estimate \({asked} calls?, those that follow", offer.words
    )
    whole = estimate(FOUND, REPO, workers=["ann", "bob", "cy"], backend=models, matcher=None, progress=False).high
    use = _largest_use(live.run, (f"r{failed}/ann",), models)
    assert use.cost < whole.cost
    assert (use.calls, whole.calls) == (asked, 6)


def test_a_used_up_limit_is_said_in_place_of_an_offer_that_would_be_refused(tmp_path):
    told = {"max_tokens": 2_000, "backend": TalkingBackend(VOTES)}
    live = cross_run(tmp_path, **told, start=True)
    assert live.wait(SECONDS) == "ended"
    assert live._view.retry.disabled
    words = live._view.failed.children[1].value
    assert "max_tokens: is used up" in words
    assert "retry_failed=True, max_tokens=..." in words


def turns_of(run):
    """The turns of a run's log, superseded ones, too."""
    return [record.seq for record in run.records if record.event.type == "turn-replied"]


def test_a_cross_run_fills_its_bar_and_tells_its_classes(tmp_path):
    live = cross_run(tmp_path, start=True)
    assert live.wait(SECONDS) == "ended"
    assert '<progress value="6" max="6"' in live._view.steps.value
    assert 'aria-label="6 of at most 6 answers of workers received"' in live._view.steps.value
    assert live.run.path.exists()
    for text in (live.run.status, *str(live.run).splitlines()[1:2], str(live.run.path), "F-2"):
        assert text in live._view.end.value
    assert counts(live)["Findings"] != "none settled"


@pytest.mark.parametrize("kind", ["plan", "cross"])
def test_cancelled_at_any_moment_and_resumed_a_run_comes_to_the_same_end(tmp_path, kind):
    make = {"plan": lambda folder, **more: plan_run(folder, on_blocked="continue", **more), "cross": cross_run}[kind]
    undisturbed = make(tmp_path / "whole", start=True)
    undisturbed.wait(SECONDS)
    expected = course(undisturbed.run)
    states = []
    numbers = part(range(1, len(expected) + 1), 9 if kind == "plan" else 3)
    for number in numbers:
        live = cancelled_after(number, lambda sink, number=number: make(tmp_path / str(number), sink=sink))
        states.append(live.wait(SECONDS))
        if live.state == "cancelled":
            assert live.run is None
            assert course_on_disk(live) == expected[: len(course_on_disk(live))]
            assert f"vp.resume({str(live.log_path)!r})" in live._view.status.text
            live._view.resume.click()
            assert live.wait(SECONDS) == "ended"
        assert course(live.run) == course_on_disk(live) == expected
        assert counts(live) == counts(undisturbed)
    assert states.count("cancelled") > 10


class Slow(TalkingBackend):
    """Speaks in turns and waits in each to be let go; `waiting` is set as soon as so many turns wait."""

    def __init__(self, calls: int) -> None:
        super().__init__(VOTES)
        self.waiting, self.go, self._left = threading.Event(), threading.Event(), calls

    async def _turn(self, turns, name, *rest):
        async def held(send):
            self._left -= 1
            if not self._left:
                self.waiting.set()
            while not self.go.is_set():
                await asyncio.sleep(0.002)
            return await send()

        return await super()._turn(Held(turns, held), name, *rest)


class Held:
    """Turns whose sending goes through another function."""

    def __init__(self, turns, held):
        self.turns, self.held = turns, held

    def sent(self, turn):
        return self.turns.sent(turn)

    def sending(self, turn):
        return self.turns.sending(turn)

    async def exchange(self, sent, send):
        return await self.turns.exchange(sent, lambda: self.held(send))


def test_cancel_lets_calls_of_several_turns_come_to_their_end(tmp_path):
    backend = Slow(3)
    live = cross_run(tmp_path, backend=backend, start=True)
    assert backend.waiting.wait(SECONDS)
    live.cancel()
    live._paint()
    assert live._view.status.text.startswith("Stopping: 3 calls under way; their replies are kept")
    backend.go.set()
    assert live.wait(SECONDS) == "cancelled"
    kinds = Counter(event.type for event in read_run(live.log_path).events)
    assert (kinds["turn-sent"], kinds["turn-replied"], kinds["call-replied"]) == (6, 6, 3)


def test_cancel_of_a_run_that_goes_on_within_its_calls_keeps_what_it_asks_again(tmp_path):
    first = Slow(3)
    live = cross_run(tmp_path, backend=first, start=True)
    assert first.waiting.wait(SECONDS)
    live.cancel(now=True)
    live.wait(SECONDS)
    again = Slow(3)
    resumed = LiveRun.resume(live.log_path, backend=again, matcher=None, start=True)
    assert again.waiting.wait(SECONDS)
    assert resumed._job.in_flight == 3
    resumed.cancel()
    again.go.set()
    assert resumed.wait(SECONDS) == "cancelled"
    events = read_run(resumed.log_path).events
    assert [event.repeated for event in events if event.type == "run-resumed"] == [
        ("r1/ann/t1", "r1/bob/t1", "r1/cy/t1")
    ]
    assert [event.type for event in events].count("call-replied") == 3


def test_cancel_keeps_every_reply_that_is_under_way(tmp_path):
    backend = Gated(VOTES, calls=3)
    live = cross_run(tmp_path, backend=backend, start=True)
    assert backend.asked.wait(SECONDS)
    live._view.cancel.click()
    live._paint()
    assert live._view.status.text.startswith("Stopping: 3 calls under way; their replies are kept")
    backend.go.set()
    assert live.wait(SECONDS) == "cancelled"
    replied = [event.call_id for event in read_run(live.log_path).events if event.type == "call-replied"]
    assert sorted(replied) == ["r1/ann", "r1/bob", "r1/cy"]


def test_stop_now_drops_the_calls_under_way_and_they_are_asked_again(tmp_path):
    backend = Gated(VOTES, calls=3)
    live = cross_run(tmp_path, backend=backend, start=True)
    assert backend.asked.wait(SECONDS)
    live._view.now.click()
    assert live.wait(SECONDS) == "cancelled"
    backend.go.set()
    live.go_on()
    assert live.wait(SECONDS) == "ended"
    [resumed] = [event for event in live.run.events if event.type == "run-resumed"]
    assert resumed.repeated == ("r1/ann", "r1/bob", "r1/cy")


def test_cancel_of_a_resumed_run_keeps_the_replies_that_were_asked_again(tmp_path):
    backend = Gated(VOTES, calls=3)
    live = cross_run(tmp_path, backend=backend, start=True)
    assert backend.asked.wait(SECONDS)
    live.cancel(now=True)
    live.wait(SECONDS)
    backend.asked.clear()
    backend._left = 3
    live.go_on()
    assert backend.asked.wait(SECONDS)
    live.cancel()
    backend.go.set()
    assert live.wait(SECONDS) == "cancelled"
    assert [event.type for event in read_run(live.log_path).events].count("call-replied") == 3


def test_a_run_without_a_log_says_that_it_cannot_be_resumed(tmp_path):
    backend = Gated({})
    live = plan_run(tmp_path, backend=backend, log_dir=None, start=True)
    assert backend.asked.wait(SECONDS)
    live.cancel(now=True)
    assert live.wait(SECONDS) == "cancelled"
    assert live._view.status.text == "Cancelled. It has no log, so it cannot be resumed."
    assert live._view.resume.disabled
    with pytest.raises(InputError, match="run: is cancelled and has no log"):
        live.go_on()


def test_two_clicks_on_start_start_one_run(tmp_path):
    backend = Gated({})
    live = plan_run(tmp_path, backend=backend)
    live._view.start.click()
    job = live._job
    live._view.start.click()
    assert live._job is job
    backend.go.set()
    live.wait(SECONDS)
    live._view.start.click()
    assert live._job is job
    assert len(list(tmp_path.glob("*.jsonl"))) == 1


def test_a_second_widget_on_the_same_log_is_refused_in_words(tmp_path):
    first = blocked_run(tmp_path)
    [path] = tmp_path.glob("*.jsonl")
    second = LiveRun.resume(path, backend=ScriptedBackend({}, silent=True), start=True)
    with pytest.raises(LogError, match="is being written by another run"):
        second.wait(SECONDS)
    assert "is being written by another run" in second._view.end.value
    assert 'role="alert"' in second._view.end.value
    first.answer("abort")
    assert first.wait(SECONDS) == "ended"
    second._view.resume.click()
    assert second.wait(SECONDS) == "ended"
    assert second.run.outcome.ended_by == "user"


def test_close_stops_the_run_and_leaves_its_log(tmp_path):
    backend = Gated({})
    live = plan_run(tmp_path, backend=backend, start=True)
    assert backend.asked.wait(SECONDS)
    live.close()
    live.wait(SECONDS)
    assert live.state == "cancelled"
    backend.go.set()
    assert resume(live.log_path, backend=backend).verdict == "PROCEED"


def test_many_events_change_the_line_that_is_read_aloud_only_now_and_then(tmp_path):
    said = []
    live = plan_run(tmp_path, on_blocked="continue")
    live._view.status.observe(lambda change: said.append(change["new"]), "text")
    began = time.monotonic()
    live.start()
    live.wait(SECONDS)
    assert live._progress.steps > 100
    assert len(said) <= 4 + (time.monotonic() - began) / MIN_REPAINT_S
    assert said[-1].startswith("Ended")


KILLED = """
import sys
from pathlib import Path
from tests.widgets.live_runs import VOTES, Gated, cross_run
backend = Gated(VOTES, calls=3)
live = cross_run(Path(sys.argv[1]), backend=backend, start=True)
assert backend.asked.wait(30)
if sys.argv[2] == "killed":
    import os, signal
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("how", ["killed", "left"])
def test_a_process_that_ends_under_a_run_leaves_its_log_whole(tmp_path, how):
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "run"), how],
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (-9 if how == "killed" else 0, "")
    [path] = (tmp_path / "run").rglob("*.jsonl")
    whole = cross_run(tmp_path / "whole", start=True)
    whole.wait(SECONDS)
    live = LiveRun.resume(path, backend=ScriptedBackend(VOTES, silent=True), matcher=None, start=True)
    assert live.wait(SECONDS) == "ended"
    assert [one for one in course(live.run) if '"run-started"' not in one] == [
        one for one in course(whole.run) if '"run-started"' not in one
    ]
