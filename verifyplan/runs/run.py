"""What a run of any kind leaves behind: its records, and what folds out of them (rules E1, E4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

import pandas as pd

from verifyplan.files import write_new_text
from verifyplan.frames.artifact import artifact_text
from verifyplan.frames.run_tables import tables_of
from verifyplan.frames.runset import RunSet
from verifyplan.frames.support import note_blind_classes
from verifyplan.protocol.artifact import Artifact, FinalState
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import VoteCast
from verifyplan.protocol.event_run import RunStarted
from verifyplan.protocol.vote import NOTHING_LOOKED_AT
from verifyplan.rules.settings import note_unknown_task_type
from verifyplan.runlog.chain import Record
from verifyplan.runlog.cross_state import CrossState, artifact, fold_cross
from verifyplan.runs.merges import ByTable, merges_of
from verifyplan.text import counted


@dataclass(frozen=True, repr=False)
class Run:
    """A run as its log has it; everything but the records and the places of files is derived from the records."""

    records: tuple[Record, ...]
    """Every event, numbered and stamped."""
    log_path: Path | None = None
    """The run log; None if none was written."""
    run_id: str = "run"
    """The log's path under the folder it was written to, without suffix."""

    def __repr__(self) -> str:
        """Its kind, its log and how long it is; the records themselves would fill screens."""
        return f"<{type(self).__name__} {self.run_id}: {len(self.records)} events>"

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events alone."""
        return tuple(record.event for record in self.records)

    @property
    def started(self) -> RunStarted:
        """The first event: settings, inputs, versions."""
        first = self.events[0]
        assert isinstance(first, RunStarted)  # noqa: S101  (a Run is made from logs, which begin so)
        return first

    @cached_property
    def frames(self) -> RunSet:
        """The run as tables (rule E4)."""
        return tables_of(self.records, self.run_id, str(self.log_path or ""))


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
        """Whether every plan item held (rule B10); None where no plan body was verified."""
        return self.state.outcome.gate_passed if self.state.outcome else None

    @property
    def gating(self) -> bool | None:
        """Whether a failed gate stops the plan; False where it only advises, None without a plan body."""
        return self.state.outcome.gating if self.state.outcome else None

    @property
    def merges(self) -> pd.DataFrame:
        """Who was joined with whom, as `group_findings` shows it before a run."""
        into: dict[str, str] = {}
        for group in self.state.groups["findings"].values():
            into |= dict.fromkeys(group.merged_ids, group.finding_id)
        inputs = self.started.cross
        return merges_of(inputs.findings, inputs.analysers, ByTable(into))

    def __str__(self) -> str:
        """The outcome in a few lines."""
        if self.state.outcome is None:
            return f"broken off after {counted(len(self.records), 'event')}; resume it to get an outcome"
        counts = self.artifact.finalClassificationCounts
        assert counts is not None  # noqa: S101  (the fold writes it)
        mode = "adversarial" if self.artifact.adversarial else "collaborative"
        heads = [head for head in (self.failure, self.blindness) if head]
        sizes = (counted(len(self.artifact.findings), "finding"), counted(len(self.started.cross.analysers), "worker"))
        lines = [
            f"{sizes[0]}, {sizes[1]}, {mode}: {self.status} after {counted(self.artifact.totalRounds or 0, 'round')}",
            f"full-consensus {counts.fullConsensus}, partial-consensus {counts.partialConsensus}, "
            f"contested {counts.contested}, worker-unique {counts.workerUnique}",
            f"votes: {self._votes() or 'none'}",
        ]
        if len(self.started.cross.analysers) < 2:
            lines[-1] = "votes: none; fewer than two workers: nobody voted, so no class rests on a vote"
        if blind := note_blind_classes(self.frames.votes):
            lines.append(blind)
        note = note_unknown_task_type(self.started.cross.task_type)
        if note and not self.artifact.adversarial:
            lines.append(note)
        joined = sum(group.wordings > 1 for group in self.state.groups["findings"].values())
        if joined:
            lines.append(f"joined, though the words differ (see .merges): {counted(joined, 'finding')}")
        return "\n".join([*heads, *lines])

    @cached_property
    def failure(self) -> str | None:
        """That no vote came, with the first reason and the next step; None if one did, or none was asked for."""
        closed = [d for dispatches in self.state.dispatches.values() for d in dispatches if d.status is not None]
        if not closed:
            return None
        if any(d.status == "completed" for d in closed):
            return self._unread
        hint = "give the calls a longer timeout" if closed[0].status == "timeout" else "repair what the reason names"
        doctor = " (`verifyplan doctor` looks at key and endpoint)" if self._speaks_with_models else ""
        return (
            f"no vote: every call failed ({len(closed)} of {len(closed)}), "
            f"{closed[0].worker} first: {closed[0].reason}\n"
            f"next step: {hint}{doctor}, then run again; the classes below rest on no vote"
        )

    @property
    def _unread(self) -> str | None:
        """That calls were answered, but no answer held a vote that can be read; None if one did."""
        votes = self._votes_cast()
        if not votes or any(vote.verdict != "verification-error" for vote in votes):
            return None
        return (
            f"no vote: no answer held one that can be read ({len(votes)} asked for), "
            f"{votes[0].worker} first: {votes[0].explanation}\n"
            "next step: repair what the reason names, then run again; the classes below rest on no vote"
        )

    @cached_property
    def blindness(self) -> str | None:
        """That most votes rest on no look at anything, and how many; None if most rest on one."""
        votes = [vote for vote in self._votes_cast() if vote.verdict != "verification-error"]
        blind = sum(vote.explanation.startswith(NOTHING_LOOKED_AT) for vote in votes)
        if 2 * blind <= len(votes):
            return None
        return (
            f"{NOTHING_LOOKED_AT} in {blind} of {counted(len(votes), 'vote')}: the workers could not read the claims "
            "or found no evidence to look at; these classes say little"
        )

    @property
    def _speaks_with_models(self) -> bool:
        return self.started.backend.get("name") == "anthropic"

    def _votes_cast(self) -> list[VoteCast]:
        return [vote for rounds in self.state.votes.values() for votes in rounds.values() for vote in votes.values()]

    def _votes(self) -> str:
        """How the votes fell, bases told apart, so that doubts and failed calls are seen at once."""
        kinds = Counter(vote.disagree_basis or vote.verdict for vote in self._votes_cast())
        return ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())

    def _repr_html_(self) -> str:
        """The outcome and the findings for a notebook; every text is shown as text."""
        shown = self.frames.findings[["finding_id", "summary", "classification", "n_rounds"]]
        return f"<p>{escape(str(self)).replace(chr(10), '<br>')}</p>{shown.to_html(index=False, max_rows=20)}"


def state_folder(out: Path, task_type: str | None) -> Path:
    """Where the log and the artifact of a cross run go: `runs/<task-type>/state` (rule B9)."""
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
