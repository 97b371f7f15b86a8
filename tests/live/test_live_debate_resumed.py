"""A debate of models that was broken off or killed goes on from its log, and nothing is paid for twice (rule E2)."""

from __future__ import annotations

import pytest

from tests.live.live_debates import CONVERGED, LOOPS, TASK, given, repository
from tests.live.live_runs import Played, derived, facts, speaking_to, times, turns
from tests.live.scripted_server import ScriptedServer
from tests.runs.plan.breaking import StopError, stopping
from verifyplan.runs.debate.debate import debate
from verifyplan.runs.resume import read_run, resume


def broken_off(server, folder, kind, count, *backends):
    one, two = backends or (speaking_to(server),) * 2
    with pytest.raises(StopError):
        debate(TASK, one, two, **given({"log_dir": folder / "runs", "repo": folder, "sink": stopping(kind, count)}))
    [path] = folder.rglob("*.jsonl")
    return path


@pytest.fixture
def whole(tmp_path):
    """The undisturbed debate, and the turns that it took."""
    root = repository(tmp_path / "whole")
    with ScriptedServer(Played(CONVERGED, LOOPS)) as server:
        speaker = speaking_to(server)
        run = debate(TASK, speaker, speaker, **given({"repo": root}))
    return run, turns(server)


@pytest.mark.parametrize(
    ("kind", "count"),
    [("turn-replied", 1), ("turn-replied", 4), ("turn-sent", 5), ("message-published", 2), ("call-requested", 4)],
)
def test_a_debate_goes_on_within_a_call_by_the_backend_of_its_log(whole, tmp_path, kind, count):
    root = repository(tmp_path / "broken")
    with ScriptedServer(Played(CONVERGED, LOOPS)) as server:
        run = resume(broken_off(server, root, kind, count), progress=False)
    assert derived(run) == derived(whole[0])
    assert run.log == whole[0].log
    assert turns(server) == whole[1]
    [resumed] = facts(run, "run-resumed")
    assert resumed.repeated == (("t1/implement/t3",) if kind == "turn-sent" else ())


def test_a_debate_of_two_backends_goes_on_by_both(tmp_path):
    root = repository(tmp_path / "broken")
    with ScriptedServer(Played(CONVERGED, LOOPS)) as server:
        two = speaking_to(server, "claude-opus-5-5"), speaking_to(server, "claude-sonnet-5-5", effort="low")
        run = resume(broken_off(server, root, "turn-replied", 4, *two), progress=False)
    assert run.reason == "VERIFIED"
    assert set(times(server).values()) == {1}
    assert {asked.model for asked in server.requests[4:]} == {"claude-opus-5-5", "claude-sonnet-5-5"}
    assert run.started.backend["builder"]["effort"] == "low"


def test_a_debate_that_has_ended_asks_nobody(tmp_path):
    with ScriptedServer(Played(CONVERGED)) as server:
        speaker = speaking_to(server)
        run = debate(TASK, speaker, speaker, **given({"log_dir": tmp_path}))
        again = resume(run.log_path, progress=False)
    assert (again.reason, again.log, len(server.requests)) == ("VERIFIED", run.log, 6)
    assert read_run(run.log_path).events == run.events


@pytest.mark.parametrize("torn", [False, True], ids=["after a line", "within a line"])
def test_a_debate_whose_process_died_anywhere_asks_for_what_has_no_reply_and_for_nothing_else(tmp_path, torn):
    root = repository(tmp_path / "repository")
    with ScriptedServer(Played(CONVERGED, LOOPS)) as server:
        speaker = speaking_to(server)
        whole = debate(TASK, speaker, speaker, **given({"repo": root, "log_dir": tmp_path / "whole"}))
        lines, took = whole.log_path.read_bytes().splitlines(keepends=True), turns(server)
        for count in range(1 + torn, len(lines), 2):
            path = tmp_path / f"{count}.jsonl"
            path.write_bytes(b"".join(lines[:count]) + lines[count][: 60 * torn])
            replied = {event.call_id for event in read_run(path).events if event.type == "turn-replied"}
            before = len(server.requests)
            run = resume(path, progress=False)
            assert turns(server)[before:] == [turn for turn in took if turn not in replied]
            assert derived(run) == derived(whole)
            assert run.log == whole.log
