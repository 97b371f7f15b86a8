"""Present a recorded cross run: artifact, status, gate, and what its votes rest on (rules B8-B10)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from shlex import quote
from typing import TypeVar

import pandas as pd

from verifyplan.field_docs import with_field_docs
from verifyplan.files import write_new_texts, write_text
from verifyplan.frames.artifact import artifact_texts
from verifyplan.frames.cut_notes import cut_words
from verifyplan.frames.few_votes import votes_behind
from verifyplan.frames.run_notes import failure_counts
from verifyplan.frames.vote_losses import note_blind_classes
from verifyplan.protocol.artifact import Artifact, FinalState
from verifyplan.protocol.event_cross import DispatchClosed, VoteCast
from verifyplan.protocol.vote import CLASSIFICATIONS, NO_LOOK_BEGINNINGS, NOTHING_LOOKED_AT
from verifyplan.reports.blocks import Page
from verifyplan.reports.cross import cross_page
from verifyplan.rules.settings import note_unknown_task_type
from verifyplan.runlog.cross_state import CrossState, artifact_of, artifact_without_findings, findings_of, fold_cross
from verifyplan.runlog.current import is_reopened
from verifyplan.runs.merges import TableMatcher, merges_of
from verifyplan.runs.run import ReportedRun, Run
from verifyplan.text import counted

RunT = TypeVar("RunT", bound=Run)


@with_field_docs
@dataclass(frozen=True, repr=False)
class CrossRun(ReportedRun):
    """A cross run: ended, or broken off, and then without artifact, status and gate."""

    path: Path | None = None
    """The path of the artifact; None if none was written."""

    @cached_property
    def state(self) -> CrossState:
        """The fold of the events."""
        return fold_cross(self._events)

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
        """How the run ended: its status, or that it was broken off; and that it is supplementary."""
        status = self.status or "broken off"
        return status if self.started.cross.only is None else f"supplementary, {status}"

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
            return "\n".join(filter(None, (self.failed_calls, self._broken_off)))
        counts, inputs = self.artifact.finalClassificationCounts, self.started.cross
        assert counts is not None  # noqa: S101  (the fold writes it)
        mode = "adversarial" if self.artifact.adversarial else "collaborative"
        sizes = (counted(len(self.artifact.findings), "finding"), counted(len(inputs.analysers), "worker"))
        kinds = Counter(vote.disagree_basis or vote.verdict for vote in self._votes)
        votes = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common()) or "none"
        if lost := kinds["verification-error"]:
            votes += f"; {kinds.total() - lost:,} of {kinds.total():,} asked for are valid"
        if len(inputs.analysers) < 2:
            votes = "none; fewer than two workers: nobody voted, so no class rests on a vote"
        numbers = counts.fullConsensus, counts.partialConsensus, counts.contested, counts.workerUnique
        classes, behind = zip(CLASSIFICATIONS, numbers, strict=True), votes_behind(self.frames.findings)
        lines = [
            *self._warnings,
            f"{sizes[0]}, {sizes[1]}, {mode}: {self.status} after {counted(self.artifact.totalRounds or 0, 'round')}",
            ", ".join(f"{name} {number}{f' ({behind[name]})' if name in behind else ''}" for name, number in classes),
            f"votes: {votes}",
            self.cost_words,
            *self._notes,
        ]
        groups = self.state.groups["findings"].values()
        if joined := sum(group.wordings > 1 for group in groups):
            lines.append(f"joined, though the words differ (see .merges): {counted(joined, 'finding')}")
        if same := sum(len(group.merged_ids) for group in groups if group.wordings == 1):
            lines.append(f"joined with a finding of the same words and place (see .merges): {counted(same, 'finding')}")
        return "\n".join(line for line in lines if line)

    @property
    def _warnings(self) -> list[str]:
        """Return what must be read before the classes."""
        notes = [note for note in self.call_notes if not (self.failure and note in self.few_votes)]
        calls = None if self._every_call_failed else self.failed_calls
        cut = None if self.failure else self._cut_round
        return [text for text in (self.failure, calls, cut, *notes, self.blindness, self._note_rules) if text]

    @property
    def _notes(self) -> list[str]:
        """Return what helps to read the classes."""
        task_type = None if self.started.cross.mode == "adversarial" else self.started.cross.task_type
        notes = note_blind_classes(self.frames.votes), task_type and note_unknown_task_type(task_type)
        return [note for note in notes if note]

    @property
    def _page(self) -> Page:
        notes = [*self._notes, self.cost_words]
        return cross_page(self.state, self.frames, self._warnings, notes, self.shortfall, self._broken_off)

    @cached_property
    def failure(self) -> str | None:
        """That no vote came, with the first reason and the next step; None if one did, or no call was made."""
        votes = self._votes
        if self._every_call_failed:
            first, (kinds, n_calls) = self._dispatched[0], failure_counts(self.frames.calls)
            failed = sum(kinds.values())
            hint = "give the calls a longer timeout" if first.status == "timeout" else "repair what the reason names"
            doctor = " (`verifyplan doctor` looks at key and endpoint)"
            again = f"ask the calls again: {self.retry_command}" if self.retry_command else "run again"
            return (
                f"no vote: every call failed ({failed:,} of {n_calls:,}), {first.worker} first: {first.reason}\n"
                f"next step: {hint}{doctor if self.started.backend.get('name') == 'anthropic' else ''}"
                f", then {again}\nthe classes below rest on no vote"
            )
        if self._dispatched and votes and all(vote.verdict == "verification-error" for vote in votes):
            return (
                f"no vote: no answer held one that can be read ({len(votes)} asked for), "
                f"{votes[0].worker} first: {votes[0].explanation}\n"
                "next step: repair what the reason names, then run again; the classes below rest on no vote"
            )
        return None

    @property
    def shortfall(self) -> str | None:
        """Why the classes are not a result of the whole panel: no vote, a round without any or cut off, few votes."""
        if self.failure:
            return self.failure.partition("\n")[0]
        if self._cut_round:
            return f"{cut_words(self.frames.findings, self._cut_findings)}, so it was not judged"
        if self.status == "aborted-non-result":
            return "a round gave no result and ended the run"
        return " ".join(self.few_votes).removesuffix(".") or None

    @property
    def _every_call_failed(self) -> bool:
        return bool(self._dispatched) and all(closed.status != "completed" for closed in self._dispatched)

    @cached_property
    def _dispatched(self) -> list[DispatchClosed]:
        """Return the dispatches that were made, as they were closed."""
        every = (closed for dispatches in self.state.dispatches.values() for closed in dispatches)
        return [closed for closed in every if closed.status is not None]

    @cached_property
    def blindness(self) -> str | None:
        """That most votes rest on no look at anything, and how many; None if most rest on one."""
        votes = [vote for vote in self._votes if vote.verdict != "verification-error"]
        blind = sum(vote.explanation.startswith(NO_LOOK_BEGINNINGS) for vote in votes)
        if 2 * blind <= len(votes):
            return None
        return (
            f"{NOTHING_LOOKED_AT} in {blind:,} of {counted(len(votes), 'vote')}: the workers could not read the claims "
            "or found no evidence to look at; these classes say little"
        )

    @property
    def _note_rules(self) -> str | None:
        """That the run was made under other rules than the neutral ones, or of listed calls alone; None for neither."""
        inputs, notes = self.started.cross, []
        if inputs.only is not None:
            of = f" to run {inputs.supplements!r}" if inputs.supplements else ""
            notes.append(
                f"supplementary{of}: {counted(len(inputs.only), 'listed vote')} and no other was asked for; these "
                "classes rest on these votes alone, compare none (add_votes puts them beside the recorded ones)"
            )
        if inputs.rules.treatment:
            notes.append(f"decided by {inputs.rules}")
        return "\n".join(notes) or None

    @property
    def _votes(self) -> list[VoteCast]:
        return [vote for rounds in self.state.votes.values() for votes in rounds.values() for vote in votes.values()]

    def _repr_html_(self) -> str:
        """The outcome and the findings for a notebook; every text is shown as text."""
        shown = self.frames.findings[["finding_id", "summary", "classification", "n_rounds"]]
        return f"<p>{escape(str(self)).replace(chr(10), '<br>')}</p>{shown.to_html(index=False, max_rows=20)}"


def write_artifact_of(run: RunT) -> RunT:
    """Write the artifact of a cross run that ended beside its log, under the same name; return the run with its path.

    A run of another kind, or without a log, is returned unchanged. An existing file is kept, since this run wrote it
    before the process died; but if the run was reopened, it is replaced, since it may be of the earlier decision.
    """
    if not isinstance(run, CrossRun) or run.log_path is None:
        return run
    path = run.log_path.with_suffix(".json")
    state = run.state
    texts = artifact_texts(artifact_without_findings(state), findings_of(state))
    try:
        if is_reopened(run.records):
            write_text(path, "".join(texts))
        else:
            write_new_texts(path, texts)
    except OSError as error:
        error.add_note(f"Nothing is lost; the artifact is written by: verifyplan resume {quote(str(run.log_path))}")
        raise
    return replace(run, path=path)
