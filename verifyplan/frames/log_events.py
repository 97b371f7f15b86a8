"""The records of one run by the type of their events, and what rows of every kind of run have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import DispatchClosed, RoundClosed, VoteCast
from verifyplan.protocol.event_run import RunEnded, RunStarted
from verifyplan.rules.citations import cites_location
from verifyplan.runlog.chain import Record

E = TypeVar("E", bound=Event)
Row = dict[str, Any]


class RunEvents:
    """One run: its records, and its events by type, each in the order of the log."""

    def __init__(self, records: Sequence[Record], run_id: str, source: str) -> None:
        if not records or not isinstance(records[0].event, RunStarted):
            raise ValueError("a run begins with run-started")
        self.records, self.run_id, self.source = records, run_id, source
        self.started: RunStarted = records[0].event
        self._of: dict[type, list[Any]] = defaultdict(list)
        for record in records:
            self._of[type(record.event)].append(record.event)

    @property
    def events(self) -> Iterator[Event]:
        """All events, in order."""
        return (record.event for record in self.records)

    def of(self, kind: type[E]) -> list[E]:
        """The events of one type, in order; none if there are none."""
        return self._of.get(kind, [])

    def run_row(self) -> Row:
        """What the table `runs` says of a run of any kind that has a log."""
        return {
            "run_id": self.run_id,
            "kind": self.started.inputs.kind,
            "task_key": self.started.task_key,
            "synthetic": self.started.synthetic,
            "source": self.source,
            "backend": _named(self.started.backend),
            "prompts": _prompts(self.started.backend),
            "repetition": self.started.repetition,
            "rules_version": self.started.rules_version,
            "started_at": instant(self.records[0].at),
            "ended_at": instant(self.records[-1].at),
            "finished": bool(self.of(RunEnded)),
            "log": True,
        }


def _named(backend: dict[str, Any]) -> str | None:
    name = backend.get("name")
    return name if isinstance(name, str) else None


def _prompts(backend: dict[str, Any]) -> str | None:
    prompts = backend.get("prompts")
    if not isinstance(prompts, dict):
        return None
    known = {name: one for name, one in prompts.items() if isinstance(one, dict)}
    told = [f"{name} {one.get('version')} {str(one.get('sha256'))[:8]}" for name, one in sorted(known.items())]
    return "; ".join(told) or None


def instant(at: str) -> str | None:
    """A time of a log in UTC; None for a text that is none, so that one odd line does not lose a run.

    >>> instant("2026-01-31T13:00:00+01:00"), instant("soon")
    ('2026-01-31T12:00:00.000+00:00', None)
    """
    try:
        return datetime.fromisoformat(at).astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        return None


def vote_rows(run_id: str, votes: Iterable[VoteCast], origins: Iterable[str] = ()) -> Iterator[Row]:
    """Votes as they were cast; `origins` are the discoverers, whose own votes are not tallied."""
    found = frozenset(origins)
    for vote in votes:
        yield {
            "run_id": run_id,
            "iteration": vote.iteration,
            "finding_id": vote.finding_id,
            "round": vote.round,
            "worker": vote.worker,
            "verdict": vote.verdict,
            "disagree_basis": vote.disagree_basis,
            "explanation": vote.explanation,
            "is_origin": vote.worker in found,
            "basis_filled": vote.basis_filled,
            "uncited": vote.disagree_basis == "counter-evidence" and not cites_location(vote.explanation),
        }


def round_rows(run_id: str, rounds: Iterable[RoundClosed]) -> list[Row]:
    """Rounds that were closed."""
    return [
        {
            "run_id": run_id,
            "iteration": closed.iteration,
            "round": closed.round,
            "input_queue_size": closed.input_queue_size,
            "resolved_count": closed.resolved_count,
            "carried_forward_count": closed.carried_forward_count,
        }
        for closed in rounds
    ]


def dispatch_rows(run_id: str, dispatches: Iterable[DispatchClosed]) -> list[Row]:
    """One row a worker and round: called first, in the order of the roster, then who was not called."""
    by_round: dict[tuple[int, int], list[DispatchClosed]] = defaultdict(list)
    for dispatch in dispatches:
        by_round[dispatch.iteration, dispatch.round].append(dispatch)
    return [
        {
            "run_id": run_id,
            "iteration": dispatch.iteration,
            "round": dispatch.round,
            "worker": dispatch.worker,
            "status": dispatch.status,
            "duration_ms": dispatch.duration_ms,
            "skipped_reason": dispatch.skipped,
        }
        for closed in by_round.values()
        for dispatch in sorted(closed, key=lambda one: one.status is None)
    ]
