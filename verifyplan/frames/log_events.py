"""The events of one run's log by type, and the rows that logs of every kind of run have in common (rule E4)."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, TypeVar

from verifyplan.frames.runset import ColumnLists
from verifyplan.protocol.event import Event
from verifyplan.protocol.event_cross import DispatchClosed, FindingClassified, RoundClosed, VoteCast
from verifyplan.protocol.event_run import AnswerGiven, Checkpoint, RunEnded, RunReopened, RunStarted
from verifyplan.protocol.vote import Verdict
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.citations import cites_location
from verifyplan.rules.classification import sides
from verifyplan.rules.going_on import LogPlace, how_to_go_on
from verifyplan.runlog.chain import Record
from verifyplan.runlog.current import current, is_reopened

_STAMP = re.compile(
    r"[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"
)
"""A time as logs write it, on a day that every month has."""
E = TypeVar("E", bound=Event)
Row = dict[str, Any]


class LogEvents:
    """The log of one run: its records that count, and their events by type, each in the order of the log."""

    def __init__(self, records: Sequence[Record], run_id: str, source: str) -> None:
        if not records or not isinstance(records[0].event, RunStarted):
            raise ValueError("a run begins with run-started")
        self.run_id, self.source = run_id, source
        self.all_records = records
        """Those that count no more after a reopening included (rule E6)."""
        self.records = tuple(current(records)) if is_reopened(records) else records
        self.started: RunStarted = records[0].event
        self._by_type: dict[str, list[Any]] = defaultdict(list)
        for record in self.records:
            self._by_type[record.event.type].append(record.event)

    @property
    def events(self) -> Iterator[Event]:
        """All events that count, in order."""
        return (record.event for record in self.records)

    def of(self, kind: type[E]) -> list[E]:
        """Return the events of one type, in order; none if there are none."""
        return self._by_type.get(kind.model_fields["type"].default, [])

    def run_row(self) -> Row:
        """Return the columns of `runs` that a run of any kind fills."""
        backend = self.started.backend
        name, prompts = backend.get("name"), backend.get("prompts")
        versions = [
            f"{key} {prompt.get('version')} {str(prompt.get('sha256'))[:8]}"
            for key, prompt in sorted(prompts.items() if isinstance(prompts, dict) else ())
            if isinstance(prompt, dict)
        ]
        return {
            "run_id": self.run_id,
            "kind": self.started.inputs.kind,
            "task_key": self.started.task_key,
            "synthetic": self.started.synthetic,
            "source": self.source,
            "backend": name if isinstance(name, str) else None,
            "prompts": "; ".join(versions) or None,
            "repetition": self.started.repetition,
            "rules_version": self.started.rules_version,
            "started_at": instant(self.records[0].at),
            "ended_at": instant(self.all_records[-1].at),
            "finished": bool(self.of(RunEnded)),
            "broken_off": self._broken_off(),
            "n_reopened": len(self.of(RunReopened)),
            "log": True,
        }

    def _broken_off(self) -> str | None:
        """Return after which event a run was broken off, and how it goes on; None if it ended, or waits."""
        asked = {point.pause_id for point in self.of(Checkpoint) if point.pause_id}
        if self.of(RunEnded) or asked - {answer.pause_id for answer in self.of(AnswerGiven)}:
            return None
        last = self.all_records[-1]
        how = how_to_go_on(LogPlace(self.source), self.started.backend) if self.source else "there is no log"
        return f"after event {last.seq:,} ({last.event.type}): {how}"


def rules_columns(rules: VotingRules) -> Row:
    """Return the columns of `runs` that say by which voting rules a run was decided; mode and rounds are filled in."""
    return {"rules": json.dumps(rules.treatment, ensure_ascii=False), "rules_digest": rules.digest}


def instant(at: str) -> str | None:
    """Return a time of a log in UTC; None for a text that is none, so that one odd line does not lose a run.

    >>> instant("2026-01-31T13:00:00+01:00"), instant("soon")
    ('2026-01-31T12:00:00.000+00:00', None)
    """
    try:
        if _STAMP.fullmatch(at):
            return f"{at[:-1]}+00:00"
        return datetime.fromisoformat(at).astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        return None


def finding_row(
    run_id: str,
    finding_id: str,
    votes: Iterable[VoteCast],
    roster: Sequence[str],
    classified: FindingClassified | None,
    discoverers: Sequence[str] = (),
    **facts: object,
) -> Row:
    """Return the row of a finding with the workers on each side of its votes; `facts` are its other columns."""
    rounds: dict[int, dict[str, Verdict]] = {}
    for vote in votes:
        rounds.setdefault(vote.round, {})[vote.worker] = vote.verdict
    consensus, dissenting = sides(tuple(roster), tuple(discoverers), rounds.values())
    return {
        "run_id": run_id,
        "finding_id": finding_id,
        **facts,
        "origin_worker": discoverers[0] if discoverers else None,
        "discoverers": list(discoverers),
        "classification": classified.classification if classified else None,
        "consensus_workers": list(consensus),
        "dissenting_workers": list(dissenting),
        "n_rounds": max(rounds, default=0),
    }


def columns_of(rows: Sequence[Row]) -> ColumnLists:
    """Return the columns of rows that all have the same keys; none if there are no rows.

    >>> columns_of([{"run_id": "r", "round": 1}, {"run_id": "r", "round": 2}])
    {'run_id': ['r', 'r'], 'round': [1, 2]}
    """
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def attributes(events: Sequence[object], *names: str) -> dict[str, list[Any]]:
    """Return some attributes of events as columns."""
    return {name: list(map(attrgetter(name), events)) for name in names}


def vote_columns(run_id: str, votes: Sequence[VoteCast], is_origin: Sequence[bool]) -> ColumnLists:
    """Return the columns of the votes that were cast; those of the finding's discoverers are not tallied."""
    names = ("iteration", "finding_id", "round", "worker", "verdict", "disagree_basis", "explanation", "basis_filled")
    return {
        "run_id": [run_id] * len(votes),
        **attributes(votes, *names),
        "is_origin": is_origin,
        "uncited": [v.disagree_basis == "counter-evidence" and not cites_location(v.explanation) for v in votes],
    }


def round_columns(run_id: str, rounds: Sequence[RoundClosed]) -> ColumnLists:
    """Return the columns of the rounds that were closed."""
    names = ("iteration", "round", "input_queue_size", "resolved_count", "carried_forward_count")
    return {"run_id": [run_id] * len(rounds), **attributes(rounds, *names)}


def dispatch_columns(run_id: str, dispatches: Iterable[DispatchClosed]) -> ColumnLists:
    """Return the columns of dispatches: in a round, called workers first, in roster order, then who was not called."""
    by_round: dict[tuple[int, int], list[DispatchClosed]] = defaultdict(list)
    for dispatch in dispatches:
        by_round[dispatch.iteration, dispatch.round].append(dispatch)
    each = [d for closed in by_round.values() for d in sorted(closed, key=lambda dispatch: dispatch.status is None)]
    return {
        "run_id": [run_id] * len(each),
        **attributes(each, "iteration", "round", "worker", "status", "duration_ms"),
        "skipped_reason": [dispatch.skipped for dispatch in each],
    }
