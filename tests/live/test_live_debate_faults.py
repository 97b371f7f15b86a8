"""Debates in which a model gives no answer, or may give none: they end at once, nothing is asked again (rule C2)."""

from __future__ import annotations

import json

import pytest

from tests.live.live_debates import CONVERGED, debated, expected_of, given
from tests.live.live_runs import MODEL, Played, derived, facts, speaking_to, times, turns
from tests.live.scripted_replies import calls, cut, hangs, refuses, says, says_json, status
from tests.live.scripted_server import ScriptedServer
from verifyplan.errors import InputError
from verifyplan.runs.debate.debate import debate
from verifyplan.runs.replay import replay_run

ORDER = [f"{call}/t1" for call in CONVERGED]
ARCHITECT, BUILDER = CONVERGED["t1/propose"], CONVERGED["t1/implement"]

WRONG = {
    "no JSON": ("t1/propose", says("Let me think about this.")),
    "nothing": ("t1/verify", says("")),
    "no content": ("t2/critique", says_json({"reasons": ["because"], "evidence": [], "risks": []})),
    "a blank content": ("t1/verify", says_json(ARCHITECT | {"content": ""})),
    "a field of its own": ("t1/verify", says_json(ARCHITECT | {"verdict": "Verified"})),
    "reasons in one text": ("t1/propose", says_json(ARCHITECT | {"reasons": "because"})),
    "a role and a turn": ("t1/propose", says_json(ARCHITECT | {"role": "judge", "turn": 0})),
    "no diff": ("t1/implement", says_json(ARCHITECT)),
    "a diff that is none": ("t2/implement", says_json(BUILDER | {"diff": None})),
    "half of it": ("t2/implement", says('{"reasons": [], "diff": "--- a')),
}
each_wrong = pytest.mark.parametrize(("call", "wrong"), WRONG.values(), ids=WRONG)


def up_to(call):
    return ORDER[: ORDER.index(f"{call}/t1") + 1]


def failed_at(run, call, reason):
    """The debate ended with this call, without a status, and what was said before is kept."""
    done = up_to(call)
    assert (run.status, run.reason, run.turns) == (None, "AGENT_FAILED", int(call[1]))
    assert reason in run.outcome.exit_reason
    assert call in run.outcome.exit_reason
    assert [f"t{one.turn}/{one.type}/t1" for one in run.log] == done[:-1]
    [failure] = facts(run, "call-failed")
    assert failure.call_id == call
    assert replay_run(run).same
    return failure


@each_wrong
def test_an_answer_outside_its_schema_is_put_right_in_one_turn(call, wrong):
    run, server = debated(CONVERGED, {f"{call}/t1": wrong})
    assert derived(run) == derived(expected_of(CONVERGED))
    assert times(server) == dict.fromkeys([*ORDER, f"{call}/t2"], 1)
    [asked] = [one for one in server.requests if one.turn == 1]
    assert asked.last.startswith("Your answer could not be used.")
    assert server.refused == []


@each_wrong
def test_one_that_is_wrong_twice_ends_the_debate(call, wrong):
    run, server = debated(CONVERGED, {f"{call}/t1": wrong, f"{call}/t2": wrong})
    failed_at(run, call, "AnswerError")
    assert turns(server) == [*up_to(call), f"{call}/t2"]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("no diff", {"keyword": "required", "instancePath": "", "params": {"missingProperty": "diff"}}),
        ("a blank content", {"keyword": "minLength", "instancePath": "/content", "params": {"limit": 1}}),
        ("reasons in one text", {"keyword": "type", "instancePath": "/reasons", "params": {"type": "array"}}),
    ],
)
def test_what_breaks_the_schema_reaches_the_user_as_programs_read_it(name, error):
    call, wrong = WRONG[name]
    run, _ = debated(CONVERGED, {f"{call}/t1": wrong, f"{call}/t2": wrong})
    told = "MESSAGE_SCHEMA_VALIDATION_FAILED::" + json.dumps({"errors": [error]}, separators=(",", ":"))
    assert told in failed_at(run, call, "AnswerError").reason
    assert told in str(run)
    assert "cost: $" in str(run)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (refuses(), "the model refused to answer"),
        (cut('{"reasons": ['), "the answer was cut off at 16,000 tokens"),
        (says("wait").stopping("pause_turn"), "the model paused its turn"),
        (status(400, message="scripted"), "400"),
        (status(529, message="scripted"), "529"),
    ],
    ids=["refusal", "max_tokens", "pause_turn", "400", "529"],
)
@pytest.mark.parametrize("call", ["t1/implement", "t2/verify"])
def test_a_call_that_gives_no_answer_ends_the_debate_and_is_not_made_again(call, answer, reason):
    run, server = debated(CONVERGED, {f"{call}/t1": answer})
    failed_at(run, call, reason)
    assert turns(server) == up_to(call)


def test_a_silence_ends_the_debate():
    run, server = debated(CONVERGED, {"t1/verify/t1": hangs()}, timeout=3)
    assert failed_at(run, "t1/verify", "timeout").status == "timeout"
    assert times(server)["t1/verify/t1"] == 1


def test_what_failed_and_what_was_said_before_is_in_the_tables():
    run, _ = debated(CONVERGED, {"t2/critique/t1": refuses()})
    [row] = run.frames.runs.to_dict("records")
    assert (row["debate_reason"], row["debate_turns"]) == ("AGENT_FAILED", 2)
    assert list(run.frames.messages["type"].astype(str)) == ["propose", "implement", "verify"]
    made = run.frames.calls.set_index("call_id").astype({"status": str, "role": str})
    assert (made["status"]["t2/critique"], made["role"]["t2/critique"]) == ("error", "architect")
    assert made["role"]["t1/implement"] == "builder"
    assert "refused" in str(run)


# Budgets

DEAR = {MODEL: {"input": 1, "output": 1, "cache_write": 0, "cache_read": 0, "web_search": 1000}}
LIMITS = {"tokens": {"max_tokens": 3000}, "dollars": {"max_cost": "0.003"}}
limits = pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)


def costing(answers, first=None, **settings):
    """The debate of which each exchange costs 1,000 tokens, or 0.001 dollars."""
    played = Played(answers, first)

    def reply(asked):
        used = {"input_tokens": 999, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        return played(asked).using(**used)

    with ScriptedServer(reply) as server:
        speaker = speaking_to(server, prices=DEAR)
        run = debate("Name the lock.", speaker, speaker, **given(settings))
    return run, server


def ended_by_budget(run, limit, call):
    assert (run.status, run.reason) == (None, "BUDGET")
    assert run.outcome.exit_reason.startswith(next(iter(limit))) or next(iter(limit)) in run.outcome.exit_reason
    assert call in run.outcome.exit_reason
    assert replay_run(run).same


@limits
def test_no_call_is_made_once_the_budget_is_used(limit):
    run, server = costing(CONVERGED, **limit)
    assert turns(server) == ORDER[:3]
    ended_by_budget(run, limit, "t2/critique")
    assert (run.turns, len(run.log), run.diff) == (2, 3, CONVERGED["t1/implement"]["diff"])
    assert facts(run, "call-failed") == []


@limits
def test_no_turn_is_sent_once_the_budget_is_used(limit):
    reads = {f"t1/implement/t{n}": calls("Grep", pattern=f"x{n}") for n in (1, 2)}
    run, server = costing(CONVERGED, reads, **limit)
    assert turns(server) == ["t1/propose/t1", "t1/implement/t1", "t1/implement/t2"]
    ended_by_budget(run, limit, "t1/implement/t3")
    [failure] = facts(run, "call-failed")
    assert (failure.call_id, failure.status, failure.usage.total) == ("t1/implement", "budget", 2000)


def test_no_repair_is_asked_for_once_the_budget_is_used():
    run, server = costing(CONVERGED, {"t1/verify/t1": says("Verified")}, max_tokens=3000)
    assert turns(server) == ORDER[:3]
    ended_by_budget(run, {"max_tokens": 1}, "t1/verify/t2")


def test_a_debate_that_used_less_is_not_ended():
    run, server = costing(CONVERGED, max_tokens=6001, max_cost="0.0061")
    assert (run.reason, len(server.requests)) == ("VERIFIED", 6)


def test_a_debate_that_ends_with_its_last_token_has_ended_by_its_rules():
    run, _ = costing(CONVERGED, max_tokens=6000)
    assert (run.status, run.reason) == ("CONVERGED", "VERIFIED")


def test_a_cost_cannot_be_kept_without_a_price():
    with ScriptedServer([], models=()) as server:
        one, other = speaking_to(server, "a-model-of-mine"), speaking_to(server)
        with pytest.raises(InputError, match="no price is known for a-model-of-mine"):
            debate("Name the lock.", other, one, **given({"max_cost": 1}))
    assert server.requests == []
