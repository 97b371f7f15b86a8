"""Agents without a model: workers that open the cited evidence, and all roles of plan runs (rule G2)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Request
from verifyplan.agents.static import quotation, search, syntax_tree, window
from verifyplan.agents.static.looking import look
from verifyplan.agents.static.outcome import Check, vote
from verifyplan.agents.static.plan_backend import PANEL, PlanAgents
from verifyplan.errors import AgentError, Problem, SettingsError, expect_mappings, one_of
from verifyplan.protocol.call import Reply, WorkerRequest
from verifyplan.protocol.role_call import DebateRequest, RoleRequest
from verifyplan.repository.sources import Sources
from verifyplan.text import did_you_mean

_CHECKS: dict[str, Check] = {
    "syntax-tree": syntax_tree.check,
    "window": window.check,
    "search": search.check,
    "quotation": quotation.check,
}
CHECKERS: tuple[str, ...] = tuple(_CHECKS)
"""The names of the checkers: four ways to look at the same evidence."""
_PLAYED = (*CHECKERS, *PANEL)


class StaticBackend:
    """Plays workers by checkers that read the claim, its evidence and the cited code, and all roles of plan runs.

    `root` is the folder under which cited paths lie; nothing outside it is read, and in a lightweight run
    no file at all. `workers` maps workers to checkers or members of the panel; a worker that it does not name plays
    the one of its own name. Calls are answered one after another, in the order in which they were asked, so that
    replies never change places. Raises SettingsError if a worker is mapped to no checker. Source: rules A9, B4, G2, G4.

    >>> StaticBackend(".", workers={"alice": "search"}).check_worker("alice") is None
    True
    """

    def __init__(self, root: str | Path, workers: Mapping[str, str] | None = None) -> None:
        expect_mappings(workers=workers)
        self.root = Path(root)
        self.workers = dict(workers or {})
        self._sources = Sources(self.root)
        self._plans = PlanAgents(self.root)
        self._line = ThreadPoolExecutor(max_workers=1, thread_name_prefix="static")
        fix = f"choose one of {one_of(CHECKERS)}"
        problems = [
            Problem(f"workers[{worker!r}]", f"{played!r} is no static checker{did_you_mean(played, CHECKERS)}", fix)
            for worker, played in self.workers.items()
            if played not in _PLAYED
        ]
        if problems:
            raise SettingsError(problems)

    def describe(self) -> dict[str, Any]:
        """Name of the backend, name of the root folder (not where it lies), and who plays which checker."""
        return {"name": "static", "root": self.root.name, "workers": dict(self.workers)}

    def check_worker(self, worker: str) -> str | None:
        """None if `worker` is mapped to a checker or named like one, or like one of the panel; else what is wrong."""
        played = self.workers.get(worker, worker)
        if played in _PLAYED:
            return None
        return f"worker {worker!r} plays no checker{did_you_mean(played, _PLAYED)}; there are {one_of(CHECKERS)}"

    async def answer(self, request: Request) -> Reply:
        """A vote on each item, or the answer of a role; AgentError if no checker plays the worker."""
        if isinstance(request, DebateRequest):
            raise AgentError("static agents play no role of a debate: they look things up and write nothing")
        if isinstance(request, RoleRequest):
            return await self._in_turn(lambda: self._plans.answer(request))
        wrong = self.check_worker(request.worker)
        if wrong is not None:
            raise AgentError(wrong)
        played = self.workers.get(request.worker, request.worker)
        votes = self._plans.votes if played in PANEL else self._votes
        return await self._in_turn(lambda: votes(request, played))

    async def _in_turn(self, work: Callable[[], Reply]) -> Reply:
        """Work out a reply when all asked for before it are; one that is no longer wanted is not begun."""

        def timed() -> Reply:
            start = time.perf_counter()
            reply = work()
            return reply.model_copy(update={"duration_ms": round((time.perf_counter() - start) * 1000)})

        return await asyncio.get_running_loop().run_in_executor(self._line, timed)

    def _votes(self, request: WorkerRequest, played: str) -> Reply:
        sources = None if request.verification_mode == "lightweight" else self._sources
        near = sorted(request.items, key=lambda item: item.evidence)  # claims on one file follow each other
        found = {item.finding_id: vote(look(_CHECKS[played], item, sources), request.mode) for item in near}
        return Reply(value={"votes": {item.finding_id: found[item.finding_id] for item in request.items}})
