"""Calls that failed in batches are asked again, in new batches or one by one, and decided upon anew (rule E6)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import verifyplan as vp
from tests.live.batch_served import QUICK, Posted, items
from tests.live.live_runs import Played, derived, facts, speaking_to
from tests.live.scripted_http import Reply, Request
from tests.live.scripted_replies import cancels, cut, expires, status
from tests.live.scripted_server import ScriptedServer
from tests.live.test_batch_failures import VOTES, DyingError, Faulty, expected, run_on
from tests.runs.plan.planning import PLAN, REPO
from verifyplan.errors import AgentError, LogError
from verifyplan.protocol.event_run import RunReopened, RunResumed
from verifyplan.runlog.current import current
from verifyplan.runs.batch import request_queue
from verifyplan.runs.batch import transport as carrier
from verifyplan.runs.batch.batch import batch_verify
from verifyplan.runs.replay import replay_run

HINT = (
    "1 run with calls that failed or were kept back: the same call with retry_failed=True (--retry-failed) asks again"
)


class Ailing:
    """Answers as `VOTES` do, but for the calls of one worker, which fail until it is well."""

    def __init__(self, failure: Any, worker: str = "cy") -> None:
        self.failure, self.worker, self.well = failure, worker, False

    def __call__(self, asked: Any) -> Any:
        ill = asked.headers["x-verifyplan-turn"].startswith(f"r1/{self.worker}/") and not self.well
        return self.failure if ill else Played(VOTES)(asked)


def sent_for(server: ScriptedServer, folder: Path, batches: int) -> list[str]:
    """The turns that were sent after so many batches."""
    before = sum(len(batch.params) for batch in server.batches[:batches])
    return [turn for _, turn in items(server, folder)][before:]


def failed(run: vp.Run) -> list[str]:
    return [record.event.call_id for record in current(run.records) if record.event.type == "call-failed"]


@pytest.mark.parametrize("failure", [expires(), cancels(), status(400), status(529), cut("{")])
def test_what_failed_is_asked_again_in_one_new_batch(tmp_path, failure):
    ailing = Ailing(failure)
    with ScriptedServer(Posted(ailing, tmp_path)) as server:
        first = run_on(server, tmp_path)
        assert (failed(first[0]), str(first).splitlines()[-1]) == (["r1/cy"], f"{HINT}, in batches")
        batches, ailing.well = len(server.batches), True
        assert run_on(server, tmp_path)[0].events == first[0].events  # of itself nothing is asked again
        [run] = again = run_on(server, tmp_path, retry_failed=True)
        assert sent_for(server, tmp_path, batches) == ["r1/cy/t1"]
        assert run_on(server, tmp_path, retry_failed=True)[0].events == run.events
    assert len(server.batches) == batches + 1
    assert derived(run) == expected()
    assert (failed(run), HINT in str(again), run.log_path) == ([], False, first[0].log_path)
    [reopened] = facts(run, "run-reopened")
    assert reopened.retried == ("r1/cy",)
    assert replay_run(run).same
    calls = vp.load(tmp_path).calls.query("worker == 'cy'")
    assert calls["reopening"].tolist() == [0, 1]
    assert calls["superseded"].tolist() == [True, False]


def test_it_is_asked_again_one_by_one(tmp_path):
    ailing = Ailing(expires())
    with ScriptedServer(Posted(ailing, tmp_path)) as server:
        [first] = run_on(server, tmp_path)
        batches, ailing.well = len(server.batches), True
        run = vp.resume(first, backend=speaking_to(server), retry_failed=True, progress=False)
        assert (len(server.batches), len(server.requests)) == (batches, 1)
        assert run_on(server, tmp_path, retry_failed=True)[0].events == run.events
    assert derived(run) == expected()
    assert [attempt.status for attempt in facts(run, "attempt")] == [200]
    assert [event.batch for event in facts(run, "turn-replied")][-1] is None


def test_a_reopening_that_is_broken_off_one_by_one_goes_on_in_a_batch(tmp_path):
    def sink(event):
        if event.type == "run-reopened":
            raise DyingError

    ailing = Ailing(expires())
    with ScriptedServer(Posted(ailing, tmp_path)) as server:
        [first] = run_on(server, tmp_path)
        batches, ailing.well = len(server.batches), True
        with pytest.raises(DyingError):
            vp.resume(first, backend=speaking_to(server), retry_failed=True, timeout=0.001, progress=False, sink=sink)
        [run] = run_on(server, tmp_path)  # what failed in the batches of before is not looked for there
        assert sent_for(server, tmp_path, batches) == ["r1/cy/t1"]
    assert derived(run) == expected()
    assert [type(event) for event in run.events if isinstance(event, RunReopened | RunResumed)] == [
        RunReopened,
        RunResumed,
    ]


def test_a_reopening_whose_batch_is_under_way_goes_on_by_the_same_call_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(carrier, "MAX_SILENT_POLLS", 2)
    down, ailing = [False], Ailing(expires())

    def fault(request: Request) -> Reply | None:
        return Reply(sent=-1) if down[0] and request.path.endswith("/msgbatch_0004") else None

    with Faulty(Posted(ailing, tmp_path), fault) as server:
        [first] = run_on(server, tmp_path)
        ailing.well, down[0] = True, True
        with pytest.raises(AgentError, match="connection failed"):
            run_on(server, tmp_path, retry_failed=True)
        for retry_failed in (False, True):
            with pytest.raises(LogError, match="waits for r1/cy/t1 from a message batch"):
                vp.resume(first.log_path, backend=speaking_to(server), retry_failed=retry_failed, progress=False)
        down[0] = False
        [run] = run_on(server, tmp_path, retry_failed=True)
    assert derived(run) == expected()
    assert len(server.batches) == 4
    assert len(facts(run, "run-reopened")) == 1


def test_a_run_that_was_broken_off_is_reopened_and_keeps_what_waits_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(request_queue, "MAX_BATCH_REQUESTS", 1)
    monkeypatch.setattr(carrier, "MAX_SILENT_POLLS", 1_000)
    ailing = Ailing(status(400), "ann")

    def fault(request: Request) -> Reply | None:
        asked = [batch.id for batch in server.batches if request.path.endswith(batch.id)]
        waits = not ailing.well and asked and items(server, tmp_path)[server_ids().index(asked[0])][1] != "r1/ann/t1"
        return Reply(sent=-1) if waits else None

    def server_ids() -> list[str]:
        return [batch.id for batch in server.batches]

    def sink(event):
        if event.type == "call-failed":
            raise DyingError

    with Faulty(Posted(ailing, tmp_path), fault) as server:
        with pytest.raises(DyingError):
            run_on(server, tmp_path, sink=sink)
        ailing.well = True
        [run] = run_on(server, tmp_path, retry_failed=True)
        assert sent_for(server, tmp_path, 3) == ["r1/ann/t1"]
    assert derived(run) == expected()
    assert [event.retried for event in facts(run, "run-reopened")] == [("r1/ann",)]
    assert replay_run(run).same


def test_a_spent_limit_is_raised_and_the_run_goes_on_in_its_own_log(tmp_path):
    (tmp_path / "a.md").write_text(PLAN)
    given: dict[str, Any] = {"log_dir": tmp_path / "b", "panel": None, "team": "base"}
    with ScriptedServer(Posted(Played({}, silent=True), tmp_path / "b")) as server:
        given["backend"] = speaking_to(server)
        first = batch_verify(tmp_path / "a.md", REPO, max_tokens=1, **given, **QUICK)
        assert str(first).startswith("1 run: 1 ended by budget")
        assert HINT in str(first)
        left = batch_verify(tmp_path / "a.md", REPO, max_tokens=9_000_000, **given, **QUICK)
        assert left[0].events == first[0].events
        spent = batch_verify(tmp_path / "a.md", REPO, max_tokens=1, retry_failed=True, **given, **QUICK)
        [run] = batch_verify(tmp_path / "a.md", REPO, max_tokens=9_000_000, retry_failed=True, **given, **QUICK)
        whole = vp.verify(tmp_path / "a.md", REPO, **(given | {"log_dir": None}), progress=False)
    assert "max_tokens: is used up" in spent.failures["a-001"]
    assert run.log_path == first[0].log_path
    assert derived(run) == derived(whole)
    assert facts(run, "run-reopened")[0].limits.max_tokens == 9_000_000
