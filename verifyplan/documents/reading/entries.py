"""Items of a list in frontmatter as texts with their lines, and moments, read leniently."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from verifyplan.documents.reading.front import Front
from verifyplan.documents.reading.labelled import Labelled
from verifyplan.documents.reading.typed import text_of

_NAMES = ("truth", "must_have", "must-have", "gap", "title", "name", "description")
"""Where an item of a list is a mapping, the keys that may hold what it is called."""


def entries_of(front: Front, key: str) -> tuple[Labelled, ...]:
    """The items of a list as texts, each with its line; () where there is no list.

    An item `a: DONE` that lacks its quotation marks is a mapping to YAML and read as the text that was meant; of
    another mapping its name is read, and what holds no text is left out.

    >>> from verifyplan.documents.reading.front import read_front
    >>> entries_of(read_front(["---", "must_haves:", "  - logs are kept: DONE", "---"]), "must_haves")
    (Labelled(text='logs are kept: DONE', line=3),)
    """
    value = front.values.get(key)
    if not isinstance(value, list):
        return ()
    items = (Labelled(_item(front, key, at, item), front.line(key, at)) for at, item in enumerate(value))
    return tuple(item for item in items if item.text)


def entry_texts(front: Front, key: str) -> tuple[str, ...]:
    """The items of a list as texts."""
    return tuple(entry.text for entry in entries_of(front, key))


def moment_of(front: Front, key: str) -> datetime | None:
    """An ISO 8601 date or time; None where there is none."""
    return moment(text_of(front, key) or "")


def moment(text: str) -> datetime | None:
    """An ISO 8601 date or time, taken as UTC where it names no zone; None where it is none.

    >>> moment("2026-03-02T09:29:18Z").isoformat(), moment("02.03.2026")
    ('2026-03-02T09:29:18+00:00', None)
    """
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _item(front: Front, key: str, at: int, item: Any) -> str:
    if not isinstance(item, Mapping):
        return text_of(front, key, at) or ""
    named = (text_of(front, key, at, name) for name in _NAMES if name in item)
    first = next((name for name in named if name), "")
    if first or len(item) != 1:
        return first
    (name,) = item
    return f"{name}: {text_of(front, key, at, name) or ''}".strip()
