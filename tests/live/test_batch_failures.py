"""What goes wrong with batches, and what then becomes of the runs: nothing is lost, and nothing is sent twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.live.batch_served import QUICK, Posted, items
from tests.live.live_runs import Played, derived, facts, speaking_to
from tests.live.scripted_http import Reply, Request, json_reply
from tests.live.scripted_replies import cancels, cut, error, expires, status
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, finding
from tests.runs.plan.planning import PLAN, REPO, challenge
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import AgentError, LogError
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.batch import drive as driving
from verifyplan.runs.batch import request_queue as office
from verifyplan.runs.batch import transport as carrier
from verifyplan.runs.batch.batch import batch_crossverify, batch_verify
from verifyplan.runs.cross.crossverify import crossverify

ROSTER = ["ann", "bob", "cy"]
FOUND = [finding("F-1", "ann"), finding("F-2", "bob"), finding("F-3", "cy")]
VOTES: dict[Any, Any] = {
    1: {"ann": {"F-2": AGREE, "F-3": AGREE}, "bob": {"F-1": AGREE, "F-3": AGREE}, "cy": {"F-1": AGREE, "F-2": AGREE}}
}
GIVEN: dict[str, Any] = {"matcher": None, "repo": REPO, "settings": {"adversarial": False, "maxRounds": 1}}
ALL = {f"r1/{who}/t1" for who in ROSTER}


class Faulty(ScriptedServer):
    """Answers requests that `fault` picks, by method and path, with something else, and does nothing else for them."""

    def __init__(self, reply: Any, fault: Any, **more: Any) -> None:
        super().__init__(reply, **more)
        self._fault = fault

    async def answer(self, request: Request) -> Reply:
        return self._fault(request) or await super().answer(request)


def run_on(server: ScriptedServer, folder: Path, repetitions: int = 1, **more: Any) -> Any:
    given = GIVEN | {"backend": speaking_to(server), "log_dir": folder, "repetitions": repetitions} | QUICK | more
    return batch_crossverify(FOUND, ROSTER, **given)


def expected() -> list[str]:
    return derived(crossverify(FOUND, ROSTER, backend=ScriptedBackend(VOTES), log_dir=None, progress=False, **GIVEN))


def turned(server: ScriptedServer, folder: Path) -> Counter[str]:
    return Counter(turn for _, turn in items(server, folder))


@pytest.mark.parametrize("failure", [status(500), status(529), status(429), expires(), cancels()])
def test_what_failed_by_no_fault_of_its_own_goes_with_the_next_batch(tmp_path, failure):
    def reply(asked):
        failed = asked.batch == 1 and asked.headers["x-verifyplan-turn"] != "r1/ann/t1"
        return failure if failed else Played(VOTES)(asked)

    with ScriptedServer(Posted(reply, tmp_path)) as server:
        [run] = run_on(server, tmp_path)
    assert derived(run) == expected()
    assert [len(batch.params) for batch in server.batches] == [3, 2]
    assert turned(server, tmp_path) == {"r1/ann/t1": 1, "r1/bob/t1": 2, "r1/cy/t1": 2}
    assert {event.batch for event in facts(run, "turn-replied")} == {"msgbatch_0001", "msgbatch_0002"}


def test_what_fails_in_three_batches_has_failed(tmp_path):
    def reply(asked):
        return expires() if asked.headers["x-verifyplan-turn"] == "r1/cy/t1" else Played(VOTES)(asked)

    with ScriptedServer(Posted(reply, tmp_path)) as server:
        [run] = run_on(server, tmp_path)
    assert turned(server, tmp_path) == {"r1/ann/t1": 1, "r1/bob/t1": 1, "r1/cy/t1": 3}
    [failed] = facts(run, "call-failed")
    assert (failed.call_id, failed.status) == ("r1/cy", "error")
    assert failed.reason == "AgentError: no reply in any batch, of 3 that it was sent in; the last: expired"
    assert run.status == "converged"


def test_what_the_endpoint_finds_wrong_with_a_request_fails_at_once(tmp_path):
    def reply(asked):
        return status(400) if asked.headers["x-verifyplan-turn"] == "r1/bob/t1" else Played(VOTES)(asked)

    with ScriptedServer(Posted(reply, tmp_path)) as server:
        [run] = run_on(server, tmp_path)
    assert len(server.batches) == 1
    assert facts(run, "call-failed")[0].reason == "AgentError: the endpoint answered invalid_request_error: scripted"


def test_an_answer_that_was_cut_is_a_failed_call_as_it_is_one_by_one(tmp_path):
    def reply(asked):
        return cut("{") if asked.headers["x-verifyplan-turn"] == "r1/bob/t1" else Played(VOTES)(asked)

    with ScriptedServer(Posted(reply, tmp_path)) as server:
        [run] = run_on(server, tmp_path)
    [failed] = facts(run, "call-failed")
    assert "cut off at 16,000 tokens" in failed.reason
    assert failed.usage.output_tokens > 0
    assert turned(server, tmp_path) == dict.fromkeys(ALL, 1)


def test_a_batch_that_is_too_large_is_sent_in_halves_until_the_culprit_is_alone(tmp_path):
    def fault(request):
        guilty = request.method == "POST" and b"claim F-3" in request.body
        return json_reply(error(413, "too much"), 413) if guilty else None

    with Faulty(Posted(Played(VOTES), tmp_path), fault) as server:
        [run] = run_on(server, tmp_path)
    failed = {event.call_id: event.reason for event in facts(run, "call-failed")}
    assert set(failed) == {"r1/ann", "r1/bob"}  # those that were asked about F-3
    assert set(failed.values()) == {"RefusedError: the endpoint answered 413: request_too_large: too much"}
    assert turned(server, tmp_path) == {"r1/cy/t1": 1}


def test_an_endpoint_that_refuses_all_batches_ends_the_command_and_not_the_calls(tmp_path):
    poor = [json_reply(error(400, "Your credit balance is too low"), 400)]

    with Faulty(
        Posted(Played(VOTES), tmp_path), lambda one: poor[0] if poor and one.method == "POST" else None
    ) as server:
        with pytest.raises(AgentError, match=r"message batches: the endpoint answered 400.*credit balance is too low"):
            run_on(server, tmp_path)
        assert server.batches == []
        poor.clear()
        [run] = run_on(server, tmp_path)
    assert derived(run) == expected()
    assert turned(server, tmp_path) == dict.fromkeys(ALL, 1)


def test_large_batches_are_divided(tmp_path, monkeypatch):
    monkeypatch.setattr(office, "MAX_BATCH_REQUESTS", 4)
    with ScriptedServer(Posted(Played(VOTES), tmp_path / "a")) as server:
        runs = run_on(server, tmp_path / "a", repetitions=3)
    assert sorted(len(batch.params) for batch in server.batches) == [1, 4, 4]
    assert [derived(run) for run in runs] == [expected()] * 3
    monkeypatch.setattr(office, "MAX_BATCH_BYTES", 100)
    with ScriptedServer(Posted(Played(VOTES), tmp_path / "b")) as server:
        run_on(server, tmp_path / "b")
    assert [len(batch.params) for batch in server.batches] == [1, 1, 1]


class Forgetful(ScriptedServer):
    """Leaves the result of the last request of a batch out."""

    async def answer(self, request: Request) -> Reply:
        reply = await super().answer(request)
        lines = reply.body.splitlines(keepends=True)
        return reply._replace(body=b"".join(lines[1:])) if request.path.endswith("results") else reply


def test_a_result_that_is_missing_fails_the_call_and_is_not_sent_again(tmp_path):
    with Forgetful(Posted(Played(VOTES), tmp_path)) as server:
        [run] = run_on(server, tmp_path)
    assert facts(run, "call-failed")[0].reason == "AgentError: batch msgbatch_0001 has no result of it"
    assert turned(server, tmp_path) == dict.fromkeys(ALL, 1)


def test_an_endpoint_that_goes_away_ends_the_command_and_not_the_calls(tmp_path, monkeypatch):
    monkeypatch.setattr(carrier, "MAX_SILENT_POLLS", 2)
    down = [True]

    def fault(request):
        return Reply(sent=-1) if down[0] and request.path.endswith("/msgbatch_0001") else None

    with Faulty(Posted(Played(VOTES), tmp_path), fault) as server:
        with pytest.raises(AgentError, match="connection failed") as told:
            run_on(server, tmp_path, repetitions=2)
        assert told.value.__notes__ == [
            "The runs go on by the same command; what is in message batches is not sent again."
        ]
        assert not list(tmp_path.rglob("*.lock"))
        down[0] = False
        runs = run_on(server, tmp_path, repetitions=2)
    assert [derived(run) for run in runs] == [expected()] * 2
    assert turned(server, tmp_path) == dict.fromkeys(ALL, 2)
    assert [facts(run, "call-failed") for run in runs] == [[], []]
    assert [one.repeated for run in runs for one in facts(run, "run-resumed")] == [(), ()]


def test_what_an_earlier_command_tried_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(carrier, "MAX_SILENT_POLLS", 2)
    down = [True]

    def fault(request):
        return Reply(sent=-1) if down[0] and request.path.endswith("/msgbatch_0003") else None

    def reply(asked):
        return expires() if asked.headers["x-verifyplan-turn"] == "r1/cy/t1" else Played(VOTES)(asked)

    with Faulty(Posted(reply, tmp_path), fault) as server:
        with pytest.raises(AgentError, match="connection failed"):
            run_on(server, tmp_path)
        down[0] = False
        [run] = run_on(server, tmp_path)
    assert turned(server, tmp_path) == {"r1/ann/t1": 1, "r1/bob/t1": 1, "r1/cy/t1": 3}
    assert "of 3 that it was sent in" in facts(run, "call-failed")[0].reason


def test_runs_that_come_one_after_the_other_share_a_batch_of_an_earlier_command(tmp_path, monkeypatch):
    monkeypatch.setattr(carrier, "MAX_SILENT_POLLS", 2)
    down = [True]

    def fault(request):
        return Reply(sent=-1) if down[0] and request.path.endswith("/msgbatch_0001") else None

    with Faulty(Posted(Played(VOTES), tmp_path), fault) as server:
        with pytest.raises(AgentError):
            run_on(server, tmp_path, repetitions=3)
        down[0] = False
        monkeypatch.setattr(driving, "max_runs_at_once", lambda: 1)
        runs = run_on(server, tmp_path, repetitions=3)
    assert [derived(run) for run in runs] == [expected()] * 3
    assert turned(server, tmp_path) == dict.fromkeys(ALL, 3)
    assert server.count("/v1/messages/batches/msgbatch_0001/results", "GET") == 3


def test_no_more_runs_are_under_way_than_files_may_be_open(tmp_path, monkeypatch):
    monkeypatch.setattr(driving, "max_runs_at_once", lambda: 2)
    with ScriptedServer(Posted(Played(VOTES), tmp_path)) as server:
        runs = run_on(server, tmp_path, repetitions=5)
    assert len(runs) == 5
    assert max(len(batch.params) for batch in server.batches) == 6


def test_a_run_that_cannot_go_on_leaves_the_others_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(carrier, "MAX_SILENT_POLLS", 2)
    down = [True]

    def fault(request):
        return Reply(sent=-1) if down[0] and request.path.endswith("/msgbatch_0001") else None

    with Faulty(Posted(Played(VOTES), tmp_path), fault) as server:
        with pytest.raises(AgentError):
            run_on(server, tmp_path, repetitions=2)
        down[0] = False
        log = next(tmp_path.rglob("*-001.jsonl"))
        writer, _ = LogWriter.resume(log)
        with writer:
            runs = run_on(server, tmp_path, repetitions=2)
        assert [derived(run) for run in runs] == [expected()]
        [(name, why)] = runs.stopped.items()
        assert (name, type(why)) == ("convergence-ad-hoc-001", LogError)
        assert "is being written by another run" in runs.failures["convergence-ad-hoc-001"]
        assert "is being written by another run" in str(runs)
        assert len(run_on(server, tmp_path, repetitions=2)) == 2
    assert turned(server, tmp_path) == dict.fromkeys(ALL, 2)


def test_what_a_sink_raises_ends_the_command_and_leaves_whole_logs(tmp_path):
    told: list[Any] = []

    def sink(event):
        told.append(event)
        if event.type == "turn-replied":
            raise RuntimeError("the listener is gone")

    with ScriptedServer(Posted(Played(VOTES), tmp_path)) as server:
        with pytest.raises(RuntimeError, match="the listener is gone") as raised:
            run_on(server, tmp_path, repetitions=2, sink=sink)
        assert "same command" in raised.value.__notes__[-1]
        runs = run_on(server, tmp_path, repetitions=2)
    assert [derived(run) for run in runs] == [expected()] * 2
    assert turned(server, tmp_path) == dict.fromkeys(ALL, 2)


class DyingError(Exception):
    """Ends a run, as if its process had died."""


def test_a_run_that_was_begun_by_itself_goes_on_in_a_batch_and_says_what_is_repeated(tmp_path):
    def sink(event):
        if event.type == "turn-replied":
            raise DyingError

    with ScriptedServer(Posted(Played(VOTES), tmp_path)) as server:
        alone = {"backend": speaking_to(server), "log_dir": tmp_path, "timeout": None, "progress": False}
        with pytest.raises(DyingError):
            crossverify(FOUND, ROSTER, sink=sink, **alone, **GIVEN)
        [run] = run_on(server, tmp_path)
    [resumed] = facts(run, "run-resumed")
    assert len(resumed.repeated) == 2
    assert turned(server, tmp_path) == dict.fromkeys(resumed.repeated, 1)
    assert derived(run) == expected()


def test_a_log_that_is_deleted_is_another_run_when_it_is_begun_anew(tmp_path):
    with ScriptedServer(Posted(Played(VOTES), tmp_path)) as server:
        [before] = run_on(server, tmp_path)
        before.log_path.unlink()
        before.path.unlink()
        [after] = run_on(server, tmp_path)
    assert after.run_id == before.run_id
    assert derived(after) == derived(before)
    assert turned(server, tmp_path) == dict.fromkeys(ALL, 2)


def test_failures_and_budgets_are_told_by_run(tmp_path):
    played = Played({1: {"ann": "error", "bob": "error", "cy": "error"}})
    with ScriptedServer(Posted(played, tmp_path)) as server:
        runs = run_on(server, tmp_path)
    assert runs.failures == {runs[0].run_id: "no dispatch of a round gave a result"}
    (tmp_path / "a.md").write_text(PLAN)
    with ScriptedServer(Posted(Played({}, silent=True), tmp_path / "b")) as server:
        given = {"log_dir": tmp_path / "b", "panel": None, "team": "base", "max_tokens": 1}
        runs = batch_verify(tmp_path / "a.md", REPO, backend=speaking_to(server), **given, **QUICK)
    assert [list(batch.params) for batch in server.batches[1:]] == []
    assert "max_tokens" in runs.failures["a-001"]
    assert str(runs).startswith("1 run: 1 ended by budget\na-001: max_tokens")


def test_a_run_that_waits_for_a_person_is_left_waiting(tmp_path):
    (tmp_path / "a.md").write_text(PLAN)
    blocking = {"challenges": [challenge("locks", "BLOCKING", alternative="")], "unknowns": []}
    with ScriptedServer(Posted(Played({"i1/challenger": blocking}, silent=True), tmp_path)) as server:
        given = {"log_dir": tmp_path / "runs", "panel": None, "team": "base", "on_blocked": "pause"} | QUICK
        batches = [batch_verify(tmp_path / "a.md", REPO, backend=speaking_to(server), **given) for _ in range(2)]
        sent = len(server.batches)
    assert [batch[0].waiting.pause_id for batch in batches] == ["i1/pause-1"] * 2
    assert str(batches[1]) == "1 run: 1 waiting"
    assert batches[1].failures == {}
    assert len({turn for _, turn in items(server, tmp_path)}) == sum(len(one.params) for one in server.batches)
    assert sent == len(server.batches)
    assert json.loads(batches[1][0].log_path.read_text().splitlines()[-1])["type"] != "run-resumed"
