"""Debates of models over HTTP: the same course as of scripted roles, and what each role is sent (rules C2-C4, G3)."""

from __future__ import annotations

import json

import pytest

from tests.live.live_debates import (
    CONVERGED,
    ENDLESS,
    NOT,
    STAGNANT,
    TASK,
    debated,
    diff,
    expected_of,
    given,
    repository,
    spoken,
)
from tests.live.live_runs import Played, derived, facts, speaking_to, times, turn_of, turns
from tests.live.scripted_replies import calls, says
from tests.live.scripted_server import ScriptedServer
from tests.live.test_live_tools import results_of
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.protocol.message import check_message
from verifyplan.runs.debate.debate import debate
from verifyplan.runs.replay import replay_run

ENDS = {
    "verified": (CONVERGED, ("CONVERGED", "VERIFIED", 2)),
    "at once": (spoken((diff("it"), "Verified: all is met.")), ("CONVERGED", "VERIFIED", 1)),
    "no improvement": (STAGNANT, ("FAILED", "NO_IMPROVEMENT", 2)),
    "max turns": (ENDLESS, ("FAILED", "MAX_TURNS", 3)),
}
each_end = pytest.mark.parametrize(("answers", "end"), ENDS.values(), ids=ENDS)


@each_end
def test_a_debate_of_models_takes_the_course_of_a_scripted_one(answers, end):
    expected = expected_of(answers)
    run, server = debated(answers)
    assert derived(run) == derived(expected)
    assert (run.status, run.reason, run.turns) == (expected.status, expected.reason, expected.turns) == end
    assert run.diff == expected.diff == answers[f"t{run.turns}/implement"]["diff"]
    asked = [event.call_id for event in facts(run, "call-requested")]
    assert turns(server) == [f"{call}/t1" for call in asked]  # each once, one after the other
    assert server.refused == []
    assert replay_run(run).same


def test_an_unchanged_diff_is_not_verified_again():
    run, server = debated(STAGNANT)
    assert turns(server)[-1] == "t2/implement/t1"
    assert run.log[-1].content == "Failed: NO_IMPROVEMENT"
    assert run.log[-1].budgetTrace is None  # nobody was asked for it


def test_a_word_that_begins_otherwise_is_no_verification():
    words = ["verified", "**Verified**", " Verified", "Not verified"]
    run, _ = debated(spoken(*((diff(word), word) for word in words)), max_turns=4)
    assert (run.status, run.reason) == ("FAILED", "MAX_TURNS")


def test_every_message_is_valid_and_carries_what_its_call_cost():
    run, _ = debated(CONVERGED, {"t1/implement/t1": says("Let me think."), "t2/verify/t1": calls("Grep", pattern="x")})
    usage = {event.call_id: event.usage for event in facts(run, "call-replied")}
    assert len(run.log) == len(usage) == 6
    for message in run.log:
        check_message(message.as_json())
        used = usage[f"t{message.turn}/{message.type}"]
        assert (message.budgetTrace.inputTokens, message.budgetTrace.outputTokens) == (
            used.input_tokens + used.cache_read_tokens + used.cache_write_tokens,
            used.output_tokens,
        )
        assert message.budgetTrace.outputTokens > 0
    table = run.frames.messages
    assert list(table["input_tokens"]) == [message.budgetTrace.inputTokens for message in run.log]
    assert list(table["output_tokens"]) == [message.budgetTrace.outputTokens for message in run.log]


def test_a_message_counts_all_turns_of_its_call():
    repaired, _ = debated(CONVERGED, {"t1/propose/t1": says("no").using(output_tokens=1000)})
    assert repaired.log[0].budgetTrace.outputTokens > 1000


# What is sent


def test_each_role_may_be_played_by_another_model_or_by_another_backend():
    models = {"architect": "claude-opus-5-5", "builder": {"model": "claude-sonnet-5-5", "max_tokens": 900}}
    _, server = debated(CONVERGED, backend={"models": models})
    with ScriptedServer(Played(CONVERGED)) as other:
        one, two = speaking_to(other, models["architect"]), speaking_to(other, "claude-sonnet-5-5", max_tokens=900)
        run = debate(TASK, one, two, **given({}))
    assert run.reason == "VERIFIED"
    for served in (server, other):
        heard = {turn_of(asked).split("/")[1]: (asked.model, asked.body["max_tokens"]) for asked in served.requests}
        assert heard == {
            **dict.fromkeys(("propose", "critique", "verify"), ("claude-opus-5-5", 16_000)),
            "implement": ("claude-sonnet-5-5", 900),
        }


def test_one_role_may_be_played_without_a_model():
    from_script = {call: answer for call, answer in CONVERGED.items() if "implement" not in call}
    with ScriptedServer(
        Played({"t1/implement": CONVERGED["t1/implement"], "t2/implement": CONVERGED["t2/implement"]})
    ) as server:
        run = debate(TASK, ScriptedBackend(from_script), speaking_to(server), **given({}))
    assert (run.reason, turns(server)) == ("VERIFIED", ["t1/implement/t1", "t2/implement/t1"])
    assert [message.budgetTrace is not None for message in run.log] == [
        message.role == "builder" for message in run.log
    ]


def test_what_lasts_comes_first_and_is_read_from_the_cache():
    documents = {"plan.md": "# Plan\n\n" + "1. Hold the lock of the order's row, and say so.\n" * 300}
    run, server = debated(CONVERGED, documents=documents)
    first = {asked.body["messages"][0]["content"][0]["text"] for asked in server.requests}
    assert len(first) == 1
    assert "order's row" in first.pop()
    assert len({(asked.system, json.dumps(asked.body["tools"])) for asked in server.requests}) == 2  # one for each role
    read = {event.call_id: event.usage.cache_read_tokens for event in facts(run, "call-replied")}
    assert {call for call, tokens in read.items() if tokens > 3000} == read.keys() - {"t1/propose", "t1/implement"}


def test_each_call_sees_what_was_said_before_it_and_nothing_of_how_it_went():
    _, server = debated(CONVERGED, task="Name the lock.")
    prompts = {turn_of(asked): asked.prompt for asked in server.requests}
    assert all("Name the lock." in prompt for prompt in prompts.values())
    assert "Nothing has been said yet." in prompts["t1/propose/t1"]
    assert diff("a lock") not in prompts["t1/implement/t1"]
    assert diff("a lock") in prompts["t1/verify/t1"]
    for told in ("turn 1, architect, verify", NOT, "turn 2, architect, critique", "This is turn 2 of at most 3."):
        assert told in prompts["t2/implement/t1"]
    assert not [prompt for prompt in prompts.values() if "Tokens" in prompt or "budgetTrace" in prompt]


# Tools


def test_tools_are_read_and_grep_confined_counted_and_recorded(tmp_path):
    root = repository(tmp_path / "repository")
    (tmp_path / "secret.txt").write_text("canary")
    several = calls("Read", path="store.py") + calls("Read", path="../secret.txt") + calls("Read", path="plan.md")
    first = {"t1/implement/t1": several + calls("WebSearch", query="x", serves="U1") + calls("Bash", command="ls")}
    documents = {"plan.md": "# Plan\n"}
    run, server = debated(CONVERGED, first, repo=root, documents=documents, backend={"web": True})
    assert {tuple(asked.tools) for asked in server.requests} == {("Read", "Grep")}
    results = results_of(server, "t1/implement/t2")
    assert [failed for _, _, failed in results] == [False, True, False, True, True]
    assert "1: import locks" in results[0][1]
    assert "canary" not in json.dumps([asked.body for asked in server.requests])
    [reply] = [event for event in facts(run, "call-replied") if event.call_id == "t1/implement"]
    assert [(use.tool, bool(use.refused)) for use in reply.tools] == [
        ("Read", False),
        ("Read", True),
        ("WebSearch", True),
    ]
    assert run.reason == "VERIFIED"


def test_a_call_over_budget_is_refused_and_the_answer_is_asked_for(tmp_path):
    root = repository(tmp_path)
    reads = {f"t1/propose/t{n}": calls("Read", path="store.py", first=n) for n in range(1, 10)}
    run, server = debated(CONVERGED, reads, repo=root)
    assert times(server)["t1/propose/t10"] == 1
    [(_, refused, failed)] = results_of(server, "t1/propose/t10")
    assert (failed, refused.startswith("Read is used up: 8 of 8 calls")) == (True, True)
    assert run.reason == "VERIFIED"


def test_nothing_is_written_to_the_repository(tmp_path):
    root = repository(tmp_path / "repository")
    before = {path: path.read_bytes() for path in root.rglob("*")}
    debated(CONVERGED, repo=root)
    assert {path: path.read_bytes() for path in root.rglob("*")} == before
