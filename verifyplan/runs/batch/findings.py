"""`batch_crossverify`: tables of findings cross-verified at once, through message batches (part B of the rules, G3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from inspect import unwrap
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Backend
from verifyplan.errors import InputError, Problems
from verifyplan.protocol.event_run import RunStarted
from verifyplan.runlog.recorder import Recorder
from verifyplan.runs.arguments import Workers, check_counts
from verifyplan.runs.batch.drive import drive_jobs
from verifyplan.runs.batch.jobs import BatchJob, expect_folder, expect_model_backend, read_settings, repeated
from verifyplan.runs.batch.result import BatchRuns
from verifyplan.runs.cross.crossverify import PreparedCrossRun, crossverify
from verifyplan.runs.cross.loop import run_cross_loop
from verifyplan.runs.read_findings import RowSource

SET_BY_BATCH = ("findings", "workers", "backend", "repetition", "timeout", "log_dir", "progress")
"""Arguments of `crossverify` that a batch sets itself."""


def batch_crossverify(
    findings: RowSource | Sequence[str | Path],
    workers: Workers,
    *,
    backend: str | Backend,
    repetitions: int = 1,
    log_dir: str | Path = "runs",
    poll: float = 60.0,
    settle: float = 1.0,
    retry_failed: bool = False,
    progress: bool | None = None,
    **settings: Any,
) -> BatchRuns:
    """Cross-verify one or several tables of findings, their requests sent in message batches, which cost half.

    The same call again goes on where it was broken off, whenever and however: runs that ended are left as they are,
    others go on from their logs, and no request that is in a batch is sent again. Calls have no timeout. A limit that
    is raised holds for runs that go on; it makes no other run.

    Args:
        findings: one table as `crossverify` takes it, or a list of CSV or JSON files, each a run of its own.
        workers: the roster, in order.
        backend: `agents.Anthropic(...)`.
        repetitions: how often each table is verified; each is a run of its own.
        log_dir: the folder under which logs, artifacts, and the journal of what was sent are written.
        poll: seconds between two looks at a batch.
        settle: seconds without a new request after which what has gathered is sent.
        retry_failed: whether runs that ended go on, too, where calls failed or a limit kept some back: these are asked
            again in new batches, and what followed from their failure is decided anew (rule E6).
        progress: whether to show it; by default where somebody can see it.
        settings: those of `crossverify`: mode, max_rounds, task_type, repo, items_per_call, max_tokens, max_cost ...

    Returns:
        The runs, table by table and repetition by repetition: `.frames` (tables), `.failures`.

    Raises:
        InputError: for findings, workers or settings that cannot be used, listing all problems, before anything is
            sent.
        LogError: for a damaged log or journal in the folder, or where another command is writing there.
        AgentError: where the endpoint cannot be reached or takes no batches; the same call goes on later.

    >>> import verifyplan as vp
    >>> claims = vp.datasets.stdlib_claims(40)
    >>> batch_crossverify(claims, ["ann", "bob"], backend=vp.agents.Anthropic(model="..."))  # doctest: +SKIP
    """
    check_counts(repetitions=repetitions)
    model_backend, top = expect_model_backend(backend), expect_folder("log_dir", log_dir)
    arguments = read_settings(crossverify, settings, SET_BY_BATCH)
    prepare = partial(unwrap(crossverify), workers=workers, backend=model_backend, timeout=None, log_dir=top)
    problems = Problems()
    prepared: list[PreparedCrossRun | None] = [
        problems.of(partial(prepare, table, **arguments | {"task_key": arguments["task_key"] or name}))
        for table, name in _tables(findings)
    ]
    if problems:
        raise InputError(dict.fromkeys(problems))
    jobs = [job for run in prepared if run for job in repeated(_job(run, top), repetitions)]
    return drive_jobs(
        jobs, model_backend, jobs[0].folder, poll=poll, settle=settle, progress=progress, retry_failed=retry_failed
    )


def _tables(findings: Any) -> list[tuple[Any, str | None]]:
    """Return the tables, each with the name of its file if there are several."""
    files = isinstance(findings, list | tuple) and findings and all(isinstance(table, str | Path) for table in findings)
    return [(path, Path(path).stem) for path in findings] if files else [(findings, None)]


def _job(run: PreparedCrossRun, top: Path) -> BatchJob:
    async def loop(first: RunStarted, backend: Backend, recorder: Recorder) -> None:
        await run_cross_loop(first, backend, run.matcher, recorder)

    return BatchJob(
        run.started,
        backend=expect_model_backend(run.backend),
        loop=loop,
        folder=run.folder or top,
        top=top,
        stem=run.log_stem,
        sink=run.sink,
    )
