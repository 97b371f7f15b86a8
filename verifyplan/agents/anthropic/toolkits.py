"""The tools of one role in one call, over the repository as it is when the run begins (rules A12, G4)."""

from __future__ import annotations

import threading
from pathlib import Path

from verifyplan.agents.anthropic.allowances import tools_of
from verifyplan.agents.tools import Memory, ModelToolkit, WebRules
from verifyplan.protocol.debate_call import DebateRequest
from verifyplan.protocol.plan_call import RoleRequest
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import MODES, Budget


class ToolkitFactory:
    """Makes tool kits; keeps the last repository, opened anew for the first call of each run.

    Safe to use from several threads.
    """

    def __init__(self, root: Path, memory: Path | None, *, web: bool, kind: type[ModelToolkit] = ModelToolkit) -> None:
        self.root, self.web, self.kind = root, web, kind
        self.memory = Memory.open(memory) if memory is not None else None
        self._lock = threading.Lock()
        self._kept: tuple[str, Repository] | None = None

    def kit(self, request: RoleRequest | DebateRequest) -> ModelToolkit:
        """The tools of a request, with its budgets; those of mode 1's Read and Grep for agents that do no research.

        In a debate Read and Grep alone, whatever is configured; its documents can be read beside the repository.
        """
        if isinstance(request, DebateRequest):
            first = request.turn == 1 and request.type == "propose"
            plan = next(iter(request.documents.values()), "")
            return self.kind(self.repository(plan, fresh=first), request.documents, self._budget(request), self.memory)
        rules = self._web_rules(request)
        documents = {request.plan_name: request.plan_text}
        fresh = request.role == "challenger" and request.iteration == 1
        repository = self.repository(request.plan_text, fresh=fresh)
        return self.kind(repository, documents, self._budget(request), self.memory, rules)

    def _web_rules(self, request: RoleRequest) -> WebRules | None:
        """What a web call is judged by; nothing for agents that do no research, to whom the web is refused."""
        mode = MODES.get(request.role)
        unknowns = {unknown.id: unknown.type for unknown in request.unknowns}
        return WebRules(mode, unknowns, enabled=self.web) if mode is not None else None

    def _budget(self, request: RoleRequest | DebateRequest) -> Budget:
        return Budget(tools_of(request), memory=self.memory is not None)

    def repository(self, plan: str, *, fresh: bool = False) -> Repository:
        """The folder as it was when it was first asked for with this plan; a `fresh` one as it is now."""
        with self._lock:
            if self._kept is None or fresh or self._kept[0] != plan:
                self._kept = (plan, Repository.open(self.root, plan))
            return self._kept[1]
