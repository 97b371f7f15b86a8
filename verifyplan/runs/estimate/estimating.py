"""`estimate`: the calls, tokens and dollars of runs, without asking any model (rules A12, G3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from verifyplan import agents
from verifyplan.agents.base import Backend, ModelBackend
from verifyplan.agents.static.backend import CHECKERS
from verifyplan.datasets.plans import labelled_plans
from verifyplan.datasets.sample import sample_repository
from verifyplan.datasets.stdlib import stdlib_root
from verifyplan.errors import Problem, SettingsError
from verifyplan.frames.bundled import claims
from verifyplan.plans.plan import Plan
from verifyplan.progress import progress as progress_bar
from verifyplan.runs.arguments import Workers, check_counts
from verifyplan.runs.cross import crossverify
from verifyplan.runs.estimate.courses import COURSES, Course, course_of
from verifyplan.runs.estimate.dry_run import DryRun, StandIn
from verifyplan.runs.estimate.maximal_stand_in import MaximalStandIn
from verifyplan.runs.estimate.result import Estimate
from verifyplan.runs.estimate.sizes import BRIEF, FULL, USUAL, UsageProfile
from verifyplan.runs.estimate.static_stand_in import StaticStandIn
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.read_findings import RowSource
from verifyplan.runs.run import Run

Sources = str | Path | Plan | RowSource | Sequence[str | Path | Plan]
"""A plan, findings, or several files of either; or the name of a set."""

SETS = ("plans", "stdlib-claims")
"""Sets that are bundled: the labelled plans, and claims about Python's standard library."""

Job = Callable[[Backend, bool], Run]
"""Drives a run with a backend; where told so, for one iteration or round."""


def estimate(
    source: Sources,
    repo: str | Path = ".",
    *,
    workers: Workers | None = None,
    model: str | None = None,
    backend: ModelBackend | None = None,
    batch: bool = False,
    repetitions: int = 1,
    progress: bool | None = None,
    **settings: Any,
) -> Estimate:
    r"""Estimate the use of runs of models by driving them with static agents in the models' place.

    Every request is worded as it would be sent, and its tokens are counted by a rule of thumb; nothing is sent, and
    no key is needed. See `.low`, `.expected`, `.high`, `.table`; `print` tells it in words.

    Args:
        source: a plan (a Markdown file or `Plan`); findings as `crossverify` takes them (a CSV or JSON file, a
            DataFrame, dictionaries); a list of such files; or a bundled set: "plans", "stdlib-claims".
        repo: the folder that the plan or the evidence is about; bundled sets have their own.
        workers: the roster that votes on findings.
        model: the model of everybody.
        backend: in place of a model, the backend as it would be used.
        batch: whether the runs would go through Message Batches, which take something off the price.
        repetitions: how often each run would be made.
        progress: whether to show it; by default where somebody can see it.
        settings: those of `verify`, or of `crossverify`.

    Raises InputError for what `verify` and `crossverify` would refuse, SettingsError where no model is named.

    >>> from verifyplan.plans.plan import parse_plan
    >>> estimate(parse_plan("# Fix a typo\n\nCorrect `README.md`."), model="claude-haiku-4-5").high.calls
    0
    """
    check_counts(repetitions=repetitions)
    if (model is None) == (backend is None):
        fix = "give model=, the id of a model, or backend=, agents.Anthropic(...)"
        raise SettingsError(Problem("model", "either a model or a backend is estimated for, one of both", fix))
    speaker = backend or agents.Anthropic.keyless(model=model)
    with ExitStack() as folders:
        jobs = list(_jobs(source, repo, workers, settings, folders))
        with progress_bar("estimating", len(jobs) * len(COURSES), progress) as step:
            low, expected, high = _courses(jobs, speaker, batch, step)
    used = sorted({part.model for part in (low + expected + high).parts})
    return Estimate(
        low=low * repetitions,
        expected=expected * repetitions,
        high=high * repetitions,
        runs=len(jobs) * repetitions,
        unpriced=tuple(model for model in used if speaker.prices.get(model) is None),
        batch=batch,
    )


def _courses(
    jobs: Sequence[Job], speaker: ModelBackend, batch: bool, step: Callable[[], None]
) -> tuple[Course, Course, Course]:
    static, maximal = StaticStandIn(Path()), MaximalStandIn(Path())
    players: tuple[tuple[StandIn, UsageProfile], ...] = ((static, BRIEF), (static, USUAL), (maximal, FULL))
    courses = []
    for stand_in, profile in players:
        course = Course()
        for job in jobs:
            run = job(DryRun(speaker, stand_in, profile, batch=batch), profile is BRIEF)
            course += course_of(run)
            step()
        courses.append(course)
    low, expected, high = courses
    return low, expected, high


def _jobs(
    source: Any, repo: str | Path, workers: Workers | None, settings: dict[str, Any], folders: ExitStack
) -> Iterator[Job]:
    """A job for each run that the source asks for."""
    named = source if isinstance(source, str) and source in SETS and not Path(source).exists() else None
    if named == "plans":
        repo = sample_repository(Path(folders.enter_context(TemporaryDirectory())) / "repository")
        for plan in labelled_plans():
            yield _plan_job(plan.path, repo, settings)
    elif named == "stdlib-claims":
        yield _cross_job(claims(), stdlib_root(), workers or CHECKERS, {"task_type": "error-analysis"} | settings)
    elif _is_several(source):
        for one in source:
            yield from _jobs(one, repo, workers, settings, folders)
    elif isinstance(source, Plan) or (isinstance(source, str | Path) and Path(source).suffix not in (".csv", ".json")):
        yield _plan_job(source, repo, settings)
    else:
        yield _cross_job(source, repo, _roster(workers), settings)


def _is_several(source: Any) -> bool:
    """Whether this is a list of files and plans, not one of findings."""
    listed = isinstance(source, Sequence) and not isinstance(source, str)
    return listed and bool(source) and all(isinstance(one, str | Path | Plan) for one in source)


def _roster(workers: Workers | None) -> Workers:
    if workers is None:
        fix = "give workers=, the names of those who vote"
        raise SettingsError(Problem("workers", "nobody is named to vote on the findings", fix))
    return workers


def _plan_job(plan: str | Path | Plan, repo: str | Path, settings: Mapping[str, Any]) -> Job:
    def drive(backend: Backend, brief: bool) -> Run:
        given = {**settings, "max_iterations": 1} if brief else settings
        return verify(plan, repo, backend=backend, log_dir=None, progress=False, **given)

    return drive


def _cross_job(findings: RowSource, repo: str | Path, workers: Workers, settings: Mapping[str, Any]) -> Job:
    table = findings.copy() if isinstance(findings, pd.DataFrame) else findings

    def drive(backend: Backend, brief: bool) -> Run:
        arguments = {**settings, **_one_round(settings.get("settings"))} if brief else settings
        return crossverify(table, workers, backend=backend, repo=repo, log_dir=None, progress=False, **arguments)

    return drive


def _one_round(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of `crossverify` that replace `settings` and allow one round."""
    others = {key: value for key, value in (settings or {}).items() if key not in ("maxRounds", "effectiveMaxRounds")}
    return {"settings": others, "max_rounds": 1}
