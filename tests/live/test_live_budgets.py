"""A run ends by what it may use: tokens and dollars are looked at before each request (rule A12)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.live.live_faults import FIRST, SCORED, challenged
from tests.live.live_runs import MODEL, Played, facts, speaking_to, turn_of, turns
from tests.live.scripted_replies import calls, cut, refuses, searches
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, finding
from tests.runs.plan.planning import REPO, answer, challenge, run_of, unknown
from verifyplan.errors import InputError, SettingsError
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.replay import replay_run

DEAR = {MODEL: {"input": 1, "output": 1, "cache_write": 0, "cache_read": 0, "web_search": 1000}}
"""A dollar for a million tokens, and one for each search."""


def costing(played, tokens):
    """The same answers, each of which costs so many tokens."""

    def reply(asked):
        answer = played(asked)
        used = {"input_tokens": tokens - 1, "output_tokens": 1}
        return answer.using(**used, cache_creation_input_tokens=0, cache_read_input_tokens=0)

    return reply


def plan_run(answers, first=None, tokens=1000, backend=None, **settings):
    with ScriptedServer(costing(Played(SCORED | answers, first, silent=True), tokens)) as server:
        given = {"team": "base", "panel": None, "max_iterations": 1} | settings
        run = run_of({}, backend=speaking_to(server, prices=DEAR, **(backend or {})), **given)
    return run, server


LIMITS = {"tokens": {"max_tokens": 3000}, "dollars": {"max_cost": "0.003"}}
limits = pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)


def ended_by_budget(run, words):
    assert (run.verdict, run.status, run.outcome.ended_by) == (None, "FORCED_EXIT", "budget")
    assert run.outcome.exit_reason.startswith(words)


@limits
def test_no_call_is_made_once_the_budget_is_used(limit):
    run, server = plan_run({"i1/challenger": {"unknowns": [unknown("store")]}}, **limit)
    assert turns(server) == ["i1/challenger/t1", "i1/resolver/t1", "i1/surface/t1"]
    ended_by_budget(run, next(iter(limit)))
    assert "before probe was called" in run.outcome.exit_reason
    assert facts(run, "call-failed") == []


@limits
def test_no_turn_is_sent_once_the_budget_is_used(limit):
    reads = {f"i1/challenger/t{n}": calls("Read", path=f"x{n}.py") for n in range(1, 9)}
    run, server = plan_run({}, reads, **limit)
    assert turns(server) == [f"i1/challenger/t{n}" for n in (1, 2, 3)]
    ended_by_budget(run, next(iter(limit)))
    [failure] = facts(run, "call-failed")
    assert (failure.call_id, failure.status, failure.usage.total) == ("i1/challenger", "budget", 3000)
    assert "before i1/challenger/t4 was called" in failure.reason
    assert len(failure.tools) == 3  # the last ran, and its result was not sent
    row = run.frames.calls.set_index("call_id").loc["i1/challenger"]
    assert row["status"] == "budget"


@limits
def test_no_repair_is_asked_for_once_the_budget_is_used(limit):
    run, server = plan_run({"i1/challenger": {"raw": "no"}}, tokens=3000, **limit)
    assert turns(server) == ["i1/challenger/t1"]
    ended_by_budget(run, next(iter(limit)))


def test_what_failed_calls_cost_counts():
    run, server = plan_run({}, {FIRST: cut("{"), "i1/surface/t1": refuses()}, max_tokens=2000, max_iterations=3)
    assert turns(server) == ["i1/challenger/t1", "i1/surface/t1"]
    assert run.outcome.ended_by == "failures"
    run, server = plan_run({}, {FIRST: cut("{")}, max_tokens=1000)
    assert turns(server) == ["i1/challenger/t1"]
    ended_by_budget(run, "max_tokens: 1,000 tokens of 1,000 were used before surface was called")


def test_searches_count_and_are_not_made_once_the_budget_is_used():
    search = calls("WebSearch", query="orders api", serves="U1")
    found = searches("orders api", ("https://a.example", "A"), text="so")
    answers = {
        "i1/challenger": {"unknowns": [unknown("store")]},
        "i1/resolver": {"answers": [answer("U1", "CONFIRMED")]},
    }
    first = {"i1/resolver/t1": search + search} | {f"i1/resolver/t1/w{n}": found for n in (1, 2)}
    run, server = plan_run(answers, first, backend={"web": True}, max_cost=1)
    assert turns(server)[1:] == ["i1/resolver/t1", "i1/resolver/t1/w1"]
    ended_by_budget(run, "max_cost: 1.0030 dollars of 1 were spent before i1/resolver/t1/w2 was called")


def test_a_verdict_that_stands_is_kept_where_its_scores_cannot_be_paid():
    run, server = plan_run({}, max_tokens=4000)
    assert turns(server)[-1] == "i1/synthesizer/t1"
    assert (run.verdict, run.score, run.outcome.ended_by) == ("PROCEED", None, "ruling")


@limits
def test_a_run_that_used_less_is_not_ended(limit):
    free, _ = plan_run({})
    run, server = plan_run(
        {}, **{name: value * 2 if isinstance(value, int) else "0.0061" for name, value in limit.items()}
    )
    assert (run.verdict, run.score, len(server.requests)) == (free.verdict, free.score, 6) == ("PROCEED", 7, 6)
    assert replay_run(run).same


def crossed(tokens=1000, found=6, at_once=1, backend=None, **settings):
    votes = {1: {"bob": {f"F-{n}": AGREE for n in range(1, found + 1)}}}
    with ScriptedServer(costing(Played(votes), tokens)) as server:
        run = crossverify(
            [finding(f"F-{n}") for n in range(1, found + 1)],
            ["ann", "bob"],
            backend=speaking_to(server, prices=DEAR, max_concurrency=at_once, **(backend or {})),
            matcher=None,
            log_dir=None,
            repo=REPO,
            items_per_call=1,
            **settings,
        )
    return run, server


@limits
def test_the_calls_of_a_cross_run_that_cannot_be_paid_fail(limit):
    run, server = crossed(**limit)
    assert len(server.requests) == 3
    assert [(event.status, event.usage.total) for event in facts(run, "call-failed")] == [("budget", 0)] * 3
    assert (run.status, run.state.outcome.total_rounds) == ("aborted-non-result", 1)
    assert run.state.outcome.exit_reason.startswith(next(iter(limit)))
    assert not [event for event in facts(run, "finding-classified") if not event.final]
    verdicts = [vote.verdict for vote in facts(run, "vote-cast") if vote.round == 1]
    assert verdicts == ["agree"] * 3 + ["verification-error"] * 3
    told = run.frames.calls["status"].astype(str)
    assert list(told) == ["completed"] * 3 + ["budget"] * 3


@pytest.mark.parametrize("at_once", [1, 8, 32])
def test_a_run_goes_beyond_a_budget_by_less_than_what_one_call_uses(at_once):
    run, server = crossed(found=20, max_tokens=7_500, at_once=at_once, backend={"max_tokens": 500})
    assert len(server.requests) == 8
    assert run.frames.calls["status"].astype(str).value_counts().to_dict() == {"budget": 12, "completed": 8}
    assert server.most_at_once <= at_once


@pytest.mark.parametrize("max_cost", [1, "0.5", Decimal("0.01"), 0.25])
def test_a_cost_cannot_be_kept_without_a_price(max_cost):
    with ScriptedServer([]) as server:
        backend = speaking_to(server, "a-model-of-mine", models={"synthesizer": MODEL})
        with pytest.raises(InputError, match="no price is known for a-model-of-mine") as told:
            run_of({}, backend=backend, max_cost=max_cost)
        assert "prices=" in str(told.value)
        with pytest.raises(SettingsError, match="no price is known for a-model-of-mine"):
            crossverify([finding()], ["ann", "bob"], backend=backend, log_dir=None, max_cost=max_cost)
    assert server.requests == []


def test_without_a_price_tokens_are_counted_and_no_cost():
    with ScriptedServer(Played(SCORED, silent=True), models=()) as server:
        run = run_of({}, backend=speaking_to(server, "a-model-of-mine"), team="base", panel=None)
    assert {turn_of(asked) for asked in server.requests} == set(turns(server))
    assert {event.usage.cost for event in facts(run, "call-replied")} == {None}
    assert all(event.usage.total for event in facts(run, "call-replied"))


def test_a_challenge_is_kept_where_the_budget_ends_the_run():
    run, _ = challenged({}, {"i1/challenger": {"challenges": [challenge()]}}, max_tokens=1)
    ended_by_budget(run, "max_tokens")
    assert [one.id for one in run.state.iterations[-1].challenges] == ["C1"]
