"""The tools of an agent: counted, recorded, refused when used up, and confined to the repository."""

import pytest

from verifyplan.agents.tools.toolkit import StaticToolkit
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import Budget


@pytest.fixture
def tools(shop):
    limits = {"Read": 1, "Grep": 1, "git_log": 1, "memory_search": 1}
    return StaticToolkit(Repository.open(shop), {"plan.md": "# A\r\n1. x"}, Budget(limits))


def test_calls_over_budget_are_refused_and_recorded(tools):
    assert tools.read("shop/client.py").lines[2] == "TIMEOUT = 7"
    assert tools.grep("find_order").matches
    refused = tools.read("shop/routes.py")
    assert refused.lines == ()
    assert refused.refused == "Read is used up: 1 of 1 calls in this iteration"
    assert tools.grep("x").refused
    assert [(use.tool, bool(use.refused)) for use in tools.uses] == [
        ("Read", False), ("Grep", False), ("Read", True), ("Grep", True),
    ]  # fmt: skip


def test_what_an_agent_has_already_costs_nothing(tools):
    assert tools.read("plan.md").lines == ("# A", "1. x")
    tools.read("shop/client.py")
    tools.read("shop/client.py")
    assert [use.argument for use in tools.uses] == ["shop/client.py"]


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "gone.py", "shop", ""])
def test_what_is_no_file_of_the_repository_is_not_read(tools, path):
    read = tools.read(path)
    assert read.lines == ()
    assert "no file of the repository" in read.refused
    assert tools.uses[-1].results == 0


def test_a_pattern_that_is_none_is_an_answer_and_not_an_error(tools):
    found = tools.grep("(")
    assert found.matches == ()
    assert found.refused
