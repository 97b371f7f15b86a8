"""The typed events of a cross run: facts from outside, and what the rules made of them.

A sink takes them in this order as the run goes. State is a fold over them (`runlog.fold`), and the durable
log writes them down. Call ids (`r1/worker-b`) say where a call stands, not when it came back: replies of one
round arrive in any order, while the events that rules derive always come in the order of the roster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

from verifyplan.protocol.artifact import DispatchStatus, FinalState, Round2SkippedReason
from verifyplan.protocol.base import Model
from verifyplan.protocol.call import ReplySource, Usage
from verifyplan.protocol.finding import Finding, PlanItem
from verifyplan.protocol.vote import Basis, Classification, Verdict

Part = Literal["findings", "plan-body"]
"""Which of a run's two queues an event belongs to: the findings, or the items of a plan body (SPEC B10)."""


class RunStarted(Model):
    """The run's settings and inputs; everything needed to know what was asked."""

    type: Literal["run-started"] = "run-started"
    kind: Literal["cross"] = "cross"
    task_key: str = Field(description="What the run is about; free text.")
    task_type: str = Field(description="The task type that chose the settings; empty if none was named.")
    settings: dict[str, Any] = Field(description="The artifact's config, as resolved.")
    analysers: tuple[str, ...] = Field(description="The roster, in order.")
    findings: tuple[Finding, ...] = Field(description="The findings as given, before grouping.")
    plan_items: tuple[PlanItem, ...] = Field(default=(), description="The plan body's items.")
    plan_settings: dict[str, Any] | None = Field(default=None, description="planBodyVerification, if used.")
    versions: dict[str, str] = Field(description="Versions of verifyplan and Python.")
    backend: dict[str, Any] = Field(description="What the backend says of itself: name and settings.")
    synthetic: bool = Field(description="Whether the findings or votes were generated, not observed.")


class FindingGrouped(Model):
    """One finding of the run after grouping, with the text of its first discoverer in roster order."""

    type: Literal["finding-grouped"] = "finding-grouped"
    part: Part
    finding_id: str
    summary: str
    evidence: str
    category: str | None
    ticket_ids: tuple[str, ...] = ()
    discoverers: tuple[str, ...] = Field(description="Who found it, in roster order; none for a plan item.")
    merged_ids: tuple[str, ...] = Field(default=(), description="Other ids that said the same thing.")
    wordings: int = Field(default=1, description="How many different summaries became one.")
    truth: bool | None = Field(default=None, description="Truth, if all that were merged agree on it.")


class FindingQueued(Model):
    """A finding, or plan item, waits for votes."""

    type: Literal["finding-queued"] = "finding-queued"
    part: Part
    finding_id: str


class CallRequested(Model):
    """A worker is about to be called."""

    type: Literal["call-requested"] = "call-requested"
    call_id: str
    worker: str
    items: tuple[str, ...] = Field(description="Ids of the findings it is asked about.")


class CallReplied(Model):
    """A worker's reply arrived; it is recorded before anything acts on it."""

    type: Literal["call-replied"] = "call-replied"
    call_id: str
    value: Any = Field(description="The reply as it came, not yet checked.")
    usage: Usage
    duration_ms: int
    source: ReplySource


class CallFailed(Model):
    """A call gave no result: it erred or timed out."""

    type: Literal["call-failed"] = "call-failed"
    call_id: str
    status: Literal["timeout", "error"]
    reason: str = Field(description="What went wrong, in words.")
    duration_ms: int


class DispatchClosed(Model):
    """How a worker's part in a round ended, once its answer was checked; `skipped` has the reason if so."""

    type: Literal["dispatch-closed"] = "dispatch-closed"
    part: Part
    round: int
    worker: str
    status: DispatchStatus | None = Field(description="None if the worker had nothing to verify.")
    duration_ms: int | None = None
    skipped: str | None = Field(default=None, description="Why the worker gave no votes, if it gave none.")
    reason: str | None = Field(default=None, description="What was wrong with the call or its answer.")


class VoteCast(Model):
    """A vote as it counts: after labels were mapped and SPEC B4 and B8 applied."""

    type: Literal["vote-cast"] = "vote-cast"
    part: Part
    finding_id: str
    round: int
    worker: str
    verdict: Verdict
    disagree_basis: Basis | None
    explanation: str


class VoteRefused(Model):
    """A vote that does not count: the worker was not asked about that finding."""

    type: Literal["vote-refused"] = "vote-refused"
    part: Part
    finding_id: str
    round: int
    worker: str
    reason: str


class FindingClassified(Model):
    """A finding got its class, by which rule, in which round (0: before any vote)."""

    type: Literal["finding-classified"] = "finding-classified"
    part: Part
    finding_id: str
    classification: Classification
    rule: str = Field(description="Name of the rule of SPEC B6, or `round-0`.")
    round: int
    final: bool = Field(description="True where the loop's end gave the class, not a round's votes.")


class RoundClosed(Model):
    """The queue before and after one round."""

    type: Literal["round-closed"] = "round-closed"
    part: Part
    round: int
    input_queue_size: int
    resolved_count: int
    carried_forward_count: int


class RunEnded(Model):
    """How the run ended."""

    type: Literal["run-ended"] = "run-ended"
    final_state: FinalState
    total_rounds: int
    round2_skipped_reason: Round2SkippedReason
    gate_passed: bool | None = Field(default=None, description="The plan body's gate; None without one.")
    gating: bool | None = Field(default=None, description="False where the gate only advises.")


Event = (
    RunStarted
    | FindingGrouped
    | FindingQueued
    | CallRequested
    | CallReplied
    | CallFailed
    | DispatchClosed
    | VoteCast
    | VoteRefused
    | FindingClassified
    | RoundClosed
    | RunEnded
)
"""Any event; `type` tells which."""

Sink = Callable[[Event], None]
"""Whatever wants to be told of events as they happen, before the run goes on; what it raises ends the run."""
