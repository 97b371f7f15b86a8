"""Two backends as one: routed by role, sessions of both, limits of both (rules C2, G1)."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

import verifyplan as vp
from tests.runs.debate_scripts import CONVERGES, Heard
from verifyplan.agents.base import ConversingBackend
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.errors import InputError
from verifyplan.protocol.role_call import DebateRequest
from verifyplan.runs.debate.pair import ConversingPair, Pair, paired


class Speaks(Heard):
    """A backend that speaks in turns, and counts who holds its connections."""

    max_concurrency = 3

    def __init__(self, script, problem=None):
        super().__init__(script)
        self.problem, self.held, self.roots = problem, 0, []

    async def converse(self, request, _turns):
        assert self.held == 1
        return await self.answer(request)

    @asynccontextmanager
    async def _session(self):
        self.held += 1
        yield self
        self.held -= 1

    def session(self):
        return self._session()

    def at(self, root):
        self.roots.append(root)
        return self

    def budget_problem(self, _limit):
        return self.problem


def request(role):
    kind = "implement" if role == "builder" else "propose"
    return DebateRequest(call_id=f"t1/{kind}", role=role, type=kind, turn=1, max_turns=3, task="greet")


def test_one_object_plays_both_roles_as_it_is():
    one = Heard(CONVERGES)
    assert paired(one, one) is one


def test_a_pair_routes_by_role_and_says_who_plays_what():
    architect, builder = Heard(CONVERGES), Heard(CONVERGES)
    pair = paired(architect, builder)
    assert isinstance(pair, Pair)
    assert not isinstance(pair, ConversingBackend)
    asyncio.run(pair.answer(request("builder")))
    assert (architect.calls, builder.calls) == ([], ["t1/implement"])
    assert pair.describe() == {"name": "pair", "architect": {"name": "scripted"}, "builder": {"name": "scripted"}}
    assert "do not vote" in pair.check_worker("ann")


def test_a_pair_of_which_one_speaks_in_turns_speaks_in_turns():
    pair = paired(Heard(CONVERGES), Speaks(CONVERGES))
    assert isinstance(pair, ConversingBackend)
    assert pair.max_concurrency == 1


def test_connections_of_both_are_held_while_the_debate_runs(tmp_path):
    architect, builder = Speaks(CONVERGES), Speaks(CONVERGES)
    run = vp.debate("greet", architect, builder, repo=tmp_path, log_dir=None, max_cost=1)
    assert run.status == "CONVERGED"
    assert (architect.held, builder.held) == (0, 0)
    assert architect.roots == builder.roots == [tmp_path]
    moved = ConversingPair(architect, Heard({})).at("elsewhere")
    assert isinstance(moved, ConversingPair)
    assert architect.roots[-1] == "elsewhere"


def test_a_cost_is_kept_where_both_can_keep_it(tmp_path):
    fine, dear = Speaks({}), Speaks({}, "the model has no price")
    assert ConversingPair(fine, ScriptedBackend({})).budget_problem("max_cost") is None
    assert ConversingPair(fine, dear).budget_problem("max_cost") == "the model has no price"
    assert ConversingPair(fine, Heard({})).budget_problem("max_cost") == "calls of the builder have no price"
    with pytest.raises(InputError, match="max_cost: cannot be kept: the model has no price"):
        vp.debate("greet", fine, dear, repo=tmp_path, log_dir=None, max_cost=1)
