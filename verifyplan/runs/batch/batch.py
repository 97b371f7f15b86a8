"""`batch_verify` and `batch_crossverify`: many runs at once, through message batches (rules G3, parts A and B)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import unwrap
from pathlib import Path
from typing import Any, TypeVar

from verifyplan.agents.base import Backend
from verifyplan.datasets.plans import labelled_plans
from verifyplan.datasets.sample import sample_repository
from verifyplan.errors import InputError, Problem, Problems, without_keys_in_tracebacks
from verifyplan.plans.plan import Plan
from verifyplan.protocol.event_run import RunStarted
from verifyplan.runlog.recorder import Recorder
from verifyplan.runs.arguments import Workers, check_counts
from verifyplan.runs.batch.drive import BatchRuns, drive_jobs
from verifyplan.runs.batch.jobs import BatchJob, expect_folder, expect_model_backend, read_settings, repeated
from verifyplan.runs.cross.crossverify import PreparedCrossRun, crossverify
from verifyplan.runs.cross.loop import run_cross_loop
from verifyplan.runs.plan.loop import run_plan_loop
from verifyplan.runs.plan.verify import PreparedPlanRun, verify
from verifyplan.runs.read_findings import RowSource

BUNDLED = "plans"
"""The name of the labelled plans of this package."""

SAMPLE = ".sample-repository"
"""The folder of their repository, among the logs; hidden, so that it is not taken for a run."""

SET_FOR_PLANS = ("plan", "repo", "backend", "repetition", "timeout", "log_dir", "progress")
"""Arguments of `verify` that a batch sets itself."""

SET_FOR_FINDINGS = ("findings", "workers", "backend", "repetition", "timeout", "log_dir", "progress")
"""Arguments of `crossverify` that a batch sets itself."""

Plans = str | Path | Plan | Sequence[str | Path | Plan]
T = TypeVar("T")


@without_keys_in_tracebacks
def batch_verify(
    plans: Plans,
    repo: str | Path | None = None,
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
    """Verify many plans at once, their requests sent in message batches, which cost half and may take a day.

    The same call again continues from where it was broken off: runs that ended stay as they are, others resume from
    their logs, and no request that is in a batch is sent again. Calls have no timeout. A limit that
    is raised holds for runs that go on; it makes no other run.

    Args:
        plans: Markdown files, folders of them, `Plan` values, or `"plans"`, the labelled plans of this package (unless
            a folder has that name).
        repo: the folder that the plans are about; the current one, or for the labelled plans their own, made in the
            folder of the logs.
        backend: `agents.Anthropic(...)`.
        repetitions: how many times each plan is verified; each is a separate run.
        log_dir: the folder of the run logs, and of the journal that knows what was sent.
        poll: seconds between two checks of a batch.
        settle: seconds without a new request after which the collected requests are sent.
        retry_failed: whether runs that ended go on, too, where calls failed or a limit kept some back: these are asked
            again in new batches, and what followed from their failure is decided anew (rule E6).
        progress: whether to show progress; by default in a terminal or a notebook.
        settings: those of `verify`: panel, policy, on_blocked, team, max_iterations, max_tokens, max_cost ...

    Returns:
        The runs, plan by plan and repetition by repetition: `.frames` (tables), `.failures`.

    Raises:
        InputError: for plans or settings that cannot be used, listing all problems, before anything is sent.
        LogError: for a damaged log or journal in the folder, or where another command is writing there.
        AgentError: where the endpoint cannot be reached or takes no batches; the same call goes on later.

    >>> import verifyplan as vp
    >>> plans = [vp.datasets.plan_path("purge-hour")]
    >>> batch_verify(plans, "waybill", backend=vp.agents.Anthropic(model="..."))  # doctest: +SKIP
    """
    check_counts(repetitions=repetitions)
    model_backend, folder = expect_model_backend(backend), expect_folder("log_dir", log_dir)
    chosen, bundled = _chosen(plans)
    arguments = read_settings(verify, settings, SET_FOR_PLANS) | ({"synthetic": True} if bundled else {}) | settings
    if repo is None:
        repo = sample_repository(folder / SAMPLE) if bundled else "."
    prepare = partial(unwrap(verify), repo=repo, backend=model_backend, timeout=None, log_dir=folder, **arguments)
    runs = _prepared([partial(prepare, plan) for plan in chosen])
    jobs = [job for run in runs for job in repeated(_plan_job(run, folder), repetitions)]
    return drive_jobs(
        jobs, model_backend, folder, poll=poll, settle=settle, progress=progress, retry_failed=retry_failed
    )


def _chosen(plans: Plans) -> tuple[list[str | Path | Plan], bool]:
    """Return the plans and whether they are those of this package; raise InputError for a folder without plans."""
    if plans == BUNDLED and not Path(BUNDLED).exists():
        return [plan.path for plan in labelled_plans()], True
    named = [plans] if isinstance(plans, str | Path | Plan) else list(plans)
    chosen: list[str | Path | Plan] = []
    problems = []
    for source in named:
        is_folder = isinstance(source, str | Path) and Path(source).is_dir()
        files = sorted(Path(str(source)).glob("*.md")) if is_folder else [source]
        chosen += files
        if not files:
            problems.append(Problem(str(source), "contains no plans", "name a folder of .md files, or the files"))
    if not named:
        problems.append(Problem("plans", "must name a plan, got none", "name Markdown files, or a folder of them"))
    if problems:
        raise InputError(problems)
    return chosen, False


@without_keys_in_tracebacks
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

    The same call again continues from where it was broken off: runs that ended stay as they are, others resume from
    their logs, and no request that is in a batch is sent again. Calls have no timeout. A limit that
    is raised holds for runs that go on; it makes no other run.

    Args:
        findings: one table as `crossverify` takes it, or a list of CSV or JSON files, each a separate run.
        workers: the roster, in order.
        backend: `agents.Anthropic(...)`.
        repetitions: how often each table is verified; each is a separate run.
        log_dir: the folder under which logs, artifacts, and the journal of what was sent are written.
        poll: seconds between two checks of a batch.
        settle: seconds without a new request after which the collected requests are sent.
        retry_failed: whether runs that ended go on, too, where calls failed or a limit kept some back: these are asked
            again in new batches, and what followed from their failure is decided anew (rule E6).
        progress: whether to show progress; by default in a terminal or a notebook.
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
    >>> models = vp.agents.Anthropic(model="...")  # doctest: +SKIP
    >>> batch_crossverify(claims, ["ann", "bob"], backend=models)  # doctest: +SKIP
    """
    check_counts(repetitions=repetitions)
    model_backend, top = expect_model_backend(backend), expect_folder("log_dir", log_dir)
    arguments = read_settings(crossverify, settings, SET_FOR_FINDINGS)
    prepare = partial(unwrap(crossverify), workers=workers, backend=model_backend, timeout=None, log_dir=top)
    keys = ((table, {"task_key": arguments["task_key"] or name}) for table, name in _tables(findings))
    runs = _prepared([partial(prepare, table, **arguments | key) for table, key in keys])
    jobs = [job for run in runs for job in repeated(_cross_job(run, top), repetitions)]
    return drive_jobs(
        jobs, model_backend, jobs[0].folder, poll=poll, settle=settle, progress=progress, retry_failed=retry_failed
    )


def _tables(findings: Any) -> list[tuple[Any, str | None]]:
    """Return the tables, each with the name of its file if there are several."""
    files = isinstance(findings, list | tuple) and findings and all(isinstance(table, str | Path) for table in findings)
    return [(path, Path(path).stem) for path in findings] if files else [(findings, None)]


def _prepared(preparations: Sequence[Callable[[], T]]) -> list[T]:
    """Return the prepared runs; InputError listing each problem of any of them once."""
    problems = Problems()
    runs = [problems.of(prepare) for prepare in preparations]
    if problems:
        raise InputError(dict.fromkeys(problems))
    return [run for run in runs if run is not None]


def _plan_job(run: PreparedPlanRun, folder: Path) -> BatchJob:
    async def loop(first: RunStarted, backend: Backend, recorder: Recorder) -> None:
        await run_plan_loop(first, backend, recorder, run.pause_handler)

    backend = expect_model_backend(run.backend)
    return BatchJob(run.started, backend, loop, folder, folder, run.log_stem, run.sink)


def _cross_job(run: PreparedCrossRun, top: Path) -> BatchJob:
    async def loop(first: RunStarted, backend: Backend, recorder: Recorder) -> None:
        await run_cross_loop(first, backend, run.matcher, recorder)

    backend = expect_model_backend(run.backend)
    return BatchJob(run.started, backend, loop, run.folder or top, top, run.log_stem, run.sink)
