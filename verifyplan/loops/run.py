"""What a cross run leaves behind: its events, and what folds out of them (SPEC B9, B10, E4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path

import pandas as pd

from verifyplan.files import write_new_text
from verifyplan.frames.artifact import artifact_text
from verifyplan.frames.columns import typed
from verifyplan.frames.runset import RunSet
from verifyplan.frames.tables import Source, to_tables
from verifyplan.protocol.artifact import Artifact, FinalState
from verifyplan.protocol.event import Event, RunEnded, RunStarted
from verifyplan.runlog.fold import CrossState, artifact, fold
from verifyplan.words import counted

UNNAMED = "ad-hoc"
"""What stands for the task type in paths and keys where none was named."""


@dataclass(frozen=True)
class Run:
    """A cross run that has ended; everything but the events and the file's place is derived from the events."""

    events: tuple[Event, ...]
    path: Path | None = None
    """Where the artifact was written; None if it was not."""
    run_id: str = "cross"
    """The artifact's path under the output folder, without suffix."""

    @cached_property
    def state(self) -> CrossState:
        """The fold of the events."""
        return fold(self.events)

    @cached_property
    def artifact(self) -> Artifact:
        """The state artifact, schema 1.2."""
        return artifact(self.state)

    @property
    def status(self) -> FinalState:
        """How the loop ended: converged, max-rounds-reached, or aborted-non-result."""
        return self._ended.final_state

    @property
    def gate_passed(self) -> bool | None:
        """Whether every plan item held (SPEC B10); None where no plan body was verified."""
        return self._ended.gate_passed

    @property
    def gating(self) -> bool | None:
        """Whether a failed gate stops the plan; False where it only advises, None without a plan body."""
        return self._ended.gating

    @cached_property
    def frames(self) -> RunSet:
        """The run as tables, truth and plan items included (SPEC E4)."""
        truth = {group.finding_id: group.truth for part in self.state.groups.values() for group in part.values()}
        where = str(self.path or "")
        runs = to_tables([Source(self.artifact, self.run_id, where, truth)])
        if not self._started.plan_items:
            return runs
        plan = to_tables([Source(artifact(self.state, "plan-body"), self.run_id, where, truth)])
        findings = pd.concat([runs.findings, plan.findings], ignore_index=True)
        votes = pd.concat([runs.votes, plan.votes], ignore_index=True)
        return replace(runs, findings=typed("findings", findings), votes=typed("votes", votes))

    @property
    def _started(self) -> RunStarted:
        assert self.state.started is not None  # noqa: S101  (a Run is made from whole runs)
        return self.state.started

    @property
    def _ended(self) -> RunEnded:
        assert self.state.ended is not None  # noqa: S101  (a Run is made from whole runs)
        return self.state.ended

    def __str__(self) -> str:
        """The outcome in two lines."""
        counts = self.artifact.finalClassificationCounts
        assert counts is not None  # noqa: S101  (the fold writes it)
        mode = "adversarial" if self.artifact.adversarial else "collaborative"
        sizes = (counted(len(self.artifact.findings), "finding"), counted(len(self._started.analysers), "worker"))
        lines = [
            f"{sizes[0]}, {sizes[1]}, {mode}: {self.status} after {counted(self.artifact.totalRounds or 0, 'round')}",
            f"full-consensus {counts.fullConsensus}, partial-consensus {counts.partialConsensus}, "
            f"contested {counts.contested}, worker-unique {counts.workerUnique}",
            f"votes: {self._votes() or 'none'}",
        ]
        joined = sum(group.wordings > 1 for group in self.state.groups["findings"].values())
        if joined:
            lines.append(f"joined by id or likeness, though the words differ: {counted(joined, 'finding')}")
        return "\n".join(lines)

    def _votes(self) -> str:
        """How the votes fell, bases told apart, so that doubts and failed calls are seen at once."""
        cast = [vote for rounds in self.state.votes.values() for votes in rounds.values() for vote in votes.values()]
        kinds = Counter(vote.disagree_basis or vote.verdict for vote in cast)
        return ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())

    def _repr_html_(self) -> str:
        """The outcome and the findings for a notebook; every text is shown as text."""
        shown = self.frames.findings[["finding_id", "summary", "classification", "n_rounds"]]
        return f"<p>{escape(str(self)).replace(chr(10), '<br>')}</p>{shown.to_html(index=False, max_rows=20)}"


def write_artifact(content: Artifact, folder: Path, task_type: str | None) -> Path:
    """Write a new artifact to `runs/<task-type>/state/convergence-<task-type>-<seq>.json` (SPEC B9).

    The number is the first that is free from 001; two runs at once get two numbers.
    """
    name = task_type or UNNAMED
    text = artifact_text(content)
    state = folder / "runs" / name / "state"
    sequence = 1
    while (path := state / f"convergence-{name}-{sequence:03d}.json").exists() or not write_new_text(path, text):
        sequence += 1
    return path
