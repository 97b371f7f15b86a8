"""Words for people: counted things, and the nearest name to one that was mistyped."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def counted(n: int, noun: str) -> str:
    """A number with its noun, which takes an s unless there is one.

    >>> counted(1, "run"), counted(2, "missing basis"), counted(0, "finding")
    ('1 run', '2 missing bases', '0 findings')
    """
    plural = f"{noun[:-2]}es" if noun.endswith("sis") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def did_you_mean(value: object, known: Iterable[object]) -> str:
    """A question to put behind a message, if a known name is near; else nothing.

    >>> did_you_mean("eror-analysis", ["error-analysis", "implementation"])
    " (did you mean 'error-analysis'?)"
    """
    near = get_close_matches(str(value), map(str, known), n=1, cutoff=0.7)
    return f" (did you mean {near[0]!r}?)" if near else ""
