"""A backend run over the labelled plans, and scored on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from verifyplan.agents.base import Backend
from verifyplan.analysis.detection import Detection, detection
from verifyplan.datasets.plans import labelled_plans, plan_labels
from verifyplan.datasets.plans_repository import sample_repository
from verifyplan.frames.runset import RunSet, concat
from verifyplan.loops.plan.run import PlanRun
from verifyplan.loops.plan.verify import verify
from verifyplan.progress import progress as progress_bar


@dataclass(frozen=True)
class PlanBench:
    """The runs over the labelled plans, and how they score."""

    runs: RunSet
    detection: Detection

    def __str__(self) -> str:
        """The figures in words."""
        return str(self.detection)


def bench_plans(
    backend: str | Backend = "static",
    *,
    held_out: bool | None = None,
    log_dir: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> PlanBench:
    """Verify every labelled plan against the sample repository, and score what was found.

    `held_out` takes only the plans that nothing may be tuned on, or only the others; `settings` are those of
    `verify`; with `log_dir` the runs are logged there. The set is synthetic, and the runs are marked so.
    """
    plans = labelled_plans(held_out)
    runs: list[PlanRun] = []
    with TemporaryDirectory() as folder, progress_bar("verifying plans", len(plans), progress) as step:
        repository = sample_repository(Path(folder) / "repository")
        for plan in plans:
            run = verify(
                plan.path,
                repository,
                backend=backend,
                log_dir=log_dir,
                synthetic=True,
                progress=False,
                **settings,
            )
            runs.append(replace(run, run_id=plan.name) if log_dir is None else run)
            step()
    together = concat(run.frames for run in runs)
    return PlanBench(together, detection(together, plan_labels(held_out)))
