"""`estimate`: roles times tokens times prices, without asking any model (rules A12, G3)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from verifyplan import agents
from verifyplan.agents.base import ModelBackend
from verifyplan.agents.static.backend import CHECKERS
from verifyplan.datasets.plans import labelled_plans
from verifyplan.datasets.sample import sample_repository
from verifyplan.datasets.stdlib import stdlib_root
from verifyplan.errors import Problem, SettingsError, without_keys_in_tracebacks
from verifyplan.frames.bundled import claims
from verifyplan.plans.plan import Plan
from verifyplan.progress import progress as progress_bar
from verifyplan.runs.arguments import Workers, check_counts, check_names
from verifyplan.runs.call_use import CASES
from verifyplan.runs.cross.crossverify import crossverify
from verifyplan.runs.estimated_use import Estimate, total
from verifyplan.runs.expected_calls import CrossCalls, PlanCalls
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.read_findings import RowSource

Sources = str | Path | Plan | RowSource | Sequence[str | Path | Plan]
"""A plan, findings, or several files of either; or the name of a set."""

SETS = ("plans", "stdlib-claims")
"""Sets that are bundled: the labelled plans, and claims about Python's standard library."""


@without_keys_in_tracebacks
def estimate(
    source: Sources,
    repo_or_workers: str | Path | Workers | None = None,
    *,
    repo: str | Path | None = None,
    workers: Workers | None = None,
    model: str | None = None,
    backend: ModelBackend | None = None,
    batch: bool = False,
    repetitions: int = 1,
    progress: bool | None = None,
    **settings: Any,
) -> Estimate:
    r"""Estimate the use of runs of models: for each role its calls, their tokens, and the price of these.

    It takes the arguments of the run: `estimate(plan, repo, model=...)` for `verify(plan, repo)`, and
    `estimate(findings, workers, model=..., items_per_call=10)` for `crossverify(findings, workers, items_per_call=10)`.
    The first request of each role is worded as it would be sent, and its tokens are counted by a rule of thumb; what
    comes back and what follows are allowances, in three cases. Nothing is sent, and no key is needed. See `.low`,
    `.expected`, `.high`, `.table`; `print` shows it in words.

    Args:
        source: a plan (a Markdown file or `Plan`); findings as `crossverify` takes them (a CSV or JSON file, a
            DataFrame, dictionaries); a list of such files; or a bundled set: "plans", "stdlib-claims".
        repo_or_workers: the second argument of the run: the folder of a plan (a text or a path), or the workers who
            vote on findings.
        repo: the folder that the plan or the evidence is about, by default the current one; bundled sets have their
            own.
        workers: the roster that votes on findings, if it is not the second argument.
        model: the model of every role and worker.
        backend: in place of a model, the backend of the run, such as `agents.Anthropic.keyless(workers={...})`.
        batch: whether the runs would go through Message Batches, which lower the price.
        repetitions: how often each run would be made.
        progress: whether to show progress; by default in a terminal or a notebook.
        settings: further arguments of `verify`, or of `crossverify` for findings: `mode`, `max_rounds`, `rules`,
            `items_per_call`, `only`, `plan_items`, `max_cost` and others.

    Raises InputError for what `verify` and `crossverify` would refuse, SettingsError where no model is named.

    >>> from verifyplan.plans.plan import parse_plan
    >>> estimate(
    ...     parse_plan("# Fix a typo\n\nCorrect `README.md`."), model="claude-haiku-5-5"
    ... ).high.calls
    0
    >>> claims = [
    ...     {"finding_id": name, "summary": f"{name} is locked", "evidence": "a.md"}
    ...     for name in ("F1", "F2")
    ... ]
    >>> cross = estimate(
    ...     claims, ["ann", "bob"], model="claude-haiku-5-5", max_rounds=2, items_per_call=1
    ... )
    >>> cross.low.calls, cross.high.calls  # two workers, one call a claim; one round or two
    (4, 8)
    """
    check_counts(repetitions=repetitions)
    repo, workers = _places(repo_or_workers, repo, workers)
    if (model is None) == (backend is None):
        fix = "give model=, the id of a model, or backend=, agents.Anthropic(...)"
        raise SettingsError(Problem("model", "must be given, or a backend, and not both", fix))
    speaker = backend or agents.Anthropic.keyless(model=model)
    with ExitStack() as folders:
        runs = list(_runs(source, repo, workers, settings, speaker, folders))
        with progress_bar("estimating", len(runs), progress) as step:
            uses = []
            for run in runs:
                uses.append([run.use(case, batch=batch) for case in CASES.values()])
                step()
    low, expected, high = (total([*of_runs] * repetitions) for of_runs in zip(*uses, strict=True))
    models = sorted({role.model for use in (low, expected, high) for role in use.roles})
    unpriced = tuple(model for model in models if speaker.prices.get(model) is None)
    return Estimate(low, expected, high, runs=len(runs) * repetitions, unpriced=unpriced, batch=batch)


def _places(
    second: str | Path | Workers | None, repo: str | Path | None, workers: Workers | None
) -> tuple[str | Path, Workers | None]:
    """Return folder and workers; SettingsError where one is named twice."""
    is_folder = isinstance(second, str | Path)
    if second is not None and (repo if is_folder else workers) is not None:
        name = "repo" if is_folder else "workers"
        raise SettingsError(Problem(name, f"is given twice, also as {second!r}", "leave one of them out"))
    if isinstance(second, str | Path):
        return second, workers
    return "." if repo is None else repo, workers if second is None else second


def _runs(
    source: Any,
    repo: str | Path,
    workers: Workers | None,
    settings: Mapping[str, Any],
    backend: ModelBackend,
    folders: ExitStack,
) -> Iterator[PlanCalls | CrossCalls]:
    """Yield each run that the source asks for, its arguments checked."""
    named = source if isinstance(source, str) and source in SETS and not Path(source).exists() else None
    if named == "plans":
        repo = sample_repository(Path(folders.enter_context(TemporaryDirectory())) / "repository")
        for plan in labelled_plans():
            yield _plan_run(plan.path, repo, settings, backend)
    elif named == "stdlib-claims":
        settings = {"task_type": "error-analysis", **settings}
        yield _cross_run(claims(), stdlib_root(), workers or CHECKERS, settings, backend)
    elif _is_several(source):
        for one in source:
            yield from _runs(one, repo, workers, settings, backend, folders)
    elif isinstance(source, Plan) or (isinstance(source, str | Path) and Path(source).suffix not in (".csv", ".json")):
        yield _plan_run(source, repo, settings, backend)
    elif workers is None:
        fix = "give the names of those who vote behind the findings, as crossverify takes them, or as workers="
        raise SettingsError(Problem("workers", "must name who votes on the findings, got none", fix))
    else:
        yield _cross_run(source, repo, workers, settings, backend)


def _is_several(source: Any) -> bool:
    """Return whether this is a list of files and plans, not one of findings."""
    listed = isinstance(source, Sequence) and not isinstance(source, str)
    return listed and bool(source) and all(isinstance(one, str | Path | Plan) for one in source)


def _plan_run(
    source: str | Path | Plan, repo: str | Path, settings: Mapping[str, Any], backend: ModelBackend
) -> PlanCalls:
    taken = _checked(settings, verify)
    prepared = inspect.unwrap(verify)(source, repo, backend=backend, **taken)
    return PlanCalls(prepared.plan, repo, prepared.started.plan.settings, backend.at(repo))


def _cross_run(
    findings: RowSource, repo: str | Path, workers: Workers, settings: Mapping[str, Any], backend: ModelBackend
) -> CrossCalls:
    taken = _checked(settings, crossverify)
    prepared = inspect.unwrap(crossverify)(findings, workers, backend=backend, repo=repo, **taken)
    return CrossCalls(prepared.started.cross, prepared.matcher, backend.at(repo))


def _checked(settings: Mapping[str, Any], run: Callable[..., Any]) -> dict[str, Any]:
    """Return the settings of a run without a log; SettingsError naming what is not an argument of its function."""
    allowed = [name for name in list(inspect.signature(run).parameters)[2:] if name not in ("backend", "repo")]
    check_names(settings, allowed, f"estimate or {run.__name__}", "agents.Anthropic.keyless")
    return {**settings, "log_dir": None}
