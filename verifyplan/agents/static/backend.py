"""Agents without a model: workers that open the cited evidence, and all roles of plan runs (rule G2)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Request
from verifyplan.agents.static import checkers
from verifyplan.agents.static.judging import Checker, look, vote
from verifyplan.agents.static.roles import challenger, research, synthesizer
from verifyplan.agents.static.roles.context import RepositoryIndex, RoleContext, open_repository
from verifyplan.agents.static.roles.panel import JUDGES, ChallengeCase, not_looked
from verifyplan.agents.static.roles.plan_text import PlanText
from verifyplan.agents.tools.toolkit import StaticToolkit
from verifyplan.errors import AgentError, Problem, SettingsError, expect_mappings, one_of
from verifyplan.plans import parse_plan
from verifyplan.protocol.call import Reply, WorkerRequest
from verifyplan.protocol.role_call import DebateRequest, Role, RoleAnswer, RoleRequest
from verifyplan.repository.sources import SourceFiles
from verifyplan.rules.budgets import OTHERS, Budget
from verifyplan.text import did_you_mean, short_repr

_CHECKS: dict[str, Checker] = {
    "syntax-tree": checkers.check_syntax_tree,
    "window": checkers.check_window,
    "search": checkers.check_search,
    "quotation": checkers.check_quotation,
}
CHECKERS: tuple[str, ...] = tuple(_CHECKS)
"""The names of the checkers: four ways to look at the same evidence."""
PANEL: tuple[str, ...] = tuple(JUDGES)
"""The panel's workers."""
_PLAYABLE = (*CHECKERS, *PANEL)
_FUNCTIONS_FIX = "give functions as backend=agents.from_function({name: function}), and their names alone as workers"
_ROLES: dict[Role, Callable[[RoleContext], RoleAnswer]] = {
    "challenger": challenger.answer,
    "resolver": research.resolve,
    "surface": research.surface,
    "probe": research.probe,
    "domain-expert": partial(challenger.ask_questions, by="domain-expert"),
    "devils-advocate": partial(challenger.ask_questions, by="devils-advocate"),
    "synthesizer": synthesizer.answer,
    "score": challenger.score,
    "audit": challenger.audit,
}
_MAX_PLANS_KEPT = 4


class StaticBackend:
    """A backend without a model: checkers that open the cited code as workers, look-ups as the roles of plan runs.

    Args:
        repo: the folder under which cited paths lie; nothing outside it is read, and in a lightweight run no file.
        workers: what each worker plays: a checker (`syntax-tree`, `window`, `search`, `quotation`) or a member of the
            panel (`panel-1` to `panel-3`). A worker that is not named here plays what its own name says.

    The same request always has the same answer. Calls are answered one after another, in the order of their arrival,
    so that replies never change places. Raises SettingsError if a worker plays none of these. Source: rules A9, B4, G2,
    G4.

    >>> StaticBackend(".", workers={"alice": "search"}).check_worker("alice") is None
    True
    """

    def __init__(self, repo: str | Path, workers: Mapping[str, str] | None = None) -> None:
        expect_mappings(workers=workers)
        self.root = Path(repo)
        self.workers = dict(workers or {})
        self._sources = SourceFiles(self.root)
        self._plans = _PlanAgents(self.root)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="static")
        problems = [
            Problem(
                f"workers[{worker!r}]",
                f"must be a static checker, got {short_repr(played)}{did_you_mean(played, CHECKERS)}",
                _FUNCTIONS_FIX if callable(played) else f"choose one of {one_of(CHECKERS)}",
            )
            for worker, played in self.workers.items()
            if played not in _PLAYABLE
        ]
        if problems:
            raise SettingsError(problems)

    def describe(self) -> dict[str, Any]:
        """Return the name of the backend, the name of the root folder (not its path), and who plays which checker."""
        return {"name": "static", "root": self.root.name, "workers": dict(self.workers)}

    def check_worker(self, worker: str) -> str | None:
        """Return None if `worker` is mapped to a checker or a panel worker, or named like one; else what is wrong."""
        played = self.workers.get(worker, worker)
        if played in _PLAYABLE:
            return None
        return f"worker {worker!r} is not a checker{did_you_mean(played, _PLAYABLE)}; there are {one_of(CHECKERS)}"

    async def answer(self, request: Request) -> Reply:
        """Return a vote on each item, or the answer of a role; AgentError if no checker plays the worker."""
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
        """Run one piece of work at a time, in the order of arrival; a cancelled call is not begun."""

        def timed() -> Reply:
            start = time.perf_counter()
            reply = work()
            return reply.model_copy(update={"duration_ms": round((time.perf_counter() - start) * 1000)})

        return await asyncio.get_running_loop().run_in_executor(self._executor, timed)

    def _votes(self, request: WorkerRequest, played: str) -> Reply:
        sources = None if request.verification_mode == "lightweight" else self._sources
        near = sorted(request.items, key=lambda item: item.evidence)  # claims on one file follow each other
        votes = {item.finding_id: vote(look(_CHECKS[played], item, sources), request.mode) for item in near}
        return Reply(value={"votes": {item.finding_id: votes[item.finding_id] for item in request.items}})


class _PlanAgents:
    """Plays the roles of plan runs; keeps the repository's table of contents and the last plans that it read.

    The repository is opened anew for the first call of each run, so that a run sees the folder as it is then.
    Not safe to use from several threads at once.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._index: RepositoryIndex | None = None
        self._plan = ""
        self._read = lru_cache(_MAX_PLANS_KEPT)(lambda text, name: PlanText(parse_plan(text, name)))

    def answer(self, request: RoleRequest) -> Reply:
        """Return one role's answer as JSON values, and its tool calls; InputError if the root is not a folder."""
        if request.role == "challenger" and request.iteration == 1:
            self._index = None
        index = self._open(request.plan_text)
        tools = StaticToolkit(index.repository, {request.plan_name: request.plan_text}, Budget(request.tools))
        context = RoleContext(request, self._read(request.plan_text, request.plan_name), index, tools)
        value: dict[str, Any] = _ROLES[request.role](context).model_dump(mode="json")
        return Reply(value=value, tools=tuple(tools.uses), partial_failures=tuple(context.failures))

    def votes(self, request: WorkerRequest, worker: str) -> Reply:
        """Return one panel worker's votes on all items; in a lightweight run it sees no file and no document."""
        index = self._open(next(iter(request.documents.values()), ""))
        tools = StaticToolkit(index.repository, request.documents, Budget(OTHERS))
        plans = {name: self._read(text, name) for name, text in request.documents.items()}
        votes, failures = {}, list[str]()
        for item in request.items:
            if request.verification_mode == "lightweight":
                judgement = not_looked("the quoted text alone was given.")
            else:
                try:
                    judgement = JUDGES[worker](ChallengeCase(item, plans, index, tools))
                except Exception as error:  # whatever it is, it must cost the other challenges nothing
                    failures.append(f"{worker} on {item.finding_id} failed: {type(error).__name__}: {error}")
                    judgement = not_looked("the look failed.")
            votes[item.finding_id] = vote(judgement, request.mode)
        return Reply(value={"votes": votes}, tools=tuple(tools.uses), partial_failures=tuple(failures))

    def _open(self, plan: str) -> RepositoryIndex:
        if self._index is None or plan != self._plan:
            self._index, self._plan = RepositoryIndex(open_repository(self._root, plan)), plan
        return self._index
