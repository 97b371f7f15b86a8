"""What a run is not resumed with, in words, and with nothing changed on disk (rules E1, E2, A4)."""

from __future__ import annotations

import re

import pytest

from tests.runs.crossing import finding
from tests.runs.plan.breaking import Heard, StopError, broken_off, rewritten, small_cross, stopping
from tests.runs.plan.planning import run_of as plan_run
from tests.runs.plan.planning import script
from verifyplan.errors import InputError, LogError, SettingsError
from verifyplan.rules.grouping import SameClaim
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.resume import resume


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


@pytest.mark.parametrize(
    ("answer", "note", "words"),
    [
        ("acknowledge:C3", "", "'C3' does not block this plan"),
        ("acknowledge", "", "None does not block this plan"),
        ("override:C99", "", "'C99' does not block this plan"),
        ("context", " ", "note: is blank"),
        ("abort:C2", "", "abort takes no challenge"),
        ("perhaps", "", "'perhaps' is not an answer"),
        ("", "", "'' is not an answer"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_and_changes_nothing(waiting, answer, note, words):
    whole, files = waiting.log_path.read_bytes(), sorted(waiting.log_path.parent.iterdir())
    with pytest.raises(InputError, match=re.escape(words)):
        resume(waiting.log_path, answer, note=note, backend=Heard({}))
    assert waiting.log_path.read_bytes() == whole
    assert sorted(waiting.log_path.parent.iterdir()) == files


def test_a_note_without_an_answer_is_refused_and_not_dropped_in_silence(waiting):
    before = waiting.log_path.read_bytes()
    with pytest.raises(InputError, match="note: needs an answer that is a text, and there is none"):
        resume(waiting.log_path, note="we accept it")
    assert waiting.log_path.read_bytes() == before


def test_an_answer_where_nothing_waits_is_refused_and_changes_nothing(tmp_path):
    ended = plan_run(script(), log_dir=tmp_path)
    cross = small_cross(tmp_path)
    broken = broken_off(tmp_path / "b", script(), "iteration-closed")
    for path in (ended.log_path, cross.log_path, broken):
        whole = path.read_bytes()
        with pytest.raises(LogError, match="does not wait for an answer"):
            resume(path, "abort", backend=Heard({}))
        assert path.read_bytes() == whole


# What cannot go on


def test_a_backend_that_is_not_made_by_name_must_be_passed(tmp_path):
    path = broken_off(tmp_path, script(), "iteration-closed")
    whole = path.read_bytes()
    with pytest.raises(SettingsError, match=r"the log was written with 'scripted', .* Fix: pass backend="):
        resume(path)
    assert path.read_bytes() == whole


class Own(SameClaim):
    """A matcher that no name stands for."""


def test_a_matcher_that_is_not_the_run_s_is_refused(tmp_path):
    with pytest.raises(StopError):
        crossverify(
            [finding()],
            ["ann", "bob"],
            log_dir=tmp_path,
            backend=Heard({}),
            sink=stopping("round-closed"),
            matcher=Own(),
        )
    [path] = tmp_path.rglob("*.jsonl")
    with pytest.raises(SettingsError, match="the findings were grouped by 'Own'"):
        resume(path, backend=Heard({}), matcher=None)
    assert resume(path, backend=Heard({}), matcher=Own()).events[-1].type == "run-ended"


def test_a_log_whose_events_do_not_follow_from_its_replies_is_refused_before_a_call_is_paid_for(tmp_path):
    path = broken_off(tmp_path, script(), "iteration-closed")

    def other_class(record):
        if record.event.type != "convergence-evaluated":
            return record
        return record._replace(event=record.event.model_copy(update={"blocking_open": 9}))

    rewritten(path, other_class)
    backend = Heard(script())
    with pytest.raises(
        LogError, match=r"line \d+: the recorded convergence-evaluated does not follow from the replies"
    ) as caught:
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
        (tmp_path / "none.jsonl", "does not exist"),
        (tmp_path / "nowhere" / "none.jsonl", "does not exist"),
        (tmp_path, r"is a folder, not a run log\. Fix: name its run log: '.*notes\.jsonl'\."),
        (tmp_path.parent, r"is a folder, not a run log\. Fix: name a run log \(\.jsonl\)"),
    ]:
        with pytest.raises(LogError, match=words):
            resume(path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.jsonl"]
