"""What can go wrong on the way to an endpoint and back, told by the requests that it saw (rules A11, G3)."""

from __future__ import annotations

import json

import pytest

from tests.live.fault_list import REFUSED, RETRIED, SETTINGS, UNWRITABLE
from tests.live.live_faults import FIRST, SECOND, challenged, failed, skipped, soon
from tests.live.live_runs import Played, facts, speaking_to, times, turn_of
from tests.live.scripted_replies import empty, raw, says_json, status, truncates
from tests.live.scripted_server import ScriptedServer
from tests.runs.plan.planning import PLAN, REPO, challenge, script
from verifyplan.errors import SettingsError
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.call import Usage
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.resume import resume


@pytest.mark.parametrize("fault", RETRIED.values(), ids=RETRIED)
def test_a_fault_is_asked_again_within_the_same_turn(fault):
    answers = {"i1/challenger": {"challenges": [challenge()]}}
    run, server = challenged({FIRST: [fault.answer]}, answers, backend={"max_retries": 1})
    assert (times(server)[FIRST], times(server)[SECOND]) == (2, 0)
    assert (facts(run, "call-failed"), run.verdict, list(run.state.admitted)) == ([], "REVISE", ["C1"])
    first, second = (asked.body for asked in server.requests if turn_of(asked) == FIRST)
    assert first == second


@pytest.mark.parametrize(("fault", "reason"), RETRIED.values(), ids=RETRIED)
def test_a_fault_that_stays_fails_the_call_after_the_retries(fault, reason):
    run, server = challenged({FIRST: [fault] * 9}, backend={"max_retries": 1})
    assert times(server)[FIRST] == 2
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


@pytest.mark.parametrize(("fault", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_the_endpoint_refuses_is_not_asked_again(fault, reason):
    run, server = challenged({FIRST: [fault] * 3}, backend={"max_retries": 2})
    assert times(server)[FIRST] == 1
    assert failed(run).reason.startswith(f"AgentError: {reason}")
    skipped(run)


@pytest.mark.parametrize(("code", "advice"), SETTINGS.items())
def test_what_speaks_of_settings_ends_the_process_and_the_run_goes_on_later(tmp_path, code, advice):
    answers = script() | {"i1/panel/r1/panel-3": "error"}  # who would be waited for otherwise
    with ScriptedServer(Played(answers, {FIRST: [status(int(code))]})) as server:
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
    ("kind", "requests"), [("api_error", 2), ("overloaded_error", 2), ("invalid_request_error", 1)]
)
def test_an_error_in_a_200_is_asked_again_if_the_endpoint_was_overloaded(kind, requests):
    body = json.dumps({"type": "error", "error": {"type": kind, "message": "scripted"}})
    run, server = challenged({FIRST: raw(body, **{"retry-after-ms": "5"})}, backend={"max_retries": 1})
    assert times(server)[FIRST] == requests
    assert failed(run).reason == f"AgentError: the endpoint answered with an error: {kind}: scripted"
    skipped(run)


@pytest.mark.parametrize(("answer", "reason"), UNWRITABLE.values(), ids=UNWRITABLE)
def test_what_no_log_can_hold_is_no_reply(answer, reason, tmp_path):
    run, server = challenged({FIRST: answer}, log_dir=tmp_path)
    assert times(server)[FIRST] == 1
    assert failed(run).reason.startswith(f"AgentError: {reason}")
    skipped(run)
