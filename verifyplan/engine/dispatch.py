"""How a worker's dispatch ended, told from its call: an answer that fits, or a status and a reason (rules B3, B8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from verifyplan.protocol.call import WorkerRequest
from verifyplan.protocol.event_run import CallFailed
from verifyplan.rules.ballots import Votes, read_votes, unread_votes
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
