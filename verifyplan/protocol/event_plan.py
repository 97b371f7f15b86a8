"""The events of a plan run: what the rules made of the agents' replies (part A of the rules).

All are derived: from the same replies the same rules give them again, in the same order.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Tool
from verifyplan.protocol.records import (
    Challenge,
    ConvergenceStatus,
    Dimension,
    Directive,
    IterationState,
    Origin,
    PlanQuality,
    PlanVerdict,
    Probability,
    ProbedRisk,
    Status,
    SurfacedContext,
    TeamMode,
    Unknown,
    UnknownResolution,
)
from verifyplan.protocol.role_call import Agent, Role


class SectionRead(Model):
    """A section of the plan: its heading and its lines, from 1, both ends included."""

    title: str
    level: int
    first: int
    last: int


class SignFound(Model):
    """A word of the plan that counted as a sign, and its line."""

    word: str
    line: int


class PlanAssessed(Model):
    """How the plan was read and sized, and the team that it gets (rule A8)."""

    type: Literal["plan-assessed"] = "plan-assessed"
    title: str
    sections: tuple[SectionRead, ...]
    steps: int
    quality: PlanQuality
    trivial: bool
    traits: dict[str, int] = Field(description="What decides the quality: goal, steps, constraints, references ...")
    signs: dict[str, int] = Field(description="The factors of the complexity, counted.")
    complexity: int = Field(ge=0, le=16)
    threshold: int
    team: TeamMode | None = Field(description="None for a trivial plan.")
    domains: tuple[str, ...]
    found: dict[str, tuple[SignFound, ...]] = Field(description="The words that counted, by sign.")
    notes: tuple[str, ...] = Field(default=(), description="What of the plan could not be read.")


class IterationStarted(Model):
    """An iteration begins; `tightened` where the one before was degraded (rule A6)."""

    type: Literal["iteration-started"] = "iteration-started"
    iteration: int
    tightened: bool


class ChallengeRaised(Model):
    """A new challenge has an id; the next event says whether it was admitted."""

    type: Literal["challenge-raised"] = "challenge-raised"
    iteration: int
    challenge: Challenge
    evidence: str = Field(description="Cited places and quoted text, as the agent gave them.")
    uncited: bool = Field(description="Whether the evidence names no place that a reader could open.")
    probability: Probability | None = Field(default=None, description="Of the risk that raised it.")
    raised_by: str | None = Field(default=None, description="The context or risk that raised it, or the plan check.")
    owed: bool = Field(default=False, description="Whether the rules made it, as its context or risk must raise one.")
    disputes: str | None = Field(
        default=None, description="The settled challenge that it says again, citing a place or a severity that is new."
    )


class ChallengeRefused(Model):
    """A challenge that this agent may not raise; it gets no id."""

    type: Literal["challenge-refused"] = "challenge-refused"
    iteration: int
    origin: Origin
    claim: str
    reason: str


class ChallengeAdmitted(Model):
    """A challenge is in the pool; `promoted` if it came out of overflow."""

    type: Literal["challenge-admitted"] = "challenge-admitted"
    iteration: int
    id: str
    promoted: bool = False
    by_rule: bool = Field(
        default=False, description="Whether the rules promoted it: BLOCKING ones come out of overflow first."
    )


class ChallengeOverflowed(Model):
    """A challenge did not fit under the caps; it keeps its id and counts for nothing until it is promoted."""

    type: Literal["challenge-overflowed"] = "challenge-overflowed"
    iteration: int
    id: str
    tag: str
    reason: str
    displaced_by: str | None = Field(
        default=None, description="The challenge of higher severity that took its place in the pool, if one did."
    )


class PromotionRefused(Model):
    """The synthesizer wanted a challenge out of overflow that cannot come."""

    type: Literal["promotion-refused"] = "promotion-refused"
    iteration: int
    id: str
    reason: str


class Restated(Model):
    """A challenge, unknown, context or risk was said again, in the same or other words, and merged into the earlier."""

    type: Literal["restated"] = "restated"
    iteration: int
    what: Literal["challenge", "unknown", "context", "risk"]
    role: str = Field(
        description="Who said it again: of a challenge its origin (such as surfaced), else the role (such as surface)."
    )
    text: str = Field(description="How it was said this time.")
    into: str = Field(description="The id that it says again.")


class UnknownListed(Model):
    """The challenger wants something answered."""

    type: Literal["unknown-listed"] = "unknown-listed"
    iteration: int
    unknown: Unknown


class UnknownResolved(Model):
    """The resolver's answer to an unknown, or the reason that there is none."""

    type: Literal["unknown-resolved"] = "unknown-resolved"
    iteration: int
    id: str
    resolution: UnknownResolution
    finding: str | None


class ContextSurfaced(Model):
    """The researcher surfaced a context that nobody had asked for."""

    type: Literal["context-surfaced"] = "context-surfaced"
    iteration: int
    context: SurfacedContext


class RiskProbed(Model):
    """The researcher found a risk."""

    type: Literal["risk-probed"] = "risk-probed"
    iteration: int
    risk: ProbedRisk
    evidence: str = ""


class AgentFailed(Model):
    """A call of an agent gave nothing usable, and what the loop does without it (rule A11)."""

    type: Literal["agent-failed"] = "agent-failed"
    iteration: int
    call_id: str
    agent: Agent
    reason: str
    consequence: str


class CeilingPassed(Model):
    """A backend reports more calls of a tool than the agent had in this iteration (rule A12)."""

    type: Literal["ceiling-passed"] = "ceiling-passed"
    iteration: int
    call_id: str
    role: Role
    tool: Tool
    used: int
    ceiling: int = Field(description="The calls that it had, grants included.")


class EntryRefused(Model):
    """An entry of an agent's answer was outside the schema; the other entries count (rule A11)."""

    type: Literal["entry-refused"] = "entry-refused"
    iteration: int
    call_id: str
    agent: Agent
    field: str = Field(description="The list that it stood in, such as challenges.")
    position: int = Field(description="Its position in that list, from 1.")
    part: str = Field(default="", description="The part that was refused, where the rest of the entry counts.")
    reason: str


class StatusChanged(Model):
    """A challenge has a new status (rule A2)."""

    type: Literal["status-changed"] = "status-changed"
    iteration: int
    id: str
    old: Status
    new: Status
    resolution: str
    uncited: bool = Field(description="Whether the resolution cites nothing.")
    by: Literal["synthesizer", "user"] = "synthesizer"


class StatusRefused(Model):
    """A change of status that breaks a rule; the challenge stays as it was."""

    type: Literal["status-refused"] = "status-refused"
    iteration: int
    id: str
    new: Status
    resolution: str
    reason: str


class DirectiveIssued(Model):
    """An instruction for the next iteration."""

    type: Literal["directive-issued"] = "directive-issued"
    iteration: int
    directive: Directive


class DirectiveRefused(Model):
    """An instruction that the rules do not allow (rule A7)."""

    type: Literal["directive-refused"] = "directive-refused"
    iteration: int
    directive: Directive
    reason: str


class ConvergenceEvaluated(Model):
    """The ruling on an iteration by its counts; the synthesizer's own word beside it decides nothing (rule A3)."""

    type: Literal["convergence-evaluated"] = "convergence-evaluated"
    iteration: int
    status: ConvergenceStatus
    verdict: PlanVerdict | None
    strong: bool
    blocking_open: int
    significant_open: int
    stated_status: ConvergenceStatus | None = Field(default=None, description="The synthesizer's own word.")
    stated_verdict: PlanVerdict | None = None
    differs: bool = Field(default=False, description="Whether the synthesizer said otherwise.")


class ScoreGiven(Model):
    """One dimension's score, by the synthesizer or, as an audit, by the challenger (rule A10)."""

    type: Literal["score-given"] = "score-given"
    iteration: int
    by: Literal["synthesizer", "challenger"]
    dimension: Dimension
    score: int
    evidence: str


class ScoreRefused(Model):
    """A score that does not count: no whole number from 1 to 10, or without evidence."""

    type: Literal["score-refused"] = "score-refused"
    iteration: int
    by: Literal["synthesizer", "challenger"]
    dimension: str
    received: Any
    reason: str


class ScoreDisputed(Model):
    """The audit differs by 2 or more; both scores are kept and neither wins."""

    type: Literal["score-disputed"] = "score-disputed"
    iteration: int
    dimension: Dimension
    synthesizer: int
    challenger: int


class IterationClosed(Model):
    """All that the iteration ended with."""

    type: Literal["iteration-closed"] = "iteration-closed"
    state: IterationState
