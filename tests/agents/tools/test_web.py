"""The web: off unless asked for, only for what it serves, counted, and never with a key."""

import pytest

from verifyplan.agents.tools import WebCall, WebRules
from verifyplan.rules.budgets import Budget

UNKNOWNS = {"U1": "API_BEHAVIOR", "U2": "FILE_MISSING", "U3": "STALE_KNOWLEDGE", "U4": "INTEGRATION_UNKNOWN"}
RESOLVE = WebRules("resolve", UNKNOWNS, enabled=True)
PROBE = WebRules("probe", enabled=True)


def asked(kit, rules, serves="U1", tool="WebSearch", what="rate limit of the API", budget=None):
    tools = kit(budget, web=rules) if budget else kit(web=rules)
    return tools.check_web(tool, {"query" if tool == "WebSearch" else "url": what, "serves": serves}), tools


@pytest.mark.parametrize("rules", [None, WebRules("resolve", UNKNOWNS)])
def test_it_is_off_unless_asked_for(kit, rules):
    why, tools = asked(kit, rules)
    assert why == "web search is off: Anthropic(web=True)"
    assert tools.uses[-1].refused == why
    assert "WebSearch" not in tools.allowed()
    assert tools.run("WebSearch", {"query": "x", "serves": "U1"}).text == why


@pytest.mark.parametrize("serves", ["U1", "U3", "U4", " U1 "])
def test_unknowns_of_three_types_may_be_taken_there(kit, serves):
    call, tools = asked(kit, RESOLVE, serves)
    assert call == WebCall("WebSearch", "rate limit of the API", serves.strip())
    assert tools.uses == []


@pytest.mark.parametrize(
    ("serves", "why"),
    [
        ("", "a web call must name the unknown or risk that it serves"),
        ("U2", "the web is no place to ask about FILE_MISSING: only"),
        ("U9", "U9 is no unknown of this task: U1 (API_BEHAVIOR), U2 (FILE_MISSING)"),
        ("the API", "the API is no unknown of this task"),
    ],
)
def test_others_may_not(kit, serves, why):
    refused, tools = asked(kit, RESOLVE, serves)
    assert refused.startswith(why)
    assert tools.uses[-1].refused == refused
    assert tools.uses[-1].argument == "rate limit of the API"


def test_probing_may_ask_about_time_only(kit):
    for what in ("is boto2 deprecated", "Python 3.9 end-of-life", "httpx latest version", "node_16 EOL"):
        assert isinstance(asked(kit, PROBE, "P1", what=what)[0], WebCall)
    assert isinstance(asked(kit, PROBE, "removal of the v1 endpoint")[0], WebCall)
    assert "temporal risks only" in asked(kit, PROBE, "P1", what="how does a queue work")[0]
    assert asked(kit, PROBE, "", what="latest version")[0].startswith("a web call must name")


def test_surfacing_never_asks(kit):
    assert "never the web" in asked(kit, WebRules("surface", enabled=True))[0]


def test_calls_are_counted_when_they_are_made(kit):
    few = Budget({"WebSearch": 1, "WebFetch": 1})
    call, tools = asked(kit, RESOLVE, budget=few)
    assert tools.allowed() == ("WebSearch", "WebFetch")
    use = tools.record_web(call, 3)
    assert (use.tool, use.argument, use.serves, use.results, use.refused) == ("WebSearch", call.argument, "U1", 3, "")
    assert tools.uses == [use]
    again = tools.check_web("WebSearch", {"query": "more", "serves": "U1"})
    assert again == "WebSearch is used up: 1 of 1 calls in this iteration"
    assert tools.allowed() == ("WebFetch",)
    assert asked(kit, RESOLVE, budget=Budget({"Read": 1}))[0] == "WebSearch is not among this agent's tools"


def test_a_call_that_the_endpoint_did_not_make_does_not_count(kit):
    call, tools = asked(kit, RESOLVE, budget=Budget({"WebSearch": 1}))
    tools.record_web(call, 0, refused="the endpoint has no web search")
    assert tools.allowed() == ("WebSearch",)


def test_pages_are_fetched_over_http_only(kit):
    url = "https://docs.example/api?v=2#limits"
    assert asked(kit, RESOLVE, tool="WebFetch", what=url)[0] == WebCall("WebFetch", url, "U1")
    for wrong in ("file:///etc/passwd", "docs.example", "ftp://a.example/", "https://", "https://a.example/ b"):
        refused, tools = asked(kit, RESOLVE, tool="WebFetch", what=wrong)
        assert "url: String should match pattern" in refused
        assert tools.uses[-1].refused == refused


def test_no_key_goes_into_the_web(kit):
    key = "sk-ant-api03-" + "a1B2" * 8
    for tool, what in (("WebSearch", f"what is {key}"), ("WebFetch", f"https://a.example/?k={key}")):
        refused, tools = asked(kit, RESOLVE, tool=tool, what=what)
        assert refused == "it holds what looks like a key, which goes nowhere"
        assert key not in str(tools.uses)


def test_a_web_call_is_not_made_by_run(kit):
    result = kit(web=RESOLVE).run("WebSearch", {"query": "x", "serves": "U1"})
    assert result.text == "a web call is not made here: ask check_web"
    assert result.use.refused
