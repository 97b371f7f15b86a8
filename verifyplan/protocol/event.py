"""Any event of any run, and who listens: one model for the log, the state and the tables (rule E1).

A call id (`i2/challenger`, `r1/worker-b`) names a place in the run, not a time: replies of one round
arrive in any order, while the events that rules derive always come in the order of the roster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, get_args

from pydantic import Field, TypeAdapter

from verifyplan.protocol import event_cross, event_plan, event_run

ExternalEvent = (
    event_run.RunStarted
    | event_run.RunResumed
    | event_run.RunReopened
    | event_run.CallRequested
    | event_run.CallReplied
    | event_run.CallFailed
    | event_run.TurnSent
    | event_run.Attempt
    | event_run.TurnReplied
    | event_run.AnswerGiven
)
"""Events from outside, which no rule can recompute; all other events are derived from these."""

EXTERNAL_EVENTS: tuple[type[ExternalEvent], ...] = get_args(ExternalEvent)

Event = (
    ExternalEvent
    | event_run.Checkpoint
    | event_run.RunEnded
    | event_cross.FindingGrouped
    | event_cross.FindingQueued
    | event_cross.DispatchClosed
    | event_cross.VoteCast
    | event_cross.VoteRefused
    | event_cross.FindingClassified
    | event_cross.RoundClosed
    | event_cross.MessagePublished
    | event_plan.PlanAssessed
    | event_plan.IterationStarted
    | event_plan.ChallengeRaised
    | event_plan.ChallengeRefused
    | event_plan.ChallengeAdmitted
    | event_plan.ChallengeOverflowed
    | event_plan.PromotionRefused
    | event_plan.Restated
    | event_plan.UnknownListed
    | event_plan.UnknownResolved
    | event_plan.ContextSurfaced
    | event_plan.RiskProbed
    | event_plan.AgentFailed
    | event_plan.EntryRefused
    | event_plan.CeilingPassed
    | event_plan.StatusChanged
    | event_plan.StatusRefused
    | event_plan.DirectiveIssued
    | event_plan.DirectiveRefused
    | event_plan.ConvergenceEvaluated
    | event_plan.ScoreGiven
    | event_plan.ScoreRefused
    | event_plan.ScoreDisputed
    | event_plan.IterationClosed
)
"""Any event; `type` tells which."""

EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])
"""Reads an event from JSON values; ValidationError for one that does not fit."""

Sink = Callable[[Event], None]
"""A listener, called with each event before the run goes on; what it raises ends the run."""
