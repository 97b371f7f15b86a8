"""The static agents of plan verification behind the backend: a request in, an answer and its tool calls out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from verifyplan.agents.static.outcome import Outcome, vote
from verifyplan.agents.static.roles import challenger, research, scoring, synthesizer, unknowns
from verifyplan.agents.static.roles.known import Known, open_repository
from verifyplan.agents.static.roles.panel import JUDGES, Case, nothing
from verifyplan.agents.static.roles.plan_text import PlanText
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.tools.toolkit import StaticToolkit
from verifyplan.plans import parse_plan
from verifyplan.protocol.call import Reply, WorkerRequest
from verifyplan.protocol.role_call import Answer, Role, RoleRequest
from verifyplan.rules.budgets import OTHERS, Budget

PANEL: tuple[str, ...] = tuple(JUDGES)
"""The panel's workers."""

_ROLES: dict[Role, Callable[[Scene], Answer]] = {
    "challenger": challenger.answer,
    "resolver": unknowns.answer,
    "surface": research.surface,
    "probe": research.probe,
    "domain-expert": challenger.answer_domain_expert,
    "devils-advocate": challenger.answer_devils_advocate,
    "synthesizer": synthesizer.answer,
    "score": scoring.score,
    "audit": scoring.audit,
}
_MAX_PLANS_KEPT = 4


class PlanAgents:
    """Plays the roles of plan runs; keeps the repository's table of contents and the last plans that it read.

    The repository is opened anew for the first call of each run, so that a run sees the folder as it is then.
    Not safe to use from several threads at once.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: Known | None = None
        self._plan = ""
        self._read = lru_cache(_MAX_PLANS_KEPT)(lambda text, name: PlanText(parse_plan(text, name)))

    def answer(self, request: RoleRequest) -> Reply:
        """Return one role's answer as JSON values, and its tool calls; InputError if the root is no folder."""
        if request.role == "challenger" and request.iteration == 1:
            self._known = None
        known = self._open(request.plan_text)
        tools = StaticToolkit(known.repository, {request.plan_name: request.plan_text}, Budget(request.tools))
        scene = Scene(request, self._read(request.plan_text, request.plan_name), known, tools)
        value: dict[str, Any] = _ROLES[request.role](scene).model_dump(mode="json")
        return Reply(value=value, tools=tuple(tools.uses), partial_failures=tuple(scene.failures))

    def votes(self, request: WorkerRequest, worker: str) -> Reply:
        """Return one panel worker's votes on all items; in a lightweight run it sees no file and no document."""
        known = self._open(next(iter(request.documents.values()), ""))
        tools = StaticToolkit(known.repository, request.documents, Budget(OTHERS))
        readings = {name: self._read(text, name) for name, text in request.documents.items()}
        votes, failures = {}, list[str]()
        for item in request.items:
            if request.verification_mode == "lightweight":
                outcome = nothing("the quoted text alone was given.")
            else:
                outcome = _judged(worker, Case(item, readings, known, tools), failures)
            votes[item.finding_id] = vote(outcome, request.mode)
        return Reply(value={"votes": votes}, tools=tuple(tools.uses), partial_failures=tuple(failures))

    def _open(self, plan: str) -> Known:
        if self._known is None or plan != self._plan:
            self._known, self._plan = Known(open_repository(self._root, plan)), plan
        return self._known


def _judged(worker: str, case: Case, failures: list[str]) -> Outcome:
    """What one worker makes of one challenge; where its look fails, it looked at nothing, and the failure is named."""
    try:
        return JUDGES[worker](case)
    except Exception as error:  # whatever it is, it must cost the other challenges nothing
        failures.append(f"{worker} on {case.item.finding_id} failed: {type(error).__name__}: {error}")
        return nothing("the look failed.")
