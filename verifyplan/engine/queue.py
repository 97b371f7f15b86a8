"""The rounds of cross-verification over one queue, a run's findings or a plan body's items (rules B3-B8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from verifyplan.engine.calls import Caller
from verifyplan.protocol.artifact import FinalState
from verifyplan.protocol.call import Item, WorkerRequest
from verifyplan.protocol.event import Event, Sink
from verifyplan.protocol.event_cross import (
    DispatchClosed,
    FindingClassified,
    FindingGrouped,
    FindingQueued,
    Part,
    RoundClosed,
    VoteCast,
    VoteRefused,
)
from verifyplan.protocol.event_run import CallFailed
from verifyplan.protocol.vote import Basis, Classification, MissingBasis, Mode, Verdict, VerificationMode
from verifyplan.rules.ballots import Ballot, Votes, ballots, failed, read_votes, unread_votes
from verifyplan.rules.classification import Rule, at_end, decide, tally
from verifyplan.runlog.recorder import Result

A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True)
class DispatchOutcome:
    """How one call of a dispatch ended: with votes, or with a status; `reason` says what failed or cannot be read."""

    worker: str
    asked: tuple[str, ...]
    status: Literal["completed", "timeout", "error"]
    duration_ms: int
    votes: Votes | None = None
    reason: str | None = None


def outcome_of(request: WorkerRequest, result: Result) -> DispatchOutcome:
    """How the dispatch ended; an answer without any vote that can be read is an error, an empty one is not."""
    asked = tuple(item.finding_id for item in request.items)
    if isinstance(result, CallFailed):
        status: Literal["timeout", "error"] = "timeout" if result.status == "timeout" else "error"
        return DispatchOutcome(request.worker, asked, status, result.duration_ms, reason=result.reason)
    votes = read_votes(result.value)
    if isinstance(votes, str):
        return DispatchOutcome(request.worker, asked, "error", result.duration_ms, reason=votes)
    return DispatchOutcome(request.worker, asked, "completed", result.duration_ms, votes, unread_votes(votes))


def combine_outcomes(parts: Sequence[DispatchOutcome]) -> DispatchOutcome:
    """How a dispatch of several calls ended: completed if one did, and then the reasons say what the others lack.

    Its duration is that of its longest call, since all are asked at once.
    """
    if len(parts) == 1:
        return parts[0]
    lost = [part for part in parts if part.status != "completed"]
    first = lost[0] if len(lost) == len(parts) else next(part for part in parts if part.status == "completed")
    reason = next((part.reason for part in parts if part.reason is not None), None)
    if lost:
        reason = f"{len(lost)} of {len(parts)} calls failed, the first: {lost[0].reason}"
    return replace(first, duration_ms=max(part.duration_ms for part in parts), reason=reason)


def parse_answer(schema: type[A], value: object) -> A | str:
    """A reply's value as the answer it should be; what is wrong with it, in words, if it is none."""
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(part) for part in first["loc"]) or "the whole answer"
        return f"answer outside its schema, {error.error_count()} problems, the first at {place:.80}: {first['msg']}"


NOTHING_TO_VERIFY = "no items to verify"


@dataclass
class QueueLoop:
    """Runs the rounds of one queue; `run` returns the final state and the number of rounds executed."""

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
    """What stands for the basis of an adversarial disagree that has none (rule B4)."""
    items_per_call: int | None = None
    """Findings that one call asks about; None for all of a dispatch."""
    closed: Callable[[], None] = lambda: None
    """Called when a worker's part in a round is over, for progress."""
    cut_off: str = ""
    """Why the last round was cut off by the run's budget; blank if it was not."""
    queue: list[FindingGrouped] = field(default_factory=list)
    last_rule: dict[str, Rule] = field(default_factory=dict)

    async def run(self, findings: Sequence[FindingGrouped]) -> tuple[FinalState, int]:
        """Vote on `findings` until each has a class, the rounds are used up, or a round gives no result."""
        self.queue = list(findings)
        for finding in self.queue:
            self.emit(FindingQueued(part=self.part, iteration=self.iteration, finding_id=finding.finding_id))
        number, aborted = 0, False
        while self.queue and number < self.max_rounds and not aborted:
            number += 1
            aborted = not await self._round(number)
        state: FinalState = "aborted-non-result" if aborted else "max-rounds-reached"
        state = state if self.queue else "converged"
        for finding in self.queue:
            self._classified(finding, *at_end(self.last_rule.get(finding.finding_id)), number, final=True)
        return state, number

    async def _round(self, number: int) -> bool:
        """One round; False if no dispatch gave a result, or a budget cut it off, and so nothing was classified."""
        requests = [part for worker in self.roster for part in self._parts(self._request(worker, number))]
        results = await self.caller.call_all(requests)
        outcomes: dict[str, list[DispatchOutcome]] = {}
        for request, result in zip(requests, results, strict=True):
            outcomes.setdefault(request.worker, []).append(outcome_of(request, result))
        votes = self._record(number, outcomes)
        size = len(self.queue)
        self.cut_off = next((r.reason for r in results if isinstance(r, CallFailed) and r.status == "budget"), "")
        some_result = any(part.status == "completed" for parts in outcomes.values() for part in parts)
        some_result = some_result and not self.cut_off  # a budget's end must not look like what workers think
        if some_result:
            self.queue = [finding for finding in self.queue if not self._settled(finding, votes, number)]
        self.emit(
            RoundClosed(
                part=self.part,
                iteration=self.iteration,
                round=number,
                input_queue_size=size,
                resolved_count=size - len(self.queue),
                carried_forward_count=len(self.queue),
            )
        )
        return some_result

    def _request(self, worker: str, number: int) -> WorkerRequest:
        return WorkerRequest(
            call_id=self._call_id(number, worker),
            worker=worker,
            round=number,
            mode=self.mode,
            verification_mode=self.verification_mode,
            items=tuple(
                Item(finding_id=f.finding_id, summary=f.summary, evidence=f.evidence)
                for f in self.queue
                if worker not in f.discoverers
            ),
            documents=dict(self.documents),
        )

    def _parts(self, request: WorkerRequest) -> list[WorkerRequest]:
        """The calls of one dispatch: none for nothing to verify, one for all items, or one for every few."""
        items, size = request.items, self.items_per_call
        if size is None or not items:
            return [request] if items else []
        return [
            request.model_copy(
                update={"call_id": f"{request.call_id}/p{at // size + 1}", "items": items[at : at + size]}
            )
            for at in range(0, len(items), size)
        ]

    def _call_id(self, number: int, worker: str) -> str:
        if self.part == "challenges":
            return f"i{self.iteration}/panel/r{number}/{worker}"
        return f"{'p' if self.part == 'plan-body' else 'r'}{number}/{worker}"

    def _record(
        self, number: int, outcomes: dict[str, list[DispatchOutcome]]
    ) -> dict[str, list[tuple[Verdict, Basis | None]]]:
        """Tell how each dispatch ended and what was voted, in roster order; the votes by finding."""
        votes: dict[str, list[tuple[Verdict, Basis | None]]] = {}
        for worker in self.roster:
            parts = outcomes.get(worker, [])
            self.emit(self._dispatch(number, worker, parts))
            self.closed()
            for part in parts:
                for finding_id, ballot in self._ballots(part).items():
                    votes.setdefault(finding_id, []).append((ballot.verdict, ballot.disagree_basis))
                    self.emit(self._vote(number, worker, finding_id, ballot))
                for event in self._strays(number, part):
                    self.emit(event)
        return votes

    def _dispatch(self, number: int, worker: str, parts: Sequence[DispatchOutcome]) -> DispatchClosed:
        told = DispatchClosed(part=self.part, iteration=self.iteration, round=number, worker=worker, status=None)
        if not parts:
            return told.model_copy(update={"skipped": NOTHING_TO_VERIFY})
        whole = combine_outcomes(parts)
        return told.model_copy(
            update={
                "status": whole.status,
                "duration_ms": whole.duration_ms,
                "skipped": None if whole.status == "completed" else whole.status,
                "reason": whole.reason,
            }
        )

    def _ballots(self, outcome: DispatchOutcome) -> dict[str, Ballot]:
        if outcome.votes is None:
            return failed(outcome.asked, f"{outcome.status}: {outcome.reason}")
        return ballots(outcome.asked, outcome.votes, self.mode, self.missing_basis)

    def _strays(self, number: int, outcome: DispatchOutcome) -> list[Event]:
        """Votes on findings that the worker was not asked about: told, never counted."""
        return [
            VoteRefused(
                part=self.part,
                iteration=self.iteration,
                finding_id=finding_id,
                round=number,
                worker=outcome.worker,
                reason="the worker was not asked about this finding",
            )
            for finding_id in outcome.votes or {}
            if finding_id not in outcome.asked
        ]

    def _vote(self, number: int, worker: str, finding_id: str, ballot: Ballot) -> VoteCast:
        return VoteCast(
            part=self.part,
            iteration=self.iteration,
            finding_id=finding_id,
            round=number,
            worker=worker,
            **ballot._asdict(),
        )

    def _settled(
        self, finding: FindingGrouped, votes: dict[str, list[tuple[Verdict, Basis | None]]], number: int
    ) -> bool:
        """Judge one finding by this round's votes; True if that gave it a class."""
        classification, rule = decide(tally(votes.get(finding.finding_id, [])), self.mode)
        if classification is not None:
            self._classified(finding, classification, rule, number, final=False)
        elif rule != "no-votes":
            self.last_rule[finding.finding_id] = rule
        return classification is not None

    def _classified(
        self, finding: FindingGrouped, classification: Classification, rule: Rule, number: int, *, final: bool
    ) -> None:
        self.emit(
            FindingClassified(
                part=self.part,
                iteration=self.iteration,
                finding_id=finding.finding_id,
                classification=classification,
                rule=rule,
                round=number,
                final=final,
            )
        )
