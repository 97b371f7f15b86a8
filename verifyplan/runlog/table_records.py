"""Read the records of a log as tables need them: as structs where these surely give what the model gives.

What a run has many of (calls, turns, votes, findings) becomes a struct made from its event model, with lists where
that has tuples. Every other line, and every log with anything odd, is left to `parse_log`, which also words the
errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, reduce
from operator import or_
from typing import Any

import msgspec
from pydantic import BaseModel
from pydantic_core import from_json

from verifyplan.errors import LogError
from verifyplan.protocol import event_cross, event_run
from verifyplan.protocol.event_run import RunStarted
from verifyplan.protocol.structs import fields_of, options_of
from verifyplan.runlog.chain import Record, whole_lines
from verifyplan.runlog.migrate import Step
from verifyplan.runlog.reader import StoredRecords, parse_log, record_of, steps_of

_CALLS = (
    *(event_run.CallRequested, event_run.CallReplied),
    *(event_run.TurnSent, event_run.Attempt, event_run.TurnReplied),
)
_ROUNDS = (event_cross.FindingQueued, event_cross.DispatchClosed, event_cross.VoteCast, event_cross.RoundClosed)
FREQUENT: Mapping[str, tuple[type[BaseModel], ...]] = {
    "cross": (*_CALLS, *_ROUNDS, event_cross.FindingGrouped, event_cross.FindingClassified),
    "plan": (*_CALLS, *_ROUNDS),
    "debate": _CALLS,
}
"""The events that are decoded as structs, by kind of run: no step from an older version of the model changes them, and
code that makes tables distinguishes them by `type`, not by class."""


def table_records(data: bytes, place: str) -> Sequence[Record]:
    """Return the records of a log; frequent events are structs with the attributes of their models.

    Raises what `parse_log` raises, word for word.
    """
    return _fast(data, place) or parse_log(data, place).records


def light_records(records: Sequence[Record]) -> Sequence[Record]:
    """Return the records of a run as its tables need them: those in memory as they are, stored ones as structs."""
    if not isinstance(records, StoredRecords):
        return records
    return table_records(records.content(), str(records.path))


def _fast(data: bytes, place: str) -> tuple[Record, ...] | None:
    """Return the records of a log in which nothing is unusual; None for any other."""
    lines = data.split(b"\n")
    texts = whole_lines(lines[:-1]) if not lines[-1] else None
    if not texts:
        return None
    try:
        values = from_json(texts[0])
        steps = steps_of(values, place)
        started = record_of(values, 1, steps, place)
        if started is None or not isinstance(started.event, RunStarted):
            return None
        others = _records(texts, started.event.inputs.kind, steps, place)
        return (started, *others)
    except (LogError, ValueError, RecursionError, AttributeError):  # of a line that is not a JSON object
        return None


def _records(texts: Sequence[bytes], kind: str, steps: list[Step], place: str) -> list[Record]:
    """Return the records of all lines but the first; LogError or ValueError if one is not an event."""
    records, decode = [], _decoder(kind).decode
    for number, text in enumerate(texts[1:], 2):
        try:
            event = decode(text)
        except ValueError:
            record = record_of(from_json(text), number, steps, place)
            if record is not None:  # not dropped
                records.append(record)
            continue
        if event.seq != number:
            raise ValueError("it has another number")
        records.append(Record(number, event.at, event))
    return records


@cache
def _decoder(kind: str) -> Any:
    return msgspec.json.Decoder(reduce(or_, map(_struct, FREQUENT[kind])))


@cache
def _struct(model: type[BaseModel]) -> Any:
    """Return the struct of an event: the fields of its model, `type` as its tag, number and time."""
    tag = model.model_fields["type"].default
    options = options_of(model)
    options["namespace"]["type"] = tag
    fields = [field for field in fields_of(model) if field[0] != "type"]
    return msgspec.defstruct(model.__name__, [("seq", int), ("at", str), *fields], tag_field="type", tag=tag, **options)
