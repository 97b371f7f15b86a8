"""How a round of a revision is held: a debate, its diff applied, the plan verified again (rule C5)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from verifyplan.agents.base import Backend
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.settings import PlanSettings
from verifyplan.runlog.recorder import Recorder
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.debate.debate import debate
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.verify import begin, drive_plan
from verifyplan.runs.prepare import backend_of, resume_hint
from verifyplan.runs.revise.round import (
    Round,
    apply_debate,
    debate_task,
    open_challenges,
)


@dataclass(frozen=True)
class RevisionRounds:
    """What all rounds of a revision share."""

    architect: Backend | None
    builder: Backend | None
    backend: str | Backend
    folder: Path
    settings: PlanSettings
    """Those of the first run; nobody is there to answer, so a revised plan never waits."""
    max_turns: int
    log_dir: str | Path | None
    progress: bool | None
    synthetic: bool

    def round(self, number: int, before: PlanRun) -> Round:
        """What is open debated; the plan verified again if that changed anything."""
        inputs, settings = before.started.plan, self.settings
        held = debate(
            debate_task(before, inputs.plan_name),
            self.architect,
            self.builder,
            self.max_turns,
            root=self.folder,
            documents={inputs.plan_name: inputs.plan_text},
            challenges=open_challenges(before),
            timeout=settings.timeout,
            max_tokens=settings.max_tokens,
            max_cost=settings.max_cost,
            log_dir=self.log_dir,
            progress=self.progress,
            synthetic=self.synthetic,
        )
        text = apply_debate(held, inputs.plan_name, inputs.plan_text)
        if held.status is None or text == inputs.plan_text:
            return Round(number, before, held, inputs.plan_text)
        return Round(number, before, held, text, self._verified(number, before, text))

    def _verified(self, number: int, before: PlanRun, text: str) -> PlanRun:
        """The run of a revised plan; its log says that it is a revision."""
        inputs = before.started.plan
        speaker = backend_of(self.backend, (), self.folder)
        plan = parse_plan(text, inputs.plan_path)
        begun = begin(plan, self.folder, speaker, self.settings, synthetic=self.synthetic)
        started = begun.model_copy(update={"task_key": f"{begun.task_key} (revision {number})"})
        if self.log_dir is None:
            return PlanRun(drive_plan(started, speaker, Recorder(), None, self.progress))
        stem = f"{Path(inputs.plan_name).stem}-revised"
        with LogWriter.create(self.log_dir, stem) as writer, resume_hint(writer.path):
            records = drive_plan(started, speaker, Recorder(writer), None, self.progress)
        return PlanRun(records, writer.path, writer.path.relative_to(self.log_dir).with_suffix("").as_posix())
