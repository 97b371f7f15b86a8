"""Small findings, backends and runs that the tests of the loops share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.protocol.call import Reply, WorkerRequest
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.cross.run import CrossRun as Run

AGREE: dict[str, Any] = {"verdict": "agree"}
SUPPLEMENT: dict[str, Any] = {"verdict": "supplement"}
COUNTER: dict[str, Any] = {"verdict": "disagree", "disagree_basis": "counter-evidence", "explanation": "m.py:4"}
BURDEN: dict[str, Any] = {"verdict": "disagree", "disagree_basis": "burden-not-met"}
DISAGREE: dict[str, Any] = {"verdict": "disagree"}


def finding(finding_id: str = "F-1", worker: str = "ann", **more: Any) -> dict[str, Any]:
    return {"finding_id": finding_id, "summary": f"claim {finding_id}", "worker": worker} | more


def run_of(
    script: dict[Any, dict[str, Any]],
    found: list[dict[str, Any]] | None = None,
    roster: str = "ann bob cy",
    **more: Any,
) -> Run:
    """A run with scripted votes that writes nothing; the roster as words."""
    given = {"backend": ScriptedBackend(script), "log_dir": None, "matcher": None} | more
    return crossverify([finding()] if found is None else found, roster.split(), **given)


def class_of(run: Run, finding_id: str = "F-1") -> str | None:
    return {f.findingId: f.classification for f in run.artifact.findings}[finding_id]


def told(run: Run, kind: str) -> list[Any]:
    """The events of one type, in order."""
    return [event for event in run.events if event.type == kind]


def agreeing(request: WorkerRequest) -> Reply:
    return Reply(value={"votes": {item.finding_id: AGREE for item in request.items}})


class Playing:
    """A backend that answers by a function, plain or async, of the request, and keeps what it was asked."""

    def __init__(self, answer: Callable[[WorkerRequest], Any] = agreeing) -> None:
        self.play = answer
        self.requests: list[WorkerRequest] = []

    def describe(self) -> dict[str, Any]:
        return {"name": "playing"}

    def check_worker(self, worker: str) -> str | None:
        return "zoe is ill" if worker == "zoe" else None

    async def answer(self, request: WorkerRequest) -> Reply:
        self.requests.append(request)
        answer = self.play(request)
        return await answer if asyncio.iscoroutine(answer) else answer
