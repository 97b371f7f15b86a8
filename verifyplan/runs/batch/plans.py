"""`batch_verify`: many plans verified at once, through message batches (part A of the rules, G3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from inspect import unwrap
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Backend
from verifyplan.datasets.plans import labelled_plans
from verifyplan.datasets.sample import sample_repository
from verifyplan.errors import InputError, Problem, Problems
from verifyplan.plans.plan import Plan
from verifyplan.protocol.event_run import RunStarted
from verifyplan.runlog.recorder import Recorder
from verifyplan.runs.arguments import check_counts
from verifyplan.runs.batch.drive import drive_jobs
from verifyplan.runs.batch.jobs import BatchJob, expect_folder, expect_model_backend, read_settings, repeated
from verifyplan.runs.batch.result import BatchRuns
from verifyplan.runs.plan.loop import run_plan_loop
from verifyplan.runs.plan.verify import PreparedPlanRun, verify

BUNDLED = "plans"
"""The name of the labelled plans of this package."""

SAMPLE = ".sample-repository"
"""The folder of their repository, among the logs; hidden, so that it is not taken for a run."""

SET_BY_BATCH = ("plan", "repo", "backend", "repetition", "timeout", "log_dir", "progress")
"""Arguments of `verify` that a batch sets itself."""

Plans = str | Path | Plan | Sequence[str | Path | Plan]


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

    The same call again goes on where it was broken off, whenever and however: runs that ended are left as they are,
    others go on from their logs, and no request that is in a batch is sent again. Calls have no timeout. A limit that
    is raised holds for runs that go on; it makes no other run.

    Args:
        plans: Markdown files, folders of them, `Plan` values, or `"plans"`, the labelled plans of this package (unless
            a folder has that name).
        repo: the folder that the plans are about; the current one, or for the labelled plans their own, made in the
            folder of the logs.
        backend: `agents.Anthropic(...)`.
        repetitions: how often each plan is verified; each is a run of its own.
        log_dir: the folder of the run logs, and of the journal that knows what was sent.
        poll: seconds between two looks at a batch.
        settle: seconds without a new request after which what has gathered is sent.
        retry_failed: whether runs that ended go on, too, where calls failed or a limit kept some back: these are asked
            again in new batches, and what followed from their failure is decided anew (rule E6).
        progress: whether to show it; by default where somebody can see it.
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
    arguments = read_settings(verify, settings, SET_BY_BATCH) | ({"synthetic": True} if bundled else {}) | settings
    if repo is None:
        repo = sample_repository(folder / SAMPLE) if bundled else "."
    prepare = partial(unwrap(verify), repo=repo, backend=model_backend, timeout=None, log_dir=folder, **arguments)
    problems = Problems()
    prepared: list[PreparedPlanRun | None] = [problems.of(partial(prepare, plan)) for plan in chosen]
    if problems:
        raise InputError(dict.fromkeys(problems))
    jobs = [job for run in prepared if run for job in repeated(_job(run, folder), repetitions)]
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
            problems.append(Problem(str(source), "holds no plan", "name a folder of .md files, or the files"))
    if not named:
        problems.append(Problem("plans", "name no plan", "name Markdown files, or a folder of them"))
    if problems:
        raise InputError(problems)
    return chosen, False


def _job(run: PreparedPlanRun, folder: Path) -> BatchJob:
    async def loop(first: RunStarted, backend: Backend, recorder: Recorder) -> None:
        await run_plan_loop(first, backend, recorder, run.pause_handler)

    return BatchJob(
        run.started,
        backend=expect_model_backend(run.backend),
        loop=loop,
        folder=folder,
        top=folder,
        stem=run.log_stem,
        sink=run.sink,
    )
