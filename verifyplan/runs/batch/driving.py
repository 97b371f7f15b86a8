"""Many runs driven in one event loop, each as far as it comes, while their requests travel together (rules G3, E2)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path

from verifyplan.agents.base import ModelBackend
from verifyplan.engine.run_async import in_session, run_async
from verifyplan.errors import InputError, Problem, SettingsError, VerifyplanError
from verifyplan.runs.batch.board import Board
from verifyplan.runs.batch.carrier import Carrier
from verifyplan.runs.batch.jobs import Job, has_ended, runs_in
from verifyplan.runs.batch.journal import Journal, opened
from verifyplan.runs.batch.office import PostOffice
from verifyplan.runs.batch.result import BatchRuns
from verifyplan.runs.batch.room import room
from verifyplan.runs.run import Run

Ended = Run | VerifyplanError
"""What came of a job: its run, or why it could not be driven on."""


def drive_jobs(
    jobs: Sequence[Job],
    backend: ModelBackend,
    folder: Path,
    *,
    poll: float,
    settle: float,
    progress: bool | None = None,
) -> BatchRuns:
    """Drive all jobs to their ends: what has ended is left as it is, what was begun goes on, the rest is begun.

    A job that cannot go on (its log is in use, or does not follow from its replies) leaves the others alone. Raises
    AgentError where an endpoint cannot be reached or takes no batches, and InputError for what is given twice.
    """
    _check_times(poll=poll, settle=settle)
    _check_apart(jobs)
    with opened(folder) as journal:
        known = runs_in(folder)
        ended = {job.key: known[job.key] for job in jobs if job.key in known and has_ended(known[job.key])}
        results: dict[str, Ended] = {job.key: job.finished(ended[job.key]) for job in jobs if job.key in ended}
        left = [job for job in jobs if job.key not in ended]
        if left:
            with Board(progress) as board, _going_on():
                work = _drive(left, known, results, backend, journal, board, poll=poll, settle=settle)
                run_async(in_session(backend, work))
    runs = tuple(run for job in jobs if isinstance(run := results[job.key], Run))
    stopped = {_name(job, known): why for job in jobs if isinstance(why := results[job.key], VerifyplanError)}
    return BatchRuns(runs, stopped, folder)


async def _drive(
    jobs: Sequence[Job],
    known: Mapping[str, Run],
    results: dict[str, Ended],
    backend: ModelBackend,
    journal: Journal,
    board: Board,
    *,
    poll: float,
    settle: float,
) -> None:
    carrier = Carrier(backend.batch_client, journal, poll, board.told)
    at_once = asyncio.Semaphore(room())

    async def drive(job: Job) -> None:
        log = known[job.key].log_path if job.key in known else None
        async with at_once:
            try:
                results[job.key] = await job.drive(office, log)
            except VerifyplanError as error:
                results[job.key] = error

    async with PostOffice(carrier, journal, settle=settle) as office:
        tasks = [asyncio.create_task(drive(job)) for job in jobs]
        together = asyncio.gather(*tasks)
        try:
            await asyncio.wait((together, office.broken), return_when=asyncio.FIRST_COMPLETED)
            if office.broken.done():
                office.broken.result()  # raises
            await together
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(together, *tasks, return_exceptions=True)


def _name(job: Job, known: Mapping[str, Run]) -> str:
    """What a job that was stopped is called: its log, or what it would have been."""
    run = known.get(job.key)
    return run.run_id if run else f"{job.stem}, repetition {job.started.repetition}"


def _check_apart(jobs: Sequence[Job]) -> None:
    """InputError for jobs that are the same, and so would be one run."""
    keys = [job.key for job in jobs]
    twice = [job for at, job in enumerate(jobs) if job.key in keys[:at]]
    if twice:
        fix = "give it once, and say repetitions= to have it done several times"
        raise InputError(Problem(job.stem, "is given twice, with the same settings", fix) for job in twice)


def _check_times(*, poll: float, settle: float) -> None:
    """SettingsError for what is no time to wait."""
    problems = []
    for name, value, least in (("poll", poll, 0.01), ("settle", settle, 0.0)):
        number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
        if not number or value < least:
            problems.append(Problem(name, f"{value!r} is no time to wait", f"give seconds from {least:g}"))
    if problems:
        raise SettingsError(problems)


@contextmanager
def _going_on() -> Iterator[None]:
    """Tell whoever interrupts a batch, or whatever ends it, how it goes on."""
    try:
        yield
    except BaseException as error:
        error.add_note("The runs go on by the same command; what is in message batches is not sent again.")
        raise
