"""How a run is to be run: the `convergence` block of a cross run, the settings of a plan run (rules B1, A3-A12)."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, TypedDict, get_args

from pydantic import Field

from verifyplan.protocol.base import Model
from verifyplan.protocol.records import TeamMode
from verifyplan.protocol.vote import Mode, VerificationMode

Policy = Literal["protocol", "deliberate"]
BlockedWord = Literal["pause", "continue"]
OnBlocked = Literal[BlockedWord, "ask"]
"""What a plan run does where it is blocked; "ask" has a function answer, as `verify` records it."""

POLICIES: tuple[Policy, ...] = get_args(Policy)
BLOCKED_WORDS: tuple[BlockedWord, ...] = get_args(BlockedWord)


class PlanBodyVerification(TypedDict):
    """How the items of a plan body are verified."""

    enabled: bool
    maxRounds: int
    gating: bool


class ConvergenceBlock(TypedDict):
    """The settings of a cross run, under the names that artifacts give them."""

    enabled: bool
    adversarial: bool
    maxRounds: int
    effectiveMaxRounds: int
    verificationMode: VerificationMode
    planBodyVerification: PlanBodyVerification


class Limits(Model):
    """The limits of a run; they are checked before a call is sent (rule A12)."""

    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Tokens, in and out, that end the run once they are used."
    )
    max_cost: Annotated[Decimal, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="US dollars that end the run once they are spent."
    )


class PanelSettings(Model):
    """The panel that votes on challenges after research (rule A9)."""

    workers: tuple[str, ...] = Field(default=("panel-1", "panel-2", "panel-3"), description="The roster, in order.")
    mode: Mode = "adversarial"
    max_rounds: Annotated[int, Field(ge=1, le=3)] = 1
    items_per_call: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Challenges that one call asks about; None for all."
    )


class PlanSettings(Limits):
    """The settings of a plan run; a replay may change some of them."""

    policy: Policy = "protocol"
    on_blocked: OnBlocked = "continue"
    max_iterations: Annotated[int, Field(ge=1)] = 3
    team: TeamMode | None = Field(default=None, description="The team asked for; None to let it be sized.")
    threshold: Annotated[int, Field(ge=0)] = 7
    weights: dict[str, str] | None = Field(default=None, description="Weights as decimal texts; None: the default.")
    panel: PanelSettings | None = PanelSettings()
    timeout: float | None = Field(default=600.0, description="Seconds that one call may take; None for no limit.")
    plan_check: bool = Field(
        default=False, description="Whether the blockers of the plan check are challenges of iteration 1."
    )
