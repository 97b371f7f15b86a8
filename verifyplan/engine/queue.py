"""Run the rounds of cross-verification over a queue: findings, a plan body's items or challenges (rules B3-B8, R2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from verifyplan.analysis.dawid_skene_rules import with_estimates
from verifyplan.engine.calls import Caller
from verifyplan.engine.drive import Step, no_step
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
from verifyplan.protocol.vote import CLASSIFICATIONS, Classification, Mode, VerificationMode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.answers import Votes, read_votes, unread_votes
from verifyplan.rules.citations import cites_location
from verifyplan.rules.classification import RULES, Ballot, ballots, failed
from verifyplan.rules.round_decisions import NO_VOTES, Decision, decide_rounds, rules_of_rounds
from verifyplan.rules.vote_codes import NOT_ASKED, Codes, asked_until_stop, counted_codes, read_codes, vote_code
from verifyplan.runlog.recorder import Result

NOTHING_TO_VERIFY = "no items to verify"

QueueEvent = FindingQueued | DispatchClosed | VoteCast | VoteRefused | FindingClassified | RoundClosed
ListedCalls = Mapping[tuple[int, str], frozenset[str]]
"""The only calls that a run makes: the ids of the findings that a round and a worker are asked about."""


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
    rules: VotingRules = field(default_factory=VotingRules)
    """What decides, and who is asked when (rule R2); mode and rounds are those above."""
    items_per_call: int | None = None
    """Items that one call asks about; None for all of a dispatch."""
    only: ListedCalls | None = None
    """The only calls that are made, whatever earlier rounds decide; None makes those that the rules ask for."""
    step: Step = no_step
    """Called when a worker's dispatch is over."""
    _workers: tuple[str, ...] = field(default=(), init=False)
    _queue: list[QueueItem] = field(default_factory=list, init=False)
    _position: dict[str, int] = field(default_factory=dict, init=False)
    _codes: Codes = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.int8), init=False)
    _classes: list[Classification] = field(default_factory=list, init=False)

    async def run(self, items: Sequence[QueueItem]) -> QueueResult:
        """Vote on `items` until each has a class, the rounds are used up, or a round gives no result."""
        self._workers = self.rules.asked_of(self.roster)
        self._queue, self._classes = list(items), []
        self._position = {item.id: position for position, item in enumerate(self._queue)}
        self._codes = np.full((self.max_rounds, len(self._workers), len(self._queue)), NOT_ASKED, dtype=np.int8)
        for item in self._queue:
            self._emit(FindingQueued, finding_id=item.id)
        number, aborted, cut_off = 0, False, ""
        while self._queue and number < self.max_rounds and not aborted:
            number += 1
            aborted, cut_off = await self._round(number)
        state: FinalState = "aborted-non-result" if aborted else "max-rounds-reached"
        state = state if self._queue else "converged"
        if self._queue:
            self._classify(range(len(self._queue)), self._decision(number), final=True)
        return QueueResult(state, number, cut_off, tuple(self._classes))

    async def _round(self, number: int) -> tuple[bool, str]:
        """Run one round; return whether it was aborted without classifying anything, and why the budget cut it off.

        It is aborted if no dispatch gave a result, or the budget was used up: the end of a budget must not look like
        what workers think. Listed calls are all made, unless the budget is used up.
        """
        cut_off, n_calls, n_failed = "", 0, 0
        for workers in self._asked_together():
            requests = {worker: self._requests(worker, number) for worker in workers}
            called = WorkerRequests([make for of_worker in requests.values() for make in of_worker])
            ends = iter(await self.caller.read_all(called, outcome_of) if called else ())
            for worker, of_worker in requests.items():
                outcomes = list(islice(ends, len(of_worker)))
                self._close_dispatch(number, worker, outcomes)
                cut_off = cut_off or next((outcome.over_budget for outcome in outcomes if outcome.over_budget), "")
                n_calls += len(outcomes)
                n_failed += sum(outcome.status != "completed" for outcome in outcomes)
        size = len(self._queue)
        failed_all = 0 < n_calls == n_failed
        aborted = bool(cut_off) or (failed_all and self.only is None)
        if cut_off:
            self._codes[number - 1] = NOT_ASKED
        elif not aborted and self._classifies(number):
            self._settle(number)
        left = len(self._queue)
        counts = {"input_queue_size": size, "resolved_count": size - left, "carried_forward_count": left}
        self._emit(RoundClosed, round=number, **counts)
        return aborted, cut_off

    def _asked_together(self) -> list[tuple[str, ...]]:
        """Return which workers of a round are asked at once: all, or one after the other until the rules stop."""
        if self.rules.stop == "round" or self.only is not None:
            return [self._workers]
        return [(self._workers[place],) for place in self.rules.asking_order(self._workers)]

    def _asked_about(self, worker: str, number: int) -> list[QueueItem]:
        """Return what a worker is asked about in a round: nothing that it found, nor whose round has stopped."""
        if self.only is not None:
            listed = self.only.get((number, worker), frozenset())
            return [item for item in self._queue if item.id in listed]
        votes = read_codes(self._codes[number - 1], self.rules, self.mode)
        asked = asked_until_stop(votes, self.rules, self._workers)[self._workers.index(worker)]
        return [item for item in self._queue if worker not in item.discoverers and asked[self._position[item.id]]]

    def _requests(self, worker: str, number: int) -> list[Callable[[], WorkerRequest]]:
        """Return functions that make the requests of one dispatch: one request for all items, or one for every few.

        There are none if there is nothing to verify.
        """
        call_id = f"{'p' if self.part == PLAN_BODY else 'r'}{number}/{worker}"
        if self.part == "challenges":
            call_id = f"i{self.iteration}/panel/r{number}/{worker}"
        items = self._asked_about(worker, number)
        size = self.items_per_call or max(len(items), 1)
        return [
            partial(
                self._request,
                call_id if self.items_per_call is None else f"{call_id}/p{first // size + 1}",
                worker,
                number,
                items[first : first + size],
            )
            for first in range(0, len(items), size)
        ]

    def _request(self, call_id: str, worker: str, number: int, items: Sequence[QueueItem]) -> WorkerRequest:
        return WorkerRequest(
            call_id=call_id,
            worker=worker,
            round=number,
            mode=self.mode,
            verification_mode=self.verification_mode,
            items=tuple(Item(finding_id=item.id, summary=item.summary, evidence=item.evidence) for item in items),
            documents=dict(self.documents),
        )

    def _close_dispatch(self, number: int, worker: str, outcomes: Sequence[DispatchOutcome]) -> None:
        """Emit how a dispatch ended and what was voted, and keep the votes on what was asked about."""
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
        for outcome in outcomes:
            cast = failed(outcome.items, f"{outcome.status}: {outcome.reason}")
            if outcome.votes is not None:
                cast = ballots(outcome.items, outcome.votes, self.mode, self.rules.missing_basis)
            for finding_id, ballot in cast.items():
                self._codes[number - 1, self._workers.index(worker), self._position[finding_id]] = code_of(ballot)
                self._emit(VoteCast, finding_id=finding_id, round=number, worker=worker, **ballot._asdict())
            for finding_id in outcome.votes or {}:
                if finding_id not in outcome.items:
                    reason = "the worker was not asked about this finding"
                    self._emit(VoteRefused, finding_id=finding_id, round=number, worker=worker, reason=reason)

    def _classifies(self, number: int) -> bool:
        """Return whether findings get their classes in a round: in each, or in the last one alone."""
        return number == self.max_rounds or not (self.rules.asks_all or self.only is not None)

    def _decision(self, number: int) -> Decision:
        """Return how the findings in the queue are decided by their votes up to a round."""
        queued = [self._position[item.id] for item in self._queue]
        is_whole = self.rules.aggregate == "dawid-skene"  # estimated from all findings, those that have left included
        codes = self._codes[:number] if is_whole else self._codes[:number, :, queued]
        executed = np.full(codes.shape[2], number, dtype=np.int64)
        counted = counted_codes(codes, self.rules, self.mode, self._workers)
        in_round = rules_of_rounds(counted, self.rules, self.mode, self._workers)
        if is_whole:
            in_round = with_estimates(in_round, counted, executed, np.zeros_like(executed), self.rules.majority)
            in_round, executed = in_round[:, queued], executed[queued]
        return decide_rounds(in_round, executed, self.rules)

    def _settle(self, number: int) -> None:
        """Judge the queue by the votes so far; what gets a class leaves it."""
        decision = self._decision(number)
        leaves = decision.settled
        if self.rules.aggregate == "first-round":
            leaves = leaves | (decision.rule != NO_VOTES)
        self._classify(np.flatnonzero(leaves).tolist(), decision, final=False)
        self._queue = [item for item, left in zip(self._queue, leaves, strict=True) if not left]

    def _classify(self, places: Iterable[int], decision: Decision, *, final: bool) -> None:
        """Emit the classes of the items at these places of the queue, which `decision` is about."""
        for place in places:
            classification = CLASSIFICATIONS[decision.classification[place]]
            self._classes.append(classification)
            self._emit(
                FindingClassified,
                finding_id=self._queue[place].id,
                classification=classification,
                rule=RULES[decision.rule[place]],
                round=int(decision.round[place]),
                final=final,
            )

    def _emit(self, event: type[QueueEvent], **fields: Any) -> None:
        """Emit an event of this queue."""
        self.emit(event(part=self.part, iteration=self.iteration, **fields))


class WorkerRequests(Collection[WorkerRequest]):
    """Requests that are made again on each iteration: thousands of them would fill the memory."""

    def __init__(self, makers: Sequence[Callable[[], WorkerRequest]]) -> None:
        self._makers = makers

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._makers)

    def __iter__(self) -> Iterator[WorkerRequest]:
        """Yield each as it is needed."""
        return (make() for make in self._makers)

    def __contains__(self, request: object) -> bool:
        """Return whether one of them equals a request."""
        return any(own == request for own in self)


def code_of(ballot: Ballot) -> int:
    """Return the code of a vote as it counts (see `vote_code`)."""
    cites = ballot.verdict == "disagree" and cites_location(ballot.explanation)
    return vote_code(ballot.verdict, ballot.disagree_basis, cites=cites)


@dataclass(frozen=True, slots=True)
class DispatchOutcome:
    """How one call of a dispatch ended: with votes, or with a status; `reason` says what failed or cannot be read."""

    items: tuple[str, ...]
    """The ids of the findings that the call asked about."""
    status: Literal["completed", "timeout", "error"]
    duration_ms: int
    votes: Votes | None = None
    reason: str | None = None
    over_budget: str = ""
    """Why the budget of the run kept the call back; blank if it did not."""


def outcome_of(request: WorkerRequest, result: Result) -> DispatchOutcome:
    """Return how a call ended; an answer in which no vote can be read is an error, an empty one is not."""
    items = tuple(item.finding_id for item in request.items)
    if isinstance(result, CallFailed):
        status: Literal["timeout", "error"] = "timeout" if result.status == "timeout" else "error"
        over_budget = result.reason if result.status == "budget" else ""
        return DispatchOutcome(items, status, result.duration_ms, reason=result.reason, over_budget=over_budget)
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
        reason = f"{len(lost):,} of {len(parts):,} calls failed, the first: {lost[0].reason}"
    return replace(first, duration_ms=max(part.duration_ms for part in parts), reason=reason)
