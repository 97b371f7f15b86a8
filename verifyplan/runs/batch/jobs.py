"""One run of many: what it is known by, and how it is begun or taken up."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from verifyplan.agents.base import Address, Backend, ModelBackend, ModelReply
from verifyplan.errors import LogError, Problem
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import PlanInputs, RunResumed, RunStarted
from verifyplan.runlog.reader import SUFFIX, Log, parse_log
from verifyplan.runlog.recorder import Past, Recorder
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.batch.journal import name_of
from verifyplan.runs.batch.office import PostOffice
from verifyplan.runs.resume import exported, run_of
from verifyplan.runs.run import Run, versions

Course = Callable[[RunStarted, Backend, Recorder], Awaitable[None]]
"""Drives a run from its first event."""

SPEAKERS = (
    "name",
    "model",
    "max_tokens",
    "effort",
    "thinking",
    "temperature",
    "models",
    "workers",
    "base_url",
    "cache",
    "web",
    "memory",
)
"""What of a backend makes another run if it changes; versions, prices and how it is asked do not."""


def identity(started: RunStarted) -> str:
    """What a run is known by: its inputs and settings, who speaks, and its repetition; not when it is driven.

    A plan counts by its name and text, and by the folder of its repository, whatever the repository holds by now.
    """
    inputs = started.inputs
    told: Any = inputs
    if isinstance(inputs, PlanInputs):
        told = [inputs.plan_name, inputs.plan_sha256, inputs.repository["root"], inputs.settings]
    speakers = {name: started.backend.get(name) for name in SPEAKERS}
    return hashlib.sha256(to_json([told, speakers, started.repetition])).hexdigest()


@dataclass(frozen=True)
class Job:
    """A run that is to be driven to its end, or has been."""

    started: RunStarted
    backend: ModelBackend
    course: Course
    folder: Path
    """Where its log lies."""
    top: Path
    """The folder that its id is told from."""
    stem: str
    """The name of its log, without number."""
    sink: Sink | None = None

    @cached_property
    def key(self) -> str:
        """What it is known by."""
        return identity(self.started)

    async def drive(self, office: PostOffice, log: Path | None) -> Run:
        """Begin the run, or go on with its log, its requests going through the office; the run when it ended or waits.

        Raises LogError for a log that is damaged, in use, or does not follow from its own replies.
        """
        if log is None:
            writer, first = LogWriter.create(self.folder, self.stem), self.started
            recorder = Recorder(writer, sink=self.sink)
        else:
            writer, known = LogWriter.resume(log)
            first, recorder = run_of(known.records, log, log.stem).started, self._taken_up(writer, known, office)
        with writer:
            await self.course(first, self._speaker(office, recorder, writer.path), recorder)
        return self.finished(run_of(recorder.records, writer.path, writer.path.stem))

    def finished(self, run: Run) -> Run:
        """A run that ended or waits, under its id; a cross run with its artifact."""
        assert run.log_path is not None  # noqa: S101  (all of these runs have logs)
        return exported(replace(run, run_id=run.log_path.relative_to(self.top).with_suffix("").as_posix()))

    def _taken_up(self, writer: LogWriter, log: Log, office: PostOffice) -> Recorder:
        """A recorder that goes on; what is in a batch already is not repeated, and not said to be."""
        past = Past(log.records)
        promised = office.promise(name_of(writer.path, log.records), past)
        repeated = tuple(turn for turn in past.in_flight if turn not in promised)
        resumed = RunResumed(dropped_bytes=log.torn_bytes, repeated=repeated, versions=versions())
        return Recorder(writer, past, resumed, self.sink)

    def _speaker(self, office: PostOffice, recorder: Recorder, log: Path) -> ModelBackend:
        async def post(address: Address, turn: str, body: dict[str, Any]) -> ModelReply:
            return await office.post(name_of(log, recorder.records), address, turn, body)

        speaker = self.backend.through(post)
        speaker.max_concurrency = sys.maxsize  # all that may be asked at once goes into one batch
        return speaker


def runs_in(folder: Path) -> dict[str, Run]:
    """The runs whose logs lie in a folder, by what they are known by; of two that are the same, one that ended.

    A log without one whole line is of a run that died at once, and is passed over. Raises LogError, listing all logs
    that are damaged: any of them may be of a run that is to go on.
    """
    runs: dict[str, Run] = {}
    problems: list[Problem] = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            data = path.read_bytes() if path.is_file() else b""
            run = run_of(parse_log(data, str(path)).records, path, path.stem) if b"\n" in data else None
        except LogError as error:
            problems += error.problems
            continue
        if run is not None and (identity(run.started) not in runs or has_ended(run)):
            runs[identity(run.started)] = run
    if problems:
        raise LogError(problems)
    return runs


def has_ended(run: Run) -> bool:
    """Whether nothing is left to be done in a run."""
    return run.events[-1].type == "run-ended"
