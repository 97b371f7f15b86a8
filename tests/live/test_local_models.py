"""Small and local models: prose for JSON, made-up ids, doubles, answers cut off, and contexts that are too short.

The server imitates such endpoints by answers that they are known to give; no real one is asked.
"""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest

from tests.live.live_runs import MODEL, Played, facts, listed, speaking_to, turn_of, turns
from tests.live.scripted_replies import cut, raw, says, status
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, COUNTER, SUPPLEMENT, finding
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.errors import SettingsError
from verifyplan.runs.call_use import VOTE_TOKENS, prompt_tokens
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.replay import replay_run

FOUND = [finding(f"F-{n}") for n in (1, 2, 3)]
VOTES = {"F-1": AGREE, "F-2": COUNTER, "F-3": SUPPLEMENT}
FIRST, SECOND = "r1/bob/t1", "r1/bob/t2"
ONE_BY_ONE: dict[str, Any] = {"items_per_call": 1, "backend": {"max_concurrency": 1}}
"""One call a finding, one after the other: what is learned from the first call shows in the second."""
WHOLE = json.dumps({"votes": listed(VOTES, "adversarial")}, indent=1)


def crossed(first, *, backend=None, **settings):
    """A run of one round about three findings of ann, on which bob votes; its server."""
    given = {"matcher": None, "log_dir": None, "progress": False, "settings": {"maxRounds": 1, "adversarial": True}}
    with ScriptedServer(Played({1: {"bob": VOTES}}, first)) as server:
        run = crossverify(FOUND, ["ann", "bob"], backend=speaking_to(server, **(backend or {})), **given | settings)
    return run, server


def cast(run):
    return {vote.finding_id: vote.verdict for vote in facts(run, "vote-cast")}


def asked_for(server, turn):
    [asked] = [asked for asked in server.requests if turn_of(asked) == turn]
    return asked


ALL = {"F-1": "agree", "F-2": "disagree", "F-3": "supplement"}
RENAMED = WHOLE.replace("F-", "finding ")


@pytest.mark.parametrize(
    "text",
    [
        f"Here are my votes.\n\n```json\n{WHOLE}\n```\nLet me know if I can help!",
        f"<think>{WHOLE.replace('SURVIVES-WITH-CAVEAT', 'REFUTED')}</think>\n{WHOLE}",
        WHOLE.replace("}\n ]", "},\n ],"),
    ],
    ids=["fenced", "thought aloud", "last commas"],
)
def test_an_answer_in_prose_is_read_without_a_repair(text):
    run, server = crossed({FIRST: says(text)})
    assert (turns(server), cast(run)) == ([FIRST], ALL)
    assert replay_run(run).same


def test_after_an_answer_without_json_its_repair_shows_the_form_and_other_calls_are_as_ever():
    run, server = crossed({"r1/bob/p1/t1": says("They all hold, I think.")}, **ONE_BY_ONE)
    assert turns(server) == ["r1/bob/p1/t1", "r1/bob/p1/t2", "r1/bob/p2/t1", "r1/bob/p3/t1"]
    assert ["Begin with `{`" in asked.last for asked in server.requests] == [False, True, False, False]
    assert '"verdict": "SURVIVES" | "SURVIVES-WITH-CAVEAT" | "REFUTED"' in server.requests[1].last
    assert all("output_config" in asked.body for asked in server.requests)
    assert list(run.frames.turns["answer_form"]) == ["schema", "both", "schema", "schema"]
    assert (cast(run), server.refused) == (ALL, [])


@pytest.mark.parametrize(
    "refusal",
    [
        status(400, message="output_config: Extra inputs are not permitted"),
        status(400, message="Failed to parse grammar"),
        status(500, message="json_schema is not supported by this model"),
        status(422, message="response_format of type json_schema is unavailable now"),
    ],
)
def test_an_endpoint_that_refuses_schemas_is_asked_without_and_no_call_is_lost(refusal, tmp_path):
    run, server = crossed({"r1/bob/p1/t1": refusal}, log_dir=tmp_path, **ONE_BY_ONE)
    assert turns(server) == ["r1/bob/p1/t1", "r1/bob/p1/t2", "r1/bob/p2/t1", "r1/bob/p3/t1"]
    assert cast(run) == ALL
    bodies = [asked.body for asked in server.requests]
    assert ["output_config" in body for body in bodies] == [True, False, False, False]
    assert ["Begin with `{`" in asked.last for asked in server.requests] == [False, True, True, True]
    assert list(run.frames.turns["answer_form"]) == ["schema", "prompt", "prompt", "prompt"]
    assert list(run.frames.turns["status"]) == ["failed", "completed", "completed", "completed"]
    assert run.frames.calls["schema_ignored"].isna().all()  # no request with a schema was answered
    assert replay_run(run.log_path).same


def test_prose_is_flagged_where_the_schema_holds_the_shape_alone_too():
    run, _ = crossed({FIRST: says("They all hold, I think.")}, backend={"structured": "shape"})
    assert run.frames.calls["schema_ignored"].tolist() == [True]


def test_without_structured_output_the_prompt_shows_the_form_from_the_start():
    run, server = crossed({}, backend={"structured": False, "effort": "low"})
    [asked] = server.requests
    assert asked.body["output_config"] == {"effort": "low"}
    assert "Give your vote on each of the 3 findings now" in asked.last
    assert '{"votes": [{"finding_id": "F-1" | "F-2" | "F-3", "explanation": text, ' in asked.last
    assert (cast(run), list(run.frames.turns["answer_form"])) == (ALL, ["prompt"])


@pytest.mark.parametrize("mends", [True, False])
def test_made_up_ids_are_put_right_in_one_turn_or_refused(mends):
    run, server = crossed({FIRST: says(RENAMED), SECOND: says(WHOLE if mends else RENAMED)})
    assert turns(server) == [FIRST, SECOND]
    assert "'finding 1' is no finding of this request" in asked_for(server, SECOND).last
    assert "'F-1', 'F-2', 'F-3'" in asked_for(server, SECOND).last
    assert cast(run) == (ALL if mends else dict.fromkeys(ALL, "verification-error"))
    assert {one.finding_id for one in facts(run, "vote-refused")} == {"finding 1", "finding 2", "finding 3"}
    assert replay_run(run).same


def test_doubles_cost_a_repair_and_no_other_vote():
    votes = listed(VOTES, "adversarial")
    doubled = json.dumps({"votes": [*votes, {**votes[0], "verdict": "REFUTED", "disagree_basis": "counter-evidence"}]})
    run, server = crossed({FIRST: says(doubled), SECOND: says(doubled)})
    assert "'F-1' stands 2 times" in asked_for(server, SECOND).last
    assert cast(run) == ALL | {"F-1": "verification-error"}


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_of_an_answer_that_is_cut_off_mid_list_the_whole_votes_count(reason):
    run, server = crossed({FIRST: cut(WHOLE[: WHOLE.index('"F-3"') + 20]).stopping(reason)})
    assert (turns(server), cast(run)) == ([FIRST], ALL | {"F-3": "verification-error"})
    [reply] = facts(run, "call-replied")
    assert "the answer was cut off" in reply.partial_failures[0]
    assert "the answer was cut off" in run.frames.calls["reason"].iloc[0]
    assert replay_run(run).same


def test_an_answer_cut_off_before_its_first_vote_is_a_failed_call():
    run, _ = crossed({FIRST: cut('{"votes": [{"finding_id": "F-1", "expl')})
    [failure] = facts(run, "call-failed")
    assert failure.reason.startswith("AgentError: the answer was cut off at 16,000 tokens")


LLAMA = {
    "error": {
        "code": 400, "message": "the request exceeds the available context size, try increasing it",
        "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 8192,
    }
}  # fmt: skip
DIALECTS = {
    "anthropic": status(400, message="prompt is too long: 9000 tokens > 8192 maximum"),
    "with the answer": status(400, message="input length and `max_tokens` exceed context limit: 9000 + 900 > 8192"),
    "llama.cpp": raw(json.dumps(LLAMA), 400),
    "vllm": status(
        400,
        message="This model's maximum context length is 8192 tokens. However, you requested 9900 tokens (9000 in the "
        "messages, 900 in the completion). Please reduce the length of the messages or completion.",
    ),
    "newer vllm": status(
        400,
        message="You passed 9000 input tokens and requested 900 output tokens. However, the model's context length is "
        "only 8192 tokens, resulting in a maximum input length of 7292 tokens.",
    ),
}


@pytest.mark.parametrize("refusal", DIALECTS.values(), ids=DIALECTS)
def test_a_context_that_is_too_short_fails_the_call_and_says_what_helps(refusal):
    run, server = crossed({FIRST: refusal}, backend={"max_tokens": 900})
    assert turns(server) == [FIRST]
    [failure] = facts(run, "call-failed")
    sentence = "AgentError: request and answer exceed the model's context (9,000 tokens in, 8,192 in all)"
    assert failure.reason.startswith(f"{sentence}: ask about fewer findings at once (items_per_call=1; now 3)")
    assert "the endpoint answered 400" in failure.reason


def test_one_finding_that_does_not_fit_names_what_else_helps():
    run, _ = crossed({"r1/bob/p1/t1": DIALECTS["anthropic"]}, items_per_call=1)
    [failure] = facts(run, "call-failed")
    assert "shorten the finding's evidence, use prompt='short', or a model with a larger context" in failure.reason
    assert cast(run) == ALL | {"F-1": "verification-error"}


def test_another_refusal_is_not_taken_for_one_of_the_context():
    run, _ = crossed({FIRST: status(400, message="max_tokens: 900 > 512, which is the maximum")})
    [failure] = facts(run, "call-failed")
    assert failure.reason == (
        "AgentError: the endpoint answered 400: invalid_request_error: max_tokens: 900 > 512, which is the maximum"
    )


# Calls fitted into a context

MANY = [finding(f"F-{n}", summary="x" * 400) for n in range(10)]


def fitted(count=10, **backend):
    """How many findings a call of a run asks about that was prepared for such models; the requests' tokens."""
    models = Anthropic.keyless(**{"model": MODEL, "max_tokens": 1000} | backend)
    run = inspect.unwrap(crossverify)(
        MANY[:count], ["ann", "bob", "cy"], mode="adversarial", backend=models, log_dir=None, matcher=None
    )  # fmt: skip
    return run.started.cross.items_per_call


def test_calls_ask_about_as_many_findings_as_fit_into_the_shortest_context():
    assert fitted() is None
    assert fitted(context=100_000, max_tokens=2000) is None
    assert fitted(context=100_000, max_tokens=900 // 2) == 450 // VOTE_TOKENS
    sizes = [fitted(context=context) for context in (1200, 3500, 4000)]
    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert 1 < sizes[2] < 10
    assert fitted(context=2600, prompt="short") > fitted(context=2600)
    assert fitted(context=4000, count=1) is None
    assert fitted(workers={"bob": {"model": "tiny", "context": 3500}}) == sizes[1]


def test_fitted_calls_are_sent_and_keep_to_the_context_and_a_number_that_is_named_stays():
    models = {"context": 4000, "max_tokens": 1000}
    with ScriptedServer(Played({1: {"bob": {}}})) as server:
        run = crossverify(
            MANY, ["ann", "bob"], backend=speaking_to(server, **models), log_dir=None, progress=False, matcher=None,
            settings={"maxRounds": 1},
        )  # fmt: skip
    size = run.started.cross.items_per_call
    assert len(server.requests) >= 10 / size
    assert all(1.3 * prompt_tokens(asked.body)[0] <= 3000 for asked in server.requests)
    assert replay_run(run).same
    named, _ = crossed({}, backend=models, items_per_call=2)
    assert named.started.cross.items_per_call == 2


def test_a_context_that_holds_no_answer_is_refused():
    with pytest.raises(SettingsError, match=r"context: 4,000 tokens have no room for an answer of max_tokens=16,000"):
        Anthropic.keyless(model=MODEL, context=4000)
