"""The tools of an agent: counted, recorded, refused when used up, and confined to the repository."""

import pytest

from verifyplan.agents.repository import Repository
from verifyplan.agents.toolbox import Toolbox, budget


@pytest.fixture
def tools(shop):
    return Toolbox(
        Repository.open(shop), {"plan.md": "# A\r\n1. x"}, budget({"Read": 1, "Grep": 1, "git_log": 1}, pool=1)
    )


def test_calls_over_budget_are_refused_and_recorded(tools):
    assert tools.read("shop/client.py").lines[2] == "TIMEOUT = 7"
    assert tools.grep("find_order").matches
    assert tools.read("shop/orders.py").lines  # drawn from the pool
    refused = tools.read("shop/routes.py")
    assert refused.lines == ()
    assert refused.refused == "Read is used up: 2 of 1 calls in this iteration"
    assert tools.grep("x").refused
    assert [(use.tool, bool(use.refused)) for use in tools.uses] == [
        ("Read", False), ("Grep", False), ("Read", False), ("Read", True), ("Grep", True),
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


def test_git_is_asked_for_the_commits_of_some_files(tools):
    commits = tools.git_log(["shop/client.py"], serves="U1").commits
    assert commits[0].subject.startswith("Revert")
    assert tools.git_log(["shop/client.py"]).refused == "git_log is used up: 1 of 1 calls in this iteration"
    assert tools.uses[0].serves == "U1"
    assert not tools.left("git_log")
