"""Answers read entry by entry: an entry outside the schema is refused, the others count (rule A11)."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

A = TypeVar("A", bound=BaseModel)

RECEIVED_LENGTH = 60
"""Characters of a received value that a reason shows."""

NESTED = "challenge"
"""Refused parts of a context or a risk: the finding is kept, and the rules still raise its challenge."""


class RefusedEntry(NamedTuple):
    """An entry of a list, or its nested challenge, that is outside the schema; positions count from 1."""

    field: str
    position: int
    part: str
    reason: str


class ReadAnswer(NamedTuple):
    """The entries of an answer that count, and those that do not."""

    answer: Any
    refused: tuple[RefusedEntry, ...]


def read_entries(schema: type[A], value: object) -> ReadAnswer | None:
    """Read an answer and leave out the entries of its lists that are outside the schema.

    None where the rest is outside the schema, too, or where the answer has entries and none can be used: its first
    list decides, unless that is empty. A bad challenge within a context or a risk is refused alone.
    Source: rule A11.

    >>> from verifyplan.protocol.role_call import SynthesizerAnswer
    >>> read = read_entries(SynthesizerAnswer, {"promotions": ["C6", 7]})
    >>> read.answer.promotions, read.refused[0].reason
    (('C6',), 'Input should be a valid string, got 7')
    >>> read_entries(SynthesizerAnswer, {"promotions": [7]}) is None
    True
    """
    kept: Any = dict(value) if isinstance(value, dict) else value
    refused: list[RefusedEntry] = []
    usable: list[int] = []
    for field, adapter in _lists_of(schema).items() if isinstance(kept, dict) else ():
        entries = kept.get(field)
        if isinstance(entries, list | tuple):
            kept[field] = _usable(field, entries, adapter, refused)
            usable += [len(kept[field])] if entries else []
    if refused and (not usable[0] or not any(usable)):
        return None
    try:
        return ReadAnswer(schema.model_validate(kept), tuple(refused))
    except ValidationError:
        return None


@cache
def _lists_of(schema: type[BaseModel]) -> dict[str, TypeAdapter[Any]]:
    """The lists of an answer, in their order, and what reads one entry of each."""
    return {
        name: TypeAdapter(get_args(field.annotation)[0])
        for name, field in schema.model_fields.items()
        if get_origin(field.annotation) is tuple
    }


def _usable(field: str, entries: Any, adapter: TypeAdapter[Any], refused: list[RefusedEntry]) -> list[Any]:
    usable = []
    for position, entry in enumerate(entries, start=1):
        try:
            usable.append(adapter.validate_python(entry))
        except ValidationError as error:
            rest = _without_nested(entry, adapter)
            usable += [rest] if rest is not None else []
            refused.append(RefusedEntry(field, position, NESTED if rest is not None else "", _reason(error)))
    return usable


def _without_nested(entry: object, adapter: TypeAdapter[Any]) -> Any:
    """The entry without its nested challenge, if that alone is outside the schema; else None."""
    if not isinstance(entry, dict) or NESTED not in entry:
        return None
    try:
        return adapter.validate_python({key: part for key, part in entry.items() if key != NESTED})
    except ValidationError:
        return None


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = "/".join(str(part) for part in first["loc"])
    received = "" if first["type"] == "missing" else f", got {_shown(first['input'])}"
    return f"{place:.80}{': ' if place else ''}{first['msg']}{received}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= RECEIVED_LENGTH else f"{text[:RECEIVED_LENGTH]}..."
