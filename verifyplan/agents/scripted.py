"""Answer from a script, for tests, examples and recorded runs."""

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
    """A backend that answers each call from a script, for tests and examples.

    Args:
        script: the answers by call id (`i1/challenger`, `t2/critique`, `r2/bob`), or for workers by round and then
            worker; or the path of a JSON file that holds them. A role's answer is a mapping (of a challenger
            `{"challenges": [...]}`, of an architect `{"content": ...}`, of a builder a `"diff"`, too). A worker's is a
            mapping of finding ids to votes, each `{"verdict": ..., "disagree_basis": ..., "explanation": ...}`; votes
            on other findings than those in the request do not count. "timeout" or "error" in place of an answer makes
            the call fail; `{"raw": x}` answers x as it is.
        silent: whether a call without an answer in the script gets an empty answer; else it fails.

    Raises InputError for a file that does not contain such a mapping.

    >>> import verifyplan as vp
    >>> script = {
    ...     "r1/bob": {"F-1": {"verdict": "disagree", "disagree_basis": "burden-not-met"}}
    ... }
    >>> claim = {
    ...     "finding_id": "F-1",
    ...     "summary": "rows are locked",
    ...     "evidence": "store.py:12",
    ...     "worker": "ann",
    ... }
    >>> run = vp.crossverify(
    ...     [claim], ["ann", "bob"], backend=vp.agents.ScriptedBackend(script), log_dir=None
    ... )
    >>> list(run.frames.votes["verdict"])
    ['disagree']
    """

    def __init__(self, script: Script | str | Path, *, silent: bool = False) -> None:
        answers = script if isinstance(script, Mapping) else _read(Path(script))
        self.script = {str(key): value for key, value in answers.items()}
        self.silent = silent

    def describe(self) -> dict[str, Any]:
        """Return the name of the backend; the script is not a setting, because it consists of answers."""
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
    """Return an empty answer; for a challenger, an explicit list without challenges (rule A3)."""
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
