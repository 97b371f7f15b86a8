"""Agents without a model: workers that open the cited evidence, all roles of plan runs and debates (SPEC G2)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Request
from verifyplan.agents.evidence import Evidence, Place, read_evidence
from verifyplan.agents.repository.reading import MissingError
from verifyplan.agents.sources import Source, Sources, UnreadableError
from verifyplan.agents.static import quotation, search, syntax_tree, window
from verifyplan.agents.static.claims import Claim, read_claim
from verifyplan.agents.static.debate.agents import DebateAgents
from verifyplan.agents.static.existence import claimed_file, judge_file, look_at_missing, look_for_name
from verifyplan.agents.static.outcome import Case, Check, Look, Outcome, judge, vote
from verifyplan.agents.static.plan_backend import PANEL, PlanAgents
from verifyplan.errors import AgentError, Problem, SettingsError, one_of
from verifyplan.protocol.call import Item, Reply, WorkerRequest
from verifyplan.protocol.debate_call import DebateRequest
from verifyplan.protocol.plan_call import RoleRequest
from verifyplan.words import did_you_mean

_CHECKS: dict[str, Check] = {
    "syntax-tree": syntax_tree.check,
    "window": window.check,
    "search": search.check,
    "quotation": quotation.check,
}
CHECKERS: tuple[str, ...] = tuple(_CHECKS)
"""The names of the checkers: four ways to look at the same evidence."""


class StaticBackend:
    """Plays workers by checkers that read the claim, its evidence and the cited code, and all roles of runs.

    `root` is the folder under which cited paths lie; nothing outside it is read, and in a lightweight run
    no file at all. `workers` maps workers to checkers or members of the panel; a worker that it does not name plays
    the one of its own name. Calls are answered one after another, in the order in which they were asked, so that
    replies never change places. Raises SettingsError if a worker is mapped to no checker. Source: SPEC A9, B4, G2, G4.

    >>> StaticBackend(".", workers={"alice": "search"}).check_worker("alice") is None
    True
    """

    def __init__(self, root: str | Path, workers: Mapping[str, str] | None = None) -> None:
        self.root = Path(root)
        self.workers = dict(workers or {})
        self._sources = Sources(self.root)
        self._plans = PlanAgents(self.root)
        self._debates = DebateAgents(self.root)
        self._line = ThreadPoolExecutor(max_workers=1, thread_name_prefix="static")
        wrong = [(worker, played) for worker, played in self.workers.items() if played not in (*CHECKERS, *PANEL)]
        if wrong:
            fix = f"choose one of {one_of(CHECKERS)}"
            problems = (
                Problem(f"workers[{w!r}]", f"{c!r} is no static checker{did_you_mean(c, CHECKERS)}", fix)
                for w, c in wrong
            )
            raise SettingsError(problems)

    def describe(self) -> dict[str, Any]:
        """Name of the backend, name of the root folder (not where it lies), and who plays which checker."""
        return {"name": "static", "root": self.root.name, "workers": dict(self.workers)}

    def check_worker(self, worker: str) -> str | None:
        """None if `worker` is mapped to a checker or named like one, or like one of the panel; else what is wrong."""
        if self.workers.get(worker, worker) in (*CHECKERS, *PANEL):
            return None
        near = did_you_mean(self.workers.get(worker, worker), (*CHECKERS, *PANEL))
        return f"worker {worker!r} plays no checker{near}; there are {one_of(CHECKERS)}"

    async def answer(self, request: Request) -> Reply:
        """A vote on each item, or the answer of a role; AgentError if no checker plays the worker."""
        if isinstance(request, DebateRequest):
            return await self._in_turn(lambda: self._debates.answer(request))
        if isinstance(request, RoleRequest):
            return await self._in_turn(lambda: self._plans.answer(request))
        wrong = self.check_worker(request.worker)
        if wrong is not None:
            raise AgentError(wrong)
        played = self.workers.get(request.worker, request.worker)
        if played in PANEL:
            return await self._in_turn(lambda: self._plans.votes(request, played))
        return await self._in_turn(lambda: Reply(value={"votes": self._votes(request)}))

    async def _in_turn(self, work: Callable[[], Reply]) -> Reply:
        """A reply that is worked out when all asked for before it are; one that is no longer wanted is not begun."""
        return await asyncio.get_running_loop().run_in_executor(self._line, _timed, work)

    def _votes(self, request: WorkerRequest) -> dict[str, dict[str, str | None]]:
        check = _CHECKS[self.workers.get(request.worker, request.worker)]
        sources = None if request.verification_mode == "lightweight" else self._sources
        near = sorted(request.items, key=lambda item: item.evidence)  # claims on one file follow each other
        found = {item.finding_id: vote(outcome_of(check, item, sources), request.mode) for item in near}
        return {item.finding_id: found[item.finding_id] for item in request.items}


def _timed(work: Callable[[], Reply]) -> Reply:
    start = time.perf_counter()
    reply = work()
    return reply.model_copy(update={"duration_ms": round((time.perf_counter() - start) * 1000)})


def outcome_of(check: Check, item: Item, sources: Sources | None) -> Outcome:
    """What one checker makes of one finding: undecided, with the reason, where it cannot tell.

    Without `sources` only the quoted text is looked at (lightweight), else the files that the evidence
    cites, in their order, until one decides. Never raises, whatever the texts hold. Source: SPEC B4.
    """
    file = claimed_file(item.summary)
    if file is not None:
        return judge_file(*file, read_evidence(item.evidence).places, sources)
    claim = read_claim(item.summary)
    if claim is None:
        return Outcome("undecided", "The claim is not one that this checker can read, so nothing was looked at.")
    evidence = read_evidence(item.evidence)
    opened = () if sources is None else _opened(check, claim, item.summary, evidence, sources)
    looks = _quoted(check, claim, evidence) if sources is None else opened
    nothing = f"The evidence {'cites no place' if sources else 'quotes no text'} to look at."
    outcome = Outcome("undecided", nothing)
    for look in looks:
        outcome = judge(claim, look)
        if outcome.kind != "undecided":
            break
    return outcome


def _quoted(check: Check, claim: Claim, evidence: Evidence) -> Iterator[Look]:
    """What the checker sees in the quoted lines, taken to begin at the first cited line."""
    if evidence.quotes:
        place = evidence.places[0] if evidence.places else Place("", 1, 1)
        source = Source(place.path, evidence.quotes, first=place.line, whole=False)
        yield check(Case(claim, source, place.line, place.last, evidence.quotes))


def _opened(check: Check, claim: Claim, text: str, evidence: Evidence, sources: Sources) -> Iterator[Look]:
    """What the checker sees at each cited place."""
    for place in evidence.places:
        try:
            source = sources.open(place.path)
        except MissingError:
            yield look_at_missing(claim, text, place)
        except UnreadableError as error:
            yield Look("unknown", f"{error}.")
        else:
            unnamed = look_for_name(claim, text, place, source)
            yield unnamed or check(Case(claim, source, place.line, place.last, evidence.quotes))
