"""Messages that are no answer: cut off, refused, damaged, outside the schema, or endless calls of tools (rule A11)."""

from __future__ import annotations

import pytest

from tests.live.fault_list import BAD_ARGUMENTS, DAMAGED_BLOCKS, OUTSIDE, UNFINISHED, USAGES
from tests.live.live_faults import FIRST, SECOND, challenged, crossed, failed, message, skipped
from tests.live.live_runs import Played, facts, speaking_to, times, turn_of, turns
from tests.live.scripted_replies import calls, cut, says, says_json, status
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import finding
from tests.runs.plan.planning import challenge, run_of
from verifyplan.agents.base import ModelReply
from verifyplan.cli.exit_codes import exit_code_of
from verifyplan.protocol.call import Usage
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run

FINE = says_json({"challenges": [challenge("locks", "MINOR")], "unknowns": []})


def request(server, turn):
    [asked] = [asked for asked in server.requests if turn_of(asked) == turn]
    return asked


@pytest.mark.parametrize(("answer", "reason"), UNFINISHED.values(), ids=UNFINISHED)
def test_a_message_that_did_not_come_to_its_end_fails_the_call_and_is_paid_for(answer, reason, tmp_path):
    run, server = challenged({FIRST: answer.using(input_tokens=70, output_tokens=30)}, log_dir=tmp_path)
    assert (times(server)[FIRST], times(server)[SECOND]) == (1, 0)
    assert failed(run).status == "error"
    assert failed(run).reason.startswith(f"AgentError: {reason}")
    assert (failed(run).usage.input_tokens, failed(run).usage.output_tokens) == (70, 30)
    assert failed(run).usage.cost > 0
    skipped(run)
    kept = [event for event in read_run(run.log_path).events if event.type == "turn-replied"]
    assert kept[0].message["stop_reason"] == answer.stop_reason  # what came is on disk, whatever it was


WRONG = {
    **OUTSIDE,
    "another key": says_json({"challenges": [], "more": 1}),
    "a challenge without its parts": says_json({"challenges": [{"claim": 1}]}),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_an_answer_outside_the_schema_is_put_right_in_one_turn(wrong):
    run, server = challenged({FIRST: wrong.using(output_tokens=5), SECOND: FINE.using(output_tokens=7)})
    assert (times(server)[FIRST], times(server)[SECOND], server.refused) == (1, 1, [])
    asked = request(server, SECOND)
    assert asked.last.startswith("Your answer could not be used.")
    assert len(asked.body["messages"]) == 3
    [sent] = [event for event in facts(run, "turn-sent") if event.call_id == SECOND]
    assert [block["text"] for block in sent.added] == [asked.last]
    [reply] = [event for event in facts(run, "call-replied") if event.call_id == "i1/challenger"]
    assert reply.usage.output_tokens == 12
    assert list(run.state.admitted) == ["C1"]


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_an_answer_that_is_wrong_twice_is_a_failure(wrong):
    run, server = challenged({FIRST: wrong.using(output_tokens=5), SECOND: wrong.using(output_tokens=7)})
    assert [turn for turn in turns(server) if "challenger" in turn] == [FIRST, SECOND]
    assert failed(run).reason.startswith("AnswerError: ")
    assert failed(run).usage.output_tokens == 12
    skipped(run)


@pytest.mark.parametrize("second", [None, cut("{"), says("Sorry.")], ids=["the same", "cut off", "no JSON"])
def test_one_bad_entry_that_a_repair_does_not_mend_costs_no_other(second):
    """rule A11: asked once to put it right; then the entry is refused, and the four others count."""
    five = [challenge(word, "BLOCKING") for word in ("locks", "rows", "order", "retries")]
    first = says_json({"challenges": [*five[:2], challenge("clock", "CRITICAL"), *five[2:]], "unknowns": []})
    run, server = challenged({FIRST: first, SECOND: second or first})
    assert (times(server)[FIRST], times(server)[SECOND]) == (1, 1)
    assert [(one.field, one.position) for one in facts(run, "entry-refused")] == [("challenges", 3)]
    assert len(run.state.pool) == 4
    assert (run.verdict, run.state.failures) == ("RETHINK", [])


def test_a_repair_that_is_cut_off_is_a_failure():
    run, server = challenged({FIRST: WRONG["an answer that is a list"], SECOND: cut("{")})
    assert [turn for turn in turns(server) if "challenger" in turn] == [FIRST, SECOND]
    assert "cut off" in failed(run).reason


def test_a_model_that_only_thought_is_asked_again():
    thought = {"type": "thinking", "thinking": "Is that so?", "signature": "c2lnbmVk"}
    run, server = challenged({FIRST: message(thought), SECOND: FINE})
    assert [block["type"] for block in request(server, SECOND).body["messages"][1]["content"]] == ["thinking", "text"]
    assert list(run.state.admitted) == ["C1"]


# Tools


def test_an_unknown_tool_is_answered_by_the_names_of_those_there_are():
    run, server = challenged({FIRST: calls("Bash", command="ls") + calls("", x=1), SECOND: FINE})
    blocks = request(server, SECOND).body["messages"][-1]["content"]
    assert [(block["type"], block["is_error"]) for block in blocks] == [("tool_result", True)] * 2
    assert blocks[0]["content"] == "There is no tool 'Bash'. The tools here: Read, Grep."
    assert list(run.state.admitted) == ["C1"]


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS)
def test_arguments_outside_the_schema_are_told_and_recorded_as_refused(arguments):
    run, server = challenged({FIRST: calls("Read", **arguments), SECOND: FINE})
    [block] = request(server, SECOND).body["messages"][-1]["content"]
    assert block["is_error"]
    assert block["content"].startswith("Read was not run: ")
    [use] = next(event for event in facts(run, "turn-sent") if event.call_id == SECOND).tools
    assert (use.tool, use.refused) == ("Read", block["content"])
    assert list(run.state.admitted) == ["C1"]


MOST_TURNS = 4 + 8 + 5
"""Of a challenger: 8 calls of Read, 5 of Grep, and four turns beside them."""


@pytest.mark.parametrize(
    ("call", "recorded"),
    [
        (calls("Read", path="a.py"), 1),  # the same again is free, and no use of a tool
        (calls("Grep", pattern="x"), MOST_TURNS - 1),
        (calls("Read", path="/etc/passwd"), MOST_TURNS - 1),
        (calls("Nothing"), 0),
    ],
    ids=["free", "over budget", "refused", "unknown"],
)
def test_a_tool_loop_that_never_ends_is_ended(call, recorded, tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    endless = {f"i1/challenger/t{n}": [call.using(output_tokens=10)] for n in range(1, 99)}
    run, server = challenged(endless, root=tmp_path)
    asked = [one for one in server.requests if turn_of(one).startswith("i1/challenger")]
    assert len(asked) == MOST_TURNS
    assert [one.body.get("tool_choice") for one in asked] == [None] * (MOST_TURNS - 1) + [{"type": "none"}]
    told = failed(run)
    assert told.reason == f"AgentError: the model called tools to its last turn, {MOST_TURNS}, and gave no answer"
    assert told.usage.output_tokens == 10 * MOST_TURNS
    assert len(told.tools) == recorded
    assert server.refused == []
    skipped(run)


def test_the_last_turn_of_a_loop_may_still_answer(tmp_path):
    first = {f"i1/challenger/t{n}": calls("Read", path=f"x{n}.py") for n in range(1, MOST_TURNS)}
    run, server = challenged(first, {"i1/challenger": {"challenges": [challenge()]}}, root=tmp_path)
    assert times(server)[f"i1/challenger/t{MOST_TURNS}"] == 1
    assert list(run.state.admitted) == ["C1"]


def test_many_calls_in_one_message_are_answered_each_and_bounded(tmp_path):
    many = sum([calls("Read", path=f"x{n}.py") for n in range(200)], calls("Grep", pattern="PLAN"))
    run, server = challenged({FIRST: many, SECOND: FINE}, root=tmp_path)
    results = request(server, SECOND).body["messages"][-1]["content"]
    assert len(results) == 201
    assert "no more tools in this call" in results[-1]["content"]
    assert list(run.state.admitted) == ["C1"]


@pytest.mark.parametrize("answers", [True, False])
def test_a_worker_has_no_tools_and_one_turn_to_put_that_right(answers):
    ballot = says_json({"votes": [{"finding_id": "F-1", "verdict": "AGREE", "explanation": "so"}]})
    second = ballot if answers else calls("Read", path="b.py")
    run, server = crossed({"r1/bob/t1": calls("Read", path="a.py"), "r1/bob/t2": second})
    assert (turns(server), server.refused) == (["r1/bob/t1", "r1/bob/t2"], [])
    assert [event.status for event in facts(run, "dispatch-closed") if event.worker == "bob"] == [
        "completed" if answers else "error"
    ]


# A refutation without its basis (rule B4)

ADVERSARIAL = {"settings": {"maxRounds": 1, "adversarial": True}}
REFUTED = {"finding_id": "F-1", "verdict": "REFUTED", "explanation": "no"}


def voting(*votes):
    return says_json({"votes": list(votes)})


@pytest.mark.parametrize(
    ("second", "basis", "filled"),
    [
        (voting(REFUTED | {"disagree_basis": "Counter Evidence"}), "counter-evidence", False),
        (voting(REFUTED), "burden-not-met", True),
        (voting({"finding_id": "F-1", "verdict": "SURVIVES", "explanation": "well"}), "burden-not-met", True),
        (says("Sorry?"), "burden-not-met", True),
        (cut("{"), "burden-not-met", True),
    ],
    ids=["given", "not given", "taken back", "no answer", "cut off"],
)
def test_a_worker_that_refutes_without_a_basis_is_asked_for_it_once_and_its_refutation_counts(second, basis, filled):
    run, server = crossed({"r1/bob/t1": voting(REFUTED), "r1/bob/t2": second}, **ADVERSARIAL)
    assert turns(server) == ["r1/bob/t1", "r1/bob/t2"]
    assert "votes[0]: refutes without a basis" in request(server, "r1/bob/t2").last
    [vote] = facts(run, "vote-cast")
    assert (vote.verdict, vote.disagree_basis, vote.basis_filled) == ("disagree", basis, filled)
    assert run.artifact.findings[0].classification == "worker-unique"
    assert replay_run(run).same


def test_an_endpoint_that_refuses_every_call_is_told_first_with_what_to_do():
    run, _ = crossed({"r1/bob/t1": status(500, message="the endpoint is down")})
    first, second, *_ = str(run).split("\n")
    assert first.startswith("no vote: every call failed (1 of 1), bob first: ")
    assert "the endpoint is down" in first
    assert "`verifyplan doctor` looks at key and endpoint" in second
    assert exit_code_of(run) == 3


def test_votes_that_a_repair_did_not_mend_cost_no_other():
    found = [finding("F-1"), finding("F-2")]
    votes = voting(REFUTED | {"disagree_basis": "counter-evidence"}, {"finding_id": "F-2", "verdict": "refutted"})
    with ScriptedServer(Played({}, {"r1/bob/t1": votes, "r1/bob/t2": votes})) as server:
        run = crossverify(
            found, ["ann", "bob"], backend=speaking_to(server), matcher=None, settings=ADVERSARIAL["settings"],
            log_dir=None, progress=False,
        )  # fmt: skip
    cast = {vote.finding_id: vote.verdict for vote in facts(run, "vote-cast")}
    assert cast == {"F-1": "disagree", "F-2": "verification-error"}


# Damaged messages


@pytest.mark.parametrize(("answer", "reason"), DAMAGED_BLOCKS.values(), ids=DAMAGED_BLOCKS)
def test_a_message_whose_parts_are_none_fails_the_call_and_is_paid_for(answer, reason):
    run, server = challenged({FIRST: [answer] * 3}, backend={"max_retries": 2})
    assert times(server)[FIRST] == 1
    assert failed(run).reason == f"AgentError: {reason}"
    assert failed(run).usage.total == 5
    skipped(run)


@pytest.mark.parametrize("usage", USAGES, ids=range(5))
def test_a_usage_that_is_none_is_unknown_and_breaks_no_table(usage, tmp_path):
    text = {"type": "text", "text": '{"challenges": [], "unknowns": []}'}
    run, _ = challenged({FIRST: message(text, usage=usage)}, log_dir=tmp_path)
    told = {event.call_id: event.usage for event in facts(run, "call-replied")}
    assert told["i1/challenger"] == Usage(uncounted=1)
    assert run.frames.calls.set_index("call_id").loc["i1/challenger", ["input_tokens", "cost"]].isna().all()
    assert replay_run(run.log_path).same


class Bringing:
    """Answers one turn by a message that holds a value, and all others as researchers do who found nothing."""

    url = "http://127.0.0.1:1"

    def __init__(self, value):
        self.value = value

    async def __call__(self, address, turn, body):  # noqa: ARG002  (what any poster is given)
        told = {"content": [{"type": "text", "text": '{"contexts": []}'}], "stop_reason": "end_turn"}
        return ModelReply(told | ({"x": self.value} if turn == FIRST else {}), Usage())


@pytest.mark.parametrize("value", ["\ud800", float("nan"), {"deep": "\udfff"}], ids=range(3))
def test_a_backend_that_brings_what_no_log_can_hold_fails_a_call_and_ends_no_run(value, tmp_path):
    bringing = Bringing(value)
    run = run_of({}, backend=speaking_to(bringing).through(bringing), log_dir=tmp_path, panel=None, team="base")
    assert failed(run).reason.startswith(("PydanticSerializationError: ", "ValueError: "))
    assert run.outcome.ended_by == "failures"  # nobody else had an answer either
    assert read_run(run.log_path).events == run.events
