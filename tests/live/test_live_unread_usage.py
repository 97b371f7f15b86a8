"""Usage that cannot be read is unknown, never $0: it is said, and stops a run that has a limit (rule A12)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.live.batch_served import QUICK, Posted
from tests.live.live_runs import MODEL, Played, facts, speaking_to
from tests.live.scripted_replies import raw
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, finding
from tests.runs.plan.planning import REPO, run_of
from verifyplan.analysis.cost import cost, usage
from verifyplan.charts import usage as draw_usage
from verifyplan.protocol.call import Usage
from verifyplan.reports.log import event_text
from verifyplan.runs.batch.batch import batch_crossverify
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run
from verifyplan.widgets.explorer.transcript import RunLog
from verifyplan.widgets.live.progress import LiveProgress

PRICES = {MODEL: {"input": 1, "output": 1, "cache_write": 1, "cache_read": 1}}
N = 40
AT_ONCE = 8
UNREAD = "is missing or cannot be read"
NOTHING = re.compile(r"\$0(?![.\d]*[1-9])|\b0(?:\.0+)? dollars")
"""A price of nothing."""

USAGES: dict[str, Any] = {
    "none": None,
    "null": {"input_tokens": None, "output_tokens": None},
    "one count alone": {"output_tokens": 5},
    "negative": {"input_tokens": -1000, "output_tokens": -1},
    "one of them negative": {"input_tokens": 1000, "output_tokens": -1},
    "a negative cache": {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": -9},
    "words": {"input_tokens": "many", "output_tokens": "1"},
    "a huge float": {"input_tokens": 1e308, "output_tokens": 1},
    "a float": {"input_tokens": 9.5, "output_tokens": 1.0},
    "10^18": {"input_tokens": 10**18, "output_tokens": 10**18},
    "truth values": {"input_tokens": True, "output_tokens": True},
    "nested": {"input_tokens": {"count": 9}, "output_tokens": [1]},
    "a list": [{"input_tokens": 9, "output_tokens": 1}],
    "zeros": {"input_tokens": 0, "output_tokens": 0},
    "searches in words": {"input_tokens": 9, "output_tokens": 1, "server_tool_use": {"web_search_requests": "3"}},
    "NaN": {"input_tokens": float("nan"), "output_tokens": 1},
    "infinite": {"input_tokens": 9, "output_tokens": float("inf")},
}
VOTES: dict[Any, Any] = {1: {"bob": {f"F-{n}": AGREE for n in range(1, N + 1)}}}
LIMITS = {"dollars": {"max_cost": "0.05"}, "tokens": {"max_tokens": 50_000}}
usages = pytest.mark.parametrize("reported", USAGES.values(), ids=USAGES)
limits = pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)


class Reporting(Played):
    """Agrees with every finding, and reports this usage in each reply."""

    def __init__(self, reported: Any) -> None:
        super().__init__(VOTES)
        self._reported = reported

    def __call__(self, asked: Any) -> Any:
        message = super().__call__(asked).message(asked, SPENT)
        return raw(json.dumps(message | {"usage": self._reported}))


SPENT: Any = type("Spent", (), {"fresh": 1, "written": 0, "read": 0, "lasting": "5m", "marks": []})()


def given(server, **more):
    backend = speaking_to(server, prices=PRICES, max_concurrency=AT_ONCE, max_tokens=500)
    own = {"backend": backend, "matcher": None, "repo": REPO, "items_per_call": 1, "settings": {"maxRounds": 1}}
    return [finding(f"F-{n}") for n in range(1, N + 1)], ["ann", "bob"], own | more


def crossed(reported, log_dir=None, **settings):
    with ScriptedServer(Reporting(reported)) as server:
        found, roster, own = given(server, log_dir=log_dir, **settings)
        return crossverify(found, roster, **own), server


@limits
@usages
def test_a_limited_run_sends_no_more_than_what_is_under_way(reported, limit):
    run, server = crossed(reported, **limit)
    assert 1 <= len(server.requests) <= AT_ONCE
    assert run.status == "aborted-non-result"
    assert run.state.outcome.exit_reason.startswith(next(iter(limit)))
    assert not NOTHING.search(f"{run}\n{run.report()}\n{run._repr_html_()}")


@pytest.mark.parametrize("name", [name for name, reported in USAGES.items() if isinstance(reported, dict)])
def test_a_limited_batch_sends_no_more_than_what_is_under_way(name, tmp_path):
    played = Played(VOTES)
    nothing = dict.fromkeys(("cache_creation_input_tokens", "cache_read_input_tokens"))
    reply = Posted(lambda asked: played(asked).using(**{"input_tokens": None} | nothing | USAGES[name]), tmp_path)
    with ScriptedServer(reply) as server:
        found, roster, own = given(server, log_dir=tmp_path, max_cost="0.05")
        [run] = batch_crossverify(found, roster, **own, **QUICK)
    assert len(server.batches) == 1  # all of it was under way before the first reply
    assert len(server.batches[0].params) < N
    assert re.search(rf"the usage of r1/bob/p\d+/t1 {UNREAD}", run.state.outcome.exit_reason)
    assert {turn.usage for turn in facts(run, "turn-replied")} == {Usage(uncounted=1)}


def test_the_unknown_is_said_wherever_usage_is_shown():
    run, server = crossed({"input_tokens": -5, "output_tokens": 3})
    assert len(server.requests) == N  # no limit: nothing ends
    said = f"cost: unknown, the usage of {N} requests {UNREAD}, so that no limit of it can be kept; unknown usage"
    assert said in str(run)
    shown = [str(run), run.report(), run._repr_html_(), *map(event_text, run.events)]
    told = LiveProgress()
    for event in run.events:
        told.take(event)
    drawn = draw_usage(run)
    shown += [told.html(), drawn.caption, drawn.description]
    assert f"The usage of {N} exchanges {UNREAD}" in f"{drawn.caption} {drawn.description}"
    assert f"{N} times" in told.html()
    assert "unknown" in told.html()
    assert not NOTHING.search("\n".join(shown))
    [first] = [event for event in run.events if getattr(event, "call_id", "") == "r1/bob/p1/t1"][1:2]
    assert "unknown usage" in event_text(first)
    sums = cost(run).set_index("measure")["value"]
    assert (sums["unpriced-calls"], sums["input-tokens"]) == (N, 0)
    assert sums[["dollars"]].isna().all()
    assert run.frames.runs["cost"].isna().all()
    assert usage(run)["cost"].isna().all()
    assert run.frames.turns["input_tokens"].isna().all()


def test_what_is_known_is_booked_and_the_rest_said():
    reported = [{"input_tokens": 99, "output_tokens": 1}] * 3

    class Mixed(Reporting):
        def __call__(self, asked):
            self._reported = reported.pop() if reported else {"input_tokens": "?", "output_tokens": 1}
            return super().__call__(asked)

    with ScriptedServer(Mixed(None)) as server:
        found, roster, own = given(server, log_dir=None)
        run = crossverify(found[:5], roster, **own)
    assert "cost: $0.0003 booked, in US dollars, for 297 in + 3 out tokens, and unknown usage (2 times)" in str(run)
    assert f"unknown beside it, the usage of 2 requests {UNREAD}" in str(run)
    assert cost(run).set_index("measure")["value"]["unpriced-calls"] == 2


def test_the_log_says_it_and_a_log_of_known_usage_has_no_word_of_it(tmp_path):
    run, _ = crossed(None, tmp_path, max_tokens=50_000)
    assert '"uncounted":1' in run.log_path.read_text()
    assert replay_run(run.log_path).same
    assert read_run(run.log_path).state.outcome.exit_reason == run.state.outcome.exit_reason
    assert "unknown usage" in RunLog(run.log_path).transcript("r1/bob/p1")
    known, _ = crossed({"input_tokens": 5, "output_tokens": 3}, tmp_path / "known")
    assert "uncounted" not in known.log_path.read_text()


def test_a_plan_run_ends_by_its_budget_and_its_report_says_why():
    with ScriptedServer(Reporting({"input_tokens": 10**18, "output_tokens": 1})) as server:
        backend = speaking_to(server, prices=PRICES)
        run = run_of({}, backend=backend, team="base", panel=None, max_cost=1)
    assert (run.verdict, run.status, run.outcome.ended_by) == (None, "FORCED_EXIT", "budget")
    assert f"max_cost cannot be kept: the usage of i1/challenger/t1 {UNREAD}" in run.outcome.exit_reason
    assert len(server.requests) == 1
    assert f"cost unknown: the usage of 1 request {UNREAD}" in run.report()
    assert "Next: No higher limit helps" in str(run)
    assert "--max-cost" not in str(run)
    assert not NOTHING.search(f"{run}\n{run.report()}")
