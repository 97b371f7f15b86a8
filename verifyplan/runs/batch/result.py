"""The result of a batch: its runs, their failures, and runs that could not go on (rule H1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import overload

from verifyplan.errors import VerifyplanError
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.run_tables import log_rows
from verifyplan.frames.runset import RunSet, assemble
from verifyplan.runlog.current import CountedRecords
from verifyplan.runs.cross.run import CrossRun
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.reopen import retryable
from verifyplan.runs.run import Run
from verifyplan.runs.start import at_present, limits_of
from verifyplan.text import counted


@with_field_docs
@dataclass(frozen=True, repr=False)
class BatchRuns(Sequence[Run]):
    """The runs of a batch, in the order in which they were asked for: plan by plan, repetition by repetition."""

    all: tuple[Run, ...]
    """The runs, in order; `runs[0]` is the first of them."""
    stopped: Mapping[str, VerifyplanError] = field(default_factory=dict)
    """Runs that could not be driven on, by the names of their logs, and why; they are not among the others."""
    folder: Path = Path()
    """Where the logs lie, with the journal of what was sent."""

    @cached_property
    def frames(self) -> RunSet:
        """All runs as tables (rule E4)."""
        return assemble(log_rows(run.records, run.run_id, str(run.log_path or "")) for run in self.all)

    @property
    def failures(self) -> dict[str, str]:
        """Why runs have no outcome, by their ids: agents failed, a budget ended them, or they could not go on."""
        failures = {run.run_id: why for run in self.all if (why := _failure(run))}
        return failures | {name: str(error) for name, error in self.stopped.items()}

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self.all)

    @overload
    def __getitem__(self, at: int) -> Run: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Run, ...]: ...
    def __getitem__(self, at: int | slice) -> Run | tuple[Run, ...]:
        """The run at a place."""
        return self.all[at]

    def __iter__(self) -> Iterator[Run]:
        """The runs in order."""
        return iter(self.all)

    def __str__(self) -> str:
        """Say how many runs had which outcome, and what failed."""
        counts = Counter(run.ending for run in self.all)
        outcomes = ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items()))
        lines = [f"{counted(len(self), 'run')}: {outcomes}" if outcomes else "no run"]
        lines += [f"{name}: {why}" for name, why in self.failures.items()]
        if count := sum(run.has_ended and can_be_asked_again(run) for run in self.all):
            how = "the same call with retry_failed=True (--retry-failed) asks again"
            lines.append(f"{counted(count, 'run')} with calls that failed or were kept back: {how}, in batches")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """How many runs there are, and where."""
        return f"<BatchRuns {self.folder}: {counted(len(self), 'run')}, {counted(len(self.failures), 'failure')}>"

    def _repr_html_(self) -> str:
        """The outcomes for a notebook; every text is shown as text."""
        return f"<p>{escape(str(self)).replace(chr(10), '<br>')}</p>"


def can_be_asked_again(run: Run) -> bool:
    """Return whether a call of a run failed, or a limit kept one back, by the records that count (rule E6)."""
    limits = limits_of(at_present(run.started, CountedRecords(run.records)))
    return retryable(run.records, limits).superseded_from is not None


def _failure(run: Run) -> str:
    """Why a run has no outcome; blank if it has one, or waits for a person."""
    if isinstance(run, CrossRun):
        return "no dispatch of a round gave a result" if run.status == "aborted-non-result" else ""
    outcome = run.outcome if isinstance(run, PlanRun) else None
    return outcome.exit_reason if outcome and outcome.ended_by in ("failures", "budget") else ""
