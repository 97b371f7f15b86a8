"""Debates that go on where they were broken off, and that are driven again from their replies (rules E2, E3)."""

from __future__ import annotations

import pytest

import verifyplan as vp
from tests.runs.debate_scripts import CONVERGES, ROOT, RUNS_OUT, STAGNATES, Heard, debate_of, says, texts
from tests.runs.plan.breaking import StopError, course, resumptions, rewritten
from verifyplan.errors import InputError, LogError, SettingsError
from verifyplan.protocol.event_cross import MessagePublished
from verifyplan.runs.debate.pair import Pair
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run, resume

SCRIPTS = {
    "converges": CONVERGES,
    "stagnates": STAGNATES,
    "fails": CONVERGES | {"t2/implement": says("no diff")},
    "times-out": CONVERGES | {"t2/critique": "timeout"},
}


@pytest.fixture(autouse=True)
def _fast_disk(monkeypatch):
    monkeypatch.setattr("verifyplan.runlog.writer.os.fsync", lambda _: None)


def stopping(after):
    left = [after]

    def sink(_):
        left[0] -= 1
        if not left[0]:
            raise StopError

    return sink


def broken_off(folder, script, after, **more):
    with pytest.raises(StopError) as stopped:
        debate_of(script, log_dir=folder, sink=stopping(after), **more)
    [path] = folder.glob("*.jsonl")
    assert stopped.value.__notes__ == [f"The run goes on by: verifyplan resume {path}"]
    return path


@pytest.mark.parametrize("name", SCRIPTS)
def test_broken_off_after_any_event_a_debate_comes_to_the_same_end_and_asks_nothing_again(tmp_path, name):
    script = SCRIPTS[name]
    whole = debate_of(script, tokens=4)
    for after in range(1, len(whole.events)):
        path = broken_off(tmp_path / str(after), script, after, tokens=4)
        before = read_run(path)
        assert isinstance(before, Debate)
        replied = {event.call_id for event in before.events if event.type in ("call-replied", "call-failed")}
        backend = Heard(script, tokens=4)
        run = resume(path, backend=backend)
        assert course(run) == course(whole)
        assert not replied & set(backend.calls), after
        assert run.log == whole.log
        assert len(resumptions(run)) == 1
    assert after > 11


def test_an_ended_debate_comes_back_as_it_is(tmp_path):
    run = debate_of(CONVERGES, log_dir=tmp_path)
    before = run.log_path.read_bytes()
    again = resume(run.log_path, backend=Heard({}))
    assert texts(again) == texts(run)
    assert run.log_path.read_bytes() == before


def test_an_answer_to_a_debate_is_refused(tmp_path):
    path = broken_off(tmp_path, CONVERGES, 3)
    with pytest.raises(LogError, match="does not wait for an answer"):
        resume(path, "acknowledge:C1", backend=Heard(CONVERGES))


class OnceStatic(Heard):
    """Says of itself what the static agents said when they still played debates."""

    def describe(self):
        return {"name": "static", "root": "repository", "workers": {}}


def test_a_debate_that_static_agents_began_needs_somebody_who_can_write(tmp_path):
    with pytest.raises(StopError):
        vp.debate("greet", OnceStatic(CONVERGES), log_dir=tmp_path, repo=ROOT, sink=stopping(3))
    path = tmp_path / "debate-001.jsonl"
    with pytest.raises(
        SettingsError, match="architect: static agents cannot play a role in a debate: they write nothing"
    ):
        resume(path)
    assert resume(path, backend=Heard(CONVERGES)).status == "CONVERGED"


def test_a_backend_that_no_name_makes_must_be_given(tmp_path):
    alone = broken_off(tmp_path / "alone", CONVERGES, 3)
    with pytest.raises(SettingsError, match="written with 'scripted', which cannot be made from its name"):
        resume(alone)
    with pytest.raises(StopError):
        vp.debate("greet", Heard(CONVERGES), Heard(CONVERGES), repo=ROOT, log_dir=tmp_path / "two", sink=stopping(3))
    two = tmp_path / "two" / "debate-001.jsonl"
    with pytest.raises(SettingsError, match="written with 'scripted', which cannot be made from its name"):
        resume(two)
    assert resume(two, backend=Pair(Heard(CONVERGES), Heard(CONVERGES))).status == "CONVERGED"


def test_a_folder_that_moved_is_named_on_resuming(tmp_path):
    path = broken_off(tmp_path, CONVERGES, 3)
    with pytest.raises(InputError, match="is not a folder"):
        resume(path, backend=vp.agents.Anthropic.keyless(model="m"), repo=tmp_path / "none")


@pytest.mark.parametrize("script", [CONVERGES, STAGNATES, RUNS_OUT, SCRIPTS["fails"], SCRIPTS["times-out"]])
def test_driven_again_from_its_replies_a_debate_gives_the_same_events(tmp_path, script):
    run = debate_of(script, tokens=3, log_dir=tmp_path)
    again = replay_run(run.log_path)
    assert again.same
    assert (again.censored, again.asked_otherwise) == (None, ())
    assert again.run.log == run.log
    assert set(again.run.frames.calls["source"].dropna()) == {"replay"}


def test_a_replay_of_a_debate_that_was_broken_off_is_censored(tmp_path):
    again = replay_run(broken_off(tmp_path, CONVERGES, 8))
    assert again.censored == "t1/verify"
    assert again.same


def test_fewer_turns_end_a_replay_sooner_and_more_are_censored():
    run = debate_of(RUNS_OUT)
    sooner, longer = replay_run(run, max_turns=2), replay_run(run, max_turns=4)
    assert (sooner.run.reason, sooner.run.turns, sooner.censored) == ("MAX_TURNS", 2, None)
    assert longer.censored == "t4/critique"
    assert not sooner.same
    assert "t1/propose" in str(sooner)


@pytest.mark.parametrize("change", [{"policy": "deliberate"}, {"max_iterations": 2}, {"mode": "adversarial"}])
def test_what_a_debate_has_not_cannot_be_changed_in_it(change):
    with pytest.raises(SettingsError, match="cannot be changed in a debate"):
        replay_run(debate_of(CONVERGES), **change)


def test_turns_must_be_a_number_from_one():
    with pytest.raises(SettingsError, match="max_turns: must be an integer of at least 1, got 0"):
        replay_run(debate_of(CONVERGES), max_turns=0)


def test_a_message_that_does_not_follow_from_its_reply_is_found(tmp_path):
    run = debate_of(CONVERGES, log_dir=tmp_path)

    def forged(record):
        event = record.event
        if isinstance(event, MessagePublished) and event.message.turn == 2 and event.message.type == "verify":
            message = event.message.model_copy(update={"content": "Verified: forged."})
            return record._replace(event=event.model_copy(update={"message": message}))
        return record

    rewritten(run.log_path, forged)
    again = replay_run(run.log_path)
    assert not again.same
    assert "Verified: forged." in again.differences[0]
    assert "Verified: it greets." in again.differences[0]
