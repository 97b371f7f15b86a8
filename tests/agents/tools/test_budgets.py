"""Calls are counted and refused as rule A12 says, whatever is called in whatever order."""

from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.agents.tools import ModelToolkit, WebRules
from verifyplan.agents.tools.toolkit import MAX_UNCOUNTED_CALLS, StaticToolkit
from verifyplan.protocol.call import TOOLS, ToolUse
from verifyplan.repository.listing import Listing
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import LIMITS, Budget

FEW = Budget({"Read": 2, "Grep": 1, "git_log": 1, "memory_search": 1, "WebSearch": 1})
CALLS = {
    "Read": {"path": "src/app.py"},
    "Grep": {"pattern": "TIMEOUT"},
    "git_log": {"paths": ["src/app.py"]},
    "memory_search": {"query": "orders"},
}


class Notes:
    """A memory without its library."""

    def search(self, *_):
        return []

    def __len__(self):
        return 0


@pytest.mark.parametrize("tool", CALLS)
def test_each_tool_has_its_own_limit(kit, tool):
    tools = kit(Budget({tool: 2}), memory=Notes())
    arguments = [CALLS[tool] | ({"first": n} if tool == "Read" else {}) for n in (1, 2, 3)]
    assert tools.allowed() == (tool,)
    assert [bool(tools.run(tool, one).use.refused) for one in arguments] == [False, False, True]
    assert tools.uses[-1].refused == f"{tool} is used up: 2 of 2 calls in this iteration"
    assert tools.allowed() == ()
    assert tools.run("Read" if tool != "Read" else "Grep", CALLS["Read" if tool != "Read" else "Grep"]).use.refused


def test_without_a_memory_its_share_lapses(kit):
    tools = kit(FEW)
    assert tools.allowed() == ("Read", "Grep", "git_log")
    assert (
        tools.run("memory_search", CALLS["memory_search"]).text == "memory_search is refused: no memory is configured"
    )
    assert not tools.run("Grep", CALLS["Grep"]).failed
    assert tools.run("Grep", CALLS["Grep"]).text == "Grep is used up: 1 of 1 calls in this iteration"


def test_with_a_memory_there_is_no_pool(kit):
    tools = kit(FEW, memory=Notes())
    assert "memory_search" in tools.allowed()
    tools.run("Grep", CALLS["Grep"])
    assert tools.run("Grep", CALLS["Grep"]).failed
    assert tools.run("memory_search", CALLS["memory_search"]).text == "The memory holds no notes."


def test_the_same_lines_again_are_free_and_others_are_not(kit):
    tools = kit(Budget({"Read": 2}))
    first = tools.run("Read", {"path": "src/app.py"})
    again = tools.run("Read", {"path": "src/app.py"})
    assert (again.text, again.use) == (first.text, None)
    assert tools.run("Read", {"path": "src/app.py", "first": 3}).use.argument == "src/app.py:3-"
    assert tools.run("Read", {"path": "docs/guide.md"}).use.refused
    assert not tools.run("Read", {"path": "src/app.py", "first": 3}).failed


def test_paths_that_differ_at_their_end_only_are_two(kit):
    tools = kit(Budget({"Read": 1}))
    tools.run("Read", {"path": f"{'long/' * 150}a.py"})
    assert tools.run("Read", {"path": f"{'long/' * 150}b.py"}).text.startswith("Read is used up")


def test_refused_calls_and_bad_arguments_do_not_count(kit):
    tools = kit(Budget({"Read": 1}))
    for arguments in ({"path": ".env"}, {"path": "../x"}, {"file": "x"}, "src/app.py", None):
        result = tools.run("Read", arguments)
        assert result.failed
        assert result.use.refused == result.text
    assert not tools.run("Read", {"path": "src/app.py"}).failed


def test_what_found_nothing_counts(kit):
    tools = kit(Budget({"Read": 1, "Grep": 2}))
    assert not tools.run("Read", {"path": "gone.py"}).use.refused
    assert tools.run("Grep", {"pattern": "("}).use.results == 0
    assert tools.run("Grep", {"pattern": "nowhere at all"}).text == "No line matches."
    assert tools.allowed() == ()


def test_an_unknown_tool_is_told_which_there_are(kit):
    tools = kit(Budget({"Read": 1, "Grep": 1}))
    result = tools.run("Bash", {"command": "cat .env"})
    assert result == ("There is no tool 'Bash'. The tools here: Read, Grep.", None, True)
    assert "The tools here: none." in kit(Budget({})).run("Bash", {}).text


def test_no_model_can_call_for_ever(kit):
    for name, arguments in (("Bash", {}), ("Read", {"path": "plan.md"}), ("Read", {"path": ".env"}), ("Read", {})):
        tools = kit()
        for _ in range(MAX_UNCOUNTED_CALLS):
            assert "Read" in tools.allowed()
            tools.run(name, arguments)
        assert tools.allowed() == ()
        for path in ("src/app.py", "plan.md"):
            assert tools.run("Read", {"path": path}).text == "no more tools in this call: 20 calls were refused or free"


def test_a_resumed_kit_goes_on_where_the_log_ends(kit):
    first = kit(FEW)
    for name in ("Read", "Grep", "Bash"):
        first.run(name, CALLS.get(name, {}))
    first.run("Read", {"path": ".env"})
    second = kit(FEW)
    second.count(first.uses)
    assert second.uses == first.uses
    for tools in (first, second):
        assert tools.run("Read", CALLS["Read"]).use is None  # had before the run died
        tools.run("Grep", CALLS["Grep"])
        tools.run("Read", {"path": "docs/guide.md"})
        tools.run("git_log", CALLS["git_log"])
    assert second.uses == first.uses
    assert second.allowed() == first.allowed() == ()


EMPTY = Repository(Path(__file__).parent, Listing())


@given(st.lists(st.sampled_from(["Read", "Grep"]), max_size=30), st.sampled_from(list(LIMITS)))
def test_the_static_agents_and_the_models_have_the_same_budget(names, mode):
    """Both kits refuse the same calls, whatever the order."""
    limits = {tool: calls for tool, calls in LIMITS[mode].items() if tool != "memory_search"}
    allowance = Budget(limits)
    tools, toolbox = ModelToolkit(EMPTY, {}, allowance), StaticToolkit(EMPTY, {}, allowance)
    with patch("verifyplan.agents.tools.sources.search", return_value=[]):  # each search starts a process
        for n, name in enumerate(names):
            tools.run(name, {"path": f"{n}"} if name == "Read" else {"pattern": f"{n}"})
    for n, name in enumerate(names):
        toolbox.read(f"{n}") if name == "Read" else toolbox.grep(f"{n}")
    few = next((n for n, use in enumerate(tools.uses) if use.refused.startswith("no more")), len(names))
    assert tools.uses[:few] == toolbox.uses[:few]


USE = st.builds(ToolUse, tool=st.sampled_from(TOOLS), argument=st.text(max_size=5), refused=st.sampled_from(["", "no"]))


@given(st.lists(USE, max_size=40))
def test_any_log_can_be_counted(uses):
    tools = ModelToolkit(EMPTY, {}, FEW, web=WebRules("resolve", {}, enabled=True))
    tools.count(uses)
    assert tools.uses == uses
    used = {tool: sum(use.tool == tool and not use.refused for use in uses) for tool in TOOLS}
    for tool in tools.allowed():
        assert used[tool] < FEW.limit(tool)
