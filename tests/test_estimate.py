"""Estimates: runs lie between low and high; the first prompts are counted as they are; nothing is sent."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from decimal import Decimal
from functools import reduce

import pytest

from tests.live.live_runs import MODEL, Played, facts, speaking_to, turn_of
from tests.live.scripted_replies import calls
from tests.live.scripted_server import ScriptedServer
from tests.live.scripted_usage import tokens_asked
from tests.processes import ROOT
from tests.runs.crossing import finding
from tests.runs.plan.planning import PLAN, REPO, script
from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.agents.evidence import read_evidence
from verifyplan.agents.prices import cost, price_of
from verifyplan.agents.static import CHECKERS
from verifyplan.datasets import plan_path, stdlib_claims, stdlib_root
from verifyplan.datasets.sample import sample_repository
from verifyplan.errors import InputError, SettingsError
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.call import TOOLS
from verifyplan.protocol.role_call import ROLES
from verifyplan.protocol.settings import PanelSettings
from verifyplan.rules.budgets import limits_of
from verifyplan.runs import estimate as module
from verifyplan.runs.call_use import (
    ANSWER_TOKENS,
    CASES,
    RESULT_TOKENS,
    THOUGHT_TOKENS,
    TOOL_CALL_TOKENS,
    FileTokens,
    call_use,
)
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.estimate import estimate
from verifyplan.runs.plan.verify import verify

TRIVIAL = "# Fix a typo\n\nCorrect the spelling in `README.md`."
PRICES = {MODEL: {"input": 1, "output": 2, "cache_write": 3, "cache_read": 4, "web_search": 5, "batch_discount": "0.5"}}
PRICES[MODEL]["batch_discount"] = Decimal("0.5")
SILENCE = 5.0
"""Seconds after which an answer that the script never gives is given up."""
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


def counting(played):
    """The same answers, with usage that counts tools and the schema of the answer as JSON: models read them so."""

    def reply(asked):
        definitions = [asked.body["output_config"]["format"]["schema"], *asked.body.get("tools", ())]
        written = sum(len(json.dumps(definition, separators=(",", ":"))) for definition in definitions)
        tokens = tokens_asked({**asked.body, "tools": []}) + written // 4
        return played(asked).using(input_tokens=tokens, cache_creation_input_tokens=0, cache_read_input_tokens=0)

    return reply


def used(run):
    turns = facts(run, "turn-replied")
    return {
        "calls": len(facts(run, "call-requested")),
        "requests": len(turns),
        "input_tokens": sum(turn.usage.total_input for turn in turns),
        "output_tokens": sum(turn.usage.output_tokens for turn in turns),
    }


def within(run, told):
    """Whether a run lies between low and high; the server rounds the tokens of each part of a request down."""
    for figure, real in used(run).items():
        low, expected, high = (getattr(use, figure) for use in told.cases.values())
        assert 0.99 * low <= real <= high, figure
        assert low <= expected <= high, figure
    return True


def looking(run):
    """The tool calls of the static agents, two in a message, for a server to make them by the same turns."""
    turns = {}
    for event in facts(run, "call-replied"):
        uses = [use for use in event.tools if not use.refused and use.tool in ("Read", "Grep")]
        names = {"Read": "path", "Grep": "pattern"}
        wishes = [calls(use.tool, **{names[use.tool]: use.argument}) for use in uses if "/panel/" not in event.call_id]
        pairs = [wishes[at : at + 2] for at in range(0, len(wishes), 2)]
        turns |= {f"{event.call_id}/t{n}": reduce(lambda a, b: a + b, pair) for n, pair in enumerate(pairs, 1)}
    return turns


@pytest.mark.parametrize("name", ["third-carrier", "purge-hour", "code-in-link", "restore-drill", "readme-dbmate"])
def test_a_plan_run_lies_between_low_and_high(name, repository):
    plan = plan_path(name)
    static = verify(plan, repository, log_dir=None, progress=False)
    with ScriptedServer(counting(Played(static_answers(static), looking(static)))) as server:
        run = verify(plan, repository, backend=speaking_to(server), log_dir=None, progress=False)
    assert not facts(run, "call-failed")
    assert within(run, estimate(plan, repository, model=MODEL, progress=False))


def test_a_plan_run_in_which_much_is_said_lies_between_low_and_high():
    answers = script()
    with ScriptedServer(counting(Played(answers))) as server:
        backend = speaking_to(server, timeout=SILENCE)
        run = verify(parse_plan(PLAN), REPO, backend=backend, log_dir=None, progress=False, team="scaled")
    assert facts(run, "challenge-raised")
    assert within(run, plan_estimate(team="scaled"))


def test_a_plan_run_in_which_nobody_finds_anything_uses_what_is_low(repository):
    plan, given = plan_path("third-carrier"), {"progress": False, "max_iterations": 1}
    static = verify(plan, repository, log_dir=None, **given)
    with ScriptedServer(counting(Played(static_answers(static)))) as server:
        run = verify(plan, repository, backend=speaking_to(server), log_dir=None, **given)
    low, real = estimate(plan, repository, model=MODEL, **given).low, used(run)
    assert (low.calls, low.requests) == (real["calls"], real["requests"]) == (len(server.requests),) * 2
    assert low.input_tokens == pytest.approx(real["input_tokens"], rel=0.01)


@pytest.mark.parametrize("adversarial", [True, False])
@pytest.mark.parametrize("items_per_call", [None, 4])
def test_a_cross_run_lies_between_low_and_high(adversarial, items_per_call, claims, library):
    given = {
        "mode": "adversarial" if adversarial else "collaborative",
        "items_per_call": items_per_call,
        "progress": False,
    }
    static = crossverify(claims, CHECKERS, repo=library, log_dir=None, **given)
    with ScriptedServer(counting(Played(static_answers(static)))) as server:
        run = crossverify(
            claims, CHECKERS, repo=library, log_dir=None, backend=speaking_to(server, structured=True), **given
        )
    told = estimate(claims, library, workers=CHECKERS, model=MODEL, **given)
    assert within(run, told)
    assert told.low.rounds <= len(facts(run, "round-closed")) <= told.high.rounds


def test_a_first_round_is_counted_as_it_is_sent(claims, library):
    given = {"max_rounds": 1, "progress": False}
    static = crossverify(claims, CHECKERS, repo=library, log_dir=None, **given)
    with ScriptedServer(counting(Played(static_answers(static)))) as server:
        run = crossverify(claims, CHECKERS, repo=library, log_dir=None, backend=speaking_to(server), **given)
    real = used(run)
    for use in estimate(claims, library, workers=CHECKERS, model=MODEL, **given).cases.values():
        assert (use.calls, use.requests) == (real["calls"], real["requests"])
        assert use.input_tokens == pytest.approx(real["input_tokens"], rel=0.01)


@pytest.mark.parametrize("name", ["shop-reference"])
def test_the_cases_are_in_order(name, repository):
    told = estimate(plan_path(name), repository, model=MODEL, progress=False)
    for figure in ("calls", "requests", "input_tokens", "output_tokens", "cost"):
        low, expected, high = (getattr(use, figure) for use in told.cases.values())
        assert low < expected < high, figure
    assert [use.iterations for use in told.cases.values()] == [1, 1, 3]
    assert told.low.calls == told.low.requests


def test_the_high_case_calls_everybody_to_the_last_iteration():
    told = plan_estimate(team="scaled", max_iterations=2)
    assert told.high.iterations == 2
    assert {role.role: role.calls for role in told.high.roles} == {
        **dict.fromkeys([role for role in ROLES if role not in ("score", "audit")], 2),
        "score": 1,
        "audit": 1,
        "worker": 6,
    }
    assert {role.role for role in told.low.roles} == set(ROLES) - {"resolver"}


def test_expert_and_advocate_are_called_where_the_team_is_scaled():
    scaled, base = (plan_estimate(team=team).expected for team in ("scaled", "base"))
    assert {role.role for role in scaled.roles} - {role.role for role in base.roles} == {
        "domain-expert",
        "devils-advocate",
    }
    assert {role.calls for role in scaled.roles if role.role == "domain-expert"} == {1}


def test_a_panel_has_the_workers_rounds_and_items_of_its_settings():
    panel = PanelSettings(workers=("a", "b"), max_rounds=2, items_per_call=3)
    workers = {
        name: sum(role.calls for role in use.roles if role.role == "worker")
        for name, use in plan_estimate(panel=panel, max_iterations=1).cases.items()
    }
    assert workers == {"low": 0, "expected": 2 + 2, "high": 2 * 2 * 3}, "3 challenges, then 1; 8 in both rounds"
    assert all(role.role != "worker" for role in plan_estimate(panel=None).high.roles)


def test_the_high_case_of_a_cross_run_votes_on_everything_in_every_round():
    told = found_estimate(max_rounds=3)
    assert [(use.rounds, use.calls) for use in told.cases.values()] == [(1, 2), (3, 6), (3, 6)]


@pytest.mark.parametrize(
    ("workers", "settings", "calls"),
    [(["ann"], {}, 0), (["ann", "bob"], {"max_rounds": 1}, 1)],
)
def test_those_who_have_nothing_to_vote_on_are_not_called(workers, settings, calls):
    told = estimate(FOUND, REPO, workers=workers, model=MODEL, progress=False, **settings)
    assert [use.calls for use in told.cases.values()] == [calls] * 3


def test_the_items_of_a_plan_body_are_voted_on_by_all():
    item = {"finding_id": "P-1", "summary": "the module exists", "evidence": "planning.py:1"}
    given = {"task_type": "implementation-planning", "max_rounds": 1}
    plain, gated = (found_estimate(plan_items=items, **given).low.calls for items in (None, [item]))
    assert (plain, gated) == (2, 2 + 3)


def test_the_web_is_looked_at_where_it_is_on(repository):
    searches = []
    for web in (False, True):
        backend = Anthropic.keyless(model=MODEL, web=web, prices=PRICES)
        told = estimate(plan_path("third-carrier"), repository, backend=backend, max_iterations=1, progress=False)
        searches.append([use.usage.web_searches for use in told.cases.values()])
    assert searches == [[0, 0, 0], [0, 0, 3 + 1]]


def test_a_memory_is_searched_where_there_is_one(tmp_path, repository):
    (tmp_path / "note.md").write_text("# Carriers\n\nWe poll carriers.\n")
    with_it, without = (
        estimate(
            plan_path("third-carrier"),
            repository,
            backend=Anthropic.keyless(model=MODEL, memory=memory),
            max_iterations=1,
            progress=False,
        ).high.requests
        for memory in (tmp_path, None)
    )
    assert with_it - without == sum(limits_of(role).get("memory_search", 0) for role in ROLES)


def test_the_cost_is_that_of_the_tokens_and_a_batch_takes_off_its_share():
    backend = Anthropic.keyless(model=MODEL, prices=PRICES)
    told, batched = (plan_estimate(backend=backend, batch=batch, max_iterations=1) for batch in (False, True))
    price = price_of(MODEL, PRICES)
    for use, other in zip(told.cases.values(), batched.cases.values(), strict=True):
        assert use.cost == cost(use.usage, price) > 0
        assert other.cost == use.cost / 2
        assert other.input_tokens == use.input_tokens
    assert "in message batches" in str(batched)


def test_a_model_without_a_price_still_has_tokens():
    told = plan_estimate(model="my-own-model", max_iterations=1)
    assert told.unpriced == ("my-own-model",)
    assert [use.cost for use in told.cases.values()] == [None] * 3
    assert told.high.input_tokens > told.low.input_tokens > 1000
    assert "cost unknown" in str(told)
    assert "No price is known for my-own-model: " in str(told)
    assert "by prices= of the backend (agents.Anthropic), --prices or the environment variable" in str(told)
    assert "VERIFYPLAN_PRICES" in str(told)
    assert told.table["cost"].isna().all()


def test_each_role_and_worker_has_its_own_model():
    backend = Anthropic.keyless(
        model=MODEL, models={"synthesizer": "claude-opus-5-5"}, workers={"panel-2": "claude-sonnet-5-5"}
    )
    models = {
        (part.role, part.model): part.calls for part in plan_estimate(backend=backend, max_iterations=1).high.roles
    }
    assert models["synthesizer", "claude-opus-5-5"] == 1
    assert (models["worker", MODEL], models["worker", "claude-sonnet-5-5"]) == (2, 1)


def test_the_table_holds_what_the_cases_hold():
    told = plan_estimate(max_iterations=1)
    assert list(dict.fromkeys(told.table["case"])) == list(CASES) == list(told.cases)
    for name, use in told.cases.items():
        rows = told.table[told.table["case"] == name]
        assert rows["calls"].sum() == use.calls
        assert rows["output_tokens"].sum() == use.output_tokens
        tokens = rows[["input_tokens", "cache_read_tokens", "cache_write_tokens"]].sum().sum()
        assert (tokens, rows["cache_read_tokens"].sum()) == (use.input_tokens, use.cached_tokens)
        assert rows["cost"].sum() == pytest.approx(float(use.cost))
    assert "<table" in told._repr_html_()


def test_a_trivial_plan_asks_nobody():
    told = plan_estimate(TRIVIAL)
    assert [(use.calls, use.cost) for use in told.cases.values()] == [(0, 0)] * 3
    assert told.table.empty
    assert str(told) == "1 run: nothing would be asked of a model, and nothing would be paid"


def test_the_words_say_the_cases_and_what_they_assume():
    told = str(plan_estimate(max_iterations=1, team="base"))
    lines = told.splitlines()
    assert lines[0] == f"1 run by {MODEL}:"
    assert [line.split(":")[0].strip() for line in lines[1:4]] == list(CASES)
    assert all(f"{name}: {case.meaning}." in told for name, case in CASES.items())
    share = f"{100 * CASES['expected'].carried:.0f} % of the findings voted on again"
    assert share in told
    assert share in (ROOT / "docs" / "live-agents.md").read_text("utf-8")
    assert "4 characters a token" in told
    assert "Nothing was sent." in told
    assert "would end runs" not in told


def test_the_words_for_cross_runs_speak_of_votes_and_rounds_alone():
    claim = {"finding_id": "F-1", "summary": "rows are locked", "evidence": "store.py:1"}
    words = str(estimate([claim], ["ann", "bob"], model=MODEL, log_dir="out/runs"))  # no log is written
    assert all(f"{name}: {case.votes}." in words for name, case in CASES.items())
    assert not any(word in words for word in ("iteration", "challenge", "synthesizer", "tool call"))


def test_an_unknown_argument_is_refused_with_those_that_exist():
    claims = [{"finding_id": "F-1", "summary": "rows are locked", "evidence": "store.py:1"}]
    with pytest.raises(SettingsError) as error:
        estimate(claims, ["ann", "bob"], model=MODEL, prices={}, max_round=1)
    assert "prices: is not an argument of estimate or crossverify. Fix: give it to the backend" in str(error.value)
    assert "max_round: is not an argument of estimate or crossverify (did you mean 'max_rounds'?)" in str(error.value)
    with pytest.raises(SettingsError, match=r"is not an argument of estimate or verify\. Fix: use some of panel,"):
        plan_estimate(mode="adversarial")


@pytest.mark.parametrize(
    ("limit", "ended"),
    [({"max_tokens": 10}, (1, 1, 1)), ({"max_cost": 0.001}, (0, 1, 1)), ({"max_cost": 99}, (0,) * 3)],
)
def test_runs_that_a_limit_would_end_are_counted(limit, ended):
    free = dict.fromkeys(PRICES[MODEL], 0)
    backend = Anthropic.keyless(model=MODEL, prices={MODEL: free | {"output": 1}})
    told = plan_estimate(backend=backend, max_iterations=1, **limit)
    assert tuple(use.ended for use in told.cases.values()) == ended
    words = (
        "max_tokens or max_cost would end runs before they have a result: {} in the low case, {} in the expected case"
    )
    assert (words.format(*ended) in str(told)) == any(ended)


def test_an_answer_that_will_be_cut_off_is_told():
    backend = Anthropic.keyless(model=MODEL, models={"worker": {"model": MODEL, "max_tokens": 100}})
    told = estimate(FOUND, REPO, workers=["ann", "bob"], backend=backend, max_rounds=1, progress=False)
    assert (told.expected.cut, told.expected.output_tokens) == (1, 100)
    assert "1 answer would be cut off at max_tokens, and lost" in str(told)
    assert found_estimate().expected.cut == 0


def test_several_plans_are_added_up(tmp_path):
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(PLAN)
    one = estimate(tmp_path / "a.md", REPO, model=MODEL, max_iterations=1, progress=False)
    both = estimate([tmp_path / "a.md", tmp_path / "b.md"], REPO, model=MODEL, max_iterations=1, progress=False)
    twice = estimate(tmp_path / "a.md", REPO, model=MODEL, max_iterations=1, repetitions=2, progress=False)
    for use, other, third in zip(one.cases.values(), both.cases.values(), twice.cases.values(), strict=True):
        assert (other.calls, other.cost) == (third.calls, third.cost) == (2 * use.calls, 2 * use.cost)
        assert other.input_tokens == 2 * use.input_tokens
        assert (other.iterations, third.iterations) == (2 * use.iterations,) * 2
    assert (one.runs, both.runs, twice.runs) == (1, 2, 2)


def test_bundled_sets_are_known_by_name(monkeypatch, tmp_path, claims, library):
    monkeypatch.chdir(tmp_path)
    everything = module.labelled_plans()
    monkeypatch.setattr(module, "labelled_plans", lambda: everything[:2])
    assert estimate("plans", model=MODEL, max_iterations=1, progress=False).runs == 2
    monkeypatch.setattr(module, "claims", lambda: claims[:5])
    monkeypatch.setattr(module, "stdlib_root", lambda: library)
    told = estimate("stdlib-claims", model=MODEL, progress=False)
    assert (told.runs, told.high.rounds > 0) == (1, True)
    (tmp_path / "plans").mkdir()  # a name of one's own goes before
    with pytest.raises(InputError, match="plans"):
        estimate("plans", model=MODEL, progress=False)


def test_what_cannot_be_estimated_is_refused():
    with pytest.raises(SettingsError, match=r"model: must be given, or a backend, and not both"):
        estimate(parse_plan(PLAN), REPO)
    with pytest.raises(SettingsError, match=r"workers: must name who votes"):
        estimate(FOUND, REPO, model=MODEL)
    with pytest.raises(SettingsError, match=r"workers: is given twice, also as \['ann', 'bob'\]"):
        estimate(FOUND, ["ann", "bob"], workers=["ann"], model=MODEL)
    with pytest.raises(SettingsError, match=r"repo: is given twice"):
        estimate(FOUND, REPO, repo=REPO, model=MODEL)
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


def test_a_backend_that_marks_nothing_has_nothing_cached():
    told = plan_estimate(backend=Anthropic.keyless(model=MODEL, cache=False), max_iterations=1)
    assert [use.usage.cache_write_tokens + use.cached_tokens for use in told.cases.values()] == [0, 0, 0]


def body(*, tools=(), marked=True, **more):
    """The body of a first request whose prompt has 8,000 tokens."""
    mark = {"cache_control": {"type": "ephemeral"}} if marked else {}
    message = {"role": "user", "content": [{"type": "text", "text": "y" * 16_000}]}
    system = [{"type": "text", "text": "x" * 16_000, **mark}]
    return {"model": MODEL, "max_tokens": 16_000, "system": system, "messages": [message], **more} | (
        {"tools": [{"name": tool} for tool in tools]} if tools else {}
    )


def test_a_call_without_tools_is_one_request_of_which_what_is_marked_is_cached():
    use = call_use(body(), CASES["expected"], 500, added=100)
    [request] = use.requests
    assert (request.cache_write_tokens, request.input_tokens, request.output_tokens) == (4_000, 4_100, 500)
    [plain] = call_use(body(marked=False), CASES["expected"], 500).requests
    assert (plain.cache_write_tokens, plain.input_tokens) == (0, 8_000)


def test_every_turn_reads_what_the_turns_before_it_cached():
    case = CASES["expected"]._replace(tools=0.5)
    first, second, last = call_use(body(tools=["Read"]), case, 500, tools={"Read": 8, "Grep": 5}).requests
    step = 2 * (TOOL_CALL_TOKENS + RESULT_TOKENS["Read"][0])
    size = first.cache_write_tokens
    assert 8_000 <= size <= 8_010
    assert (first.cache_read_tokens, second.cache_read_tokens, last.cache_read_tokens) == (0, size, size + step)
    assert (second.cache_write_tokens, last.cache_write_tokens) == (step, step)
    assert [request.input_tokens for request in (first, second, last)] == [0, 0, 0]
    assert (first.output_tokens, last.output_tokens) == (2 * TOOL_CALL_TOKENS, 500)


def test_no_part_of_a_file_is_read_twice_and_a_usual_one_is_as_long_as_files_are():
    def total(case, sizes):
        files = None if sizes is None else FileTokens.of(4 * size for size in sizes)
        return call_use(body(tools=["Read"]), CASES[case], 500, tools={"Read": 8}, files=files).requests[-1].total_input

    usual, most = RESULT_TOKENS["Read"]
    assert total("high", None) - total("high", [50]) == 8 * most - 50
    assert total("high", [50, 7_000]) - total("high", []) == 7_050
    assert total("high", [100_000]) == total("high", None)
    assert total("expected", None) - total("expected", [50, 150]) == usual - 100
    assert total("expected", [100_000]) == total("expected", None)


@pytest.mark.parametrize(
    ("thinking", "effort", "tokens"),
    [
        (None, None, (25, 500, 1_000)),
        ({"type": "disabled"}, None, (25, 500, 1_000)),
        ({"type": "enabled", "budget_tokens": 3_000}, None, (25, 2_000, 4_000)),
        ({"type": "adaptive"}, None, (25, 500 + THOUGHT_TOKENS // 2, 1_000 + THOUGHT_TOKENS)),
        ({"type": "adaptive"}, "low", (12, 250 + THOUGHT_TOKENS // 4, 500 + THOUGHT_TOKENS // 2)),
        (None, "max", (50, 1_000, 2_000)),
    ],
)
def test_thoughts_and_effort_lengthen_what_is_said(thinking, effort, tokens):
    asked = body(**({"thinking": thinking} if thinking else {}), output_config={"effort": effort} if effort else {})
    assert tuple(call_use(asked, case, 500).requests[0].output_tokens for case in CASES.values()) == tokens


def test_an_answer_longer_than_its_limit_is_cut():
    use = call_use(body(max_tokens=300), CASES["expected"], 500)
    assert (use.cut, use.answer, use.requests[-1].output_tokens) == (True, 300, 300)
    assert not call_use(body(max_tokens=501), CASES["expected"], 500).cut


def test_every_role_and_tool_has_an_allowance():
    assert set(ANSWER_TOKENS) == set(ROLES)
    assert set(RESULT_TOKENS) == set(TOOLS)
    assert all(usual <= most for usual, most in RESULT_TOKENS.values())


def test_a_first_request_is_the_one_that_is_sent(monkeypatch):
    bodies, converse = {}, Anthropic.converse

    async def noting(self, request, turns):
        bodies[f"{request.call_id}/t1"] = self.first_request(request)
        return await converse(self, request, turns)

    monkeypatch.setattr(Anthropic, "converse", noting)
    with ScriptedServer(Played(script())) as server:
        backend = speaking_to(server, timeout=SILENCE)
        verify(parse_plan(PLAN), REPO, backend=backend, log_dir=None, progress=False, max_iterations=1)
    assert bodies == {turn_of(asked): asked.body for asked in server.requests if turn_of(asked).endswith("/t1")}
    assert {"i1/challenger/t1", "i1/panel/r1/panel-1/t1"} <= bodies.keys()


def test_workers_stand_where_crossverify_has_them():
    by_place = estimate(FOUND, ["ann", "bob", "cy"], repo=REPO, model=MODEL, progress=False)
    assert by_place == found_estimate()


def test_the_high_case_says_that_tool_calls_read_all_again():
    told = plan_estimate(team="scaled", max_iterations=2)
    high = told.high
    first = sum(role.first_input for role in high.roles)
    share = (high.input_tokens - first) / high.input_tokens
    assert share > 0.5
    words = (
        f"{share:.0%} of the tokens in of the high case come from the {high.requests - high.calls:,} tool calls that"
    )
    assert words in str(told)
    assert "of the tokens in of the high case" not in str(found_estimate())  # workers have no tools


def test_a_model_can_be_named_first_without_a_key():
    assert Anthropic.keyless(MODEL).describe() == Anthropic.keyless(model=MODEL).describe()
