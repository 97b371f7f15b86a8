"""A challenge to a plan, field for field as document 000 §1 has it (rule A1)."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, StrictInt, StrictStr

from verifyplan.protocol.base import Model

Origin = Literal["challenger", "domain-expert", "devils-advocate", "surfaced", "probed"]
Severity = Literal["BLOCKING", "SIGNIFICANT", "MINOR"]
Confidence = Literal["HIGH", "MED", "LOW"]
Status = Literal["OPEN", "RESOLVED", "UNRESOLVED", "DEFERRED", "WITHDRAWN"]

ORIGINS: tuple[Origin, ...] = get_args(Origin)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)
STATUSES: tuple[Status, ...] = get_args(Status)

UNSETTLED: tuple[Status, ...] = ("OPEN", "UNRESOLVED")
"""The statuses that count against convergence (rule A3)."""
INACTIVE: tuple[Status, ...] = ("WITHDRAWN", "DEFERRED")
"""The statuses that do not count as active (rule A5)."""

ChallengeId = Annotated[StrictStr, Field(pattern=r"^C[1-9][0-9]*$")]


class Challenge(Model):
    """What may be wrong with a plan, how badly, and how it was settled; text fields may be blank."""

    id: ChallengeId = Field(description="C1, C2 ...; counted over all iterations.")
    origin: Origin = Field(description="Who raised it.")
    claim: StrictStr = Field(description="What the plan assumes.")
    concern: StrictStr = Field(description="When and why that fails.")
    failure_scenario: StrictStr = Field(description="What then breaks, concretely.")
    alternative: StrictStr = Field(description="What to do instead: the mitigation that convergence asks for.")
    severity: Severity
    confidence: Confidence
    status: Status = "OPEN"
    resolution: StrictStr = Field(default="", description="How it was settled, and on what evidence.")
    iteration_introduced: Annotated[StrictInt, Field(ge=1)]
