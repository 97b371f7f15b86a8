"""One run of a batch: its identity, its arguments, and how it is begun or resumed."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from verifyplan.agents.base import Address, Backend, ModelBackend, ModelReply
from verifyplan.errors import LogError, Problem, SettingsError
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import PlanInputs, RunReopened, RunStarted
from verifyplan.protocol.settings import Limits
from verifyplan.runlog.reader import SUFFIX, Log, parse_log
from verifyplan.runlog.recorder import Past, Recorder
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.batch.journal import name_of_turn
from verifyplan.runs.batch.request_queue import BatchQueue
from verifyplan.runs.cross.run import write_artifact_of
from verifyplan.runs.reopen import Retryable, Terms, check_unused, resumption, retryable
from verifyplan.runs.resume import read_run, run_of
from verifyplan.runs.run import Run
from verifyplan.runs.start import at_present, limits_of
from verifyplan.text import did_you_mean

RunLoop = Callable[[RunStarted, Backend, Recorder], Awaitable[None]]
"""Drives a run from its first event."""

IDENTIFYING_SETTINGS = (
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
"""Settings of a backend that make another run if they change; versions and prices do not."""


def run_identity(started: RunStarted) -> str:
    """Return the identity of a run: its inputs, settings, backend and repetition, not its time.

    A plan counts by its name and text, and by the folder of its repository, whatever the repository holds by now.
    Limits do not count: a run that a limit ended is asked again under a larger one.
    """
    inputs = started.inputs
    compared: Any
    if isinstance(inputs, PlanInputs):
        settings = inputs.settings.model_copy(update=dict(Limits()))
        compared = [inputs.plan_name, inputs.plan_sha256, inputs.repository["root"], settings]
    else:
        compared = inputs.model_copy(update={"limits": Limits()})
    speakers = {name: started.backend.get(name) for name in IDENTIFYING_SETTINGS}
    return hashlib.sha256(to_json([compared, speakers, started.repetition])).hexdigest()


@dataclass(frozen=True)
class BatchJob:
    """A run that is to be driven to its end, or has been."""

    started: RunStarted
    backend: ModelBackend
    loop: RunLoop
    folder: Path
    """Where its log lies."""
    top: Path
    """The folder that its id is relative to."""
    stem: str
    """The name of its log, without number."""
    sink: Sink | None = None

    @cached_property
    def key(self) -> str:
        """Its identity."""
        return run_identity(self.started)

    async def drive(self, queue: BatchQueue, log: Path | None, *, retry_failed: bool = False) -> Run:
        """Begin the run, or resume it from its log, by way of the queue; return it when it ended or waits.

        With `retry_failed` its failed calls are asked again, and what a limit kept back (rule E6). Raises LogError for
        a log that is damaged, in use, or does not follow from its own replies, and SettingsError where the limits of a
        run that is asked again are used up.
        """
        writer, known = (LogWriter.create(self.folder, self.stem), None) if log is None else LogWriter.resume(log)
        with writer:
            if known is None:
                recorder, first = Recorder(writer, sink=self.sink), self.started
            else:
                recorder = self._resumed(writer, known, queue, retry_failed=retry_failed)
                first = at_present(run_of(known.records, log, writer.path.stem).started, recorder.past)
            await self.loop(first, self._backend(queue, recorder, writer.path), recorder)
        name = writer.path.stem
        return self.finished(read_run(writer.path) if known else run_of(recorder.finished(), writer.path, name))

    def finished(self, run: Run) -> Run:
        """A run that ended or waits, under its id; a cross run with its artifact."""
        assert run.log_path is not None  # noqa: S101  (all of these runs have logs)
        return write_artifact_of(replace(run, run_id=run.log_path.relative_to(self.top).with_suffix("").as_posix()))

    def _resumed(self, writer: LogWriter, log: Log, queue: BatchQueue, *, retry_failed: bool) -> Recorder:
        """A recorder that goes on; what is in a batch already is not repeated, and not said to be."""
        past = Past(log.records)
        promised = queue.promise(past, partial(name_of_turn, writer.path, log.records, past))
        repeated = [turn for turn in past.in_flight if turn not in promised]
        started = run_of(log.records, writer.path, writer.path.stem).started
        before = limits_of(at_present(started, past))
        limits = before.model_copy(update={name: own for name, own in limits_of(self.started) if own is not None})
        changed = Terms(limits if limits != before else None)
        found = retryable(log.records, before) if retry_failed else Retryable()
        past.note_terms(changed)
        past.timeout = None  # of a resumption outside of batches
        resumed = resumption(log, found, changed, self.backend, repeated)
        if isinstance(resumed, RunReopened):
            check_unused(limits, past)
        return Recorder(writer, past, resumed, self.sink)

    def _backend(self, queue: BatchQueue, recorder: Recorder, log: Path) -> ModelBackend:
        async def post(address: Address, turn: str, body: dict[str, Any]) -> ModelReply:
            run = name_of_turn(log, recorder.records, recorder.past, turn)
            return await queue.reply_to(run, address, turn, body)

        backend = self.backend.through(post)
        backend.max_concurrency = sys.maxsize  # all that may be asked at once goes into one batch
        return backend


def repeated(job: BatchJob, repetitions: int) -> list[BatchJob]:
    """Return the job once for each repetition, counted from 1."""
    numbers = range(1, repetitions + 1)
    return [replace(job, started=job.started.model_copy(update={"repetition": number})) for number in numbers]


def runs_in(folder: Path) -> dict[str, Run]:
    """Return the runs whose logs are in a folder, by identity; of two that are the same, one that ended.

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
        if run is not None and (run_identity(run.started) not in runs or run.has_ended):
            runs[run_identity(run.started)] = run
    if problems:
        raise LogError(problems)
    return runs


def expect_model_backend(backend: str | Backend) -> ModelBackend:
    """Return the backend if its requests can go in batches; raise SettingsError otherwise."""
    if isinstance(backend, ModelBackend):
        return backend
    name = repr(backend) if isinstance(backend, str) else type(backend).__name__
    fix = "give agents.Anthropic(model=...); `verify` and `crossverify` take any backend"
    raise SettingsError(Problem("backend", f"must be a backend with message batches, got {name}", fix))


def expect_folder(name: str, folder: object) -> Path:
    """Return the folder of the logs, which a batch needs to go on; raise SettingsError if there is none."""
    if isinstance(folder, str | Path) and "\0" not in str(folder):
        return Path(folder)
    fix = "name a folder: a batch may take a day, and goes on from its logs"
    raise SettingsError(Problem(name, f"must be the name of a folder, got {folder!r}", fix))


def read_settings(
    function: Callable[..., Any], settings: Mapping[str, Any], set_by_batch: tuple[str, ...]
) -> dict[str, Any]:
    """Return all settings of `function` that a batch passes on: those of the caller, else the function's defaults.

    Raises SettingsError listing unknown settings and those that the batch sets itself.
    """
    keywords = {p.name: p.default for p in signature(function).parameters.values() if p.kind is Parameter.KEYWORD_ONLY}
    known = {name: default for name, default in keywords.items() if name not in set_by_batch}
    problems = []
    for name in settings:
        if name in set_by_batch:
            problems.append(Problem(name, "is set by the batch itself: each run is one of many", "leave it out"))
        elif name not in known:
            fix = f"use one of {', '.join(known)}"
            problems.append(Problem(name, f"is not a setting of {function.__name__}{did_you_mean(name, known)}", fix))
    if problems:
        raise SettingsError(problems)
    return known | dict(settings)
