"""Answer from a script that is written beforehand, for tests, examples and recorded runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Request
from verifyplan.errors import AgentError, InputError, Problem
from verifyplan.files import read_json
from verifyplan.protocol.call import Reply, WorkerRequest

Script = Mapping[Any, Any]
"""The answers by call id (`i1/challenger`, `t2/critique`, `r2/bob`), or for workers by round and then worker."""


class ScriptedBackend:
    """A backend that answers each call from a script: `{call_id: answer}`, or of workers `{round: {worker: votes}}`.

    The script is a mapping, or the path of a JSON file that holds one; InputError for a file that does not.
    A role's answer is what its schema in `protocol.role_call` says: of an
    architect `{"content": ...}`, of a builder a `"diff"`, too. A worker's is its votes by finding id, each
    `{"verdict": ..., "disagree_basis": ..., "explanation": ...}`, of which only those in the request count. In
    place of an answer, "timeout" or "error" makes the call fail, and `{"raw": x}` answers x as it is. A call that
    the script does not mention fails with AgentError; with `silent`, it is answered that there is nothing to say.
    """

    def __init__(self, script: Script | str | Path, *, silent: bool = False) -> None:
        answers = script if isinstance(script, Mapping) else _read(Path(script))
        self.script = {str(key): value for key, value in answers.items()}
        self.silent = silent

    def describe(self) -> dict[str, Any]:
        """Return the name of the backend; the script is no setting, but its answers."""
        return {"name": "scripted"}

    def check_worker(self, worker: str) -> str | None:  # noqa: ARG002  (any name can be scripted)
        """Return None: any worker can be scripted."""
        return None

    async def answer(self, request: Request) -> Reply:
        """Return the script's answer for this call."""
        scripted = self.script.get(request.call_id)
        if isinstance(request, WorkerRequest) and request.call_id not in self.script:
            scripted = self.script.get(str(request.round), {}).get(request.worker)
        if scripted is None:
            if self.silent:
                return Reply(value=_nothing(request))
            raise AgentError(f"the script has no answer for {request.call_id}")
        if scripted == "timeout":
            raise TimeoutError("scripted timeout")
        if not isinstance(scripted, Mapping):
            raise AgentError("scripted error")
        if "raw" in scripted:
            return Reply(value=scripted["raw"])
        if not isinstance(request, WorkerRequest):
            return Reply(value=dict(scripted))
        ids = {item.finding_id for item in request.items}
        return Reply(value={"votes": {key: vote for key, vote in scripted.items() if key in ids}})


def _nothing(request: Request) -> dict[str, Any]:
    """Return an answer that says nothing; a challenger must say that it has no challenge (rule A3)."""
    if isinstance(request, WorkerRequest):
        return {"votes": {}}
    return {"challenges": []} if request.role == "challenger" else {}


def _read(path: Path) -> Script:
    """Return the answers that a JSON file holds by call id; InputError for any other file."""
    fix = 'give a JSON object of answers by call id, such as {"t1/propose": {"content": "..."}}'
    script = read_json(path, fix)
    if not isinstance(script, dict):
        raise InputError(Problem(str(path), f"holds a {type(script).__name__}, not an object", fix))
    return script
