"""Values of frontmatter as the types a model has: None or nothing where a document holds something else (rule D1)."""

from __future__ import annotations

from typing import Any

from verifyplan.documents.reading.front import Front


def value_of(front: Front, *path: str | int) -> Any:
    """The value at a path; None where there is none."""
    found: Any = front.values
    for step in path:
        in_list = isinstance(found, list) and isinstance(step, int) and 0 <= step < len(found)
        if not in_list and not (isinstance(found, dict) and step in found):
            return None
        found = found[step]
    return found


def text_of(front: Front, *path: str | int) -> str | None:
    """A single value as it is written, a number or date as well ("01" stays "01"); None where it is null or none."""
    return front.raw(*path) if value_of(front, *path) is not None else None


def count_of(front: Front, *path: str | int) -> int | None:
    """A whole number; None where the value is no such number. True and false are none."""
    found = value_of(front, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def flag_of(front: Front, *path: str | int) -> bool | None:
    """True or false; None where the value is neither."""
    found = value_of(front, *path)
    return found if isinstance(found, bool) else None


def texts_of(front: Front, *path: str | int) -> tuple[str, ...]:
    """The single values of a list, as they are written; what is no single value is left out.

    A single value that should be a list is a list of one; null is an empty one.
    """
    found = value_of(front, *path)
    if not isinstance(found, list):
        one = text_of(front, *path)
        return (one,) if one is not None else ()
    items = (text_of(front, *path, at) for at in range(len(found)))
    return tuple(item for item in items if item is not None)
