"""Make the tools of one role in one call, over the repository as it is when the run begins (rules A12, G4)."""

from __future__ import annotations

import threading
from pathlib import Path

from verifyplan.agents.tools import Memory, ModelToolkit, WebRules
from verifyplan.protocol.call import Tool
from verifyplan.protocol.role_call import DebateRequest, RoleRequest
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import MODES, OTHERS, Budget

DEBATE_TOOLS: tuple[Tool, ...] = ("Read", "Grep")
"""All that architect and builder may call."""


def tools_of(request: RoleRequest | DebateRequest) -> dict[Tool, int]:
    """Return the calls of each tool that a request allows.

    In a debate these are calls of Read and Grep alone; a request that names no tools has those of agents that do no
    research. Source: rule A12.

    >>> request = {"role": "architect", "type": "propose", "turn": 1, "max_turns": 3, "task": "do it"}
    >>> tools_of(DebateRequest(call_id="t1/propose", **request))
    {'Read': 8, 'Grep': 5}
    """
    if isinstance(request, RoleRequest):
        return dict(request.tools)
    tools = request.tools or OTHERS
    return {tool: tools[tool] for tool in DEBATE_TOOLS if tools.get(tool)}


class ToolkitFactory:
    """Makes toolkits; keeps the last repository, opened anew for first calls, `of_run` for the very first alone.

    Safe to use from several threads.
    """

    def __init__(
        self, root: Path, memory: Path | None, *, web: bool, allow_files: tuple[str, ...] = (), of_run: bool = False
    ) -> None:
        self.root, self.web, self.allow_files = root, web, allow_files
        self._of_run = of_run
        """Whether all calls are of one run: a round of thousands would list the files for each of them."""
        self.memory = Memory.open(memory) if memory is not None else None
        self._lock = threading.Lock()
        self._kept: tuple[str, Repository] | None = None

    def toolkit(self, request: RoleRequest | DebateRequest) -> ModelToolkit:
        """Return the tools of a request, with its budgets; those of mode 1's Read and Grep for all but researchers.

        In a debate Read and Grep alone, whatever is configured; its documents can be read beside the repository.
        """
        budget = Budget(tools_of(request), memory=self.memory is not None)
        if isinstance(request, DebateRequest):
            first = request.turn == 1 and request.type == "propose"
            plan = next(iter(request.documents.values()), "")
            return ModelToolkit(self.repository(plan, fresh=first), request.documents, budget, self.memory)
        mode = MODES.get(request.role)  # agents that do no research have none, and the web is refused to them
        unknowns = {unknown.id: unknown.type for unknown in request.unknowns}
        web = WebRules(mode, unknowns, enabled=self.web) if mode is not None else None
        documents = {request.plan_name: request.plan_text}
        first = request.role == "challenger" and request.iteration == 1
        return ModelToolkit(self.repository(request.plan_text, fresh=first), documents, budget, self.memory, web)

    def repository(self, plan: str, *, fresh: bool = False) -> Repository:
        """Return the folder as it was at the first call with this plan; `fresh`, and of no run, as it is now."""
        with self._lock:
            if self._kept is None or (fresh and not self._of_run) or self._kept[0] != plan:
                self._kept = (plan, Repository.open(self.root, plan, self.allow_files))
            return self._kept[1]
