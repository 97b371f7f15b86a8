"""Dry runs: what they count is what a run of the same course uses; they send nothing, and need no key."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from tests.live.live_runs import MODEL, Played, facts, speaking_to
from tests.live.scripted_server import ScriptedServer
from tests.live.scripted_usage import tokens_asked
from tests.runs.crossing import finding
from tests.runs.plan.planning import PLAN, REPO
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.agents.evidence import read_evidence
from verifyplan.agents.prices import cost, price_of
from verifyplan.agents.static import CHECKERS
from verifyplan.agents.tools import ModelToolkit
from verifyplan.datasets import plan_path, stdlib_claims, stdlib_root
from verifyplan.datasets.sample import sample_repository
from verifyplan.errors import InputError, SettingsError
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.role_call import ROLES
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import LIMITS, Budget
from verifyplan.runs.cross import crossverify
from verifyplan.runs.estimate import estimating
from verifyplan.runs.estimate.courses import COURSES
from verifyplan.runs.estimate.dry_run import DryRun
from verifyplan.runs.estimate.estimating import estimate
from verifyplan.runs.estimate.kits import DryKit
from verifyplan.runs.estimate.maximal_stand_in import MaximalStandIn
from verifyplan.runs.estimate.prompt_cache import PromptCache
from verifyplan.runs.estimate.sizes import BRIEF, FULL, TYPICAL, USUAL, answer_tokens, thought_tokens
from verifyplan.runs.plan.verify import verify

TRIVIAL = "# Fix a typo\n\nCorrect the spelling in `README.md`."
PRICES = {MODEL: {"input": 1, "output": 2, "cache_write": 3, "cache_read": 4, "web_search": 5, "batch_discount": "0.5"}}
PRICES[MODEL]["batch_discount"] = Decimal("0.5")
FOUND = [finding(f"F-{n}", "ann", evidence=f"planning.py:{n}") for n in range(1, 5)]


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    return sample_repository(tmp_path_factory.mktemp("sample") / "repository")


@pytest.fixture(scope="module")
def claims():
    return stdlib_claims(12, seed=3)


@pytest.fixture(scope="module")
def library(claims, tmp_path_factory):
    """The files that the claims cite, without all that lies beside them, which takes seconds to list."""
    folder = tmp_path_factory.mktemp("library")
    for path in {place.path for text in claims["evidence"] for place in read_evidence(text).places}:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(stdlib_root() / path, folder / path)
    return folder


def plan_estimate(plan=PLAN, root=REPO, **more):
    given = {"model": MODEL, "progress": False} | more
    if "backend" in given:
        given.pop("model")
    return estimate(parse_plan(plan), root, **given)


def found_estimate(found=FOUND, **more):
    return estimate(found, REPO, workers=["ann", "bob", "cy"], model=MODEL, progress=False, **more)


def static_answers(run):
    """What the static agents answered, for a server to say the same."""
    return {event.call_id: {"raw": event.value} for event in facts(run, "call-replied")}


def counting_schemas(played):
    """The same answers, with usage that counts the schema of the answer, as endpoints tell their models of it."""

    def reply(asked):
        schema = json.dumps(asked.body["output_config"]["format"]["schema"], separators=(",", ":"))
        tokens = tokens_asked(asked.body) + len(schema) // 4
        return played(asked).using(input_tokens=tokens, cache_creation_input_tokens=0, cache_read_input_tokens=0)

    return reply


def used(run):
    turns = facts(run, "turn-replied")
    return len(turns), sum(turn.usage.total_input for turn in turns)


@pytest.mark.parametrize("name", ["third-carrier"])
def test_a_plan_run_without_tools_uses_what_was_estimated(name, repository):
    plan, given = plan_path(name), {"progress": False, "max_iterations": 1}
    static = verify(plan, repository, log_dir=None, **given)
    with ScriptedServer(counting_schemas(Played(static_answers(static)))) as server:
        run = verify(plan, repository, backend=speaking_to(server), log_dir=None, **given)
    low = estimate(plan, repository, model=MODEL, **given).low
    requests, tokens = used(run)
    assert (low.calls, low.requests) == (len(facts(run, "call-requested")), requests) == (len(server.requests),) * 2
    assert low.input_tokens == pytest.approx(tokens, rel=0.1)


@pytest.mark.parametrize("adversarial", [True, False])
@pytest.mark.parametrize("items_per_call", [None, 4])
def test_a_cross_run_uses_what_was_estimated(adversarial, items_per_call, claims, library):
    given = {"settings": {"adversarial": adversarial}, "items_per_call": items_per_call, "progress": False}
    static = crossverify(claims, CHECKERS, repo=library, log_dir=None, **given)
    with ScriptedServer(Played(static_answers(static))) as server:
        run = crossverify(
            claims, CHECKERS, repo=library, log_dir=None, backend=speaking_to(server, structured=True), **given
        )
    course = estimate(claims, library, workers=CHECKERS, model=MODEL, **given).expected
    requests, tokens = used(run)
    assert (course.calls, course.requests) == (requests, requests)
    assert course.input_tokens == pytest.approx(tokens, rel=0.1)
    assert course.rounds == len(facts(run, "round-closed"))


@pytest.mark.parametrize("name", ["shop-reference"])
def test_the_courses_are_in_order(name, repository):
    told = estimate(plan_path(name), repository, model=MODEL, progress=False)
    for figure in ("calls", "requests", "input_tokens", "output_tokens", "cost"):
        low, expected, high = (getattr(course, figure) for course in told.courses)
        assert low <= expected < high, figure
    assert (told.low.iterations, told.high.iterations) == (1, 3)
    assert told.low.calls == told.low.requests


def test_the_highest_course_calls_everybody_to_the_last_iteration():
    high = plan_estimate(team="scaled", max_iterations=2).high
    assert {part.role for part in high.parts} == {*ROLES, "worker"}
    assert high.scenarios == (("scaled", 2),)
    calls = {part.role: part.calls for part in high.parts}
    assert calls == {
        **dict.fromkeys(("challenger", "resolver", "domain-expert", "devils-advocate", "synthesizer"), 2),
        "probe": 2,
        "surface": 1,
        "score": 1,
        "audit": 1,
        "worker": 6,
    }


def test_the_highest_course_of_a_cross_run_votes_on_everything_in_every_round():
    high = found_estimate(settings={"maxRounds": 3}).high
    assert (high.rounds, high.calls) == (3, 6)


@pytest.mark.parametrize("profile", [BRIEF, USUAL, FULL])
def test_no_call_of_a_dry_run_fails_and_nothing_is_said_twice(profile, repository):
    dry = DryRun(Anthropic.keyless(model=MODEL), MaximalStandIn(Path()), profile)
    run = verify(plan_path("third-carrier"), repository, backend=dry, log_dir=None, team="scaled", progress=False)
    kinds = {event.type for event in run.events}
    assert not kinds & {"call-failed", "agent-failed", "restated", "challenge-refused"}
    assert run.verdict == "RETHINK"
    budgets = {mode: sum(limit.values()) for mode, limit in LIMITS.items()}
    tools = len(facts(run, "call-replied")[0].tools)
    assert tools == (13 if profile.at_once else 0), budgets


def test_tools_are_used_up_in_the_highest_course_one_in_a_message(repository):
    dry = DryRun(Anthropic.keyless(model=MODEL), MaximalStandIn(Path()), FULL)
    run = verify(plan_path("third-carrier"), repository, backend=dry, log_dir=None, max_iterations=1, progress=False)
    uses = {event.call_id: event.tools for event in facts(run, "call-replied")}
    turns = [event.of_call for event in facts(run, "turn-replied")]
    assert len(uses["i1/resolver"]) == 8 + 5  # the share of a memory that is not there lapses
    assert all(turns.count(call) == len(tools) + 1 for call, tools in uses.items() if "panel" not in call)
    assert not [use for tools in uses.values() for use in tools if use.refused]


def test_the_web_is_in_the_highest_course_where_it_is_on(repository):
    searches = []
    for web in (False, True):
        backend = Anthropic.keyless(model=MODEL, web=web, prices=PRICES)
        told = estimate(plan_path("third-carrier"), repository, backend=backend, max_iterations=1, progress=False)
        searches.append([course.usage.web_searches for course in told.courses])
    assert searches == [[0, 0, 0], [0, 0, 3 + 1]]


def test_a_memory_is_searched_where_there_is_one(tmp_path, repository):
    (tmp_path / "note.md").write_text("# Carriers\n\nWe poll carriers.\n")
    dry = DryRun(Anthropic.keyless(model=MODEL, memory=tmp_path), MaximalStandIn(Path()), FULL)
    run = verify(plan_path("third-carrier"), repository, backend=dry, log_dir=None, max_iterations=1, progress=False)
    tools = {event.call_id: [use.tool for use in event.tools] for event in facts(run, "call-replied")}
    assert tools["i1/resolver"].count("memory_search") == 3
    assert tools["i1/resolver"].count("Read") == 8


def test_the_cost_is_that_of_the_tokens_and_a_batch_takes_off_its_share():
    backend = Anthropic.keyless(model=MODEL, prices=PRICES)
    told, batched = (plan_estimate(backend=backend, batch=batch, max_iterations=1) for batch in (False, True))
    price = price_of(MODEL, PRICES)
    for course, other in zip(told.courses, batched.courses, strict=True):
        assert course.cost == cost(course.usage, price) > 0
        assert other.cost == course.cost / 2
        assert other.input_tokens == course.input_tokens
    assert "in message batches" in str(batched)


def test_a_model_without_a_price_still_has_tokens():
    told = plan_estimate(model="my-own-model", max_iterations=1)
    assert told.unpriced == ("my-own-model",)
    assert [course.cost for course in told.courses] == [None] * 3
    assert told.high.input_tokens > told.low.input_tokens > 1000
    assert "cost unknown" in str(told)
    assert "No price is known for my-own-model: " in str(told)
    assert "VERIFYPLAN_PRICES" in str(told)
    assert told.table["cost"].isna().all()


def test_each_role_and_worker_has_its_own_model():
    backend = Anthropic.keyless(
        model=MODEL, models={"synthesizer": "claude-opus-5-5"}, workers={"panel-2": "claude-sonnet-5-5"}
    )
    models = {
        (part.role, part.model): part.calls for part in plan_estimate(backend=backend, max_iterations=1).high.parts
    }
    assert models["synthesizer", "claude-opus-5-5"] == 1
    assert (models["worker", MODEL], models["worker", "claude-sonnet-5-5"]) == (2, 1)


def test_the_table_holds_what_the_courses_hold():
    told = plan_estimate(max_iterations=1)
    assert list(dict.fromkeys(told.table["course"])) == list(COURSES)
    for name, course in zip(COURSES, told.courses, strict=True):
        rows = told.table[told.table["course"] == name]
        assert rows["calls"].sum() == course.calls
        assert rows["output_tokens"].sum() == course.output_tokens
        tokens = rows[["input_tokens", "cache_read_tokens", "cache_write_tokens"]].sum().sum()
        assert (tokens, rows["cache_read_tokens"].sum()) == (course.input_tokens, course.cached_tokens)
        assert rows["cost"].sum() == pytest.approx(float(course.cost))
    assert "<table" in told._repr_html_()


def test_a_trivial_plan_asks_nobody():
    told = plan_estimate(TRIVIAL)
    assert [(course.calls, course.cost) for course in told.courses] == [(0, 0)] * 3
    assert told.table.empty
    assert str(told) == "1 run: nothing would be asked of a model, and nothing would be paid"


def test_the_words_tell_the_courses_what_they_mean_and_what_is_expected():
    told = str(plan_estimate(max_iterations=1, team="base"))
    lines = told.splitlines()
    assert lines[0] == f"1 run by {MODEL}:"
    assert [line.split(":")[0].strip() for line in lines[1:4]] == list(COURSES)
    assert "a base team with 1 iteration typically takes 45K tokens, at worst 55K" in told
    assert "4 characters a token" in told
    assert "Nothing was sent." in told


def test_an_answer_that_will_be_cut_off_is_told():
    backend = Anthropic.keyless(model=MODEL, models={"worker": {"model": MODEL, "max_tokens": 100}})
    told = estimate(FOUND, REPO, workers=["ann", "bob"], backend=backend, progress=False)
    assert (told.expected.cut, told.expected.output_tokens) == (1, 100)
    assert "1 answer would be cut off at max_tokens, and lost" in str(told)
    assert found_estimate().expected.cut == 0


def test_several_plans_are_added_up(tmp_path):
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(PLAN)
    one = estimate(tmp_path / "a.md", REPO, model=MODEL, max_iterations=1, progress=False)
    both = estimate([tmp_path / "a.md", tmp_path / "b.md"], REPO, model=MODEL, max_iterations=1, progress=False)
    twice = estimate(tmp_path / "a.md", REPO, model=MODEL, max_iterations=1, repetitions=2, progress=False)
    for course, other, third in zip(one.courses, both.courses, twice.courses, strict=True):
        assert (other.calls, other.cost) == (third.calls, third.cost) == (2 * course.calls, 2 * course.cost)
        assert other.input_tokens == 2 * course.input_tokens
    assert (one.runs, both.runs, twice.runs) == (1, 2, 2)
    assert "2 plans of these teams and iterations take at worst 110,000 tokens" in str(both)


def test_bundled_sets_are_known_by_name(monkeypatch, tmp_path, claims, library):
    monkeypatch.chdir(tmp_path)
    everything = estimating.labelled_plans()
    monkeypatch.setattr(estimating, "labelled_plans", lambda: everything[:2])
    assert estimate("plans", model=MODEL, max_iterations=1, progress=False).runs == 2
    monkeypatch.setattr(estimating, "claims", lambda: claims[:5])
    monkeypatch.setattr(estimating, "stdlib_root", lambda: library)
    told = estimate("stdlib-claims", model=MODEL, progress=False)
    assert (told.runs, told.high.rounds > 0) == (1, True)
    (tmp_path / "plans").mkdir()  # a name of one's own goes before
    with pytest.raises(InputError, match="plans"):
        estimate("plans", model=MODEL, progress=False)


def test_what_cannot_be_estimated_is_refused():
    with pytest.raises(SettingsError, match=r"model: either a model or a backend"):
        estimate(parse_plan(PLAN), REPO)
    with pytest.raises(SettingsError, match=r"workers: nobody is named to vote"):
        estimate(FOUND, REPO, model=MODEL)
    with pytest.raises(SettingsError, match=r"repetitions: must be an integer of at least 1, got 0"):
        estimate(parse_plan(PLAN), REPO, model=MODEL, repetitions=0)
    with pytest.raises(InputError, match=r"repo: 'nowhere' is not a folder"):
        estimate(parse_plan(PLAN), "nowhere", model=MODEL)


def test_nothing_is_needed_but_this_package(tmp_path):
    """No key, no SDK, and no socket: any of them would end the process with an error."""
    (tmp_path / "plan.md").write_text(PLAN)
    code = (
        "import sys, socket; sys.modules['anthropic'] = None; socket.socket.connect = None\n"
        "from verifyplan.runs.estimate import estimate\n"
        f"print(estimate('plan.md', '.', model={MODEL!r}, max_iterations=1).low.calls)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, int(done.stdout or 0) > 3) == (0, True), done.stderr


def body(*texts, model=MODEL, marked=()):
    blocks = [
        {"type": "text", "text": text} | ({"cache_control": {"type": "ephemeral"}} if number in marked else {})
        for number, text in enumerate(texts)
    ]
    return {
        "model": model,
        "max_tokens": 1000,
        "system": blocks[:1],
        "messages": [{"role": "user", "content": blocks[1:]}],
    }


def test_a_marked_beginning_is_read_by_calls_that_begin_later():
    cache, first = PromptCache(), "a" * 8000
    early, late = cache.begin(), cache.begin()
    assert early.take(body(first, "b" * 400, marked={0})) == (100, 2000, 0)
    assert late.take(body(first, "c" * 400, marked={0})) == (100, 2000, 0), "both were under way"
    assert cache.begin().take(body(first, "d" * 400, marked={0})) == (100, 0, 2000)
    assert early.take(body(first, "e" * 400, marked={0, 1})) == (0, 100, 2000), "a call reads what it wrote"
    assert cache.begin().take(body(first, "d" * 400, model="other", marked={0})) == (100, 2000, 0)


def test_nothing_is_kept_without_a_mark_nor_below_a_thousand_tokens():
    cache = PromptCache()
    for _ in range(2):
        assert cache.begin().take(body("a" * 8000, "b" * 400)) == (2100, 0, 0)
        assert cache.begin().take(body("a" * 400, "b" * 400, marked={0, 1})) == (200, 0, 0)


def test_a_backend_that_marks_nothing_has_nothing_cached():
    told = plan_estimate(backend=Anthropic.keyless(model=MODEL, cache=False), max_iterations=1)
    assert [course.usage.cache_write_tokens + course.cached_tokens for course in told.courses] == [0, 0, 0]


def test_thoughts_are_counted_where_they_are_asked_for():
    asked = {"max_tokens": 16_000}
    assert [thought_tokens(asked, profile) for profile in (BRIEF, USUAL, FULL)] == [0, 0, 0]
    asked["thinking"] = {"type": "enabled", "budget_tokens": 3000}
    assert [thought_tokens(asked, profile) for profile in (BRIEF, USUAL, FULL)] == [0, 1500, 3000]
    plain, thinking = (
        plan_estimate(backend=Anthropic.keyless(model=MODEL, thinking=thought), max_iterations=1).high.output_tokens
        for thought in (None, 3000)
    )
    assert thinking > plain + 3000


def test_answers_are_as_long_as_is_typical_at_least(static_request):
    asked = {"max_tokens": 16_000}
    assert answer_tokens(static_request, "x" * 40, asked, BRIEF) == 10
    assert answer_tokens(static_request, "x" * 40, asked, USUAL) == TYPICAL["challenger"]
    assert answer_tokens(static_request, "x" * 40_000, asked, USUAL) == 20_000
    assert answer_tokens(static_request, "x" * 40, asked, FULL) == 2 * TYPICAL["challenger"]


@pytest.fixture
def static_request():
    asked = []

    class Asking(MaximalStandIn):
        def at(self, _):
            return self

        async def play(self, request):
            asked.append(request)
            return await super().play(request)

    dry = DryRun(Anthropic.keyless(model=MODEL), Asking(REPO), BRIEF)
    verify(parse_plan(PLAN), REPO, backend=dry, log_dir=None, max_iterations=1, progress=False)
    return asked[0]


def test_a_search_in_a_dry_run_finds_at_least_what_a_search_finds(repository):
    opened, budget = Repository.open(repository), Budget(LIMITS["resolve"])
    for pattern in ("def ", r"\bcarrier\b", "poll_interval|timeout", "nowhere_to_be_found"):
        real, dry = (
            kind(opened, {}, budget).run("Grep", {"pattern": pattern}).text.splitlines()
            for kind in (ModelToolkit, DryKit)
        )
        assert len(dry) >= min(len(real), 201), pattern
        assert set(real[1:]) <= set(dry[1:]) or len(dry) == 201, pattern
