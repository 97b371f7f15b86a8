"""Hold a run as its log has it, a cross run with its artifact, and open the log of a new run (rules B9, E1, E4)."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from verifyplan.agents.base import Backend
from verifyplan.files import write_new_text
from verifyplan.frames.artifact import artifact_text
from verifyplan.frames.run_tables import tables_of
from verifyplan.frames.runset import RunSet
from verifyplan.frames.support import note_blind_classes
from verifyplan.protocol.artifact import Artifact, FinalState
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_cross import VoteCast
from verifyplan.protocol.event_run import CrossInputs, DebateInputs, PlanInputs, RunStarted
from verifyplan.protocol.vote import CLASSIFICATIONS, NO_LOOK_BEGINNINGS, NOTHING_LOOKED_AT
from verifyplan.redaction import redacted
from verifyplan.repository.repository import Repository
from verifyplan.rules.settings import note_unknown_task_type
from verifyplan.runlog.chain import Record
from verifyplan.runlog.cross_state import CrossState, artifact_of, fold_cross
from verifyplan.runlog.recorder import Recorder
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.merges import TableMatcher, merges_of
from verifyplan.text import counted
from verifyplan.version import VERSION

UNNAMED = "ad-hoc"
"""The task type in paths and keys where none was named."""

MAX_SKIPPED_FILES = 50
"""Files that could not be read and are named in the log; all are counted."""


@dataclass(frozen=True, repr=False)
class Run:
    """A run as its log has it; everything but the records and the places of files is derived from the records."""

    records: tuple[Record, ...]
    """Every event, numbered and stamped."""
    log_path: Path | None = None
    """The run log; None if none was written."""
    run_id: str = "run"
    """Names the run: its log's path without suffix, under `log_dir` as it ends, its name alone where it was read."""

    def __repr__(self) -> str:
        """Its kind, its id, how it ended, and how long it is; the records themselves would fill screens."""
        counts = [*self._counts, counted(len(self.records), "event")]
        return f"<{type(self).__name__} {self.run_id}: {', '.join([self.ending, *counts])}>"

    @property
    def ending(self) -> str:
        """How the run ended, in a word or two: its verdict or status, or that it was broken off."""
        raise NotImplementedError

    @property
    def _counts(self) -> list[str]:
        """What a run of this kind counts, for its repr."""
        raise NotImplementedError

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


@dataclass(frozen=True, repr=False)
class CrossRun(Run):
    """A cross run: ended, or broken off, and then without artifact, status and gate."""

    path: Path | None = None
    """The path of the artifact; None if none was written."""

    @cached_property
    def state(self) -> CrossState:
        """The fold of the events."""
        return fold_cross(self.events)

    @cached_property
    def artifact(self) -> Artifact:
        """The state artifact, schema 1.2; ValueError if the run was broken off."""
        return artifact_of(self.state)

    @property
    def status(self) -> FinalState | None:
        """How the loop ended: converged, max-rounds-reached, or aborted-non-result; None if it was broken off."""
        return self.state.outcome.final_state if self.state.outcome else None

    @property
    def ending(self) -> str:
        """How the run ended: its status, or that it was broken off."""
        return self.status or "broken off"

    @property
    def _counts(self) -> list[str]:
        classes = Counter(c.classification for c in self.state.classes.values() if c.part == "findings")
        return [f"{classes[name]} {name}" for name in CLASSIFICATIONS if classes[name]]

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
        return merges_of(inputs.findings, inputs.analysers, TableMatcher(into))

    def __str__(self) -> str:
        """The outcome in a few lines."""
        if self.state.outcome is None:
            return f"broken off after {counted(len(self.records), 'event')}; resume it to get an outcome"
        counts, inputs = self.artifact.finalClassificationCounts, self.started.cross
        assert counts is not None  # noqa: S101  (the fold writes it)
        mode = "adversarial" if self.artifact.adversarial else "collaborative"
        sizes = (counted(len(self.artifact.findings), "finding"), counted(len(inputs.analysers), "worker"))
        kinds = Counter(vote.disagree_basis or vote.verdict for vote in self._votes)
        votes = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common()) or "none"
        if len(inputs.analysers) < 2:
            votes = "none; fewer than two workers: nobody voted, so no class rests on a vote"
        lines = [
            self.failure,
            self.blindness,
            f"{sizes[0]}, {sizes[1]}, {mode}: {self.status} after {counted(self.artifact.totalRounds or 0, 'round')}",
            f"full-consensus {counts.fullConsensus}, partial-consensus {counts.partialConsensus}, "
            f"contested {counts.contested}, worker-unique {counts.workerUnique}",
            f"votes: {votes}",
            note_blind_classes(self.frames.votes),
            None if self.artifact.adversarial else note_unknown_task_type(inputs.task_type),
        ]
        if joined := sum(group.wordings > 1 for group in self.state.groups["findings"].values()):
            lines.append(f"joined, though the words differ (see .merges): {counted(joined, 'finding')}")
        return "\n".join(line for line in lines if line)

    @cached_property
    def failure(self) -> str | None:
        """That no vote came, with the first reason and the next step; None if one did, or no call was made."""
        closed = [d for dispatches in self.state.dispatches.values() for d in dispatches if d.status is not None]
        votes = self._votes
        if closed and all(d.status != "completed" for d in closed):
            timed_out = closed[0].status == "timeout"
            hint = "give the calls a longer timeout" if timed_out else "repair what the reason names"
            doctor = " (`verifyplan doctor` looks at key and endpoint)"
            return (
                f"no vote: every call failed ({len(closed)} of {len(closed)}), "
                f"{closed[0].worker} first: {closed[0].reason}\nnext step: {hint}"
                f"{doctor if self.started.backend.get('name') == 'anthropic' else ''}"
                ", then run again; the classes below rest on no vote"
            )
        if closed and votes and all(vote.verdict == "verification-error" for vote in votes):
            return (
                f"no vote: no answer held one that can be read ({len(votes)} asked for), "
                f"{votes[0].worker} first: {votes[0].explanation}\n"
                "next step: repair what the reason names, then run again; the classes below rest on no vote"
            )
        return None

    @cached_property
    def blindness(self) -> str | None:
        """That most votes rest on no look at anything, and how many; None if most rest on one."""
        votes = [vote for vote in self._votes if vote.verdict != "verification-error"]
        blind = sum(vote.explanation.startswith(NO_LOOK_BEGINNINGS) for vote in votes)
        if 2 * blind <= len(votes):
            return None
        return (
            f"{NOTHING_LOOKED_AT} in {blind} of {counted(len(votes), 'vote')}: the workers could not read the claims "
            "or found no evidence to look at; these classes say little"
        )

    @property
    def _votes(self) -> list[VoteCast]:
        return [vote for rounds in self.state.votes.values() for votes in rounds.values() for vote in votes.values()]

    def _repr_html_(self) -> str:
        """The outcome and the findings for a notebook; every text is shown as text."""
        shown = self.frames.findings[["finding_id", "summary", "classification", "n_rounds"]]
        return f"<p>{escape(str(self)).replace(chr(10), '<br>')}</p>{shown.to_html(index=False, max_rows=20)}"


def export_artifact(run: CrossRun) -> Path | None:
    """Write the artifact beside the run's log, under the same name; None where there is no log.

    A file that exists already is left as it is: it is this run's, written before the process died.
    """
    if run.log_path is None:
        return None
    path = run.log_path.with_suffix(".json")
    write_new_text(path, artifact_text(run.artifact))
    return path


class OpenLog(NamedTuple):
    """The log of a run that begins; without a file where none is to be written."""

    recorder: Recorder
    path: Path | None = None
    run_id: str = "run"


@contextmanager
def open_log(
    folder: str | Path | None, stem: str, sink: Sink | None = None, top: str | Path | None = None
) -> Iterator[OpenLog]:
    """Open a new log in a folder, its name beginning with `stem`; the run's id is its path under `top`."""
    if folder is None:
        yield OpenLog(Recorder(sink=sink))
        return
    with LogWriter.create(folder, stem) as writer, resume_hint(writer.path):
        run_id = writer.path.relative_to(top or folder).with_suffix("").as_posix()
        yield OpenLog(Recorder(writer, sink=sink), writer.path, run_id)


@contextmanager
def resume_hint(log: Path) -> Iterator[None]:
    """Add to any error how the run goes on; nothing for a run that has not begun."""
    try:
        yield
    except BaseException as error:
        if log.exists() and log.stat().st_size:
            error.add_note(f"The run goes on by: verifyplan resume {log}")
        raise


def start_event(
    task_key: str,
    inputs: CrossInputs | DebateInputs | PlanInputs,
    backend: Backend,
    *,
    synthetic: bool,
    repetition: int,
) -> RunStarted:
    """Return the first event of a run, without keys."""
    started: RunStarted = redacted(
        RunStarted(
            task_key=task_key,
            inputs=inputs,
            versions=versions(),
            backend=backend.describe(),
            synthetic=synthetic,
            repetition=repetition,
        )
    )
    return started


def versions() -> dict[str, str]:
    """Return what drives a run: the versions of verifyplan and Python."""
    return {"verifyplan": VERSION, "python": platform.python_version()}


def describe_repository(repository: Repository) -> dict[str, Any]:
    """Return what a log says of the repository of a run: root, commit, files, and which could not be read."""
    return {
        "root": str(repository.root),
        "commit": repository.commit,
        "files": len(repository.files),
        "skipped": [f"{file.path}: {file.reason}" for file in repository.skipped[:MAX_SKIPPED_FILES]],
        "n_skipped": len(repository.skipped),
    }
