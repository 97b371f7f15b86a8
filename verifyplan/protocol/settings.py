"""The `convergence` block: how a cross run is to be run (SPEC B1)."""

from __future__ import annotations

from typing import TypedDict

from verifyplan.protocol.vote import VerificationMode


class PlanBodyVerification(TypedDict):
    """How the items of a plan body are verified."""

    enabled: bool
    maxRounds: int
    gating: bool


class ConvergenceBlock(TypedDict):
    """The settings of a cross run, with the names that document 001 gives them."""

    enabled: bool
    adversarial: bool
    maxRounds: int
    effectiveMaxRounds: int
    verificationMode: VerificationMode
    planBodyVerification: PlanBodyVerification
