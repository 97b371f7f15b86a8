"""One run of many: what it is known by, and how it is begun or taken up."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from verifyplan.agents.anthropic.backend import Anthropic
from verifyplan.agents.anthropic.endpoints import Address
from verifyplan.agents.base import Backend, Exchanged
from verifyplan.errors import LogError
from verifyplan.loops.batch.office import PostOffice
from verifyplan.loops.prepare import versions
from verifyplan.loops.resume import exported, read_run, run_of
from verifyplan.loops.run import Run
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import PlanInputs, RunResumed, RunStarted
from verifyplan.runlog.chain import Record
from verifyplan.runlog.reader import SUFFIX
from verifyplan.runlog.recorder import Past, Recorder
from verifyplan.runlog.writer import LogWriter

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
    backend: Anthropic
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
            writer, records = LogWriter.create(self.folder, self.stem), ()
            recorder = Recorder(writer, sink=self.sink)
        else:
            writer, known = LogWriter.resume(log)
            records = known.records
            recorder = self._taken_up(writer, records, known.torn_bytes, office)
        with writer:
            first = records[0].event if records else self.started
            assert isinstance(first, RunStarted)  # noqa: S101  (a log begins so)
            await self.course(first, self._speaker(office, writer.path, recorder), recorder)
        return self.ended(run_of(recorder.records, writer.path, self.id_of(writer.path)))

    def ended(self, run: Run) -> Run:
        """A run that ended or waits, under its id; a cross run with its artifact."""
        return exported(run)

    def id_of(self, log: Path) -> str:
        """The id of a run by its log."""
        return log.relative_to(self.top).with_suffix("").as_posix()

    def _taken_up(
        self, writer: LogWriter, records: tuple[Record, ...], torn: int, office: PostOffice
    ) -> Recorder:
        past = Past(records)
        promised = office.promise(name_of(writer.path, records), past)
        repeated = tuple(turn for turn in past.in_flight if turn not in promised)
        resumed = RunResumed(dropped_bytes=torn, repeated=repeated, versions=versions())
        return Recorder(writer, past, resumed, self.sink)

    def _speaker(self, office: PostOffice, log: Path, recorder: Recorder) -> Anthropic:
        async def post(address: Address, turn: str, body: dict[str, Any]) -> Exchanged:
            return await office.post(name_of(log, recorder.records), address, turn, body)

        speaker = self.backend.through(post)
        speaker.max_concurrency = sys.maxsize  # all that may be asked at once goes into one batch
        return speaker


def name_of(log: Path, records: list[Record] | tuple[Record, ...]) -> str:
    """What the journal knows a run by: a log that is begun anew under an old name is another run."""
    return f"{log.stem} of {records[0].at}"
