"""A backend run over the labelled plans, and scored on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from verifyplan.agents.base import Backend
from verifyplan.analysis.detection import Detection, detection
from verifyplan.datasets.labels import Labels, PlanLabel, plan_name, read_labels
from verifyplan.datasets.plans import labelled_plans, plan_path
from verifyplan.datasets.sample import sample_repository
from verifyplan.errors import InputError, Problem, Problems
from verifyplan.frames.runset import RunSet, concat
from verifyplan.progress import progress as progress_bar
from verifyplan.runs.arguments import check_counts
from verifyplan.runs.plan.arguments import folder_of
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.verify import verify
from verifyplan.text import did_you_mean

PlanPaths = str | Path | Sequence[str | Path]
"""Markdown files, folders of them, or globs."""


class BenchInputs(NamedTuple):
    """The plans to verify, each with its label, and the folder that they are about; None for the bundled one."""

    plans: tuple[Path, ...]
    labels: tuple[PlanLabel, ...]
    repo: Path | None
    unlabelled: tuple[str, ...]
    """Plans that were named and have no label, so that nothing is known of them."""


def bench_inputs(plans: PlanPaths | None, labels: Labels | None, repo: object, held_out: bool | None) -> BenchInputs:
    """Return the plans and their labels; InputError listing all that is missing, before any agent is called.

    Without `plans` they are the bundled ones. Every label needs a plan; plans without a label are left out, and named
    in the result. `held_out` takes only the plans whose label says so, or only the others.
    """
    problems = Problems()
    if plans is not None:
        problems += _not_given(labels=labels, repo=repo)
    every = problems.of(lambda: tuple(labelled_plans()) if labels is None else read_labels(labels)) or ()
    files = problems.of(lambda: _bundled(every) if plans is None else _files(plans))
    folder = None if repo is None else problems.of(lambda: folder_of(repo, "repo", "the plans"))
    if files is not None and labels is not None:
        problems += [
            Problem(
                f"labels: {one.plan}", f"no plan has this name{did_you_mean(one.plan, files)}", "name its file, too"
            )
            for one in every
            if one.plan not in files
        ]
    kept = tuple(one for one in every if held_out is None or one.held_out == held_out)
    if every and not kept:
        problems.append(Problem("held_out", f"is {held_out}, and no label says so", "leave it out, or label plans so"))
    if not every and not problems:
        problems.append(Problem("labels", "label no plan", "give a label for each plan that is to be scored"))
    if problems or files is None:
        raise InputError(problems)
    unlabelled = tuple(name for name in files if name not in {one.plan for one in every})
    return BenchInputs(tuple(files[one.plan] for one in kept), kept, folder, unlabelled)


def _not_given(**needed: object) -> Iterator[Problem]:
    fixes = {"labels": "give a JSON file, a mapping or a table", "repo": "give the folder that the plans are about"}
    for name, value in needed.items():
        if value is None:
            yield Problem(name, "must be given for plans of your own, got none", fixes[name])


def _bundled(labels: Sequence[PlanLabel]) -> dict[str, Path]:
    return {one.plan: plan_path(one.plan) for one in labels}


def _files(plans: PlanPaths) -> dict[str, Path]:
    """Return the plans by the names that labels give them; InputError for what names no plan, or two by one name."""
    fix = "name Markdown files, folders of them, or globs, one or a list"
    if not isinstance(plans, str | Path | Sequence) or not all(isinstance(one, str | Path) for one in _listed(plans)):
        raise InputError(Problem("plans", f"must be paths, got {plans!r:.200}", fix))
    found = {address: _found(Path(address)) for address in dict.fromkeys(map(str, _listed(plans)))}
    problems = [Problem("plans", f"{address!r} names no plan", fix) for address, files in found.items() if not files]
    files = {path.resolve(): path for paths in found.values() for path in paths}.values()
    twice = [name for name, times in Counter(map(plan_name, files)).items() if times > 1]
    problems += [Problem("plans", f"two files are called {name!r}", "rename one: labels go by name") for name in twice]
    if problems or not files:
        raise InputError(problems or [Problem("plans", "must name a plan, got an empty list", fix)])
    return {plan_name(path): path for path in files}


def _listed(plans: PlanPaths) -> Sequence[str | Path]:
    return [plans] if isinstance(plans, str | Path) else plans


def _found(path: Path) -> list[Path]:
    """Return the plans that a path names: itself, those of its folder, or those that its pattern matches."""
    if path.is_dir():
        return sorted(path.glob("*.md"))
    if path.is_file():
        return [path]
    try:
        return sorted(hit for hit in Path(path.anchor).glob(str(path.relative_to(path.anchor))) if hit.is_file())
    except (ValueError, NotImplementedError):  # no pattern, such as a**b
        return []


@contextmanager
def repository_of(inputs: BenchInputs) -> Iterator[Path]:
    """Yield the folder that the plans are about: that of the caller, or the sample repository, made for the while."""
    if inputs.repo is not None:
        yield inputs.repo
        return
    with TemporaryDirectory() as folder:
        yield sample_repository(Path(folder) / "repository")


@dataclass(frozen=True)
class PlanBench:
    """The runs over labelled plans, and how they score."""

    runs: RunSet
    detection: Detection
    unlabelled: tuple[str, ...] = ()
    """Plans that were left out, as they have no label."""

    def __str__(self) -> str:
        """The figures in words."""
        left = f"\nleft out, as they have no label: {', '.join(self.unlabelled)}" if self.unlabelled else ""
        return f"{self.detection}{left}"


def bench_plans(
    backend: str | Backend = "static",
    *,
    plans: PlanPaths | None = None,
    labels: Labels | None = None,
    repo: str | Path | None = None,
    held_out: bool | None = None,
    repetitions: int = 1,
    log_dir: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> PlanBench:
    """Verify labelled plans, and score what was found, each run by itself: detection, false alarms, verdicts, cost.

    The bundled plans are synthetic and speak of a sample repository, which is made for the while; their runs are marked
    synthetic. For plans of your own give `plans`, `labels` and `repo`.

    Args:
        backend: who verifies: `"static"`, `agents.Anthropic(...)` or a backend of your own.
        plans: Markdown files, folders of them, or globs: one, or a list. Those without a label are left out.
        labels: what is wrong with each plan: a JSON file, a mapping of names to labels, or a table, as
            `datasets.read_labels` says.
        repo: the folder that the plans are about.
        held_out: only the plans whose label says that nothing may be tuned on them, or only the others.
        repetitions: how often each plan is verified. A share is the mean over all runs, never over the best of a plan.
        log_dir: the folder of the run logs; None writes none.
        progress: whether to show it; by default where somebody can see it.
        settings: those of `verify`.

    Returns:
        A `PlanBench`: `.runs` (tables) and `.detection`.

    Raises:
        InputError: for labels without a plan, or anything else that cannot be used, listing all problems, before any
            agent is called.
    """
    inputs = bench_inputs(plans, labels, repo, held_out)
    check_counts(repetitions=repetitions)
    settings = {"synthetic": plans is None, "progress": False} | settings
    runs: list[PlanRun] = []
    total = len(inputs.plans) * repetitions
    with repository_of(inputs) as folder, progress_bar("verifying plans", total, progress) as step:
        for path, number in product(inputs.plans, range(1, repetitions + 1)):
            run = verify(path, folder, backend=backend, log_dir=log_dir, repetition=number, **settings)
            name = plan_name(path) if repetitions == 1 else f"{plan_name(path)} ({number})"
            runs.append(replace(run, run_id=name) if log_dir is None else run)
            step()
    together = concat(run.frames for run in runs)
    return PlanBench(together, detection(together, inputs.labels), inputs.unlabelled)
