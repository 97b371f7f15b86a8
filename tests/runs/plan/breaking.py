"""Runs that are broken off, cut and changed on disk, for the tests of resuming and replaying them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runs.crossing import COUNTER, finding
from tests.runs.plan.planning import REPO
from tests.runs.plan.planning import run_of as plan_run
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.protocol.call import Reply
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_run import RunResumed
from verifyplan.runlog.chain import START, Record, encode
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.resume import read_run
from verifyplan.runs.run import Run


class Heard:
    """Answers from a script and keeps the ids of the calls that were made."""

    def __init__(self, answers: dict[Any, Any], delays: dict[str, float] | None = None) -> None:
        self.inner, self.delays, self.calls = ScriptedBackend(answers, silent=True), delays or {}, list[str]()

    def describe(self) -> dict[str, Any]:
        return self.inner.describe()

    def check_worker(self, worker: str) -> str | None:
        return self.inner.check_worker(worker)

    async def answer(self, request: Any) -> Reply:
        self.calls.append(request.call_id)
        await asyncio.sleep(self.delays.get(request.call_id, 0))
        return await self.inner.answer(request)


class StopError(Exception):
    """What a sink raises to break a run off."""


def stopping(after: str, count: int = 1) -> Sink:
    """A sink that breaks the run off when an event of this type has come so often."""
    left = [count]

    def sink(event: Event) -> None:
        left[0] -= event.type == after
        if not left[0]:
            raise StopError

    return sink


def broken_off(folder: Path, answers: dict[str, Any], after: str, count: int = 1, **more: Any) -> Path:
    """The log of a plan run that was broken off after an event of this type."""
    with pytest.raises(StopError):
        plan_run(answers, log_dir=folder, sink=stopping(after, count), **more)
    [path] = folder.glob("*.jsonl")
    return path


def course(run: Run) -> list[str]:
    """The events, durations and resumptions aside."""
    return [str(e.model_dump(exclude={"duration_ms"})) for e in run.events if not isinstance(e, RunResumed)]


def resumptions(run: Run) -> list[RunResumed]:
    """Where processes took the run up."""
    return [event for event in run.events if isinstance(event, RunResumed)]


def rewritten(path: Path, change_one: Callable[[Record], Record | None]) -> None:
    """The log with its records changed by somebody who can compute digests."""
    records, digest, lines = read_run(path).records, START, []
    for number, record in enumerate(filter(None, map(change_one, records)), start=1):
        line, digest = encode(record._replace(seq=number), digest)
        lines.append(line)
    path.write_bytes(b"".join(lines))


def run_again() -> Heard:
    """The backend of the small cross run."""
    return Heard({1: {"bob": {"F-1": COUNTER}}})


def small_cross(folder: Path, sink: Sink | None = None) -> CrossRun:
    """A cross run of one finding and one vote, logged under a folder."""
    return crossverify(
        [finding()],
        ["ann", "bob"],
        backend=run_again(),
        log_dir=folder,
        matcher=None,
        sink=sink,
        repo=REPO,
    )


def without_durations(text: str) -> str:
    """The text of an artifact, but for how long calls took."""
    return re.sub(r'"durationMs": \d+', "", text)
