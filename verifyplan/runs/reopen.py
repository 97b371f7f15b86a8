"""Find what of a run can be asked again: calls that failed, and what a limit kept back (rule E6)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple, Self

from verifyplan.agents.base import Backend
from verifyplan.engine.usage_limit import UsageLimit
from verifyplan.errors import Problem, Problems, SettingsError
from verifyplan.protocol.event import EXTERNAL_EVENTS
from verifyplan.protocol.event_plan import AgentFailed, IterationStarted
from verifyplan.protocol.event_run import (
    CallFailed,
    CallReplied,
    CallRequested,
    CrossOutcome,
    DebateOutcome,
    PlanOutcome,
    RunEnded,
    RunReopened,
    RunResumed,
)
from verifyplan.protocol.settings import Limits
from verifyplan.runlog.chain import Record
from verifyplan.runlog.current import current
from verifyplan.runlog.reader import Log
from verifyplan.runlog.recorder import Past
from verifyplan.runs.arguments import check_timeout, read_limits
from verifyplan.runs.start import versions
from verifyplan.text import counted


class Terms(NamedTuple):
    """The settings that a resumption changes from here on; None for those that stay."""

    limits: Limits | None = None
    """Both limits from here on, one of them changed."""
    timeout: float | None = None
    max_retries: int | None = None

    @classmethod
    def read(
        cls, before: Limits, *, max_tokens: object, max_cost: object, timeout: float | None, max_retries: int | None
    ) -> Self:
        """Return the new settings, with limits of `before` that do not change; SettingsError listing what is wrong."""
        problems = Problems()
        limits = problems.of(lambda: read_limits(max_tokens=max_tokens, max_cost=max_cost)) or Limits()
        problems.of(lambda: check_timeout(timeout))
        if max_retries is not None and (isinstance(max_retries, bool) or not isinstance(max_retries, int)):
            problems.append(Problem("max_retries", f"must be a whole number, got {max_retries!r}", "give 0 to 20"))
        if problems:
            raise SettingsError(problems)
        given = {name: value for name, value in limits if value is not None}
        return cls(before.model_copy(update=given) if given else None, timeout, max_retries)


class Retryable(NamedTuple):
    """The calls of a run that can be asked again."""

    calls: tuple[str, ...] = ()
    """The calls that failed, in the order in which they did."""
    superseded_from: int | None = None
    """The number of the first event that no longer counts once they are asked again; None if there is none."""

    @property
    def words(self) -> str:
        """How much failed, in words; that a limit kept calls back, where none failed."""
        return f"{counted(len(self.calls), 'call')} failed" if self.calls else "a limit kept calls back"


def retryable(records: Sequence[Record], limits: Limits) -> Retryable:
    """Return what of a run can be asked again, by the records that count.

    A call whose reply is on disk did not fail, even if the rules refuse its answer. If a limit kept calls back, all
    events derived since the last result are decided again, as the log does not say which of them followed from it.
    """
    failed: dict[str, int] = {}
    requested: set[str] = set()
    unusable: set[int] = set()
    iteration = since_result = 0
    outcome: CrossOutcome | PlanOutcome | DebateOutcome | None = None
    for seq, _, event in current(records):
        match event:
            case CallRequested():
                requested.add(event.call_id)
            case CallFailed() | CallReplied():
                since_result = 0
                if isinstance(event, CallFailed):
                    failed[event.call_id] = seq
            case IterationStarted():
                iteration = event.iteration
            case AgentFailed():
                unusable.add(event.iteration)
            case RunEnded():
                outcome = event.outcome
        if not since_result and not isinstance(event, EXTERNAL_EVENTS):
            since_result = seq
    is_limited = (limits.max_tokens, limits.max_cost) != (None, None)
    kept_back = isinstance(outcome, DebateOutcome) and outcome.reason == "BUDGET"
    if isinstance(outcome, PlanOutcome):
        is_scored = {f"i{iteration}/score", f"i{iteration}/audit"} <= requested or iteration in unusable
        unscored = outcome.ended_by in ("ruling", "user") and outcome.verdict is not None and not is_scored
        kept_back = outcome.ended_by == "budget" or (unscored and is_limited)
    places = [*failed.values(), *([since_result] if kept_back else [])]
    return Retryable(tuple(failed), min(places, default=None))


def resumption(
    log: Log, found: Retryable, changed: Terms, backend: Backend, repeated: Sequence[str]
) -> RunResumed | RunReopened:
    """Return the event that says that a run goes on: a reopening where something is asked again, else a resumption.

    `repeated` are the exchanges without a reply that are made again.
    """
    said: dict[str, Any] = {
        "dropped_bytes": log.torn_bytes,
        "versions": versions(),
        "backend": backend.describe(),
        **changed._asdict(),
    }
    if found.superseded_from is not None:
        return RunReopened(retried=found.calls, superseded_from=found.superseded_from, **said)
    return RunResumed(repeated=tuple(repeated), **said)


def check_unused(limits: Limits, past: Past) -> None:
    """Raise SettingsError if a run has already used what it may use, so that every call would be kept back."""
    used = UsageLimit(limits)
    for event in past.events:
        used.add(event)
    if refusal := used.refusal("a call"):
        name = refusal.split(":")[0].split()[0]
        raise SettingsError(Problem(name, f"is used up: {refusal}", f"give a larger {name}="))


def retry_words(found: Retryable, log: str | Path, *, ended: bool, retry_failed: bool) -> str:
    """Return what to say if nothing is asked again: that nothing failed, or how to ask again; blank if neither.

    Nothing is said about a run that has not ended.

    >>> retry_words(Retryable(), "run.jsonl", ended=True, retry_failed=True)
    'run.jsonl: nothing to retry: no call failed, and no limit kept one back'
    """
    if found.superseded_from is None and retry_failed:
        return f"{log}: nothing to retry: no call failed, and no limit kept one back"
    if found.superseded_from is None:
        return f"{log} has ended: nothing is asked again, and no limit or model is changed" if ended else ""
    how = f"`verifyplan resume {quote(str(log))} --retry-failed` (in Python `retry_failed=True`) asks again"
    return f"{log} has ended: nothing is asked again; as {found.words}, {how}" if ended else ""
