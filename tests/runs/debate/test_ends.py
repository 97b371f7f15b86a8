"""How debates go and end: three ends in their order, failures and budgets, messages byte for byte (rules C2-C4)."""

from __future__ import annotations

import json

import pytest

from tests.runs.debate_scripts import (
    CONVERGES,
    FIRST,
    NOT_YET,
    RUNS_OUT,
    STAGNATES,
    Heard,
    debate_of,
    diff,
    says,
    texts,
    turn,
)
from verifyplan.errors import MESSAGE_ERROR_PREFIX
from verifyplan.protocol.event_cross import MessagePublished
from verifyplan.protocol.event_run import CallReplied
from verifyplan.protocol.message import check_message
from verifyplan.runs.debate.debate import debate


def test_a_verified_diff_converges():
    run = debate_of(CONVERGES)
    assert (run.status, run.reason, run.turns, run.diff) == ("CONVERGED", "VERIFIED", 2, diff("hello"))
    assert texts(run) == [
        "1 propose: Write a greeting.",
        "1 implement: wrote hullo",
        f"1 verify: {NOT_YET}",
        "2 critique: Spell it right.",
        "2 implement: wrote hello",
        "2 verify: Verified: it greets.",
    ]
    assert [one.role for one in run.log] == ["architect", "builder", "architect"] * 2


def test_the_same_diff_again_fails_before_it_is_verified():
    backend = Heard(STAGNATES)
    run = debate_of({}, backend=backend)
    assert (run.status, run.reason, run.turns, run.diff) == ("FAILED", "NO_IMPROVEMENT", 2, diff("hullo"))
    assert "t2/verify" not in backend.calls
    closing = run.log[-1]
    assert (closing.role, closing.type, closing.content, closing.turn) == (
        "architect",
        "verify",
        "Failed: NO_IMPROVEMENT",
        2,
    )
    assert closing.reasons
    assert closing.risks
    check_message(closing.as_json())


def test_the_same_diff_fails_in_the_last_turn_too_for_want_of_improvement():
    assert debate_of(STAGNATES, max_turns=2).reason == "NO_IMPROVEMENT"


def test_a_blank_diff_in_the_first_turn_is_verified_and_stagnates_in_the_second():
    first = turn(1, "Look.", "x", NOT_YET) | {"t1/implement": says("nothing to do", diff="")}
    second = {"t2/critique": says("Do something."), "t2/implement": says("no", diff="")}
    run = debate_of(first | second)
    assert (run.reason, run.turns) == ("NO_IMPROVEMENT", 2)
    assert debate_of(first | {"t1/verify": says("Verified: nothing was due.")}).status == "CONVERGED"


@pytest.mark.parametrize("words", ["verified", " Verified", "Not Verified", "Success"])
def test_only_what_begins_with_verified_converges(words):
    assert debate_of(FIRST | {"t1/verify": says(words)}, max_turns=1).status == "FAILED"


def test_turns_run_out():
    run = debate_of(RUNS_OUT)
    assert (run.status, run.reason, run.turns, len(run.log)) == ("FAILED", "MAX_TURNS", 3, 9)
    assert debate_of(RUNS_OUT, max_turns=1).turns == 1


def test_a_verification_in_the_last_turn_still_converges():
    assert debate_of(CONVERGES, max_turns=2).reason == "VERIFIED"


def test_each_role_is_told_all_that_was_said_and_the_diff_as_it_stands():
    backend = Heard(CONVERGES)
    debate_of({}, backend=backend, documents={"PLAN.md": "# Greet\n"})
    assert backend.calls == list(CONVERGES)
    seen = [(len(one.messages), one.diff, one.role, one.type) for one in backend.requests]
    assert seen[0] == (0, "", "architect", "propose")
    assert seen[2] == (2, diff("hullo"), "architect", "verify")
    assert seen[4] == (4, diff("hullo"), "builder", "implement")
    assert all(one.task == "greet" and one.documents == {"PLAN.md": "# Greet\n"} for one in backend.requests)
    assert all(one.max_turns == 3 and one.tools == {"Read": 8, "Grep": 5} for one in backend.requests)


def test_two_backends_are_asked_by_their_roles():
    architect, builder = Heard(CONVERGES), Heard(CONVERGES)
    run = debate("greet", architect, builder, log_dir=None)
    assert {call.split("/")[1] for call in architect.calls} == {"propose", "critique", "verify"}
    assert builder.calls == ["t1/implement", "t2/implement"]
    assert run.started.backend == {
        "name": "pair",
        "architect": {"name": "scripted"},
        "builder": {"name": "scripted"},
    }


def test_the_same_replies_give_the_same_messages_byte_for_byte(tmp_path):
    runs = [debate_of(CONVERGES, tokens=7, log_dir=tmp_path) for _ in range(2)]
    first, second = (json.dumps([one.as_json() for one in run.log]) for run in runs)
    assert first == second
    events = [[(e.type, str(e.model_dump(exclude={"duration_ms"}))) for e in run.events[1:]] for run in runs]
    assert events[0] == events[1]


def test_every_message_stands_in_the_log_behind_the_reply_that_it_is_made_of():
    events = debate_of(CONVERGES).events
    published = [n for n, event in enumerate(events) if isinstance(event, MessagePublished)]
    assert all(isinstance(events[n - 1], CallReplied) for n in published)
    assert [events[n].diff is not None for n in published] == [False, True, False] * 2


def test_every_message_fits_the_schema_and_carries_what_its_call_used_where_it_used_anything():
    run = debate_of(CONVERGES, tokens=10)
    for message in run.log:
        check_message(message.as_json())
    assert {str(one.as_json()["budgetTrace"]) for one in run.log} == {"{'inputTokens': 20, 'outputTokens': 5}"}
    assert all("budgetTrace" not in one.as_json() for one in debate_of(STAGNATES).log)
    assert "budgetTrace" not in debate_of(STAGNATES, tokens=10).log[-1].as_json()


def broken(*errors):
    """What the error of an answer says that breaks the schema, as programs read it."""
    told = [{"keyword": keyword, "instancePath": path, "params": params} for keyword, path, params in errors]
    return MESSAGE_ERROR_PREFIX + json.dumps({"errors": told}, separators=(",", ":"))


@pytest.mark.parametrize(
    ("call", "answer", "told"),
    [
        ("t1/propose", "error", "t1/propose: error: AgentError"),
        ("t1/implement", "timeout", "t1/implement: timeout: scripted timeout"),
        ("t1/implement", says("no diff"), broken(("required", "", {"missingProperty": "diff"}))),
        ("t1/verify", says(""), broken(("minLength", "/content", {"limit": 1}))),
        ("t1/propose", says("x", diff="y"), broken(("additionalProperties", "", {"additionalProperty": "diff"}))),
        ("t2/critique", {"raw": None}, broken(("type", "", {"type": "object"}))),
        (
            "t2/implement",
            {"raw": {"content": 3, "reasons": ["a", 4]}},
            broken(
                ("required", "", {"missingProperty": "diff"}),
                ("type", "/content", {"type": "string"}),
                ("type", "/reasons/1", {"type": "string"}),
            ),
        ),
    ],
)
def test_a_failed_call_or_an_answer_outside_its_schema_ends_the_debate_and_nobody_is_asked_again(call, answer, told):
    backend = Heard(CONVERGES | {call: answer})
    run = debate_of({}, backend=backend)
    assert (run.status, run.reason) == (None, "AGENT_FAILED")
    assert told in run.outcome.exit_reason
    assert told in str(run)
    assert backend.calls == list(CONVERGES)[: list(CONVERGES).index(call) + 1]
    assert run.turns == int(call[1])
    assert run.diff == (diff("hullo") if call.startswith("t2") else "" if call != "t1/verify" else diff("hullo"))


def test_a_budget_ends_the_debate_before_the_next_call():
    backend = Heard(CONVERGES, tokens=10)
    run = debate_of({}, backend=backend, max_tokens=40)
    assert (run.status, run.reason, len(run.log)) == (None, "BUDGET", 2)
    assert run.outcome.exit_reason == "max_tokens: 50 tokens of 40 were used before t1/verify was called"
    assert backend.calls == ["t1/propose", "t1/implement"]


def test_keys_in_a_task_or_an_answer_are_not_written(tmp_path):
    secret = "ghp_" + "a1B2" * 9
    run = debate_of(CONVERGES | {"t1/propose": says(f"use {secret}")}, task=f"use {secret}", log_dir=tmp_path)
    assert secret not in run.log_path.read_text()
    assert run.log[0].content == "use [redacted]"


def test_a_debate_tells_its_turns_in_words_and_shows_markup_as_text():
    run = debate_of(CONVERGES | {"t1/propose": says("<b>Write</b>\n\x1b[31m", risks=["<i>"])}, task="<greet>")
    lines = str(run).splitlines()
    assert lines[0] == "CONVERGED (VERIFIED) in turn 2 of at most 3: <greet>"
    assert lines[2] == r"  architect proposes: <b>Write</b> \x1b[31m"
    assert lines[7] == "  builder implements (diff of 4 lines): wrote hello"
    html = run._repr_html_()
    assert "<b>Write" not in html
    assert "&lt;b&gt;Write&lt;/b&gt;" in html
    assert "&lt;i&gt;" in html
    assert "+hello" in html


def test_a_debate_that_was_not_ended_says_so():
    run = debate_of(CONVERGES)
    half = type(run)(run.records[:9])
    assert (half.status, half.reason, half.turns, half.outcome) == (None, None, 1, None)
    assert str(half).startswith("broken off in turn 1; resume it")
    assert debate_of(CONVERGES | {"t1/propose": "error"})._repr_html_().startswith("<p><b>no outcome (AGENT_FAILED)")
