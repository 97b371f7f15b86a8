"""Drive many runs in one event loop, send their requests in batches, and return all runs (rules E2, G3, H1)."""

from __future__ import annotations

import asyncio
import importlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from math import isfinite
from pathlib import Path
from typing import Any, Self, overload

from verifyplan.agents.base import ModelBackend
from verifyplan.engine.drive import run_async
from verifyplan.errors import InputError, Problem, SettingsError, VerifyplanError
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.run_tables import log_columns
from verifyplan.frames.runset import RunSet, assemble
from verifyplan.progress import progress as progress_bar
from verifyplan.runlog.current import CountedRecords
from verifyplan.runs.batch.jobs import BatchJob, runs_in
from verifyplan.runs.batch.journal import open_journal
from verifyplan.runs.batch.request_queue import BatchQueue
from verifyplan.runs.batch.transport import BatchTransport
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.reopen import retryable
from verifyplan.runs.run import Run
from verifyplan.runs.start import at_present, limits_of
from verifyplan.text import counted


class BatchProgress:
    """Shows the oldest batch that has not ended; a context manager, which ends with nothing shown."""

    def __init__(self, shown: bool | None = None) -> None:
        self._shown, self._stack = shown, ExitStack()
        self._numbers: dict[str, int] = {}
        self._open: dict[str, tuple[int, int]] = {}
        self._current: str | None = None
        self._step: Callable[[], None] = lambda: None
        self._steps = 0

    def __enter__(self) -> Self:
        """Nothing is shown yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        self._stack.close()

    def show(self, batch: str, done: int, requests: int) -> None:
        """Show the state of a batch: `done` of its `requests` have ended."""
        self._numbers.setdefault(batch, len(self._numbers) + 1)
        self._open[batch] = (done, requests)
        if done >= requests:
            del self._open[batch]
        oldest = next(iter(self._open), None)
        if oldest != self._current:
            self._change(oldest)
        if oldest is not None:
            for _ in range(self._steps, self._open[oldest][0]):
                self._step()
            self._steps = max(self._steps, self._open[oldest][0])

    def _change(self, batch: str | None) -> None:
        self._stack.close()
        self._current, self._steps = batch, 0
        if batch is not None:
            title = f"batch {self._numbers[batch]}: requests done"
            self._step = self._stack.enter_context(progress_bar(title, self._open[batch][1], self._shown))


FILES_OF_A_RUN = 2
RESERVED_FILES = 100
"""Files for everything else: connections, tools, what the caller has open."""

MAX_RUNS = 5_000
RUNS_WITHOUT_FILE_LIMIT = 200
"""Runs at once where the system tells no limit."""


def max_runs_at_once() -> int:
    """Return how many runs this process may drive at once, by the files that it may have open; at least one."""
    try:
        limits: Any = importlib.import_module("resource")  # of POSIX systems alone
    except ImportError:
        return RUNS_WITHOUT_FILE_LIMIT
    files: int = limits.getrlimit(limits.RLIMIT_NOFILE)[0]
    if files == limits.RLIM_INFINITY:
        return MAX_RUNS
    return min(MAX_RUNS, max(1, (files - RESERVED_FILES) // FILES_OF_A_RUN))


Ended = Run | VerifyplanError
"""The result of a job: its run, or the error that stopped it."""


def drive_jobs(
    jobs: Sequence[BatchJob],
    backend: ModelBackend,
    folder: Path,
    *,
    poll: float,
    settle: float,
    progress: bool | None = None,
    retry_failed: bool = False,
) -> BatchRuns:
    """Drive all jobs to their ends: what has ended is left as it is, what was begun goes on, the rest is begun.

    With `retry_failed`, what has ended goes on, too, where a call failed or a limit kept one back.

    A job that cannot go on (its log is in use, or does not follow from its replies) leaves the others alone. Raises
    AgentError where an endpoint cannot be reached or takes no batches, and InputError for what is given twice.
    """
    _check_times(poll=poll, settle=settle)
    _check_apart(jobs)
    with open_journal(folder) as journal:
        known = runs_in(folder)
        ended = {job.key: known[job.key] for job in jobs if job.key in known and known[job.key].has_ended}
        if retry_failed:
            ended = {key: run for key, run in ended.items() if not can_be_asked_again(run)}
        results: dict[str, Ended] = {job.key: job.finished(ended[job.key]) for job in jobs if job.key in ended}
        left = [job for job in jobs if job.key not in ended]
        if left:
            with BatchProgress(progress) as batch_progress, _going_on():
                transport = BatchTransport(backend.batch_client, journal, poll, batch_progress.show)
                queue = BatchQueue(transport, journal, settle=settle)
                run_async(_drive(left, known, results, queue, retry_failed=retry_failed), backend)
    runs = tuple(run for job in jobs if isinstance(run := results[job.key], Run))
    stopped = {_name(job, known): why for job in jobs if isinstance(why := results[job.key], VerifyplanError)}
    return BatchRuns(runs, stopped, folder)


async def _drive(
    jobs: Sequence[BatchJob],
    known: Mapping[str, Run],
    results: dict[str, Ended],
    queue: BatchQueue,
    *,
    retry_failed: bool,
) -> None:
    at_once = asyncio.Semaphore(max_runs_at_once())

    async def drive(job: BatchJob) -> None:
        log = known[job.key].log_path if job.key in known else None
        async with at_once:
            try:
                results[job.key] = await job.drive(queue, log, retry_failed=retry_failed)
            except VerifyplanError as error:
                results[job.key] = error

    async with queue:
        tasks = [asyncio.create_task(drive(job)) for job in jobs]
        together = asyncio.gather(*tasks)
        try:
            await asyncio.wait((together, queue.broken), return_when=asyncio.FIRST_COMPLETED)
            if queue.broken.done():
                queue.broken.result()  # raises
            await together
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(together, *tasks, return_exceptions=True)


def _name(job: BatchJob, known: Mapping[str, Run]) -> str:
    """Return the name of a job that was stopped: its log, or what it would have been called."""
    run = known.get(job.key)
    return run.run_id if run else f"{job.stem}, repetition {job.started.repetition}"


def _check_apart(jobs: Sequence[BatchJob]) -> None:
    """InputError for jobs that are the same, and so would be one run."""
    keys = [job.key for job in jobs]
    twice = [job for at, job in enumerate(jobs) if job.key in keys[:at]]
    if twice:
        fix = "give it once, with repetitions= for several runs"
        raise InputError(Problem(job.stem, "is given twice, with the same settings", fix) for job in twice)


def _check_times(*, poll: float, settle: float) -> None:
    """Raise SettingsError for anything but a time to wait."""
    problems = []
    for name, value, least in (("poll", poll, 0.01), ("settle", settle, 0.0)):
        number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
        if not number or value < least:
            problems.append(
                Problem(name, f"must be a number of seconds, got {value!r}", f"give seconds from {least:g}")
            )
    if problems:
        raise SettingsError(problems)


@contextmanager
def _going_on() -> Iterator[None]:
    """Add to any error, an interrupt too, how the runs are continued."""
    try:
        yield
    except BaseException as error:
        error.add_note("The runs go on by the same command; what is in message batches is not sent again.")
        raise


@with_field_docs
@dataclass(frozen=True, repr=False)
class BatchRuns(Sequence[Run]):
    """The runs of a batch, in the order in which they were asked for: plan by plan, repetition by repetition."""

    all: tuple[Run, ...]
    """The runs, in order; `runs[0]` is the first of them."""
    stopped: Mapping[str, VerifyplanError] = field(default_factory=dict)
    """Runs that could not be driven on, by the names of their logs, and why; they are not among the others."""
    folder: Path = Path()
    """Where the logs lie, with the journal of what was sent."""

    @cached_property
    def frames(self) -> RunSet:
        """All runs as tables (rule E4)."""
        return assemble(log_columns(run.records, run.run_id, str(run.log_path or "")) for run in self.all)

    @property
    def failures(self) -> dict[str, str]:
        """Why runs have no outcome, by their ids: agents failed, a budget ended them, or they could not go on."""
        failures = {run.run_id: why for run in self.all if (why := _failure(run))}
        return failures | {name: str(error) for name, error in self.stopped.items()}

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self.all)

    @overload
    def __getitem__(self, at: int) -> Run: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Run, ...]: ...
    def __getitem__(self, at: int | slice) -> Run | tuple[Run, ...]:
        """The run at a place."""
        return self.all[at]

    def __iter__(self) -> Iterator[Run]:
        """The runs in order."""
        return iter(self.all)

    def __str__(self) -> str:
        """Say how many runs had which outcome, and what failed."""
        counts = Counter(run.ending for run in self.all)
        outcomes = ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items()))
        lines = [f"{counted(len(self), 'run')}: {outcomes}" if outcomes else "no run"]
        lines += [f"{name}: {why}" for name, why in self.failures.items()]
        if count := sum(run.has_ended and can_be_asked_again(run) for run in self.all):
            how = "the same call with retry_failed=True (--retry-failed) asks again"
            lines.append(f"{counted(count, 'run')} with calls that failed or were kept back: {how}, in batches")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """How many runs there are, and where."""
        return f"<BatchRuns {self.folder}: {counted(len(self), 'run')}, {counted(len(self.failures), 'failure')}>"

    def _repr_html_(self) -> str:
        """The outcomes for a notebook; every text is shown as text."""
        return f"<p>{escape(str(self)).replace(chr(10), '<br>')}</p>"


def can_be_asked_again(run: Run) -> bool:
    """Return whether a call of a run failed, or a limit kept one back, by the records that count (rule E6)."""
    limits = limits_of(at_present(run.started, CountedRecords(run.records)))
    return retryable(run.records, limits).superseded_from is not None


def _failure(run: Run) -> str:
    """Why a run has no outcome; blank if it has one, or waits for a person."""
    if isinstance(run, CrossRun):
        return "no dispatch of a round gave a result" if run.status == "aborted-non-result" else ""
    outcome = run.outcome if isinstance(run, PlanRun) else None
    return outcome.exit_reason if outcome and outcome.ended_by in ("failures", "budget") else ""
