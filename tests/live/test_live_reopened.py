"""A live run that lost most of its calls to an outage, asked again, is the run without the outage (rule E6)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import verifyplan as vp
from tests.live.live_runs import Played, derived, speaking_to, times, turn_of
from tests.live.live_scripts import spoken_script
from tests.live.scripted_replies import calls, status
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, BURDEN, COUNTER, finding
from tests.runs.plan.planning import PLAN, REPO
from verifyplan.protocol.event_run import RunReopened, call_of

WORKERS = ["ann", "bob", "cy"]
VOTES = {
    number: {
        worker: {f"F-{n}": (AGREE, BURDEN, COUNTER)[(n * number + place) % 3] for n in range(10)}
        for place, worker in enumerate(WORKERS)
    }
    for number in (1, 2)
}


class Outage:
    """Answers as played, but for a share of the calls, which get 503 until the outage is over."""

    def __init__(self, played: Played, share: float, seed: int) -> None:
        self.played, self.share, self.seed, self.over = played, share, seed, False
        self.lost: set[str] = set()

    def __call__(self, asked: Any) -> Any:
        call = call_of(turn_of(asked))
        if not self.over and random.Random(f"{self.seed} {call}").random() < self.share:
            self.lost.add(call)
            return status(503)
        return self.played(asked)


def crossed(server: ScriptedServer, folder: Path) -> Any:
    found = [finding(f"F-{n}", WORKERS[n % 3]) for n in range(10)]
    given: dict[str, Any] = {"mode": "adversarial", "max_rounds": 2, "items_per_call": 1, "matcher": None}
    return vp.crossverify(
        found, WORKERS, backend=speaking_to(server), repo=REPO, log_dir=folder, progress=False, **given
    )


def planned(server: ScriptedServer, folder: Path) -> Any:
    given: dict[str, Any] = {"team": "scaled", "max_iterations": 2}
    plan = vp.plans.parse_plan(PLAN)
    return vp.verify(plan, REPO, backend=speaking_to(server), log_dir=folder, progress=False, **given)


@pytest.mark.parametrize(("make", "answers"), [(crossed, VOTES), (planned, spoken_script())], ids=["cross", "plan"])
def test_a_run_that_lost_60_percent_of_its_calls_becomes_the_undisturbed_run(make, answers, tmp_path):
    with ScriptedServer(Played(answers, silent=True)) as server:
        whole = make(server, tmp_path / "whole")
    outage = Outage(Played(answers, silent=True), 0.6, seed=3)
    with ScriptedServer(outage) as server:
        run = make(server, tmp_path)
        failed = [event.call_id for event in run.events if event.type == "call-failed"]
        asked = [event.call_id for event in run.events if event.type == "call-requested"]
        assert outage.lost <= set(failed)  # the script of the plan run has failures of its own
        if make is crossed:
            assert set(failed) == outage.lost
            assert 0.5 < len(failed) / len(asked) < 0.7
        outage.over, before = True, times(server)
        last = vp.resume(run, backend=speaking_to(server), retry_failed=True, progress=False)
        later = times(server) - before
    assert derived(last) == derived(whole)
    [reopened] = [event for event in last.events if isinstance(event, RunReopened)]
    assert sorted(reopened.retried) == sorted(failed)
    classes = last.frames.findings.set_index("finding_id")["classification"]
    assert classes.equals(whole.frames.findings.set_index("finding_id")["classification"])
    assert vp.replay_run(last.log_path).same
    table = last.frames.calls
    answered = table[table["reopening"].eq(0) & ~table["superseded"]]["call_id"]
    assert not set(answered) & {call_of(turn) for turn in later}  # a reply whose request is equal is not asked again
    assert max(later.values()) == 1
    replied = [event for _, _, event in last.records if event.type == "turn-replied"]
    if make is crossed:  # what the server answered is all in the log
        assert len(replied) == sum(times(server).values()) - len(failed)
    assert table["input_tokens"].sum() == sum(event.usage.input_tokens for event in replied)


def test_a_call_goes_on_from_the_turn_that_had_no_reply_and_turns_on_disk_are_not_sent_again(tmp_path):
    first = {"i1/challenger/t1": calls("Grep", pattern="rows"), "i1/challenger/t2": [status(503)]}
    given: dict[str, Any] = {"team": "base", "panel": None, "max_iterations": 1, "progress": False}
    with ScriptedServer(Played(spoken_script(), first, silent=True)) as server:
        plan = vp.plans.parse_plan(PLAN)
        run = vp.verify(plan, REPO, backend=speaking_to(server), log_dir=tmp_path, **given)
        last = vp.resume(run, backend=speaking_to(server), retry_failed=True, progress=False)
    assert times(server)["i1/challenger/t1"] == 1
    assert times(server)["i1/challenger/t2"] == 2
    table = last.frames.calls[last.frames.calls["call_id"].eq("i1/challenger")]
    columns = ["status", "superseded", "n_turns"]
    assert table[columns].to_numpy().tolist() == [["error", True, 2], ["completed", False, 1]]
    replied = [event for _, _, event in last.records if event.type == "turn-replied"]
    assert last.frames.calls["output_tokens"].sum() == sum(event.usage.output_tokens for event in replied)
    assert vp.replay_run(last.log_path).same
