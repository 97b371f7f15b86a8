"""Workers without a model: each request is answered by a checker that opens the cited evidence (SPEC G2)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from verifyplan.agents.static import quotation, search, syntax_tree, window
from verifyplan.agents.static.claims import Claim, read_claim
from verifyplan.agents.static.evidence import Evidence, Place, read_evidence
from verifyplan.agents.static.outcome import Case, Check, Look, Outcome, judge, vote
from verifyplan.agents.static.sources import Source, Sources, UnreadableError
from verifyplan.errors import AgentError, Problem, SettingsError, one_of
from verifyplan.protocol.call import Item, Reply, WorkerRequest
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
    """Plays workers by checkers that read the claim, its evidence and the cited code: offline, repeatable.

    `root` is the folder under which cited paths lie; nothing outside it is read, and in a lightweight run
    no file at all. `workers` maps workers to checkers; a worker that it does not name plays the checker of
    its own name. Raises SettingsError if a worker is mapped to no checker. Source: SPEC B4, G2, G4.

    >>> StaticBackend(".", workers={"alice": "search"}).check_worker("alice") is None
    True
    """

    def __init__(self, root: str | Path, workers: Mapping[str, str] | None = None) -> None:
        self.root = Path(root)
        self.workers = dict(workers or {})
        self._sources = Sources(self.root)
        wrong = [(worker, checker) for worker, checker in self.workers.items() if checker not in _CHECKS]
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
        """None if `worker` is mapped to a checker or named like one, else what is wrong and what to do."""
        if self.workers.get(worker, worker) in _CHECKS:
            return None
        near = did_you_mean(self.workers.get(worker, worker), CHECKERS)
        return f"worker {worker!r} plays no checker{near}; there are {one_of(CHECKERS)}"

    async def answer(self, request: WorkerRequest) -> Reply:
        """A vote on each item of the request; AgentError if no checker plays the worker."""
        wrong = self.check_worker(request.worker)
        if wrong is not None:
            raise AgentError(wrong)
        start = time.perf_counter()
        votes = await asyncio.to_thread(self._votes, request)
        return Reply(value={"votes": votes}, duration_ms=round((time.perf_counter() - start) * 1000))

    def _votes(self, request: WorkerRequest) -> dict[str, dict[str, str | None]]:
        check = _CHECKS[self.workers.get(request.worker, request.worker)]
        sources = None if request.verification_mode == "lightweight" else self._sources
        near = sorted(request.items, key=lambda item: item.evidence)  # claims on one file follow each other
        found = {item.finding_id: vote(outcome_of(check, item, sources), request.mode) for item in near}
        return {item.finding_id: found[item.finding_id] for item in request.items}


def outcome_of(check: Check, item: Item, sources: Sources | None) -> Outcome:
    """What one checker makes of one finding: undecided, with the reason, where it cannot tell.

    Without `sources` only the quoted text is looked at (lightweight), else the files that the evidence
    cites, in their order, until one decides. Never raises, whatever the texts hold. Source: SPEC B4.
    """
    claim = read_claim(item.summary)
    if claim is None:
        return Outcome("undecided", "The claim is not one that this checker can read, so nothing was looked at.")
    evidence = read_evidence(item.evidence)
    looks = _quoted(check, claim, evidence) if sources is None else _opened(check, claim, evidence, sources)
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


def _opened(check: Check, claim: Claim, evidence: Evidence, sources: Sources) -> Iterator[Look]:
    """What the checker sees at each cited place."""
    for place in evidence.places:
        try:
            source = sources.open(place.path)
        except UnreadableError as error:
            yield Look("unknown", f"{error}.")
        else:
            yield check(Case(claim, source, place.line, place.last, evidence.quotes))
