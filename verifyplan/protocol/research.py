"""What research finds: unknowns, surfaced contexts and probed risks, as document 000 §2-§4 has them (rule A1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, StrictStr

from verifyplan.protocol.base import Model
from verifyplan.protocol.challenge import ChallengeId, Severity

UnknownType = Literal["FILE_MISSING", "API_BEHAVIOR", "PRIOR_DECISION", "STALE_KNOWLEDGE", "INTEGRATION_UNKNOWN"]
UnknownResolution = Literal["CONFIRMED", "REFUTED", "UNRESOLVABLE", "PARTIALLY_RESOLVED"]
ContextSource = Literal["memory", "codebase", "claude_md", "git_history"]
ContextImpact = Literal["changes_needed", "confirms_approach", "contradicts_plan"]
Probability = Literal["LOW", "MED"]

UNKNOWN_TYPES: tuple[UnknownType, ...] = get_args(UnknownType)
UNKNOWN_RESOLUTIONS: tuple[UnknownResolution, ...] = get_args(UnknownResolution)
CONTEXT_SOURCES: tuple[ContextSource, ...] = get_args(ContextSource)
CONTEXT_IMPACTS: tuple[ContextImpact, ...] = get_args(ContextImpact)
PROBABILITIES: tuple[Probability, ...] = get_args(Probability)


def _null(value: Any) -> Any:
    """The documents show the text "null" where nothing is referred to; both are read as None."""
    return None if value == "null" else value


Reference = Annotated[ChallengeId | None, BeforeValidator(_null)]
"""The id of a challenge, or None; the text "null" is read, and null is written."""


class Unknown(Model):
    """A question the plan leaves open; resolution and finding are None until the resolver answered."""

    id: Annotated[StrictStr, Field(pattern=r"^U[1-9][0-9]*$")]
    description: StrictStr = Field(description="What is not known and needs to be.")
    type: UnknownType
    affects_challenge: Reference = Field(description="The challenge that the answer unblocks.")
    suggested_query: StrictStr = Field(description="The exact query to ask.")
    resolution: UnknownResolution | None = None
    finding: StrictStr | None = Field(default=None, description="[VERIFIED: source | finding | impact].")


class SurfacedContext(Model):
    """Something that memory, code or history holds on the plan, which nobody asked for."""

    id: Annotated[StrictStr, Field(pattern=r"^S[1-9][0-9]*$")]
    source: ContextSource
    location: StrictStr = Field(description="Exact path, key or commit.")
    relevance: StrictStr = Field(description="Why it matters to this plan.")
    impact: ContextImpact
    generates_challenge: Reference = None


class ProbedRisk(Model):
    """Something that could go wrong, when, and what follows."""

    id: Annotated[StrictStr, Field(pattern=r"^P[1-9][0-9]*$")]
    risk: StrictStr = Field(description="What could go wrong.")
    trigger: StrictStr = Field(description="The condition that sets it off.")
    cascade: StrictStr = Field(description="What follows downstream.")
    probability: Probability
    severity: Severity
    generates_challenge: Reference = None
