"""Logs of every version are read as the present one (rule E1)."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import from_json, to_json

from verifyplan.errors import LogError
from verifyplan.protocol.event_run import LOG_VERSION, CallFailed, CallReplied, RunStarted, TurnReplied, TurnSent
from verifyplan.runlog import chain, migrate, reader
from verifyplan.runlog.cross_state import artifact_of, fold_cross
from verifyplan.runlog.debate_state import fold_debate
from verifyplan.runlog.migrate import STEPS, steps_from
from verifyplan.runlog.plan_state import fold_plan
from verifyplan.runlog.reader import parse_log, read_log
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.resume import read_run

LOGS = Path(__file__).parent / "logs"
VERSIONS = (1, 2)
"""Those of which `v*-plan` and `v*-cross` are kept; `test_logs_of_before` reads logs of version 3, too."""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", ["plan", "cross"])
def test_a_log_of_every_earlier_version_is_kept_and_is_of_that_version(version, kind):
    first = from_json((LOGS / f"v{version}-{kind}.jsonl").read_bytes().splitlines()[0])
    assert (first["version"], first["inputs"]["kind"]) == (version, kind)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_plan_run_of_every_version_is_read_and_folds(version):
    path = LOGS / f"v{version}-plan.jsonl"
    run = read_run(path)
    assert isinstance(run, PlanRun)
    state = fold_plan(run.events)
    assert state == run.state
    assert (run.verdict, run.score, len(state.iterations), len(state.raised)) == ("RETHINK", 7, 3, 11)
    assert {event.answer for event in state.answers.values()} == {"context"}
    assert "RETHINK" in run.report()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_cross_run_of_every_version_is_read_and_folds(version):
    run = read_run(LOGS / f"v{version}-cross.jsonl")
    assert isinstance(run, CrossRun)
    counts = artifact_of(fold_cross(run.events)).finalClassificationCounts
    assert counts is not None
    assert (counts.fullConsensus, counts.partialConsensus, counts.contested, counts.workerUnique) == (1, 1, 1, 1)
    assert run.status == "max-rounds-reached"


def test_a_debate_of_version_2_is_read_and_folds():
    run = read_run(LOGS / "v2-debate.jsonl")
    assert isinstance(run, Debate)
    assert fold_debate(run.events) == run.state
    assert (run.status, run.reason, run.turns, len(run.log)) == ("CONVERGED", "VERIFIED", 2, 6)


def test_a_plan_run_of_static_agents_of_version_2_is_shown_as_it_was_decided():
    run = read_run(LOGS / "v2-static-plan.jsonl")
    assert isinstance(run, PlanRun)
    assert (run.verdict, run.score, list(run.state.challenges)) == ("RETHINK", 8, ["C1", "C2", "C3"])
    assert "RETHINK" in run.report()


@pytest.mark.parametrize("kind", ["plan", "cross"])
def test_what_version_2_added_is_in_its_log_and_has_defaults_in_that_of_version_1(kind):
    old, new = (read_run(LOGS / f"v{version}-{kind}.jsonl").events for version in (1, 2))
    for events, repetition, cost in ((old, 1, None), (new, 2, Decimal("0.0068"))):
        assert isinstance(events[0], RunStarted)
        assert events[0].repetition == repetition
        assert {event.usage.cost for event in events if isinstance(event, CallReplied | CallFailed)} == {cost}
    turns = [event.type for event in new if isinstance(event, TurnSent | TurnReplied)]
    calls = [event for event in new if isinstance(event, CallReplied | CallFailed)]
    assert turns.count("turn-sent") == turns.count("turn-replied") == 2 * len(calls)
    assert any(isinstance(call, CallFailed) and call.usage.total and call.tools for call in calls)


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.jsonl")), ids=lambda path: path.name)
def test_a_log_that_is_kept_names_no_place_of_the_machine_it_came_from(path):
    assert not re.findall(rb"/(?:home|root|tmp|work|Users|private)/", path.read_bytes())


def test_there_is_a_step_from_every_earlier_version_and_no_other():
    assert sorted(STEPS) == list(range(1, LOG_VERSION))


# The way of a change, on versions that never were


def renamed(values: dict[str, Any]) -> dict[str, Any]:
    """From 1 to 2: what was `dropped` is `dropped_bytes`."""
    if values["type"] == "run-resumed":
        values = {("dropped_bytes" if key == "dropped" else key): value for key, value in values.items()}
    return values


def dropped(values: dict[str, Any]) -> dict[str, Any] | None:
    """From 2 to 3: nobody stretches any more."""
    return None if values["type"] == "worker-stretched" else values


@pytest.fixture
def old(monkeypatch) -> bytes:
    """A log of a version that was 1 when the present one is 3."""
    first = from_json((LOGS / "v1-cross.jsonl").read_bytes().splitlines()[0])
    events = [
        {key: value for key, value in first.items() if key not in ("seq", "at", "digest")},
        {"type": "worker-stretched", "for": "fun"},
        {"type": "run-resumed", "dropped": 12, "repeated": ["i1/probe"], "versions": {}},
    ]
    monkeypatch.setattr(
        reader, "steps_from", lambda version, place: steps_from(version, place, {1: renamed, 2: dropped}, 3)
    )
    return log_of(events)


def log_of(events: list[dict[str, Any]]) -> bytes:
    """A log of events of any model."""
    data, digest = b"", chain.START
    for number, values in enumerate(events, start=1):
        head = to_json({"seq": number, "at": "2026-01-02T03:04:05.678Z"} | values)[:-1]
        digest = chain._digest(digest, head)
        data += head + b',"digest":"' + digest.encode() + b'"}\n'
    return data


def test_events_are_read_through_every_step_and_what_is_no_more_is_left_out(old):
    log = parse_log(old, "old.jsonl")
    assert [(record.seq, record.event.type) for record in log.records] == [(1, "run-started"), (3, "run-resumed")]
    assert log.records[1].event.model_dump()["dropped_bytes"] == 12
    assert log.lines == 3


def test_without_its_step_an_old_event_is_refused_with_its_line(old, monkeypatch):
    monkeypatch.setattr(reader, "steps_from", lambda version, place: steps_from(version, place, {}, 1))
    with pytest.raises(LogError, match=r"old\.jsonl: line 2: is not an event of this version .*worker-stretched"):
        parse_log(old, "old.jsonl")


def test_steps_begin_at_the_log_s_version_and_end_at_the_present_one():
    steps = {1: renamed, 2: dropped}
    assert steps_from(1, "log", steps, 3) == [renamed, dropped]
    assert steps_from(2, "log", steps, 3) == [dropped]
    assert steps_from(3, "log", steps, 3) == []
    assert migrate.migrate({"type": "worker-stretched"}, [renamed, dropped, renamed]) is None


@pytest.mark.parametrize("version", [0, -1, LOG_VERSION + 1, str(LOG_VERSION), True, None, 1.0, [1], 10**30])
def test_an_unknown_version_is_refused_in_words(tmp_path, version):
    first = from_json((LOGS / "v2-plan.jsonl").read_bytes().splitlines()[0])
    values = {key: value for key, value in first.items() if key not in ("seq", "at", "digest")}
    path = tmp_path / "run.jsonl"
    path.write_bytes(log_of([values | {"version": version}]))
    with pytest.raises(LogError, match=rf"this verifyplan reads 1 to {LOG_VERSION}\. Fix: read it with") as caught:
        read_log(path)
    assert repr(version) in str(caught.value)


def test_a_log_without_a_version_is_refused_in_words():
    with pytest.raises(LogError, match="has version None"):
        parse_log(log_of([{"type": "run-started"}]), "run.jsonl")
