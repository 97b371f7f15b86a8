"""One line of a run log: an event with its number and time, chained by a digest to the line before (rule E1)."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from verifyplan.protocol.event import Event

START = "0" * 32
"""The digest before the first line."""

_TAIL = len(b',"digest":"') + len(START) + len(b'"}')


class Record(NamedTuple):
    """An event as a log holds it: numbered from 1, stamped in UTC."""

    seq: int
    at: str
    event: Event


_FIELD_NAMES: dict[frozenset[str], set[str]] = {}


def share_field_names(event: Event) -> None:
    """Let events with the same fields share the set of their names: one each would be a third of a run in memory."""
    names = event.model_fields_set
    object.__setattr__(event, "__pydantic_fields_set__", _FIELD_NAMES.setdefault(frozenset(names), names))


def now() -> str:
    """Return the time in UTC, to the millisecond.

    >>> len(now())
    24
    """
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode(record: Record, before: str) -> tuple[bytes, str]:
    """Return the line of a record, its line feed included, and the digest that the next line is chained to."""
    head = to_json({"seq": record.seq, "at": record.at} | record.event.model_dump(mode="json"))[:-1]
    digest = _digest(before, head)
    return head + b',"digest":"' + digest.encode() + b'"}\n', digest


def decode(line: bytes, before: str) -> tuple[dict[str, Any], str] | None:
    """Return the JSON values of a line without its line feed, and its digest; None if it is not whole.

    A line is whole if the digest that it carries is that of its bytes and the line before.
    """
    head, tail = line[:-_TAIL], line[-_TAIL:]
    digest = _digest(before, head)
    if tail != b',"digest":"' + digest.encode() + b'"}':
        return None
    try:
        values = from_json(head + b"}")
    except ValueError:
        return None
    return (values, digest) if isinstance(values, dict) else None


def _digest(before: str, head: bytes) -> str:
    return hashlib.blake2b(before.encode() + head, digest_size=len(START) // 2).hexdigest()
