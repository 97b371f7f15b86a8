"""Every HTTP request of a run is an event, and what a lost answer may have cost counts (rule A12)."""

from __future__ import annotations

import re
import time
from decimal import Decimal
from email.utils import formatdate

import pytest

from tests.live.live_faults import FIRST, challenged, crossed, failed, message, soon
from tests.live.live_runs import facts, times, turns
from tests.live.scripted_replies import hangs, raw, resets, says_json, status, truncates
from tests.live.test_live_budgets import DEAR
from tests.runs.crossing import AGREE
from verifyplan.agents.anthropic import transport

NOTHING = says_json({"challenges": [], "unknowns": []})


@pytest.fixture(autouse=True)
def _short_backoff(monkeypatch):
    monkeypatch.setattr(transport, "FIRST_BACKOFF_S", 0.01)


def attempts(run, turn=FIRST):
    return [event for event in facts(run, "attempt") if event.call_id == turn]


def test_every_request_of_a_turn_is_an_event_and_the_answered_follows_its_reply():
    faults = [soon(429, **{"request-id": "req-1"}), resets(), truncates(), raw("<html>"), NOTHING]
    run, server = challenged({FIRST: faults}, backend={"max_retries": 4, "prices": DEAR})
    made = attempts(run)
    assert times(server)[FIRST] == len(made) == 5
    assert [event.number for event in made] == [1, 2, 3, 4, 5]
    assert [event.status for event in made] == [429, 200, 200, 200, 200]
    assert [event.error for event in made] == ["overloaded", "ReadError", "no JSON", "no JSON", ""]
    assert [event.perhaps_billed for event in made] == [False, True, True, True, False]
    assert [event.asked_wait_s for event in made] == [0.005, None, None, None, None]
    assert (made[0].request_id, made[0].retry_in_s, made[-1].retry_in_s) == ("req-1", 0.005, None)
    assert made[1].waited_s >= 0.005
    assert {event.sent_bytes for event in made} == {made[0].sent_bytes}
    assert made[0].sent_bytes > 1000
    assert made[1].received_bytes == 40
    assert made[3].received_bytes == len("<html>")
    kinds = [event.type for event in run.events if getattr(event, "call_id", "") == FIRST]
    assert kinds == ["turn-sent", *["attempt"] * 4, "turn-replied", "attempt"]
    assert sum(1 for event in facts(run, "attempt")) == len(server.requests)


def test_a_request_that_never_reached_the_endpoint_is_not_billed():
    run, server = challenged({}, backend={"base_url": "http://127.0.0.1:9", "max_retries": 1})
    assert server.requests == []
    assert [(event.error, event.status, event.sent_bytes) for event in attempts(run)] == [("ConnectError", None, 0)] * 2
    assert not any(event.perhaps_billed for event in attempts(run))


def test_a_lost_answer_counts_by_the_estimate_of_its_turn_and_once_for_each_request():
    run, _ = challenged({FIRST: hangs()}, backend={"timeout": 0.2, "max_retries": 1, "max_tokens": 900, "prices": DEAR})
    assert failed(run).reason == "the endpoint gave no answer in time, sent 2 times"
    assert [(event.error, event.perhaps_billed) for event in attempts(run)] == [("ReadTimeout", True)] * 2
    [sent] = [event for event in facts(run, "turn-sent") if event.call_id == FIRST]
    frames = run.frames
    of_turn = frames.attempts[frames.attempts["turn_id"].eq(FIRST)]
    assert list(of_turn["attempt"]) == [1, 2]
    assert list(of_turn["cost_perhaps"]) == [float(sent.estimate.cost)] * 2
    [row] = frames.runs.to_dict("records")
    assert row["cost_perhaps"] == pytest.approx(2 * float(sent.estimate.cost))
    assert row["cost"] == pytest.approx(float(frames.calls["cost"].sum()))
    assert "Beside the replies, perhaps $0." in str(run)
    assert "were billed for lost answers (2 requests; table attempts)." in str(run)
    assert sent.estimate.output_tokens == 900
    assert sent.estimate.cost == Decimal(sent.estimate.input_tokens + 900) / 10**6
    assert sent.estimate.total_input * 3.5 == pytest.approx(attempts(run)[0].sent_bytes, rel=0.05)


def test_a_call_whose_time_is_over_leaves_its_request_as_an_event():
    run, _ = challenged({FIRST: hangs()}, timeout=0.4)
    [attempt] = attempts(run)
    assert (failed(run).status, attempt.error, attempt.perhaps_billed) == ("timeout", "CancelledError", True)


def test_what_is_perhaps_billed_ends_a_run_by_its_limit():
    slow = {"timeout": 0.2, "max_retries": 9, "max_tokens": 1000, "prices": DEAR}
    run, server = challenged({FIRST: hangs()}, backend=slow, max_cost="0.008")
    estimate = next(event for event in facts(run, "turn-sent")).estimate.cost
    sent = times(server)[FIRST]
    assert (sent - 1) * estimate < Decimal("0.008") <= sent * estimate
    assert failed(run).status == "budget"
    assert "of them perhaps, for lost answers" in failed(run).reason
    assert run.outcome.ended_by == "budget"


@pytest.mark.parametrize(
    "wait", ["3600", formatdate(time.time() + 86_400 * 365 * 400, usegmt=True)], ids=["hour", "date"]
)
def test_a_wait_that_is_longer_than_the_call_may_take_fails_it_at_once_and_holds_nobody_back(wait):
    asked = raw('{"error": {"type": "rate_limit_error", "message": "later"}}', 429, **{"retry-after": wait})
    began = time.monotonic()
    run, server = challenged({FIRST: asked}, backend={"max_retries": 3}, timeout=30)
    assert time.monotonic() - began < 30
    assert times(server)[FIRST] == 1
    assert len(turns(server)) > 3  # others were asked
    [attempt] = attempts(run)
    assert (attempt.status, attempt.error, attempt.retry_in_s) == (429, "rate_limit_error", None)
    assert attempt.asked_wait_s >= 3600
    reason = failed(run).reason
    assert failed(run).status == "error"
    assert reason.startswith("AgentError: the endpoint answered 429: rate_limit_error: later; it asks to wait ")
    assert re.search(r", and this call may wait \d+ s: `verifyplan resume RUN --retry-failed` asks again$", reason)
    assert "60 min" in reason or "days" in reason


@pytest.mark.parametrize("wait", ["inf", "nan", "-5", "soon", "0", "Tue, 99 Foo 2099 99:99:99 GMT"])
def test_nonsense_is_no_wait(wait):
    run, server = challenged(
        {FIRST: [status(529), raw("{}", 503, **{"retry-after": wait}), NOTHING]}, backend={"max_retries": 2}
    )
    assert times(server)[FIRST] == 3
    assert [event.asked_wait_s for event in attempts(run)] == [None] * 3
    assert max(event.waited_s for event in attempts(run)) < 2


def test_a_wait_is_said_at_once_and_holds_the_others_back():
    heard = []
    first = {"r1/bob/t1": [raw("{}", 429, **{"retry-after": "0.5"})]}
    votes = {1: {name: {"F-1": AGREE} for name in ("bob", "cy")}}
    began = time.monotonic()
    run, server = crossed(
        first, votes, ("ann", "bob", "cy"), backend={"max_retries": 1, "max_concurrency": 1},
        sink=lambda event: heard.append((event.type, time.monotonic() - began)),
    )  # fmt: skip
    assert turns(server) == ["r1/bob/t1", "r1/bob/t1", "r1/cy/t1"]
    [at] = [second for kind, second in heard if kind == "attempt"][:1]
    assert server.requests[1].at - began - at > 0.4
    assert attempts(run, "r1/bob/t1")[1].waited_s >= 0.5
    assert list(run.frames.calls["status"].astype(str)) == ["completed"] * 2


def test_a_long_wait_is_said_above_the_bar(capfd):
    asked = raw("{}", 429, **{"retry-after": "3600"})
    crossed({"r1/bob/t1": asked}, {1: {"cy": {"F-1": AGREE}}}, ("ann", "bob", "cy"), progress=True)
    said = " ".join(capfd.readouterr().err.split())
    assert "r1/bob: the endpoint asks to wait 60 min (429); the run can be stopped and resumed" in said


def test_a_message_of_another_kind_is_not_asked_again_and_perhaps_billed():
    run, server = challenged({FIRST: raw("[1]")}, backend={"max_retries": 2})
    [attempt] = attempts(run)
    assert (times(server)[FIRST], attempt.error, attempt.perhaps_billed) == (1, "no message", True)
    run, _ = challenged({FIRST: message({"type": "text", "text": "no"})}, backend={"max_retries": 2})
    assert not attempts(run)[0].perhaps_billed
