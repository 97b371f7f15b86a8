"""Fold the events of a plan run into its state, which is all that the loop knows (rule E1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from verifyplan.protocol.call import Tool, Usage
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import FindingClassified, VoteCast
from verifyplan.protocol.event_plan import (
    AgentFailed,
    CeilingPassed,
    ChallengeAdmitted,
    ChallengeOverflowed,
    ChallengeRaised,
    ChallengeRefused,
    ContextSurfaced,
    ConvergenceEvaluated,
    DirectiveIssued,
    DirectiveRefused,
    EntryRefused,
    IterationClosed,
    IterationStarted,
    PlanAssessed,
    PromotionRefused,
    Restated,
    RiskProbed,
    ScoreDisputed,
    ScoreGiven,
    ScoreRefused,
    StatusChanged,
    StatusRefused,
    UnknownListed,
    UnknownResolved,
)
from verifyplan.protocol.event_run import (
    AnswerGiven,
    CallFailed,
    CallReplied,
    Checkpoint,
    PlanInputs,
    PlanOutcome,
    RunEnded,
    RunStarted,
)
from verifyplan.protocol.records import (
    INACTIVE,
    SETTLED,
    UNSETTLED,
    Challenge,
    Directive,
    IterationState,
    ProbedRisk,
    SurfacedContext,
    Unknown,
)
from verifyplan.rules.failed_calls import FailureKind, failure_kind
from verifyplan.rules.going_on import NO_LOG, LogPlace
from verifyplan.rules.lifecycle import claim_of
from verifyplan.rules.likeness import Sayings

StatementKind = Literal["challenge", "unknown", "context", "risk"]
"""The kinds of statements that agents can repeat."""

Refusal = ChallengeRefused | PromotionRefused | StatusRefused | DirectiveRefused | ScoreRefused | EntryRefused


@dataclass
class PlanState:
    """The state of a plan run, folded from its events."""

    log_place: LogPlace = field(default=NO_LOG, compare=False)
    """How commands name the log; no event tells."""
    started: RunStarted | None = None
    assessed: PlanAssessed | None = None
    iteration: int = 0
    tightened: bool = False
    raised: dict[str, ChallengeRaised] = field(default_factory=dict)
    """Every challenge that has an id, as it was raised."""
    challenges: dict[str, Challenge] = field(default_factory=dict)
    """Every challenge with its present status, those in overflow included, in order of their ids."""
    admitted: dict[str, int] = field(default_factory=dict)
    """The iteration in which a challenge was admitted, in order of admission."""
    overflow: dict[str, ChallengeOverflowed] = field(default_factory=dict)
    """The challenges in overflow that were not promoted since."""
    statements: dict[StatementKind, Sayings] = field(
        default_factory=lambda: {kind: Sayings() for kind in get_args(StatementKind)}, repr=False, compare=False
    )
    """What agents have stated so far, so that nothing is recorded twice."""
    unknowns: dict[str, Unknown] = field(default_factory=dict)
    contexts: dict[str, SurfacedContext] = field(default_factory=dict)
    risks: dict[str, ProbedRisk] = field(default_factory=dict)
    last_changed_in: dict[str, int] = field(default_factory=dict)
    """The iteration in which an unknown was listed or last answered, a context surfaced or a risk probed."""
    votes: dict[tuple[int, str], list[VoteCast]] = field(default_factory=dict)
    classes: dict[tuple[int, str], FindingClassified] = field(default_factory=dict)
    moves: list[StatusChanged] = field(default_factory=list)
    directives: dict[int, list[Directive]] = field(default_factory=dict)
    """By the iteration in which they were issued; they hold for the next."""
    rulings: list[ConvergenceEvaluated] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    answers: dict[str, AnswerGiven] = field(default_factory=dict)
    answered_in: dict[str, int] = field(default_factory=dict)
    """The iteration in which each pause was answered."""
    failures: list[AgentFailed] = field(default_factory=list)
    blank: set[str] = field(default_factory=set)
    """Calls whose answer has neither a list of challenges, be it empty, nor unknowns: silence, of a challenger."""
    partial_failures: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By call, the parts of an agent that failed while the rest answered."""
    restated: list[Restated] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    scores: list[ScoreGiven] = field(default_factory=list)
    disputes: list[ScoreDisputed] = field(default_factory=list)
    iterations: list[IterationState] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    calls: int = 0
    """Calls that replied."""
    failed_calls: int = 0
    failure_kinds: Counter[FailureKind] = field(default_factory=Counter)
    """Why calls failed."""
    ceilings_passed: list[CeilingPassed] = field(default_factory=list)
    tools: Counter[Tool] = field(default_factory=Counter)
    requested: list[str] = field(default_factory=list)
    """Every call, in the order in which they were asked for."""
    unaffordable: dict[str, str] = field(default_factory=dict)
    """Calls that were not sent, or broken off, as the run had used what it may use, and why."""
    ended: RunEnded | None = None

    @property
    def inputs(self) -> PlanInputs:
        """The inputs of the run; ValueError before its first event."""
        if self.started is None:
            raise ValueError("the run has not started: its events have no run-started")
        return self.started.plan

    @property
    def outcome(self) -> PlanOutcome | None:
        """How the run ended; None while it goes on or waits."""
        return self.ended.outcome if self.ended and isinstance(self.ended.outcome, PlanOutcome) else None

    @property
    def overrun(self) -> str:
        """Why the first call that could not be afforded could not; blank if all could.

        The first by the order of requests: replies come in any order, and a replay must say the same.
        """
        return next((self.unaffordable[name] for name in self.requested if name in self.unaffordable), "")

    @property
    def challenged(self) -> bool:
        """Whether the challenger gave a usable answer in some iteration: one that found nothing says so (rule A3)."""
        calls = {f"i{number}/challenger" for number in range(1, self.iteration + 1)} & set(self.requested)
        return bool(calls - {failure.call_id for failure in self.failures} - self.blank)

    @property
    def pool(self) -> list[Challenge]:
        """Every admitted challenge with its present status, in order of admission."""
        return [self.challenges[name] for name in self.admitted]

    @property
    def disputing(self) -> dict[str, str]:
        """Challenges that dispute a settled one, and the one that each disputes."""
        return {name: event.disputes for name, event in self.raised.items() if event.disputes}

    @property
    def unsettled(self) -> list[Challenge]:
        """The admitted challenges that are OPEN or UNRESOLVED."""
        return [challenge for challenge in self.pool if challenge.status in UNSETTLED]

    @property
    def settled(self) -> dict[str, bool]:
        """The settled challenges, and whether the last change of each cites something, as a person's decision does."""
        last = {move.id: move for move in self.moves}
        done = [name for name, challenge in self.challenges.items() if challenge.status in SETTLED]
        return {name: name not in last or not last[name].uncited or last[name].by == "user" for name in done}

    @property
    def active(self) -> int:
        """How many challenges count against the cap of 8 (rule A5)."""
        return sum(challenge.status not in INACTIVE for challenge in self.pool)

    @property
    def waiting(self) -> Checkpoint | None:
        """The pause that waits for a person's answer; None if none does."""
        last = next((point for point in reversed(self.checkpoints) if point.pause_id), None)
        unanswered = last is not None and last.pause_id not in self.answers and self.ended is None
        return last if unanswered and last is not None and last.iteration == self.iteration else None

    def add(self, event: Event) -> None:
        """Take in one more event; events that carry no state are ignored."""
        match event.type:
            case "challenge-raised" | "challenge-admitted" | "challenge-overflowed" | "status-changed":
                self._challenge(event)
            case "unknown-listed" | "unknown-resolved" | "context-surfaced" | "risk-probed":
                self._research(event)
            case "vote-cast":
                self.votes.setdefault((event.iteration, event.finding_id), []).append(event)
            case "finding-classified":
                self.classes[event.iteration, event.finding_id] = event
            case "call-requested":
                self.requested.append(event.call_id)
            case "call-replied" | "call-failed":
                self._reply(event)
            case _:
                self._course(event)

    def _challenge(self, event: ChallengeRaised | ChallengeAdmitted | ChallengeOverflowed | StatusChanged) -> None:
        match event:
            case ChallengeRaised():
                self.raised[event.challenge.id] = event
                self.challenges[event.challenge.id] = event.challenge
                self.statements["challenge"].add(event.challenge.id, claim_of(event.challenge), event.evidence)
            case ChallengeAdmitted():
                self.admitted[event.id] = event.iteration
                self.overflow.pop(event.id, None)
            case ChallengeOverflowed():
                self.admitted.pop(event.id, None)  # displaced by a challenge of higher severity
                self.overflow[event.id] = event
            case StatusChanged():
                self.moves.append(event)
                changed = {"status": event.new, "resolution": event.resolution}
                self.challenges[event.id] = self.challenges[event.id].model_copy(update=changed)

    def _research(self, event: UnknownListed | UnknownResolved | ContextSurfaced | RiskProbed) -> None:
        match event:
            case UnknownListed():
                self.unknowns[event.unknown.id] = event.unknown
                self.last_changed_in[event.unknown.id] = event.iteration
                self.statements["unknown"].add(event.unknown.id, event.unknown.description)
            case UnknownResolved():
                answered = {"resolution": event.resolution, "finding": event.finding}
                self.unknowns[event.id] = self.unknowns[event.id].model_copy(update=answered)
                self.last_changed_in[event.id] = event.iteration
            case ContextSurfaced():
                self.contexts[event.context.id] = event.context
                self.last_changed_in[event.context.id] = event.iteration
                self.statements["context"].add(event.context.id, event.context.relevance, event.context.location)
            case RiskProbed():
                self.risks[event.risk.id] = event.risk
                self.last_changed_in[event.risk.id] = event.iteration
                self.statements["risk"].add(event.risk.id, f"{event.risk.risk} {event.risk.trigger}", event.evidence)

    def _reply(self, event: CallReplied | CallFailed) -> None:
        self.usage += event.usage
        if event.type == "call-replied":
            self.calls += 1
            said = event.value
            if isinstance(said, dict) and "challenges" not in said and not said.get("unknowns"):
                self.blank.add(event.call_id)
            if event.partial_failures:
                self.partial_failures[event.call_id] = event.partial_failures
        else:
            self.failed_calls += 1
            self.failure_kinds[failure_kind(event.status, event.reason)] += 1
            if event.status == "budget":
                self.unaffordable[event.call_id] = event.reason
        self.tools.update(use.tool for use in event.tools if not use.refused)

    def _course(self, event: Event) -> None:
        """Take in the course of the run: iterations, pauses, its end, and events that are only listed."""
        match event:
            case RunStarted():
                self.started = event
            case PlanAssessed():
                self.assessed = event
            case IterationStarted():
                self.iteration, self.tightened = event.iteration, event.tightened
            case DirectiveIssued():
                self.directives.setdefault(event.iteration, []).append(event.directive)
            case AnswerGiven():
                self.answers[event.pause_id] = event
                self.answered_in[event.pause_id] = self.iteration
            case IterationClosed():
                self.iterations.append(event.state)
            case RunEnded():
                self.ended = event
            case _ if name := _LISTED.get(type(event)):
                getattr(self, name).append(event)


_LISTED: dict[type, str] = {
    ConvergenceEvaluated: "rulings",
    Checkpoint: "checkpoints",
    AgentFailed: "failures",
    Restated: "restated",
    CeilingPassed: "ceilings_passed",
    ScoreGiven: "scores",
    ScoreDisputed: "disputes",
    ChallengeRefused: "refusals",
    PromotionRefused: "refusals",
    StatusRefused: "refusals",
    DirectiveRefused: "refusals",
    ScoreRefused: "refusals",
    EntryRefused: "refusals",
}
"""Events that the state only lists, and the list that each goes to."""


def fold_plan(events: Iterable[Event], log_place: LogPlace = NO_LOG) -> PlanState:
    """Return the state that the events of a plan run add up to; any prefix of a run folds, too."""
    state = PlanState(log_place)
    for event in events:
        state.add(event)
    return state
