"""Runs of models against an independent server of the Messages API, read from ../shared; skipped without it."""

from __future__ import annotations

import importlib.util
from collections import Counter
from urllib.parse import unquote

import pytest

from tests.live.live_runs import KEY, Played, derived, facts, speaking_to
from tests.live.live_scripts import FOUND, ROSTER, VOTES, spoken_script
from tests.live.scripted_asked import Asked
from tests.live.scripted_replies import calls, says
from tests.runs.plan.planning import PLAN, answer, run_of
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import SettingsError
from verifyplan.plans.plan import parse_plan
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.plan.verify import verify

WHOLE = spoken_script()


@pytest.fixture
def fake(shared):
    """Starts that server with a script, and ends it."""
    path = shared / "tools" / "fake_anthropic.py"
    if not path.is_file():
        pytest.skip("needs ../shared/tools/fake_anthropic.py, an independent server; it is not in that folder")
    spec = importlib.util.spec_from_file_location("fake_anthropic", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda play, latency=0.0, **more: module.FakeAnthropic(
        {"api_key": KEY, "default": replying(play, latency)} | more
    )


def replying(play, latency=0.0):
    """What that server is to reply: an answer of ours in its words."""

    def reply(req):
        given = play(Asked(req["n"], req["body"], req["headers"]))
        if given.reply:
            return {"fault": {"type": "status", "status": given.reply.status, "message": "scripted"}}
        content = [
            block | ({"id": f"toolu_{req['n']}_{place}"} if block["type"] == "tool_use" else {})
            for place, block in enumerate(given.content)
        ]
        return {"content": content, "stop_reason": given.stop_reason, "latency": latency}

    return reply


def turns(server):
    """How many requests came for each turn."""
    return Counter(unquote(call["headers"]["x-verifyplan-turn"]) for call in server.calls)


def test_a_whole_plan_run(fake):
    expected = run_of(WHOLE)
    with fake(Played(WHOLE)) as server:
        run = run_of({}, backend=speaking_to(server))
    assert derived(run) == derived(expected)
    assert (run.verdict, run.score) == (expected.verdict, expected.score) == ("RETHINK", 7)
    asked = {f"{event.call_id}/t1" for event in facts(run, "call-requested")}
    assert turns(server) == Counter({*asked, "i2/challenger/t2", "i2/resolver/t2", "i2/panel/r1/panel-3/t2"})
    assert server.count(status=400) == 2  # i1/domain-expert and i1/panel/r1/panel-3, as scripted


@pytest.mark.parametrize("adversarial", [True, False])
@pytest.mark.parametrize("items_per_call", [None, 2])
def test_a_whole_cross_run(fake, adversarial, items_per_call):
    given = {
        "matcher": None,
        "log_dir": None,
        "settings": {"adversarial": adversarial, "maxRounds": 3},
        "progress": False,
    }
    given["items_per_call"] = items_per_call
    expected = crossverify(FOUND, ROSTER, backend=ScriptedBackend(VOTES), **given)
    with fake(Played(VOTES)) as server:
        run = crossverify(FOUND, ROSTER, backend=speaking_to(server), **given)
    assert derived(run) == derived(expected)
    assert turns(server) == Counter(f"{event.call_id}/t1" for event in facts(run, "call-requested"))
    assert server.count(status=200) == len(server.calls)


def test_a_tool_loop(fake, tmp_path):
    (tmp_path / "store.py").write_text("import locks\n\nlocks.open('orders')\n")
    first = {
        "i1/challenger/t1": calls("Read", path="store.py") + calls("Bash", command="ls"),
        "i1/challenger/t2": calls("Grep", pattern="locks"),
        "i1/challenger/t3": says("Let me think."),
        "i1/resolver/t1": calls("Read", path="../store.py"),
    }
    answers = WHOLE | {"i1/resolver": {"answers": [answer("U1", "CONFIRMED")]}}
    with fake(Played(answers, first)) as server:
        backend = speaking_to(server, thinking="adaptive", effort="low")
        run = verify(parse_plan(PLAN), tmp_path, backend=backend, log_dir=None, max_iterations=1, progress=False)
    assert [name for name in turns(server) if "challenger" in name] == [f"i1/challenger/t{n}" for n in (1, 2, 3, 4)]
    told = [text for call in server.calls for text in results(call)]
    assert told[0].startswith("store.py: lines 1-3 of 3\n1: import locks")
    assert told[1].startswith("There is no tool 'Bash'")
    assert told[2].startswith("2 hits in 1 file")
    used = [event.tools for event in facts(run, "call-replied") if event.call_id in ("i1/challenger", "i1/resolver")]
    assert [[use.tool for use in one] for one in used] == [["Read", "Grep"], ["Read"]]
    assert used[1][0].refused
    assert run.outcome.ended_by == "ruling"


def results(call):
    """The texts of the tool results that a request brings."""
    last = call["body"]["messages"][-1]["content"]
    return [block["content"] for block in last if isinstance(block, dict) and block["type"] == "tool_result"]


def test_its_limit_of_calls_at_once_is_met_by_waiting(fake):
    limits = {"max_concurrent": 2, "retry_after": 1}
    given = {"matcher": None, "log_dir": None, "settings": {"maxRounds": 1}, "items_per_call": 1, "progress": False}
    with fake(Played(VOTES), latency=0.2, limits=limits) as server:
        run = crossverify(FOUND[:2], ROSTER, backend=speaking_to(server, max_retries=10, max_concurrency=4), **given)
    assert facts(run, "call-failed") == []
    assert server.count(status=200) == len(facts(run, "call-requested")) == 4
    assert server.count(status=429) >= 2


def test_another_key_is_refused(fake):
    with fake(Played(VOTES), api_key="another") as server, pytest.raises(SettingsError, match="answered 401"):
        crossverify(FOUND, ROSTER, backend=speaking_to(server), matcher=None, log_dir=None, progress=False)
    assert 1 <= server.count(status=401) == len(server.calls) <= 3
