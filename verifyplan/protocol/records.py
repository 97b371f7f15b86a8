"""The records of a plan run: challenges, unknowns, contexts, risks, directives, scores, iteration states (rule A1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, StrictInt, StrictStr

from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Tool

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
SETTLED: tuple[Status, ...] = tuple(status for status in STATUSES if status not in UNSETTLED)
"""The statuses that settle a challenge for good (rules A2, A6)."""
INACTIVE: tuple[Status, ...] = ("WITHDRAWN", "DEFERRED")
"""The statuses that do not count as active (rule A5)."""

ChallengeId = Annotated[StrictStr, Field(pattern=r"^C[1-9][0-9]*$")]


class Challenge(Model):
    """Something that may be wrong with a plan, how badly, and how it was settled; text fields may be blank."""

    id: ChallengeId = Field(description="C1, C2 ...; counted over all iterations.")
    origin: Origin = Field(description="Who raised it.")
    claim: StrictStr = Field(description="What the plan assumes.")
    concern: StrictStr = Field(description="When and why that fails.")
    failure_scenario: StrictStr = Field(description="What then breaks, concretely.")
    alternative: StrictStr = Field(description="What to do instead: the mitigation that convergence asks for.")
    severity: Severity = Field(description="How bad it is if it is right.")
    confidence: Confidence = Field(description="How sure the one who raised it is.")
    status: Status = Field(default="OPEN", description="Whether and how it was settled; OPEN and UNRESOLVED count.")
    resolution: StrictStr = Field(default="", description="How it was settled, and on what evidence.")
    iteration_introduced: Annotated[StrictInt, Field(ge=1)] = Field(description="The iteration in which it was raised.")


UnknownType = Literal["FILE_MISSING", "API_BEHAVIOR", "PRIOR_DECISION", "STALE_KNOWLEDGE", "INTEGRATION_UNKNOWN"]
UnknownResolution = Literal["CONFIRMED", "REFUTED", "UNRESOLVABLE", "PARTIALLY_RESOLVED"]
ContextSource = Literal["memory", "codebase", "claude_md", "git_history"]
ContextImpact = Literal["changes_needed", "confirms_approach", "contradicts_plan"]
Probability = Literal["LOW", "MED"]

UNKNOWN_TYPES: tuple[UnknownType, ...] = get_args(UnknownType)
UNKNOWN_RESOLUTIONS: tuple[UnknownResolution, ...] = get_args(UnknownResolution)
ANSWERED: tuple[UnknownResolution, ...] = ("CONFIRMED", "REFUTED", "PARTIALLY_RESOLVED")
"""Resolutions of an unknown that say something of the challenge that it affects."""
FINAL_RESOLUTIONS: tuple[UnknownResolution, ...] = ("CONFIRMED", "REFUTED")
"""Resolutions after which an unknown is not asked again."""
CONTEXT_SOURCES: tuple[ContextSource, ...] = get_args(ContextSource)
CONTEXT_IMPACTS: tuple[ContextImpact, ...] = get_args(ContextImpact)
PROBABILITIES: tuple[Probability, ...] = get_args(Probability)


def _null(value: Any) -> Any:
    """Read the text "null", which documents show where nothing is referred to, as None."""
    return None if value == "null" else value


Reference = Annotated[ChallengeId | None, BeforeValidator(_null)]
"""The id of a challenge, or None; the text "null" is read, and null is written."""


class Unknown(Model):
    """A question the plan leaves open; resolution and finding are None until the resolver answered."""

    id: Annotated[StrictStr, Field(pattern=r"^U[1-9][0-9]*$")] = Field(description="U1, U2 ...")
    description: StrictStr = Field(description="What is not known and needs to be.")
    type: UnknownType = Field(description="What sort of knowledge is missing.")
    affects_challenge: Reference = Field(description="The challenge that the answer unblocks.")
    suggested_query: StrictStr = Field(description="The exact query to ask.")
    resolution: UnknownResolution | None = Field(default=None, description="What came of asking; None before.")
    finding: StrictStr | None = Field(default=None, description="[VERIFIED: source | finding | impact].")


class SurfacedContext(Model):
    """Something that memory, code or history holds on the plan, which nobody asked for."""

    id: Annotated[StrictStr, Field(pattern=r"^S[1-9][0-9]*$")] = Field(description="S1, S2 ...")
    source: ContextSource = Field(description="Where it was found.")
    location: StrictStr = Field(description="Exact path, key or commit.")
    relevance: StrictStr = Field(description="Why it matters to this plan.")
    impact: ContextImpact = Field(description="What it means for the plan.")
    generates_challenge: Reference = Field(default=None, description="The challenge that it raised, if any.")


class ProbedRisk(Model):
    """Something that could go wrong, when, and what follows."""

    id: Annotated[StrictStr, Field(pattern=r"^P[1-9][0-9]*$")] = Field(description="P1, P2 ...")
    risk: StrictStr = Field(description="What could go wrong.")
    trigger: StrictStr = Field(description="The condition that sets it off.")
    cascade: StrictStr = Field(description="What follows downstream.")
    probability: Probability = Field(description="How likely it is.")
    severity: Severity = Field(description="How bad it would be; from SIGNIFICANT on it raises a challenge.")
    generates_challenge: Reference = Field(default=None, description="The challenge that it raised, if any.")


DirectiveKind = Literal["RE-SWEEP", "RE-PROBE", "CONSULT", "GRANT", "FOCUS"]
Trigger = Literal[
    "blocking-contradicts-context",
    "user-changed-scope",
    "new-dependency-chain",
    "unexplored-cascade",
]


class Directive(Model):
    """One instruction: run a research mode again, consult an agent, grant tool calls, or look at something.

    RE-SWEEP and RE-PROBE name a trigger and the items that it rests on; CONSULT names the domain expert or the
    devil's advocate; GRANT names a role and the tool calls that it gets; FOCUS is words alone.
    """

    kind: DirectiveKind
    """What is to be done."""
    trigger: Trigger | None = None
    """Why a research mode runs again; None for the other kinds."""
    items: tuple[StrictStr, ...] = Field(default=(), description="Ids that it rests on, such as C3, S1 or U2.")
    role: StrictStr | None = Field(default=None, description="The role that is consulted or granted tool calls.")
    tools: dict[Tool, int] = Field(default={}, description="Tool calls granted.")
    note: StrictStr = ""
    """Words for whom it concerns."""

    def __str__(self) -> str:
        """The directive as an iteration state holds it."""
        granted = ", ".join(f"{tool} +{calls}" for tool, calls in self.tools.items())
        parts = [self.kind, self.role, self.trigger, " ".join(self.items), granted, self.note]
        return ": ".join(part for part in parts if part)


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
    """The counts that decide convergence, and the status that follows."""

    blocking_open: Count = Field(description="BLOCKING challenges that are OPEN or UNRESOLVED.")
    significant_open: Count = Field(description="SIGNIFICANT challenges that are OPEN or UNRESOLVED.")
    status: ConvergenceStatus = Field(description="What the rules make of these counts.")


class IterationState(Model):
    """All that one iteration ended with; written once per iteration and never changed."""

    iteration: Annotated[StrictInt, Field(ge=1)] = Field(description="Its number, from 1.")
    plan_path: StrictStr = Field(description="The path of the plan, or its name.")
    plan_quality: PlanQuality = Field(description="How much the plan says, by its assessment.")
    team_mode: TeamMode = Field(description="Whether the small or the large team worked.")
    challenges: tuple[ChallengeState, ...] = Field(default=(), description="Every challenge so far.")
    unknowns: tuple[UnknownState, ...] = Field(default=(), description="Every unknown so far.")
    surfaced_contexts: tuple[ContextState, ...] = Field(default=(), description="Every surfaced context so far.")
    probed_risks: tuple[RiskState, ...] = Field(default=(), description="Every probed risk so far.")
    convergence: Convergence = Field(description="The counts, and the status that follows from them.")
    user_responses: tuple[StrictStr, ...] = Field(default=(), description="The answers of a person to pauses.")
    synthesizer_directives: tuple[StrictStr, ...] = Field(default=(), description="Directives for the next iteration.")
    quality_score: Annotated[StrictInt, Field(ge=1, le=10)] | None = Field(
        default=None, description="None until the final iteration."
    )
