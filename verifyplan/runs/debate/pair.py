"""Two backends as one: the architect's requests go to the one, the builder's to the other (rules C2, G1)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self

from verifyplan.agents.base import Backend, ConversingBackend, Turns, session_of
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.protocol.call import Reply
from verifyplan.protocol.debate_call import DebateRequest
from verifyplan.protocol.message import DEBATE_ROLES, DebateRole

NAME = "pair"
"""What a pair is called in a log."""


class Pair:
    """Two backends that each play one role of a debate."""

    def __init__(self, architect: Backend, builder: Backend) -> None:
        self.architect, self.builder = architect, builder

    def describe(self) -> dict[str, Any]:
        """Its name, and what each of the two says of itself."""
        return {"name": NAME, **{role: self.player(role).describe() for role in DEBATE_ROLES}}

    def check_worker(self, worker: str) -> str | None:
        """What is wrong: a pair votes on nothing."""
        return f"architect and builder of a debate do not vote, as {worker!r} would"

    def player(self, role: DebateRole) -> Backend:
        """Who plays a role."""
        return self.architect if role == "architect" else self.builder

    async def answer(self, request: DebateRequest) -> Reply:
        """The reply of whoever plays the role."""
        return await self.player(request.role).answer(request)


class ConversingPair(Pair):
    """A pair of which at least one speaks in turns, each of which is recorded."""

    @property
    def max_concurrency(self) -> int:
        """One: the calls of a debate come one after another."""
        return 1

    async def converse(self, request: DebateRequest, turns: Turns) -> Reply:
        """The reply of whoever plays the role, by turns if it speaks in turns."""
        player = self.player(request.role)
        return await (
            player.converse(request, turns) if isinstance(player, ConversingBackend) else player.answer(request)
        )

    def session(self) -> AbstractAsyncContextManager[object]:
        """Holds the connections of both."""
        return _both(self)

    def at(self, root: str | Path) -> Self:
        """The same pair for a debate over another folder."""
        return type(self)(*(_at(self.player(role), root) for role in DEBATE_ROLES))

    def budget_problem(self, limit: str) -> str | None:
        """None if both can keep a limit, else what is missing; a script costs nothing."""
        for role in DEBATE_ROLES:
            player = self.player(role)
            if isinstance(player, ConversingBackend):
                told = player.budget_problem(limit)
            else:
                told = None if isinstance(player, ScriptedBackend) else f"calls of the {role} have no price"
            if told is not None:
                return told
        return None


@asynccontextmanager
async def _both(pair: Pair) -> AsyncIterator[object]:
    async with AsyncExitStack() as stack:
        for role in DEBATE_ROLES:
            await stack.enter_async_context(session_of(pair.player(role)))
        yield None


def _at(player: Backend, root: str | Path) -> Backend:
    return player.at(root) if isinstance(player, ConversingBackend) else player


def paired(architect: Backend, builder: Backend) -> Backend:
    """Both as one backend: the one that plays both roles, else a pair that speaks in turns if one of them does.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> one = ScriptedBackend({})
    >>> paired(one, one) is one, paired(one, ScriptedBackend({})).describe()["name"]
    (True, 'pair')
    """
    if architect is builder:
        return architect
    in_turns = isinstance(architect, ConversingBackend) or isinstance(builder, ConversingBackend)
    return ConversingPair(architect, builder) if in_turns else Pair(architect, builder)
