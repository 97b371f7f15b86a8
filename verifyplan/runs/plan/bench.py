"""Run a backend over labelled plans, and score what it finds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from verifyplan.agents.base import Backend
from verifyplan.analysis.challenge_matching import PLAN
from verifyplan.analysis.detection import Detection, detection
from verifyplan.datasets.labels import Labels, PlanLabel, plan_name, read_labels
from verifyplan.datasets.plans import labelled_plans, plan_path
from verifyplan.datasets.sample import sample_repository
from verifyplan.errors import InputError, Problem, Problems, without_keys_in_tracebacks
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.run_tables import log_columns
from verifyplan.frames.runset import RunSet, assemble
from verifyplan.progress import progress as progress_bar
from verifyplan.runs.arguments import check_counts, read_folder
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.verify import verify
from verifyplan.text import counted, did_you_mean

PlanPaths = str | Path | Sequence[str | Path]
"""Markdown files, folders of them, or globs."""


@with_field_docs
@dataclass(frozen=True)
class PlanBench:
    """The runs over labelled plans, and how they score."""

    frames: RunSet
    """The tables of all runs."""
    detection: Detection
    """How they score against the labels."""
    unlabelled: tuple[str, ...] = ()
    """Plans that were left out, as they have no label."""

    def __str__(self) -> str:
        """The figures in words."""
        left = f"\nleft out, as they have no label: {', '.join(self.unlabelled)}" if self.unlabelled else ""
        return f"{self.detection}{left}"

    __repr__ = __str__  # a console shows the words, not every table


@without_keys_in_tracebacks
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
    """Verify labelled plans, and score the findings of each run by itself: detection, false alarms, verdicts, cost.

    The bundled plans are synthetic and are about a sample repository, which is created temporarily; their runs are
    marked synthetic. For plans of your own give `plans`, `labels` and `repo`.

    Args:
        backend: who verifies: `"static"`, `agents.Anthropic(...)` or a backend of your own.
        plans: Markdown files, folders of them, or globs: one, or a list. Those without a label are left out.
        labels: what is wrong with each plan: a JSON file, a mapping of names to labels, or a table, as
            `datasets.read_labels` says.
        repo: the folder that the plans are about.
        held_out: only the plans whose label says that nothing may be tuned on them, or only the others.
        repetitions: how often each plan is verified. A share is the mean over all runs, never over the best of a plan.
        log_dir: the folder of the run logs; None writes none.
        progress: whether to show progress; by default in a terminal or a notebook.
        settings: those of `verify`. `team="base"` also asks a team about trivial plans, which otherwise no agent sees.

    Returns:
        A `PlanBench`: `.frames` (tables) and `.detection`.

    Raises:
        InputError: for labels without a plan, or anything else that cannot be used, listing all problems, before any
            agent is called.

    >>> print(bench_plans("static", held_out=True).detection)  # takes a minute  # doctest: +SKIP
    """
    inputs = bench_inputs(plans, labels, repo, held_out)
    check_counts(repetitions=repetitions)
    settings = {"synthetic": plans is None, "progress": False} | settings
    runs: list[PlanRun] = []
    total = len(inputs.plans) * repetitions
    with TemporaryDirectory() as temporary, progress_bar("verifying plans", total, progress) as step:
        folder = inputs.repo or sample_repository(Path(temporary) / "repository")
        for path, number in product(inputs.plans, range(1, repetitions + 1)):
            run = verify(path, folder, backend=backend, log_dir=log_dir, repetition=number, **settings)
            name = plan_name(path) if repetitions == 1 else f"{plan_name(path)} ({number})"
            runs.append(replace(run, run_id=name) if log_dir is None else run)
            step()
    together = assemble(log_columns(run.records, run.run_id, str(run.log_path or "")) for run in runs)
    return PlanBench(together, detection(together, inputs.labels), inputs.unlabelled)


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
        fixes = {"labels": "give a JSON file, a mapping or a table", "repo": "give the folder that the plans are about"}
        missing = [name for name, value in {"labels": labels, "repo": repo}.items() if value is None]
        problems += [Problem(name, "must be given for plans of your own, got none", fixes[name]) for name in missing]
    read = problems.of(lambda: tuple(labelled_plans()) if labels is None else read_labels(labels)) or ()
    files = problems.of(
        lambda: {label.plan: plan_path(label.plan) for label in read} if plans is None else _find_plans(plans)
    )
    folder = None if repo is None else problems.of(lambda: read_folder(repo, "repo", "the plans"))
    if files is not None and labels is not None:
        for name in (label.plan for label in read if label.plan not in files):
            message = f"no plan has this name{did_you_mean(name, files)}"
            problems.append(Problem(f"labels: {name}", message, "name its file, too"))
        problems += [problem for label in read if label.plan in files for problem in _outside(label, files[label.plan])]
    kept = tuple(label for label in read if held_out is None or label.held_out == held_out)
    if read and not kept:
        problems.append(Problem("held_out", f"is {held_out}, and no label says so", "leave it out, or label plans so"))
    if not read and not problems:
        problems.append(
            Problem("labels", "must label a plan, got none", "give a label for each plan that is to be scored")
        )
    if problems or files is None:
        raise InputError(problems)
    unlabelled = tuple(name for name in files if name not in {label.plan for label in read})
    return BenchInputs(tuple(files[label.plan] for label in kept), kept, folder, unlabelled)


def _outside(label: PlanLabel, plan: Path) -> Iterator[Problem]:
    """Yield a problem for each line of a label that its plan does not have."""
    n_lines = len(plan.read_text(encoding="utf-8", errors="replace").splitlines())
    for name, labelled in (("defects", label.defects), ("challenges", label.challenges)):
        for number, each in enumerate(labelled):
            lines = [int(match[1]) for text in each.cited if (match := re.fullmatch(rf"{PLAN}:(?:\d+-)?(\d+)", text))]
            for line in sorted({line for line in lines if line > n_lines}):
                place = f"labels: {label.plan}.{name}.{number}"
                message = f"names line {line} of the plan, which has {counted(n_lines, 'line')}"
                yield Problem(place, message, f"name a line from 1 to {n_lines} of {plan.name}")


def _find_plans(plans: PlanPaths) -> dict[str, Path]:
    """Return the plans by the names that labels give them; InputError for a path without plans, or two of one name."""
    fix = "name Markdown files, folders of them, or globs, one or a list"
    paths = [plans] if isinstance(plans, str | Path) else plans
    if not isinstance(paths, Sequence) or not all(isinstance(path, str | Path) for path in paths):
        raise InputError(Problem("plans", f"must be paths, got {plans!r:.200}", fix))
    by_path = {path: _files_of(Path(path)) for path in dict.fromkeys(map(str, paths))}
    problems = [Problem("plans", f"{path!r} names no plan", fix) for path, files in by_path.items() if not files]
    files = {file.resolve(): file for group in by_path.values() for file in group}.values()
    twice = [name for name, times in Counter(map(plan_name, files)).items() if times > 1]
    problems += [Problem("plans", f"two files are called {name!r}", "rename one: labels go by name") for name in twice]
    if problems or not files:
        raise InputError(problems or [Problem("plans", "must name a plan, got an empty list", fix)])
    return {plan_name(file): file for file in files}


def _files_of(path: Path) -> list[Path]:
    """Return the plans that a path names: itself, those of its folder, or those that its pattern matches."""
    if path.is_dir():
        return sorted(path.glob("*.md"))
    if path.is_file():
        return [path]
    try:
        return sorted(hit for hit in Path(path.anchor).glob(str(path.relative_to(path.anchor))) if hit.is_file())
    except (ValueError, NotImplementedError):  # not a pattern, such as a**b
        return []
