"""The question of a blocked live run: answered in each way, answered wrongly, left open; and what fails says so."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

import verifyplan as vp
import verifyplan.widgets.live as live_package
from tests.runs.plan.acting import Acting
from tests.runs.plan.planning import challenge
from tests.widgets.live_runs import BLOCKED, SECONDS, blocked_run, course, cross_run, plan_run, threads
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import InputError, SettingsError
from verifyplan.protocol.event_cross import VoteCast
from verifyplan.protocol.records import Challenge
from verifyplan.runs.plan.pauses import Pause
from verifyplan.runs.resume import read_run
from verifyplan.widgets.live import LiveRun
from verifyplan.widgets.live.progress import MAX_SHOWN_STEPS, LiveProgress
from verifyplan.widgets.live.view import outcome_html, question_html


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    assert threads() == []


@pytest.mark.parametrize(
    ("kind", "name", "note", "outcome", "status"),
    [
        ("acknowledge", "C2", "we accept it", None, "RESOLVED"),
        ("override", "C2", "we know better", "RETHINK", "OPEN"),
        ("context", None, "the old store stays", None, "OPEN"),
        ("abort", None, "", "no verdict", "OPEN"),
    ],
)
def test_a_question_is_answered_by_the_form(tmp_path, kind, name, note, outcome, status):
    live = blocked_run(tmp_path)
    form = live.form
    assert form.layout.display == "flex"
    assert [value for _, value in form.challenge.options] == ["C1", "C2"]
    assert all("(overridden: RETHINK)" in label for label, _ in form.challenge.options)
    assert "An override ends the run: of C1 alone with RETHINK, of C2 alone" in form._question.value
    assert "locks.py:5" in form._question.value, "what a challenge was raised on is shown"
    form.kind.value = kind
    assert form.challenge.disabled == (name is None)
    form.challenge.value, form.note.value = name or "C1", note
    form.send.click()
    state = live.wait(SECONDS)
    assert live.failure.value == ""
    [given] = [event for event in read_run(next(tmp_path.glob("*.jsonl"))).events if event.type == "answer-given"]
    assert (given.answer, given.challenge, given.note) == (kind, name, note)
    if outcome is None:
        assert state == "asking"
        assert form.note.value == "", "the next question has a form that is not filled in"
        assert ("C2" in dict(form.challenge.options).values()) == (kind == "context")
        live.leave()
        assert live.wait(SECONDS) == "waiting"
    else:
        assert live._view.status.text.startswith(f"Ended: {outcome}")
    assert live.run.state.challenges["C2"].status == status
    assert form.layout.display == "none"


def test_a_wrong_answer_is_told_and_the_run_waits_on(tmp_path):
    live = blocked_run(tmp_path)
    live.form.kind.value = "context"
    live.form.send.click()
    assert "note: is blank. Fix: write the context" in live.failure.value
    assert live.wait(SECONDS) == "asking"
    with pytest.raises(InputError, match="'C9' does not block this plan"):
        live.answer("acknowledge:C9")
    live.form.kind.value, live.form.challenge.value = "override", "C1"
    live.form.send.click()
    assert live.failure.value == ""
    assert live.wait(SECONDS) == "ended"
    with pytest.raises(InputError, match="answers no question"):
        live.answer("abort")


@pytest.mark.parametrize("painted", [False, True])
@pytest.mark.parametrize("second", ["send", "leave"])
def test_the_second_half_of_a_double_click_is_about_no_question(tmp_path, monkeypatch, second, painted):
    monkeypatch.setattr("verifyplan.widgets.live.view.DOUBLE_CLICK_S", 600)
    live = blocked_run(tmp_path)
    form = live.form
    form.kind.value, form.note.value = "context", "the old store stays"
    with monkeypatch.context() as unpainted:
        if not painted:
            unpainted.setattr(live._view, "show", lambda *_: None)
        form.send.click()
        assert form.send.disabled
        assert form.leave.disabled
        assert live.wait(SECONDS) == "asking"
        assert form.shown.pause_id == ("i2/pause-1" if painted else "i1/pause-1")
        getattr(form, second).click()
    assert (live.wait(SECONDS), live.failure.value) == ("asking", "")
    given = [
        event.pause_id for event in read_run(next(tmp_path.glob("*.jsonl"))).events if event.type == "answer-given"
    ]
    assert given == ["i1/pause-1"]
    form._rests_until = 0.0
    live._paint()
    form.kind.value = "abort"
    form.send.click()
    assert live.wait(SECONDS) == "ended", "the next question is answered as the first was"


def test_an_answer_to_a_question_that_is_not_the_present_one_is_refused(tmp_path):
    live = blocked_run(tmp_path)
    with pytest.raises(InputError, match=r"answers i9/pause-1, but the run asks i1/pause-1\. Fix"):
        live._job.answer("abort", to="i9/pause-1")
    assert live.state == "asking"
    live._job.answer("abort", to="i1/pause-1")
    assert live.wait(SECONDS) == "ended"


def test_a_failure_of_each_callback_of_the_form_is_shown_until_the_question_is_gone(tmp_path, monkeypatch):
    live = blocked_run(tmp_path)
    monkeypatch.setattr(live.form, "choose", lambda: 1 / 0)
    live.form.kind.value = "abort"
    assert "ZeroDivisionError" in live.failure.value
    monkeypatch.undo()
    live.form.kind.value = "context"
    assert live.failure.value == ""
    live.form.send.click()
    assert "note: is blank" in live.failure.value
    live.leave()
    assert live.wait(SECONDS) == "waiting"
    assert live.failure.value == ""


def test_a_question_that_is_left_open_waits_for_resume(tmp_path):
    live = blocked_run(tmp_path)
    live.form.leave.click()
    assert live.wait(SECONDS) == "waiting"
    assert live.run.waiting.pause_id == "i1/pause-1"
    assert str(live.log_path) in live._view.status.text
    run = vp.resume(live.log_path, "override:C1", backend=ScriptedBackend(BLOCKED, silent=True))
    assert run.verdict == "RETHINK"


def test_a_question_that_was_left_open_is_asked_again_by_resume(tmp_path):
    live = blocked_run(tmp_path / "left")
    live.cancel()
    assert live.wait(SECONDS) == "waiting", "a cancel at a question leaves it open"
    live._view.resume.click()
    assert live.wait(SECONDS) == "asking"
    assert live.form.shown.pause_id == "i1/pause-1"
    live.answer("override:C1")
    assert live.wait(SECONDS) == "ended"
    other = blocked_run(tmp_path / "straight")
    other.answer("override:C1")
    other.wait(SECONDS)
    assert course(live.run) == course(other.run)


def test_time_that_a_person_takes_is_not_the_runs(tmp_path, monkeypatch):
    live = blocked_run(tmp_path)
    worked = live._job.seconds
    with monkeypatch.context() as later:
        later.setattr("verifyplan.widgets.live.background_run.time.monotonic", lambda: 1e9)
        assert live._job.seconds == worked
    live.leave()
    live.wait(SECONDS)


def test_the_time_of_a_run_that_goes_on_is_added_to_what_it_took_before(tmp_path):
    live = blocked_run(tmp_path)
    live._job._spent += 1000
    live.leave()
    live.wait(SECONDS)
    live.go_on()
    assert live.wait(SECONDS) == "asking"
    assert live._job.seconds > 1000
    assert re.fullmatch(r"1,0\d\d s", live._view.clock.value)  # more than 1,000 on a busy machine
    live.leave()
    live.wait(SECONDS)
    again = LiveRun.resume(live.log_path, backend=ScriptedBackend(BLOCKED, silent=True), start=True)
    again.wait(SECONDS)
    assert re.fullmatch(r"\d{1,2} s since it was resumed", again._view.clock.value)
    again.leave()
    again.wait(SECONDS)


# ---- failures


@pytest.mark.parametrize("start", ["yes", 1, None])
def test_a_start_that_is_no_boolean_is_refused(tmp_path, start):
    for make in (plan_run, cross_run, lambda folder, start: LiveRun.resume(folder / "x.jsonl", start=start)):
        with pytest.raises(InputError, match=r"start: is a \w+, not a bool\. Fix: give True"):
            make(tmp_path, start=start)
    assert list(tmp_path.iterdir()) == []


def test_colours_are_those_of_the_charts():
    for path in Path(live_package.__file__).parent.glob("*.py"):
        assert not re.search(r"#[0-9a-fA-F]{6}\b", path.read_text()), path.name


def test_settings_that_do_not_fit_are_told_all_at_once_and_can_be_started_again(tmp_path):
    live = LiveRun(tmp_path / "none.md", tmp_path / "nowhere", policy="x", timeout=-1, start=True)
    with pytest.raises(SettingsError):
        live.wait(SECONDS)
    for told in ("timeout: must be a finite number above 0, got -1", "got &#x27;x&#x27;", "none.md", "nowhere"):
        assert told in live._view.end.value
    assert live.state == "failed"
    assert not live._view.start.disabled
    assert live._view.resume.disabled
    (tmp_path / "none.md").write_text("# Fix a typo\n\nCorrect the spelling in `README.md`.")
    again = LiveRun(tmp_path / "none.md", tmp_path, log_dir=None, start=True)
    assert (again.wait(SECONDS), again.run.verdict) == ("ended", "PROCEED")


def test_a_plan_that_is_mended_can_be_started_again(tmp_path):
    live = LiveRun(tmp_path / "late.md", tmp_path, log_dir=None, start=True)
    with pytest.raises(InputError, match=r"late\.md"):
        live.wait(SECONDS)
    (tmp_path / "late.md").write_text("# Fix a typo\n\nCorrect the spelling in `README.md`.")
    live._view.start.click()
    assert live.wait(SECONDS) == "ended"
    assert "failed" not in live._view.end.value


def test_an_option_that_the_run_does_not_have_is_a_type_error():
    with pytest.raises(TypeError, match="polcy"):
        LiveRun("PLAN.md", polcy="protocol")
    with pytest.raises(TypeError, match="matchr"):
        LiveRun.cross([], [], matchr=None)
    with pytest.raises(TypeError, match="answr"):
        LiveRun.resume("x.jsonl", answr="abort")


def test_a_backend_that_fails_ends_the_run_in_words(tmp_path):
    def play(_):
        raise RuntimeError("<b>no key</b>")

    live = plan_run(tmp_path, backend=Acting(play), start=True)
    assert live.wait(SECONDS) == "ended"
    assert live.run.verdict is None
    assert "Ended: no verdict: " in live._view.status.text
    assert "RuntimeError: &lt;b&gt;no key&lt;/b&gt;" in live._view.steps.value


@pytest.mark.parametrize(
    "error", [ValueError("<i>full</i>"), KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError()]
)
def test_what_ends_a_run_from_within_is_shown_and_the_run_goes_on_from_its_log(tmp_path, error):
    left = [30]

    def sink(_):
        left[0] -= 1
        if left[0] == 0:
            raise error

    live = plan_run(tmp_path, on_blocked="continue", sink=sink, start=True)
    with pytest.raises(type(error)):
        live.wait(SECONDS)
    assert live.state == "failed"
    assert type(error).__name__ in live._view.end.value
    assert "<i>" not in live._view.end.value
    assert "Where it happened" in live._view.end.value
    live._view.resume.click()
    assert live.wait(SECONDS) == "ended"
    assert "That did not work" not in live._view.end.value


def test_a_log_that_is_none_is_told(tmp_path):
    (tmp_path / "x.jsonl").write_text("<b>nothing</b>\n")
    live = LiveRun.resume(tmp_path / "x.jsonl", start=True)
    with pytest.raises(InputError):
        live.wait(SECONDS)
    assert "x.jsonl" in live._view.end.value
    assert "<b>nothing" not in live._view.end.value


def test_a_failure_to_show_is_shown(tmp_path, monkeypatch):
    live = cross_run(tmp_path)

    def broken(*_):
        raise ZeroDivisionError("no room")

    monkeypatch.setattr(live._view, "show", broken)
    live.start()
    assert live.wait(SECONDS) == "ended"
    assert "ZeroDivisionError: no room" in live.failure.value


def test_waiting_for_what_was_not_started_is_an_error(tmp_path):
    live = cross_run(tmp_path)
    for act in (live.wait, live.leave, lambda: live.answer("abort"), live.go_on):
        with pytest.raises(InputError, match=r"run: (has not been started|is ready)"):
            act()
    live.cancel()
    assert live.state == "ready"


# ---- what is long, and what is markup


def test_markup_and_long_texts_are_shown_as_text_and_cut(tmp_path):
    hostile = "<script>alert(1)</script>\u202e\ud7ff" + "x" * 100_000
    raised = [challenge(claim=hostile, concern=hostile, evidence=hostile, alternative=hostile, severity="BLOCKING")]
    told = {"i1/challenger": {"challenges": raised}, "i1/synthesizer": {"question": hostile}}
    live = plan_run(tmp_path, told, panel=None, start=True)
    assert live.wait(SECONDS) == "asking"
    page = live.static() + live.form._question.value + live._view.steps.value
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "\u202e" not in page
    assert len(live.form._question.value) < 25_000
    live.answer("context", hostile)
    assert live.wait(SECONDS) == "asking"
    assert len(live._view.steps.value) < 25_000
    live.answer("abort")
    live.wait(SECONDS)
    assert "<script" not in live.static()


def test_what_is_kept_of_a_run_does_not_grow_with_it():
    progress = LiveProgress()
    vote = VoteCast(
        part="findings", finding_id="F", round=1, worker="w", verdict="agree", disagree_basis=None, explanation="x"
    )
    for _ in range(50_000):
        progress.take(vote)
    assert dict(progress.totals())["Votes"] == "50,000"
    assert len(progress.lines()) <= MAX_SHOWN_STEPS
    assert progress.html() == ""


def test_the_static_picture_tells_how_the_run_stands_without_scripts(tmp_path):
    live = blocked_run(tmp_path)
    bundle = live._repr_mimebundle_()["text/html"]
    assert "The run waits for your answer: 2 challenges open." in bundle
    assert "an order is lost by its locks" in bundle
    live.answer("override:C1")
    live.wait(SECONDS)
    bundle = live._repr_mimebundle_()["text/html"]
    assert "Verdict: RETHINK" in bundle
    assert not re.search(r"<script|\son\w+=", re.sub(r'srcdoc="[^"]*"', "", bundle))


def test_a_question_with_blank_texts_is_shown():
    blank = Challenge(
        id="C1", origin="challenger", claim="", concern="", failure_scenario="", alternative="", severity="BLOCKING",
        confidence="LOW", iteration_introduced=1,
    )  # fmt: skip
    html = question_html(Pause("i1/pause-1", 1, "", (blank,)), {})
    assert "C1, BLOCKING, OPEN, raised by challenger" in html
    assert "Claim" not in html


UNMADE = "# Store\n\n1. Change `store.py`\n2. Run `pytest -q`\n3. Read the log\n4. Tell the team\n"


def test_the_end_names_what_a_person_accepted(tmp_path):
    (tmp_path / "other.py").write_text("")
    run = vp.verify(
        vp.plans.parse_plan(UNMADE),
        tmp_path,
        on_blocked=lambda pause: f"acknowledge:{pause.challenges[0].id}",
        log_dir=None,
    )
    assert "Accepted by a person: C1." in outcome_html(run)
