"""The state artifact of a cross run, schema 1.0 to 1.2, field for field as on disk (rule B9).

Names are those of the JSON. Every field that an older version may lack is None when absent; unknown keys
are kept, and what was absent stays absent when the artifact is written again.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, StrictBool, StrictInt, StrictStr

from verifyplan.protocol.vote import Basis, Classification, Verdict, VerificationMode

SchemaVersion = Literal["1.0", "1.1", "1.2"]
DispatchStatus = Literal["completed", "timeout", "error"]
FinalState = Literal["converged", "max-rounds-reached", "aborted-non-result"]
Round2SkippedReason = Literal["not-skipped", "queue-empty", "max-rounds-1", "all-reverify-non-result"]

SCHEMA_VERSIONS: tuple[SchemaVersion, ...] = get_args(SchemaVersion)
DISPATCH_STATUSES: tuple[DispatchStatus, ...] = get_args(DispatchStatus)
FINAL_STATES: tuple[FinalState, ...] = get_args(FinalState)
ROUND2_REASONS: tuple[Round2SkippedReason, ...] = get_args(Round2SkippedReason)


def _milliseconds(value: Any) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < EXACT_LIMIT:
        return value
    raise ValueError("no number of milliseconds")


EXACT_LIMIT = 2**53
"""Every table and every reader of JSON holds whole numbers below it exactly."""

Count = Annotated[StrictInt, Field(ge=0, lt=EXACT_LIMIT)]
RoundNumber = Annotated[StrictInt, Field(ge=1, lt=EXACT_LIMIT)]
Name = Annotated[StrictStr, Field(min_length=1)]
Milliseconds = Annotated[int | float, PlainValidator(_milliseconds)]


class ArtifactPart(BaseModel):
    """A part of an artifact: frozen, unknown keys kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")


class ArtifactVote(ArtifactPart):
    """One worker's vote on one finding in one round."""

    verdict: Verdict
    disagreeBasis: Basis | None = None
    explanation: StrictStr | None = None


class FindingRound(ArtifactPart):
    """The votes that one finding got in one round, by worker."""

    round: RoundNumber
    votes: dict[Name, ArtifactVote] = {}


class ArtifactFinding(ArtifactPart):
    """One finding: who brought it, what it says, how it was voted on, where it ended."""

    findingId: Name
    summary: StrictStr | None = None
    category: StrictStr | None = None
    ticketIds: tuple[StrictStr, ...] | None = None
    originWorker: Name | None = None
    originEvidence: StrictStr | None = None
    classification: Classification | None = None
    rounds: tuple[FindingRound, ...] | None = None
    consensusWorkers: tuple[Name, ...] | None = None
    dissentingWorkers: tuple[Name, ...] | None = None


class Dispatch(ArtifactPart):
    """One call of a worker in a round: how it ended and how long it took."""

    worker: Name
    status: DispatchStatus | None = None
    durationMs: Milliseconds | None = None


class SkippedWorker(ArtifactPart):
    """A worker that gave no votes in a round, and why."""

    worker: Name
    reason: StrictStr | None = None


class RoundRecord(ArtifactPart):
    """One executed round: the queue before and after, and who was called."""

    round: RoundNumber
    inputQueueSize: Count | None = None
    resolvedCount: Count | None = None
    carriedForwardCount: Count | None = None
    dispatches: tuple[Dispatch, ...] | None = None
    skippedWorkers: tuple[SkippedWorker, ...] | None = None


class ClassificationCounts(ArtifactPart):
    """How many findings ended in each class."""

    fullConsensus: Count | None = None
    partialConsensus: Count | None = None
    contested: Count | None = None
    workerUnique: Count | None = None


class ArtifactConfig(ArtifactPart):
    """The settings that the run was made with."""

    enabled: StrictBool | None = None
    adversarial: StrictBool | None = None
    maxRounds: Count | None = None
    effectiveMaxRounds: Count | None = None
    verificationMode: VerificationMode | None = None
    autoDisabled: StrictStr | None = None
    votingRules: dict[StrictStr, Any] | None = None
    """The fields of the voting rules that are not neutral, but mode and rounds; absent where classes follow rule B6."""
    supplementary: StrictBool | None = None
    """True where only listed calls were made, so that classes rest on these votes alone; else absent."""
    supplements: StrictStr | None = None
    """The run whose votes a supplementary run adds to."""


class Artifact(ArtifactPart):
    """A whole cross run, as it is on disk."""

    schemaVersion: SchemaVersion = Field(description="The version of the form of artifacts.")
    taskKey: StrictStr | None = Field(default=None, description="What the run is about.")
    config: ArtifactConfig = Field(default=ArtifactConfig(), description="The settings of the run.")
    findings: tuple[ArtifactFinding, ...] = Field(description="The findings with their votes and classes.")
    roundHistory: tuple[RoundRecord, ...] | None = Field(default=None, description="The rounds executed.")
    round2SkippedReason: Round2SkippedReason | None = Field(default=None, description="Why no round 2 followed.")
    finalState: FinalState | None = Field(default=None, description="How the run ended.")
    totalRounds: Count | None = Field(default=None, description="How many rounds were executed.")
    finalClassificationCounts: ClassificationCounts | None = Field(
        default=None, description="How many findings ended in each class."
    )

    @property
    def adversarial(self) -> bool:
        """Whether the run was adversarial; a version without the field was collaborative."""
        return bool(self.config.adversarial)

    def to_json(self) -> dict[str, Any]:
        """Return the artifact as JSON values: exactly the keys that were read or set."""
        return self.model_dump(mode="json", exclude_unset=True)


COUNT_KEY_OF_CLASS: dict[Classification, str] = {
    "full-consensus": "fullConsensus",
    "partial-consensus": "partialConsensus",
    "contested": "contested",
    "worker-unique": "workerUnique",
}
"""The key of `finalClassificationCounts` for each class."""
