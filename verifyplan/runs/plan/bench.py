"""A backend run over the labelled plans, and scored on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Backend
from verifyplan.analysis.detection import Detection, detection
from verifyplan.datasets.labels import plan_name
from verifyplan.datasets.labels_read import Labels
from verifyplan.frames.runset import RunSet, concat
from verifyplan.progress import progress as progress_bar
from verifyplan.runs.plan.bench_inputs import PlanPaths, bench_inputs, repository_of
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.verify import verify
from verifyplan.runs.prepare import check_counts


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
