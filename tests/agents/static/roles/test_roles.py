"""What each role answers: valid, within its caps and budget, never twice, silent where there is nothing to cite."""

import asyncio

import pytest

from verifyplan.agents.static import StaticBackend
from verifyplan.protocol.records import CONVERGENCE_STATUSES, DIMENSIONS, Unknown
from verifyplan.protocol.role_call import ROLES, PanelResult, PanelVote
from verifyplan.rules.citations import cites_location
from verifyplan.rules.lifecycle import rests_on_evidence, transition_refusal

WRONG = (
    "1. Change `shop/stock.py`.\n2. Rename `find_order`.\n3. Make `make e2e` pass.\n4. It is unclear what "
    "`in_chunks` returns."
)


@pytest.mark.parametrize("role", ROLES)
def test_every_role_answers_by_its_schema(ask, plan, made, role):
    assert ask(role, plan(WRONG), challenges=(made(1),), evidence={"C1": "plan.md:13"}) is not None


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    "text", ["", "\n\n", "#", "```", "---\n---\n", "- [ ]", "|a|\n|-|\n", "\x00\ufeff", "1.\n" * 50]
)
def test_no_role_fails_on_a_plan_that_says_nothing(ask, role, text):
    ask(role, text)


@pytest.mark.parametrize("role", ["challenger", "surface", "probe", "domain-expert", "devils-advocate", "resolver"])
def test_an_empty_repository_is_no_reason_to_call_anything_missing(ask, plan, tmp_path, role):
    answer = ask(role, plan(WRONG), of=StaticBackend(tmp_path))
    assert not list(getattr(answer, "challenges", ()))
    assert not list(getattr(answer, "contexts", ()))


def test_nothing_is_raised_twice(ask, plan, made):
    first = ask("challenger", plan(WRONG)).challenges
    assert len(first) == 3
    known = tuple(made(n, claim=one.claim) for n, one in enumerate(first, 1))
    assert ask("challenger", plan(WRONG), challenges=known[:2], overflow=known[2:]).challenges == ()


def test_minor_challenges_are_left_out_beyond_the_cap_and_no_others(ask, plan):
    assert len(ask("challenger", plan(WRONG), may_raise=1).challenges) == 3


def test_the_domain_expert_keeps_its_cap_and_the_devils_advocate_its_severity(ask):
    routes = "1. Serve:\n\n   ```python\n   @router.get('/gifts')\n   ```\n2. Run it from `crontab -e`.\n"
    asked = ask("domain-expert", "# A\n\n" + routes, may_raise=3).challenges
    assert [one.severity for one in asked] == ["SIGNIFICANT", "MINOR"]
    assert len(ask("domain-expert", "# A\n\n" + routes, may_raise=1).challenges) == 1
    (found,) = ask("devils-advocate", "# A\n\n1. Run `git push --force origin main`.\n2. Tell them.\n").challenges
    assert (found.severity, found.confidence) == ("SIGNIFICANT", "MED")
    assert found.claim.endswith("?")


def test_what_is_open_becomes_a_question_that_the_resolver_answers_with_a_source(ask, plan):
    asked = ask("challenger", plan(WRONG)).unknowns
    assert [one.suggested_query for one in asked] == ["in_chunks"]
    unknowns = tuple(
        Unknown(id=f"U{n}", affects_challenge=None, **given)
        for n, given in enumerate(
            [
                {"description": asked[0].description, "type": asked[0].type, "suggested_query": "in_chunks"},
                {"description": "Is it there?", "type": "FILE_MISSING", "suggested_query": "shop/orders.py"},
                {"description": "Is it there?", "type": "FILE_MISSING", "suggested_query": "shop/stock.py"},
                {"description": "Who knows?", "type": "PRIOR_DECISION", "suggested_query": "zebra"},
                {"description": "Broken", "type": "API_BEHAVIOR", "suggested_query": "in_chunks("},
            ],
            start=1,
        )
    )
    answers = ask("resolver", plan(WRONG), unknowns=unknowns).answers
    assert [one.resolution for one in answers] == [
        "PARTIALLY_RESOLVED", "CONFIRMED", "REFUTED", "UNRESOLVABLE", "PARTIALLY_RESOLVED",
    ]  # fmt: skip
    assert answers[1].finding.startswith("[VERIFIED: shop/orders.py:1 | ")
    assert answers[3].finding is None


def test_the_resolver_stops_where_its_budget_ends_and_says_so(ask, plan):
    unknowns = tuple(
        Unknown(
            id=f"U{n}", description=f"{n}", type="API_BEHAVIOR", affects_challenge=None, suggested_query="find_order"
        )
        for n in range(1, 5)
    )
    reply = ask("resolver", plan("1. x"), reply=True, unknowns=unknowns, tools={"Grep": 2})
    assert [one["resolution"] for one in reply.value["answers"]] == ["PARTIALLY_RESOLVED"] * 2 + ["UNRESOLVABLE"] * 2
    assert [bool(use.refused) for use in reply.tools] == [False, False, True, True]
    assert {use.serves for use in reply.tools} == {"U1", "U2", "U3", "U4"}


def test_rules_and_tests_of_what_the_plan_changes_are_surfaced(ask):
    told = ask("surface", "# A\n\n1. Change `migrations/0001_orders.sql` and\n2. Change `shop/orders.py`.\n").contexts
    assert [(one.source, one.location, one.challenge) for one in told] == [
        ("claude_md", "AGENTS.md:3", None), ("codebase", "tests/test_orders.py:1", None),
    ]  # fmt: skip


def test_a_change_that_many_files_import_is_a_minor_risk(ask, tmp_path):
    (tmp_path / "core.py").write_text("x = 1\n")
    for n in range(5):
        (tmp_path / f"user{n}.py").write_text("from core import x\n")
    text = "# A\n\n1. Change `core.py`.\n2. Test it.\n"
    (risk,) = ask("probe", text, of=StaticBackend(tmp_path)).risks
    assert (risk.severity, risk.challenge, "5 files" in risk.risk) == ("MINOR", None, True)
    assert ask("probe", text.replace("Test", "Mend `user0.py` and test"), of=StaticBackend(tmp_path)).risks == ()


def settle(ask, plan, made, verdicts, severity="SIGNIFICANT", classification="full-consensus", **given):
    votes = tuple(
        PanelVote(
            worker=f"panel-{n}",
            verdict=verdict,
            basis="counter-evidence" if verdict == "disagree" else None,
            explanation="shop/orders.py:1 says so.",
        )
        for n, verdict in enumerate(verdicts, 1)
    )
    panel = (PanelResult(challenge="C1", classification=classification, rule="x", votes=votes),) if verdicts else ()
    held = (made(1, severity=severity),)
    evidence = {"C1": "plan.md:13\n> 1. Change `shop/stock.py`."}
    return ask("synthesizer", plan(WRONG), challenges=held, panel=panel, evidence=evidence, **given)


@pytest.mark.parametrize(
    ("verdicts", "classification", "severity", "given", "status"),
    [
        (["agree"] * 3, "full-consensus", "SIGNIFICANT", {}, "UNRESOLVED"),
        (["agree"] * 3, "full-consensus", "MINOR", {}, "DEFERRED"),
        (["disagree"] * 3, "worker-unique", "BLOCKING", {}, "WITHDRAWN"),
        (["agree", "disagree", "agree"], "contested", "BLOCKING", {}, "WITHDRAWN"),
        (["agree", "disagree", "agree"], "partial-consensus", "BLOCKING", {}, "UNRESOLVED"),
        (["agree"] * 3, "full-consensus", "BLOCKING", {"user_context": ("C1: it is generated",)}, "UNRESOLVED"),
        ([], "", "BLOCKING", {}, "UNRESOLVED"),
    ],
)
def test_the_synthesizer_settles_by_evidence(ask, plan, made, verdicts, classification, severity, given, status):
    answer = settle(ask, plan, made, verdicts, severity, classification, **given)
    (change,) = answer.changes
    assert (change.status, transition_refusal(severity, "OPEN", change.status, change.resolution)) == (status, "")
    assert rests_on_evidence(change.resolution, "C1", {"C1", "U1"}) or "C1" in change.resolution
    assert answer.status in CONVERGENCE_STATUSES
    assert bool(answer.question) == (severity == "BLOCKING" and status == "UNRESOLVED")


def test_an_answered_unknown_settles_what_it_affects(ask, plan, made):
    answered = Unknown(
        id="U1", description="?", type="FILE_MISSING", affects_challenge="C1", suggested_query="x",
        resolution="CONFIRMED", finding="[VERIFIED: a.py:1 | it is there | go on]",
    )  # fmt: skip
    (change,) = settle(ask, plan, made, ["agree"] * 3, unknowns=(answered,)).changes
    assert change.status == "RESOLVED"
    assert "[VERIFIED: a.py:1" in change.resolution


def test_without_a_panel_the_synthesizer_looks_again_itself(ask, plan, made):
    wrong = made(1, claim="The plan assumes that the file `shop/orders.py` exists.")
    evidence = {"C1": "plan.md:13\n> 1. Change `shop/stock.py`."}
    (change,) = ask("synthesizer", plan(WRONG), challenges=(wrong,), evidence=evidence).changes
    assert change.status == "WITHDRAWN"
    assert "shop/orders.py:1" in change.resolution


def test_what_overflowed_is_promoted_in_a_later_iteration_where_there_is_room(ask, plan, made):
    waiting = (made(7, severity="SIGNIFICANT"), made(8, severity="BLOCKING"), made(9, severity="MINOR"))
    assert ask("synthesizer", plan(WRONG), overflow=waiting).promotions == ()
    assert ask("synthesizer", plan(WRONG), overflow=waiting, iteration=2).promotions == ("C8", "C7")
    full = tuple(made(n, origin="surfaced") for n in range(1, 8))
    assert ask("synthesizer", plan(WRONG), challenges=full, overflow=waiting, iteration=2).promotions == ("C8",)


@pytest.mark.parametrize("role", ["score", "audit"])
def test_scores_are_whole_cited_and_fall_with_what_is_wrong(ask, plan, made, role):
    steps = WRONG if role == "score" else WRONG.replace("stock", "orders").replace("e2e", "test")
    good = ask(role, plan(steps)).scores
    bad = ask(role, plan(WRONG), challenges=(made(1, severity="BLOCKING", status="UNRESOLVED"),)).scores
    assert set(good) == set(bad) == set(DIMENSIONS)
    for one in (*good.values(), *bad.values()):
        assert one.score in range(1, 11)
        assert cites_location(one.evidence)
    assert sum(one.score for one in bad.values()) < sum(one.score for one in good.values())


def test_replies_come_in_the_order_of_the_questions(backend, role_request, plan):
    order = []

    async def one(name, role, text):
        await backend.answer(role_request(role, text))
        order.append(name)

    async def all_at_once():
        long = plan("\n".join(f"{n}. Change `shop/part{n}.py`." for n in range(1, 200)))
        await asyncio.gather(
            one("long", "challenger", long), one("short", "score", "# A"), one("third", "probe", "# B")
        )

    asyncio.run(all_at_once())
    assert order == ["long", "short", "third"]


def test_a_call_that_is_no_longer_wanted_ends_at_once(backend, role_request, plan):
    async def cancelled():
        calls = [asyncio.create_task(backend.answer(role_request("challenger", plan(f"{n}. x")))) for n in range(20)]
        await asyncio.sleep(0)
        for call in calls:
            call.cancel()
        return await asyncio.gather(*calls, return_exceptions=True)

    assert all(isinstance(one, asyncio.CancelledError) for one in asyncio.run(cancelled()))


def test_a_new_run_sees_the_folder_as_it_is_then(ask, plan, tmp_path):
    (tmp_path / "a.py").write_text("")
    backend = StaticBackend(tmp_path)
    text = (
        plan("1. Change `lib/b.py`.")
        .replace("tests/test_orders.py", "them")
        .replace("scripts/release.sh", "it")
        .replace("`make test`", "it")
    )
    assert len(ask("challenger", text, of=backend).challenges) == 1
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/b.py").write_text("")
    assert ask("challenger", text, of=backend).challenges == ()


@pytest.mark.parametrize("role", ["score", "audit"])
def test_a_dimension_about_which_nothing_was_looked_at_gets_five_and_says_so(ask, role):
    scores = ask(role, "# A\n\n1. Make it better.\n2. Make it faster.\n").scores
    assert {name: one.score for name, one in scores.items() if name != "constraint_alignment"} == dict.fromkeys(
        [name for name in DIMENSIONS if name != "constraint_alignment"], 5
    )
    assert all("othing was looked at" in one.evidence for name, one in scores.items() if one.score == 5)
    looked = ask(role, "# A\n\n1. Change `shop/orders.py`.\n2. Test it.\n").scores["assumption_validity"]
    assert (looked.score, "Looked at 1 line for files" in looked.evidence) == (10, True)
