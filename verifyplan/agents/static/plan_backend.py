"""The static agents of plan verification behind the backend: a request in, an answer and its tool calls out."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from verifyplan.agents.static.opening import open_repository
from verifyplan.agents.static.outcome import Outcome, vote
from verifyplan.agents.static.roles import (
    challenger,
    devils_advocate,
    domain_expert,
    probe,
    resolver,
    scoring,
    surface,
    synthesizer,
)
from verifyplan.agents.static.roles.known import Known
from verifyplan.agents.static.roles.panel.case import Case
from verifyplan.agents.static.roles.panel.workers import JUDGES
from verifyplan.agents.static.roles.reading import Reading
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.toolbox import Toolbox, budget
from verifyplan.documents import parse_plan
from verifyplan.protocol.call import Reply, WorkerRequest
from verifyplan.protocol.plan_call import Answer, Role, RoleRequest
from verifyplan.rules.budgets import OTHERS

PANEL: tuple[str, ...] = tuple(JUDGES)
"""The panel's workers."""

_ROLES: dict[Role, Callable[[Scene], Answer]] = {
    "challenger": challenger.answer,
    "resolver": resolver.answer,
    "surface": surface.answer,
    "probe": probe.answer,
    "domain-expert": domain_expert.answer,
    "devils-advocate": devils_advocate.answer,
    "synthesizer": synthesizer.answer,
    "score": scoring.score,
    "audit": scoring.audit,
}
_KEPT = 4


class PlanAgents:
    """Plays the roles of plan runs; keeps the repository's table of contents and the last plans that it read.

    The repository is opened anew for the first call of each run, so that a run sees the folder as it is then.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: Known | None = None
        self._plan = ""
        self._readings: OrderedDict[tuple[str, str], Reading] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, request: RoleRequest) -> Reply:
        """The answer of one role, as JSON values, and the tool calls behind it; InputError if the root is no folder."""
        with self._lock:
            if request.role == "challenger" and request.iteration == 1:
                self._known = None
            known = self.known(request.plan_text)
            tools = Toolbox(
                known.repository, {request.plan_name: request.plan_text}, budget(request.tools, request.tool_pool)
            )
            scene = Scene(request, self.reading(request.plan_text, request.plan_name), known, tools)
            value: dict[str, Any] = _ROLES[request.role](scene).model_dump(mode="json")
            return Reply(value=value, tools=tuple(tools.uses))

    def votes(self, request: WorkerRequest, worker: str) -> Reply:
        """One panel worker's votes on all items; in a lightweight run it sees no file and no document."""
        with self._lock:
            known = self.known(next(iter(request.documents.values()), ""))
            tools = Toolbox(known.repository, request.documents, budget(OTHERS))
            readings = {name: self.reading(text, name) for name, text in request.documents.items()}
            votes = {}
            for item in request.items:
                if request.verification_mode == "lightweight":
                    outcome = Outcome(
                        "undecided", "The quoted text alone was given, and nothing in it speaks against it."
                    )
                else:
                    outcome = JUDGES[worker](Case(item, readings, known, tools))
                votes[item.finding_id] = vote(outcome, request.mode)
            return Reply(value={"votes": votes}, tools=tuple(tools.uses))

    def known(self, plan: str) -> Known:
        """What the repository holds beside this plan."""
        if self._known is None or plan != self._plan:
            self._known, self._plan = Known(open_repository(self._root, plan)), plan
        return self._known

    def reading(self, text: str, name: str) -> Reading:
        """A plan as read; the last ones are kept."""
        key = (text, name)
        reading = self._readings.pop(key, None) or Reading(parse_plan(text, name))
        self._readings[key] = reading
        while len(self._readings) > _KEPT:
            self._readings.popitem(last=False)
        return reading
