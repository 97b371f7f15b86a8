"""Live runs for tests: scripted plans and findings, a backend that waits to be let go, and what a run came to."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

from tests.runs.crossing import AGREE, BURDEN, COUNTER, finding
from tests.runs.plan.planning import PLAN, REPO, challenge, script
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.plans.plan import parse_plan
from verifyplan.runs.resume import read_run
from verifyplan.runs.run import Run
from verifyplan.widgets.live import LiveRun

SECONDS = 30
"""Longest that anything here is waited for; a run takes a fraction of one."""

VOTES: dict[Any, Any] = {
    1: {"ann": {"F-2": AGREE}, "bob": {"F-1": COUNTER, "F-3": AGREE}, "cy": {"F-1": AGREE, "F-2": BURDEN}},
    2: {"ann": {"F-2": AGREE}, "bob": {"F-1": AGREE}, "cy": "timeout"},
}
FOUND = [finding("F-1", "ann"), finding("F-2", "bob"), finding("F-3", "cy")]
BLOCKED = {"i1/challenger": {"challenges": [challenge("locks", "BLOCKING"), challenge("rows", "BLOCKING")]}}


def plan_run(folder: Path, told: dict[str, Any] | None = None, **options: Any) -> LiveRun:
    """A live plan run with scripted answers, its log in the folder."""
    backend = ScriptedBackend(script() if told is None else told, silent=True)
    return LiveRun(parse_plan(PLAN), REPO, **{"backend": backend, "log_dir": folder, "team": "scaled"} | options)


def blocked_run(folder: Path, **options: Any) -> LiveRun:
    """A live plan run that asks about C1 and C2, and has come to that."""
    live = plan_run(folder, BLOCKED, start=True, panel=None, **options)
    assert live.wait(SECONDS) == "asking"
    return live


def cross_run(folder: Path, **options: Any) -> LiveRun:
    """A live cross run with scripted votes."""
    given = {"backend": ScriptedBackend(VOTES, silent=True), "log_dir": folder, "repo": REPO, "matcher": None}
    return LiveRun.cross(FOUND, ["ann", "bob", "cy"], **given | options)


def course(run: Run) -> list[str]:
    """A run's events, but for how long calls took and where a process went on."""
    events = [event for event in run.events if event.type != "run-resumed"]
    return [json.dumps(event.model_dump(mode="json", exclude={"duration_ms"}), sort_keys=True) for event in events]


def course_on_disk(live: LiveRun) -> list[str]:
    assert live.log_path is not None
    return course(read_run(live.log_path))


class Gated(ScriptedBackend):
    """Answers when it is let go; `asked` is set as soon as so many calls wait."""

    def __init__(self, told: dict[Any, Any], calls: int = 1) -> None:
        super().__init__(told, silent=True)
        self.asked, self.go, self._left = threading.Event(), threading.Event(), calls

    async def answer(self, request: Any) -> Any:
        self._left -= 1
        if self._left <= 0:
            self.asked.set()
        while not self.go.is_set():
            await asyncio.sleep(0.002)
        return await super().answer(request)


def threads() -> list[str]:
    """The threads of live runs that are left."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("verifyplan live run")]
