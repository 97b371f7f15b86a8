"""The quality score of a plan: six dimensions, each with its evidence (rule A10)."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, StrictInt, StrictStr

from verifyplan.protocol.base import Model

Dimension = Literal[
    "approach_soundness",
    "risk_coverage",
    "assumption_validity",
    "integration_feasibility",
    "unknowns_coverage",
    "constraint_alignment",
]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)


class DimensionScore(Model):
    """A whole number from 1 to 10, and what it rests on."""

    score: Annotated[StrictInt, Field(ge=1, le=10)]
    evidence: Annotated[StrictStr, Field(pattern=r"\S")] = Field(description="What the score rests on; never blank.")
