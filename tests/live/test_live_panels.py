"""Panels of different models: each worker and role with its own model, settings, stance, endpoint and key (rule G3)."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack

import pytest

from tests.live.live_faults import SCORED
from tests.live.live_runs import KEY, MODEL, Played, derived, facts, speaking_to, turn_of, turns
from tests.live.scripted_replies import calls, raw, status
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, BURDEN, finding
from tests.runs.plan.planning import REPO, challenge, run_of, script
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.agents.anthropic.rendering import prompt
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import SettingsError
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.cross.run import CrossRun

OTHER_KEY = "the-key-of-the-other-endpoint"
OPUS, SONNET = "claude-opus-5-5", "claude-sonnet-5-5"
ROSTER = ("ann", "bob", "cy", "dora")
VOTES = {
    1: {"bob": {"F-1": AGREE}, "cy": {"F-1": BURDEN}, "dora": {"F-1": BURDEN}},
    2: {"bob": {"F-1": AGREE}, "cy": {"F-1": AGREE}, "dora": {"F-1": AGREE}},
}


class Watching(ScriptedServer):
    """Keeps every credential that it is sent, and the scheme that it came in."""

    def __init__(self, *given, **more):
        super().__init__(*given, **more)
        self.credentials = set()

    async def answer(self, request):
        sent = {name: request.headers[name] for name in ("authorization", "x-api-key") if name in request.headers}
        self.credentials.add(json.dumps(sent))
        assert KEY not in request.body.decode()
        return await super().answer(request)


def voted(backend, **settings) -> CrossRun:
    given = {"matcher": None, "log_dir": None, "repo": REPO, "progress": False} | settings
    return crossverify([finding(worker="ann", evidence="planning.py:1")], ROSTER, backend=backend, **given)


def bodies(server):
    return {turn: asked.body for turn, asked in zip(turns(server), server.requests, strict=True)}


def test_each_worker_has_its_own_model_and_settings():
    workers = {
        "bob": {"model": SONNET, "temperature": 0.25},
        "cy": {"model": OPUS, "effort": "high", "thinking": "adaptive", "max_tokens": 3000},
        "dora": {"thinking": 1500},
    }
    with ScriptedServer(Played(VOTES)) as server:
        run = voted(speaking_to(server, workers=workers, temperature=0.75, effort="low"))
    assert derived(run) == derived(voted(ScriptedBackend(VOTES)))
    asked = {turn.split("/")[1]: body for turn, body in bodies(server).items() if turn.startswith("r1/")}
    assert {name: body["model"] for name, body in asked.items()} == {"bob": SONNET, "cy": OPUS, "dora": MODEL}
    assert {name: body["temperature"] for name, body in asked.items()} == {"bob": 0.25, "cy": 0.75, "dora": 0.75}
    assert {name: body["output_config"]["effort"] for name, body in asked.items()} == {
        "bob": "low",
        "cy": "high",
        "dora": "low",
    }
    assert asked["cy"]["thinking"] == {"type": "adaptive"}
    assert asked["dora"]["thinking"] == {"type": "enabled", "budget_tokens": 1500}
    assert "thinking" not in asked["bob"]
    assert (asked["cy"]["max_tokens"], asked["bob"]["max_tokens"]) == (3000, 16_000)
    told = {event.call_id: event.model for event in facts(run, "turn-sent")}
    assert told["r1/cy/t1"] == OPUS
    assert server.refused == []


def test_what_nobody_set_is_left_to_the_endpoint():
    with ScriptedServer(Played(VOTES)) as server:
        voted(speaking_to(server))
    assert all(not body.keys() & {"temperature", "thinking"} for body in bodies(server).values())
    assert all(body["output_config"].keys() == {"format"} for body in bodies(server).values())


@pytest.mark.parametrize("adversarial", [True, False])
def test_a_style_changes_the_stance_and_not_the_labels(adversarial):
    workers = {"bob": {"style": "adversarial"}, "cy": {"style": "collaborative"}}
    with ScriptedServer(Played(VOTES)) as server:
        voted(speaking_to(server, workers=workers), settings={"adversarial": adversarial})
    said = {turn.split("/")[1]: asked.system for turn, asked in zip(turns(server), server.requests, strict=True)}
    mode = "adversarial" if adversarial else "collaborative"
    stances = {"bob": "adversarial", "cy": "collaborative", "dora": mode}
    for name, stance in stances.items():
        assert prompt(f"stance-{stance}").text in said[name]
        assert prompt(f"labels-{mode}").text in said[name]


def test_each_role_has_its_own_model_and_settings():
    models = {
        "challenger": {"model": OPUS, "effort": "max"},
        "synthesizer": SONNET,
        "worker": {"model": SONNET, "temperature": 0.5},
    }
    answers = SCORED | {"i1/challenger": {"challenges": [challenge()]}, "i1/panel/r1/bob": {"C1": AGREE}}
    answers |= {"i1/panel/r1/cy": {"C1": AGREE}}
    with ScriptedServer(Played(answers, silent=True)) as server:
        backend = speaking_to(server, models=models, workers={"cy": {"temperature": 1}})
        run = run_of({}, backend=backend, panel=["bob", "cy"], team="base", max_iterations=1)
    asked = bodies(server)
    assert {turn: body["model"] for turn, body in asked.items()} == {
        "i1/challenger/t1": OPUS,
        "i1/surface/t1": MODEL,
        "i1/probe/t1": MODEL,
        "i1/panel/r1/bob/t1": SONNET,
        "i1/panel/r1/cy/t1": SONNET,
        "i1/synthesizer/t1": SONNET,
        "i1/score/t1": MODEL,
        "i1/audit/t1": MODEL,
    }
    assert asked["i1/challenger/t1"]["output_config"]["effort"] == "max"
    assert asked["i1/panel/r1/bob/t1"]["temperature"] == 0.5
    assert asked["i1/panel/r1/cy/t1"]["temperature"] == 1
    assert run.verdict == "REVISE"


def test_a_model_is_needed_by_all_who_are_asked_and_nobody_else():
    with ScriptedServer(Played(VOTES)) as server:
        workers = dict.fromkeys(["bob", "cy", "dora"], MODEL)
        with pytest.raises(SettingsError, match="worker 'ann' has no model"):
            voted(speaking_to(server, None, workers=workers))
        voted(speaking_to(server, None, workers=workers | {"ann": MODEL}))
        assert server.requests
        with pytest.raises(SettingsError, match="no model is named"):
            speaking_to(server, None, workers={"bob": {"temperature": 0.5}})


def test_thinking_has_room_within_an_answer():
    with pytest.raises(SettingsError, match="fewer than 2,000, its max_tokens") as told:
        Anthropic(MODEL, api_key=KEY, thinking=2000, max_tokens=2000, workers={"bob": {"thinking": 1024}})
    assert len(told.value.problems) == 1


# Endpoints and keys


def endpoints(stack, *keys):
    return [stack.enter_context(Watching(Played(VOTES), key=key)) for key in keys]


def test_each_worker_has_its_own_endpoint_and_each_endpoint_its_own_key():
    with ExitStack() as stack:
        one, other = endpoints(stack, KEY, OTHER_KEY)
        workers = {"cy": {"base_url": other.url, "model": SONNET}}
        run = voted(speaking_to(one, workers=workers, api_keys={other.url: OTHER_KEY}))
    assert derived(run) == derived(voted(ScriptedBackend(VOTES)))
    assert (set(turns(other)), one.refused, other.refused) == ({"r1/cy/t1", "r2/cy/t1"}, [], [])
    assert not {"r1/cy/t1", "r2/cy/t1"} & set(turns(one))
    assert one.credentials == {json.dumps({"authorization": f"Bearer {KEY}"})}
    assert other.credentials == {json.dumps({"authorization": f"Bearer {OTHER_KEY}"})}


def test_keys_go_in_the_header_that_the_environment_names_and_in_no_other(monkeypatch):
    monkeypatch.setenv("VERIFYPLAN_KEY_HEADER", "x-api-key")
    with ExitStack() as stack:
        one, other = endpoints(stack, KEY, OTHER_KEY)
        workers = {"cy": {"base_url": other.url, "model": SONNET}}
        voted(speaking_to(one, workers=workers, api_keys={other.url: OTHER_KEY}))
    assert one.credentials == {json.dumps({"x-api-key": KEY})}
    assert other.credentials == {json.dumps({"x-api-key": OTHER_KEY})}
    monkeypatch.setenv("VERIFYPLAN_KEY_HEADER", "cookie")
    with pytest.raises(SettingsError, match="VERIFYPLAN_KEY_HEADER: names no header for a key, got 'cookie'"):
        speaking_to(one)


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_a_key_of_the_environment_goes_to_the_first_endpoint_alone(variable, monkeypatch):
    monkeypatch.setenv(variable, KEY)
    with ExitStack() as stack:
        one, other, free = endpoints(stack, KEY, OTHER_KEY, None)
        workers = {"cy": {"base_url": other.url}, "dora": {"base_url": free.url}}
        run = voted(Anthropic(MODEL, base_url=one.url, workers=workers, api_keys={other.url: OTHER_KEY}))
    assert derived(run) == derived(voted(ScriptedBackend(VOTES)))
    assert [KEY in "".join(server.credentials) for server in (one, other, free)] == [True, False, False]
    assert OTHER_KEY not in "".join(one.credentials | free.credentials)


def test_an_endpoint_elsewhere_without_a_key_is_refused_before_anything_is_sent():
    with ScriptedServer([]) as server:
        with pytest.raises(SettingsError, match=r"https://else\.example has no key") as told:
            speaking_to(server, workers={"cy": {"base_url": "https://else.example"}})
        assert KEY not in str(told.value)
    assert server.requests == []


def test_a_redirect_takes_no_key_along():
    with ExitStack() as stack:
        (other,) = endpoints(stack, None)
        moved = raw("", 307, location=f"{other.url}/v1/messages")
        one = stack.enter_context(Watching(Played(VOTES, {"r1/cy/t1": moved, "r2/cy/t1": moved}), key=KEY))
        voted(speaking_to(one))
    assert KEY not in "".join(other.credentials)


class Crowded(ScriptedServer):
    """Answers after a moment, and keeps how many requests were under way at once at most."""

    def __init__(self, *given, **more):
        super().__init__(*given, **more)
        self.at_once = self.most_at_once = 0

    async def answer(self, request):
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0.05)
        try:
            return await super().answer(request)
        finally:
            self.at_once -= 1


def test_an_endpoint_with_a_limit_of_its_own_has_no_more_calls_under_way_and_keeps_back_no_others():
    votes = {1: {name: {f"F-{n}": AGREE for n in range(4)} for name in ("bob", "cy", "dora")}}
    with Crowded(Played(votes)) as one, Crowded(Played(votes)) as local:
        own = {"base_url": local.url, "max_concurrency": 3}
        backend = speaking_to(one, workers={"bob": own, "cy": own | {"max_concurrency": 1}}, max_concurrency=4)
        assert backend.call_limits == {local.url: 1}
        found = [finding(f"F-{n}", worker="ann") for n in range(4)]
        given = {"settings": {"maxRounds": 1, "adversarial": True}, "items_per_call": 1, "timeout": 0.5}
        run = crossverify(found, ROSTER, backend=backend, log_dir=None, progress=False, matcher=None, **given)
    assert (len(turns(local)), local.most_at_once) == (8, 1)
    assert (len(turns(one)), one.most_at_once > 1) == (4, True)
    assert {event.status for event in facts(run, "dispatch-closed")} == {None, "completed"}  # who waits is not late
    assert backend.through(print).call_limits == {}


def test_a_worker_can_have_the_form_in_the_prompt_where_its_endpoint_holds_no_schema():
    with ScriptedServer(Played(VOTES)) as server:
        workers = {"cy": {"structured": False}}
        run = voted(speaking_to(server, workers=workers))
    said = {turn.split("/")[1]: asked for turn, asked in zip(turns(server), server.requests, strict=True)}
    assert {name: "output_config" in asked.body for name, asked in said.items()} == {
        "bob": True, "cy": False, "dora": True,
    }  # fmt: skip
    assert "Begin with `{`" in said["cy"].last
    calls = run.frames.calls.set_index("worker")
    assert calls.loc["cy", "schema_ignored"].isna().all()
    assert calls.loc["bob", "schema_ignored"].eq(False).all()


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"structured": "maybe"}, "structured: 'maybe' does not fit"),
        ({"max_concurrency": 0}, "max_concurrency: 0 does"),
    ],
)
def test_settings_of_one_worker_are_checked_before_anything_is_sent(own, message):
    with pytest.raises(SettingsError, match=message):
        Anthropic.keyless(model=MODEL, workers={"cy": own})


def test_an_endpoint_that_fails_takes_nothing_from_the_others():
    with ExitStack() as stack:
        [one] = endpoints(stack, KEY)
        other = stack.enter_context(ScriptedServer(lambda _: status(500)))
        run = voted(speaking_to(one, max_retries=0, workers={"cy": {"base_url": other.url}}))
    ended = {event.worker: event.status for event in facts(run, "dispatch-closed") if event.round == 1}
    assert ended == {"ann": None, "bob": "completed", "cy": "error", "dora": "completed"}
    [failure, *_] = facts(run, "call-failed")
    assert "500" in failure.reason


def test_a_key_that_one_endpoint_refuses_ends_the_process_and_says_which():
    with ExitStack() as stack:
        one, other = endpoints(stack, KEY, "another key than it is sent")
        with pytest.raises(SettingsError, match=f"{other.url}: answered 401"):
            voted(speaking_to(one, workers={"cy": {"base_url": other.url}}))


# The cache of prompts


def marks(value):
    """The texts of all marked blocks, in order."""
    if isinstance(value, list):
        return [text for one in value for text in marks(one)]
    if not isinstance(value, dict):
        return []
    own = [value.get("text") or value.get("content")] if "cache_control" in value else []
    return own + [text for key in ("tools", "system", "messages", "content") for text in marks(value.get(key))]


def test_the_plan_and_the_state_are_marked_and_the_next_turn_reads_them_from_the_cache():
    first = {"i1/challenger/t1": calls("Read", path="planning.py")}
    with ScriptedServer(Played(script() | {"i1/panel/r1/panel-3": "error"}, first)) as server:
        run = run_of({}, backend=speaking_to(server), max_iterations=2)
    one, two = (server.requests[n].body for n in (0, 1))
    assert [text.splitlines()[0] for text in marks(one)[1:3]] == ["The plan:", "The record of this run:"]
    assert len(marks(one)) == len(marks(two)) == 4
    assert marks(one)[:3] == marks(two)[:3]
    used = {event.call_id: event.usage for event in facts(run, "turn-replied")}
    first_turn, second = used["i1/challenger/t1"], used["i1/challenger/t2"]
    assert first_turn.cache_read_tokens == 0 < first_turn.cache_write_tokens
    assert second.cache_read_tokens == first_turn.cache_write_tokens
    plan_and_prompt = used["i2/challenger/t1"].cache_read_tokens
    assert 0 < plan_and_prompt < first_turn.cache_write_tokens  # the same plan, another state
    assert first_turn.input_tokens < 10  # nothing was left unmarked


def test_nothing_is_marked_where_the_cache_is_off():
    first = {"i1/challenger/t1": calls("Read", path="planning.py")}
    with ScriptedServer(Played(SCORED, first, silent=True)) as server:
        run = run_of({}, backend=speaking_to(server, cache=False), max_iterations=1, team="base", panel=None)
    assert [marks(asked.body) for asked in server.requests] == [[]] * len(server.requests)
    assert "i1/challenger/t2" in turns(server)
    assert sum(event.usage.cache_write_tokens for event in facts(run, "turn-replied")) == 0


def test_workers_share_what_holds_for_all_of_them():
    with ScriptedServer(Played(VOTES)) as server:
        voted(speaking_to(server, max_concurrency=1))
    first, *others = (asked.body for asked in server.requests if turn_of(asked).startswith("r1/"))
    assert marks(first) == [first["system"][0]["text"]]
    assert all(one["system"] == first["system"] for one in others)
