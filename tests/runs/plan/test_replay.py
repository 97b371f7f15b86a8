"""Runs driven again from their logs: the same where nothing changed, told where they differ or break off (rule E3)."""

from __future__ import annotations

import pytest

from tests.runs.plan.breaking import StopError, broken_off, rewritten, small_cross, stopping
from tests.runs.plan.planning import challenge, change, run_of, script
from verifyplan.errors import SettingsError
from verifyplan.protocol.event import EXTERNAL_EVENTS, Event
from verifyplan.protocol.plan_rules import PlanRules
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.runlog.chain import Record
from verifyplan.runlog.reader import read_log
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run

PAUSED = {"on_blocked": "pause"}
ASKED = {"on_blocked": lambda pause: f"acknowledge:{pause.challenges[0].id}"}
ABORTED = {"on_blocked": lambda _: "abort"}


@pytest.fixture(autouse=True)
def fast_disk(monkeypatch):
    """No process dies here, so nothing need be forced to the disk."""
    monkeypatch.setattr("verifyplan.runlog.writer.os.fsync", lambda _: None)


def derived(run) -> list[Event]:
    return [event for event in run.events if not isinstance(event, EXTERNAL_EVENTS)]


# Nothing changed


@pytest.mark.parametrize(
    "settings",
    [{}, PAUSED, ASKED, ABORTED, {"max_iterations": 1}, {"policy": "deliberate"}, {"panel": None}, {"team": "base"}],
)
def test_a_run_driven_again_is_the_same(tmp_path, settings):
    run = run_of(script(), log_dir=tmp_path, **settings)
    whole = run.log_path.read_bytes()
    for told in (replay_run(run), replay_run(run.log_path), replay_run(str(run.log_path))):
        assert (told.same, told.censored, told.asked_otherwise, told.differences) == (True, None, (), ())
        assert derived(told.run) == derived(run)
        assert isinstance(told.run, PlanRun)
        assert (told.run.verdict, told.run.waiting) == (run.verdict, run.waiting)
    assert run.log_path.read_bytes() == whole


def test_a_run_that_was_never_written_is_driven_again_too():
    run = run_of(script())
    assert replay_run(run).same


@pytest.mark.parametrize("after", ["run-started", "plan-assessed", "call-requested", "call-replied", "vote-cast"])
def test_a_run_that_was_broken_off_is_the_same_as_far_as_it_came(tmp_path, after):
    path = broken_off(tmp_path, script(), after)
    told = replay_run(path)
    assert told.same
    missing = [call for call in ("i1/challenger", "i1/domain-expert", "i1/resolver") if not answered(path, call)]
    assert told.censored == (missing[0] if missing else "i1/synthesizer")
    assert "censored" in str(told)


def answered(path, call_id: str) -> bool:
    return any(
        event.type in ("call-replied", "call-failed") and event.call_id == call_id for event in read_run(path).events
    )


def test_every_beginning_of_a_run_is_the_same_as_far_as_it_goes(tmp_path):
    records = run_of(script(), log_dir=tmp_path).records
    for length in range(1, len(records), 4):
        told = replay_run(PlanRun(records[:length]))
        assert told.same, length
        reached = {record.event.call_id for record in records[:length] if record.event.type == "call-replied"}
        assert (told.censored is None) is ("i3/audit" in reached)


def test_a_cross_run_driven_again_is_the_same_whole_or_broken_off(tmp_path):
    run = small_cross(tmp_path)
    told = replay_run(run.log_path, matcher=None)
    assert (told.same, told.censored) == (True, None)
    assert told.run.artifact == run.artifact
    with pytest.raises(StopError):
        small_cross(tmp_path / "broken", stopping("call-requested"))
    [path] = (tmp_path / "broken").rglob("*.jsonl")
    broken = replay_run(path, matcher=None)
    assert (broken.same, broken.censored) == (True, "r1/bob")


# Changed rules


def test_more_iterations_are_censored_at_the_first_call_that_is_missing():
    told = replay_run(run_of(script()), max_iterations=5)
    assert told.censored == "i4/challenger"
    assert not told.same
    assert "i4/challenger" in str(told)


def test_fewer_iterations_give_a_verdict_without_the_scores_that_were_never_asked_for():
    told = replay_run(run_of(script()), max_iterations=1)
    assert (told.censored, told.unscored) == (None, "i1/score")
    assert isinstance(told.run, PlanRun)
    assert (told.run.verdict, told.run.score) == ("RETHINK", None)
    assert "no score: the recorded run asked for none where these rules end it (i1/score)" in str(told)


def test_another_policy_may_need_nothing_that_is_missing():
    run = run_of({"i1/challenger": {"challenges": [challenge(severity="MINOR")]}}, silent=True)
    told = replay_run(run, policy="deliberate")
    assert (told.same, told.censored, told.asked_otherwise) == (True, None, ())
    assert isinstance(told.run, PlanRun)
    assert (told.run.verdict, told.run.started.plan.settings.policy) == ("PROCEED", "deliberate")
    assert run.started.plan.settings.policy == "protocol"


def test_another_policy_goes_on_where_the_run_had_ended():
    run = run_of({"i1/challenger": {"challenges": [challenge()]}}, silent=True)
    assert run.verdict == "REVISE"
    told = replay_run(run, policy="deliberate")
    assert told.censored == "i2/challenger"
    assert not told.same
    assert "; now: " in told.differences[0]


def test_the_printed_replay_names_the_rules_it_was_given():
    run = run_of({"i1/challenger": {"challenges": [challenge()]}}, silent=True)
    lenient, own = PlanRules.preset("lenient"), PlanRules(revise_from=2)
    first, last = str(replay_run(run, rules="lenient")).splitlines()[0], str(replay_run(run, rules=own)).splitlines()[0]
    assert first == f"replayed under the rules lenient (digest {lenient.digest})"
    assert last == f"replayed under the rules revise_from 2 (digest {own.digest})"
    unanimous = VotingRules.preset("unanimous").digest
    said = str(replay_run(run, rules="deliberate", panel_rules="unanimous"))
    assert f"replayed under the panel rules unanimous (digest {unanimous})\n" in said
    assert "replayed under" not in str(replay_run(run))


def test_another_mode_of_the_panel_reads_the_same_votes_and_says_that_they_were_asked_for_otherwise():
    run = run_of(script(), panel=["panel-1", "panel-2", "panel-3"])
    told = replay_run(run, mode="collaborative")
    assert isinstance(told.run, PlanRun)
    panel = told.run.started.plan.settings.panel
    assert panel is not None
    assert panel.mode == "collaborative"
    assert told.asked_otherwise[:3] == tuple(f"i1/panel/r1/panel-{number}" for number in (1, 2, 3))
    assert "i1/challenger" not in told.asked_otherwise
    assert "would have been worded differently" in str(told)


def test_what_was_settled_otherwise_leads_to_requests_that_are_others():
    answers = {
        "i1/challenger": {"challenges": [challenge("rows", "BLOCKING"), challenge("locks")]},
        "i1/synthesizer": {"changes": [change("C1", "UNRESOLVED")]},
    }
    run = run_of(answers, silent=True, max_iterations=2)
    told = replay_run(run, max_iterations=3)
    assert "i1/challenger" in told.asked_otherwise
    assert told.censored == "i3/challenger"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policy": "strict"}, "policy: must be 'protocol' or 'deliberate', got 'strict'"),
        ({"max_iterations": 0}, "max_iterations: must be an integer of at least 1, got 0"),
        (
            {"rules": "majority"},
            r"got 'majority', which are rules of votes\. Fix: votes are replayed by vp\.replay\(runs, rules=",
        ),
        ({"rules": VotingRules()}, "must be rules of plan runs, got a VotingRules, which are rules of votes"),
        (
            {"rules": {"majority": "2/3"}},
            r"got \{'majority': '2/3'\}, which are rules of votes\. Fix: votes are replayed by vp\.replay",
        ),
        ({"rules": {"majority": "2/3", "policy": "deliberate"}}, "majority: is not a field of these rules"),
        ({"rules": "majorty"}, "'majorty' is neither rules nor the name of a preset"),
        ({"mode": "loud"}, r"panel\.mode: must be 'collaborative' or 'adversarial', got 'loud'"),
    ],
)
def test_a_change_that_is_none_is_refused_in_words(change, words):
    with pytest.raises(SettingsError, match=words):
        replay_run(run_of(script()), **change)


def test_a_change_that_the_run_has_no_place_for_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="this run had no panel"):
        replay_run(run_of(script(), panel=None), mode="collaborative")
    with pytest.raises(
        SettingsError, match=r"(?s)policy: cannot be changed in a cross run\. Fix: votes are.*mode: cannot be"
    ):
        replay_run(small_cross(tmp_path).log_path, policy="deliberate", mode="adversarial")


# Logs that somebody changed, digests and all


def test_a_log_that_was_changed_together_with_its_digests_is_found_out_with_the_line(tmp_path):
    run = run_of(script(), log_dir=tmp_path)
    number = next(record.seq for record in run.records if record.event.type == "run-ended")

    def kinder(record: Record) -> Record:
        if record.event.type != "run-ended":
            return record
        outcome = record.event.outcome.model_copy(update={"verdict": "PROCEED"})
        return record._replace(event=record.event.model_copy(update={"outcome": outcome}))

    rewritten(run.log_path, kinder)
    assert read_run(run.log_path).verdict == "PROCEED"
    told = replay_run(run.log_path)
    assert not told.same
    assert [text[: len(f"line {number}: ")] for text in told.differences] == [f"line {number}: "]
    assert isinstance(told.run, PlanRun)
    assert told.run.verdict == "RETHINK"


def test_any_derived_event_that_was_left_out_changed_or_doubled_is_found_out(tmp_path):
    run = run_of(script(), log_dir=tmp_path)
    whole = run.log_path.read_bytes()
    records = [record for record in run.records if not isinstance(record.event, EXTERNAL_EVENTS)]
    for record in records[:-1:7]:
        rewritten(run.log_path, lambda one, record=record: None if one.seq == record.seq else one)
        told = replay_run(run.log_path)
        assert not told.same, record
        assert told.differences[0].startswith(f"line {after(run.log_path, record.seq)}: ")
        run.log_path.write_bytes(whole)


def after(path, seq: int) -> int:
    """The number of the first derived event from a line on."""
    return next(
        one.seq for one in read_log(path).records if one.seq >= seq and not isinstance(one.event, EXTERNAL_EVENTS)
    )


def test_a_changed_reply_is_found_out_by_what_follows_from_it(tmp_path):
    run = run_of(script(), log_dir=tmp_path)

    def kinder(record: Record) -> Record:
        if getattr(record.event, "call_id", "") != "i3/score" or record.event.type != "call-replied":
            return record
        value = {"scores": {}}
        return record._replace(event=record.event.model_copy(update={"value": value}))

    rewritten(run.log_path, kinder)
    told = replay_run(run.log_path)
    assert not told.same
    assert told.differences[0].startswith("line ")
