"""Events that rules derive in cross runs and debates: rounds, votes, classes, messages (rules B3-B6, C2, E1)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from verifyplan.protocol.artifact import DispatchStatus
from verifyplan.protocol.base import Model
from verifyplan.protocol.message import Message
from verifyplan.protocol.vote import Basis, Classification, Verdict

Part = Literal["findings", "plan-body", "challenges"]
"""Which queue an event belongs to: findings, items of a plan body (rule B10), or challenges of a plan run (A9)."""

PLAN_BODY: Final = "plan-body"
"""The part of the items of a plan body, and their category among findings."""

Iteration = Annotated[int, Field(ge=0, description="The iteration of a plan run; 0 in cross runs.")]


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
    iteration: Iteration = 0
    finding_id: str


class DispatchClosed(Model):
    """How a worker's part in a round ended, once its answer was checked; `skipped` has the reason if so."""

    type: Literal["dispatch-closed"] = "dispatch-closed"
    part: Part
    iteration: Iteration = 0
    round: int
    worker: str
    status: DispatchStatus | None = Field(description="None if the worker had nothing to verify.")
    duration_ms: int | None = None
    skipped: str | None = Field(default=None, description="Why the worker gave no votes, if it gave none.")
    reason: str | None = Field(default=None, description="What was wrong with the call or its answer.")


class VoteCast(Model):
    """A vote as it counts: after labels were mapped and rules B4 and B8 applied."""

    type: Literal["vote-cast"] = "vote-cast"
    part: Part
    iteration: Iteration = 0
    finding_id: str
    round: int
    worker: str
    verdict: Verdict
    disagree_basis: Basis | None
    explanation: str
    basis_filled: bool = Field(default=False, description="Whether the run's `missing_basis` gave the basis.")


class VoteRefused(Model):
    """A vote that does not count: the worker was not asked about that finding."""

    type: Literal["vote-refused"] = "vote-refused"
    part: Part
    iteration: Iteration = 0
    finding_id: str
    round: int
    worker: str
    reason: str


class FindingClassified(Model):
    """A finding got its class, by which rule, in which round (0: before any vote)."""

    type: Literal["finding-classified"] = "finding-classified"
    part: Part
    iteration: Iteration = 0
    finding_id: str
    classification: Classification
    rule: str = Field(description="Name of the rule that classified it, or `round-0`.")
    round: int
    final: bool = Field(description="True where the loop's end gave the class, not a round's votes.")


class RoundClosed(Model):
    """The queue before and after one round."""

    type: Literal["round-closed"] = "round-closed"
    part: Part
    iteration: Iteration = 0
    round: int
    input_queue_size: int
    resolved_count: int
    carried_forward_count: int


class MessagePublished(Model):
    """A message was found valid and published."""

    type: Literal["message-published"] = "message-published"
    message: Message
    diff: str | None = Field(default=None, description="The builder's diff, with an implement message; else null.")
