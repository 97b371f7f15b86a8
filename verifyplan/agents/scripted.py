"""A backend whose answers are written down beforehand: for tests, examples and recorded runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifyplan.errors import AgentError
from verifyplan.protocol.call import Reply, WorkerRequest

Script = Mapping[Any, Mapping[str, Any]]
"""Round, then worker, then the votes by finding id; or "timeout" or "error" for a dispatch that fails."""


class ScriptedBackend:
    """Answers each dispatch from a script: `{round: {worker: {finding_id: vote}}}`.

    A vote is `{"verdict": ..., "disagree_basis": ..., "explanation": ...}`; of the script's votes only those
    asked for are answered. In place of votes, "timeout" or "error" makes the dispatch fail, and `{"raw": x}`
    answers x as it is. A worker the script does not mention fails with AgentError.
    """

    def __init__(self, script: Script) -> None:
        self.script = {str(number): dict(workers) for number, workers in script.items()}

    def describe(self) -> dict[str, Any]:
        """Name of the backend; the script itself is not a setting but its answers."""
        return {"name": "scripted"}

    def check_worker(self, worker: str) -> str | None:  # noqa: ARG002  (any name can be scripted)
        """Any worker can be scripted."""
        return None

    async def answer(self, request: WorkerRequest) -> Reply:
        """The script's answer for this round and worker."""
        scripted = self.script.get(str(request.round), {}).get(request.worker)
        if scripted is None:
            raise AgentError(f"the script has no answer of {request.worker!r} for round {request.round}")
        if scripted == "timeout":
            raise TimeoutError("scripted timeout")
        if not isinstance(scripted, Mapping):
            raise AgentError("scripted error")
        if "raw" in scripted:
            return Reply(value=scripted["raw"])
        asked = {item.finding_id for item in request.items}
        return Reply(value={"votes": {key: vote for key, vote in scripted.items() if key in asked}})
