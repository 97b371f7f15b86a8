"""The static agents in place of models: what they find, and the tools that they look with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from verifyplan.agents.static.backend import CHECKERS, PANEL, StaticBackend
from verifyplan.protocol.call import ToolUse, WorkerRequest
from verifyplan.runs.estimate.dry_run import Play, ToolCall
from verifyplan.runs.estimate.sizes import Asked


class StaticStandIn:
    """Answers as the static agents do; a worker that they do not know plays one that they know, in turn."""

    def __init__(self, root: Path) -> None:
        self._static = StaticBackend(root)
        self._played: dict[str, str] = {}

    def at(self, root: Path) -> StaticStandIn:
        """The same for a run over another folder."""
        return StaticStandIn(root)

    async def play(self, request: Asked) -> Play:
        """The static answer, and the tool calls behind it that were not refused."""
        if isinstance(request, WorkerRequest):
            request = request.model_copy(update={"worker": self._known(request)})
        reply = await self._static.answer(request)
        return Play(reply.value, tuple(_call(use) for use in reply.tools if not use.refused))

    def _known(self, request: WorkerRequest) -> str:
        if self._static.check_worker(request.worker) is None:
            return request.worker
        known = PANEL if request.documents else CHECKERS
        return self._played.setdefault(request.worker, known[len(self._played) % len(known)])


def _call(use: ToolUse) -> ToolCall:
    """A tool call as a model would make it."""
    arguments: dict[str, Any]
    match use.tool:
        case "Read":
            arguments = {"path": use.argument}
        case "git_log":
            arguments = {"paths": use.argument.split()}
        case "Grep":
            arguments = {"pattern": use.argument, "serves": use.serves}
        case _:
            arguments = {"query": use.argument, "serves": use.serves}
    return use.tool, arguments
