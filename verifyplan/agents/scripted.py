"""A backend whose answers are written down beforehand: for tests, examples and recorded runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifyplan.agents.base import Request
from verifyplan.errors import AgentError
from verifyplan.protocol.call import Reply, WorkerRequest

Script = Mapping[Any, Any]
"""By call id (`i1/challenger`, `t2/critique`, `r2/bob`) the answer; or, for workers, by round and then worker."""


class ScriptedBackend:
    """Answers each call from a script: `{call_id: answer}`, or for workers also `{round: {worker: votes}}`.

    A role's answer is what its schema in `protocol.plan_call` or, in a debate, `protocol.debate_call` says: of an
    architect `{"content": ...}`, of a builder a `"diff"`, too. A worker's is its votes by finding id, each
    `{"verdict": ..., "disagree_basis": ..., "explanation": ...}`, of which only those asked for are answered. In
    place of an answer, "timeout" or "error" makes the call fail, and `{"raw": x}` answers x as it is. A call that
    the script does not mention fails with AgentError; with `silent`, it says nothing instead.
    """

    def __init__(self, script: Script, *, silent: bool = False) -> None:
        self.script = {str(key): value for key, value in script.items()}
        self.silent = silent

    def describe(self) -> dict[str, Any]:
        """Name of the backend; the script itself is not a setting but its answers."""
        return {"name": "scripted"}

    def check_worker(self, worker: str) -> str | None:  # noqa: ARG002  (any name can be scripted)
        """Any worker can be scripted."""
        return None

    async def answer(self, request: Request) -> Reply:
        """The script's answer for this call."""
        scripted = self._scripted(request)
        if scripted is None:
            if self.silent:
                return Reply(value={"votes": {}} if isinstance(request, WorkerRequest) else {})
            raise AgentError(f"the script has no answer for {request.call_id}")
        if scripted == "timeout":
            raise TimeoutError("scripted timeout")
        if not isinstance(scripted, Mapping):
            raise AgentError("scripted error")
        if "raw" in scripted:
            return Reply(value=scripted["raw"])
        if not isinstance(request, WorkerRequest):
            return Reply(value=dict(scripted))
        asked = {item.finding_id for item in request.items}
        return Reply(value={"votes": {key: vote for key, vote in scripted.items() if key in asked}})

    def _scripted(self, request: Request) -> Any:
        if request.call_id in self.script or not isinstance(request, WorkerRequest):
            return self.script.get(request.call_id)
        return self.script.get(str(request.round), {}).get(request.worker)
