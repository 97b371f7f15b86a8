"""Run the rounds of cross-verification over one queue: findings, a plan body's items or challenges (rules B3-B8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from verifyplan.engine.calls import Caller
from verifyplan.protocol.artifact import FinalState
from verifyplan.protocol.call import Item, WorkerRequest
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_cross import (
    PLAN_BODY,
    DispatchClosed,
    FindingClassified,
    FindingQueued,
    Part,
    RoundClosed,
    VoteCast,
    VoteRefused,
)
from verifyplan.protocol.event_run import CallFailed
from verifyplan.protocol.vote import Basis, Classification, MissingBasis, Mode, Verdict, VerificationMode
from verifyplan.rules.answers import Votes, read_votes, unread_votes
from verifyplan.rules.classification import Rule, at_end, ballots, decide, failed, tally
from verifyplan.runlog.recorder import Result

NOTHING_TO_VERIFY = "no items to verify"

QueueEvent = FindingQueued | DispatchClosed | VoteCast | VoteRefused | FindingClassified | RoundClosed
CountedVote = tuple[Verdict, Basis | None]
"""A vote as a round counts it."""


class QueueItem(NamedTuple):
    """A finding, an item of a plan body or a challenge that waits for votes."""

    id: str
    summary: str
    evidence: str
    discoverers: tuple[str, ...] = ()
    """The workers who found it, and so do not vote on it."""


class QueueResult(NamedTuple):
    """How the rounds of a queue ended."""

    final_state: FinalState
    rounds: int
    """Rounds that were executed."""
    cut_off: str
    """Why the run's budget cut off the last round; blank if it did not."""
    classes: tuple[Classification, ...]
    """The class of each finding, in the order in which they were classified."""


@dataclass
class QueueLoop:
    """The rounds of one queue; `run` votes on items and emits every step."""

    part: Part
    roster: Sequence[str]
    mode: Mode
    verification_mode: VerificationMode
    max_rounds: int
    caller: Caller
    emit: Sink
    iteration: int = 0
    """The iteration of a plan run whose panel this is; 0 in cross runs."""
    documents: Mapping[str, str] = field(default_factory=dict)
    """Texts that evidence may cite beside files."""
    missing_basis: MissingBasis = "infer"
    """The basis of an adversarial disagree that has none (rule B4)."""
    items_per_call: int | None = None
    """Items that one call asks about; None for all of a dispatch."""
    step: Callable[[], None] = lambda: None
    """Called when a worker's dispatch is over, for progress."""
    _queue: list[QueueItem] = field(default_factory=list, init=False)
    _last_rule: dict[str, Rule] = field(default_factory=dict, init=False)
    _classes: list[Classification] = field(default_factory=list, init=False)

    async def run(self, items: Sequence[QueueItem]) -> QueueResult:
        """Vote on `items` until each has a class, the rounds are used up, or a round gives no result."""
        self._queue = list(items)
        for item in self._queue:
            self._emit(FindingQueued, finding_id=item.id)
        number, aborted, cut_off = 0, False, ""
        while self._queue and number < self.max_rounds and not aborted:
            number += 1
            aborted, cut_off = await self._round(number)
        state: FinalState = "aborted-non-result" if aborted else "max-rounds-reached"
        state = state if self._queue else "converged"
        for item in self._queue:
            self._classify(item, *at_end(self._last_rule.get(item.id)), number, final=True)
        return QueueResult(state, number, cut_off, tuple(self._classes))

    async def _round(self, number: int) -> tuple[bool, str]:
        """Hold one round; whether it was aborted without classifying anything, and why the budget cut it off, if so.

        It is aborted if no dispatch gave a result, or the budget was used up: the end of a budget must not look like
        what workers think.
        """
        requests = [request for worker in self.roster for request in self._requests(worker, number)]
        results = await self.caller.call_all(requests)
        outcomes: dict[str, list[DispatchOutcome]] = {worker: [] for worker in self.roster}
        for request, result in zip(requests, results, strict=True):
            outcomes[request.worker].append(outcome_of(request, result))
        votes: dict[str, list[CountedVote]] = {item.id: [] for item in self._queue}
        for worker, of_worker in outcomes.items():
            for item_id, vote in self._close_dispatch(number, worker, of_worker):
                votes[item_id].append(vote)
        size = len(self._queue)
        cut_off = next((r.reason for r in results if isinstance(r, CallFailed) and r.status == "budget"), "")
        completed = any(outcome.status == "completed" for of_worker in outcomes.values() for outcome in of_worker)
        if completed and not cut_off:
            self._queue = [item for item in self._queue if not self._settle(item, votes[item.id], number)]
        left = len(self._queue)
        counts = {"input_queue_size": size, "resolved_count": size - left, "carried_forward_count": left}
        self._emit(RoundClosed, round=number, **counts)
        return not completed or bool(cut_off), cut_off

    def _requests(self, worker: str, number: int) -> list[WorkerRequest]:
        """Return the calls of one dispatch: none for nothing to verify, one for all items, or one for every few."""
        call_id = f"{'p' if self.part == PLAN_BODY else 'r'}{number}/{worker}"
        if self.part == "challenges":
            call_id = f"i{self.iteration}/panel/r{number}/{worker}"
        items = tuple(
            Item(finding_id=item.id, summary=item.summary, evidence=item.evidence)
            for item in self._queue
            if worker not in item.discoverers
        )
        size = self.items_per_call or max(len(items), 1)
        return [
            WorkerRequest(
                call_id=call_id if self.items_per_call is None else f"{call_id}/p{first // size + 1}",
                worker=worker,
                round=number,
                mode=self.mode,
                verification_mode=self.verification_mode,
                items=items[first : first + size],
                documents=dict(self.documents),
            )
            for first in range(0, len(items), size)
        ]

    def _close_dispatch(
        self, number: int, worker: str, outcomes: Sequence[DispatchOutcome]
    ) -> list[tuple[str, CountedVote]]:
        """Emit how a dispatch ended and what was voted; return the votes on what was asked about, by its id."""
        whole = combine_outcomes(outcomes) if outcomes else None
        self._emit(
            DispatchClosed,
            round=number,
            worker=worker,
            status=whole.status if whole else None,
            duration_ms=whole.duration_ms if whole else None,
            skipped=NOTHING_TO_VERIFY if not whole else None if whole.status == "completed" else whole.status,
            reason=whole.reason if whole else None,
        )
        self.step()
        counted: list[tuple[str, CountedVote]] = []
        for outcome in outcomes:
            cast = failed(outcome.items, f"{outcome.status}: {outcome.reason}")
            if outcome.votes is not None:
                cast = ballots(outcome.items, outcome.votes, self.mode, self.missing_basis)
            for finding_id, ballot in cast.items():
                counted.append((finding_id, (ballot.verdict, ballot.disagree_basis)))
                self._emit(VoteCast, finding_id=finding_id, round=number, worker=worker, **ballot._asdict())
            for finding_id in outcome.votes or {}:
                if finding_id not in outcome.items:
                    reason = "the worker was not asked about this finding"
                    self._emit(VoteRefused, finding_id=finding_id, round=number, worker=worker, reason=reason)
        return counted

    def _settle(self, item: QueueItem, votes: list[CountedVote], number: int) -> bool:
        """Judge one item by this round's votes; True if that gave it a class."""
        classification, rule = decide(tally(votes), self.mode)
        if classification is not None:
            self._classify(item, classification, rule, number, final=False)
        elif rule != "no-votes":
            self._last_rule[item.id] = rule
        return classification is not None

    def _classify(
        self, item: QueueItem, classification: Classification, rule: Rule, number: int, *, final: bool
    ) -> None:
        self._classes.append(classification)
        found = {"finding_id": item.id, "classification": classification, "rule": rule}
        self._emit(FindingClassified, **found, round=number, final=final)

    def _emit(self, event: type[QueueEvent], **fields: Any) -> None:
        """Emit an event of this queue."""
        self.emit(event(part=self.part, iteration=self.iteration, **fields))


@dataclass(frozen=True)
class DispatchOutcome:
    """How one call of a dispatch ended: with votes, or with a status; `reason` says what failed or cannot be read."""

    items: tuple[str, ...]
    """The ids of the findings that the call asked about."""
    status: Literal["completed", "timeout", "error"]
    duration_ms: int
    votes: Votes | None = None
    reason: str | None = None


def outcome_of(request: WorkerRequest, result: Result) -> DispatchOutcome:
    """Return how a call ended; an answer without any vote that can be read is an error, an empty one is not."""
    items = tuple(item.finding_id for item in request.items)
    if isinstance(result, CallFailed):
        status: Literal["timeout", "error"] = "timeout" if result.status == "timeout" else "error"
        return DispatchOutcome(items, status, result.duration_ms, reason=result.reason)
    votes = read_votes(result.value)
    if isinstance(votes, str):
        return DispatchOutcome(items, "error", result.duration_ms, reason=votes)
    return DispatchOutcome(items, "completed", result.duration_ms, votes, unread_votes(votes))


def combine_outcomes(parts: Sequence[DispatchOutcome]) -> DispatchOutcome:
    """Return how a dispatch of several calls ended: completed if one did; then the reasons say what the others lack.

    Its duration is that of its longest call, since all are made at once.
    """
    if len(parts) == 1:
        return parts[0]
    lost = [part for part in parts if part.status != "completed"]
    first = next((part for part in parts if part.status == "completed"), parts[0])
    reason = next((part.reason for part in parts if part.reason is not None), None)
    if lost:
        reason = f"{len(lost)} of {len(parts)} calls failed, the first: {lost[0].reason}"
    return replace(first, duration_ms=max(part.duration_ms for part in parts), reason=reason)
