"""Requests to the roles of plan runs and debates, and the answer that each role gives (rules A1, A4-A11, C2, G1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, StrictStr, model_serializer, model_validator

from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Tool
from verifyplan.protocol.message import DebateRole, Message, MessageType
from verifyplan.protocol.plan_rules import NEUTRAL_RULES, PlanRules
from verifyplan.protocol.records import (
    Challenge,
    ChallengeId,
    Confidence,
    ContextImpact,
    ContextSource,
    ConvergenceStatus,
    Directive,
    PlanQuality,
    PlanVerdict,
    Probability,
    ProbedRisk,
    Severity,
    Status,
    SurfacedContext,
    Unknown,
    UnknownResolution,
    UnknownType,
)
from verifyplan.protocol.vote import Classification


class DebateRequest(Model):
    """One call of architect or builder: the task, the messages so far, and the present diff."""

    call_id: str = Field(description="Where the call stands, such as t2/critique.")
    role: DebateRole = Field(description="Who is called.")
    type: MessageType = Field(description="What is asked for: a proposal, a critique, a diff, a verification.")
    turn: int = Field(description="The turn, from 1.")
    max_turns: int = Field(description="The turns that the debate may have.")
    task: str = Field(description="What the debate is about.")
    documents: dict[str, str] = Field(
        default={}, description="Texts under debate beside the repository's files, by the name that a diff gives them."
    )
    challenges: tuple[Challenge, ...] = Field(default=(), description="What is open about a plan that is revised.")
    diff: str = Field(default="", description="The builder's diff as it stands; blank before the first.")
    messages: tuple[Message, ...] = Field(default=(), description="Every message so far.")
    tools: dict[Tool, int] = Field(default={}, description="Tool calls allowed in this call.")


class ArchitectAnswer(Model):
    """The answer of an architect: the message's text and what it rests on."""

    content: Annotated[StrictStr, Field(min_length=1)]
    reasons: tuple[StrictStr, ...] = ()
    evidence: tuple[StrictStr, ...] = ()
    risks: tuple[StrictStr, ...] = ()


class BuilderAnswer(ArchitectAnswer):
    """The answer of a builder: its message, and the whole present diff."""

    diff: StrictStr = Field(description="A unified diff of files of the repository, or of the documents; may be blank.")


Role = Literal[
    "challenger",
    "resolver",
    "surface",
    "probe",
    "domain-expert",
    "devils-advocate",
    "synthesizer",
    "score",
    "audit",
]
ROLES: tuple[Role, ...] = get_args(Role)
Agent = Literal["challenger", "resolver", "researcher", "domain-expert", "devils-advocate", "synthesizer"]

AGENT_OF_ROLE: dict[Role, Agent] = {
    "challenger": "challenger",
    "resolver": "resolver",
    "surface": "researcher",
    "probe": "researcher",
    "domain-expert": "domain-expert",
    "devils-advocate": "devils-advocate",
    "synthesizer": "synthesizer",
    "score": "synthesizer",
    "audit": "challenger",
}
"""Which of the six agents plays a role: the researcher has two modes, two agents are asked for scores, too."""


_RAISING = ("max_active", "disputes")
_CAPS = ("first_challenger_cap", "later_challenger_cap", "expert_cap", "advocate_cap", "research_cap")

RULES_OF_ROLE: dict[Role, tuple[str, ...]] = {
    "challenger": _RAISING,
    "resolver": ("max_active",),
    "surface": _RAISING,
    "probe": _RAISING,
    "domain-expert": _RAISING,
    "devils-advocate": (*_RAISING, "advocate_bars"),
    "synthesizer": (
        *("max_active", *_CAPS, "consensus_forbids", "uncited_settlement", "promote_blocking", "overflow_continues"),
        *("revise_from", "strong_from", "needs_alternatives", "later_research", "later_consults"),
    ),
    "score": ("max_active",),
    "audit": ("max_active",),
}
"""The rules that each role hears of, where a run has others than the protocol's."""


def rules_of_role(role: Role, rules: PlanRules) -> PlanRules:
    """Return rules with all fields neutral that a role does not hear of, so that its request depends on no others.

    >>> rules_of_role("challenger", PlanRules(disputes="merge", revise_from=2)).changed
    {'disputes': 'merge'}
    """
    return PlanRules(**{name: value for name, value in rules.changed.items() if name in RULES_OF_ROLE[role]})


class Moved(Model):
    """A change of a challenge's status, as later agents see it."""

    iteration: int
    challenge: ChallengeId
    old: Status
    new: Status
    resolution: str


class PanelVote(Model):
    """One panel worker's vote on a challenge, as the synthesizer sees it."""

    worker: str = Field(description="The panel worker.")
    verdict: str = Field(description="Its verdict on the challenge.")
    basis: str | None = Field(description="What a disagree rests on; None without one.")
    explanation: str = Field(description="Its reasons.")


class PanelResult(Model):
    """The panel's result on a challenge in this iteration (rule A9)."""

    challenge: ChallengeId = Field(description="The challenge that was voted on.")
    classification: Classification = Field(description="The class that its votes gave.")
    rule: str = Field(description="The rule that decided the class.")
    votes: tuple[PanelVote, ...] = Field(description="Its votes.")


class RoleRequest(Model):
    """One call of one agent: the plan, all that the run knows, and what the agent may do."""

    call_id: str = Field(description="Where the call stands, such as i2/challenger.")
    role: Role = Field(description="Who is called.")
    iteration: int = Field(description="The iteration, from 1.")
    max_iterations: int = Field(description="The iterations that the run may have.")
    plan_name: str = Field(description="The name under which places in the plan are cited, as plan.md in plan.md:12.")
    plan_text: str = Field(description="The whole plan.")
    plan_quality: PlanQuality = Field(description="How much the plan says, by its assessment.")
    domains: tuple[str, ...] = Field(description="The plan's domains, as the assessment found them.")
    challenges: tuple[Challenge, ...] = Field(default=(), description="Every challenge that was admitted so far.")
    overflow: tuple[Challenge, ...] = Field(default=(), description="Challenges that did not fit under the caps.")
    evidence: dict[str, str] = Field(default={}, description="Cited places and quoted text, by challenge id.")
    unknowns: tuple[Unknown, ...] = Field(default=(), description="Every unknown so far.")
    contexts: tuple[SurfacedContext, ...] = Field(default=(), description="Every surfaced context so far.")
    risks: tuple[ProbedRisk, ...] = Field(default=(), description="Every probed risk so far.")
    moved: tuple[Moved, ...] = Field(default=(), description="Every change of a status so far.")
    panel: tuple[PanelResult, ...] = Field(default=(), description="This iteration's votes, for the synthesizer.")
    directives: tuple[Directive, ...] = Field(default=(), description="What the synthesizer asked of this iteration.")
    user_context: tuple[str, ...] = Field(default=(), description="What a person added, oldest first.")
    unavailable: tuple[str, ...] = Field(default=(), description="What this iteration lacks, as an agent failed.")
    may_raise: int = Field(default=0, description="How many new challenges this agent may raise.")
    rules: PlanRules = Field(
        default=NEUTRAL_RULES, description="The rules of the run that this agent hears of; the others are neutral here."
    )
    tools: dict[Tool, int] = Field(default={}, description="Tool calls allowed in this iteration, grants included.")

    @model_serializer(mode="wrap")
    def _without_neutral_rules(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave neutral rules out, so that requests have the digests that they had before rules were a value."""
        values: dict[str, Any] = handler(self)
        if self.rules == NEUTRAL_RULES:
            values.pop("rules", None)
        return values


_ANY_CASE = BeforeValidator(lambda word: word.strip().upper() if isinstance(word, str) else word)
"""Reads a severity or confidence in any case: a challenge is not lost for its spelling."""


class RaisedChallenge(Model):
    """A challenge as an agent raises it; the run gives it an id."""

    claim: StrictStr
    concern: StrictStr
    failure_scenario: StrictStr = ""
    alternative: StrictStr = ""
    severity: Annotated[Severity, _ANY_CASE]
    confidence: Annotated[Confidence, _ANY_CASE]
    evidence: StrictStr = Field(default="", description="Cited places (plan.md:12, src/a.py:3) and quoted text.")


class RaisedUnknown(Model):
    """A question that the challenger wants answered; the run gives it an id."""

    description: StrictStr
    type: UnknownType
    affects: StrictStr | None = Field(default=None, description="A challenge's id, or #1 for the first of this answer.")
    suggested_query: StrictStr = ""


class ChallengesAnswer(Model):
    """The answer of a domain expert or a devil's advocate."""

    challenges: tuple[RaisedChallenge, ...] = ()


class ChallengerAnswer(ChallengesAnswer):
    """The answer of the challenger: challenges, and the unknowns for the resolver."""

    unknowns: tuple[RaisedUnknown, ...] = ()


class UnknownAnswer(Model):
    """The resolver's answer to one unknown."""

    id: StrictStr
    resolution: UnknownResolution
    finding: Annotated[StrictStr, Field(pattern=r"^\[VERIFIED:[^|\n]+\|[^|\n]+\|[^\n]+\]$")] | None = Field(
        default=None, description="[VERIFIED: source | finding | impact]; null only for UNRESOLVABLE."
    )

    @model_validator(mode="after")
    def _says_what_it_found(self) -> Self:
        if self.finding is None and self.resolution != "UNRESOLVABLE":
            raise ValueError(f"{self.resolution} needs a finding")
        return self


class ResolverAnswer(Model):
    """The answer of the resolver."""

    answers: tuple[UnknownAnswer, ...] = ()


class RaisedContext(Model):
    """Something that the researcher surfaced; one that contradicts the plan raises a challenge."""

    source: ContextSource
    location: StrictStr
    relevance: StrictStr
    impact: ContextImpact
    challenge: RaisedChallenge | None = None


class SurfaceAnswer(Model):
    """The answer of the researcher in mode 2."""

    contexts: tuple[RaisedContext, ...] = ()


class RaisedRisk(Model):
    """A risk that the researcher probed; from SIGNIFICANT on it raises a challenge."""

    risk: StrictStr
    trigger: StrictStr
    cascade: StrictStr
    probability: Probability
    severity: Severity
    evidence: StrictStr = ""
    challenge: RaisedChallenge | None = None


class ProbeAnswer(Model):
    """The answer of the researcher in mode 3."""

    risks: tuple[RaisedRisk, ...] = ()


class StatusChange(Model):
    """The synthesizer's change of one challenge."""

    challenge: StrictStr
    status: Status
    resolution: StrictStr = ""


class SynthesizerAnswer(Model):
    """How the synthesizer settles an iteration; its own status and verdict are recorded and decide nothing."""

    changes: tuple[StatusChange, ...] = ()
    promotions: tuple[StrictStr, ...] = Field(default=(), description="Ids to be taken in from overflow.")
    directives: tuple[Directive, ...] = Field(default=(), description="For the next iteration.")
    status: ConvergenceStatus | None = None
    verdict: PlanVerdict | None = None
    question: StrictStr = Field(default="", description="What to ask the user where the plan is blocked.")


class GivenScore(Model):
    """One dimension's score as it was given; the rules say whether it counts (rule A10)."""

    score: Any = None
    evidence: Any = ""


class ScoreAnswer(Model):
    """Scores by dimension, from the synthesizer or, as an audit, from the challenger."""

    scores: dict[str, GivenScore] = Field(default={}, description="By dimension.")


RoleAnswer = ChallengesAnswer | ResolverAnswer | SurfaceAnswer | ProbeAnswer | SynthesizerAnswer | ScoreAnswer
"""Any answer of an agent of a plan run."""

ANSWER_OF_ROLE: dict[Role, type[RoleAnswer]] = {
    "challenger": ChallengerAnswer,
    "resolver": ResolverAnswer,
    "surface": SurfaceAnswer,
    "probe": ProbeAnswer,
    "domain-expert": ChallengesAnswer,
    "devils-advocate": ChallengesAnswer,
    "synthesizer": SynthesizerAnswer,
    "score": ScoreAnswer,
    "audit": ScoreAnswer,
}
"""The schema that each role's answer must fit."""
