"""Make one backend of those that play architect and builder (rules C2, G1)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self

from verifyplan.agents.base import Backend, ConversingBackend, Turns, session_of
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.agents.static import StaticBackend
from verifyplan.errors import Problem, Problems, SettingsError
from verifyplan.protocol.call import Reply
from verifyplan.protocol.message import DEBATE_ROLES, DebateRole
from verifyplan.protocol.role_call import DebateRequest
from verifyplan.runs.arguments import make_backend

NAME = "pair"
"""The name of a pair of backends in a log."""


def backend_of_roles(
    architect: str | Backend | None, builder: str | Backend | None, repo: str | Path, repetition: int = 1
) -> Backend:
    """Return the backends of both roles as one, made for a folder; without a builder the architect plays both.

    SettingsError naming each role that no backend can play: static agents write nothing.
    """
    problems = Problems()
    first = problems.of(lambda: _role_backend("architect", architect, repo, repetition))
    both = builder is None or builder is architect
    second = first if both else problems.of(lambda: _role_backend("builder", builder, repo, repetition))
    if first is None or second is None:
        raise SettingsError(problems)
    return paired(first, second)


def _role_backend(role: str, backend: str | Backend | None, repo: str | Path, repetition: int) -> Backend:
    fix = "give agents.Anthropic(model), a ScriptedBackend(script), or an object of your own with its methods"
    if isinstance(backend, StaticBackend) or backend == "static":
        raise SettingsError(Problem(role, "static agents cannot play a role in a debate: they write nothing", fix))
    if not isinstance(backend, Backend) or isinstance(backend, type):
        got = "none" if backend is None else repr(backend)
        raise SettingsError(Problem(role, f"must be a backend that can write, got {got}", fix))
    return make_backend(backend, (), repo, repetition)


def paired(architect: Backend, builder: Backend) -> Backend:
    """Return both as one backend: the one that plays both roles, else a pair that speaks in turns if one of them does.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> both = ScriptedBackend({})
    >>> paired(both, both) is both, paired(both, ScriptedBackend({})).describe()["name"]
    (True, 'pair')
    """
    if architect is builder:
        return architect
    in_turns = isinstance(architect, ConversingBackend) or isinstance(builder, ConversingBackend)
    return ConversingPair(architect, builder) if in_turns else Pair(architect, builder)


class Pair:
    """Two backends that each play one role of a debate."""

    def __init__(self, architect: Backend, builder: Backend) -> None:
        self.architect, self.builder = architect, builder

    def describe(self) -> dict[str, Any]:
        """Return the name, and the description of each of the two."""
        return {"name": NAME, **{role: self.player(role).describe() for role in DEBATE_ROLES}}

    def check_worker(self, worker: str) -> str | None:
        """Return why it plays no worker: a pair votes on nothing."""
        return f"architect and builder of a debate do not vote, as {worker!r} would"

    def player(self, role: DebateRole) -> Backend:
        """Return the backend that plays a role."""
        return self.architect if role == "architect" else self.builder

    async def answer(self, request: DebateRequest) -> Reply:
        """Return the reply of the backend that plays the role."""
        return await self.player(request.role).answer(request)


class ConversingPair(Pair):
    """A pair of which at least one speaks in turns, each of which is recorded."""

    @property
    def max_concurrency(self) -> int:
        """One: the calls of a debate come one after another."""
        return 1

    async def converse(self, request: DebateRequest, turns: Turns) -> Reply:
        """Return the reply of the backend that plays the role, by turns if it speaks in turns."""
        player = self.player(request.role)
        return await (
            player.converse(request, turns) if isinstance(player, ConversingBackend) else player.answer(request)
        )

    def session(self) -> AbstractAsyncContextManager[object]:
        """Hold the connections of both."""

        @asynccontextmanager
        async def both() -> AsyncIterator[object]:
            async with AsyncExitStack() as stack:
                for role in DEBATE_ROLES:
                    await stack.enter_async_context(session_of(self.player(role)))
                yield None

        return both()

    def at(self, repo: str | Path) -> Self:
        """Return the same pair for a debate over another folder."""
        players = [self.player(role) for role in DEBATE_ROLES]
        return type(self)(*(p.at(repo) if isinstance(p, ConversingBackend) else p for p in players))

    def budget_problem(self, limit: str) -> str | None:
        """Return None if both can keep a limit, else what is missing; a script costs nothing."""
        for role in DEBATE_ROLES:
            player = self.player(role)
            problem = None if isinstance(player, ScriptedBackend) else f"calls of the {role} have no price"
            if isinstance(player, ConversingBackend):
                problem = player.budget_problem(limit)
            if problem is not None:
                return problem
        return None
