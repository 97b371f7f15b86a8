"""Whatever models and endpoints answer, a run comes to its end, asks within its limits, and replays as it was."""

from __future__ import annotations

import json
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.live.live_faults import message, soon
from tests.live.live_runs import Played, derived, facts, speaking_to, times, turns
from tests.live.live_scripts import FOUND, ROSTER, VOTES, spoken_script
from tests.live.scripted_replies import (
    calls,
    cut,
    empty,
    error_in_200,
    fetches,
    html,
    refuses,
    resets,
    says,
    searches,
    status,
    truncates,
)
from tests.live.scripted_server import ScriptedServer
from tests.longer import examples
from tests.runs.crossing import AGREE, COUNTER
from tests.runs.plan.planning import run_of
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.replay import replay_run
from verifyplan.runs.resume import read_run

RETRIES = 1
quick = settings(
    deadline=None,
    max_examples=examples(32),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)

words = st.sampled_from(
    ["", " ", "U1", "P1", "planning.py", "../x", "/proc/self/mem", "a\nb", "\u202e", "(" * 50, "x" * 2000]
)
odd = st.one_of(
    words,
    st.sampled_from(["\ud800", float("nan"), 1e308 * 10]),
    st.none(),
    st.booleans(),
    st.integers(-1, 10**12),
    st.lists(words, max_size=2),
)
tools = st.sampled_from(["Read", "git_log", "memory_search", "WebSearch", "WebFetch", "Bash", ""])
names = st.sampled_from(["path", "first", "last", "pattern", "paths", "query", "url", "serves", "mode"])
uses = st.builds(lambda tool, arguments: calls(tool, **arguments), tools, st.dictionaries(names, odd, max_size=3))
values = st.recursive(
    odd, lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(names, inner, max_size=2))
)
blocks = st.one_of(values, st.fixed_dictionaries({"type": st.sampled_from(["text", "tool_use", "thinking", "x"])}))
answers = st.one_of(
    uses,
    st.lists(uses, min_size=2, max_size=4).map(lambda many: sum(many[1:], many[0])),
    st.sampled_from([cut("{"), refuses(), empty(), html(200), error_in_200(), truncates(), status(400), soon(529)]),
    st.sampled_from([says(""), says("no"), says("{}"), resets(), searches("q", text="so"), fetches("u", error="no")]),
    st.builds(lambda value: says(json.dumps(value)), values),
    st.builds(lambda content, reason: message(*content, stop_reason=reason), st.lists(blocks, max_size=3), odd),
    st.builds(lambda usage: message({"type": "text", "text": "no"}, usage=usage), values),
)
calls_of_a_plan = st.sampled_from([
    "i1/challenger", "i1/domain-expert", "i1/resolver", "i1/surface", "i1/probe", "i1/panel/r1/panel-1",
    "i1/synthesizer", "i2/challenger", "i2/resolver", "i2/synthesizer", "i3/synthesizer", "i3/score", "i3/audit",
])  # fmt: skip
endings = st.sampled_from(["/t1", "/t1", "/t2", "/t3", "/t1/w1", "/t2/w1"])
heard = st.dictionaries(st.builds(str.__add__, calls_of_a_plan, endings), answers, max_size=6)


@quick
@given(heard)
def test_a_plan_run_comes_to_its_end(first):
    with TemporaryDirectory() as folder, ScriptedServer(Played(spoken_script(), first)) as server:
        run = run_of({}, backend=speaking_to(server, max_retries=RETRIES, web=True), log_dir=folder)
        assert run.outcome is not None
        assert read_run(run.log_path).events == run.events
        bounded(run, server)


def bounded(run, server):
    """No turn was asked for more often than retries allow, and all that was used is in the log; it replays the same."""
    assert set(times(server).values()) <= {1, 1 + RETRIES}
    sent = [event.call_id for event in facts(run, "turn-sent")]
    assert set(sent) == set(turns(server))
    assert len(set(sent)) == len(sent)
    spent = dict.fromkeys((event.call_id for event in facts(run, "call-requested")), 0)
    for event in facts(run, "turn-replied"):
        spent[event.of_call] += event.usage.total
    ended = [*facts(run, "call-replied"), *facts(run, "call-failed")]
    assert {event.call_id: event.usage.total for event in ended} == spent
    assert len(run.frames.calls) == len(ended)
    assert replay_run(run).same


cross_calls = st.sampled_from([f"r{number}/{worker}" for number in (1, 2) for worker in ROSTER])


@quick
@given(st.dictionaries(st.builds(str.__add__, cross_calls, endings), answers, max_size=5), st.booleans())
def test_a_cross_run_comes_to_its_end(first, adversarial):
    with ScriptedServer(Played(VOTES, first)) as server:
        run = crossverify(
            FOUND,
            ROSTER,
            backend=speaking_to(server, max_retries=RETRIES),
            settings={"adversarial": adversarial, "maxRounds": 2},
            matcher=None,
            log_dir=None,
            progress=False,
        )
    assert run.status is not None
    bounded(run, server)


votes = st.fixed_dictionaries(
    {"verdict": st.sampled_from(["agree", "supplement", "disagree", "REFUTED", "Survives", "SURVIVES-WITH-CAVEAT"])},
    optional={
        "disagree_basis": st.sampled_from(["counter-evidence", "burden-not-met", None]),
        "explanation": st.sampled_from(["", "m.py:3 says so", "\u2028</data-1a2b3c4d>", 'a "quote"']),
    },
)
ids = [f"F-{n}" for n in range(1, 7)]
ballots = st.one_of(
    st.just("error"),
    st.dictionaries(st.sampled_from(ids), votes),
    st.dictionaries(st.sampled_from(ids), votes, min_size=4),
    st.dictionaries(st.sampled_from([*ids, "stray"]), votes).map(lambda value: {"raw": {"votes": value}}),
    st.sampled_from([{"raw": None}, {"raw": []}, {"raw": {"votes": {"F-1": {"verdict": "maybe"}}}}]),
)


@quick
@given(
    st.fixed_dictionaries({number: st.fixed_dictionaries(dict.fromkeys(ROSTER, ballots)) for number in (1, 2, 3)}),
    st.booleans(),
    st.integers(1, 3),
    st.sampled_from([None, 1, 2]),
)
def test_any_votes_come_to_the_same_as_in_a_script(script, adversarial, rounds, size):
    options = {"settings": {"adversarial": adversarial, "maxRounds": rounds}, "items_per_call": size}
    options |= {"matcher": None, "log_dir": None, "progress": False}
    expected = crossverify(FOUND, ROSTER, backend=ScriptedBackend(script), **options)
    with ScriptedServer(Played(script)) as server:
        run = crossverify(FOUND, ROSTER, backend=speaking_to(server), **options)
    assert derived(run) == derived(expected)


@pytest.mark.parametrize("vote", [AGREE, COUNTER])
def test_votes_may_come_as_the_mapping_that_the_protocol_has(vote):
    given_votes = {f"F-{n}": vote for n in range(1, 7)}

    def reply(asked):
        told = json.loads(played(asked).content[0]["text"])
        return {"votes": {one.pop("finding_id"): one for one in told["votes"]}}

    played = Played({1: dict.fromkeys(ROSTER, given_votes)})
    options = {"settings": {"adversarial": True, "maxRounds": 1}, "matcher": None, "log_dir": None, "progress": False}
    expected = crossverify(FOUND, ROSTER, backend=ScriptedBackend(played.script), **options)
    with ScriptedServer(reply) as server:
        run = crossverify(FOUND, ROSTER, backend=speaking_to(server), **options)
    assert derived(run) == derived(expected)
