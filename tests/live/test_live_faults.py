"""What can go wrong on the way to an endpoint and back, told by the requests that it saw (rules A11, G3)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.live.live_faults import FIRST, SECOND, challenged, failed, skipped, soon
from tests.live.live_runs import Played, facts, speaking_to, times, turn_of
from tests.live.scripted_http import Reply
from tests.live.scripted_replies import empty, error_in_200, html, raw, resets, says_json, status, truncates
from tests.live.scripted_server import ScriptedServer
from tests.runs.plan.planning import PLAN, REPO, challenge, script
from verifyplan.errors import SettingsError
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.call import Usage
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.resume import resume

PASSING = {
    "408": soon(408),
    "409": soon(409),
    "429": soon(429),
    "500": soon(500),
    "503": soon(503),
    "529": soon(529),
    "reset in the body": resets(),
    "reset": resets(-1),
    "truncated": truncates(),
    "empty": empty(),
    "html": html(200),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_fault_is_asked_again_within_the_same_turn(fault):
    answers = {"i1/challenger": {"challenges": [challenge()]}}
    run, server = challenged({FIRST: [fault]}, answers, backend={"max_retries": 1})
    assert (times(server)[FIRST], times(server)[SECOND]) == (2, 0)
    assert (facts(run, "call-failed"), run.verdict, list(run.state.admitted)) == ([], "REVISE", ["C1"])
    first, second = (asked.body for asked in server.requests if turn_of(asked) == FIRST)
    assert first == second


LASTING = {
    "429": (soon(429), "the endpoint answered 429: overloaded: later"),
    "500": (soon(500), "the endpoint answered 500: overloaded: later"),
    "529": (soon(529), "the endpoint answered 529: overloaded: later"),
    "html 502": (
        raw("<html>no</html>", 502, "text/html", **{"retry-after-ms": "5"}),
        "the endpoint answered 502: no reason given",
    ),
    "reset in the body": (resets(), "the connection failed ("),
    "truncated": (truncates(), "the endpoint's reply is no JSON ("),
    "empty": (empty(), "the endpoint's reply is no JSON ("),
    "html": (html(200), "the endpoint's reply is no JSON ("),
}


@pytest.mark.parametrize(("fault", "reason"), LASTING.values(), ids=LASTING)
@pytest.mark.parametrize("retries", [0, 1])
def test_a_fault_that_stays_fails_the_call_after_the_retries(fault, reason, retries):
    run, server = challenged({FIRST: [fault] * 9}, backend={"max_retries": retries})
    assert times(server)[FIRST] == retries + 1
    assert failed(run).reason.startswith(f"AgentError: {reason}")
    assert (failed(run).status, failed(run).usage) == ("error", Usage())
    skipped(run)


def test_faults_of_several_kinds_share_the_retries():
    fine = says_json({"challenges": [], "unknowns": []})
    faults = [soon(500), truncates(), soon(500), empty(), soon(500), fine]
    run, server = challenged({FIRST: faults}, backend={"max_retries": 2})
    assert times(server)[FIRST] == 3
    assert failed(run).reason == "AgentError: the endpoint answered 500: overloaded: later"
    _, server = challenged({FIRST: faults}, backend={"max_retries": 5})
    assert times(server)[FIRST] == 6


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, "invalid_request_error"),
        (413, "request_too_large"),
    ],
)
def test_what_the_endpoint_refuses_is_not_asked_again(code, kind):
    run, server = challenged({FIRST: [status(code)] * 3}, backend={"max_retries": 2})
    assert times(server)[FIRST] == 1
    assert failed(run).reason == f"AgentError: the endpoint answered {code}: {kind}: scripted"
    skipped(run)


@pytest.mark.parametrize(
    ("code", "advice"), [(401, "check the key"), (402, "credit"), (403, "what the key may do"), (404, "model's name")]
)
def test_what_speaks_of_settings_ends_the_process_and_the_run_goes_on_later(tmp_path, code, advice):
    answers = script() | {"i1/panel/r1/panel-3": "error"}  # who would be waited for otherwise
    with ScriptedServer(Played(answers, {FIRST: [status(code)]})) as server:
        backend = speaking_to(server, max_retries=2)
        with pytest.raises(SettingsError, match=rf"answered {code}: .*{advice}"):
            verify(parse_plan(PLAN), REPO, backend=backend, log_dir=tmp_path, progress=False)
        assert times(server)[FIRST] == 1
        [log] = tmp_path.glob("*.jsonl")
        run = resume(log, backend=speaking_to(server), progress=False)
    assert "i1/challenger" not in [failure.call_id for failure in facts(run, "call-failed")]
    assert times(server)[FIRST] == 2
    assert run.verdict is not None


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (error_in_200(), "the endpoint answered with an error: api_error: scripted"),
        (raw('{"type": "error", "error": "overloaded"}'), "the endpoint's reply is no message"),
        (raw('{"content": "hello"}'), "the endpoint's reply is no message"),
        (raw("[1]"), "the endpoint's reply is no message"),
        (raw("null"), "the endpoint's reply is no message"),
    ],
    ids=["an error", "an error in words", "content that is text", "a list", "null"],
)
def test_json_that_is_no_message_fails_the_call(fault, reason):
    run, server = challenged({FIRST: [fault] * 3}, backend={"max_retries": 2})
    assert times(server)[FIRST] == 1
    assert failed(run).reason == f"AgentError: {reason}"
    skipped(run)


@pytest.mark.parametrize(
    "value",
    ['"\\ud800"', "NaN", f"{'[' * 900}{']' * 900}", f"{'[' * 100_000}{']' * 100_000}", "9" * 5000, '"\xff"'],
    ids=["half a character", "not a number", "nested", "nested without end", "endless number", "another encoding"],
)
def test_what_no_log_can_hold_is_no_reply(value, tmp_path):
    body = f'{{"content": [{{"type": "text", "text": "x"}}], "stop_reason": "end_turn", "x": {value}}}'
    answer = replace(raw(""), reply=Reply(body.encode("latin-1")))
    run, server = challenged({FIRST: answer}, log_dir=tmp_path)
    assert times(server)[FIRST] == 1
    assert failed(run).reason.startswith("AgentError: the endpoint's reply is no JSON (")
    skipped(run)
