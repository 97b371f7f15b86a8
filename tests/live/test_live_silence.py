"""Endpoints that say nothing, or ask for a pause: how long calls wait, and who waits (rules A11, G3)."""

from __future__ import annotations

from email.utils import formatdate
from time import time

import pytest

from tests.live.live_faults import FIRST, challenged, failed, skipped, soon
from tests.live.live_runs import Played, facts, speaking_to, times, turn_of
from tests.live.scripted_replies import hangs, raw, says_json, status
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, finding
from tests.runs.plan.planning import REPO
from verifyplan.protocol.call import Usage
from verifyplan.runs.cross.crossverify import crossverify


@pytest.mark.parametrize("retries", [0, 1])
def test_an_endpoint_that_says_nothing_is_given_up_after_the_time_of_a_request(retries):
    run, server = challenged({FIRST: [hangs()] * 3}, backend={"timeout": 1.5, "max_retries": retries})
    assert times(server)[FIRST] == retries + 1
    told = failed(run)
    tries = ", sent 2 times" if retries else ""
    assert (told.status, told.reason) == ("timeout", f"the endpoint gave no answer in time{tries}")
    assert told.duration_ms >= 1500 * (retries + 1)
    assert told.usage == Usage()
    skipped(run)


def test_a_call_is_given_up_after_its_own_time_retries_included():
    run, server = challenged({FIRST: [soon(500), hangs()]}, backend={"max_retries": 9}, timeout=1.0)
    assert times(server)[FIRST] == 2
    assert (failed(run).status, failed(run).reason) == ("timeout", "no answer within 1.0 s")
    skipped(run)


def test_who_is_asked_to_wait_longer_than_a_call_may_take_gives_up():
    run, server = challenged({FIRST: status(529, retry_after=60.0)}, backend={"max_retries": 1}, timeout=0.7)
    assert times(server)[FIRST] == 1
    assert failed(run).status == "error"  # at once, not when its time is over
    assert "it asks to wait 60 s" in failed(run).reason


def test_what_earlier_turns_cost_is_told_of_a_call_that_then_hangs():
    wrong = says_json([]).using(input_tokens=50, output_tokens=5)
    run, server = challenged({FIRST: wrong, "i1/challenger/t2": hangs()}, backend={"timeout": 1.5})
    assert (times(server)[FIRST], times(server)["i1/challenger/t2"]) == (1, 1)
    told = failed(run)
    assert (told.status, told.usage.input_tokens, told.usage.output_tokens) == ("timeout", 50, 5)


def asked_in_three_parts(answer, retries=1):
    """When each of three calls came of which two are under way at once; the first hears `answer` at its first try."""
    late = says_json({"votes": [{"finding_id": "F-2", "verdict": "AGREE", "explanation": ""}]}).after(0.15)
    played = Played(
        {1: {"bob": {f"F-{n}": AGREE for n in (1, 2, 3)}}}, {"r1/bob/p1/t1": [answer], "r1/bob/p2/t1": [late]}
    )
    with ScriptedServer(played) as server:
        run = crossverify(
            [finding(f"F-{n}") for n in (1, 2, 3)],
            ["ann", "bob"],
            backend=speaking_to(server, max_retries=retries, max_concurrency=2),
            matcher=None,
            log_dir=None,
            repo=REPO,
            items_per_call=1,
            settings={"maxRounds": 1},
        )
    at = {turn: [asked.at for asked in server.requests if turn_of(asked) == turn] for turn in times(server)}
    return run, [at[f"r1/bob/p{part}/t1"] for part in (1, 2, 3)]


@pytest.mark.parametrize(
    ("code", "header"), [(429, "retry-after"), (503, "retry-after"), (529, "retry-after"), (429, "retry-after-ms")]
)
def test_a_wish_to_wait_is_obeyed_by_all_calls(code, header):
    wait = 0.8
    told = {header: str(int(wait * 1000) if header.endswith("ms") else wait)}
    run, [[first, again], [second], [third]] = asked_in_three_parts(raw("{}", code, **told))
    assert again - first >= wait
    assert third - first >= wait > second - first
    assert facts(run, "call-failed") == []


def test_a_wish_to_wait_until_a_time_is_obeyed_by_all_calls():
    _, [[first, again], _, [third]] = asked_in_three_parts(raw("{}", 429, **{"retry-after": formatdate(time() + 2)}))
    assert again - first >= 0.9
    assert third - first >= 0.9


def test_a_wish_to_wait_holds_others_back_even_where_the_call_itself_is_not_tried_again():
    run, [[first], _, [third]] = asked_in_three_parts(status(429, retry_after=0.8), retries=0)
    assert third - first >= 0.8
    assert [event.call_id for event in facts(run, "call-failed")] == ["r1/bob/p1"]


@pytest.mark.parametrize("told", ["", "soon", "\xb2", "-5", "nan", "Mon, 32 Foo", "Thu, 01 Jan 1970 00:00:00 GMT"])
def test_a_wish_that_is_none_holds_nobody_back(told):
    run, [[first, again], _, [third]] = asked_in_three_parts(raw("{}", 429, **{"retry-after": told}))
    assert third - first < 2.0 > again - first
    assert facts(run, "call-failed") == []
