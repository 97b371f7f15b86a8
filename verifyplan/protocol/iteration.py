"""The state of one iteration of a plan run, as document 000 §5 has it (rule A1)."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, StrictInt, StrictStr

from verifyplan.protocol.base import Model
from verifyplan.protocol.challenge import ChallengeId, Severity, Status
from verifyplan.protocol.research import ContextImpact, Reference, UnknownResolution

ConvergenceStatus = Literal["CONTINUE", "CONVERGED", "BLOCKED", "FORCED_EXIT"]
PlanVerdict = Literal["PROCEED", "REVISE", "RETHINK"]
PlanQuality = Literal["RICH", "ADEQUATE", "THIN"]
TeamMode = Literal["base", "scaled"]

CONVERGENCE_STATUSES: tuple[ConvergenceStatus, ...] = get_args(ConvergenceStatus)
PLAN_VERDICTS: tuple[PlanVerdict, ...] = get_args(PlanVerdict)

Count = Annotated[StrictInt, Field(ge=0)]


class ChallengeState(Model):
    """The short form of a challenge in an iteration state."""

    id: ChallengeId
    status: Status
    severity: Severity


class UnknownState(Model):
    """The short form of an unknown in an iteration state."""

    id: Annotated[StrictStr, Field(pattern=r"^U[1-9][0-9]*$")]
    resolution: UnknownResolution | None = None


class ContextState(Model):
    """The short form of a surfaced context in an iteration state."""

    id: Annotated[StrictStr, Field(pattern=r"^S[1-9][0-9]*$")]
    impact: ContextImpact
    generates_challenge: Reference = None


class RiskState(Model):
    """The short form of a probed risk in an iteration state."""

    id: Annotated[StrictStr, Field(pattern=r"^P[1-9][0-9]*$")]
    generates_challenge: Reference = None


class Convergence(Model):
    """What stands against convergence, counted, and what follows."""

    blocking_open: Count = Field(description="BLOCKING challenges that are OPEN or UNRESOLVED.")
    significant_open: Count = Field(description="SIGNIFICANT challenges that are OPEN or UNRESOLVED.")
    status: ConvergenceStatus


class IterationState(Model):
    """All that one iteration ended with; written once per iteration and never changed."""

    iteration: Annotated[StrictInt, Field(ge=1)]
    plan_path: StrictStr
    plan_quality: PlanQuality
    team_mode: TeamMode
    challenges: tuple[ChallengeState, ...] = ()
    unknowns: tuple[UnknownState, ...] = ()
    surfaced_contexts: tuple[ContextState, ...] = ()
    probed_risks: tuple[RiskState, ...] = ()
    convergence: Convergence
    user_responses: tuple[StrictStr, ...] = ()
    synthesizer_directives: tuple[StrictStr, ...] = ()
    quality_score: Annotated[StrictInt, Field(ge=1, le=10)] | None = Field(
        default=None, description="None until the final iteration."
    )
