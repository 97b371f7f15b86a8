"""What a cross run leaves behind: its outcome, and the state artifact as an export (SPEC B9, B10)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

from verifyplan.files import write_new_text
from verifyplan.frames.artifact import artifact_text
from verifyplan.loops.run import Run
from verifyplan.protocol.artifact import Artifact, FinalState
from verifyplan.runlog.cross_state import CrossState, artifact, fold_cross
from verifyplan.words import counted

UNNAMED = "ad-hoc"
"""What stands for the task type in paths and keys where none was named."""


@dataclass(frozen=True, repr=False)
class CrossRun(Run):
    """A cross run: ended, or broken off, and then without artifact, status and gate."""

    path: Path | None = None
    """Where the artifact was written; None if it was not."""

    @cached_property
    def state(self) -> CrossState:
        """The fold of the events."""
        return fold_cross(self.events)

    @cached_property
    def artifact(self) -> Artifact:
        """The state artifact, schema 1.2; ValueError if the run was broken off."""
        return artifact(self.state)

    @property
    def status(self) -> FinalState | None:
        """How the loop ended: converged, max-rounds-reached, or aborted-non-result; None if it was broken off."""
        return self.state.outcome.final_state if self.state.outcome else None

    @property
    def gate_passed(self) -> bool | None:
        """Whether every plan item held (SPEC B10); None where no plan body was verified."""
        return self.state.outcome.gate_passed if self.state.outcome else None

    @property
    def gating(self) -> bool | None:
        """Whether a failed gate stops the plan; False where it only advises, None without a plan body."""
        return self.state.outcome.gating if self.state.outcome else None

    def __str__(self) -> str:
        """The outcome in a few lines."""
        if self.state.outcome is None:
            return f"broken off after {counted(len(self.records), 'event')}; resume it to get an outcome"
        counts = self.artifact.finalClassificationCounts
        assert counts is not None  # noqa: S101  (the fold writes it)
        mode = "adversarial" if self.artifact.adversarial else "collaborative"
        sizes = (counted(len(self.artifact.findings), "finding"), counted(len(self.started.cross.analysers), "worker"))
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


def state_folder(out: Path, task_type: str | None) -> Path:
    """Where the log and the artifact of a cross run go: `runs/<task-type>/state` (SPEC B9)."""
    return out / "runs" / (task_type or UNNAMED) / "state"


def export_artifact(run: CrossRun) -> Path | None:
    """Write the artifact beside the run's log, under the same name; None where there is no log.

    A file that stands there already is left as it is: it is this run's, written before the process died.
    """
    if run.log_path is None:
        return None
    path = run.log_path.with_suffix(".json")
    write_new_text(path, artifact_text(run.artifact))
    return path
