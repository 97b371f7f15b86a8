"""rule A12: tool calls that a backend reports are held against the ceilings of document 000, and a table says so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.runs.plan.acting import Acting
from tests.runs.plan.planning import challenge, run_of, told, unknown
from verifyplan.protocol.call import TOOLS, Reply, ToolUse, WorkerRequest
from verifyplan.rules.budgets import LIMITS

RAISES = {"challenges": [challenge("rows", "BLOCKING")], "unknowns": [unknown("store")]}


def uses(tools, refused=""):
    return tuple(ToolUse(tool=tool, argument="x", refused=refused) for tool in tools)


def reporting(by_call, directives=None, **settings):
    """A run whose backend has tools of its own, and reports these calls of them."""

    def play(request):
        if isinstance(request, WorkerRequest):
            return Reply(value={"votes": {}})
        value = RAISES if request.role == "challenger" else {}
        if request.call_id == "i1/synthesizer":
            value = {"directives": directives or []}
        return Reply(value=value, tools=by_call.get(request.call_id, ()))

    return run_of({}, backend=Acting(play), **{"panel": None, "team": "base", "max_iterations": 2} | settings)


def test_calls_beyond_a_ceiling_are_flagged_and_in_the_table():
    run = reporting({"i1/challenger": uses(["Grep"] * 7 + ["WebSearch"]), "i1/resolver": uses(["Grep"] * 5)})
    passed = [(one.call_id, one.role, one.tool, one.used, one.ceiling) for one in told(run, "ceiling-passed")]
    assert passed == [("i1/challenger", "challenger", "Grep", 7, 5), ("i1/challenger", "challenger", "WebSearch", 1, 0)]
    assert run.state.ceilings_passed == told(run, "ceiling-passed")
    assert "i1/challenger: 7 calls of Grep, of 5" in run.report()
    table = run.frames.budgets.set_index(["call_id", "tool"])
    assert table.loc[("i1/challenger", "Grep"), ["used", "ceiling", "over", "iteration"]].tolist() == [7, 5, True, 1]
    assert table.loc[("i1/resolver", "Grep"), ["used", "ceiling", "over"]].tolist() == [5, 5, False]
    assert table.loc[("i1/resolver", "Grep"), "agent"] == "resolver"
    assert table.loc[("i1/surface", "git_log"), "agent"] == "researcher"
    assert table["over"].sum() == 2


def test_refused_calls_count_for_nothing():
    run = reporting({"i1/challenger": uses(["Grep"] * 9, refused="no")})
    assert told(run, "ceiling-passed") == []
    assert run.frames.budgets.set_index(["call_id", "tool"]).loc[("i1/challenger", "Grep"), "refused"] == 9


def test_a_grant_raises_the_ceiling_of_the_next_iteration():
    grant = {"kind": "GRANT", "role": "challenger", "tools": {"Grep": 2}}
    run = reporting({"i2/challenger": uses(["Grep"] * 7)}, [grant])
    assert told(run, "ceiling-passed") == []
    table = run.frames.budgets.set_index(["call_id", "tool"])["ceiling"]
    assert (table["i1/challenger", "Grep"], table["i2/challenger", "Grep"]) == (5, 7)


def test_without_a_memory_its_share_lapses_and_a_call_of_it_is_flagged():
    run = reporting({"i1/surface": uses(["memory_search"] + ["Grep"] * 5)})
    assert [(one.tool, one.ceiling) for one in told(run, "ceiling-passed")] == [("Grep", 4), ("memory_search", 0)]


@given(st.lists(st.sampled_from(TOOLS), max_size=30))
def test_a_flag_is_raised_exactly_where_a_ceiling_is_passed(tools):
    run = reporting({"i1/probe": uses(tools)}, max_iterations=1)
    limits = LIMITS["probe"] | {"memory_search": 0}
    over = [tool for tool in TOOLS if tools.count(tool) > limits.get(tool, 0)]
    assert [one.tool for one in told(run, "ceiling-passed")] == over
