"""Tools that a model calls in a run: what they gave is what it reads next, counted, refused and recorded (rule A12)."""

from __future__ import annotations

import itertools

import pytest

from tests.live.live_runs import Played, facts, speaking_to, times, turn_of, turns
from tests.live.scripted_replies import calls, fetches, says, searches, status
from tests.live.scripted_server import ScriptedServer
from tests.runs.plan.planning import PLAN, answer, challenge, scores, unknown
from verifyplan.agents.tools import ModelToolkit
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.call import Usage
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import Budget, limits_of
from verifyplan.runs.plan.verify import verify

ANSWERS = {
    "i1/challenger": {
        "challenges": [challenge("locks", "MINOR")],
        "unknowns": [unknown("store"), unknown("table", kind="FILE_MISSING")],
    },
    "i1/resolver": {"answers": [answer("U1", "CONFIRMED"), answer("U2", "CONFIRMED")]},
    "i1/score": scores(7),
    "i1/audit": scores(7),
}


@pytest.fixture
def repository(tmp_path):
    """Ten files of two lines each, and one with three."""
    root = tmp_path / "repository"
    root.mkdir()
    for number in range(10):
        (root / f"m{number}.py").write_text(f"import m{number}\nlock = {number}\n")
    (root / "store.py").write_text("import locks\n\nlocks.open('orders')\n")
    return root


def asked_for(root, first, **more):
    """The run whose agents say `first` before what the script has, and the server that they asked."""
    given = {"log_dir": None, "team": "base", "panel": None, "progress": False, "max_iterations": 1}
    settings = {name: more.pop(name) for name in list(more) if name in given}
    played = Played(ANSWERS | more.pop("answers", {}), first, silent=True)
    with ScriptedServer(played) as server:
        run = verify(parse_plan(PLAN), root, backend=speaking_to(server, **more), **given | settings)
    return run, server


def results_of(server, turn):
    """The results of tools that the request of a turn brings, each as (id, text, failed)."""
    [asked] = [one for one in server.requests if turn_of(one) == turn]
    return [
        (block["tool_use_id"], block["content"], block.get("is_error", False))
        for block in asked.body["messages"][-1]["content"]
        if block["type"] == "tool_result"
    ]


def texts_of(server, turn):
    return [text for _, text, _ in results_of(server, turn)]


def kit_of(root, role="challenger"):
    """The tools of a role without a memory, asked without any model."""
    return ModelToolkit(Repository.open(root, PLAN), {"plan.md": PLAN}, Budget(limits_of(role)))


def uses(run, call):
    return [(use.tool, use.argument, use.refused) for event in replies(run, call) for use in event.tools]


def replies(run, call):
    return [event for event in facts(run, "call-replied") if event.call_id == call]


def test_what_tools_give_is_what_the_model_reads_next(repository):
    asked = [
        ("Read", {"path": "store.py"}),
        ("Grep", {"pattern": r"lock\w* ="}),
        ("Read", {"path": "m3.py", "first": 2}),
    ]
    first = {
        "i1/challenger/t1": calls("Read", **asked[0][1]),
        "i1/challenger/t2": says("I look further.") + calls("Grep", **asked[1][1]) + calls("Read", **asked[2][1]),
    }
    run, server = asked_for(repository, first)
    kit = kit_of(repository)
    given = [kit.run(*one).text for one in asked]
    assert texts_of(server, "i1/challenger/t2") == given[:1]
    assert texts_of(server, "i1/challenger/t3") == given[1:]
    assert "1: import locks" in given[0]
    assert "m9.py:2: lock = 9" in given[1]
    assert given[2].endswith("2: lock = 3")
    assert not any(failed for turn in ("t2", "t3") for _, _, failed in results_of(server, f"i1/challenger/{turn}"))
    assert (run.verdict, times(server)["i1/challenger/t3"], server.refused) == ("PROCEED", 1, [])


def test_a_conversation_grows_by_what_was_said_and_nothing_else(repository):
    both = calls("Read", path="m1.py") + calls("Read", path="m2.py")
    _, server = asked_for(repository, {"i1/challenger/t1": both, "i1/challenger/t2": calls("Grep", pattern="lock")})
    bodies = [one.body for one in server.requests if turn_of(one).startswith("i1/challenger")]
    constant = [{key: value for key, value in body.items() if key != "messages"} for body in bodies]
    assert constant[0] == constant[1] == constant[2]
    said = [[unmarked(message) for message in body["messages"]] for body in bodies]
    assert said[1][:1] == said[0]
    assert said[2][:3] == said[1]
    ids = [block["id"] for block in said[1][1]["content"]]
    assert [block["tool_use_id"] for block in said[1][2]["content"]] == ids
    assert len(set(ids)) == 2


def unmarked(message):
    blocks = [{key: value for key, value in block.items() if key != "cache_control"} for block in message["content"]]
    return message | {"content": blocks}


def test_tools_stand_in_the_log_and_in_the_tables(repository):
    first = {
        "i1/challenger/t1": calls("Read", path="store.py", first=2, last=3) + calls("Grep", pattern="lock"),
        "i1/challenger/t2": calls("Read", path="../secret"),
    }
    run, _ = asked_for(repository, first)
    sent = {event.call_id: event for event in facts(run, "turn-sent")}
    assert [use.argument for use in sent["i1/challenger/t2"].tools] == ["store.py:2-3", "lock"]
    assert [use.results for use in sent["i1/challenger/t2"].tools] == [2, 12]
    [refused] = sent["i1/challenger/t3"].tools
    assert refused.refused
    [reply] = replies(run, "i1/challenger")
    assert reply.tools == sent["i1/challenger/t2"].tools + sent["i1/challenger/t3"].tools
    table = run.frames.tools.query("call_id == 'i1/challenger'")
    assert list(table["tool"]) == ["Read", "Grep", "Read"]
    assert list(table["refused"]) == ["", "", refused.refused]
    assert run.frames.calls.set_index("call_id").loc["i1/challenger", "n_tools"] == 3


def test_the_usage_of_a_call_is_that_of_all_its_turns(repository):
    first = {
        "i1/challenger/t1": calls("Read", path="store.py").using(input_tokens=100, output_tokens=10),
        "i1/challenger/t2": calls("Read", path="m1.py").using(
            input_tokens=3, output_tokens=20, cache_read_input_tokens=7, cache_creation_input_tokens=5
        ),
    }
    run, _ = asked_for(repository, first)
    told = [event.usage for event in facts(run, "turn-replied") if event.of_call == "i1/challenger"]
    [reply] = replies(run, "i1/challenger")
    assert reply.usage == sum(told, Usage())
    assert [usage.output_tokens for usage in told[:2]] == [10, 20]
    assert (told[1].cache_read_tokens, told[1].cache_write_tokens) == (7, 5)
    assert reply.usage.cost == sum(usage.cost for usage in told) > 0


def test_a_call_over_budget_is_refused_and_the_model_goes_on(repository):
    reads = [calls("Read", path=f"m{number}.py") for number in range(10)]
    first = {"i1/challenger/t1": sum(reads[1:9], reads[0]), "i1/challenger/t2": reads[9]}
    run, server = asked_for(repository, first)
    results = results_of(server, "i1/challenger/t2")
    assert [failed for _, _, failed in results] == [False] * 8 + [True]
    assert results[8][1] == "Read is used up: 8 of 8 calls in this iteration"
    assert texts_of(server, "i1/challenger/t3") == ["Read is used up: 8 of 8 calls in this iteration"]
    assert [bool(refused) for _, _, refused in uses(run, "i1/challenger")] == [False] * 8 + [True] * 2
    assert run.verdict == "PROCEED"
    assert server.requests[0].tools == ["Read", "Grep"]


def test_what_was_read_already_and_the_plan_cost_nothing(repository):
    again = [calls("Read", path="m1.py"), calls("Read", path="m1.py"), calls("Read", path="plan.md")]
    run, server = asked_for(repository, {f"i1/challenger/t{n}": one for n, one in enumerate(again, start=1)})
    assert texts_of(server, "i1/challenger/t2") == texts_of(server, "i1/challenger/t3")
    assert "1: # Move the orders" in texts_of(server, "i1/challenger/t4")[0]
    assert uses(run, "i1/challenger") == [("Read", "m1.py", "")]


def test_the_share_of_a_memory_that_is_not_there_lapses(repository):
    reads = [calls("Read", path=f"m{n % 10}.py", first=1, last=1 + n // 10) for n in range(12)]
    run, _ = asked_for(repository, {"i1/resolver/t1": sum(reads[1:], reads[0])})
    assert [bool(refused) for _, _, refused in uses(run, "i1/resolver")] == [False] * 8 + [True] * 4


def test_a_memory_is_searched(repository, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "orders.md").write_text("# Orders\n\nThe old table of orders was locked for an hour in May.\n")
    first = {"i1/resolver/t1": calls("memory_search", query="locked orders", serves="U1")}
    run, server = asked_for(repository, first, memory=notes)
    assert "locked for an hour" in texts_of(server, "i1/resolver/t2")[0]
    assert uses(run, "i1/resolver") == [("memory_search", "locked orders", "")]
    without, server = asked_for(repository, first)
    assert texts_of(server, "i1/resolver/t2") == ["memory_search is refused: no memory is configured"]
    assert [bool(refused) for _, _, refused in uses(without, "i1/resolver")] == [True]


@pytest.mark.parametrize("agent", ["challenger", "resolver", "surface", "probe", "synthesizer", "score", "audit"])
def test_every_role_can_read(repository, agent):
    run, server = asked_for(repository, {f"i1/{agent}/t1": calls("Read", path="store.py")})
    assert "1: import locks" in texts_of(server, f"i1/{agent}/t2")[0]
    assert uses(run, f"i1/{agent}") == [("Read", "store.py", "")]
    assert (run.verdict, run.score) == ("PROCEED", 7)


def test_agents_that_are_asked_at_once_share_what_they_look_into(repository):
    looks = [calls("Grep", pattern="lock"), calls("Read", path="store.py"), calls("Grep", pattern="import m1")]
    both = ["domain-expert", "devils-advocate"]
    first = {f"i1/{role}/t{n}": look for role in both for n, look in enumerate(looks, start=1)}
    _, server = asked_for(repository, first, team="scaled")
    told = [[texts_of(server, f"i1/{role}/t{n}") for n in (2, 3, 4)] for role in both]
    assert told[0] == told[1]
    kit = kit_of(repository)
    assert told[0] == [[kit.run(use["name"], use["input"]).text] for look in looks for use in look.content]


# The web


SEARCH = calls("WebSearch", query="orders api retries", serves="U1")
FOUND = searches(
    "orders api retries", ("https://a.example/1", "One"), ("https://a.example/2", "Two"), text="It retries."
)


def test_a_web_search_is_an_exchange_of_its_own(repository):
    first = {"i1/resolver/t1": SEARCH, "i1/resolver/t1/w1": FOUND.using(input_tokens=500, output_tokens=50)}
    run, server = asked_for(repository, first, web=True)
    assert [turn for turn in turns(server) if "resolver" in turn] == [
        "i1/resolver/t1",
        "i1/resolver/t1/w1",
        "i1/resolver/t2",
    ]
    [look] = [one for one in server.requests if turn_of(one) == "i1/resolver/t1/w1"]
    assert [(tool["name"], tool["max_uses"]) for tool in look.body["tools"]] == [("web_search", 1)]
    assert "orders api retries" in look.prompt
    assert "Move the orders" not in str(look.body)  # nothing of the plan leaves by a search
    assert texts_of(server, "i1/resolver/t2") == ["It retries."]
    told = [event for event in facts(run, "turn-replied") if event.of_call == "i1/resolver"]
    assert [event.call_id for event in told] == ["i1/resolver/t1", "i1/resolver/t1/w1", "i1/resolver/t2"]
    [reply] = replies(run, "i1/resolver")
    assert reply.usage == sum((event.usage for event in told), Usage())
    assert reply.usage.web_searches == 1
    assert [(use.tool, use.argument, use.serves, use.results) for use in reply.tools] == [
        ("WebSearch", "orders api retries", "U1", 2)
    ]


def test_a_page_is_fetched(repository):
    first = {
        "i1/resolver/t1": calls("WebFetch", url="https://a.example/1", serves="U1"),
        "i1/resolver/t1/w1": fetches("https://a.example/1", "the page", text="The page says so."),
    }
    run, server = asked_for(repository, first, web=True)
    assert texts_of(server, "i1/resolver/t2") == ["The page says so."]
    assert uses(run, "i1/resolver") == [("WebFetch", "https://a.example/1", "")]


def test_the_web_is_refused_where_the_rules_say_so(repository):
    missing = calls("WebSearch", query="orders", serves="U2")
    nothing, unknown_one = (
        calls("WebSearch", query="orders", serves=""),
        calls("WebSearch", query="orders", serves="U9"),
    )
    by_challenger = {"i1/challenger/t1": SEARCH}
    run, server = asked_for(repository, {"i1/resolver/t1": missing + nothing + unknown_one} | by_challenger, web=True)
    refused = texts_of(server, "i1/resolver/t2")
    assert refused[0].startswith("the web is no place to ask about FILE_MISSING")
    assert refused[1] == "a web call must name the unknown or risk that it serves"
    assert refused[2] == "U9 is no unknown of this task: U1 (API_BEHAVIOR), U2 (FILE_MISSING)"
    assert not [turn for turn in turns(server) if "/w" in turn]
    assert [bool(why) for _, _, why in uses(run, "i1/resolver")] == [True] * 3
    assert texts_of(server, "i1/challenger/t2") == [uses(run, "i1/challenger")[0][2]] != [""]


def test_the_budget_of_the_web_is_kept(repository):
    first = {"i1/resolver/t1": sum([SEARCH] * 3, SEARCH)} | {f"i1/resolver/t1/w{n}": FOUND for n in (1, 2, 3, 4)}
    run, server = asked_for(repository, first, web=True)
    assert [turn for turn in turns(server) if "/w" in turn] == [f"i1/resolver/t1/w{n}" for n in (1, 2, 3)]
    assert texts_of(server, "i1/resolver/t2")[3] == "WebSearch is used up: 3 of 3 calls in this iteration"
    [reply] = replies(run, "i1/resolver")
    assert reply.usage.web_searches == 3


def test_the_web_is_off_unless_it_was_asked_for(repository):
    run, server = asked_for(repository, {"i1/resolver/t1": SEARCH})
    assert not {"WebSearch", "WebFetch"} & set(itertools.chain(*(asked.tools for asked in server.requests)))
    assert not [turn for turn in turns(server) if "/w" in turn]
    assert "web=True" in texts_of(server, "i1/resolver/t2")[0]
    assert run.verdict == "PROCEED"


def test_an_endpoint_that_cannot_search_is_told_as_a_refusal_and_the_call_goes_on(repository):
    answer = status(400, message="web_search is not enabled")
    run, server = asked_for(repository, {"i1/resolver/t1": SEARCH, "i1/resolver/t1/w1": answer}, web=True)
    [(_, text, failed)] = results_of(server, "i1/resolver/t2")
    assert failed
    assert text.startswith("the endpoint could not look it up")
    assert uses(run, "i1/resolver")[0][2] == text
    assert run.verdict == "PROCEED"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (searches("orders", error="max_uses_exceeded"), "The endpoint found nothing (max_uses_exceeded)."),
        (says(" "), "The endpoint found nothing."),
    ],
)
def test_a_look_that_finds_nothing_was_paid_for_and_counts(repository, answer, told):
    run, server = asked_for(repository, {"i1/resolver/t1": SEARCH, "i1/resolver/t1/w1": answer}, web=True)
    [(_, text, failed)] = results_of(server, "i1/resolver/t2")
    assert (text, bool(failed)) == (told, False)
    assert uses(run, "i1/resolver")[0][2] == ""
