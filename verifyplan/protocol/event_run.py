"""Events that runs of every kind share: start, resume, calls and their turns, pauses, end (rule E1).

These come from outside, where no rule can recompute them; only `checkpoint` and `run-ended` follow from rules.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from verifyplan.protocol.artifact import FinalState, Round2SkippedReason
from verifyplan.protocol.base import Model
from verifyplan.protocol.call import ReplySource, ToolUse, Usage
from verifyplan.protocol.records import Challenge, ConvergenceStatus, PlanVerdict
from verifyplan.protocol.settings import Limits, PlanSettings
from verifyplan.protocol.vote import Finding, MissingBasis, Mode, Name, PlanItem
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.version import RULES_VERSION

AnswerForm = Literal["schema", "prompt", "both"]


class TurnSent(Model):
    """A model is about to be asked: what this turn adds to the conversation, written before it is sent."""

    type: Literal["turn-sent"] = "turn-sent"
    call_id: str = Field(description="The call and the turn, as in i2/challenger/t3.")
    model: str = Field(description="The model that is asked.")
    request_sha256: str = Field(description="Digest of the whole request as it is sent.")
    answer_form: AnswerForm | None = Field(
        default=None,
        description="How the form of the answer was asked for: by a schema that the endpoint is to hold to, by "
        "words in the prompt, or both; null for looks at the web, and in logs of before.",
    )
    added: tuple[dict[str, Any], ...] = Field(
        default=(), description="Blocks that this turn adds: results of tools, a wish for repair; none in the first."
    )
    tools: tuple[ToolUse, ...] = Field(default=(), description="The tool calls behind those blocks, in order.")
    offered: int | None = Field(
        default=None, description="The number of tools that the request offers; null where nobody counted."
    )
    estimate: Usage | None = Field(
        default=None, description="The most that it may use, as estimated before it is sent; null where nobody did."
    )

    @property
    def of_call(self) -> str:
        """The call that this turn belongs to.

        >>> TurnSent(call_id="i2/challenger/t3", model="m", request_sha256="").of_call
        'i2/challenger'
        """
        return call_of(self.call_id)


class Attempt(Model):
    """One HTTP request of a turn came to its end: a turn is sent again where that may help (rule A12)."""

    type: Literal["attempt"] = "attempt"
    call_id: str = Field(description="The turn that was sent, as in i2/challenger/t3.")
    number: Annotated[int, Field(ge=1)] = Field(description="The attempt, numbered from 1 in its turn.")
    status: int | None = Field(default=None, description="The HTTP status; null where none came.")
    error: str = Field(
        default="", description="The endpoint's name of the error, or the class of the fault; blank with a message."
    )
    started: str = Field(description="When it began.")
    duration_ms: Annotated[int, Field(ge=0)]
    waited_s: Annotated[float, Field(ge=0)] = Field(default=0.0, description="Seconds of waits before it.")
    asked_wait_s: Annotated[float, Field(ge=0)] | None = Field(
        default=None, description="Seconds that the endpoint asks to wait."
    )
    retry_in_s: Annotated[float, Field(ge=0)] | None = Field(
        default=None, description="Seconds after which the turn is sent again; null where it is not."
    )
    sent_bytes: Annotated[int, Field(ge=0)] = Field(description="Bytes of the body, once all are sent; 0 before.")
    received_bytes: Annotated[int, Field(ge=0)] = Field(description="Bytes of the reply's body, as they came.")
    request_id: str | None = Field(default=None, description="The endpoint's name of the request.")
    perhaps_billed: bool = Field(
        default=False, description="Whether it was sent whole and its answer is lost, so that it may be billed."
    )

    @property
    def of_call(self) -> str:
        """The call that this attempt belongs to."""
        return call_of(self.call_id)


class TurnReplied(Model):
    """A model's reply, as it came; it is on disk before anything acts on it."""

    type: Literal["turn-replied"] = "turn-replied"
    call_id: str = Field(description="The exchange that it ends.")
    message: dict[str, Any] = Field(description="The message as the endpoint sent it: content, stop reason, usage.")
    usage: Usage
    duration_ms: int
    source: ReplySource = "live"
    batch: str | None = Field(default=None, description="The message batch that it came in, if it came in one.")

    @property
    def of_call(self) -> str:
        """The call that this turn belongs to."""
        return call_of(self.call_id)


def call_of(turn: str) -> str:
    """Return the call that a turn belongs to, by its id; web look-ups within a turn are turns, too.

    >>> call_of("i1/resolver/t2/w1"), call_of("r1/ann/t1")
    ('i1/resolver', 'r1/ann')
    """
    head, _, last = turn.rpartition("/")
    return head.rpartition("/")[0] if last.startswith("w") and _is_turn(head.rpartition("/")[2]) else head


def _is_turn(name: str) -> bool:
    return name.startswith("t") and name[1:].isdigit()


LOG_VERSION = 5
"""The version of the event model; logs of any other are refused (`runlog.versions`)."""


class ListedCall(Model):
    """A vote that a supplementary run asks for: a worker, about a finding, in a round."""

    finding_id: Name
    round: Annotated[int, Field(ge=1)]
    worker: Name


class CrossInputs(Model):
    """The inputs of a cross run."""

    kind: Literal["cross"] = "cross"
    task_type: str = Field(description="The task type that chose the settings; empty if none was named.")
    settings: dict[str, Any] = Field(description="The artifact's config, as resolved.")
    analysers: tuple[str, ...] = Field(description="The roster, in order.")
    findings: tuple[Finding, ...] = Field(description="The findings as given, before grouping.")
    matcher: str = Field(description="How findings were grouped: the matcher's name; empty for by id alone.")
    merges: dict[str, str] = Field(
        default={},
        description="Each finding's id and the id that an edited table merges it into, itself for none; it is "
        "followed in place of a matcher. Empty without a table.",
    )
    plan_items: tuple[PlanItem, ...] = Field(default=(), description="The plan body's items.")
    plan_settings: dict[str, Any] | None = Field(default=None, description="planBodyVerification, if used.")
    timeout: float | None = Field(description="Seconds that one call may take; null for no limit.")
    items_per_call: int | None = Field(default=None, description="Findings that one call asks about; null for all.")
    limits: Limits = Limits()
    rules: VotingRules = Field(
        default=VotingRules(), description="The rules that decide, with the run's mode and rounds filled in."
    )
    only: tuple[ListedCall, ...] | None = Field(
        default=None, description="The only calls that the run makes; null for those that the rules ask for."
    )
    supplements: str | None = Field(
        default=None, description="The id of the run whose votes these add to, where the listed calls name it."
    )
    root: str = Field(description="The folder that cited evidence lies in.")

    @property
    def missing_basis(self) -> MissingBasis:
        """The basis of an adversarial disagree that has none (rule B4)."""
        return self.rules.missing_basis

    @property
    def mode(self) -> Mode:
        """How workers are asked, and by which rules they are counted."""
        return "adversarial" if self.settings.get("adversarial") else "collaborative"


class PlanInputs(Model):
    """The inputs of a plan run: the plan's text, the repository as far as it can be named, the settings."""

    kind: Literal["plan"] = "plan"
    plan_path: str = Field(description="The plan's absolute path, or a name where it was given as text.")
    plan_name: str = Field(description="The name under which agents cite places in the plan.")
    plan_text: str
    plan_sha256: str
    repository: dict[str, Any] = Field(description="Root, commit, files, and what of it could not be read.")
    settings: PlanSettings


class DebateInputs(Model):
    """The inputs of a debate: the task, and the texts and the repository that a diff may change."""

    kind: Literal["debate"] = "debate"
    task: str
    documents: dict[str, str] = Field(description="Texts under debate beside the repository's files, by name.")
    challenges: tuple[Challenge, ...] = Field(default=(), description="What is open about a plan that is revised.")
    max_turns: int = Field(ge=1)
    timeout: float | None = Field(description="Seconds that one call may take; null for no limit.")
    limits: Limits = Limits()
    repository: dict[str, Any] = Field(description="Root, commit, files, and what of it could not be read.")


class RunStarted(Model):
    """The run's settings and inputs; all that is needed to know what was asked and to replay the run."""

    type: Literal["run-started"] = "run-started"
    version: int = Field(default=LOG_VERSION, description="The version of the event model.")
    rules_version: int = Field(default=RULES_VERSION, description="The version of the rules that decide the run.")
    rules_digest: str | None = Field(
        default=None,
        description="Tells the rules of the run from any others; null in debates.",
    )
    task_key: str = Field(description="What the run is about; free text.")
    inputs: Annotated[CrossInputs | PlanInputs | DebateInputs, Field(discriminator="kind")]
    versions: dict[str, str] = Field(description="Versions of verifyplan and Python.")
    backend: dict[str, Any] = Field(description="What the backend says of itself: name and settings.")
    synthetic: bool = Field(description="Whether inputs or votes were generated, not observed.")
    repetition: int = Field(default=1, ge=1, description="Which run of the same inputs and settings this is, from 1.")

    @property
    def cross(self) -> CrossInputs:
        """The inputs of a cross run; TypeError if this is a run of another kind."""
        if not isinstance(self.inputs, CrossInputs):
            raise TypeError(f"a {self.inputs.kind} run has no inputs of a cross run")
        return self.inputs

    @property
    def plan(self) -> PlanInputs:
        """The inputs of a plan run; TypeError if this is a run of another kind."""
        if not isinstance(self.inputs, PlanInputs):
            raise TypeError(f"a {self.inputs.kind} run has no inputs of a plan run")
        return self.inputs

    @property
    def debate(self) -> DebateInputs:
        """The inputs of a debate; TypeError if this is a run of another kind."""
        if not isinstance(self.inputs, DebateInputs):
            raise TypeError(f"a {self.inputs.kind} run has no inputs of a debate")
        return self.inputs


class RunResumed(Model):
    """A process took the run up where another had left it."""

    type: Literal["run-resumed"] = "run-resumed"
    dropped_bytes: int = Field(description="Bytes of a torn last line that were dropped; 0 if it was whole.")
    repeated: tuple[str, ...] = Field(description="Calls or turns that were asked and had no reply; made again.")
    versions: dict[str, str] = Field(description="Versions of verifyplan and Python that go on.")
    backend: dict[str, Any] = Field(default={}, description="What the backend that goes on says of itself.")
    limits: Limits | None = Field(default=None, description="The limits from here on; null where they stay.")
    timeout: float | None = Field(
        default=None, description="Seconds that one call may take from here on; null where it stays."
    )
    max_retries: int | None = Field(
        default=None, description="How often one request is sent again from here on; null where it stays."
    )


class RunReopened(Model):
    """A process asks calls again that had failed; what was decided from their failure is decided anew (rule E6)."""

    type: Literal["run-reopened"] = "run-reopened"
    retried: tuple[str, ...] = Field(description="Calls that had failed and are asked again, in the order of the log.")
    superseded_from: int = Field(
        ge=1,
        description="Derived events from this number on, up to this event, count no more: the first result that is "
        "asked for again, or the first event that may follow from a limit.",
    )
    dropped_bytes: int = Field(default=0, description="Bytes of a torn last line that were dropped; 0 if it was whole.")
    limits: Limits | None = Field(default=None, description="The limits from here on; null where they stay.")
    timeout: float | None = Field(
        default=None, description="Seconds that one call may take from here on; null where it stays."
    )
    max_retries: int | None = Field(
        default=None, description="How often one request is sent again from here on; null where it stays."
    )
    versions: dict[str, str] = Field(description="Versions of verifyplan and Python that go on.")
    backend: dict[str, Any] = Field(default={}, description="What the backend that goes on says of itself.")


class CallRequested(Model):
    """An agent is about to be called."""

    type: Literal["call-requested"] = "call-requested"
    call_id: str
    worker: str = Field(description="The agent or worker that is called.")
    items: tuple[str, ...] = Field(default=(), description="Ids of the findings that a worker is asked about.")
    request_sha256: str = Field(description="Digest of the whole request; equal requests were asked the same.")


class CallReplied(Model):
    """A reply arrived; it is recorded before anything acts on it."""

    type: Literal["call-replied"] = "call-replied"
    call_id: str
    value: Any = Field(description="The reply as it came, not yet checked.")
    usage: Usage
    duration_ms: int
    source: ReplySource
    tools: tuple[ToolUse, ...] = Field(default=(), description="Tool calls and refusals behind the reply, in order.")
    partial_failures: tuple[str, ...] = Field(
        default=(), description="Parts of the agent that failed while the rest answered, and why."
    )


Failure = Literal["timeout", "error", "budget"]
"""How a call fails; `budget` where it was not sent, as the run had used what it may use."""


class CallFailed(Model):
    """A call gave no result: it erred, timed out, or could not be afforded."""

    type: Literal["call-failed"] = "call-failed"
    call_id: str
    status: Failure
    reason: str = Field(description="What went wrong, in words.")
    duration_ms: int
    usage: Usage = Field(default=Usage(), description="What its turns had cost by then.")
    tools: tuple[ToolUse, ...] = Field(default=(), description="Tool calls and refusals of its turns, in order.")


AnswerKind = Literal["context", "acknowledge", "override", "abort"]


class AnswerGiven(Model):
    """A person's answer to a pause (rule A4)."""

    type: Literal["answer-given"] = "answer-given"
    pause_id: str = Field(description="The pause that it answers, such as i1/pause-1.")
    answer: AnswerKind
    challenge: str | None = Field(default=None, description="The challenge that is acknowledged or overridden.")
    note: str = Field(default="", description="The person's words: the context, or the reason.")


class Checkpoint(Model):
    """A moment that a person should know of: a block, a stall, a contradiction, a degradation (rules A4, A6)."""

    type: Literal["checkpoint"] = "checkpoint"
    iteration: int
    kind: Literal["blocked", "stall", "contradiction", "degradation"]
    message: str
    items: tuple[str, ...] = Field(description="Ids of what it is about.")
    pause_id: str | None = Field(default=None, description="The pause that waits for an answer, if one does.")
    if_overridden: dict[str, str] = Field(
        default={}, description="The verdict that follows if a blocking challenge is overridden, by challenge."
    )


class CrossOutcome(Model):
    """How a cross run ended (rules B8, B9, B10)."""

    kind: Literal["cross"] = "cross"
    final_state: FinalState
    total_rounds: int
    round2_skipped_reason: Round2SkippedReason
    gate_passed: bool | None = Field(default=None, description="The plan body's gate; None without one.")
    gating: bool | None = Field(default=None, description="False where the gate only advises.")
    exit_reason: str = Field(default="", description="Why the loop broke off, where a budget ended it.")


EndedBy = Literal["ruling", "sizing", "user", "failures", "budget"]
ENDED_BY: tuple[EndedBy, ...] = get_args(EndedBy)


class PlanOutcome(Model):
    """How a plan run ended (rules A3, A4, A10, A11)."""

    kind: Literal["plan"] = "plan"
    ended_by: EndedBy = Field(
        description="What ended it: A3's ruling, a trivial plan's sizing, a person, failed agents, or a budget."
    )
    status: ConvergenceStatus
    verdict: PlanVerdict | None = Field(description="None where agents failed, a budget ended the run, or by abort.")
    strong: bool = Field(default=False, description="Whether a REVISE is REVISE (strong).")
    overridden: str | None = Field(default=None, description="The challenge that a person overrode.")
    exit_reason: str = Field(default="", description="Why there is no verdict, or why it is not what A3 gave.")
    score: int | None = Field(default=None, description="The final quality score, 1-10; it decides nothing.")


DebateStatus = Literal["CONVERGED", "FAILED"]
DebateReason = Literal["VERIFIED", "NO_IMPROVEMENT", "MAX_TURNS", "AGENT_FAILED", "BUDGET"]


class DebateOutcome(Model):
    """How a debate ended (rule C3)."""

    kind: Literal["debate"] = "debate"
    status: DebateStatus | None = Field(description="None where an agent failed or a budget ended the debate.")
    reason: DebateReason
    turns: int = Field(description="The turn in which it ended.")
    diff: str = Field(description="The builder's last diff; blank if there was none.")
    exit_reason: str = Field(default="", description="What failed, where an agent or a budget ended the debate.")


class RunEnded(Model):
    """How the run ended."""

    type: Literal["run-ended"] = "run-ended"
    outcome: Annotated[CrossOutcome | PlanOutcome | DebateOutcome, Field(discriminator="kind")]
